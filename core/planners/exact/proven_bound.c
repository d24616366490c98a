/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proven_bound.c - LP, or close to it, by the prices of step 1 of the exact planner (split.c).
 *
 * LB looks at one leaf at a time. Where several leaves together are the narrow place the search for a split finds out,
 * and its prices prove it: the bound is theirs.
 */
#include "proven_bound.h"

#include <stdlib.h>

#include "core/planners/bound.h"
#include "split.h"
#include "ways.h"

/* Has some spine more than two cables to a leaf? */
static bool has_many_cables(const struct fors_fabric *fabric)
{
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		if (fabric->lane[lane].cable > 1)
			return true;
	return false;
}

enum fors_err fors_proven_bound(const struct fors_fabric *fabric, uint32_t *bound, struct fors_error *error)
{
	struct fors_ways *ways = NULL;
	uint16_t *split = NULL;
	struct fors_effort effort = {.budget = fors_split_budget(fabric->nservers)};
	uint32_t least, phases;
	enum fors_err err = fors_lower_bound(fabric, &least, error);

	if (!err && fabric->nservers && !has_many_cables(fabric) && !fors_fabric_has_capacity(fabric)) {
		err = fors_ways_of_cables(fabric, &ways, error);
		if (!err)
			err = fors_split_find(ways, least, &effort, &split, &phases, &least, error);
	}
	fors_ways_free(ways);
	free(split);
	if (!err)
		*bound = least;
	return err;
}
