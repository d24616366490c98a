/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * choice.h - a lower bound over the choice of path indices.
 * Thread rules: pure; the same problem gives the same bound on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_CHOICE_H
#define FORS_CORE_PLANNERS_FLOWS_CHOICE_H

#include "problem.h"

/*
 * No packing over these ways has fewer phases, whichever way each token takes, in *bound: `known`, another such bound, or
 * more. `known` where units have one way only, or ways are not listed. Where it is more, price[] has the weight of
 * each link that proves it, else it is unchanged; NULL: nobody asks. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_choice_bound(const struct fors_flows_problem *problem, uint32_t known, uint32_t *bound,
				      uint64_t *price, struct fors_error *error);

#endif
