/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trespass.h - who can come over lanes that are a job's own.
 *
 * Jobs that own lanes have promised to send by their schedules. A job that shares has not: its programs may send to base LIDs,
 * whose ways go over home lanes, all over the fabric. So for each pair of its servers the way of the base LID is walked
 * through the tables, cable by cable, and whoever owns one of these can be met there: of three levels lanes and rungs.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_JOBS_TRESPASS_H
#define FORS_CORE_JOBS_TRESPASS_H

#include "core/net/lfts.h"
#include "owners.h"

#define FORS_TRESPASS_NAMED 4 /* jobs that are named */

struct fors_trespass {
	uint32_t count;			     /* jobs that can come over lanes of this one */
	uint32_t first[FORS_TRESPASS_NAMED]; /* the first of them */
};

/*
 * For each job of the list, on the net of these seats (of three levels floor 0, floors.h) with these tables, in *jobs
 * (list->count of them), owned by the caller (free()). owner: whose is each cable, by the ports of the net, FORS_NO_JOB for
 * nobody's (fors_owners_ports(), fors_holdings_ports()). Errors: FORS_ENOMEM.
 */
enum fors_err fors_trespass_find(const struct fors_fabric *seats, const struct fors_lfts *lfts,
				 const struct fors_joblist *list, const uint32_t *owner, struct fors_trespass **jobs,
				 struct fors_error *error);

/* One more job there: one that was seen to come, or one that borrows lanes (holdings_borrow.c). */
void fors_trespass_add(struct fors_trespass *of, uint32_t job);

/* "a, b, c, d and 3 more" into `text`, cut to `size` bytes; empty: nobody. */
void fors_trespass_tell(const struct fors_joblist *list, const struct fors_trespass *job, char *text, size_t size);

#endif
