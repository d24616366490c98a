/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oracle.h - lower bounds on the number of phases, computed without any code of the planners.
 */
#ifndef FORS_TESTS_SWEEP_ORACLE_H
#define FORS_TESTS_SWEEP_ORACLE_H

#include "core/fabric/fabric.h"

/* LB: the servers, and the cuts of single leaves (by augmenting paths over pairs of leaf and spine). */
uint32_t oracle_bound(const struct fors_fabric *fabric);

/*
 * LP: the least whole T that is not below the least fractional T of step 1, by lp_solve; 0 when there is no
 * lp_solve in this build. Spines with parallel cables count as one lane of that capacity.
 */
uint32_t oracle_fraction(const struct fors_fabric *fabric);

/*
 * The same for plans over one LID per server (LMC 0) and tables that leave every home-healthy entry at home: whatever the
 * tables do with the displaced entries and whatever the planner is, no plan has fewer phases. All servers of a leaf go
 * the same way to a server, so every link carries a multiple of what divides the number of servers of all leaves.
 * Single cables only. 0 when there is no lp_solve in this build.
 */
uint32_t oracle_at_home(const struct fors_fabric *fabric);

#endif
