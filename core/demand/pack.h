/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.h - a demand packed into phases: no resource carries more messages at a time than it can.
 *
 * Thread rules: pure; the same problem gives the same plan on any machine.
 */
#ifndef FORS_CORE_DEMAND_PACK_H
#define FORS_CORE_DEMAND_PACK_H

#include "core/planners/method.h"
#include "plan.h"
#include "problem.h"

struct fors_demand_asked {
	const struct fors_demand_problem *problem;
	uint64_t bound;	     /* no plan is shorter: the most of fors_demand_bound_of(), or more */
	uint64_t cost;	     /* of a phase, in bytes of the demand; 0: phases cost nothing */
	uint64_t most_bytes; /* of memory that a plan may take, as is estimated before; 0: any */
	struct fors_effort *effort;
};

/*
 * A plan in *plan, owned by the caller, with the least time that was found. Errors: FORS_ECANCELLED, FORS_ELIMIT (any plan would take more
 * memory than it may), FORS_ENOMEM.
 */
enum fors_err fors_demand_pack(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
			       struct fors_error *error);

/*
 * The parts of it. Whole messages, each as many times as its bytes say, in phases of length 1; *plan is NULL when that was not found within a quarter
 * more phases than the bound. (pack_units.c)
 */
enum fors_err fors_demand_pack_units(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
				     struct fors_error *error);

/* How many phases there are to be, and how they are chosen. */
struct fors_demand_style {
	uint32_t percent; /* of the messages of the fullest port or cable */
	uint32_t spare;	  /* phases more than that */
	uint32_t seed;	  /* of random choices, not 0 */
	uint32_t choices; /* messages that a port or cable chooses from */
};

/* Pieces in phases of any length, made one after another: about as many as the style says. (pack_slices.c) */
enum fors_err fors_demand_pack_slices(const struct fors_demand_asked *asked, const struct fors_demand_style *style,
				      struct fors_demand_plan **plan, struct fors_error *error);

/* Move pieces of short phases into others that have room for them, in *plan, which is replaced. (compact.c) */
enum fors_err fors_demand_compact(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
				  struct fors_error *error);

/* Make one phase of all that send the same pairs over the same ways, in *plan, which is replaced. (merge.c) */
enum fors_err fors_demand_merge(struct fors_demand_plan **plan, struct fors_error *error);

#endif
