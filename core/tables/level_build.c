/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_build.c - where displaced table entries go.
 *
 * An entry of leaf a for a place of leaf b is home-healthy when its home lane
 * lives at both leaves; it stays there, always. Any other is displaced to a lane
 * that leads from a to b, and this file chooses which. A unit is one such
 * entry of the base LIDs: (leaf a, place of leaf b). Two things are wanted:
 *
 * 1. Level links. The rounds planner gives every unit of a link a round of its own,
 *    so the fullest link (up or down) decides how many rounds a plan has.
 *    Pairs of leaves with the fewest common lanes choose first, each unit
 *    takes the lane whose fuller end is least full, and links that are still too full
 *    at the end pass units on (level_repair.c).
 *
 * 2. The right one among equals: one that idles in the round that the rounds
 *    planner has in mind for the unit (level_own.c). With one dead cable every displaced unit then
 *    stays in its round, and nothing else has to move. Going through the units by
 *    (distance b - a, class), the source leaf innermost, makes the choice for a lost spine the
 *    same for every leaf, a symmetry that the planner's pattern lives on.
 *
 * Everything is integer and in a fixed order: same places, same dead cables,
 * same bytes. The cost is O(S) for each displaced unit and a bounded repair.
 */
#include "leveller.h"

#include <stdlib.h>

/* Which classes have a place among the base LIDs of leaf `to`. */
static void find_places(struct fors_leveller *leveller, uint32_t to)
{
	const struct fors_fabric *fabric = leveller->fabric;

	for (uint32_t slot = 0; slot < fabric->nslots; slot++) {
		uint32_t class = fors_home_class(fabric->nlanes, slot, fors_home_lane(fabric, to, slot, 0));

		leveller->exists[(size_t)to * leveller->level->nclasses + class] =
			fors_slot(fabric, to, slot)->leaf_port != 0;
	}
}

/* Entries at home, and which pairs have others. */
static void settle_home(struct fors_leveller *leveller, uint32_t pair)
{
	uint32_t nclasses = leveller->level->nclasses, to = pair % leveller->fabric->nleaves;
	bool displaced = false;

	for (uint32_t class = 0; class < nclasses; class += 1) {
		if (!fors_leveller_is_home(leveller, pair, class)) {
			*fors_leveller_entry(leveller, pair, class) = FORS_UNDECIDED;
			displaced = true;
			continue;
		}
		*fors_leveller_entry(leveller, pair, class) = (uint8_t)fors_leveller_home(leveller, class);
		if (leveller->exists[(size_t)to * nclasses + class])
			fors_leveller_count(leveller, pair, class, 1);
	}
	if (displaced)
		leveller->pair[leveller->npairs++] = pair;
}

/* How many lanes lead from one leaf of the pair to the other (whatever the class). */
static uint16_t common_lanes(const struct fors_leveller *leveller, uint32_t pair)
{
	uint16_t common = 0;

	for (uint32_t lane = 0; lane < leveller->fabric->nlanes; lane++)
		common += fors_leveller_down(leveller, pair, 0, lane) != FORS_NO_LANE;
	return common;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Order of choice: few common lanes first, then by distance, then by source leaf. */
static void sort_pairs(struct fors_leveller *leveller)
{
	for (uint32_t i = 0; i < leveller->npairs; i++) {
		uint32_t pair = (uint32_t)leveller->pair[i];
		uint32_t common = common_lanes(leveller, pair);

		leveller->is_choosy[pair] = common * 4 >= leveller->fabric->nlanes * 3;
		leveller->pair[i] =
			(uint64_t)common << 48 | (uint64_t)fors_leveller_distance(leveller, pair) << 32 | pair;
	}
	qsort(leveller->pair, leveller->npairs, sizeof(*leveller->pair), compare_keys);
}

static void choose(struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	fors_leveller_assign(leveller, pair, class, fors_leveller_least_full(leveller, pair, class, NULL));
}

/*
 * Pairs with a single common lane come first and have no choice, so the fullest link after them is as full in any
 * levelling: the least cap.
 */
static void choose_all(struct fors_leveller *leveller)
{
	uint32_t forced = 0;

	while (forced < leveller->npairs && leveller->pair[forced] >> 48 <= 1)
		forced++;
	fors_leveller_visit(leveller, 0, forced, true, choose);
	leveller->cap = fors_leveller_fullest(leveller);
	fors_leveller_choose_own(leveller);
	fors_leveller_visit(leveller, forced, leveller->npairs, true, choose);
}

/* Classes that only further path indices have, where leaves have fewer slots than there are lanes. */
static void level_extra(struct fors_leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves, nclasses = leveller->level->nclasses;

	for (uint32_t pair = 0; pair < nleaves * nleaves; pair++)
		for (uint32_t class = 0; pair / nleaves != pair % nleaves && class < nclasses; class += 1)
			if (!leveller->exists[(size_t)(pair % nleaves) * nclasses + class] &&
			    fors_leveller_is_home(leveller, pair, class))
				fors_leveller_count(leveller, pair, class, 1);
	fors_leveller_visit(leveller, 0, leveller->npairs, false, choose);
}

static void level_all(struct fors_leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++)
		find_places(leveller, leaf);
	for (uint32_t leaf = 0; leaf < nleaves; leaf++)
		for (uint32_t to = 0; to < nleaves; to++)
			if (to != leaf)
				settle_home(leveller, leaf * nleaves + to);
	sort_pairs(leveller);
	fors_leveller_find_rounds(leveller);
	choose_all(leveller);
	fors_leveller_repair(leveller);
	level_extra(leveller);
}

static bool allocate(struct fors_leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	const struct fors_level *level = leveller->level;
	size_t nlinks = (size_t)fabric->nleaves * fabric->nlanes, npairs = (size_t)fabric->nleaves * fabric->nleaves;

	leveller->up = calloc(nlinks + 1, sizeof(*leveller->up));
	leveller->down = calloc(nlinks + 1, sizeof(*leveller->down));
	leveller->is_choosy = calloc(npairs + 1, sizeof(*leveller->is_choosy));
	leveller->own = malloc(((size_t)fabric->nleaves * level->nclasses + 1) * sizeof(*leveller->own));
	leveller->up_taken = calloc(nlinks + 1, sizeof(*leveller->up_taken));
	leveller->down_taken = calloc(nlinks + 1, sizeof(*leveller->down_taken));
	leveller->pair = malloc((npairs + 1) * sizeof(*leveller->pair));
	leveller->free_at = malloc((npairs * level->nclasses + 1) * sizeof(*leveller->free_at));
	leveller->saved = malloc(npairs * level->nclasses + 2 * nlinks * sizeof(*leveller->up) + 1);
	leveller->exists = calloc((size_t)fabric->nleaves * level->nclasses + 1, sizeof(*leveller->exists));
	return leveller->up && leveller->down && leveller->is_choosy && leveller->own && leveller->up_taken &&
	       leveller->down_taken && leveller->pair && leveller->exists && leveller->free_at && leveller->saved;
}

enum fors_err fors_level_build(const struct fors_fabric *fabric, struct fors_level **level, struct fors_error *error)
{
	struct fors_leveller leveller = {.fabric = fabric, .level = fors_level_new(fabric)};
	bool good = leveller.level && allocate(&leveller);

	if (good && fabric->nlanes)
		level_all(&leveller);
	free(leveller.up);
	free(leveller.down);
	free(leveller.is_choosy);
	free(leveller.own);
	free(leveller.up_taken);
	free(leveller.down_taken);
	free(leveller.pair);
	free(leveller.exists);
	free(leveller.free_at);
	free(leveller.saved);
	if (!good) {
		fors_level_free(leveller.level);
		return fors_fail_memory(error);
	}
	*level = leveller.level;
	return FORS_OK;
}
