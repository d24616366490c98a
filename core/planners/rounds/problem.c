/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * problem.c - what the rounds planner has to pack, and how few rounds it may hope for.
 *
 * The tables say over which uplink and which downlink a leaf reaches each path
 * index of each server. They are read once into two dense arrays, because the
 * search asks for them millions of times.
 *
 * The bound: a receiver takes one unit of every group that has members; a group
 * sends one unit to every receiver, at most `capacity` in a round; a link
 * carries one unit in a round. With one path index the load of every link is
 * given. With more, a unit may choose, and only what every choice has in common
 * counts: what leaves (or enters) a leaf shares its live links, and a
 * unit whose ways all take the same link loads that link. Where what stays inside leaves is apart, a receiver takes no
 * unit of its own leaf in these rounds, and every group has room for all others.
 */
#include "problem.h"
#include "core/tables/lanes.h"

#include <stdlib.h>
#include <string.h>

static enum fors_err no_way(const struct fors_fabric *fabric, uint32_t leaf, uint32_t d, struct fors_error *error)
{
	return fors_fail(error, FORS_ENOPLAN,
			 "rounds: the tables have no way from leaf %s to LID %u under leaf %s; rebuild the tables",
			 fabric->leaf[leaf].name, fabric->server[d].lid, fabric->leaf[fabric->server[d].leaf].name);
}

static void read_way(struct fors_rounds_problem *problem, uint32_t leaf, uint32_t d, uint32_t path)
{
	const struct fors_fabric *fabric = problem->fabric;
	const struct fors_lanes *lanes = problem->task->lanes;
	size_t at = fors_rounds_ways(problem, leaf, d) + path;
	uint8_t up = fors_lane_to(fabric, lanes, leaf, d, path);
	uint8_t down = up == FORS_NO_LANE ? FORS_NO_LANE : fors_lane_down(fabric, lanes, up, d, path);

	problem->up[at] = down == FORS_NO_LANE ? FORS_NO_LANE : up;
	problem->down[at] = down;
}

static enum fors_err read_ways(struct fors_rounds_problem *problem, struct fors_error *error)
{
	const struct fors_fabric *fabric = problem->fabric;

	for (uint32_t leaf = 0; leaf < problem->nleaves; leaf++) {
		if (fabric->leaf[leaf].nservers == 0)
			continue;
		for (uint32_t d = 0; d < problem->nservers; d++) {
			if (fabric->server[d].leaf == leaf)
				continue;
			for (uint32_t path = 0; path < problem->stride; path++)
				read_way(problem, leaf, d, path);
			if (problem->up[fors_rounds_ways(problem, leaf, d)] == FORS_NO_LANE)
				return no_way(fabric, leaf, d, error);
		}
	}
	return FORS_OK;
}

void fors_rounds_problem_set(struct fors_rounds_problem *problem, uint32_t npaths, uint32_t parts)
{
	problem->npaths = npaths;
	problem->parts = parts;
	problem->is_apart = false;
	problem->capacity = (problem->fabric->max_servers + parts - 1) / parts;
}

enum fors_err fors_rounds_problem_init(struct fors_rounds_problem *problem, const struct fors_task *task,
				       uint32_t max_paths, struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;
	struct fors_rounds_problem made = {.task = task,
					   .fabric = fabric,
					   .nleaves = fabric->nleaves,
					   .nlanes = fabric->nlanes ? fabric->nlanes : 1,
					   .nservers = fabric->nservers,
					   .stride = max_paths};
	size_t size = (size_t)made.nleaves * made.nservers * made.stride;
	enum fors_err err;

	while (made.nservers > 1u << made.server_bits)
		made.server_bits++;
	made.leaf_of = malloc((made.nservers + 1) * sizeof(*made.leaf_of));
	made.turn_of = malloc((made.nleaves + 1) * sizeof(*made.turn_of));
	made.up = malloc(size);
	made.down = malloc(size);
	if (!made.leaf_of || !made.turn_of || !made.up || !made.down) {
		fors_rounds_problem_clear(&made);
		return fors_fail_memory(error);
	}
	for (uint32_t d = 0; d < made.nservers; d++)
		made.leaf_of[d] = fabric->server[d].leaf;
	for (uint32_t leaf = 0; leaf < made.nleaves; leaf++) {
		made.turn_of[leaf] = (uint16_t)made.nturns;
		made.nturns += fabric->leaf[leaf].nservers > 0;
	}
	memset(made.up, FORS_NO_LANE, size);
	memset(made.down, FORS_NO_LANE, size);
	err = read_ways(&made, error);
	if (err) {
		fors_rounds_problem_clear(&made);
		return err;
	}
	fors_rounds_problem_set(&made, 1, 1);
	*problem = made;
	return FORS_OK;
}

void fors_rounds_problem_clear(struct fors_rounds_problem *problem)
{
	free(problem->leaf_of);
	free(problem->turn_of);
	free(problem->up);
	free(problem->down);
	problem->leaf_of = problem->turn_of = NULL;
	problem->up = problem->down = NULL;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return b ? (a + b - 1) / b : 0;
}

/* The lane that all usable ways have in common, FORS_NO_LANE: none. */
static uint8_t common_lane(const uint8_t *way, uint32_t npaths)
{
	for (uint32_t path = 1; path < npaths; path++)
		if (way[path] != FORS_NO_LANE && way[path] != way[0])
			return FORS_NO_LANE;
	return way[0];
}

/* How many groups of this leaf have members. */
static uint32_t nonempty(const struct fors_rounds_problem *problem, uint32_t leaf)
{
	uint32_t n = problem->fabric->leaf[leaf].nservers;

	return n < problem->parts ? n : problem->parts;
}

/* Add the units that every choice of path brings to a link. */
static void count_forced(const struct fors_rounds_problem *problem, uint32_t *up, uint32_t *down)
{
	for (uint32_t leaf = 0; leaf < problem->nleaves; leaf++) {
		for (uint32_t d = 0; d < problem->nservers; d++) {
			size_t at = fors_rounds_ways(problem, leaf, d);
			uint8_t up_lane = common_lane(problem->up + at, problem->npaths);
			uint8_t down_lane = common_lane(problem->down + at, problem->npaths);
			uint32_t to = problem->leaf_of[d];

			if (up_lane != FORS_NO_LANE)
				up[leaf * problem->nlanes + up_lane] += nonempty(problem, leaf);
			if (down_lane != FORS_NO_LANE)
				down[to * problem->nlanes + down_lane] += nonempty(problem, leaf);
		}
	}
}

/* The bound of what crosses a leaf's live cables, and of groups and receivers. */
static uint32_t leaf_bound(const struct fors_rounds_problem *problem)
{
	const struct fors_fabric *fabric = problem->fabric;
	uint32_t bound = problem->is_apart ? 0 : divide_up(problem->nservers, problem->capacity), groups = 0;

	for (uint32_t leaf = 0; leaf < problem->nleaves; leaf++)
		groups += nonempty(problem, leaf);
	if (bound < groups - problem->is_apart)
		bound = groups - problem->is_apart;
	for (uint32_t leaf = 0; leaf < problem->nleaves; leaf++) {
		uint32_t n = fabric->leaf[leaf].nservers;
		uint32_t out = divide_up(nonempty(problem, leaf) * (problem->nservers - n), fabric->leaf[leaf].nlive);
		uint32_t in = divide_up((groups - nonempty(problem, leaf)) * n, fabric->leaf[leaf].nlive);

		bound = bound < out ? out : bound;
		bound = bound < in ? in : bound;
	}
	return bound;
}

enum fors_err fors_rounds_bound(const struct fors_rounds_problem *problem, uint32_t *bound, struct fors_error *error)
{
	size_t nlinks = (size_t)problem->nleaves * problem->nlanes;
	uint32_t *load = calloc(2 * nlinks + 1, sizeof(*load));
	uint32_t most = leaf_bound(problem);

	if (!load)
		return fors_fail_memory(error);
	count_forced(problem, load, load + nlinks);
	for (size_t link = 0; link < 2 * nlinks; link++)
		most = most < load[link] ? load[link] : most;
	free(load);
	*bound = most;
	return FORS_OK;
}
