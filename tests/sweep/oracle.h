/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oracle.h - the two lower bounds of the exact planner, computed without any of its code.
 */
#ifndef FORS_TESTS_SWEEP_ORACLE_H
#define FORS_TESTS_SWEEP_ORACLE_H

#include "core/fabric.h"

/* LB: the servers, and the cuts of single leaves (by augmenting paths over pairs of leaf and spine). */
uint32_t oracle_bound(const struct fors_fabric *fabric);

/*
 * LP: the least whole T that is not below the least fractional T of step 1, by lp_solve; 0 when there is no
 * lp_solve in this build. Spines with parallel cables count as one lane of that capacity.
 */
uint32_t oracle_fraction(const struct fors_fabric *fabric);

#endif
