/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lmc.h - the LMC that planners would like to have.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_LMC_H
#define FORS_CORE_PLANNERS_LMC_H

#include "core/base/unknown.h"
#include "core/fabric/fabric.h"

/*
 * The LMC with a path index for every lane, over which the exact planner reaches the
 * lower bound; FORS_UNKNOWN when the servers have it already, when `phases` (0: no plan) is at the bound
 * already, or when the LIDs would not suffice for it.
 */
int64_t fors_lmc_needed(const struct fors_fabric *fabric, int64_t phases, int64_t lower_bound);

#endif
