/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uniform.h - what exchanges that know nothing of a demand make of it: the plan of all with all, and a shift.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_DEMAND_UNIFORM_H
#define FORS_CORE_DEMAND_UNIFORM_H

#include "core/schedule/schedule.h"
#include "plan.h"
#include "problem.h"

/*
 * The demand by the phases of a schedule, each as long as its longest message, in *plan, owned by the caller; NULL when the schedule lacks a pair. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_demand_by_schedule(const struct fors_demand_problem *problem, const struct fors_schedule *schedule,
				      struct fors_demand_plan **plan, struct fors_error *error);

/* A shift of all servers in their order, with barriers. */
struct fors_demand_shift {
	uint64_t length;  /* the sum over phases of the bytes over the fullest port or cable */
	uint32_t nphases; /* in which anybody sends */
};

/* In phase t server s sends to server s + t, on its base LID. Errors: FORS_ENOMEM. */
enum fors_err fors_demand_by_shift(const struct fors_demand_problem *problem, struct fors_demand_shift *shift,
				   struct fors_error *error);

#endif
