/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.h - which of its ways a unit takes first. Private to this module.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_WAYS_H
#define FORS_CORE_PLANNERS_FLOWS_WAYS_H

#include "problem.h"

/*
 * A way for each unit such that, as far as can be found, no link needs more than `limit` phases; in *way (one element per
 * unit and one more, a way of a unit without senders may not exist), owned by the caller. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_choose_ways(const struct fors_flows_problem *problem, uint32_t limit, uint32_t **way,
				     struct fors_error *error);

#endif
