/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leveller.h - what the files of the levelling share (private to level*.c).
 *
 * leveller.c      looking at units, lanes and links
 * level_build.c   the choice of lanes by load
 * level_own.c     lanes for units that can stay in their own round
 * level_search.c  links that are too full pass units on; with parallel cables what is at home moves, too, and ways down
 *
 * A pair is leaf * nleaves + to, a unit a pair and a class (level.h). One thread at a time.
 */
#ifndef FORS_CORE_TABLES_LEVELLER_H
#define FORS_CORE_TABLES_LEVELLER_H

#include "level.h"

#define FORS_UNDECIDED 254 /* a displaced unit whose lane is not chosen yet (lanes end at 253) */

/* What the choice goes by. */
struct fors_leveller {
	const struct fors_fabric *fabric;
	struct fors_level *level;
	const struct fors_level *healthy; /* where units are at home that vary, or whose home lane never was; or NULL */
	const bool *live;		  /* [leaf * nlanes + lane]: the cables that count as living */
	const uint32_t *weight; /* [leaf]: load of a unit of that leaf, its flows in the least common measure */
	const bool *varies;	/* [to * nclasses + class]; NULL: none */
	bool is_weighted;	/* some weigh more than 1 */
	bool is_ranked_only;	/* newcomers do not count */
	uint32_t *up;		/* [leaf * nlanes + lane]: load */
	uint32_t *down;		/* the same */
	uint64_t *pair;		/* sort key of each pair of leaves with displaced entries; the pair is its low half */
	uint32_t npairs;
	bool *exists; /* [to * nclasses + class]: a place of the base LIDs */
	uint32_t
		target; /* load of the fullest link if all were spread evenly, up to which a unit need not look for better */
	uint32_t cap;	 /* load that no link should exceed */
	bool *is_choosy; /* [pair]: most lanes lead from one leaf to the other */
	uint16_t *own;	 /* [class * nleaves + distance]: the round that the pattern gives to such units */
	uint32_t rounds; /* of the plan that is hoped for */
	uint64_t idle[FORS_MAX_LANES];	 /* rounds in which a lane idles at all leaves, as bits (when rounds are at most
					    64) */
	uint64_t *up_taken, *down_taken; /* [leaf * nlanes + lane]: rounds in which displaced units use it, as bits */
	uint64_t *displaced;		 /* [pair * nwords + class / 64]: units that are not at home, as bits */
	uint64_t *wanted;		 /* [to * nwords + class / 64]: some LID is in the class, as bits */
	uint32_t nwords;
	bool may_move_all;   /* where links are too full units at home move, too, and ways down */
	bool is_uneven;	     /* cables that live differ in what they carry */
	bool is_for_ever;    /* over all cables that ever were: it says where entries are at home */
	bool has_base_only;  /* one LID per port: classes without a place are not wanted */
	const uint8_t *home; /* [class]: its lane */
	uint32_t effort;     /* exchanges that level_own.c may still try */
};

/* Flows of a phase over the cable [leaf * nlanes + lane]; where all that live are alike they count as one. */
static inline uint32_t fors_leveller_capacity(const struct fors_leveller *leveller, size_t cable)
{
	return leveller->is_uneven ? leveller->fabric->cable[cable].capacity : 1;
}

/* Home lane of all units of a class: a table, for it is asked for each way looked at. */
static inline uint32_t fors_leveller_home(const struct fors_leveller *leveller, uint32_t class)
{
	return leveller->home[class];
}

/* The units of a pair that are not at home, number 64 * word .. 64 * word + 63, as bits. */
static inline uint64_t fors_leveller_displaced(const struct fors_leveller *leveller, uint32_t pair, uint32_t word)
{
	return leveller->displaced[(size_t)pair * leveller->nwords + word];
}

static inline bool fors_leveller_is_displaced(const struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	return fors_leveller_displaced(leveller, pair, class / 64) >> class % 64 & 1;
}

/* The lane chosen for a unit, FORS_UNDECIDED: none yet. */
static inline uint8_t *fors_leveller_entry(const struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	return &leveller->level->lane[(size_t)pair * leveller->level->nclasses + class];
}

/* The downlink of a unit of `pair` and `class` that goes up over `lane`, FORS_NO_LANE: that way is dead. */
static inline uint8_t fors_leveller_down(const struct fors_leveller *leveller, uint32_t pair, uint32_t class,
					 uint32_t lane)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint32_t leaf = pair / fabric->nleaves, to = pair % fabric->nleaves;

	if (!leveller->live[(size_t)leaf * fabric->nlanes + lane])
		return FORS_NO_LANE;
	return fors_level_down(leveller->level, fabric, fabric->lane[lane].spine, to,
			       fors_leveller_home(leveller, class));
}

/* The lane that the entry of a unit has while nothing is dead; FORS_NO_LANE: it is still to be chosen. */
static inline uint8_t fors_leveller_healthy(const struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	uint32_t nclasses = leveller->level->nclasses;

	if (leveller->healthy)
		return leveller->healthy->lane[(size_t)pair * nclasses + class];
	if (leveller->varies && leveller->varies[(size_t)(pair % leveller->fabric->nleaves) * nclasses + class])
		return FORS_NO_LANE;
	return (uint8_t)fors_leveller_home(leveller, class);
}

/* Is the entry at home for ever? */
static inline bool fors_leveller_is_home(const struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	const struct fors_fabric *fabric = leveller->fabric;
	uint32_t nleaves = fabric->nleaves, nlanes = fabric->nlanes;
	uint8_t lane = fors_leveller_healthy(leveller, pair, class), down = lane;

	if (lane == FORS_NO_LANE)
		return false;
	if (leveller->healthy)
		down = fors_level_down(leveller->healthy, fabric, fabric->lane[lane].spine, pair % nleaves,
				       fors_leveller_home(leveller, class));
	return leveller->live[(size_t)(pair / nleaves) * nlanes + lane] &&
	       leveller->live[(size_t)(pair % nleaves) * nlanes + down];
}

/* From the source leaf on to the destination, cyclically. */
static inline uint32_t fors_leveller_distance(const struct fors_leveller *leveller, uint32_t pair)
{
	uint32_t nleaves = leveller->fabric->nleaves;

	return (pair % nleaves + nleaves - pair / nleaves) % nleaves;
}

/* The round that the pattern gives to a unit. */
static inline uint32_t fors_leveller_own_round(const struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	return leveller->own[class * leveller->fabric->nleaves + fors_leveller_distance(leveller, pair)];
}

/* Add (by = 1) or remove (by = -1) a unit that has a lane. */
static inline void fors_leveller_count(struct fors_leveller *leveller, uint32_t pair, uint32_t class, int by)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;
	uint8_t lane = *fors_leveller_entry(leveller, pair, class),
		down = fors_leveller_down(leveller, pair, class, lane);

	leveller->up[pair / nleaves * nlanes + lane] += (uint32_t)by * leveller->weight[pair / nleaves];
	leveller->down[pair % nleaves * nlanes + down] += (uint32_t)by * leveller->weight[pair / nleaves];
}

/* Move a unit that has a lane to another. */
static inline void fors_leveller_move(struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint8_t lane)
{
	fors_leveller_count(leveller, pair, class, -1);
	*fors_leveller_entry(leveller, pair, class) = lane;
	fors_leveller_count(leveller, pair, class, 1);
}

/* Give a lane to a unit that has none; FORS_NO_LANE: no way leads there. */
static inline void fors_leveller_assign(struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint8_t lane)
{
	*fors_leveller_entry(leveller, pair, class) = lane;
	if (lane != FORS_NO_LANE)
		fors_leveller_count(leveller, pair, class, 1);
}

/* How full a way is: its fuller end counts, then both. */
static inline uint64_t fors_leveller_fullness(const struct fors_leveller *leveller, uint32_t pair, uint32_t lane,
					      uint32_t down)
{
	uint32_t nleaves = leveller->fabric->nleaves, nlanes = leveller->fabric->nlanes;
	uint32_t u = leveller->up[pair / nleaves * nlanes + lane], d = leveller->down[pair % nleaves * nlanes + down];

	return (uint64_t)(u > d ? u : d) * 0x100000000 + u + d;
}

/* Called for a unit whose lane is not chosen yet. */
typedef void (*leveller_visit)(struct fors_leveller *leveller, uint32_t pair, uint32_t class);
/* May the unit go up over `lane` and down over `down`? */
typedef bool (*leveller_suits)(const struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint32_t lane,
			       uint32_t down);

/* ---- leveller.c ---- */

/* Visit the undecided units of pairs number from..to-1 in order, those of base LIDs (base) or the others. */
void fors_leveller_visit(struct fors_leveller *leveller, uint32_t from, uint32_t to, bool base, leveller_visit visit);
/* The least full lane that leads there and suits (NULL: any), FORS_NO_LANE: none. */
uint8_t fors_leveller_least_full(const struct fors_leveller *leveller, uint32_t pair, uint32_t class,
				 leveller_suits suits);
/* The first of the lanes first, first + step and so on, cyclically, that leads there and suits; FORS_NO_LANE: none. */
uint8_t fors_leveller_first(const struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint32_t first,
			    uint32_t step, leveller_suits suits);
/* The lane to look at first for a unit: one that idles in its own round, if any does. */
uint32_t fors_leveller_first_lane(const struct fors_leveller *leveller, uint32_t pair, uint32_t class);
/* The units of the fullest link, by capacity. */
uint32_t fors_leveller_fullest(const struct fors_leveller *leveller);

/* ---- level_own.c ---- */

/* Estimate the rounds of a plan, and the own round of every unit. */
void fors_leveller_find_rounds(struct fors_leveller *leveller);
/* Choose lanes for units that find an idle one in their own round, where plans are made by such a pattern. */
void fors_leveller_choose_own(struct fors_leveller *leveller);

/* ---- level_search.c ---- */

/*
 * Take what is above the least cap, or as low a one as can be, off all links; on entry .cap is what is forced on a link.
 * Displaced units move; if .may_move_all, where that does not do, those at home too, and ways down. False: out of memory.
 */
bool fors_leveller_search(struct fors_leveller *leveller);

#endif
