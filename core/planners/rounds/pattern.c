/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern.c - a first colouring that is the same for all leaves.
 *
 * A full healthy tree needs no search: every leaf does the same as its
 * neighbour, one leaf further on. The pattern keeps as much of that symmetry as
 * the tables do. Its items are (distance delta from the source leaf to the
 * receiver's, number of the source group in its leaf, class of the receiver's
 * place), where the class is the home lane of the place's base LID (and a copy
 * number, where a leaf has more slots than lanes; core/tables/home.h). All units of an item, one for
 * each source leaf, get the same round. Then, whatever the number of leaves:
 *
 *   an uplink (a, lane) carries one unit in a round      } if no two items of a round
 *   a downlink (lane, b) carries one unit in a round     } take the same lane,
 *   a receiver gets one unit in a round                    if no two items of a round have the same class.
 *
 * So it is an edge colouring of a bipartite multigraph, classes on one side,
 * lanes on the other, an item an edge between them (items that stay inside the leaf are
 * edges of the class alone), and by Koenig's theorem as many rounds as the
 * largest degree suffice. Lost spines keep the symmetry, since the
 * tables spread their entries by (class, delta) too: with whole spines down the
 * pattern alone is a plan at the bound. Single lost cables break it at few
 * places; those units start homeless.
 *
 * The steps: the round that an item should have (pattern_own.c), the path index,
 * so the lane, that it takes (pattern_paths.c), the colouring, which gives it the
 * round (pattern_colour.c), and where leaves have several source groups, which
 * of them it belongs to (pattern_labels.c). Here: the items, and the units that they stand for.
 */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

#include "core/tables/home.h"
#include "pattern_work.h"

#define PLACE_WORK 4 /* steps for each unit */

static void *new_unset(size_t n, size_t size)
{
	void *array = malloc(n * size + 1);

	if (array)
		memset(array, 0xff, n * size);
	return array;
}

static bool allocate(struct fors_rounds_pattern *pattern)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	size_t places = (size_t)problem->nleaves * pattern->nclasses, rounds = pattern->nrounds;

	pattern->nitems = (uint32_t)places * problem->parts;
	pattern->lane = new_unset(places * problem->npaths, sizeof(*pattern->lane));
	pattern->path = calloc(pattern->nitems, sizeof(*pattern->path));
	pattern->movable = malloc((pattern->nitems + (size_t)1) * sizeof(*pattern->movable));
	pattern->on = malloc(pattern->nitems + (size_t)1);
	pattern->colour = new_unset(pattern->nitems, sizeof(*pattern->colour));
	pattern->own = calloc(pattern->nitems, sizeof(*pattern->own));
	pattern->class_at = new_unset(pattern->nclasses * rounds, sizeof(*pattern->class_at));
	pattern->lane_at = new_unset(problem->nlanes * rounds, sizeof(*pattern->lane_at));
	pattern->nwords = pattern->nrounds / 64 + 1;
	pattern->taken =
		calloc((pattern->nclasses + (size_t)problem->nlanes) * pattern->nwords, sizeof(*pattern->taken));
	pattern->load = calloc(problem->nlanes, sizeof(*pattern->load));
	pattern->class_of = calloc(problem->nservers, sizeof(*pattern->class_of));
	return pattern->lane && pattern->path && pattern->movable && pattern->on && pattern->colour && pattern->own &&
	       pattern->class_at && pattern->lane_at && pattern->taken && pattern->load && pattern->class_of;
}

static void release(struct fors_rounds_pattern *pattern)
{
	free(pattern->lane);
	free(pattern->path);
	free(pattern->movable);
	free(pattern->on);
	free(pattern->colour);
	free(pattern->own);
	free(pattern->class_at);
	free(pattern->lane_at);
	free(pattern->taken);
	free(pattern->load);
	free(pattern->class_of);
}

/* One vote of Boyer and Moore's majority count: the lane with more than half of the votes wins. */
static void vote(uint8_t *lane, int32_t *lead, uint8_t candidate)
{
	if (*lead == 0)
		*lane = candidate;
	*lead += *lane == candidate ? 1 : -1;
}

/* What most leaves use, for each distance, class and path. */
static bool read_lanes(struct fors_rounds_pattern *pattern)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	uint32_t npaths = problem->npaths;
	int32_t *lead = calloc((size_t)problem->nleaves * pattern->nclasses * npaths, sizeof(*lead));

	if (!lead)
		return false;
	for (uint32_t leaf = 0; leaf < problem->nleaves; leaf++) {
		for (uint32_t d = 0; d < problem->nservers; d++) {
			uint32_t delta = fors_rounds_distance(problem, leaf, problem->leaf_of[d]);
			size_t place = ((size_t)delta * pattern->nclasses + pattern->class_of[d]) * npaths;
			const uint8_t *up = problem->up + fors_rounds_ways(problem, leaf, d);

			for (uint32_t path = 0; path < npaths; path++)
				if (up[path] != FORS_NO_LANE)
					vote(&pattern->lane[place + path], &lead[place + path], up[path]);
		}
	}
	free(lead);
	fors_rounds_spend(problem, (uint64_t)problem->nleaves * problem->nservers * npaths);
	return true;
}

static void name_classes(struct fors_rounds_pattern *pattern)
{
	const struct fors_fabric *fabric = pattern->problem->fabric;
	uint32_t nlanes = pattern->problem->nlanes;

	for (uint32_t d = 0; d < fabric->nservers; d++) {
		uint32_t leaf = fabric->server[d].leaf, slot = fabric->server[d].slot;

		pattern->class_of[d] = fors_home_class(nlanes, fors_slot(fabric, leaf, slot)->copy,
						       fors_home_lane(fabric, leaf, slot, 0));
	}
}

/* Place a unit by its item: over the item's path, else over any path that is free in that round. */
static bool place(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
		  const struct fors_rounds_pattern *pattern, uint32_t item)
{
	uint32_t npaths = unit->is_local ? 1 : pattern->problem->npaths, round = pattern->colour[item];

	for (uint32_t i = 0; i < npaths && round != FORS_NO_ROUND; i++) {
		uint32_t path = unit->is_local ? 0 : (pattern->path[item] + i) % npaths;

		if (fors_rounds_put_if_free(packing, unit, path, round))
			return true;
	}
	return false;
}

/* Does the unit go where its item does? */
static bool is_regular(const struct fors_rounds_pattern *pattern, const struct fors_rounds_unit *unit, uint32_t item)
{
	return unit->is_local || unit->up[pattern->path[item]] == fors_rounds_chosen_lane(pattern, item);
}

static uint32_t item_of(const struct fors_rounds_pattern *pattern, const struct fors_rounds_unit *unit)
{
	const struct fors_rounds_problem *problem = pattern->problem;

	return fors_rounds_item(pattern, fors_rounds_distance(problem, unit->leaf, unit->to),
				unit->group % problem->parts, pattern->class_of[unit->server]);
}

/* The regular units of a group; the others have to wait. */
static void place_group(struct fors_rounds_packing *packing, const struct fors_rounds_pattern *pattern, uint32_t group)
{
	const struct fors_rounds_problem *problem = packing->problem;

	for (uint32_t d = 0; d < problem->nservers; d++) {
		struct fors_rounds_unit unit = fors_rounds_unit(packing, (group << problem->server_bits) + d);
		uint32_t item = item_of(pattern, &unit);

		if (!fors_rounds_is_packed(problem, group, d))
			continue;
		if (!is_regular(pattern, &unit, item) || !place(packing, &unit, pattern, item))
			packing->homeless[packing->nhomeless++] = unit.id;
	}
}

/* Displaced units come last, so that they find out what is really left in their round. */
static enum fors_err place_all(struct fors_rounds_packing *packing, const struct fors_rounds_pattern *pattern,
			       struct fors_error *error)
{
	uint32_t waiting;

	for (uint32_t group = 0; group < fors_rounds_ngroups(packing->problem); group++) {
		if (fors_rounds_is_cancelled(packing->problem))
			return fors_rounds_cancelled(error);
		if (fors_rounds_members(packing->problem, group) == 0)
			continue;
		place_group(packing, pattern, group);
		fors_rounds_spend(packing->problem, PLACE_WORK * (uint64_t)packing->problem->nservers);
	}
	waiting = packing->nhomeless;
	packing->nhomeless = 0;
	for (uint32_t i = 0; i < waiting; i++) {
		struct fors_rounds_unit unit = fors_rounds_unit(packing, packing->homeless[i]);

		if (!place(packing, &unit, pattern, item_of(pattern, &unit)))
			packing->homeless[packing->nhomeless++] = unit.id;
	}
	return FORS_OK;
}

/* All steps. Errors: FORS_ENOMEM, FORS_ECANCELLED; the pattern is to be released in any case. */
static enum fors_err make(struct fors_rounds_packing *packing, struct fors_rounds_pattern *pattern,
			  struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	if (!allocate(pattern))
		return fors_fail_memory(error);
	name_classes(pattern);
	if (!read_lanes(pattern) || !fors_rounds_own_rounds(pattern))
		return fors_fail_memory(error);
	if (!fors_rounds_choose_paths(pattern))
		return fors_fail_memory(error);
	fors_rounds_colour_items(pattern);
	if (fors_effort_is_over(pattern->problem->effort))
		return pattern->problem->effort->is_cancelled ? fors_rounds_cancelled(error) : FORS_OK;
	if (pattern->problem->parts > 1 && !fors_rounds_keeps_step(pattern))
		err = fors_rounds_relabel(pattern, error);
	return err ? err : place_all(packing, pattern, error);
}

enum fors_err fors_rounds_start(struct fors_rounds_packing *packing, struct fors_error *error)
{
	const struct fors_fabric *fabric = packing->problem->fabric;
	struct fors_rounds_pattern pattern = {.problem = packing->problem, .nrounds = packing->nrounds};
	enum fors_err err;

	pattern.nclasses = fors_home_nclasses(fabric);
	err = make(packing, &pattern, error);
	release(&pattern);
	return err;
}
