/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan.h - a schedule for each of the jobs that run at the same time.
 *
 * Each job is planned alone, over the tables of the whole fabric, as if the lanes that it may not use were dead (subset.h). An
 * exclusive job may use its own; where these give no plan (two of its leaves have none in common, or the LMC has no path index
 * for them) also those that nobody owns, then all. A job that shares may use those that nobody owns, then all. So some
 * plan is there whenever the fabric has one, and each says which lanes it is over.
 *
 * What is proven: each plan by the verifier, over the whole net; and of those over their own lanes that no two of them send a
 * flow into the same cable in the same direction, in any phases (core/schedule/verify.h).
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_JOBPLAN_H
#define FORS_CORE_PLANNERS_JOBPLAN_H

#include "core/jobs/owners.h"
#include "outcome.h"

enum fors_jobplan_lanes {
	FORS_OVER_OWN,	/* its own: nobody else's flows are there */
	FORS_OVER_FREE, /* those and what nobody owns: jobs that share may meet it */
	FORS_OVER_ALL,
};

struct fors_jobplan {
	struct fors_schedule *plan; /* owned; NULL: there is none */
	struct fors_error error;    /* why */
	enum fors_jobplan_lanes over;
	uint32_t nlanes;     /* (leaf, lane) that it owns */
	int64_t lower_bound; /* LB over the lanes that it is planned over; FORS_UNKNOWN without a plan */
	int64_t alone_bound; /* LB if it had the fabric for itself; FORS_UNKNOWN where leaves are cut off */
};

struct fors_jobplans {
	struct fors_jobplan *job; /* as in the list */
	uint32_t count;
	uint32_t
		nmeetings; /* cables in one direction that two jobs use although both own their lanes: 0, or fors is at fault */
	char meeting[320]; /* the first of them */
};

/*
 * Plan and prove all jobs of the list, on the fabric of request->task, whose lanes may be NULL, over its tables, in *plans, owned by
 * the caller (fors_jobplans_clear()). That a job has no plan is no error here. Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_jobplans_make(const struct fors_request *request, const struct fors_joblist *list,
				 const struct fors_owners *owners, struct fors_jobplans *plans,
				 struct fors_error *error);
void fors_jobplans_clear(struct fors_jobplans *plans);

/* "own", "free" or "all"; never NULL. */
const char *fors_jobplan_over(enum fors_jobplan_lanes over);

#endif
