/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_own.c - lanes for displaced units that can stay in their own round.
 *
 * In the rounds planner's pattern (core/planners/flows/units_begin.c) the unit of class k and distance delta belongs to round
 * z[k] + delta (home.h), and lane j carries units at home in all rounds but z[j] (and more, where rounds abound). A
 * displaced unit that goes over a lane that idles in its round needs no other round, and
 * nothing has to make room for it. Such units choose here, before all others.
 *
 * Where there are no more rounds than leaves, everything else is fixed: each leaf sends one unit of each class in
 * each round. But a class may give its rounds to the distances in any order. If two units of
 * a leaf want the one lane that idles in a round, an exchange of two distances of a class can bring one of them to a
 * round in which two lanes idle. The planner finds the order again by looking which rounds the lanes chosen
 * here idle in.
 */
#include "leveller.h"

#define REORDER_EFFORT 200 /* exchanges of rounds tried */
#define REORDER_UNITS 8	   /* with more units without a lane there is no hope for a plan in so few rounds */

/* Cables of a leaf that live. */
static uint32_t count_live(const struct fors_leveller *leveller, uint32_t leaf)
{
	uint32_t nlanes = leveller->fabric->nlanes, nlive = 0;

	for (uint32_t lane = 0; lane < nlanes; lane++)
		nlive += leveller->live[(size_t)leaf * nlanes + lane];
	return nlive;
}

/* As many rounds as there are leaves, and as the poorest leaf needs for its units. */
static void estimate_rounds(struct fors_leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint32_t places = 0;

	for (uint32_t i = 0; i < fabric->nleaves * leveller->level->nclasses; i++)
		places += leveller->exists[i];
	leveller->rounds = fabric->nleaves;
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++) {
		uint32_t nlive = count_live(leveller, leaf), own = 0;

		for (uint32_t class = 0; class < leveller->level->nclasses; class += 1)
			own += leveller->exists[leaf * leveller->level->nclasses + class];
		if (nlive && (places - own + nlive - 1) / nlive > leveller->rounds)
			leveller->rounds = (places - own + nlive - 1) / nlive;
	}
}

/* The pattern's rounds, before anything is displaced. */
void fors_leveller_find_rounds(struct fors_leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;

	estimate_rounds(leveller);
	for (uint32_t class = 0; class < leveller->level->nclasses; class += 1)
		for (uint32_t delta = 0; delta < nleaves; delta++)
			leveller->own[class * nleaves + delta] =
				(uint16_t)((fors_home_class_shift(nlanes, nleaves, leveller->rounds, class) + delta) %
					   leveller->rounds);
}

/* The rounds in which no unit at home uses the lane, at any leaf, as bits. */
static uint64_t idle_rounds(const struct fors_leveller *leveller, uint32_t lane)
{
	uint32_t nlanes = leveller->fabric->nlanes, shift = fors_home_shift(nlanes, leveller->rounds, lane);
	uint32_t copies = fors_home_class_copy(nlanes, leveller->level->nclasses);
	uint64_t idle = 0;

	for (uint32_t round = 0; round < leveller->rounds; round++) {
		uint32_t since = (round + leveller->rounds - shift) % leveller->rounds;

		if (since == 0 || since > copies * (leveller->fabric->nleaves - 1))
			idle |= UINT64_C(1) << round;
	}
	return idle;
}

/* Do both links idle in the unit's own round, and does no other displaced unit use them then? */
static bool is_idle(const struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint32_t lane, uint32_t down)
{
	uint32_t nlanes = leveller->fabric->nlanes, nleaves = leveller->fabric->nleaves;
	uint32_t round = fors_leveller_own_round(leveller, pair, class);
	uint64_t taken = leveller->up_taken[pair / nleaves * nlanes + lane] |
			 leveller->down_taken[pair % nleaves * nlanes + down];

	return (leveller->idle[lane] & leveller->idle[down] & ~taken) >> round & 1;
}

/*
 * Choose a lane where the unit can stay in its own round, if there is one. Those that idle then follow each other, and
 * the last of them is taken: units of neighbouring classes that began with the first would all end on one cable beside dead
 * neighbours, and traffic without a schedule with them.
 */
static void choose_own(struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t nlanes = leveller->fabric->nlanes, nleaves = leveller->fabric->nleaves;
	uint64_t bit = UINT64_C(1) << fors_leveller_own_round(leveller, pair, class);
	uint8_t lane;

	/* Pairs with few lanes in common cannot be choosy, and others have to make room for them. */
	if (!leveller->is_choosy[pair])
		return;
	lane = fors_leveller_first(leveller, pair, class, fors_leveller_first_lane(leveller, pair, class) + nlanes - 1,
				   nlanes - 1, is_idle);
	if (lane == FORS_NO_LANE)
		return;
	leveller->up_taken[pair / nleaves * nlanes + lane] |= bit;
	leveller->down_taken[pair % nleaves * nlanes + fors_leveller_down(leveller, pair, class, lane)] |= bit;
	fors_leveller_assign(leveller, pair, class, lane);
}

/* Is this an entry of the base LIDs that is displaced, between leaves with many lanes in common? */
static bool is_movable(const struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t nleaves = leveller->fabric->nleaves;

	return leveller->exists[(size_t)(pair % nleaves) * leveller->level->nclasses + class] &&
	       fors_leveller_is_displaced(leveller, pair, class) && leveller->is_choosy[pair];
}

/* Undo choose_own(). */
static void unchoose(struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t nlanes = leveller->fabric->nlanes, nleaves = leveller->fabric->nleaves;
	uint64_t bit = UINT64_C(1) << fors_leveller_own_round(leveller, pair, class);
	uint8_t *lane = fors_leveller_entry(leveller, pair, class);

	if (*lane == FORS_UNDECIDED)
		return;
	fors_leveller_count(leveller, pair, class, -1);
	leveller->up_taken[pair / nleaves * nlanes + *lane] &= ~bit;
	leveller->down_taken[pair % nleaves * nlanes + fors_leveller_down(leveller, pair, class, *lane)] &= ~bit;
	*lane = FORS_UNDECIDED;
}

/* Take all displaced units of a class and a distance off their lanes; how many had one. */
static uint32_t unchoose_all(struct fors_leveller *leveller, uint32_t class, uint32_t delta)
{
	uint32_t nleaves = leveller->fabric->nleaves, had = 0;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++) {
		uint32_t pair = leaf * nleaves + (leaf + delta) % nleaves;

		if (!is_movable(leveller, pair, class))
			continue;
		had += *fors_leveller_entry(leveller, pair, class) != FORS_UNDECIDED;
		unchoose(leveller, pair, class);
	}
	return had;
}

/* choose_own() for all of them; how many got a lane. */
static uint32_t choose_all_own(struct fors_leveller *leveller, uint32_t class, uint32_t delta)
{
	uint32_t nleaves = leveller->fabric->nleaves, got = 0;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++) {
		uint32_t pair = leaf * nleaves + (leaf + delta) % nleaves;

		if (!is_movable(leveller, pair, class))
			continue;
		choose_own(leveller, pair, class);
		got += *fors_leveller_entry(leveller, pair, class) != FORS_UNDECIDED;
	}
	return got;
}

static void swap_rounds(struct fors_leveller *leveller, uint32_t class, uint32_t delta, uint32_t other)
{
	uint16_t *own = leveller->own + class * leveller->fabric->nleaves, round = own[delta];

	own[delta] = own[other];
	own[other] = round;
}

/* Exchange the rounds of two distances if more units then find a lane in their own round. */
static bool try_swap(struct fors_leveller *leveller, uint32_t class, uint32_t delta, uint32_t other)
{
	uint32_t before = unchoose_all(leveller, class, delta) + unchoose_all(leveller, class, other), after;

	swap_rounds(leveller, class, delta, other);
	after = choose_all_own(leveller, class, delta) + choose_all_own(leveller, class, other);
	if (after > before)
		return true;
	unchoose_all(leveller, class, delta);
	unchoose_all(leveller, class, other);
	swap_rounds(leveller, class, delta, other);
	choose_all_own(leveller, class, delta);
	choose_all_own(leveller, class, other);
	return false;
}

/* Find an exchange that gives a unit a lane in its own round. */
static bool find_swap(struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	for (uint32_t other = 1; other < leveller->fabric->nleaves && leveller->effort > 0; other++) {
		if (other == fors_leveller_distance(leveller, pair))
			continue;
		leveller->effort--;
		if (try_swap(leveller, class, fors_leveller_distance(leveller, pair), other))
			return true;
	}
	return false;
}

/* Let one unit have the place of another, `rival`, if that finds a new one by an exchange. */
static bool give_way(struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint32_t rival,
		     uint32_t rival_class)
{
	if (!is_movable(leveller, rival, rival_class) ||
	    *fors_leveller_entry(leveller, rival, rival_class) == FORS_UNDECIDED ||
	    fors_leveller_own_round(leveller, rival, rival_class) != fors_leveller_own_round(leveller, pair, class))
		return false;
	unchoose(leveller, rival, rival_class);
	choose_own(leveller, pair, class);
	if (*fors_leveller_entry(leveller, pair, class) != FORS_UNDECIDED && find_swap(leveller, rival, rival_class))
		return true;
	unchoose(leveller, pair, class);
	choose_own(leveller, rival, rival_class);
	return false;
}

/* Try an exchange for a unit without a lane, or for one that leaves or enters the same leaf in its round. */
static bool help(struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t nleaves = leveller->fabric->nleaves, leaf = pair / nleaves, to = pair % nleaves;

	if (find_swap(leveller, pair, class))
		return true;
	for (uint32_t other = 0; other < nleaves; other++)
		for (uint32_t rival = 0; rival < leveller->level->nclasses; rival++)
			if ((other != leaf && other != to &&
			     (give_way(leveller, pair, class, leaf * nleaves + other, rival) ||
			      give_way(leveller, pair, class, other * nleaves + to, rival))) ||
			    (rival != class && give_way(leveller, pair, class, pair, rival)))
				return true;
	return false;
}

/*
 * Units that found no idle lane in their own round. In a plan with a round for each leaf and no more, nothing else
 * can move for them; but the pattern may give the distances of a class to the rounds in any order, and the planner
 * reads the order off the lanes that are chosen here.
 */
static void reorder(struct fors_leveller *leveller)
{
	leveller->effort = REORDER_EFFORT;
	for (uint32_t i = 0; i < leveller->npairs && leveller->effort > 0; i++) {
		uint32_t pair = (uint32_t)leveller->pair[i];

		for (uint32_t class = 0; class < leveller->level->nclasses; class += 1)
			if (*fors_leveller_entry(leveller, pair, class) == FORS_UNDECIDED &&
			    is_movable(leveller, pair, class))
				help(leveller, pair, class);
	}
}

static uint32_t count_undecided(const struct fors_leveller *leveller)
{
	uint32_t undecided = 0;

	for (uint32_t i = 0; i < leveller->npairs; i++)
		for (uint32_t class = 0; class < leveller->level->nclasses; class += 1)
			undecided +=
				*fors_leveller_entry(leveller, (uint32_t)leveller->pair[i], class) == FORS_UNDECIDED;
	return undecided;
}

void fors_leveller_choose_own(struct fors_leveller *leveller)
{
	const struct fors_fabric *fabric = leveller->fabric;

	if (leveller->rounds > 64 || fabric->nlanes > fabric->nslots)
		return;
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		leveller->idle[lane] = idle_rounds(leveller, lane);
	fors_leveller_visit(leveller, 0, leveller->npairs, true, choose_own);
	/* Exchanges need rounds in which two lanes idle, so more lanes than rounds. */
	if (leveller->rounds == fabric->nleaves && fabric->nlanes > fabric->nleaves &&
	    leveller->level->nclasses == fabric->nlanes && count_undecided(leveller) <= REORDER_UNITS)
		reorder(leveller);
}
