/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_search.c - links that are too full pass units on: a tabu search.
 *
 * What is to be made 0 is the surplus: the load above a cap, over all links. The links that are too full take turns; each
 * makes the best step of those that take something off it, even if the surplus does not shrink, and what moved has to stay
 * for a few steps. That leads out of places where each single step makes something else too full. Displaced units take steps
 * that add nothing first, link by link, which does where there is some room. The least cap is
 * what the fullest link cannot go below: the average of the poorest leaf's live links, rounded up, and what pairs
 * with one common lane force on it; lower() says how the cap gets there. A choice is kept only where the fullest link gets less.
 *
 * First only displaced units move, so that entries stay whose way lives. With parallel cables that may not do. A spine comes
 * down to a server by one cable, whoever the packet comes from. Say a leaf of 8 servers
 * lost one of its 4 cables to one of 2 spines. Its 8 servers come down by 3 cables there, so two of them share each with
 * others; what they have too much has to come over the other spine, where all 4 cables have one server at home and another
 * one of the first spine's. No choice of what lost its home alone gets below 9 units; with all that may move there
 * is one of 7. So where the fullest link still has more than it need have, the same search goes on with all entries, at home or
 * not, and a *way down* (leaf, spine, home lane) may change its cable. Then what moved goes back as far as there is room at home.
 * That costs entries that move though their way lives,
 * so it is kept only where the fullest link gets less by a twenty-fifth: never in a regular tree with nothing dead, nor
 * where spines have one cable to a leaf each. Where cables lack from the beginning it says where entries are at home, and
 * any gain will do.
 *
 * The same search serves where cables that live carry different numbers of flows in a phase (core/net/rates.h): a link of capacity k
 * may have k times the cap, and all loads count by capacity. Only here tables know of it: what is at home does not, so
 * that who takes part, and what a dead cable's speed was, says nothing about homes.
 *
 * All of this runs under OpenSM's lock, so it is bounded in steps, in proportion to the entries that a fill has to write
 * anyway.
 */
#include "leveller.h"

#include <stdlib.h>
#include <string.h>

#define PASSES 24		/* over all links that are too full, of steps that add nothing */
#define STEPS 600		/* of the tabu search without a lower surplus */
#define STAY 6			/* steps that what moved has to stay at least */
#define ATTEMPTS 8		/* to get below a cap, each with its share of the effort */
#define DISPLACED_EFFORT 4	/* ways looked at, all in all: of displaced units, per base LID and switch; */
#define EFFORT 40		/* where all may move, per pair of leaves and class, */
#define SMALL_EFFORT 400	/* and in small trees, where so many take a millisecond or two: */
#define SMALL UINT64_C(1000000) /* no more than these */
#define GAIN 25			/* a choice is kept that takes one in so many off the fullest link, or more */

/* A change: of one unit's lane; or of a way down. */
struct step {
	uint32_t unit; /* pair * nclasses + class; FORS_NONE: a way down */
	uint32_t way;  /* place in level->down; FORS_NONE: none */
	uint8_t lane;  /* of the unit, or of the way down */
	int64_t gain;
	uint64_t full; /* tie-break */
};

struct search {
	struct fors_leveller *leveller;
	bool moves_all;			  /* units at home and ways down, too */
	uint32_t *unit_free, *way_free;	  /* per unit, per way down: step from which it may move again */
	uint32_t *on;			  /* [home lane]: what comes down over the spine at hand, to the leaf at hand */
	uint8_t *lane, *down;		  /* choice that is kept */
	uint8_t *first_lane, *first_down; /* that of before */
	uint32_t *up_load, *down_load;	  /* its loads */
	size_t nunits, nways, nlinks;
	uint64_t effort;
	uint64_t surplus;
};

static void search_free(struct search *s)
{
	free(s->unit_free);
	free(s->way_free);
	free(s->on);
	free(s->lane);
	free(s->down);
	free(s->first_lane);
	free(s->first_down);
	free(s->up_load);
	free(s->down_load);
}

static bool search_alloc(struct search *s, struct fors_leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	size_t npairs = (size_t)fabric->nleaves * fabric->nleaves;

	*s = (struct search){.leveller = leveller,
			     .nunits = npairs * leveller->level->nclasses,
			     .nways = (size_t)fabric->nleaves * fabric->nspines * fabric->nlanes,
			     .nlinks = (size_t)fabric->nleaves * fabric->nlanes};
	s->unit_free = calloc(s->nunits + 1, sizeof(*s->unit_free));
	s->way_free = calloc(s->nways + 1, sizeof(*s->way_free));
	s->on = calloc(fabric->nlanes + (size_t)1, sizeof(*s->on));
	s->lane = malloc(s->nunits + 1);
	s->down = malloc(s->nways + 1);
	s->first_lane = malloc(s->nunits + 1);
	s->first_down = malloc(s->nways + 1);
	s->up_load = malloc((s->nlinks + 1) * sizeof(*s->up_load));
	s->down_load = malloc((s->nlinks + 1) * sizeof(*s->down_load));
	if (s->unit_free && s->way_free && s->on && s->lane && s->down && s->first_lane && s->first_down &&
	    s->up_load && s->down_load)
		return true;
	search_free(s);
	return false;
}

/* Keep the choice as it is. */
static void keep(struct search *s)
{
	memcpy(s->lane, s->leveller->level->lane, s->nunits);
	memcpy(s->down, s->leveller->level->down, s->nways);
	memcpy(s->up_load, s->leveller->up, s->nlinks * sizeof(*s->up_load));
	memcpy(s->down_load, s->leveller->down, s->nlinks * sizeof(*s->down_load));
}

/* Make it again what was kept. */
static void restore(struct search *s)
{
	memcpy(s->leveller->level->lane, s->lane, s->nunits);
	memcpy(s->leveller->level->down, s->down, s->nways);
	memcpy(s->leveller->up, s->up_load, s->nlinks * sizeof(*s->up_load));
	memcpy(s->leveller->down, s->down_load, s->nlinks * sizeof(*s->down_load));
}

/* ---- loads ---- */

static int64_t above(int64_t load, int64_t cap)
{
	return load > cap ? load - cap : 0;
}

/* So much a link may have; *load is of the leveller's up or down. */
static int64_t cap_of(const struct search *s, const uint32_t *load)
{
	const struct fors_leveller *l = s->leveller;
	size_t i = (size_t)(load - (load >= l->up && load < l->up + s->nlinks ? l->up : l->down));

	return (int64_t)l->cap * fors_leveller_capacity(l, i);
}

static int64_t change(const struct search *s, const uint32_t *load, int64_t by)
{
	return above(*load + by, cap_of(s, load)) - above(*load, cap_of(s, load));
}

static bool is_above(const struct search *s, const uint32_t *load)
{
	return *load > cap_of(s, load);
}

static void count_surplus(struct search *s)
{
	s->surplus = 0;
	for (size_t i = 0; i < s->nlinks; i++)
		s->surplus += (uint64_t)(above(s->leveller->up[i], cap_of(s, &s->leveller->up[i])) +
					 above(s->leveller->down[i], cap_of(s, &s->leveller->down[i])));
}

/* Does the unit count, of a leaf with servers, for a place that there is? */
static bool counts(const struct fors_leveller *l, uint32_t pair, uint32_t class)
{
	uint32_t nleaves = l->fabric->nleaves;

	return pair / nleaves != pair % nleaves && l->weight[pair / nleaves] &&
	       l->exists[(size_t)(pair % nleaves) * l->level->nclasses + class] &&
	       *fors_leveller_entry(l, pair, class) < l->fabric->nlanes;
}

static void spend(struct search *s, uint64_t ways)
{
	s->effort -= s->effort < ways ? s->effort : ways;
}

/* ---- steps that take something off a link ---- */

static void offer(struct step *best, const struct step *step)
{
	if (step->gain < best->gain || (step->gain == best->gain && step->full < best->full))
		*best = *step;
}

/* The other lanes of a unit. */
static void look_at_unit(struct search *s, uint32_t pair, uint32_t class, struct step *best)
{
	const struct fors_leveller *l = s->leveller;
	uint32_t nleaves = l->fabric->nleaves, nlanes = l->fabric->nlanes;
	const uint32_t *up = l->up + pair / nleaves * nlanes, *down = l->down + pair % nleaves * nlanes;
	uint8_t from = *fors_leveller_entry(l, pair, class), down_from = fors_leveller_down(l, pair, class, from);
	int64_t weight = l->weight[pair / nleaves], off = change(s, &up[from], -weight);
	struct step step = {.unit = pair * l->level->nclasses + class, .way = FORS_NONE};

	spend(s, nlanes);
	for (uint32_t lane = 0; lane < nlanes; lane++) {
		uint8_t onto = lane == from ? FORS_NO_LANE : fors_leveller_down(l, pair, class, lane);

		if (onto == FORS_NO_LANE)
			continue;
		step.lane = (uint8_t)lane;
		step.gain = off + change(s, &up[lane], weight);
		if (onto != down_from)
			step.gain += change(s, &down[down_from], -weight) + change(s, &down[onto], weight);
		step.full = fors_leveller_fullness(l, pair, lane, onto);
		offer(best, &step);
	}
}

/* The units of a pair that may move, number 64 * word .. 64 * word + 63, as bits. */
static uint64_t movable(const struct search *s, uint32_t pair, uint32_t word)
{
	const struct fors_leveller *l = s->leveller;

	return s->moves_all ? l->wanted[(size_t)(pair % l->fabric->nleaves) * l->nwords + word]
			    : fors_leveller_displaced(l, pair, word);
}

/* A unit, if it is on the link; what comes down over the link's spine is counted by home lanes, in s->on. */
static void look_for_unit(struct search *s, uint32_t pair, uint32_t class, uint32_t link, uint32_t now,
			  struct step *best)
{
	const struct fors_leveller *l = s->leveller;
	uint32_t lane = link / 2 % l->fabric->nlanes, up;

	if (!counts(l, pair, class))
		return;
	up = *fors_leveller_entry(l, pair, class);
	if (l->fabric->lane[up].spine == l->fabric->lane[lane].spine)
		s->on[fors_leveller_home(l, class)] += l->weight[pair / l->fabric->nleaves];
	if ((link % 2 ? fors_leveller_down(l, pair, class, up) : up) == lane &&
	    s->unit_free[(size_t)pair * l->level->nclasses + class] <= now)
		look_at_unit(s, pair, class, best);
}

/* All units of a link that are free to move. */
static void look_at_link(struct search *s, uint32_t link, uint32_t now, struct step *best)
{
	const struct fors_leveller *l = s->leveller;
	uint32_t nleaves = l->fabric->nleaves, leaf = link / 2 / l->fabric->nlanes;

	memset(s->on, 0, l->fabric->nlanes * sizeof(*s->on));
	for (uint32_t other = 0; other < nleaves; other++) {
		uint32_t pair = link % 2 ? other * nleaves + leaf : leaf * nleaves + other;

		for (uint32_t word = 0; word < l->nwords; word++)
			for (uint64_t bits = movable(s, pair, word); bits; bits &= bits - 1)
				look_for_unit(s, pair, word * 64 + (uint32_t)__builtin_ctzll(bits), link, now, best);
	}
	if (s->moves_all)
		spend(s, (uint64_t)nleaves * l->level->nclasses);
}

/* Other cables of the spine for the ways down by a link, as s->on says what they carry. */
static void look_at_ways(struct search *s, uint32_t to, uint32_t lane, uint32_t now, struct step *best)
{
	const struct fors_leveller *l = s->leveller;
	const struct fors_fabric *fabric = l->fabric;
	const uint32_t *down = l->down + to * fabric->nlanes;
	uint32_t spine = fabric->lane[lane].spine, first = (to * fabric->nspines + spine) * fabric->nlanes;

	for (uint32_t home = 0; home < fabric->nlanes; home++) {
		if (l->level->down[first + home] != lane || !s->on[home] || s->way_free[first + home] > now)
			continue;
		for (uint32_t onto = 0; onto < fabric->nlanes; onto++) {
			struct step step = {.unit = FORS_NONE, .way = first + home, .lane = (uint8_t)onto};

			if (onto == lane || fabric->lane[onto].spine != spine ||
			    !l->live[(size_t)to * fabric->nlanes + onto])
				continue;
			step.gain = change(s, &down[lane], -(int64_t)s->on[home]) + change(s, &down[onto], s->on[home]);
			step.full = (uint64_t)down[onto] << 32 | down[onto];
			offer(best, &step);
			spend(s, fabric->nlanes);
		}
	}
}

/* The best step of a link; its gain is INT64_MAX: there is none. */
static struct step find_step(struct search *s, uint32_t link, uint32_t now)
{
	uint32_t nlanes = s->leveller->fabric->nlanes;
	struct step best = {.gain = INT64_MAX, .full = UINT64_MAX};

	look_at_link(s, link, now, &best);
	if (s->moves_all && link % 2)
		look_at_ways(s, link / 2 / nlanes, link / 2 % nlanes, now, &best);
	return best;
}

/* ---- doing them ---- */

/* Add (by = 1) or remove (by = -1) what comes down by one way: the classes of its home lane. */
static void count_way(struct search *s, uint32_t way, int by)
{
	const struct fors_leveller *l = s->leveller;
	const struct fors_fabric *fabric = l->fabric;
	uint32_t to = way / fabric->nlanes / fabric->nspines, spine = way / fabric->nlanes % fabric->nspines;
	uint32_t *load = &l->down[to * fabric->nlanes + l->level->down[way]], class;

	for (uint32_t copy = 0;
	     (class = fors_home_class(fabric->nlanes, copy, way % fabric->nlanes)) < l->level->nclasses; copy++)
		for (uint32_t pair = to; pair < fabric->nleaves * fabric->nleaves; pair += fabric->nleaves)
			if (counts(l, pair, class) && fabric->lane[*fors_leveller_entry(l, pair, class)].spine == spine)
				*load += (uint32_t)by * l->weight[pair / fabric->nleaves];
}

static void set_way(struct search *s, uint32_t way, uint8_t lane)
{
	count_way(s, way, -1);
	s->leveller->level->down[way] = lane;
	count_way(s, way, 1);
}

static void make_step(struct search *s, const struct step *step, uint32_t now)
{
	uint32_t nclasses = s->leveller->level->nclasses, until = now + STAY + now % 5;

	if (step->unit != FORS_NONE) {
		fors_leveller_move(s->leveller, step->unit / nclasses, step->unit % nclasses, step->lane);
		s->unit_free[step->unit] = until;
		return;
	}
	set_way(s, step->way, step->lane);
	s->way_free[step->way] = until;
}

/*
 * The next link above the cap after `link`, cyclically; there is one. A link is (leaf * nlanes + lane) * 2, and 1 more for
 * the downlink.
 */
static uint32_t next_over(const struct search *s, uint32_t link)
{
	const struct fors_leveller *l = s->leveller;

	do
		link = link + 1 < 2 * s->nlinks ? link + 1 : 0;
	while (!is_above(s, (link % 2 ? l->down : l->up) + link / 2));
	return link;
}

/* Steps that add nothing, as long as the link is above the cap; true: there was one. */
static bool relieve(struct search *s, uint32_t link)
{
	const uint32_t *load = (link % 2 ? s->leveller->down : s->leveller->up) + link / 2;
	bool moved = false;

	while (is_above(s, load) && s->effort) {
		struct step step = find_step(s, link, UINT32_MAX);

		if (step.gain > 0)
			break;
		make_step(s, &step, 0);
		moved = true;
	}
	return moved;
}

/* They come first, link by link: that does where there is some room. */
static void relieve_all(struct search *s)
{
	bool moved = true;

	for (uint32_t pass = 0; pass < PASSES && moved; pass++) {
		moved = false;
		for (uint32_t link = 0; link < 2 * s->nlinks; link++)
			moved |= relieve(s, link);
	}
}

/* Take what is above the cap off all links, as far as that is found. */
static void find_room(struct search *s)
{
	uint64_t least;
	uint32_t end = STEPS, link = (uint32_t)(2 * s->nlinks - 1);

	if (!s->moves_all)
		relieve_all(s);
	memset(s->unit_free, 0, s->nunits * sizeof(*s->unit_free));
	memset(s->way_free, 0, s->nways * sizeof(*s->way_free));
	count_surplus(s);
	least = s->surplus;
	for (uint32_t now = 1; now < end && s->surplus && s->effort; now++) {
		struct step step;

		link = next_over(s, link);
		step = find_step(s, link, now);
		if (step.gain == INT64_MAX)
			continue;
		make_step(s, &step, now);
		s->surplus += (uint64_t)step.gain;
		if (s->surplus < least) {
			least = s->surplus;
			end = now + STEPS;
		}
	}
}

/* ---- back ---- */

/* Ways down that need not have changed take their cable of before. */
static void return_ways(struct search *s)
{
	const uint8_t *down = s->first_down;
	struct fors_leveller *l = s->leveller;

	for (uint32_t way = 0; way < s->nways; way++) {
		uint8_t now = l->level->down[way];
		const uint32_t *load = l->down + way / l->fabric->nlanes / l->fabric->nspines * l->fabric->nlanes;

		if (now == down[way])
			continue;
		set_way(s, way, down[way]);
		if (is_above(s, &load[down[way]]))
			set_way(s, way, now);
	}
}

/* So do units. */
static void return_units(struct search *s)
{
	const uint8_t *lane = s->first_lane;
	struct fors_leveller *l = s->leveller;
	uint32_t nleaves = l->fabric->nleaves, nlanes = l->fabric->nlanes, nclasses = l->level->nclasses;

	for (uint32_t unit = 0; unit < s->nunits; unit++) {
		uint32_t pair = unit / nclasses, class = unit % nclasses;
		uint8_t now = l->level->lane[unit], onto;

		if (now == lane[unit] || !counts(l, pair, class))
			continue;
		fors_leveller_move(l, pair, class, lane[unit]);
		onto = fors_leveller_down(l, pair, class, lane[unit]);
		if (is_above(s, &l->up[pair / nleaves * nlanes + lane[unit]]) ||
		    is_above(s, &l->down[pair % nleaves * nlanes + onto]))
			fors_leveller_move(l, pair, class, now);
	}
}

/* ---- how full links may be ---- */

/* The average load of every leaf's live links, rounded up, of the leaf where it is most; in whole units where they go up. */
static uint32_t most_of_leaves(const struct fors_leveller *l, const uint32_t *load, bool is_up)
{
	uint32_t nlanes = l->fabric->nlanes, most = 0;

	for (uint32_t leaf = 0; leaf < l->fabric->nleaves; leaf++) {
		uint32_t sum = 0, nlive = 0, unit = is_up && l->weight[leaf] ? l->weight[leaf] : 1;

		for (uint32_t lane = 0; lane < nlanes; lane++) {
			sum += load[leaf * nlanes + lane];
			nlive += l->live[(size_t)leaf * nlanes + lane];
		}
		if (nlive && (sum / unit + nlive - 1) / nlive * unit > most)
			most = (sum / unit + nlive - 1) / nlive * unit;
	}
	return most;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Links need not carry less: a plan has a phase for each server at least. */
static uint32_t count_phases(const struct fors_leveller *l)
{
	uint32_t servers = 0;

	for (uint32_t leaf = 0; leaf < l->fabric->nleaves; leaf++)
		servers += l->weight[leaf];
	return servers;
}

/* The load of the fullest link with which a choice is kept. What the cables that ever were make best is home: that costs nothing. */
static uint32_t worth_keeping(const struct search *s)
{
	uint32_t now = fors_leveller_fullest(s->leveller);

	return !s->moves_all || s->leveller->is_for_ever ? now - 1 : now * (GAIN - 1) / GAIN;
}

/* Entries for base LIDs, in all switches: what a fill costs anyway. */
static uint64_t count_entries(const struct fors_leveller *l)
{
	uint64_t places = 0;

	for (uint32_t i = 0; i < l->fabric->nleaves * l->level->nclasses; i++)
		places += l->exists[i];
	return places * (l->fabric->nleaves + l->fabric->nspines);
}

/* Ways that may be looked at. */
static uint64_t effort_for(const struct search *s)
{
	uint64_t usual = (uint64_t)s->nunits * EFFORT, more = (uint64_t)s->nunits * SMALL_EFFORT;

	if (!s->moves_all)
		return count_entries(s->leveller) * DISPLACED_EFFORT;
	more = more < SMALL ? more : SMALL;
	return more > usual ? more : usual;
}

/*
 * As full as the fullest link may be. Where all leaves weigh the same one less at a time, as long as it works. Else, and
 * where all may move, the least first, then half way from what failed to what is worth it. What was found at last is the choice.
 */
static void lower(struct search *s, uint32_t least)
{
	struct fors_leveller *l = s->leveller;
	bool by_one = !s->moves_all && !l->is_weighted;
	uint32_t worth = worth_keeping(s);
	uint64_t share = effort_for(s) / (by_one ? 1 : ATTEMPTS);

	memcpy(s->first_lane, l->level->lane, s->nunits);
	memcpy(s->first_down, l->level->down, s->nways);
	for (int attempt = 0; (by_one || attempt < ATTEMPTS) && least <= worth; attempt++) {
		uint32_t fullest;

		l->cap = by_one ? worth : attempt ? least + (worth + 1 - least) / 2 : least;
		s->effort = share;
		keep(s);
		find_room(s);
		fullest = fors_leveller_fullest(l);
		if (fullest > l->cap)
			least = l->cap + 1;
		if (fullest > worth) {
			restore(s);
			continue;
		}
		worth = fullest - 1;
		if (s->moves_all) {
			return_ways(s);
			return_units(s);
		}
	}
}

bool fors_leveller_search(struct fors_leveller *leveller)
{
	uint32_t fair =
		larger(most_of_leaves(leveller, leveller->up, true), most_of_leaves(leveller, leveller->down, false));
	uint32_t phases = count_phases(leveller), enough = leveller->is_uneven ? phases : larger(fair, phases);
	uint32_t least = larger(leveller->cap, leveller->is_weighted ? enough : fair);
	struct search s;

	if (fors_leveller_fullest(leveller) <= (leveller->may_move_all && enough < least ? enough : least))
		return true;
	if (!search_alloc(&s, leveller))
		return false;
	lower(&s, least);
	s.moves_all = leveller->may_move_all;
	if (s.moves_all)
		lower(&s, enough);
	search_free(&s);
	return true;
}
