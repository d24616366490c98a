/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * weighed.h - a bound where messages have several ways: no choice among them is better.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_DEMAND_WEIGHED_H
#define FORS_CORE_DEMAND_WEIGHED_H

#include "core/planners/method.h"
#include "problem.h"

/*
 * In *bound what no plan takes less than, by weights of ports and links; 0 where messages have one way each, or where there are too many of them. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_demand_weighed_bound(const struct fors_demand_problem *problem, struct fors_effort *effort,
					uint64_t *bound, struct fors_error *error);

#endif
