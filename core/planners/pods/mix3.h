/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mix3.h - into which parts items are cut, and how many cohorts there are of which length (private to this room).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_MIX3_H
#define FORS_CORE_PLANNERS_PODS_MIX3_H

#include "lanes3.h"

#define FORS_MIX3_LENGTHS 2

/*
 * A part is what some leaves of a pod send to a server, in a cohort of as many rounds. Items are cut in one of two
 * kinds; those of two pods are all of one kind, and each pod has items of kind 1 with as many others.
 */
struct fors_mix3 {
	uint32_t nplanes, nlevel, npods; /* of the tree; nlevel: leaves of a pod */
	uint32_t length[FORS_MIX3_LENGTHS];
	uint32_t ncohorts[FORS_MIX3_LENGTHS];
	uint32_t nparts[2][FORS_MIX3_LENGTHS]; /* [kind][which length]: of an item */
	uint32_t inside[FORS_MIX3_LENGTHS];    /* of an item that stays in its pod; the last one may be shorter */
	uint32_t nother;		       /* pods that a pod has items of kind 1 with */
};

/*
 * Number `which` of all mixes for exactly nrounds rounds that have room for all items, as far as pods' live rungs say, by
 * how many parts they have; false: there are not so many.
 */
bool fors_mix3_choose(const struct fors_lanes3 *lanes, uint32_t nrounds, uint32_t which, struct fors_mix3 *mix);

/* The kind of the items of two pods. */
uint32_t fors_mix3_kind(const struct fors_mix3 *mix, uint32_t p, uint32_t q);

/* For which of the lengths the items of two pods use a plane, so that no item uses one twice. */
uint32_t fors_mix3_of_plane(const struct fors_mix3 *mix, uint32_t p, uint32_t q, uint32_t plane);

/* The first round of a cohort, those of the first length first; and which of the lengths it has. */
uint32_t fors_mix3_first_round(const struct fors_mix3 *mix, uint32_t cohort);
static inline uint32_t fors_mix3_of_cohort(const struct fors_mix3 *mix, uint32_t cohort)
{
	return cohort >= mix->ncohorts[0];
}

#endif
