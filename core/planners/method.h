/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * method.h - what a planner works on, what a planning method is, and how its work is counted. All that a method includes
 * of this module.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_PLANNERS_METHOD_H
#define FORS_CORE_PLANNERS_METHOD_H

#include <string.h>

#include "core/fabric/fabric.h"

struct fors_lanes;    /* core/tables/lanes.h */
struct fors_schedule; /* core/schedule/schedule.h */

/*
 * What a plan may take, and by which method it is made: the same struct from the settings to the planner. All zero: any
 * method, each with its own budget. It has no padding, so it may be compared and digested as it is: fors_limit_method()
 * writes the name.
 */
struct fors_plan_limits {
	char method[16];  /* planning method, zeros behind its name; empty: auto */
	uint64_t seconds; /* of method ilp, the only one that has a clock; 0: its default */
	uint64_t steps;	  /* of work, for each method that counts its own; 0: its budget */
	uint64_t bytes;	  /* memory that a plan may take, as is estimated before; 0: any */
};

static inline void fors_limit_method(struct fors_plan_limits *limits, const char *name)
{
	memset(limits->method, 0, sizeof(limits->method));
	strncpy(limits->method, name, sizeof(limits->method) - 1);
}

static inline const char *fors_method_of(const struct fors_plan_limits *limits)
{
	return limits->method[0] ? limits->method : "auto";
}

#define FORS_FLOWS_SERVERS 2048u /* more are too many for method flows: some 50 bytes a flow */
#define FORS_FLOWS_MOST 6144u	 /* the same where no other method knows what cables carry */

/* What a planner works on; all borrowed for the time of the call. */
struct fors_task {
	const struct fors_fabric *fabric;
	const struct fors_lanes *lanes; /* of the tables that the switches will hold */
	/* Asked now and then (at least every few milliseconds); true: give up. NULL: never. */
	bool (*cancelled)(void *context);
	/* Told now and then how much of the work is done (0..1). NULL: nobody wants to know. */
	void (*progress)(void *context, double done);
	void *context;	  /* of both */
	unsigned threads; /* of the proof; 0 or 1: only the caller's; results are the same */
	struct fors_plan_limits limits;
	/*
	 * Only a plan of so many phases is of use; 0: any is. A method may then leave out what cannot give it, and say
	 * FORS_ENOPLAN, or make the plan that it would make anyway.
	 */
	uint32_t wanted_phases;
	uint32_t known_bound; /* no plan has fewer phases, fors_plan() writes it; 0: nothing is known */
	bool has_moved;	      /* entries of jobs are in the tables: one whose home lane lives need not be at home */
	uint64_t *steps;      /* steps that methods counted are added here; NULL: nobody wants to know */
};

/*
 * Work that may be spent. Budgets are counted in steps, never in time: a search ends at the same place on every machine. A
 * step is a word or two looked at, a few nanoseconds.
 */
struct fors_effort {
	const struct fors_task *task; /* whose cancelled() is asked; NULL: nobody's */
	uint64_t budget;	      /* steps in all */
	uint64_t spent;		      /* steps so far */
	uint64_t next;		      /* steps at which cancelled() is asked again */
	bool is_cancelled;
};

/* So much may be spent for a task, if it does not say otherwise. */
static inline struct fors_effort fors_effort_for(const struct fors_task *task, uint64_t budget)
{
	return (struct fors_effort){.task = task, .budget = task->limits.steps ? task->limits.steps : budget};
}

#define FORS_EFFORT_ASK (UINT64_C(1) << 18) /* steps between two questions whether to stop: a millisecond */

/* Should it stop? Asked now; once true, for ever. */
static inline bool fors_effort_cancelled(struct fors_effort *effort)
{
	const struct fors_task *task = effort->task;

	if (!effort->is_cancelled && task && task->cancelled)
		effort->is_cancelled = task->cancelled(task->context);
	return effort->is_cancelled;
}

/* Is there nothing left to spend, or is it to stop? */
static inline bool fors_effort_is_over(const struct fors_effort *effort)
{
	return effort->is_cancelled || effort->spent >= effort->budget;
}

/* Count steps, and ask now and then whether to stop; false: it is over. */
static inline bool fors_effort_spend(struct fors_effort *effort, uint64_t steps)
{
	effort->spent += steps;
	if (effort->spent >= effort->next) {
		effort->next = effort->spent + FORS_EFFORT_ASK;
		fors_effort_cancelled(effort);
	}
	return !fors_effort_is_over(effort);
}

/* Tell the task what was spent. */
static inline void fors_effort_tell(const struct fors_effort *effort)
{
	if (effort->task && effort->task->steps)
		*effort->task->steps += effort->spent;
}

/* One planning method. */
struct fors_method {
	const char *name; /* as in "--method NAME" */
	/*
	 * Plan the exchange of all servers of task->fabric. The fabric is connected
	 * (unreachable_pairs == 0) and has at least one server; any number of leaves,
	 * servers per leaf and lanes is possible, one included.
	 * On FORS_OK *schedule is a complete plan, owned by the caller. Else it is
	 * untouched and *error says why: FORS_ENOTAPPL (the method is not for this
	 * fabric), FORS_ELMC (it would be with a larger LMC; the text names which),
	 * FORS_ENOPLAN, FORS_ETIMEOUT, FORS_ECANCELLED, FORS_ENOMEM, FORS_ELIMIT.
	 * Pure: the same task gives the same bytes on any machine. Any thread.
	 */
	enum fors_err (*plan)(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error);
};

extern const struct fors_method fors_method_closed_form; /* ilp/closed_form.c: the FORS paper, sections 4 and 5.1 */
extern const struct fors_method fors_method_rounds;	 /* flows/units.c: whole units, any LMC from 0 */
extern const struct fors_method fors_method_exact;	 /* exact/exact.c: at the lower bound */
extern const struct fors_method fors_method_flows;	 /* flows/flows.c: single flows over any ways, any LMC from 0 */
extern const struct fors_method fors_method_ilp;	 /* ilp/ilp.c: the paper's ILP; only with HAVE_LPSOLVE */

#endif
