/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_rank.c - where servers are at home: by their rank among all server ports ever seen.
 *
 * Tables send each server down one lane, its home (core/tables/home.h), and they are level when the homes are. Count the
 * server ports in (leaf, port) order over all leaves: the one with rank r is at home on lane
 *
 *      r mod L,  L lanes
 *
 * So a leaf of n <= L servers has n different homes, any L servers in a row have all, and it does not matter how evenly
 * leaves are filled, which ports are free, or who came first: homes are a function of the set of server ports. (Free
 * ports have no rank: with them, a leaf of 8 with one free port left a lane idle and doubled another, for 112 phases
 * where 64 do.)
 *
 * Stretching. An exchange in P shifts, where rank r sends to rank r + i, is free of conflicts on these tables unless the
 * ranks wrap round from P-1 to 0 amid a leaf, with P no multiple of L. So the ranks are stretched to the next multiple P'
 * of L, by r P' / P, where that costs nothing: where no leaf gets two servers on one lane by it, and no link gets
 * more flows than the fuller of P and the fullest link without it.
 *
 * Where a leaf is much larger than others, few servers leave the home of their rank (places_relieve.c).
 *
 * What varies. A leaf b of n > L servers has q = n div L on each lane, and n - q L more, that would fill some lanes
 * more than others, at every other leaf alike. These last ones are marked: their entries may differ from one source
 * leaf to the next (core/tables/level_build.c), so that what is too much here is too little there. Where other leaves have
 * fewer servers than lanes, what varies is ranked by itself: the servers of those others shall have no gaps between them.
 *
 * Where only some take part, those are ranked first, as if the others were not there, if that gains them something; the others
 * get the homes that are least used then. A list that changes moves nothing: that is for the next ranking.
 *
 * What is no host (core/net/others.h) has no slot; one of an old order that has loses it by a ranking. Of three levels that is all
 * that a ranking does.
 *
 * All of this moves entries: half of them, when one server is added to 359. So it is done when an order begins, when an
 * administrator has a place forgotten, and otherwise only when the fabric is healthy and quiet (daemon/look/rehome.h). In
 * between whoever comes takes the lane that is least used in its leaf, then in the fabric, of those that the leaf has a
 * cable to; nobody else moves. Whoever goes keeps its rank: losses move nothing.
 *
 * A ranking brings leaves, spines and parallel cables into the order of their GUIDs and ports too (those of the
 * reference fabric first, as they were), so that two subnet managers that have seen the same fabric write the same
 * bytes, whatever they saw first.
 */
#include "places_file.h"

#include <stdlib.h>
#include <string.h>

#include "known.h"
#include "places.h"
#include "places_inside.h"

#define GAIN 2 /* percent: what those get at least who take part, or all are alike */

/* --- one order for all who know the same ---------------------------------- */

/* Where a place of the old order goes in the new one. */
struct position {
	uint64_t guid;
	uint32_t index;
	bool in_reference;
};

static int compare_positions(const void *left, const void *right)
{
	const struct position *a = left, *b = right;

	if (a->in_reference != b->in_reference)
		return a->in_reference ? -1 : 1;
	if (a->in_reference)
		return a->index < b->index ? -1 : a->index > b->index;
	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

/* What the steps need; all allocated before the first one. */
struct ranking {
	struct fors_places *places, *old; /* old: a copy of what they were */
	struct position *order;
	struct fors_home_counts homes;
	const struct fors_participants *first; /* sorted; without GUIDs: all */
};

static void sort_leaves(const struct ranking *work)
{
	struct fors_places *places = work->places;

	for (uint32_t a = 0; a < places->nleaves; a++)
		work->order[a] = (struct position){work->old->leaf[a].guid, a, work->old->leaf[a].marks.in_reference};
	qsort(work->order, places->nleaves, sizeof(*work->order), compare_positions);
	for (uint32_t a = 0; a < places->nleaves; a++)
		places->leaf[a] = work->old->leaf[work->order[a].index];
}

static int compare_plugs(const void *left, const void *right)
{
	const struct fors_plug *a = left, *b = right;

	return a->leaf_port < b->leaf_port ? -1 : a->leaf_port > b->leaf_port;
}

/* The cables of a leaf to a spine of the old order, by leaf port, in plug[]; how many. */
static unsigned find_plugs(const struct fors_places *old, const struct fors_leaf_place *leaf, uint32_t spine,
			   struct fors_plug *plug)
{
	unsigned count = 0;

	for (uint32_t k = 0; k < old->nlanes; k++)
		if (old->lane[k].spine == spine && leaf->plug[k].leaf_port)
			plug[count++] = leaf->plug[k];
	qsort(plug, count, sizeof(*plug), compare_plugs);
	return count;
}

/* As many lanes as the leaf with most cables to it needs; a spine without any cable keeps those that it has. */
static unsigned lanes_of(const struct fors_places *old, uint32_t spine)
{
	struct fors_plug plug[FORS_MAX_LANES];
	unsigned most = 0, lanes = 0;

	for (uint32_t a = 0; a < old->nleaves; a++) {
		unsigned count = find_plugs(old, &old->leaf[a], spine, plug);

		most = count > most ? count : most;
	}
	for (uint32_t k = 0; k < old->nlanes; k++)
		lanes += old->lane[k].spine == spine;
	return most ? most : lanes;
}

/* Give the lanes from `first` on to a spine, the old order's `from`, and all leaves their cables to it. */
static void place_lanes(const struct ranking *work, uint32_t spine, uint32_t from, unsigned nlanes)
{
	struct fors_places *places = work->places;
	uint32_t first = places->nlanes;

	for (unsigned cable = 0; cable < nlanes; cable++)
		places->lane[places->nlanes++] = (struct fors_lane){(uint16_t)spine, (uint16_t)cable};
	for (uint32_t a = 0; a < places->nleaves; a++) {
		const struct fors_leaf_place *leaf = &work->old->leaf[work->order[a].index];
		struct fors_plug plug[FORS_MAX_LANES];
		unsigned count = find_plugs(work->old, leaf, from, plug);

		for (unsigned cable = 0; cable < nlanes; cable++)
			places->leaf[a].plug[first + cable] = cable < count ? plug[cable] : (struct fors_plug){0, 0};
	}
}

/* After sort_leaves(), whose order it goes by. */
static void sort_spines(const struct ranking *work)
{
	struct fors_places *places = work->places;
	struct position *order = work->order + places->nleaves;

	for (uint32_t k = 0; k < places->nspines; k++)
		order[k] = (struct position){work->old->spine[k].guid, k, work->old->spine[k].marks.in_reference};
	qsort(order, places->nspines, sizeof(*order), compare_positions);
	places->nlanes = 0;
	for (uint32_t a = 0; a < places->nleaves; a++)
		memset(places->leaf[a].plug, 0, sizeof(places->leaf[a].plug));
	for (uint32_t k = 0; k < places->nspines; k++) {
		places->spine[k] = work->old->spine[order[k].index];
		place_lanes(work, k, order[k].index, lanes_of(work->old, order[k].index));
	}
}

static bool comes_first(const struct ranking *work, const struct fors_leaf_place *leaf, unsigned slot)
{
	return fors_participants_have(work->first, leaf->slot_guid[slot]);
}

/* Slots by port, those first that come first, without those that no server is known at, or at which is no host. */
static void sort_slots(const struct ranking *work, struct fors_leaf_place *leaf)
{
	const struct fors_leaf_place old = *leaf;

	leaf->nslots = 0;
	memset(leaf->slot_port, 0, sizeof(leaf->slot_port));
	memset(leaf->slot_home, 0, sizeof(leaf->slot_home));
	memset(leaf->slot_kind, 0, sizeof(leaf->slot_kind));
	memset(leaf->slot_guid, 0, sizeof(leaf->slot_guid));
	memset(leaf->slot_is_none, 0, sizeof(leaf->slot_is_none));
	for (unsigned turn = 1; turn <= 2 * FORS_MAX_SLOTS; turn++)
		for (unsigned s = 0; s < old.nslots; s++) {
			unsigned port = old.slot_port[s] + (comes_first(work, &old, s) ? 0u : FORS_MAX_SLOTS);

			if (port != turn || !fors_places_is_slot(&old, s) || old.slot_is_none[s])
				continue;
			leaf->slot_port[leaf->nslots] = old.slot_port[s];
			leaf->slot_guid[leaf->nslots++] = old.slot_guid[s];
		}
}

/* --- homes ---------------------------------------------------------------- */

/* Is the slot, of a leaf whose slots are sorted, among what it has beyond a multiple of the lanes? */
static bool is_left_over(const struct fors_places *places, const struct fors_leaf_place *leaf, unsigned slot)
{
	unsigned level = leaf->nslots / places->nlanes * places->nlanes;

	return level && slot >= level;
}

static bool has_small_leaf(const struct fors_places *places)
{
	for (uint32_t a = 0; a < places->nleaves; a++)
		if (places->leaf[a].nslots && places->leaf[a].nslots < places->nlanes)
			return true;
	return false;
}

/* Homes of all, with ranks stretched from nservers to `stretched`. */
static void set_homes(const struct ranking *work, uint32_t nservers, uint32_t stretched)
{
	struct fors_places *places = work->places;
	bool is_mixed = has_small_leaf(places);
	uint32_t rank[2] = {0, 0}, nlanes = places->nlanes;

	memset(work->homes.own, 0, (size_t)places->nleaves * nlanes * sizeof(*work->homes.own));
	memset(work->homes.total, 0, nlanes * sizeof(*work->homes.total));
	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++) {
			uint32_t *next = &rank[is_mixed && is_left_over(places, &places->leaf[a], s)];
			uint32_t home = (uint32_t)((uint64_t)(*next)++ * stretched / nservers % nlanes);

			places->leaf[a].slot_home[s] = (uint8_t)home;
			work->homes.own[(size_t)a * nlanes + home]++;
			work->homes.total[home]++;
		}
}

/* The phases that no exchange over these homes goes below: P, or the flows of the fullest link. */
static uint64_t bound_of(const struct ranking *work, uint32_t nservers)
{
	const struct fors_places *places = work->places;
	uint64_t bound = nservers;

	for (uint32_t a = 0; a < places->nleaves; a++)
		for (uint32_t k = 0; k < places->nlanes; k++) {
			uint64_t own = places->leaf[a].nslots, here = work->homes.own[(size_t)a * places->nlanes + k];
			uint64_t up = own * (work->homes.total[k] - here), down = here * (nservers - own);

			bound = up > bound ? up : bound;
			bound = down > bound ? down : bound;
		}
	return bound;
}

static bool has_twins(const struct ranking *work)
{
	for (size_t i = 0; i < (size_t)work->places->nleaves * work->places->nlanes; i++)
		if (work->homes.own[i] > 1)
			return true;
	return false;
}

static void assign_ranks(const struct ranking *work, uint32_t nservers)
{
	uint32_t nlanes = work->places->nlanes, stretched = (nservers + nlanes - 1) / nlanes * nlanes;
	uint64_t bound;

	set_homes(work, nservers, nservers);
	bound = bound_of(work, nservers);
	if (stretched == nservers || has_twins(work))
		return;
	set_homes(work, nservers, stretched);
	if (has_twins(work) || bound_of(work, nservers) > bound)
		set_homes(work, nservers, nservers);
}

static void assign(struct ranking *work)
{
	uint32_t nservers = fors_places_count_slots(work->places);

	if (!work->places->nlanes || !nservers)
		return;
	assign_ranks(work, nservers);
	work->homes.places = work->places;
	work->homes.nservers = nservers;
	if (!has_twins(work))
		fors_places_relieve(&work->homes);
}

/* What each leaf has beyond a multiple of the lanes. */
static void mark_varied(struct fors_places *places)
{
	for (uint32_t a = 0; places->nlanes && a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++)
			if (is_left_over(places, &places->leaf[a], s))
				places->leaf[a].slot_kind[s] = FORS_SLOT_VARIED;
}

/* Those of a leaf, sorted, that come first. */
static uint8_t count_first(const struct ranking *work, const struct fors_leaf_place *leaf)
{
	uint8_t count = 0;

	while (count < FORS_MAX_SLOTS && leaf->slot_port[count] && comes_first(work, leaf, count))
		count++;
	return count;
}

/* The others of a leaf take what is least used. */
static void welcome_others(struct fors_places *places, struct fors_leaf_place *leaf)
{
	for (; leaf->nslots < FORS_MAX_SLOTS && leaf->slot_port[leaf->nslots]; leaf->nslots++) {
		fors_places_welcome(places, leaf, leaf->nslots);
		leaf->slot_kind[leaf->nslots] = FORS_SLOT_RANKED;
	}
}

/* Homes of those that come first, as if the others were not there; then those. */
static void assign_first(struct ranking *work)
{
	struct fors_places *places = work->places;

	for (uint32_t a = 0; a < places->nleaves; a++)
		places->leaf[a].nslots = count_first(work, &places->leaf[a]);
	assign(work);
	mark_varied(places);
	for (uint32_t a = 0; a < places->nleaves; a++)
		welcome_others(places, &places->leaf[a]);
}

static bool allocate(struct ranking *work)
{
	size_t nswitches = (size_t)work->places->nleaves + work->places->nspines;

	work->old = fors_places_copy(work->places);
	work->order = calloc(nswitches + 1, sizeof(*work->order));
	work->homes.own = calloc((size_t)work->places->nleaves * work->places->nlanes + 1, sizeof(*work->homes.own));
	work->homes.total = calloc((size_t)work->places->nlanes + 1, sizeof(*work->homes.total));
	return work->old && work->order && work->homes.own && work->homes.total;
}

static enum fors_err rank_known(struct fors_places *places, struct fors_error *error)
{
	enum fors_err err = fors_known_has_others(places->known) ? fors_known_clean(&places->known, error) : FORS_OK;

	return err ? err : fors_known_complete(places->known, error);
}

static enum fors_err rank_slots(struct fors_places *places, const struct fors_participants *first,
				struct fors_error *error)
{
	struct ranking work = {.places = places, .first = first};
	bool good = allocate(&work);

	if (good) {
		sort_leaves(&work);
		sort_spines(&work);
		for (uint32_t a = 0; a < places->nleaves; a++)
			sort_slots(&work, &places->leaf[a]);
		assign_first(&work);
	}
	fors_places_free(work.old);
	free(work.order);
	free(work.homes.own);
	free(work.homes.total);
	return good ? FORS_OK : fors_fail_memory(error);
}

/* Of these, how many there are in a leaf and in all: by home, then the sum. */
static void count_among(const struct fors_places *places, const struct fors_participants *them, uint32_t a,
			uint32_t *own, uint32_t *total)
{
	for (unsigned s = 0; s < places->leaf[a].nslots; s++) {
		uint8_t home = places->leaf[a].slot_home[s];

		if (!fors_participants_have(them, places->leaf[a].slot_guid[s]))
			continue;
		own[home]++;
		total[home]++;
		own[places->nlanes]++;
		total[places->nlanes]++;
	}
}

/* The phases that no exchange of these goes below over homes by themselves; 0: out of memory. */
static uint64_t bound_among(const struct fors_places *places, const struct fors_participants *them)
{
	size_t room = places->nlanes + (size_t)1;
	uint32_t *total = calloc((places->nleaves + (size_t)1) * room, sizeof(*total)), *own = total;
	uint64_t bound;

	if (!total)
		return 0;
	for (uint32_t a = 0; a < places->nleaves; a++)
		count_among(places, them, a, own += room, total);
	bound = total[places->nlanes];
	own = total;
	for (uint32_t a = 0; a < places->nleaves; a++) {
		own += room;
		for (uint32_t k = 0; k < places->nlanes; k++) {
			uint64_t up = (uint64_t)own[places->nlanes] * (total[k] - own[k]);
			uint64_t down = (uint64_t)own[k] * (total[places->nlanes] - own[places->nlanes]);

			bound = up > bound ? up : bound;
			bound = down > bound ? down : bound;
		}
	}
	free(total);
	return bound;
}

/* Those who take part first, where that gains enough. */
static enum fors_err rank_for(struct fors_places *places, const struct fors_participants *them,
			      struct fors_error *error)
{
	static const struct fors_participants all = {NULL, 0};
	struct fors_places *first = fors_places_copy(places), old;
	enum fors_err err = first ? rank_slots(first, them, error) : fors_fail_memory(error);

	if (!err)
		err = rank_slots(places, &all, error);
	if (!err && 100 * bound_among(places, them) >= (100 + GAIN) * bound_among(first, them)) {
		old = *places;
		*places = *first;
		*first = old;
	}
	fors_places_free(first);
	return err;
}

enum fors_err fors_places_rank(struct fors_places *places, const struct fors_participants *participants,
			       struct fors_error *error)
{
	struct fors_participants sorted;
	enum fors_err err;

	if (places->known)
		return rank_known(places, error);
	err = fors_participants_sort(participants, &sorted, error);
	if (!err)
		err = participants ? rank_for(places, &sorted, error) : rank_slots(places, &sorted, error);
	free(sorted.guid);
	return err;
}

/* Lanes that are nobody's home. */
static uint32_t count_unused(const struct fors_places *places)
{
	bool is_used[FORS_MAX_LANES + 1] = {false};
	uint32_t unused = places->nlanes;

	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++) {
			bool *used = &is_used[places->leaf[a].slot_home[s]];

			if (!fors_places_is_slot(&places->leaf[a], s) || *used || !unused)
				continue;
			*used = true;
			unused--;
		}
	return unused;
}

/* Has somebody come after the last ranking, or is there somebody who is no host? */
static bool has_latecomer(const struct fors_places *places)
{
	if (places->known)
		return fors_known_has_others(places->known);
	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++) {
			uint8_t kind = places->leaf[a].slot_kind[s];

			if (places->leaf[a].slot_port[s] &&
			    (places->leaf[a].slot_is_none[s] || (kind != FORS_SLOT_RANKED && kind != FORS_SLOT_VARIED)))
				return true;
		}
	return false;
}

/*
 * May a ranking change anything? Of three levels homes follow from what is known alone; what it adds is what was never seen, and
 * what it takes away those that are no hosts.
 */
static enum fors_err may_gain(const struct fors_places *places, uint32_t unused, bool *may, struct fors_error *error)
{
	*may = has_latecomer(places) || (!places->known && unused);
	if (*may || !places->known || places->known->completes)
		return FORS_OK;
	return fors_known_lacks(places->known, may, error);
}

/*
 * A server or a lane has to come late for a ranking. The order of switches alone is no reason: one that was replaced has
 * the place of the old one, so that nothing moves.
 */
enum fors_err fors_places_ranked(const struct fors_places *places, const struct fors_participants *participants,
				 struct fors_places **ranked, bool *is_same, struct fors_error *error)
{
	uint32_t unused = count_unused(places);
	struct fors_places *copy;
	bool may;
	enum fors_err err = may_gain(places, unused, &may, error);

	*is_same = !err && !may;
	if (err || !may)
		return err;
	copy = fors_places_copy(places);
	err = copy ? fors_places_rank(copy, participants, error) : fors_fail_memory(error);
	if (!err)
		*is_same = !places->known && !has_latecomer(places) && count_unused(copy) >= unused;
	if (err || *is_same)
		fors_places_free(copy);
	else
		*ranked = copy;
	return err;
}

/* --- newcomers ------------------------------------------------------------ */

/* How used a lane is, in the leaf, then in the fabric. */
struct use {
	uint32_t own, all;
};

static void count_uses(const struct fors_places *places, const struct fors_leaf_place *leaf, unsigned but,
		       struct use *use)
{
	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++) {
			const struct fors_leaf_place *other = &places->leaf[a];

			if (!fors_places_is_slot(other, s) || (other == leaf && s == but))
				continue;
			use[other->slot_home[s]].all++;
			use[other->slot_home[s]].own += other == leaf;
		}
}

void fors_places_welcome(struct fors_places *places, struct fors_leaf_place *leaf, unsigned slot)
{
	struct use use[UINT8_MAX + 1] = {{0, 0}};
	uint64_t least = UINT64_MAX;

	leaf->slot_kind[slot] = FORS_SLOT_NEWCOMER;
	leaf->slot_home[slot] = 0;
	count_uses(places, leaf, slot, use);
	for (uint32_t k = 0; k < places->nlanes; k++) {
		uint64_t rank = (uint64_t)!leaf->plug[k].leaf_port << 48 | (uint64_t)use[k].own << 32 | use[k].all;

		if (rank >= least)
			continue;
		least = rank;
		leaf->slot_home[slot] = (uint8_t)k;
	}
}
