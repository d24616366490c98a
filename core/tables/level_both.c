/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_both.c - where links stay too full: entries at home move, too, and ways down with them.
 *
 * With parallel cables a spine comes down to a server by one cable, whoever the packet comes from. Say a leaf of 8 servers
 * lost one of its 4 cables to one of 2 spines. Its 8 servers come down by 3 cables there, so two of them share each with
 * others; what they have too much has to come over the other spine, where all 4 cables have one server at home and another
 * one of the first spine's. No choice of what lost its home alone gets below 9 units; with all that may move there
 * is one of 7.
 *
 * So here a unit is any entry, at home or not, and a *way down* (leaf, spine, home lane) may change its cable. It is a tabu search as in level_tabu.c: the links above the cap take turns, and
 * each makes the best step of those that take something off it. Then what moved goes back as far as there is room at home.
 * That costs entries that move though their way lives, so it is tried only where the fullest link has more than it need
 * have, and kept only where it gets less by a twenty-fifth: never in a regular tree with nothing dead, nor where spines have one cable to a leaf
 * each. Where cables lack from the beginning it says where entries are at home, and any gain will do.
 *
 * The same search serves where cables that live carry different numbers of flows in a phase (core/net/rates.h): a link of capacity k
 * may have k times the cap, and all loads count by capacity. Only here tables know of it: what is at home does not, so
 * that who takes part, and what a dead cable's speed was, says nothing about homes.
 */
#include "leveller.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 400 /* without a lower surplus */
#define STAY 5	  /* steps that what moved has to stay at least */
#define ATTEMPTS 5
#define EFFORT 40		/* ways looked at per entry of a leaf, all in all */
#define SMALL_EFFORT 400	/* the same in small trees, where so many take a millisecond or two: */
#define SMALL UINT64_C(1000000) /* no more than these */
#define GAIN 25			/* a choice is kept that takes one in so many off the fullest link, or more */

/* A change: of one unit's lane; or of a way down. */
struct step {
	uint32_t unit; /* pair * nclasses + class; FORS_NONE: a way down */
	uint32_t way;  /* place in level->down; FORS_NONE: none */
	uint8_t lane;  /* of the unit, or of the way down */
	int64_t gain;
	uint32_t full; /* tie-break */
};

struct both {
	struct fors_leveller *leveller;
	uint32_t *unit_free, *way_free; /* per unit, per way down: step from which it may move again */
	uint32_t *on;			/* [home lane]: what comes down over the spine at hand, to the leaf at hand */
	uint8_t *lane, *down;		/* choice that is kept */
	uint32_t *up_load, *down_load;	/* its loads */
	size_t nunits, nways, nlinks;
	uint64_t effort;
	uint64_t surplus;
};

static void both_free(struct both *b)
{
	free(b->unit_free);
	free(b->way_free);
	free(b->on);
	free(b->lane);
	free(b->down);
	free(b->up_load);
	free(b->down_load);
}

static bool both_alloc(struct both *b, struct fors_leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	size_t npairs = (size_t)fabric->nleaves * fabric->nleaves;

	*b = (struct both){.leveller = leveller,
			   .nunits = npairs * leveller->level->nclasses,
			   .nways = (size_t)fabric->nleaves * fabric->nspines * fabric->nlanes,
			   .nlinks = (size_t)fabric->nleaves * fabric->nlanes};
	b->unit_free = calloc(b->nunits + 1, sizeof(*b->unit_free));
	b->way_free = calloc(b->nways + 1, sizeof(*b->way_free));
	b->on = calloc(fabric->nlanes + (size_t)1, sizeof(*b->on));
	b->lane = malloc(b->nunits + 1);
	b->down = malloc(b->nways + 1);
	b->up_load = malloc((b->nlinks + 1) * sizeof(*b->up_load));
	b->down_load = malloc((b->nlinks + 1) * sizeof(*b->down_load));
	if (b->unit_free && b->way_free && b->on && b->lane && b->down && b->up_load && b->down_load)
		return true;
	both_free(b);
	return false;
}

/* Keep the choice as it is. */
static void keep(struct both *b)
{
	memcpy(b->lane, b->leveller->level->lane, b->nunits);
	memcpy(b->down, b->leveller->level->down, b->nways);
	memcpy(b->up_load, b->leveller->up, b->nlinks * sizeof(*b->up_load));
	memcpy(b->down_load, b->leveller->down, b->nlinks * sizeof(*b->down_load));
}

/* Make it again what was kept. */
static void restore(struct both *b)
{
	memcpy(b->leveller->level->lane, b->lane, b->nunits);
	memcpy(b->leveller->level->down, b->down, b->nways);
	memcpy(b->leveller->up, b->up_load, b->nlinks * sizeof(*b->up_load));
	memcpy(b->leveller->down, b->down_load, b->nlinks * sizeof(*b->down_load));
}

/* ---- loads ---- */

static int64_t above(int64_t load, int64_t cap)
{
	return load > cap ? load - cap : 0;
}

/* So much a link may have; *load is of the leveller's up or down. */
static int64_t cap_of(const struct both *b, const uint32_t *load)
{
	const struct fors_leveller *l = b->leveller;
	size_t i = (size_t)(load - (load >= l->up && load < l->up + b->nlinks ? l->up : l->down));

	return (int64_t)l->cap * fors_leveller_capacity(l, i);
}

static int64_t change(const struct both *b, const uint32_t *load, int64_t by)
{
	return above(*load + by, cap_of(b, load)) - above(*load, cap_of(b, load));
}

static bool is_above(const struct both *b, const uint32_t *load)
{
	return *load > cap_of(b, load);
}

static void count_surplus(struct both *b)
{
	b->surplus = 0;
	for (size_t i = 0; i < b->nlinks; i++)
		b->surplus += (uint64_t)(above(b->leveller->up[i], cap_of(b, &b->leveller->up[i])) +
					 above(b->leveller->down[i], cap_of(b, &b->leveller->down[i])));
}

/* Does the unit count, of a leaf with servers, for a place that there is? */
static bool counts(const struct fors_leveller *l, uint32_t pair, uint32_t class)
{
	uint32_t nleaves = l->fabric->nleaves;

	return pair / nleaves != pair % nleaves && l->weight[pair / nleaves] &&
	       l->exists[(size_t)(pair % nleaves) * l->level->nclasses + class] &&
	       *fors_leveller_entry(l, pair, class) < l->fabric->nlanes;
}

static void spend(struct both *b, uint64_t ways)
{
	b->effort -= b->effort < ways ? b->effort : ways;
}

/* ---- steps that take something off a link ---- */

static void offer(struct step *best, const struct step *step)
{
	if (step->gain < best->gain || (step->gain == best->gain && step->full < best->full))
		*best = *step;
}

/* The other lanes of a unit. */
static void look_at_unit(struct both *b, uint32_t pair, uint32_t class, struct step *best)
{
	const struct fors_leveller *l = b->leveller;
	uint32_t nleaves = l->fabric->nleaves, nlanes = l->fabric->nlanes;
	const uint32_t *up = l->up + pair / nleaves * nlanes, *down = l->down + pair % nleaves * nlanes;
	uint8_t from = *fors_leveller_entry(l, pair, class), down_from = fors_leveller_down(l, pair, class, from);
	int64_t weight = l->weight[pair / nleaves], off = change(b, &up[from], -weight);
	struct step step = {.unit = pair * l->level->nclasses + class, .way = FORS_NONE};

	spend(b, nlanes);
	for (uint32_t lane = 0; lane < nlanes; lane++) {
		uint8_t onto = lane == from ? FORS_NO_LANE : fors_leveller_down(l, pair, class, lane);

		if (onto == FORS_NO_LANE)
			continue;
		step.lane = (uint8_t)lane;
		step.gain = off + change(b, &up[lane], weight);
		if (onto != down_from)
			step.gain += change(b, &down[down_from], -weight) + change(b, &down[onto], weight);
		step.full = up[lane] > down[onto] ? up[lane] : down[onto];
		offer(best, &step);
	}
}

/* All units of an uplink that are free to move. */
static void look_at_uplink(struct both *b, uint32_t leaf, uint32_t lane, uint32_t now, struct step *best)
{
	const struct fors_leveller *l = b->leveller;
	uint32_t nclasses = l->level->nclasses;

	for (uint32_t to = 0; to < l->fabric->nleaves; to++)
		for (uint32_t class = 0; class < nclasses; class += 1) {
			uint32_t pair = leaf * l->fabric->nleaves + to;

			if (counts(l, pair, class) && *fors_leveller_entry(l, pair, class) == lane &&
			    b->unit_free[(size_t)pair * nclasses + class] <= now)
				look_at_unit(b, pair, class, best);
		}
	spend(b, (uint64_t)l->fabric->nleaves * nclasses);
}

/* All units that come down by a link; what comes down over its spine is counted by home lanes, in b->on. */
static void look_at_downlink(struct both *b, uint32_t to, uint32_t lane, uint32_t now, struct step *best)
{
	const struct fors_leveller *l = b->leveller;
	uint32_t nclasses = l->level->nclasses, spine = l->fabric->lane[lane].spine;

	memset(b->on, 0, l->fabric->nlanes * sizeof(*b->on));
	for (uint32_t leaf = 0; leaf < l->fabric->nleaves; leaf++)
		for (uint32_t class = 0; class < nclasses; class += 1) {
			uint32_t pair = leaf * l->fabric->nleaves + to;

			if (!counts(l, pair, class) ||
			    l->fabric->lane[*fors_leveller_entry(l, pair, class)].spine != spine)
				continue;
			b->on[fors_leveller_home(l, class)] += l->weight[leaf];
			if (b->unit_free[(size_t)pair * nclasses + class] <= now &&
			    fors_leveller_down(l, pair, class, *fors_leveller_entry(l, pair, class)) == lane)
				look_at_unit(b, pair, class, best);
		}
	spend(b, (uint64_t)l->fabric->nleaves * nclasses);
}

/* Other cables of the spine for the ways down by a link, as b->on says what they carry. */
static void look_at_ways(struct both *b, uint32_t to, uint32_t lane, uint32_t now, struct step *best)
{
	const struct fors_leveller *l = b->leveller;
	const struct fors_fabric *fabric = l->fabric;
	const uint32_t *down = l->down + to * fabric->nlanes;
	uint32_t spine = fabric->lane[lane].spine, first = (to * fabric->nspines + spine) * fabric->nlanes;

	for (uint32_t home = 0; home < fabric->nlanes; home++) {
		if (l->level->down[first + home] != lane || !b->on[home] || b->way_free[first + home] > now)
			continue;
		for (uint32_t onto = 0; onto < fabric->nlanes; onto++) {
			struct step step = {.unit = FORS_NONE, .way = first + home, .lane = (uint8_t)onto};

			if (onto == lane || fabric->lane[onto].spine != spine ||
			    !l->live[(size_t)to * fabric->nlanes + onto])
				continue;
			step.gain = change(b, &down[lane], -(int64_t)b->on[home]) + change(b, &down[onto], b->on[home]);
			step.full = down[onto];
			offer(best, &step);
			spend(b, fabric->nlanes);
		}
	}
}

/* The best step of a link; its gain is INT64_MAX: there is none. */
static struct step find_step(struct both *b, size_t link, uint32_t now)
{
	uint32_t nlanes = b->leveller->fabric->nlanes, leaf = (uint32_t)(link / 2 / nlanes), lane = link / 2 % nlanes;
	struct step best = {.gain = INT64_MAX, .full = UINT32_MAX};

	if (link % 2) {
		look_at_downlink(b, leaf, lane, now, &best);
		look_at_ways(b, leaf, lane, now, &best);
	} else {
		look_at_uplink(b, leaf, lane, now, &best);
	}
	return best;
}

/* ---- doing them ---- */

/* Add (by = 1) or remove (by = -1) what comes down by one way: the classes of its home lane. */
static void count_way(struct both *b, uint32_t way, int by)
{
	const struct fors_leveller *l = b->leveller;
	const struct fors_fabric *fabric = l->fabric;
	uint32_t to = way / fabric->nlanes / fabric->nspines, spine = way / fabric->nlanes % fabric->nspines;
	uint32_t *load = &l->down[to * fabric->nlanes + l->level->down[way]], class;

	for (uint32_t copy = 0;
	     (class = fors_home_class(fabric->nlanes, copy, way % fabric->nlanes)) < l->level->nclasses; copy++)
		for (uint32_t pair = to; pair < fabric->nleaves * fabric->nleaves; pair += fabric->nleaves)
			if (counts(l, pair, class) && fabric->lane[*fors_leveller_entry(l, pair, class)].spine == spine)
				*load += (uint32_t)by * l->weight[pair / fabric->nleaves];
}

static void set_way(struct both *b, uint32_t way, uint8_t lane)
{
	count_way(b, way, -1);
	b->leveller->level->down[way] = lane;
	count_way(b, way, 1);
}

static void make_step(struct both *b, const struct step *step, uint32_t now)
{
	uint32_t nclasses = b->leveller->level->nclasses, until = now + STAY + now % 5;

	if (step->unit != FORS_NONE) {
		fors_leveller_move(b->leveller, step->unit / nclasses, step->unit % nclasses, step->lane);
		b->unit_free[step->unit] = until;
		return;
	}
	set_way(b, step->way, step->lane);
	b->way_free[step->way] = until;
}

/* The next link above the cap after `link`, cyclically; there is one. Links are numbered as in level_moves.c. */
static size_t next_over(const struct both *b, size_t link)
{
	const struct fors_leveller *l = b->leveller;

	do
		link = link + 1 < 2 * b->nlinks ? link + 1 : 0;
	while (!is_above(b, (link % 2 ? l->down : l->up) + link / 2));
	return link;
}

/* No link above the cap any more? */
static bool search(struct both *b)
{
	uint64_t least;
	uint32_t end = STEPS;
	size_t link = 0;

	memset(b->unit_free, 0, b->nunits * sizeof(*b->unit_free));
	memset(b->way_free, 0, b->nways * sizeof(*b->way_free));
	count_surplus(b);
	least = b->surplus;
	for (uint32_t now = 1; now < end && b->surplus && b->effort; now++) {
		struct step step;

		link = next_over(b, link);
		step = find_step(b, link, now);
		if (step.gain == INT64_MAX)
			continue;
		make_step(b, &step, now);
		b->surplus += (uint64_t)step.gain;
		if (b->surplus < least) {
			least = b->surplus;
			end = now + STEPS;
		}
	}
	return !b->surplus;
}

/* ---- back ---- */

/* Ways down that need not have changed take their cable of before. */
static void return_ways(struct both *b, const uint8_t *down)
{
	struct fors_leveller *l = b->leveller;

	for (uint32_t way = 0; way < b->nways; way++) {
		uint8_t now = l->level->down[way];
		const uint32_t *load = l->down + way / l->fabric->nlanes / l->fabric->nspines * l->fabric->nlanes;

		if (now == down[way])
			continue;
		set_way(b, way, down[way]);
		if (is_above(b, &load[down[way]]))
			set_way(b, way, now);
	}
}

/* So do units. */
static void return_units(struct both *b, const uint8_t *lane)
{
	struct fors_leveller *l = b->leveller;
	uint32_t nleaves = l->fabric->nleaves, nlanes = l->fabric->nlanes, nclasses = l->level->nclasses;

	for (uint32_t unit = 0; unit < b->nunits; unit++) {
		uint32_t pair = unit / nclasses, class = unit % nclasses;
		uint8_t now = l->level->lane[unit], onto;

		if (now == lane[unit] || !counts(l, pair, class))
			continue;
		fors_leveller_move(l, pair, class, lane[unit]);
		onto = fors_leveller_down(l, pair, class, lane[unit]);
		if (is_above(b, &l->up[pair / nleaves * nlanes + lane[unit]]) ||
		    is_above(b, &l->down[pair % nleaves * nlanes + onto]))
			fors_leveller_move(l, pair, class, now);
	}
}

/* ---- all of it ---- */

/* The load of the fullest link with which a choice is kept. What the cables that ever were make best is home: that costs nothing. */
static uint32_t worth_keeping(const struct fors_leveller *l)
{
	uint32_t now = fors_leveller_fullest(l);

	return l->is_for_ever ? now - 1 : now * (GAIN - 1) / GAIN;
}

/*
 * As full as the fullest link may be: the least first, then half way from what failed to what is worth it. What was
 * found at last is the choice.
 */
static void lower(struct both *b, const uint8_t *lane, const uint8_t *down)
{
	struct fors_leveller *l = b->leveller;
	uint32_t least = l->enough, worth = worth_keeping(l);
	uint64_t share = b->effort / ATTEMPTS;

	for (int attempt = 0; attempt < ATTEMPTS && least <= worth; attempt++) {
		l->cap = attempt ? least + (worth - least) / 2 : least;
		b->effort = share;
		keep(b);
		if (!search(b)) {
			least = l->cap + 1;
			restore(b);
			continue;
		}
		return_ways(b, down);
		return_units(b, lane);
		if (l->cap == least)
			break;
		worth = l->cap - 1;
	}
}

/* Ways that may be looked at. */
static uint64_t effort_for(size_t nunits)
{
	uint64_t usual = (uint64_t)nunits * EFFORT, more = (uint64_t)nunits * SMALL_EFFORT;

	more = more < SMALL ? more : SMALL;
	return more > usual ? more : usual;
}

bool fors_leveller_move_all(struct fors_leveller *leveller)
{
	uint8_t *lane, *down;
	bool is_good;
	struct both b;

	if (!both_alloc(&b, leveller))
		return false;
	lane = malloc(b.nunits + 1);
	down = malloc(b.nways + 1);
	is_good = lane && down;
	if (is_good) {
		memcpy(lane, leveller->level->lane, b.nunits);
		memcpy(down, leveller->level->down, b.nways);
		b.effort = effort_for(b.nunits);
		lower(&b, lane, down);
	}
	both_free(&b);
	free(lane);
	free(down);
	return is_good;
}
