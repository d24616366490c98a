/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runs.c - step 2 of the exact planner, the quick way: lane by lane.
 *
 * In the graph of step 2 the lanes are apart but for the n_a^2 flows inside leaf a. Give each of its lanes as many
 * of those as it has room for both up and down, and what is left to the places that no live lane stands
 * behind (n_a less the live lanes), T to each. If that is enough, every lane is a graph of its own, a matrix of leaves
 * by leaves, and core/colouring/peel.c cuts it into phases. No leaf has more flows in a phase than it has live lanes
 * and such places, which is n_a.
 *
 * It is not for leaves with more live lanes than servers, for ways that change lanes (parallel cables) and for more
 * than FORS_PEEL_MOST leaves; then lanes.c is asked.
 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* Flows up (side 0) or down (side 1) over a lane at leaf a. */
static uint32_t load_of(const struct fors_lane_runs *runs, uint32_t a, uint32_t k, int side)
{
	uint32_t sum = 0;

	for (uint32_t b = 0; b < runs->nleaves; b++)
		if (a != b)
			sum += runs->split[side == 0 ? fors_way(runs->ways, a, b, k) : fors_way(runs->ways, b, a, k)];
	return sum;
}

/* Give the inner flows of leaf a to its live lanes, the rest to its other places. False: they are too few. */
static bool give_inner(struct fors_lane_runs *runs, const struct fors_fabric *fabric, uint32_t a)
{
	uint32_t n = fabric->leaf[a].nservers, left = n * n, nlive = 0;

	for (uint32_t k = 0; k < runs->nlanes; k++) {
		uint32_t up, down, most;

		if (!fors_live(fabric, a, k))
			continue;
		nlive++;
		up = load_of(runs, a, k, 0);
		down = load_of(runs, a, k, 1);
		most = runs->nphases - (up > down ? up : down);
		most = most < left ? most : left;
		runs->inner[a * runs->nlanes + k] = (uint16_t)most;
		left -= most;
	}
	runs->more[a] = left;
	return nlive <= n && left <= (uint64_t)(n - nlive) * runs->nphases;
}

static bool lane_runs_alloc(struct fors_lane_runs *runs)
{
	runs->inner = calloc((size_t)runs->nleaves * runs->nlanes + 1, sizeof(*runs->inner));
	runs->more = calloc((size_t)runs->nleaves + 1, sizeof(*runs->more));
	runs->lane = calloc((size_t)runs->nlanes + 1, sizeof(*runs->lane));
	return runs->inner && runs->more && runs->lane;
}

enum fors_err fors_lane_runs_new(const struct fors_fabric *fabric, const struct fors_ways *ways, const uint16_t *split,
				 uint32_t nphases, struct fors_lane_runs **runs, struct fors_error *error)
{
	struct fors_lane_runs *new;
	bool fits = true;

	*runs = NULL;
	if (!ways->is_straight || ways->nleaves > FORS_PEEL_MOST)
		return FORS_OK;
	new = calloc(1, sizeof(*new));
	if (!new)
		return fors_fail_memory(error);
	new->ways = ways;
	new->split = split;
	new->nleaves = ways->nleaves;
	new->nlanes = ways->nlanes;
	new->nphases = nphases;
	if (!lane_runs_alloc(new)) {
		fors_lane_runs_free(new);
		return fors_fail_memory(error);
	}
	for (uint32_t a = 0; fits && a < new->nleaves; a++)
		fits = give_inner(new, fabric, a);
	if (fits)
		*runs = new;
	else
		fors_lane_runs_free(new);
	return FORS_OK;
}

enum fors_err fors_lane_runs_peel(struct fors_lane_runs *runs, uint32_t k, struct fors_error *error)
{
	uint16_t matrix[FORS_PEEL_MOST * FORS_PEEL_MOST];
	uint32_t n = runs->nleaves;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			matrix[a * n + b] =
				a == b ? runs->inner[a * runs->nlanes + k] : runs->split[fors_way(runs->ways, a, b, k)];
	return fors_peel(matrix, n, runs->nphases, &runs->lane[k], error);
}

void fors_lane_runs_free(struct fors_lane_runs *runs)
{
	if (!runs)
		return;
	for (uint32_t k = 0; runs->lane && k < runs->nlanes; k++)
		fors_runs_clear(&runs->lane[k]);
	free(runs->lane);
	free(runs->inner);
	free(runs->more);
	free(runs);
}
