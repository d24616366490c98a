/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_repair.c - units of links that are too full move on.
 *
 * The least cap is what the fullest link cannot go below: the average of the poorest leaf's live links, rounded up, and
 * what pairs with one common lane force on it. From what the fullest link carries the cap goes down to that, one by
 * one, as long as it works; where leaves weigh differently, it begins at that, and what fails halves the distance. A link above the cap passes a unit on to the
 * way where that does least harm; a way that is full itself passes one of its own on in the next pass. Where
 * that gets stuck, a tabu search (level_tabu.c) may still find room. When it does not, the choice of before stays.
 */
#include "leveller.h"

#include <string.h>

#define REPAIR_PASSES 24  /* over all links that are too full, for one cap */
#define ATTEMPTS 8	  /* at a lower cap, where leaves weigh differently */
#define REPAIR_EFFORT 256 /* ways looked at per displaced unit, all in all */

/* Raise the cap to the average load of every leaf's live links, rounded up; to whole units where they go up. */
static void raise_cap(struct fors_leveller *leveller, const uint32_t *load, bool is_up)
{
	const struct fors_fabric *fabric = leveller->fabric;

	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++) {
		uint32_t sum = 0, nlive = 0, unit = is_up && leveller->weight[leaf] ? leveller->weight[leaf] : 1;

		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			sum += load[leaf * fabric->nlanes + lane];
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			nlive += leveller->live[(size_t)leaf * fabric->nlanes + lane];
		if (nlive && (sum / unit + nlive - 1) / nlive * unit > leveller->cap)
			leveller->cap = (sum / unit + nlive - 1) / nlive * unit;
	}
}

/* What a link has above the cap when `by` comes on top of its load (or, negative, goes). */
static int64_t above(const struct fors_leveller *leveller, uint32_t load, int64_t by)
{
	int64_t then = load + by - (int64_t)leveller->cap;

	return then > 0 ? then : 0;
}

/* How what both ends of a way have above the cap changes with `by`. */
static int64_t change(const struct fors_leveller *leveller, uint32_t pair, uint32_t lane, uint32_t down, int64_t by)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;
	uint32_t up_load = leveller->up[pair / nleaves * nlanes + lane];
	uint32_t down_load = leveller->down[pair % nleaves * nlanes + down];

	return above(leveller, up_load, by) - above(leveller, up_load, 0) + above(leveller, down_load, by) -
	       above(leveller, down_load, 0);
}

/* A move of one unit to another lane. */
struct move {
	uint32_t pair, class;
	uint8_t lane;
	int64_t gain;  /* change of what is above the cap, over all links */
	uint64_t full; /* tie-break */
};

/* Keep in *best the best way out for one displaced unit. */
static void consider(struct fors_leveller *leveller, uint32_t pair, uint32_t class, void *context)
{
	struct move *best = context;
	uint8_t now = *fors_leveller_entry(leveller, pair, class);
	int64_t weight = leveller->weight[pair / leveller->fabric->nleaves];
	int64_t before = change(leveller, pair, now, fors_leveller_down(leveller, pair, class, now), -weight);

	for (uint32_t lane = 0; lane < leveller->fabric->nlanes; lane++) {
		uint8_t down = fors_leveller_down(leveller, pair, class, lane);
		struct move move = {.pair = pair, .class = class, .lane = (uint8_t)lane};

		if (lane == now || down == FORS_NO_LANE)
			continue;
		move.gain = change(leveller, pair, lane, down, weight) + before;
		move.full = fors_leveller_fullness(leveller, pair, lane, down);
		if (move.gain < best->gain || (move.gain == best->gain && move.full < best->full))
			*best = move;
	}
}

/* Look at all displaced units on the uplink (or downlink) `lane` of a leaf. */
static struct move best_move(struct fors_leveller *leveller, uint32_t leaf, uint32_t lane, bool is_up)
{
	struct move best = {.gain = 1};

	fors_leveller_units(leveller, leaf, lane, is_up, consider, &best);
	return best;
}

/* Take units off one link while it is above the cap and that makes nothing worse; true: something moved. */
static bool relieve(struct fors_leveller *leveller, uint32_t leaf, uint32_t lane, bool is_up)
{
	const uint32_t *load = (is_up ? leveller->up : leveller->down) + leaf * leveller->fabric->nlanes + lane;
	bool moved = false;

	while (*load > leveller->cap && leveller->effort) {
		struct move move = best_move(leveller, leaf, lane, is_up);

		if (move.gain > 0)
			break;
		fors_leveller_move(leveller, move.pair, move.class, move.lane);
		moved = true;
	}
	return moved;
}

static bool relieve_all(struct fors_leveller *leveller)
{
	bool moved = false;

	for (uint32_t leaf = 0; leaf < leveller->fabric->nleaves; leaf++) {
		for (uint32_t lane = 0; lane < leveller->fabric->nlanes; lane++) {
			moved |= relieve(leveller, leaf, lane, true);
			moved |= relieve(leveller, leaf, lane, false);
		}
	}
	return moved;
}

/* Pass the surplus of links above the cap on until it finds room; true: there is none left. */
static bool repair(struct fors_leveller *leveller)
{
	for (uint32_t pass = 0; pass < REPAIR_PASSES; pass++)
		if (!relieve_all(leveller) || fors_leveller_fullest(leveller) <= leveller->cap)
			break;
	return fors_leveller_fullest(leveller) <= leveller->cap || fors_leveller_tabu(leveller);
}

/* Copy the choice and the loads of the links to the leveller's `saved`, or back. */
static void copy_choice(struct fors_leveller *leveller, bool back)
{
	size_t nlinks = (size_t)leveller->fabric->nleaves * leveller->fabric->nlanes * sizeof(*leveller->up);
	struct {
		void *live;
		size_t size;
	} part[] = {
		{leveller->up, nlinks},
		{leveller->down, nlinks},
		{leveller->level->lane,
		 (size_t)leveller->fabric->nleaves * leveller->fabric->nleaves * leveller->level->nclasses},
	};
	uint8_t *saved = leveller->saved;

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); saved += part[i++].size)
		memcpy(back ? part[i].live : saved, back ? saved : part[i].live, part[i].size);
}

/* Lower the fullest link's load one by one, as long as it works. */
static void lower_by_one(struct fors_leveller *leveller, uint32_t least)
{
	while (leveller->effort && fors_leveller_fullest(leveller) > least) {
		copy_choice(leveller, false);
		leveller->cap = fors_leveller_fullest(leveller) - 1;
		if (!repair(leveller)) {
			copy_choice(leveller, true);
			break;
		}
	}
}

/* Where one by one takes too many steps: the least first, then half way from what failed to what was reached. */
static void lower_by_halves(struct fors_leveller *leveller, uint32_t least)
{
	uint64_t share = leveller->effort / ATTEMPTS;
	uint32_t reached = fors_leveller_fullest(leveller);

	for (int attempt = 0; attempt < ATTEMPTS && least < reached; attempt++) {
		uint32_t fullest;

		copy_choice(leveller, false);
		leveller->cap = attempt ? least + (reached - least) / 2 : least;
		leveller->effort = share;
		repair(leveller);
		fullest = fors_leveller_fullest(leveller);
		if (fullest > leveller->cap)
			least = leveller->cap + 1;
		if (fullest < reached)
			reached = fullest;
		else
			copy_choice(leveller, true);
	}
}

void fors_leveller_repair(struct fors_leveller *leveller)
{
	uint32_t least;

	raise_cap(leveller, leveller->up, true);
	raise_cap(leveller, leveller->down, false);
	least = leveller->cap;
	leveller->effort = (uint64_t)leveller->npairs * leveller->level->nclasses * REPAIR_EFFORT;
	if (leveller->is_weighted)
		lower_by_halves(leveller, least);
	else
		lower_by_one(leveller, least);
}
