/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.c - the ways that the tables offer between leaves.
 *
 * The planner says "so many flows from leaf a to leaf b over this way"; tables think of LIDs. A way is a lane up and a lane
 * down of the same spine, and counts if every server of b has a path index that takes what comes from a over it. With a path
 * index for each lane these are the lanes that live at both leaves: path index i of server d is at home on lane (home(d) + i)
 * mod S. Where one of several parallel cables is dead at one of the leaves, its entries go over another cable of the spine
 * there, and the two lanes of such a way differ. So it is enough to ask what the first server of b has, index by index, and
 * whether all others have it too.
 */
#include <stdlib.h>

#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "split.h"

/* Do all servers of leaf b have a path index for this way? */
static bool all_have(const struct fors_task *task, uint32_t a, uint32_t b, const uint8_t lane[2])
{
	const struct fors_leaf *leaf = &task->fabric->leaf[b];

	for (uint32_t d = leaf->first_server; d < leaf->first_server + leaf->nservers; d++)
		if (fors_path_index(task->fabric, task->lanes, a, d, lane[0], lane[1]) == FORS_NO_INDEX)
			return false;
	return true;
}

static bool is_among(const struct fors_split_way *way, uint32_t n, const uint8_t lane[2])
{
	for (uint32_t i = 0; i < n; i++)
		if (way[i].lane[0] == lane[0] && way[i].lane[1] == lane[1])
			return true;
	return false;
}

/* The ways from leaf a to leaf b. Returns how many there are. */
static uint32_t list_pair(const struct fors_task *task, uint32_t a, uint32_t b, struct fors_split_way *way)
{
	const struct fors_fabric *fabric = task->fabric;
	const uint32_t nindices = fors_home_nindices(fabric->lmc), d = fabric->leaf[b].first_server;
	uint32_t n = 0;

	for (uint32_t i = 0; i < nindices && i < fabric->nlanes; i++) {
		uint8_t lane[2] = {fors_lane_to(fabric, task->lanes, a, d, i), FORS_NO_LANE};

		if (lane[0] != FORS_NO_LANE)
			lane[1] = fors_lane_down(fabric, task->lanes, lane[0], d, i);
		if (lane[1] != FORS_NO_LANE && !is_among(way, n, lane) && all_have(task, a, b, lane))
			way[n++] = (struct fors_split_way){.lane = {lane[0], lane[1]}};
	}
	return n;
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

enum fors_err fors_ways_list(const struct fors_task *task, struct fors_split *split, struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;
	const uint32_t n = fabric->nleaves;
	uint32_t nways = 0;

	split->nleaves = n;
	split->begin = calloc((size_t)n * n + 1, sizeof(*split->begin));
	split->way = calloc((size_t)n * n * fabric->nlanes + 1, sizeof(*split->way));
	if (!split->begin || !split->way)
		return fors_fail_memory(error);
	for (uint32_t pair = 0; pair < n * n; pair++) {
		const uint32_t a = pair / n, b = pair % n;

		if (a != b && fabric->leaf[a].nservers && fabric->leaf[b].nservers) {
			nways += list_pair(task, a, b, split->way + nways);
			if (nways == split->begin[pair])
				return no_way(task, a, b, error);
		}
		split->begin[pair + 1] = nways;
	}
	return FORS_OK;
}
