/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lmc.h - would more path indices give a better plan?
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_LMC_H
#define FORS_CORE_PLANNERS_LMC_H

#include "core/fabric/fabric.h"

#define FORS_NO_LMC (-1) /* none would help */

/*
 * The LMC with a path index for every lane (FORS_MAX_LMC where there are more lanes), over which the exact planner
 * reaches the lower bound; FORS_NO_LMC when the servers have it already, when `phases` (0 or less: no plan) is at
 * the bound already, or when the LIDs would not suffice for it.
 */
int64_t fors_lmc_needed(const struct fors_fabric *fabric, int64_t phases, int64_t lower_bound);

#endif
