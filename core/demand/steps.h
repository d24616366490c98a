/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - what a plan for a demand is found by, one step after another: ways, the file, bounds, the plan, its proof. fors_demand_answer() takes all of
 * them; `fors plan --demand` tells what each has found.
 * Thread rules: pure, but for `cancelled`.
 */
#ifndef FORS_CORE_DEMAND_STEPS_H
#define FORS_CORE_DEMAND_STEPS_H

#include "check.h"
#include "core/base/warnings.h"
#include "core/net/lfts.h"
#include "core/planners/flows/routed.h"
#include "core/schedule/schedule.h"
#include "plan.h"
#include "problem.h"

#define FORS_DEMAND_PHASE_COST UINT64_C(4000000) /* picoseconds, where nobody says another */

/* Who may send over what, where that is not all of the fabric but the part of a job. Zeros: all of it. */
struct fors_demand_part {
	const struct fors_schedule *job; /* borrowed: only the servers of this one; NULL: all that there are */
	bool is_held;			 /* only over cables that its flows go over */
	uint32_t path;			 /* above 0: by this path index, and no other; not held then */
};

/* That of a job with this schedule, over all lanes or not, by one path index or (0, or below) by all: so its demand meets no job that the schedule does not. */
struct fors_demand_part fors_demand_part_of(const struct fors_schedule *job, bool is_over_all, int64_t path);

/* Those before `routed` are the caller's, and borrowed; the rest is what steps have found so far, zeros before. It stays where it is: parts point to each other. */
struct fors_demand_steps {
	const struct fors_net *net; /* indexed */
	const struct fors_lfts *lfts;
	bool (*cancelled)(void *context); /* NULL: never */
	void *context;
	struct fors_plan_limits limits;	   /* steps and bytes; zeros: what is usual, and any */
	struct fors_demand_part part;	   /* zeros: all of the fabric */
	const struct fors_namebook *names; /* as struct fors_demand_hosts has them */

	struct fors_flows_routed *routed; /* who the servers are, and the ways between them */
	uint64_t *guid;			  /* of servers */
	struct fors_demand demand;
	uint32_t left_out; /* hosts of the file that are no servers */
	struct fors_demand_problem problem;
	struct fors_demand_bound bound;
	uint32_t fewest; /* no plan has fewer phases */
	uint64_t cost;	 /* of a phase, in bytes; 0 where messages have no size */
	struct fors_demand_plan *uniform,
		*plan; /* by the plan of all with all, and a better one; NULL: there is none */
};

/* Whatever steps have found is given back. */
void fors_demand_steps_clear(struct fors_demand_steps *steps);

/*
 * Each step needs those before it. What is not as it should be but stops nothing is said in *warnings.
 *
 * Ways: fors_demand_reach(), of a part fors_flows_routed_read(), and their errors; FORS_ELIMIT (the limit of bytes), FORS_ENOMEM.
 */
enum fors_err fors_demand_find_ways(struct fors_demand_steps *steps, struct fors_warnings *warnings,
				    struct fors_error *error);

/* The file of this name has this text. Errors: FORS_EINPUT, FORS_ELIMIT, FORS_ENOMEM. */
enum fors_err fors_demand_find_messages(struct fors_demand_steps *steps, const char *text, size_t size,
					const char *name, struct fors_warnings *warnings, struct fors_error *error);

/* Bounds, and the cost of phases, which take `phase_cost` picoseconds each. Errors: FORS_ENOMEM. */
enum fors_err fors_demand_find_bounds(struct fors_demand_steps *steps, uint64_t phase_cost, struct fors_error *error);

/*
 * A plan. `uniform` is the plan of all with all over these tables, or NULL; it is read, not kept. Of a part it is the job's own, and this one is not asked.
 * Where it takes no longer it is the plan, and where it reaches the bound no other is looked for. Errors: FORS_ECANCELLED, FORS_ELIMIT (a plan may take more bytes than the limit, as is estimated before, or
 * more than a schedule has place for), FORS_ENOMEM.
 */
enum fors_err fors_demand_find_plan(struct fors_demand_steps *steps, const struct fors_schedule *uniform,
				    struct fors_error *error);

/* Walk each piece through the tables. Errors: FORS_ENOPLAN (the plan is wrong, which is a bug), FORS_ENOMEM. */
enum fors_err fors_demand_prove(const struct fors_demand_steps *steps, struct fors_demand_verdict *verdict,
				struct fors_error *error);

/* The plan that was chosen. */
const struct fors_demand_plan *fors_demand_chosen(const struct fors_demand_steps *steps);

#endif
