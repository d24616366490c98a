/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan.h - a schedule for each of the jobs that run at the same time.
 *
 * Each job is planned alone, over the tables of the whole fabric, as if the lanes that it may not use were dead
 * (jobplan_over.h). An exclusive job may use its own; where these give no plan (two of its leaves have none in common, or the
 * LMC has no path index for them) also those that nobody owns, then all. A job that shares may use those that nobody
 * owns, then all. So some plan is there whenever the fabric has one, and each says which lanes it is over.
 *
 * What is proven: each plan by the verifier, over the whole net; and of those over their own lanes that no two of them
 * send a flow into the same cable in the same direction, in any phases (core/schedule/verify.h).
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_JOBPLAN_H
#define FORS_CORE_PLANNERS_JOBPLAN_H

#include "core/jobs/owners.h"
#include "core/net/lfts.h"
#include "core/schedule/schedule.h"

enum fors_jobplan_lanes {
	FORS_OVER_OWN,	/* its own: nobody else's flows are there */
	FORS_OVER_FREE, /* those and what nobody owns: jobs that share may meet it */
	FORS_OVER_ALL,
};

/* May a job use a lane of this owner? */
static inline bool fors_jobplan_may_use(uint32_t owner, uint32_t job, enum fors_jobplan_lanes whose)
{
	return whose == FORS_OVER_ALL || owner == job || (whose == FORS_OVER_FREE && owner == FORS_NO_JOB);
}

struct fors_jobplan {
	struct fors_schedule *plan; /* owned; NULL: there is none */
	struct fors_error error;    /* why */
	enum fors_jobplan_lanes whose;
	uint32_t nlanes;     /* (leaf, lane) that it owns */
	int64_t index;	     /* the path index of jobs, when its plan goes over that and no other; else FORS_UNKNOWN */
	int64_t lower_bound; /* LB over the lanes that it is planned over; FORS_UNKNOWN without a plan */
	int64_t alone_bound; /* LB if it had the fabric for itself; FORS_UNKNOWN where leaves are cut off */
	bool is_kept;	     /* it goes on with the schedule that it has: there is no plan, and nothing else is told */
};

/* The schedule that a job has already, borrowed. */
struct fors_jobkept {
	const struct fors_schedule *plan; /* NULL: none, or one that it cannot go on with */
	enum fors_jobplan_lanes whose;
	bool is_waiting; /* it shall have none for now: its lanes are not ready */
};

struct fors_jobplans {
	struct fors_jobplan *job; /* as in the list */
	uint32_t count;
	uint32_t
		nmeetings; /* cables in one direction that two jobs use although both own their lanes: 0, or fors is at fault */
	char meeting[320]; /* the first of them */
};

/*
 * Jobs and lanes were the first, and are the second, on the same fabric: may job `now` go on with the schedule that job
 * `then` has over such lanes? It may when its servers and its mark are what they were, and it has at all its leaves the
 * lanes that it had; and no others either, unless more would not help: is_best says that its schedule cannot be
 * shorter, and it has to go over lanes that it asked for.
 */
struct fors_jobview {
	const struct fors_joblist *list;
	const struct fors_owners *owners;
};
bool fors_jobplan_may_stay(const struct fors_fabric *fabric, struct fors_jobview first, uint32_t then,
			   struct fors_jobview second, uint32_t now, enum fors_jobplan_lanes whose, bool is_best);

/*
 * Which of `count` schedules are right over these tables? Each is proven; and of those over their own lanes the later
 * one of two that meet in a cable is not. In is_right[count]; those without a plan are not. Errors: those of
 * fors_verify().
 */
enum fors_err fors_jobplans_right(const struct fors_net *net, const struct fors_lfts *lfts,
				  const struct fors_jobkept *kept, uint32_t count, bool (*cancelled)(void *context),
				  void *context, bool *is_right, struct fors_error *error);

void fors_jobplans_clear(struct fors_jobplans *plans);

/* Planning the job ended with this error: one that ends all plans, else FORS_OK, for why there is no plan is in the job. */
enum fors_err fors_jobplan_ends(const struct fors_jobplan *made, enum fors_err err, struct fors_error *error);

/* "own", "free" or "all"; never NULL. */
const char *fors_jobplan_over(enum fors_jobplan_lanes whose);

#endif
