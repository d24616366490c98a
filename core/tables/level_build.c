/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_build.c - where table entries go that are not at home.
 *
 * An entry of leaf a for a place of leaf b is home-healthy when its home lane
 * lives at both leaves; it stays there, always. Any other is displaced to a lane
 * that leads from a to b, and this file chooses which. A unit is one such
 * entry of the base LIDs: (leaf a, place of leaf b). It stands for as many flows as leaf a has servers, and that is
 * its load. Two things are wanted:
 *
 * 1. Level links. Planners give every flow of a link a phase of its own,
 *    so the fullest link (up or down) decides how many phases a plan has.
 *    Pairs of leaves with the fewest common lanes choose first, each unit
 *    takes the first lane whose ends have room up to what the poorest leaf has to carry anyway, else the lane whose
 *    fuller end is least full, and links that are still too full
 *    at the end pass units on (level_search.c).
 *
 * 2. The right one among equals: one that idles in the round that the rounds
 *    planner has in mind for the unit (level_own.c). With one dead cable every displaced unit then
 *    stays in its round, and nothing else has to move. Going through the units by
 *    (distance b - a, class), the source leaf innermost, makes the choice for a lost spine the
 *    same for every leaf, a symmetry that the planner's pattern lives on.
 *
 * Two kinds of units are not at home even while nothing is dead: those whose home lane a leaf never had (irregular
 * cabling), and those that vary (core/fabric/places_rank.c), what leaf b has beyond a multiple of the lanes. At one lane
 * for all source leaves these would fill that lane more than others, everywhere; so each leaf a starts from the home's
 * spine turned by
 *
 *      o(a) = spines * (servers before the middle of leaf a) / P
 *
 * which keeps uplinks level, because the windows of lanes that are left over at consecutive leaves b join up, and
 * downlinks, because the o(a) are spread evenly. From there they are levelled as what is displaced is, over all cables
 * that ever were, whatever is dead. That is where they are at home: a failure moves, of these too, only what goes over dead
 * cables. What varies does so with one LID per port only: with more planners choose among the LIDs.
 *
 * One exception: with one LID per port the fullest link says how long an exchange takes at least. Where more than it need
 * carry goes over it, and cables are parallel, entries at home may move, too (level_search.c): there the exchange counts for more than
 * entries that stay.
 *
 * Everything is integer and in a fixed order: same places, same dead cables,
 * same bytes. The cost is O(S) for each displaced unit and a bounded repair.
 */
#include "leveller.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/divisor.h"
#include "core/base/numbers.h"

/* Which classes have a place among the base LIDs of leaf `to`, and which are wanted at all. */
static void find_places(struct fors_leveller *leveller, uint32_t to)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint64_t *wanted = leveller->wanted + (size_t)to * leveller->nwords;

	for (uint32_t slot = 0; slot < fabric->nslots; slot++) {
		uint32_t class = leveller->level->base[(size_t)to * fabric->nslots + slot];

		if (!fors_slot(fabric, to, slot)->leaf_port)
			continue;
		wanted[class / 64] |= UINT64_C(1) << class % 64;
		if (!leveller->is_ranked_only || fors_slot(fabric, to, slot)->is_ranked)
			leveller->exists[(size_t)to * leveller->level->nclasses + class] = true;
	}
	for (uint32_t class = 0; !leveller->has_base_only && class < leveller->level->nclasses; class += 1)
		wanted[class / 64] |= UINT64_C(1) << class % 64;
}

/* An entry at home; false: it is not. */
static bool fill_home_unit(struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t to = pair % leveller->fabric->nleaves;

	if (!fors_leveller_is_home(leveller, pair, class)) {
		*fors_leveller_entry(leveller, pair, class) = FORS_UNDECIDED;
		return false;
	}
	*fors_leveller_entry(leveller, pair, class) = fors_leveller_healthy(leveller, pair, class);
	if (leveller->exists[(size_t)to * leveller->level->nclasses + class])
		fors_leveller_count(leveller, pair, class, 1);
	return true;
}

/* Entries at home, and which pairs have others. */
static void fill_home(struct fors_leveller *leveller, uint32_t pair)
{
	uint32_t to = pair % leveller->fabric->nleaves;
	uint64_t any = 0;

	for (uint32_t word = 0; word < leveller->nwords; word++) {
		uint64_t wanted = leveller->wanted[(size_t)to * leveller->nwords + word], displaced = 0;

		for (; wanted; wanted &= wanted - 1) {
			uint32_t class = word * 64 + (uint32_t)__builtin_ctzll(wanted);

			if (!fill_home_unit(leveller, pair, class))
				displaced |= UINT64_C(1) << class % 64;
		}
		leveller->displaced[(size_t)pair * leveller->nwords + word] = displaced;
		any |= displaced;
	}
	if (any)
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
	qsort(leveller->pair, leveller->npairs, sizeof(*leveller->pair), fors_by_number);
}

/* May the unit go this way without making a link fuller than it need be? */
static bool has_room(const struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint32_t lane, uint32_t down)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;
	uint32_t weight = leveller->weight[pair / nleaves];

	(void)class;
	return leveller->up[pair / nleaves * nlanes + lane] + weight <= leveller->target &&
	       leveller->down[pair % nleaves * nlanes + down] + weight <= leveller->target;
}

/* The first lane with room, beginning as many lanes from home as the leaves are apart; else the least full one. */
static void choose(struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t first = fors_leveller_home(leveller, class) + fors_leveller_distance(leveller, pair);
	uint8_t lane = fors_leveller_first(leveller, pair, class, first, 1, has_room);

	if (lane == FORS_NO_LANE)
		lane = fors_leveller_least_full(leveller, pair, class, NULL);
	fors_leveller_assign(leveller, pair, class, lane);
}

/* Classes that only further path indices have, where leaves have fewer slots than there are lanes. */
static void level_extra(struct fors_leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves, nclasses = leveller->level->nclasses;

	for (uint32_t pair = 0; !leveller->has_base_only && pair < nleaves * nleaves; pair++)
		for (uint32_t class = 0; pair / nleaves != pair % nleaves && class < nclasses; class += 1)
			if (!leveller->exists[(size_t)(pair % nleaves) * nclasses + class] &&
			    fors_leveller_is_home(leveller, pair, class))
				fors_leveller_count(leveller, pair, class, 1);
	fors_leveller_visit(leveller, 0, leveller->npairs, false, choose);
}

/* Servers of a leaf that count. */
static uint32_t count_servers(const struct fors_fabric *fabric, uint32_t leaf, bool is_ranked_only)
{
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < fabric->nslots; slot++)
		count += fors_slot(fabric, leaf, slot)->leaf_port &&
			 (!is_ranked_only || fors_slot(fabric, leaf, slot)->is_ranked);
	return count;
}

/* The lane of the same cable number to the spine that is `turn` further on; FORS_NO_LANE: there is none. */
static uint32_t turned(const struct fors_fabric *fabric, uint32_t home, uint32_t turn)
{
	uint32_t spine = (fabric->lane[home].spine + turn) % fabric->nspines;

	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		if (fabric->lane[lane].spine == spine && fabric->lane[lane].cable == fabric->lane[home].cable)
			return lane;
	return FORS_NO_LANE;
}

/* Where the units of a leaf that vary begin: at the home's spine, turned. */
static void begin_varied(struct fors_leveller *leveller, uint32_t leaf, uint32_t turn)
{
	uint32_t nleaves = leveller->fabric->nleaves, nclasses = leveller->level->nclasses;

	for (uint32_t i = 0; i < nleaves * nclasses; i++) {
		uint32_t pair = leaf * nleaves + i / nclasses, class = i % nclasses, lane;

		if (!leveller->varies[i] || i / nclasses == leaf)
			continue;
		lane = turned(leveller->fabric, fors_leveller_home(leveller, class), turn);
		if (lane != FORS_NO_LANE && fors_leveller_down(leveller, pair, class, lane) != FORS_NO_LANE)
			fors_leveller_assign(leveller, pair, class, (uint8_t)lane);
	}
}

static void begin_all_varied(struct fors_leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint64_t all = 0, before = 0;

	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		all += count_servers(fabric, leaf, true);
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++) {
		uint32_t own = count_servers(fabric, leaf, true);

		begin_varied(leveller, leaf, (uint32_t)(fabric->nspines * (2 * before + own) / (2 * all)));
		before += own;
	}
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
	if (leveller->varies)
		begin_all_varied(leveller);
	fors_leveller_choose_own(leveller);
	fors_leveller_visit(leveller, forced, leveller->npairs, true, choose);
}

/* What the fullest link has to carry, of the leaf that has least cables for its servers. */
static uint32_t target_of(const struct fors_leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint32_t all = 0, flows = 0, target = 0;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		all += count_servers(fabric, a, leveller->is_ranked_only);
		flows += leveller->weight[a];
	}
	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		uint32_t own = count_servers(fabric, a, leveller->is_ranked_only), nlive = 0, up, down;

		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			nlive += leveller->live[(size_t)a * fabric->nlanes + lane];
		if (!nlive)
			continue;
		up = (all - own + nlive - 1) / nlive * leveller->weight[a];
		down = ((flows - leveller->weight[a]) * own + nlive - 1) / nlive;
		target = up > target ? up : target;
		target = down > target ? down : target;
	}
	return target;
}

/* False: out of memory. */
static bool level_all(struct fors_leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++)
		find_places(leveller, leaf);
	for (uint32_t leaf = 0; leaf < nleaves; leaf++)
		for (uint32_t to = 0; to < nleaves; to++)
			if (to != leaf)
				fill_home(leveller, leaf * nleaves + to);
	leveller->target = target_of(leveller);
	sort_pairs(leveller);
	fors_leveller_find_rounds(leveller);
	choose_all(leveller);
	if (!fors_leveller_search(leveller))
		return false;
	level_extra(leveller);
	return true;
}

/* The home lanes of all classes, owned by the caller; NULL: out of memory. */
static uint8_t *home_lanes(const struct fors_level *level)
{
	uint8_t *home = malloc((size_t)level->nclasses + 1);

	for (uint32_t class = 0; home && class < level->nclasses; class += 1)
		home[class] = (uint8_t)fors_home_class_lane(level->nlanes, class);
	return home;
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
	leveller->nwords = (level->nclasses + 63) / 64;
	leveller->displaced = calloc(npairs * leveller->nwords + 1, sizeof(*leveller->displaced));
	leveller->wanted = calloc((size_t)fabric->nleaves * leveller->nwords + 1, sizeof(*leveller->wanted));
	leveller->home = home_lanes(level);
	leveller->exists = calloc((size_t)fabric->nleaves * level->nclasses + 1, sizeof(*leveller->exists));
	return leveller->up && leveller->down && leveller->is_choosy && leveller->own && leveller->up_taken &&
	       leveller->down_taken && leveller->pair && leveller->exists && leveller->home && leveller->wanted &&
	       leveller->displaced;
}

static void release(struct fors_leveller *leveller)
{
	free(leveller->up);
	free(leveller->down);
	free(leveller->is_choosy);
	free(leveller->own);
	free(leveller->up_taken);
	free(leveller->down_taken);
	free(leveller->pair);
	free(leveller->exists);
	free(leveller->displaced);
	free(leveller->wanted);
	free((void *)leveller->home);
}

/* A map by the settings of *leveller, whose own arrays come and go here; NULL: out of memory. */
static struct fors_level *make(struct fors_leveller *leveller)
{
	bool good;

	leveller->level = fors_level_new(leveller->fabric, leveller->live);
	good = leveller->level && allocate(leveller);
	if (good && leveller->fabric->nlanes)
		good = level_all(leveller);
	release(leveller);
	if (good)
		return leveller->level;
	fors_level_free(leveller->level);
	return NULL;
}

/* --- now, and while nothing was dead --------------------------------------- */

/* What both levellings go by. */
struct basis {
	const struct fors_fabric *fabric;
	bool *live, *ever; /* [leaf * nlanes + lane] */
	uint32_t *weight;  /* [leaf] */
	bool *varies;	   /* [to * nclasses + class] */
	bool has_varied, is_ranked, is_whole, is_regular, has_base_only;
	bool has_parallel; /* some spine has several cables to a leaf */
	bool is_uneven;	   /* cables that live differ in what they carry */
};

static void look_at_cables(struct basis *basis)
{
	const struct fors_fabric *fabric = basis->fabric;
	uint8_t capacity = 0;

	basis->is_whole = basis->is_regular = true;
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		basis->has_parallel |= fabric->lane[lane].cable > 0;
	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nlanes; i++) {
		basis->live[i] = fabric->cable[i].state == FORS_CABLE_LIVE;
		basis->ever[i] = fabric->cable[i].state != FORS_CABLE_ABSENT;
		basis->is_whole &= basis->live[i] == basis->ever[i];
		capacity = basis->live[i] && !capacity ? fabric->cable[i].capacity : capacity;
		basis->is_uneven |= basis->live[i] && fabric->cable[i].capacity != capacity;
		basis->is_regular &= basis->ever[i];
	}
}

static void look_at_slots(struct basis *basis)
{
	const struct fors_fabric *fabric = basis->fabric;
	uint32_t nclasses = fors_home_nclasses(fabric);
	bool has_lids = false, has_more_lids = false;

	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nslots; i++) {
		const struct fors_slot *slot = &fabric->slot[i];

		has_lids |= slot->lid;
		has_more_lids |= slot->lid && slot->lmc;
		basis->is_ranked |= slot->leaf_port && slot->is_ranked;
		basis->has_varied |= slot->leaf_port && slot->is_varied;
		if (slot->leaf_port && slot->is_varied)
			basis->varies[i / fabric->nslots * nclasses +
				      fors_home_class(fabric->nlanes, slot->copy, slot->home)] = true;
	}
	basis->has_varied &= !has_more_lids;
	basis->has_base_only = has_lids && !has_more_lids;
}

/* The weights of all leaves, in the least common measure, for *leveller. */
static void weigh(const struct basis *basis, struct fors_leveller *leveller)
{
	uint32_t measure = 0;

	leveller->is_weighted = false;
	for (uint32_t leaf = 0; leaf < basis->fabric->nleaves; leaf++) {
		basis->weight[leaf] = count_servers(basis->fabric, leaf, leveller->is_ranked_only);
		measure = fors_divisor(measure, basis->weight[leaf]);
	}
	for (uint32_t leaf = 0; measure && leaf < basis->fabric->nleaves; leaf++) {
		basis->weight[leaf] /= measure;
		leveller->is_weighted |= basis->weight[leaf] > 1;
	}
	leveller->weight = basis->weight;
}

/* The map while nothing is dead, of a leveller for that. */
static struct fors_level *make_healthy(struct basis *basis, struct fors_leveller *leveller)
{
	*leveller = (struct fors_leveller){.fabric = basis->fabric, .live = basis->ever};
	leveller->has_base_only = basis->has_base_only;
	leveller->is_for_ever = true;
	leveller->varies = basis->has_varied ? basis->varies : NULL;
	leveller->is_ranked_only = basis->is_ranked;
	leveller->may_move_all = basis->has_base_only && basis->has_parallel && !basis->is_regular;
	weigh(basis, leveller);
	return make(leveller);
}

/* The map now. */
static struct fors_level *make_present(struct basis *basis, const struct fors_level *healthy,
				       struct fors_leveller *leveller)
{
	*leveller = (struct fors_leveller){.fabric = basis->fabric, .live = basis->live};
	leveller->healthy = healthy;
	leveller->has_base_only = basis->has_base_only;
	leveller->is_uneven = basis->is_uneven;
	leveller->may_move_all =
		basis->has_base_only && ((basis->has_parallel && !basis->is_whole) || basis->is_uneven);
	weigh(basis, leveller);
	return make(leveller);
}

/* Both levellings, or one where they are the same. NULL: out of memory. */
static struct fors_level *build(struct basis *basis)
{
	struct fors_leveller leveller;
	struct fors_level *healthy = NULL, *level;

	look_at_cables(basis);
	look_at_slots(basis);
	if (basis->has_varied || !basis->is_regular) {
		healthy = make_healthy(basis, &leveller);
		if (healthy)
			healthy->is_free = basis->has_base_only && basis->has_parallel;
		if (!healthy || (basis->is_whole && !basis->is_uneven))
			return healthy;
	}
	level = make_present(basis, healthy, &leveller);
	fors_level_free(healthy);
	if (level)
		level->is_free = basis->has_base_only && (basis->has_parallel || basis->is_uneven);
	return level;
}

enum fors_err fors_level_build(const struct fors_fabric *fabric, struct fors_level **level, struct fors_error *error)
{
	size_t nlinks = (size_t)fabric->nleaves * fabric->nlanes;
	struct basis basis = {.fabric = fabric};
	struct fors_level *made = NULL;

	basis.live = calloc(nlinks + 1, sizeof(*basis.live));
	basis.ever = calloc(nlinks + 1, sizeof(*basis.ever));
	basis.weight = calloc((size_t)fabric->nleaves + 1, sizeof(*basis.weight));
	basis.varies = calloc((size_t)fabric->nleaves * fors_home_nclasses(fabric) + 1, sizeof(*basis.varies));
	if (basis.live && basis.ever && basis.weight && basis.varies)
		made = build(&basis);
	free(basis.live);
	free(basis.ever);
	free(basis.weight);
	free(basis.varies);
	if (!made)
		return fors_fail_memory(error);
	*level = made;
	return FORS_OK;
}
