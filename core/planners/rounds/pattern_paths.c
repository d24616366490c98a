/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern_paths.c - which path index, so which lane, each item of the pattern takes: step 2.
 *
 * Home where that lives. The others, which most leaves' tables send elsewhere, take the least loaded of the lanes
 * that their path indices offer. A lane with more items than there are rounds cannot be coloured, so it hands one on:
 * along the shortest chain of moves, found breadth-first over the lanes, to a lane with room. That is an augmenting
 * path: when there is none, no choice of path indices has room for all; and the lanes that it looked at need not be looked
 * at again, since no later chain passes them. Where leaves lack cables thousands of items have to go, so the first that could go from one lane
 * to another is kept at hand (offers.c).
 */
#include "offers.h"
#include "pattern_work.h"

#define CHAIN_WORK 8 /* steps for an item that is entered, or a lane that is reached */

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

/* The first step of the way to a lane: the movable item that has to go, by its number, and over which path index. */
struct step {
	uint32_t number;
	uint8_t path, from;
};

/* A search for a lane with room, breadth-first; `offers` and is_closed are kept from one to the next. */
struct chain {
	struct step step[FORS_MAX_LANES];
	uint8_t queue[FORS_MAX_LANES];
	uint32_t nqueue;
	bool is_closed[FORS_MAX_LANES]; /* no chain leads from this lane to one with room, now and later */
	struct fors_rounds_offers offers;
};

/* The lane that an item could go to over a path index, the first that leads there; FORS_NO_LANE: none. */
static uint8_t other_lane(const struct fors_rounds_pattern *pattern, uint32_t number, uint32_t path)
{
	uint32_t item = pattern->movable[number];
	uint8_t lane = fors_rounds_item_lane(pattern, item, path);

	for (uint32_t before = 0; before < path; before++)
		if (fors_rounds_item_lane(pattern, item, before) == lane)
			return FORS_NO_LANE;
	return lane == pattern->on[number] ? FORS_NO_LANE : lane;
}

/* Enter where an item could go from the lane that it is on; false: out of memory. */
static bool offer(const struct fors_rounds_pattern *pattern, uint32_t number, struct chain *chain)
{
	for (uint32_t path = 0; path < pattern->problem->npaths; path++) {
		uint8_t lane = other_lane(pattern, number, path);

		if (lane != FORS_NO_LANE && !fors_rounds_offer(&chain->offers, pattern->on[number], lane, number))
			return false;
	}
	return true;
}

static uint8_t path_to(const struct fors_rounds_pattern *pattern, uint32_t number, uint8_t lane)
{
	uint8_t path = 0;

	while (fors_rounds_item_lane(pattern, pattern->movable[number], path) != lane)
		path++;
	return path;
}

static bool comes_before(const struct step *one, const struct step *other)
{
	return one->number != other->number ? one->number < other->number : one->path < other->path;
}

/* Append a lane that was not seen before, in the order of their steps among those from place `first` of the queue on. */
static void append(struct chain *chain, uint32_t first, uint8_t lane, struct step step)
{
	uint32_t at = chain->nqueue++;

	chain->step[lane] = step;
	for (; at > first && comes_before(&step, &chain->step[chain->queue[at - 1]]); at--)
		chain->queue[at] = chain->queue[at - 1];
	chain->queue[at] = lane;
}

/*
 * Note for each lane that an item on `from` could move to how it is reached, and append new ones to the queue, those of
 * the first items first. True: the lane at the end of the queue has room. Of several with room that is the one of
 * the first item.
 */
static bool spread(const struct fors_rounds_pattern *pattern, uint8_t from, struct chain *chain)
{
	uint32_t nlanes = pattern->problem->nlanes, first = chain->nqueue;
	struct step least = {.number = FORS_NO_ITEM};
	uint8_t best = 0;

	for (uint32_t lane = 0; lane < nlanes; lane++) {
		struct step step = {.from = from};

		if (chain->is_closed[lane] || chain->step[lane].number != FORS_NO_ITEM)
			continue;
		step.number = fors_rounds_first_offer(&chain->offers, from, (uint8_t)lane);
		if (step.number == FORS_NO_OFFER)
			continue;
		step.path = path_to(pattern, step.number, (uint8_t)lane);
		if (pattern->load[lane] >= pattern->nrounds) {
			append(chain, first, (uint8_t)lane, step);
		} else if (comes_before(&step, &least)) {
			least = step;
			best = (uint8_t)lane;
		}
	}
	fors_rounds_spend(pattern->problem, nlanes + CHAIN_WORK * (uint64_t)(chain->nqueue - first));
	if (least.number == FORS_NO_ITEM)
		return false;
	append(chain, chain->nqueue, best, least);
	return true;
}

/* Nothing leads out of the lanes that were reached, and no later chain passes them: that is so for good. */
static void close_reached(struct chain *chain)
{
	for (uint32_t i = 0; i < chain->nqueue; i++)
		chain->is_closed[chain->queue[i]] = true;
}

/* Make the moves of a chain that ends on the last lane of the queue; false: out of memory. */
static bool move_along(struct fors_rounds_pattern *pattern, uint8_t full, struct chain *chain)
{
	uint8_t lane = chain->queue[chain->nqueue - 1];

	pattern->load[lane]++;
	pattern->load[full]--;
	for (; lane != full; lane = chain->step[lane].from) {
		uint32_t number = chain->step[lane].number;

		pattern->path[pattern->movable[number]] = chain->step[lane].path;
		pattern->on[number] = lane;
		if (!offer(pattern, number, chain))
			return false;
	}
	return true;
}

/*
 * Take one item off a lane that has more than there are rounds: along the shortest chain of moves to a lane with room.
 * *helped: there is one. False: out of memory.
 */
static bool relieve(struct fors_rounds_pattern *pattern, uint8_t full, struct chain *chain, bool *helped)
{
	*helped = false;
	if (chain->is_closed[full])
		return true;
	for (uint32_t k = 0; k < pattern->problem->nlanes; k++)
		chain->step[k].number = FORS_NO_ITEM;
	chain->step[full].number = 0; /* no way back to where it began */
	chain->queue[0] = full;
	chain->nqueue = 1;
	for (uint32_t i = 0; i < chain->nqueue && !*helped; i++) {
		*helped = spread(pattern, chain->queue[i], chain);
		if (fors_effort_is_over(pattern->problem->effort)) {
			*helped = false;
			return true;
		}
	}
	if (*helped)
		return move_along(pattern, full, chain);
	close_reached(chain);
	return true;
}

/* The items that have a lane: not many where few leaves have servers, or few lanes may be used. */
static void list_movable(struct fors_rounds_pattern *pattern)
{
	for (uint32_t item = 0; item < pattern->nitems; item++) {
		uint8_t lane = fors_rounds_chosen_lane(pattern, item);

		if (lane == FORS_NO_LANE)
			continue;
		pattern->on[pattern->nmovable] = lane;
		pattern->movable[pattern->nmovable++] = item;
	}
}

static bool offer_all(const struct fors_rounds_pattern *pattern, struct chain *chain)
{
	bool good = fors_rounds_offers_init(&chain->offers, pattern->problem->nlanes, pattern->on);

	for (uint32_t i = 0; good && i < pattern->nmovable; i++)
		good = offer(pattern, i, chain);
	fors_rounds_spend(pattern->problem, CHAIN_WORK * (uint64_t)pattern->nmovable);
	return good;
}

/* Lanes with more items than rounds hand them on, as far as chains lead; false: out of memory. */
static bool relieve_all(struct fors_rounds_pattern *pattern)
{
	uint32_t nlanes = pattern->problem->nlanes, lane = 0;
	struct chain chain = {.nqueue = 0};
	bool good;

	while (lane < nlanes && pattern->load[lane] <= pattern->nrounds)
		lane++;
	if (lane == nlanes)
		return true;
	good = offer_all(pattern, &chain);
	for (; good && lane < nlanes; lane++) {
		bool helped = true;

		while (good && helped && pattern->load[lane] > pattern->nrounds)
			good = relieve(pattern, (uint8_t)lane, &chain, &helped);
	}
	fors_rounds_offers_release(&chain.offers);
	return good;
}

/* Path indices for all items: home where that lives, and no lane with more items than rounds if that can be. */
bool fors_rounds_choose_paths(struct fors_rounds_pattern *pattern)
{
	for (uint32_t item = 0; item < pattern->nitems; item++)
		if (fors_rounds_item_lane(pattern, item, 0) == fors_rounds_item_home(pattern, item))
			pattern->load[fors_rounds_item_lane(pattern, item, 0)]++;
	for (uint32_t item = 0; item < pattern->nitems; item++)
		if (fors_rounds_item_lane(pattern, item, 0) != fors_rounds_item_home(pattern, item))
			choose_path(pattern, item);
	list_movable(pattern);
	fors_rounds_spend(pattern->problem, (uint64_t)pattern->nitems * (pattern->problem->npaths + 2));
	return pattern->problem->npaths == 1 || relieve_all(pattern);
}
