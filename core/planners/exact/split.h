/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split.h - step 1 of the exact planner: how many flows of each pair of leaves take which way.
 *
 * Plain matrices: nothing of fabrics or tables is known here.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_EXACT_SPLIT_H
#define FORS_CORE_PLANNERS_EXACT_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/planners/method.h"
#include "ways.h"

/*
 * Find the smallest T >= at_least for which a split is found: x[fors_way(a, b, k)] flows of
 * the pair of leaves (a, b), a != b, over way k, n_a n_b in all, and at most T over any
 * lane up from a leaf or down to one. *split (owned by the caller, free()) has nleaves x nleaves x nlanes numbers.
 * *bound is a proven lower bound on T, at_least or more; *phases == *bound: T is the optimum.
 * Every pair with flows needs a way.
 * Counts its work in *effort; when that is spent T is the smallest of a few that it tries without a search.
 * Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_split_find(const struct fors_ways *ways, uint32_t at_least, struct fors_effort *effort,
			      uint16_t **split, uint32_t *phases, uint32_t *bound, struct fors_error *error);

/* What the search for a split may spend, for so many servers: linear in the flows. */
uint64_t fors_split_budget(uint32_t nservers);

#endif
