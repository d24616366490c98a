/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.c - what ways the tables offer between leaves.
 *
 * A planner for lanes thinks of leaves: "this many flows from leaf a to leaf b over lane k". The
 * tables think of LIDs: path index i of server d is at home on lane (g(d) + i) mod S. With 2^LMC >= S every
 * lane is the home of one of the first S path indices of every server, so way k = "the path index at
 * home on lane k" exists for all servers of b alike. If the lane lives at both leaves the entry is at home
 * and way k goes up and down over lane k. If one cable of several parallel ones is dead, its entries
 * go over another cable of the same spine, at the end where it is dead; the tables tell which one, and
 * way k stays useful: with one of two cables dead at a, ways k0 and k1 leave a over the same
 * cable and reach b over both. Entries that went to another spine repeat one of that spine's own ways, and are left
 * out.
 *
 * With 2^LMC < S a server has only some of the lanes; a way is used when all servers of the leaf have it. So it is where
 * entries of a path index have been moved for jobs: nothing is known of that index then but what the tables say.
 */
#include "ways.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"

#include <stdlib.h>
#include <string.h>

/* The path index of server d whose home is lane k, maybe beyond those that the LMC allows. */
static inline uint32_t home_index(const struct fors_fabric *fabric, uint32_t d, uint32_t k)
{
	const struct fors_server *server = &fabric->server[d];

	return fors_home_index(fabric->nlanes, fors_home_lane(fabric, server->leaf, server->slot, 0), k);
}

/* The lanes of the entries of path index i of server d, from leaf a. */
static void lanes_of_entry(const struct fors_task *task, uint32_t a, uint32_t d, uint32_t i, uint8_t *up, uint8_t *down)
{
	*up = fors_lane_to(task->fabric, task->lanes, a, d, i);
	*down = *up == FORS_NO_LANE ? FORS_NO_LANE : fors_lane_down(task->fabric, task->lanes, *up, d, i);
}

/* The path index that takes server d over these lanes, the one at home on lane k if it does. */
static uint8_t find_index(const struct fors_task *task, uint32_t a, uint32_t d, uint32_t k, uint32_t up, uint32_t down)
{
	uint32_t i = home_index(task->fabric, d, k);
	uint8_t entry_up, entry_down;

	if (i < fors_home_nindices(task->fabric->lmc)) {
		lanes_of_entry(task, a, d, i, &entry_up, &entry_down);
		if (entry_up == up && entry_down == down)
			return (uint8_t)i;
	}
	return fors_path_index(task->fabric, task->lanes, a, d, up, down);
}

uint8_t fors_ways_index(const struct fors_task *task, const struct fors_ways *ways, uint32_t a, uint32_t d, uint32_t k)
{
	size_t way = fors_way(ways, a, task->fabric->server[d].leaf, k);

	return find_index(task, a, d, k, ways->up[way], ways->down[way]);
}

/* Do all servers of leaf b have an index for this way? */
static bool all_have(const struct fors_task *task, uint32_t a, uint32_t b, uint32_t k, uint32_t up, uint32_t down)
{
	const struct fors_leaf *leaf = &task->fabric->leaf[b];

	for (uint32_t d = leaf->first_server; d < leaf->first_server + leaf->nservers; d++)
		if (find_index(task, a, d, k, up, down) == FORS_NO_INDEX)
			return false;
	return true;
}

/* Is there another lane of the same spine? */
static bool has_sibling(const struct fors_fabric *fabric, uint32_t k)
{
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		if (lane != k && fabric->lane[lane].spine == fabric->lane[k].spine)
			return true;
	return false;
}

static bool is_known(const uint8_t *up, const uint8_t *down, uint32_t n, uint8_t way_up, uint8_t way_down)
{
	for (uint32_t k = 0; k < n; k++)
		if (up[k] == way_up && down[k] == way_down)
			return true;
	return false;
}

/* A way over the lanes where the tables sent the entries of dead lane k. */
static void detour(const struct fors_task *task, uint32_t a, uint32_t b, uint32_t k, uint8_t *up, uint8_t *down)
{
	const struct fors_fabric *fabric = task->fabric;
	uint32_t d = fabric->leaf[b].first_server, i = home_index(fabric, d, k);
	uint8_t way_up, way_down;

	if (i >= fors_home_nindices(fabric->lmc))
		return;
	lanes_of_entry(task, a, d, i, &way_up, &way_down);
	if (way_up == FORS_NO_LANE || way_down == FORS_NO_LANE || way_up == way_down)
		return; /* up == down is that lane's own way */
	if (is_known(up, down, fabric->nlanes, way_up, way_down) || !all_have(task, a, b, k, way_up, way_down))
		return;
	up[k] = way_up;
	down[k] = way_down;
}

/* The ways of one pair. sibling[k]: lane k has parallel ones. */
static void find_ways(const struct fors_task *task, uint32_t a, uint32_t b, const bool *sibling, uint8_t *up,
		      uint8_t *down)
{
	const struct fors_fabric *fabric = task->fabric;
	bool is_short = task->has_moved || !fors_home_has_all(fabric->nlanes, fabric->lmc);

	for (uint32_t k = 0; k < fabric->nlanes; k++) {
		if (!fors_live(fabric, a, k) || !fors_live(fabric, b, k))
			continue;
		if (!is_short || all_have(task, a, b, k, k, k))
			up[k] = down[k] = (uint8_t)k;
	}
	for (uint32_t k = 0; k < fabric->nlanes; k++)
		if (sibling[k] && !(fors_live(fabric, a, k) && fors_live(fabric, b, k)))
			detour(task, a, b, k, up, down);
}

static enum fors_err no_way(const struct fors_task *task, uint32_t a, uint32_t b, struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;

	if (task->has_moved && fors_home_has_all(fabric->nlanes, fabric->lmc))
		return fors_fail(
			error, FORS_ENOTAPPL,
			"exact: the servers of %s have no lane in common from %s, where entries are those of jobs",
			fabric->leaf[b].name, fabric->leaf[a].name);
	return fors_fail(error, FORS_ELMC,
			 "LMC %u is too small for the %u lanes: the servers of %s have no lane in common from %s; LMC "
			 "%u is enough",
			 fabric->lmc, fabric->nlanes, fabric->leaf[b].name, fabric->leaf[a].name,
			 fors_home_lmc(fabric->nlanes));
}

static enum fors_err fill_ways(const struct fors_task *task, struct fors_ways *ways, uint8_t *up, uint8_t *down,
			       const bool *sibling, struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		for (uint32_t b = 0; b < fabric->nleaves; b++) {
			size_t first = fors_way(ways, a, b, 0);
			bool any = false;

			if (a == b || !fabric->leaf[a].nservers || !fabric->leaf[b].nservers)
				continue;
			find_ways(task, a, b, sibling, up + first, down + first);
			for (uint32_t k = 0; k < fabric->nlanes; k++) {
				any |= up[first + k] != FORS_NO_WAY;
				ways->is_straight &=
					up[first + k] == FORS_NO_WAY || (up[first + k] == k && down[first + k] == k);
			}
			if (!any)
				return no_way(task, a, b, error);
		}
	}
	return FORS_OK;
}

/* Ways of the fabric's size, none there, with its servers; NULL: out of memory. */
static struct fors_ways *ways_new(const struct fors_fabric *fabric, uint8_t **up, uint8_t **down)
{
	size_t nways = (size_t)fabric->nleaves * fabric->nleaves * fabric->nlanes;
	struct fors_ways *ways = calloc(1, sizeof(*ways));
	uint32_t *servers = calloc((size_t)fabric->nleaves + 1, sizeof(*servers));

	*up = malloc(nways + 1);
	*down = malloc(nways + 1);
	if (!ways || !servers || !*up || !*down) {
		free(ways);
		free(servers);
		free(*up);
		free(*down);
		return NULL;
	}
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		servers[a] = fabric->leaf[a].nservers;
	memset(*up, FORS_NO_WAY, nways);
	memset(*down, FORS_NO_WAY, nways);
	*ways = (struct fors_ways){.nleaves = fabric->nleaves,
				   .nlanes = fabric->nlanes,
				   .servers = servers,
				   .up = *up,
				   .down = *down,
				   .is_straight = true};
	return ways;
}

enum fors_err fors_ways_build(const struct fors_task *task, struct fors_ways **ways, struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;
	uint8_t *up, *down;
	struct fors_ways *made = ways_new(fabric, &up, &down);
	bool *sibling = calloc((size_t)fabric->nlanes + 1, sizeof(*sibling));
	enum fors_err err;

	for (uint32_t k = 0; sibling && k < fabric->nlanes; k++)
		sibling[k] = has_sibling(fabric, k);
	if (made && sibling)
		err = fill_ways(task, made, up, down, sibling, error);
	else
		err = fors_fail_memory(error);
	if (!err && task->has_moved)
		made->is_straight = false;
	free(sibling);
	if (err)
		fors_ways_free(made);
	else
		*ways = made;
	return err;
}

/* The live cable of a leaf on the spine of lane k: k's own, else another; FORS_NO_WAY: none. */
static uint8_t cable_for(const struct fors_fabric *fabric, uint32_t leaf, uint32_t k)
{
	if (fors_live(fabric, leaf, k))
		return (uint8_t)k;
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		if (fabric->lane[lane].spine == fabric->lane[k].spine && fors_live(fabric, leaf, lane))
			return (uint8_t)lane;
	return FORS_NO_WAY;
}

enum fors_err fors_ways_of_cables(const struct fors_fabric *fabric, struct fors_ways **ways, struct fors_error *error)
{
	uint8_t *up, *down;
	struct fors_ways *made = ways_new(fabric, &up, &down);

	if (!made)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		for (uint32_t b = 0; b < fabric->nleaves; b++) {
			size_t first = fors_way(made, a, b, 0);

			for (uint32_t k = 0; a != b && k < fabric->nlanes; k++) {
				uint8_t here = cable_for(fabric, a, k), there = cable_for(fabric, b, k);

				if (here == FORS_NO_WAY || there == FORS_NO_WAY ||
				    is_known(up + first, down + first, k, here, there))
					continue;
				up[first + k] = here;
				down[first + k] = there;
				made->is_straight &= here == k && there == k;
			}
		}
	}
	*ways = made;
	return FORS_OK;
}

void fors_ways_free(struct fors_ways *ways)
{
	if (!ways)
		return;
	free((void *)ways->servers);
	free((void *)ways->up);
	free((void *)ways->down);
	free(ways);
}
