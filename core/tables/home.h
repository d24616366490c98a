/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * home.h - where every LID is at home: the arithmetic that tables and planners share, in one copy.
 *
 * Each server place has a home lane (core/fabric/places_rank.c): that of its base LID. A switch may only look at the
 * destination, so the lanes of the further path indices i follow from it, by going round the S lanes:
 *
 *      home(i) = (home + i) mod S
 *
 * Base LIDs are D-mod-K over the ranks then, for any S and any population, and what knows nothing of fors is balanced as
 * well as a healthy tree allows. Every further path index is D-mod-K again, one lane further; so the first S path indices
 * of a place are at home on S different lanes, and 2^LMC >= S is just what it takes for each server to be reached over each
 * lane. The other way round, the path index that is at home on lane k is (k - home) mod S. Places, lanes and homes are
 * kept, dead or alive: a failure moves no home.
 *
 * A leaf with more places than lanes has several with the same home. Where they have to be told apart each has a
 * class, home + S copy, its copy the number of places before it on the same home. The places of a leaf have different
 * classes, and up to S of them that were ranked together one for each lane. (With a further path index a place is in
 * another class of the same copy.)
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

/* Home lane, 0..nlanes-1, of path index `index` (any number) of a place whose base LID is at home on `base`; 0 without any
 * lanes. */
static inline uint32_t fors_home(uint32_t nlanes, uint32_t base, uint32_t index)
{
	return nlanes ? (base + index) % nlanes : 0;
}

/* The same for the place (leaf, slot) of a fabric. */
static inline uint32_t fors_home_lane(const struct fors_fabric *fabric, uint32_t leaf, uint32_t slot, uint32_t index)
{
	return fors_home(fabric->nlanes, fors_slot(fabric, leaf, slot)->home, index);
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

/* Classes of a leaf of the fabric: whole copies, so also such as no place of the base LIDs is in. */
static inline uint32_t fors_home_nclasses(const struct fors_fabric *fabric)
{
	return fabric->nlanes * fabric->ncopies;
}

/* Class of a path index at home on lane `home`, of a place with this copy: below fors_home_nclasses(). */
static inline uint32_t fors_home_class(uint32_t nlanes, uint32_t copy, uint32_t home)
{
	return copy * nlanes + home;
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
