/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bound.h - the lower bound on the number of phases.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_BOUND_H
#define FORS_CORE_PLANNERS_BOUND_H

#include "core/fabric/fabric.h"

/*
 * LB (doc/planners.md, "Lower bounds"): no conflict-free plan of the whole exchange, over any
 * LMC, has fewer phases. 0 when there is no server. The fabric must be connected.
 * Errors: FORS_ENOMEM; *bound is unchanged then.
 */
enum fors_err fors_lower_bound(const struct fors_fabric *fabric, uint32_t *bound, struct fors_error *error);

#endif
