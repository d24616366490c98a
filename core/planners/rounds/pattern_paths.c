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

/* Note for each lane that the items on `from` could move to how it is reached; append new ones to the queue. */
static void spread(const struct fors_rounds_pattern *pattern, uint8_t from, struct step *step, uint8_t *queue,
		   uint32_t *nqueue)
{
	for (uint32_t item = 0; item < pattern->nitems; item++) {
		if (fors_rounds_chosen_lane(pattern, item) != from)
			continue;
		for (uint32_t path = 0; path < pattern->problem->npaths; path++) {
			uint8_t lane = fors_rounds_item_lane(pattern, item, path);

			if (lane == FORS_NO_LANE || step[lane].item != FORS_NO_ITEM)
				continue;
			step[lane] = (struct step){.item = item, .path = (uint8_t)path, .from = from};
			queue[(*nqueue)++] = lane;
		}
	}
}

/*
 * Take one item off a lane that has more than there are rounds: along the shortest chain of moves to a lane with room.
 * False: there is none.
 */
static bool relieve(struct fors_rounds_pattern *pattern, uint8_t full)
{
	struct step step[FORS_MAX_LANES];
	uint8_t queue[FORS_MAX_LANES];
	uint32_t nqueue = 1;

	for (uint32_t lane = 0; lane < pattern->problem->nlanes; lane++)
		step[lane].item = FORS_NO_ITEM;
	step[full].item = 0; /* no way back to where it began */
	queue[0] = full;
	for (uint32_t i = 0; i < nqueue; i++) {
		uint8_t lane = queue[i];

		if (pattern->load[lane] >= pattern->nrounds) {
			spread(pattern, lane, step, queue, &nqueue);
			continue;
		}
		pattern->load[lane]++;
		pattern->load[full]--;
		for (; lane != full; lane = step[lane].from)
			pattern->path[step[lane].item] = step[lane].path;
		return true;
	}
	return false;
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
	for (uint32_t lane = 0; pattern->problem->npaths > 1 && lane < nlanes; lane++)
		while (pattern->load[lane] > pattern->nrounds && relieve(pattern, (uint8_t)lane))
			;
}
