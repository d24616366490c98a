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
	uint64_t bound;	     /* no plan is shorter: the most of fors_demand_bound_of() */
	uint32_t fewest;     /* no plan has fewer phases */
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
 * The parts of it. Whole messages, or all of them in so many equal parts, which divide their one size; *plan is NULL when that was not found within a
 * quarter more phases than it needs at least. Errors: FORS_ECANCELLED, FORS_ENOMEM. (pack_units.c)
 */
enum fors_err fors_demand_pack_units(const struct fors_demand_asked *asked, uint32_t parts,
				     struct fors_demand_plan **plan, struct fors_error *error);
/* So many phases it needs. */
uint32_t fors_demand_phases(const struct fors_demand_asked *asked, uint32_t parts);

/*
 * Pieces in phases of any length, made one after another: about so many per cents of the messages of the fullest port or cable, and so many more. Errors:
 * FORS_ECANCELLED, FORS_ENOMEM. (pack_slices.c)
 */
enum fors_err fors_demand_pack_slices(const struct fors_demand_asked *asked, uint32_t percent, uint32_t spare,
				      struct fors_demand_plan **plan, struct fors_error *error);

#endif
