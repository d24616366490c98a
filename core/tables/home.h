/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * home.h - where every LID is at home: the arithmetic that tables and planners share, in one copy.
 *
 * Count the server places of all leaves, leaf by leaf: the place (leaf, slot) has number g = N leaf + slot, N slots to
 * a leaf, empty ones counted too. A switch may only look at the destination, so the lane of an entry has to follow
 * from g and the path index i, and it does by going round the S lanes:
 *
 *      home(g, i) = (g + i) mod S
 *
 * Base LIDs are D-mod-K over the grid then, for any S and N, and what knows nothing of fors is balanced as well as a
 * healthy tree allows. Every further path index is D-mod-K again, one lane further; so the first S path indices of a
 * place are at home on S different lanes, and 2^LMC >= S is just what it takes for each server to be reached over each
 * lane. The other way round, the path index that is at home on lane k is (k - home(g, 0)) mod S. Places and lanes are
 * kept, dead or alive, and nothing else goes in: a failure moves no home.
 *
 * A leaf with more slots than lanes has several places with the same home. Where they have to be told apart each has a
 * class, home + S copy, its copy the number of places before it on the same home. The places of a leaf have different
 * classes, and up to S of them one for each lane. (With a further path index a place is in another class of the same
 * copy.)
 *
 * The rounds planner's pattern (doc/planners-rounds.md) gives the unit of class c and leaf distance delta the round
 * z(c) + delta, and the levelling, which chooses lanes before there is a plan, has to know that round. For the lanes
 *
 *      z(k) = floor(k R / S),  R rounds
 *
 * A lane carries its units at home in the M1 - 1 rounds after z(k), so it idles in z(k), and these idle rounds
 * are spread evenly over all R. A second copy takes the next M1 - 1 rounds: z(k + S) = z(k) + M1 - 1.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_TABLES_HOME_H
#define FORS_CORE_TABLES_HOME_H

#include "core/fabric/fabric.h"

/* ---- lanes and path indices; nlanes is S ---- */

/* g: the number of the place (leaf, slot) in the grid of nslots slots per leaf. */
static inline uint32_t fors_home_place(uint32_t nslots, uint32_t leaf, uint32_t slot)
{
	return nslots * leaf + slot;
}

/* Home lane, 0..nlanes-1, of path index `index` (any number) of the place with number `place`; 0 without any lanes. */
static inline uint32_t fors_home(uint32_t nlanes, uint32_t place, uint32_t index)
{
	return nlanes ? (place + index) % nlanes : 0;
}

/* The same for the place (leaf, slot) of a fabric. */
static inline uint32_t fors_home_lane(const struct fors_fabric *fabric, uint32_t leaf, uint32_t slot, uint32_t index)
{
	return fors_home(fabric->nlanes, fors_home_place(fabric->nslots, leaf, slot), index);
}

/*
 * The path index at home on `lane`, of a place whose base LID is at home on `base` (both below nlanes): 0..nlanes-1, so
 * maybe one that the LMC does not give. No division: planners ask it for every flow.
 */
static inline uint32_t fors_home_index(uint32_t nlanes, uint32_t base, uint32_t lane)
{
	return lane >= base ? lane - base : lane + nlanes - base;
}

/* ---- LMC ---- */

/* Path indices of a port with this LMC: 0 .. 2^LMC - 1. */
static inline uint32_t fors_home_nindices(unsigned lmc)
{
	return UINT32_C(1) << lmc;
}

/* Has every lane a path index of every place at home, at this LMC? */
static inline bool fors_home_has_all(uint32_t nlanes, unsigned lmc)
{
	return fors_home_nindices(lmc) >= nlanes;
}

/* The least LMC at which that is so; above FORS_MAX_LMC where there are too many lanes for any. */
static inline unsigned fors_home_lmc(uint32_t nlanes)
{
	unsigned lmc = 0;

	while (!fors_home_has_all(nlanes, lmc))
		lmc++;
	return lmc;
}

/* ---- classes; nlanes > 0 ---- */

/* Classes of a leaf with nslots slots: whole copies, so also such as no place of the base LIDs is in. */
static inline uint32_t fors_home_nclasses(uint32_t nlanes, uint32_t nslots)
{
	return (nslots + nlanes - 1) / nlanes * nlanes;
}

/* Class of a path index at home on lane `home`, of the place in `slot`: below fors_home_nclasses(). */
static inline uint32_t fors_home_class(uint32_t nlanes, uint32_t slot, uint32_t home)
{
	return slot / nlanes * nlanes + home;
}

/* Does a copy start with the place in `slot`? All places from here to where the next one starts have its copy. */
static inline bool fors_home_starts_copy(uint32_t nlanes, uint32_t slot)
{
	return slot % nlanes == 0;
}

/* Home lane of a class. */
static inline uint32_t fors_home_class_lane(uint32_t nlanes, uint32_t class)
{
	return class % nlanes;
}

/* Copy of a class: how many places of its leaf come before it on the same home. */
static inline uint32_t fors_home_class_copy(uint32_t nlanes, uint32_t class)
{
	return class / nlanes;
}

/* ---- the pattern's rounds; nlanes > 0 ---- */

/*
 * z of a lane in a pattern of nrounds rounds: 0..nrounds-1, the round in which it idles at all leaves. 0 for all
 * lanes when nrounds is 0: lanes in step.
 */
static inline uint32_t fors_home_shift(uint32_t nlanes, uint32_t nrounds, uint32_t lane)
{
	return lane * nrounds / nlanes;
}

/* z of a class between nleaves leaves, not yet mod nrounds; 0 rounds as above. */
static inline uint32_t fors_home_class_shift(uint32_t nlanes, uint32_t nleaves, uint32_t nrounds, uint32_t class)
{
	return fors_home_shift(nlanes, nrounds, fors_home_class_lane(nlanes, class)) +
	       fors_home_class_copy(nlanes, class) * (nleaves - 1);
}

/*
 * The first lane with a shift of `round` or more, round < nrounds; lane 0 where none has. It is the one that idles in
 * that round, if any does, and the next one to idle where there are more rounds than lanes.
 */
static inline uint32_t fors_home_idle_lane(uint32_t nlanes, uint32_t nrounds, uint32_t round)
{
	return (round * nlanes + nrounds - 1) / nrounds % nlanes;
}

#endif
