/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_repair.c - units of links that are too full move on.
 *
 * The least cap is what the fullest link cannot go below: the average of the poorest leaf's live links, rounded up, and
 * what pairs with one common lane force on it. From what the fullest link carries the cap goes down to that, one by
 * one, as long as it works; where leaves weigh differently, it begins at that, and what fails halves the distance. (There
 * it need not go below a phase for each server either.) A link above the cap passes a unit on to the way where that
 * does least harm; a way that is full itself passes one of its own on in the next pass. Where that gets stuck, a tabu
 * search (level_tabu.c) may still find room. When it does not, the choice of before stays.
 *
 * All of this runs under OpenSM's lock, so it is bounded in steps, in proportion to the entries that a fill has to write
 * anyway: then it takes about as long as the rest of the fill at worst. 25 times the steps found next to nothing more on
 * a hundred random fabrics.
 */
#include "leveller.h"

#include <string.h>

#define REPAIR_PASSES 24 /* over all links that are too full, for one cap */
#define ATTEMPTS 8	 /* at a lower cap, where leaves weigh differently */
#define REPAIR_EFFORT 4	 /* ways looked at per entry of the base LIDs, all in all */

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

/* Links need not carry less: a plan has a phase for each server at least. */
static uint32_t count_phases(const struct fors_leveller *leveller)
{
	uint32_t servers = 0;

	for (uint32_t leaf = 0; leaf < leveller->fabric->nleaves; leaf++)
		servers += leveller->weight[leaf];
	return servers;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Take units off one link while it is above the cap and that makes nothing worse; true: something moved. */
static bool relieve(struct fors_leveller *leveller, uint32_t link)
{
	const uint32_t *load = (link % 2 ? leveller->down : leveller->up) + link / 2;
	bool moved = false;

	while (*load > leveller->cap && leveller->effort) {
		struct fors_leveller_move move = fors_leveller_best_move(leveller, link, 0, 0);

		if (move.unit == FORS_NONE)
			break;
		fors_leveller_make_move(leveller, &move);
		moved = true;
	}
	return moved;
}

static bool relieve_all(struct fors_leveller *leveller)
{
	bool moved = false;

	for (uint32_t link = 0; (link = fors_leveller_next_over(leveller, link)) != FORS_NONE; link++)
		moved |= relieve(leveller, link);
	return moved;
}

/* Pass the surplus of links above the cap on until it finds room; true: there is none left. */
static bool repair(struct fors_leveller *leveller)
{
	fors_leveller_list(leveller);
	for (uint32_t pass = 0; pass < REPAIR_PASSES; pass++)
		if (!relieve_all(leveller) || !leveller->surplus)
			break;
	return !leveller->surplus || fors_leveller_tabu(leveller);
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

/* Entries for base LIDs, in all switches: what a fill costs anyway. */
static uint64_t count_entries(const struct fors_leveller *leveller)
{
	uint64_t places = 0;

	for (uint32_t i = 0; i < leveller->fabric->nleaves * leveller->level->nclasses; i++)
		places += leveller->exists[i];
	return places * (leveller->fabric->nleaves + leveller->fabric->nspines);
}

void fors_leveller_repair(struct fors_leveller *leveller)
{
	uint32_t least, forced = leveller->cap;

	leveller->cap = 0;
	raise_cap(leveller, leveller->up, true);
	raise_cap(leveller, leveller->down, false);
	leveller->enough = leveller->is_uneven ? count_phases(leveller) : larger(leveller->cap, count_phases(leveller));
	least = larger(forced, leveller->is_weighted ? leveller->enough : leveller->cap);
	leveller->cap = least;
	if (fors_leveller_fullest(leveller) <= least)
		return;
	fors_leveller_find_units(leveller);
	leveller->effort = count_entries(leveller) * REPAIR_EFFORT;
	if (leveller->is_weighted)
		lower_by_halves(leveller, least);
	else
		lower_by_one(leveller, least);
}
