/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repairs.h - what could be mended, one thing at a time, and the fabric as it would be then.
 * Thread rules: pure; a mended fabric is plain data of one owner.
 */
#ifndef FORS_CORE_FABRIC_REPAIRS_H
#define FORS_CORE_FABRIC_REPAIRS_H

#include "fabric.h"

/* One thing to mend: a cable, or a spine with all its cables. */
struct fors_repair {
	uint32_t leaf; /* of the cable; FORS_NONE: the whole spine */
	uint32_t lane; /* of the cable; of a spine, its first */
};

/*
 * All repairs, in *list (owned by the caller) and *count, the more promising first: dead spines, then cables of the
 * leaves that lack most uplinks for their servers. Not among them is what no single repair brings back, or nobody
 * knows what would come with it: cables of a dead leaf, and cables into whose ports something else is plugged in now.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_repairs_list(const struct fors_fabric *fabric, struct fors_repair **list, uint32_t *count,
				struct fors_error *error);

/* A fabric of its own net. */
struct fors_mended {
	struct fors_net *net;
	struct fors_fabric *fabric; /* borrows net */
};

/* The same fabric with a net of its own, in *copy; to be freed by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_mended_copy(const struct fors_fabric *fabric, struct fors_mended *copy, struct fors_error *error);

/*
 * The fabric as it would be with this repair, in *mended, to be freed by the caller: same places, same servers, the
 * cables alive in fabric and net. A spine that returns has no LID. Errors: FORS_ENOMEM; FORS_EINPUT for what is no
 * repair of this fabric.
 */
enum fors_err fors_mended_build(const struct fors_fabric *fabric, const struct fors_repair *repair,
				struct fors_mended *mended, struct fors_error *error);
/* Free what it owns. */
void fors_mended_free(struct fors_mended *mended);

#endif
