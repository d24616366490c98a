/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proven_bound.h - a lower bound on the number of phases that is tighter than LB, and takes longer.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_EXACT_PROVEN_BOUND_H
#define FORS_CORE_PLANNERS_EXACT_PROVEN_BOUND_H

#include "core/fabric/fabric.h"

/*
 * A bound that is at least LB, and higher where several leaves together are the narrow place: LP, or close to it,
 * proven by prices (split.c). Takes as long as step 1 of the exact planner: for reports, where a plan is above LB.
 * LB where a spine has more than two cables to a leaf. The fabric must be connected.
 * Errors: FORS_ENOMEM; *bound is unchanged then.
 */
enum fors_err fors_proven_bound(const struct fors_fabric *fabric, uint32_t *bound, struct fors_error *error);

#endif
