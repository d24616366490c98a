/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern_paths.c - which path index, so which lane, each item of the pattern takes: step 2.
 *
 * Home where that lives. The others, which most leaves' tables send elsewhere, take the least loaded of the lanes
 * that their path indices offer. A lane with more items than there are rounds cannot be coloured, so it hands one on:
 * along the shortest chain of moves, found breadth-first over the lanes, to a lane with room. That is an augmenting
 * path: when there is none, no choice of path indices has room for all.
 */
#include "pattern_work.h"

/* The least loaded lane among an item's path indices; the smaller index on a tie. */
static void choose_path(struct fors_rounds_pattern *pattern, uint32_t item)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t path = 0; path < pattern->problem->npaths; path++) {
		uint8_t lane = fors_rounds_item_lane(pattern, item, path);

		if (lane != FORS_NO_LANE && pattern->load[lane] < least) {
			least = pattern->load[lane];
			pattern->path[item] = (uint8_t)path;
		}
	}
	if (least != UINT32_MAX)
		pattern->load[fors_rounds_chosen_lane(pattern, item)]++;
}

/* The first step of the way to a lane: the item that has to move, and over which path index. */
struct step {
	uint32_t item;
	uint8_t path, from;
};

/* A search for a lane with room, breadth-first. */
struct chain {
	struct step step[FORS_MAX_LANES];
	uint8_t queue[FORS_MAX_LANES];
	uint32_t nqueue;
};

/*
 * Note for each lane that an item, which is on `from`, could move to how it is reached, and append new ones to the queue, up
 * to the first with room. True: that one is the last in the queue.
 */
static bool spread_item(const struct fors_rounds_pattern *pattern, uint8_t from, uint32_t item, struct chain *chain)
{
	for (uint32_t path = 0; path < pattern->problem->npaths; path++) {
		uint8_t lane = fors_rounds_item_lane(pattern, item, path);

		if (lane == FORS_NO_LANE || chain->step[lane].item != FORS_NO_ITEM)
			continue;
		chain->step[lane] = (struct step){.item = item, .path = (uint8_t)path, .from = from};
		chain->queue[chain->nqueue++] = lane;
		if (pattern->load[lane] < pattern->nrounds)
			return true;
	}
	return false;
}

/*
 * The same for all items on `from`. The first with room that comes into the queue ends the shortest chain, so nothing
 * behind it need be looked at.
 */
static bool spread(const struct fors_rounds_pattern *pattern, uint8_t from, struct chain *chain)
{
	for (uint32_t i = 0; i < pattern->nmovable; i++) {
		uint32_t item = pattern->movable[i];

		if (fors_rounds_chosen_lane(pattern, item) == from && spread_item(pattern, from, item, chain))
			return true;
	}
	return false;
}

/*
 * Take one item off a lane that has more than there are rounds: along the shortest chain of moves to a lane with room.
 * False: there is none.
 */
static bool relieve(struct fors_rounds_pattern *pattern, uint8_t full)
{
	struct chain chain = {.queue = {full}, .nqueue = 1};
	bool is_found = false;
	uint8_t lane;

	for (uint32_t k = 0; k < pattern->problem->nlanes; k++)
		chain.step[k].item = FORS_NO_ITEM;
	chain.step[full].item = 0; /* no way back to where it began */
	for (uint32_t i = 0; i < chain.nqueue && !is_found; i++)
		is_found = spread(pattern, chain.queue[i], &chain);
	if (!is_found)
		return false;
	lane = chain.queue[chain.nqueue - 1];
	pattern->load[lane]++;
	pattern->load[full]--;
	for (; lane != full; lane = chain.step[lane].from)
		pattern->path[chain.step[lane].item] = chain.step[lane].path;
	return true;
}

/* The items that have a lane: not many where few leaves have servers, or few lanes may be used. */
static void list_movable(struct fors_rounds_pattern *pattern)
{
	for (uint32_t item = 0; item < pattern->nitems; item++)
		if (fors_rounds_chosen_lane(pattern, item) != FORS_NO_LANE)
			pattern->movable[pattern->nmovable++] = item;
}

/* Path indices for all items: home where that lives, and no lane with more items than rounds if that can be. */
void fors_rounds_choose_paths(struct fors_rounds_pattern *pattern)
{
	uint32_t nlanes = pattern->problem->nlanes;

	for (uint32_t item = 0; item < pattern->nitems; item++)
		if (fors_rounds_item_lane(pattern, item, 0) == fors_rounds_item_home(pattern, item))
			pattern->load[fors_rounds_item_lane(pattern, item, 0)]++;
	for (uint32_t item = 0; item < pattern->nitems; item++)
		if (fors_rounds_item_lane(pattern, item, 0) != fors_rounds_item_home(pattern, item))
			choose_path(pattern, item);
	list_movable(pattern);
	for (uint32_t lane = 0; pattern->problem->npaths > 1 && lane < nlanes; lane++)
		while (pattern->load[lane] > pattern->nrounds && relieve(pattern, (uint8_t)lane))
			;
}
