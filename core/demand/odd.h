/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odd.h - a better bound, where messages conflict in rings.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_DEMAND_ODD_H
#define FORS_CORE_DEMAND_ODD_H

#include "core/planners/method.h"
#include "problem.h"

/*
 * A bound by an odd set of ports and links, in *bound, and how many are in it, in *size; 0 and 0 when there is nothing to be found. No plan is shorter, in
 * pieces or not; it may be less than that of fors_demand_bound_of(). Errors: FORS_ENOMEM.
 */
enum fors_err fors_demand_odd_bound(const struct fors_demand_problem *problem, struct fors_effort *effort,
				    uint64_t *bound, uint32_t *size, struct fors_error *error);

#endif
