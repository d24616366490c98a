/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level.c - where displaced table entries go.
 *
 * An entry of leaf a for a place of leaf b is home-healthy when its home lane
 * lives at both leaves; it stays there, always. Any other is displaced to a lane
 * that leads from a to b, and this file chooses which. A unit is one such
 * entry of the base LIDs: (leaf a, place of leaf b). Two things are wanted:
 *
 * 1. Level links. The rounds planner gives every unit of a link a round of its own,
 *    so the fullest link (up or down) decides how many rounds a plan has.
 *    Pairs of leaves with the fewest common lanes choose first, each unit
 *    takes the lane whose fuller end is least full, and what is still too full
 *    at the end is repaired by moving units, and by exchanges of two.
 *
 * 2. The right one among equals. In the rounds planner's pattern (rounds_pattern.c)
 *    the unit of class k and distance delta = b - a belongs to round
 *    z[k] + delta, and lane j idles everywhere in round z[j], z[j] = floor(j M1 / S).
 *    So look first at the lane that idles in the unit's own round, then at the
 *    next ones: with one dead cable every displaced unit then stays in
 *    its round, and nothing else has to move. Going through the units by (delta,
 *    class), the source leaf innermost, makes the choice for a lost spine the same for
 *    every leaf, a symmetry that the pattern lives on.
 *
 * Everything is integer and in a fixed order: same places, same dead cables,
 * same bytes. The cost is O(S) for each displaced unit and a bounded repair.
 */
#include "level.h"

#include <stdlib.h>
#include <string.h>

#define UNDECIDED 254	  /* a displaced unit whose lane is not chosen yet (lanes end at 253) */
#define REPAIR_PASSES 24  /* over all links that are too full, for one cap */
#define REPAIR_EFFORT 256 /* ways looked at per displaced unit, all in all */

/* What the choice goes by. */
struct leveller {
	const struct fors_fabric *fabric;
	struct fors_level *level;
	uint32_t *up;	/* [leaf * nlanes + lane]: units */
	uint32_t *down; /* the same */
	uint64_t *pair; /* sort key of each pair of leaves with displaced entries; the pair is its low half */
	uint32_t npairs;
	bool *exists;			 /* [to * nclasses + class]: a place of the base LIDs */
	uint32_t cap;			 /* load that no link should exceed */
	uint32_t rounds;		 /* of the plan that is hoped for */
	uint64_t *up_taken, *down_taken; /* [leaf * nlanes + lane]: rounds in which displaced units use it, as bits */
	uint64_t effort;		 /* ways that the repair may still look at */
};

/* Fill level->down: for every cable number the live cable that stands in for it. */
static void find_down(const struct fors_fabric *fabric, struct fors_level *level)
{
	size_t row = level->ncables;

	memset(level->down, FORS_NO_LANE, fabric->nleaves * fabric->nspines * row);
	for (uint32_t to = 0; to < fabric->nleaves; to++)
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			if (fors_live(fabric, to, lane))
				level->down[(to * fabric->nspines + fabric->lane[lane].spine) * row +
					    fabric->lane[lane].cable] = (uint8_t)lane;
	/* Twice round backwards: every hole takes what comes after it. */
	for (size_t first = 0; first < fabric->nleaves * fabric->nspines * row; first += row)
		for (size_t i = 2 * row - 1; i-- > 0;)
			if (level->down[first + i % row] == FORS_NO_LANE)
				level->down[first + i % row] = level->down[first + (i + 1) % row];
}

static uint32_t home_of(const struct leveller *leveller, uint32_t class)
{
	return class % leveller->level->nlanes;
}

static uint8_t *entry(const struct leveller *leveller, uint32_t pair, uint32_t class)
{
	return &leveller->level->lane[(size_t)pair * leveller->level->nclasses + class];
}

/* The downlink of a unit of `pair` and `class` that goes up over `lane`, FORS_NO_LANE: that way is dead. */
static uint8_t way_down(const struct leveller *leveller, uint32_t pair, uint32_t class, uint32_t lane)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint32_t leaf = pair / fabric->nleaves, to = pair % fabric->nleaves;

	if (!fors_live(fabric, leaf, lane))
		return FORS_NO_LANE;
	return fors_level_down(leveller->level, fabric, fabric->lane[lane].spine, to, home_of(leveller, class));
}

/* Is the entry at home for ever? */
static bool is_home(const struct leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t home = home_of(leveller, class), nleaves = leveller->fabric->nleaves;

	return fors_live(leveller->fabric, pair / nleaves, home) && fors_live(leveller->fabric, pair % nleaves, home);
}

/* Add (by = 1) or remove (by = -1) a unit that has a lane. */
static void count(struct leveller *leveller, uint32_t pair, uint32_t class, int by)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;
	uint8_t lane = *entry(leveller, pair, class), down = way_down(leveller, pair, class, lane);

	leveller->up[pair / nleaves * nlanes + lane] += (uint32_t)by;
	leveller->down[pair % nleaves * nlanes + down] += (uint32_t)by;
}

/* Which classes have a place among the base LIDs of leaf `to`. */
static void find_places(struct leveller *leveller, uint32_t to)
{
	const struct fors_fabric *fabric = leveller->fabric;

	for (uint32_t slot = 0; slot < fabric->nslots; slot++) {
		uint32_t class = slot / fabric->nlanes * fabric->nlanes + fors_home_lane(fabric, to, slot, 0);

		leveller->exists[(size_t)to * leveller->level->nclasses + class] =
			fors_slot(fabric, to, slot)->leaf_port != 0;
	}
}

/* Entries at home, and which pairs have others. */
static void settle_home(struct leveller *leveller, uint32_t pair)
{
	uint32_t nclasses = leveller->level->nclasses, to = pair % leveller->fabric->nleaves;
	bool displaced = false;

	for (uint32_t class = 0; class < nclasses; class ++) {
		if (!is_home(leveller, pair, class)) {
			*entry(leveller, pair, class) = UNDECIDED;
			displaced = true;
			continue;
		}
		*entry(leveller, pair, class) = (uint8_t)home_of(leveller, class);
		if (leveller->exists[(size_t)to * nclasses + class])
			count(leveller, pair, class, 1);
	}
	if (displaced)
		leveller->pair[leveller->npairs++] = pair;
}

/* How many lanes lead from one leaf of the pair to the other (whatever the class). */
static uint16_t common_lanes(const struct leveller *leveller, uint32_t pair)
{
	uint16_t common = 0;

	for (uint32_t lane = 0; lane < leveller->fabric->nlanes; lane++)
		common += way_down(leveller, pair, 0, lane) != FORS_NO_LANE;
	return common;
}

static uint32_t distance(const struct leveller *leveller, uint32_t pair)
{
	uint32_t nleaves = leveller->fabric->nleaves;

	return (pair % nleaves + nleaves - pair / nleaves) % nleaves;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Order of choice: few common lanes first, then by distance, then by source leaf. */
static void sort_pairs(struct leveller *leveller)
{
	for (uint32_t i = 0; i < leveller->npairs; i++) {
		uint32_t pair = (uint32_t)leveller->pair[i];

		leveller->pair[i] =
			(uint64_t)common_lanes(leveller, pair) << 48 | (uint64_t)distance(leveller, pair) << 32 | pair;
	}
	qsort(leveller->pair, leveller->npairs, sizeof(*leveller->pair), compare_keys);
}

/* z of a lane in the rounds planner's pattern. */
static uint32_t shift(const struct leveller *leveller, uint32_t lane)
{
	return lane * leveller->rounds / leveller->fabric->nlanes;
}

/* The round that the pattern gives to a unit of this pair and class. */
static uint32_t own_round(const struct leveller *leveller, uint32_t pair, uint32_t class)
{
	return (shift(leveller, home_of(leveller, class)) + distance(leveller, pair)) % leveller->rounds;
}

/* The first lane with a shift of `round` or more: the one that idles then, and the next ones too where rounds abound.
 */
static uint32_t idle_lane(const struct leveller *leveller, uint32_t round)
{
	uint32_t nlanes = leveller->fabric->nlanes;

	return (round * nlanes + leveller->rounds - 1) / leveller->rounds % nlanes;
}

/* Does no unit at home use the lane in this round, at any leaf? */
static bool idles(const struct leveller *leveller, uint32_t lane, uint32_t round)
{
	uint32_t since = (round + leveller->rounds - shift(leveller, lane)) % leveller->rounds;

	return since == 0 || since >= leveller->fabric->nleaves;
}

/* How full a way is: its fuller end counts, then both. */
static uint32_t fullness(const struct leveller *leveller, uint32_t pair, uint32_t lane, uint32_t down)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;
	uint32_t u = leveller->up[pair / nleaves * nlanes + lane], d = leveller->down[pair % nleaves * nlanes + down];

	return (u > d ? u : d) * UINT32_C(0x10000) + u + d;
}

/* The least full lane that leads there, FORS_NO_LANE: none. With `own`: that idles in the unit's own round. */
static uint8_t least_full(const struct leveller *leveller, uint32_t pair, uint32_t class, bool own)
{
	uint32_t nlanes = leveller->fabric->nlanes, nleaves = leveller->fabric->nleaves;
	uint32_t round = own_round(leveller, pair, class), first = idle_lane(leveller, round), least = UINT32_MAX;
	uint8_t best = FORS_NO_LANE;

	for (uint32_t i = 0; i < nlanes; i++) {
		uint32_t lane = first + i < nlanes ? first + i : first + i - nlanes, full;
		uint8_t down = way_down(leveller, pair, class, lane);

		if (down == FORS_NO_LANE)
			continue;
		if (own && (!idles(leveller, lane, round) || !idles(leveller, down, round) ||
			    ((leveller->up_taken[pair / nleaves * nlanes + lane] |
			      leveller->down_taken[pair % nleaves * nlanes + down]) >>
				     round &
			     1)))
			continue;
		full = fullness(leveller, pair, lane, down);
		if (full < least) {
			least = full;
			best = (uint8_t)lane;
		}
	}
	return best;
}

static void assign(struct leveller *leveller, uint32_t pair, uint32_t class, uint8_t lane)
{
	*entry(leveller, pair, class) = lane;
	if (lane != FORS_NO_LANE)
		count(leveller, pair, class, 1);
}

/* Choose a lane where the unit can stay in its own round, if there is one. */
static void choose_own(struct leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t nlanes = leveller->fabric->nlanes, nleaves = leveller->fabric->nleaves;
	uint64_t bit = UINT64_C(1) << own_round(leveller, pair, class);
	uint8_t lane = least_full(leveller, pair, class, true);

	if (lane == FORS_NO_LANE)
		return;
	leveller->up_taken[pair / nleaves * nlanes + lane] |= bit;
	leveller->down_taken[pair % nleaves * nlanes + way_down(leveller, pair, class, lane)] |= bit;
	assign(leveller, pair, class, lane);
}

/* Choose for the pairs number from..to-1, which are equals: class by class, so that all leaves choose alike. */
static void choose_equals(struct leveller *leveller, uint32_t from, uint32_t to, bool base, bool own)
{
	uint32_t nclasses = leveller->level->nclasses, nleaves = leveller->fabric->nleaves;

	for (uint32_t class = 0; class < nclasses; class ++) {
		for (uint32_t i = from; i < to; i++) {
			uint32_t pair = (uint32_t)leveller->pair[i];

			if (leveller->exists[(size_t)(pair % nleaves) * nclasses + class] == base &&
			    *entry(leveller, pair, class) == UNDECIDED)
				own ? choose_own(leveller, pair, class)
				    : assign(leveller, pair, class, least_full(leveller, pair, class, false));
		}
	}
}

static uint32_t fullest(const struct leveller *leveller)
{
	size_t nlinks = (size_t)leveller->fabric->nleaves * leveller->fabric->nlanes;
	uint32_t most = 0;

	for (size_t link = 0; link < nlinks; link++) {
		most = most < leveller->up[link] ? leveller->up[link] : most;
		most = most < leveller->down[link] ? leveller->down[link] : most;
	}
	return most;
}

/*
 * Choose for all pairs. Pairs with a single common lane come first and have no choice, so the
 * fullest link after them is as full in any levelling: the least cap.
 */
static void choose_all(struct leveller *leveller, bool base, bool own)
{
	bool forced = !own;
	uint32_t to;

	for (uint32_t from = 0; from < leveller->npairs; from = to) {
		for (to = from + 1; to < leveller->npairs; to++)
			if (leveller->pair[to] >> 32 != leveller->pair[from] >> 32)
				break;
		if (forced && base && leveller->pair[from] >> 48 > 1) {
			leveller->cap = fullest(leveller);
			forced = false;
		}
		/* Pairs with few lanes in common cannot be choosy, and others have to make room for them. */
		if (own && (leveller->pair[from] >> 48) * 4 < leveller->fabric->nlanes * 3)
			continue;
		choose_equals(leveller, from, to, base, own);
	}
}

/* Raise the cap to the average load of every leaf's live links, rounded up. */
static void raise_cap(struct leveller *leveller, const uint32_t *load)
{
	const struct fors_fabric *fabric = leveller->fabric;

	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++) {
		uint32_t sum = 0, nlive = fabric->leaf[leaf].nlive;

		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			sum += load[leaf * fabric->nlanes + lane];
		if (nlive && (sum + nlive - 1) / nlive > leveller->cap)
			leveller->cap = (sum + nlive - 1) / nlive;
	}
}

/* How many ends of a way are at `limit` or more. */
static int ends_at(const struct leveller *leveller, uint32_t pair, uint32_t lane, uint32_t down, uint32_t limit)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;

	return (leveller->up[pair / nleaves * nlanes + lane] >= limit) +
	       (leveller->down[pair % nleaves * nlanes + down] >= limit);
}

/* A move of one unit to another lane. */
struct move {
	uint32_t pair, class;
	uint8_t lane;
	int gain;      /* change of what is above the cap, over all links */
	uint32_t full; /* tie-break */
};

/* Keep in *best the best way out for one displaced unit. */
static void consider(struct leveller *leveller, uint32_t pair, uint32_t class, struct move *best)
{
	uint8_t now = *entry(leveller, pair, class);
	int before = ends_at(leveller, pair, now, way_down(leveller, pair, class, now), leveller->cap + 1);

	for (uint32_t lane = 0; lane < leveller->fabric->nlanes; lane++) {
		uint8_t down = way_down(leveller, pair, class, lane);
		struct move move = {.pair = pair, .class = class, .lane = (uint8_t)lane};

		if (lane == now || down == FORS_NO_LANE)
			continue;
		move.gain = ends_at(leveller, pair, lane, down, leveller->cap) - before;
		move.full = fullness(leveller, pair, lane, down);
		if (move.gain < best->gain || (move.gain == best->gain && move.full < best->full))
			*best = move;
	}
}

/* Look at all displaced units on the uplink (or downlink) `lane` of a leaf. */
static struct move best_move(struct leveller *leveller, uint32_t leaf, uint32_t lane, bool is_up)
{
	uint32_t nleaves = leveller->fabric->nleaves, nclasses = leveller->level->nclasses;
	struct move best = {.gain = 1};

	for (uint32_t other = 0; other < nleaves; other++) {
		uint32_t pair = is_up ? leaf * nleaves + other : other * nleaves + leaf;

		for (uint32_t class = 0; other != leaf && class < nclasses; class ++) {
			uint8_t now = *entry(leveller, pair, class);

			if (now >= leveller->fabric->nlanes || is_home(leveller, pair, class) ||
			    !leveller->exists[(size_t)(pair % nleaves) * nclasses + class] ||
			    (is_up ? now : way_down(leveller, pair, class, now)) != lane)
				continue;
			leveller->effort -= leveller->effort < leveller->fabric->nlanes ? leveller->effort
											: leveller->fabric->nlanes;
			consider(leveller, pair, class, &best);
		}
	}
	return best;
}

static void make_move(struct leveller *leveller, const struct move *move)
{
	count(leveller, move->pair, move->class, -1);
	*entry(leveller, move->pair, move->class) = move->lane;
	count(leveller, move->pair, move->class, 1);
}

/* Take units off one link while it is above the cap and that makes nothing worse; true: something moved. */
static bool relieve(struct leveller *leveller, uint32_t leaf, uint32_t lane, bool is_up)
{
	const uint32_t *load = (is_up ? leveller->up : leveller->down) + leaf * leveller->fabric->nlanes + lane;
	bool moved = false;

	while (*load > leveller->cap && leveller->effort) {
		struct move move = best_move(leveller, leaf, lane, is_up);

		if (move.gain > 0)
			break;
		make_move(leveller, &move);
		moved = true;
	}
	return moved;
}

static bool relieve_all(struct leveller *leveller)
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

/* Pass the surplus of links above the cap on until it finds room; raise the cap where that does not end. */
static void repair(struct leveller *leveller)
{
	raise_cap(leveller, leveller->up);
	raise_cap(leveller, leveller->down);
	leveller->effort = (uint64_t)leveller->npairs * leveller->level->nclasses * REPAIR_EFFORT;
	for (; leveller->effort && fullest(leveller) > leveller->cap; leveller->cap++)
		for (uint32_t pass = 0; pass < REPAIR_PASSES; pass++)
			if (!relieve_all(leveller) || fullest(leveller) <= leveller->cap)
				break;
}

/* Classes that only further path indices have, where leaves have fewer slots than there are lanes. */
static void level_extra(struct leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves, nclasses = leveller->level->nclasses;

	for (uint32_t pair = 0; pair < nleaves * nleaves; pair++)
		for (uint32_t class = 0; pair / nleaves != pair % nleaves && class < nclasses; class ++)
			if (!leveller->exists[(size_t)(pair % nleaves) * nclasses + class] &&
			    is_home(leveller, pair, class))
				count(leveller, pair, class, 1);
	choose_all(leveller, false, false);
}

/* As many rounds as there are leaves, and as the poorest leaf needs for its units. */
static void estimate_rounds(struct leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint32_t places = 0;

	for (uint32_t i = 0; i < fabric->nleaves * leveller->level->nclasses; i++)
		places += leveller->exists[i];
	leveller->rounds = fabric->nleaves;
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++) {
		uint32_t nlive = fabric->leaf[leaf].nlive, own = 0;

		for (uint32_t class = 0; class < leveller->level->nclasses; class ++)
			own += leveller->exists[leaf * leveller->level->nclasses + class];
		if (nlive && (places - own + nlive - 1) / nlive > leveller->rounds)
			leveller->rounds = (places - own + nlive - 1) / nlive;
	}
}

static void level_all(struct leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++)
		find_places(leveller, leaf);
	for (uint32_t leaf = 0; leaf < nleaves; leaf++)
		for (uint32_t to = 0; to < nleaves; to++)
			if (to != leaf)
				settle_home(leveller, leaf * nleaves + to);
	sort_pairs(leveller);
	estimate_rounds(leveller);
	if (leveller->rounds <= 64 && leveller->fabric->nlanes <= leveller->fabric->nslots)
		choose_all(leveller, true, true);
	choose_all(leveller, true, false);
	repair(leveller);
	level_extra(leveller);
}

static bool allocate(struct leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	struct fors_level *level = leveller->level;
	size_t nlinks = (size_t)fabric->nleaves * fabric->nlanes, npairs = (size_t)fabric->nleaves * fabric->nleaves;

	level->lane = malloc(npairs * level->nclasses + 1);
	level->down = malloc((size_t)fabric->nleaves * fabric->nspines * level->ncables + 1);
	leveller->up = calloc(nlinks + 1, sizeof(*leveller->up));
	leveller->down = calloc(nlinks + 1, sizeof(*leveller->down));
	leveller->up_taken = calloc(nlinks + 1, sizeof(*leveller->up_taken));
	leveller->down_taken = calloc(nlinks + 1, sizeof(*leveller->down_taken));
	leveller->pair = malloc((npairs + 1) * sizeof(*leveller->pair));
	leveller->exists = calloc((size_t)fabric->nleaves * level->nclasses + 1, sizeof(*leveller->exists));
	return level->lane && level->down && leveller->up && leveller->down && leveller->up_taken &&
	       leveller->down_taken && leveller->pair && leveller->exists;
}

static struct fors_level *new_level(const struct fors_fabric *fabric)
{
	struct fors_level *level = calloc(1, sizeof(*level));

	if (!level)
		return NULL;
	level->nleaves = fabric->nleaves;
	level->nlanes = fabric->nlanes;
	level->nslots = fabric->nslots;
	level->nclasses = fabric->nlanes ? (fabric->nslots + fabric->nlanes - 1) / fabric->nlanes * fabric->nlanes : 0;
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		if (level->ncables <= fabric->lane[lane].cable)
			level->ncables = fabric->lane[lane].cable + 1u;
	return level;
}

enum fors_err fors_level_build(const struct fors_fabric *fabric, struct fors_level **level, struct fors_error *error)
{
	struct leveller leveller = {.fabric = fabric, .level = new_level(fabric)};
	bool good = leveller.level && allocate(&leveller);

	if (good && fabric->nlanes) {
		memset(leveller.level->lane, FORS_NO_LANE,
		       (size_t)fabric->nleaves * fabric->nleaves * leveller.level->nclasses);
		find_down(fabric, leveller.level);
		level_all(&leveller);
	}
	free(leveller.up);
	free(leveller.down);
	free(leveller.up_taken);
	free(leveller.down_taken);
	free(leveller.pair);
	free(leveller.exists);
	if (!good) {
		fors_level_free(leveller.level);
		return fors_fail_memory(error);
	}
	*level = leveller.level;
	return FORS_OK;
}

void fors_level_free(struct fors_level *level)
{
	if (!level)
		return;
	free(level->lane);
	free(level->down);
	free(level);
}
