/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repairs.h - what could be mended, one thing at a time, and the tree as it would be then, of two levels or three; where the
 * next dead cable costs most.
 * Thread rules: pure; a mended tree is plain data of one owner.
 */
#ifndef FORS_CORE_FABRIC_REPAIRS_H
#define FORS_CORE_FABRIC_REPAIRS_H

#include "fattree.h"

/* One thing to mend: a cable, or a switch above the leaves with all its cables. */
struct fors_repair {
	uint32_t leaf;	/* the cable's lower end, by its number in the tree; FORS_NONE: a whole switch */
	uint32_t lane;	/* which of the cables above it; of a switch the same of its first cable from below */
	uint32_t spine; /* the number of the switch at the higher end, or of the whole switch */
};

/*
 * All repairs, in *list (owned by the caller) and *count, the more promising first: dead switches, then cables of the
 * leaves (of three levels middle switches, too) that lack most cables up for what is below. Not among them is what no
 * single repair brings back, or nobody knows what would come with it: cables of a dead leaf, and cables into whose
 * ports something else is plugged in now. Errors: FORS_ENOMEM.
 */
enum fors_err fors_repairs_list(struct fors_fattree tree, struct fors_repair **list, uint32_t *count,
				struct fors_error *error);

/* A tree of its own net. */
struct fors_mended {
	struct fors_net *net;
	struct fors_fattree tree; /* borrows net, and owns what was ever seen */
};

/* The same tree with a net of its own, in *copy; to be freed by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_mended_copy(struct fors_fattree tree, struct fors_mended *copy, struct fors_error *error);

/*
 * The tree as it would be with this repair, in *mended, to be freed by the caller: same places, same servers, the
 * cables alive in tree and net. A switch that returns has no LID. Errors: FORS_ENOMEM; FORS_EINPUT for what is no
 * repair of this tree.
 */
enum fors_err fors_mended_build(struct fors_fattree tree, const struct fors_repair *repair, struct fors_mended *mended,
				struct fors_error *error);
/* Free what it owns. */
void fors_mended_free(struct fors_mended *mended);

#endif
