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

#define FORS_NO_WAY 255

/* What ways there are between leaves: way k of (a, b) climbs over lane up[a][b][k] and comes down over down[a][b][k].
 */
struct fors_ways {
	uint32_t nleaves, nlanes;
	const uint32_t *servers; /* n_a of each leaf */
	const uint8_t *up;	 /* nleaves x nleaves x nlanes lanes, FORS_NO_WAY: there is no way k */
	const uint8_t *down;	 /* likewise, FORS_NO_WAY at the same places */
	bool is_straight;	 /* every way k goes up and down over lane k */
};

/* Where way k from leaf a to leaf b stands in arrays over all ways. */
static inline size_t fors_way(const struct fors_ways *ways, uint32_t a, uint32_t b, uint32_t k)
{
	return ((size_t)a * ways->nleaves + b) * ways->nlanes + k;
}

/*
 * Find the smallest T >= at_least for which a split is found: x[fors_way(a, b, k)] flows of
 * the pair of leaves (a, b), a != b, over way k, n_a n_b in all, and at most T over any
 * lane up from a leaf or down to one. *split (owned by the caller, free()) has nleaves x nleaves x nlanes numbers.
 * *bound is a proven lower bound on T, at_least or more; *phases == *bound: T is the optimum.
 * Every pair with flows needs a way.
 * cancelled(context) may be NULL. Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_split_find(const struct fors_ways *ways, uint32_t at_least, bool (*cancelled)(void *context),
			      void *context, uint16_t **split, uint32_t *phases, uint32_t *bound,
			      struct fors_error *error);

#endif
