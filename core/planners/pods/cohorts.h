/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cohorts.h - the closed form of regular three-level trees: a round for every unit.
 *
 * A *unit* is what the m1 servers of a leaf send to one server, one after another, in a *round* of m1 phases. Let
 * blocks be the numbers 0 .. npods-1, tau a permutation of them with tau^m2 = 1, beta[x] a block for each number x of
 * a server in its leaf. The unit from leaf (p,y) to server x of leaf (q,y') has its round by v = y' - y mod m2 and C =
 * q - p + beta[x] mod npods: round (tau^-y'(C), v). doc/planners-levels.md proves that no link, leaf or server has two
 * units in a round at home, and what follows. The m2 units from a pod to a server are an *item*.
 *
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_PLANNERS_PODS_COHORTS_H
#define FORS_CORE_PLANNERS_PODS_COHORTS_H

#include "ways3.h"

/*
 * How different the blocks beta are: the less, the fewer entries move when tops fail, the more, the more failures in
 * one plane there is room for.
 */
enum fors_cohorts_choice { FORS_COHORTS_SHARED, FORS_COHORTS_SOME, FORS_COHORTS_SPREAD, FORS_COHORTS_CHOICES };

struct fors_cohorts {
	const struct fors_lanes3 *lanes; /* borrowed; regular */
	uint32_t m1, m2, npods;
	uint32_t nrounds; /* npods * m2 */
	uint16_t *power;  /* [i * npods + block]: tau^i of the block, i = 0 .. m2-1 */
	uint16_t *beta;	  /* per x */
	uint16_t *cohort; /* [pod * nslots + slot]: of the item from that pod */
	uint8_t *turn;	  /* the same: leaf y serves it in round (cohort, turn - y mod m2) */
	uint32_t *slot;	  /* [pod * m2 + y]: the first slot of that leaf */
	uint32_t *leaf;	  /* [pod * m2 + y]: the leaf */
};

/* Of a regular tree, in *cohorts, owned by the caller (fors_cohorts_free()). Errors: FORS_ENOMEM. */
enum fors_err fors_cohorts_new(const struct fors_lanes3 *lanes, enum fors_cohorts_choice choice,
			       struct fors_cohorts **cohorts, struct fors_error *error);
void fors_cohorts_free(struct fors_cohorts *cohorts);

/*
 * Write the ways of an item from a pod to a slot: its lane at all leaves of the pod where it leads there, else nothing;
 * and its rung at their mid, if it is for another pod. A lane of FORS_NONE: nothing at leaves; a rung of FORS_NONE:
 * the mid's entry stays.
 */
void fors_cohorts_send(const struct fors_cohorts *cohorts, struct fors_ways3 *ways, uint32_t pod, uint32_t slot,
		       uint32_t lane, uint32_t rung);

/* The round of the unit from a leaf to a slot, below nrounds. */
static inline uint32_t fors_cohorts_round(const struct fors_cohorts *cohorts, uint32_t leaf, uint32_t slot)
{
	const struct fors_pods *pods = cohorts->lanes->pods;
	size_t item = (size_t)pods->leaf[leaf].pod * pods->nslots + slot;
	uint32_t y = pods->leaf[leaf].number, turn = cohorts->turn[item];

	turn = turn < y ? turn + cohorts->m2 - y : turn - y;
	return cohorts->cohort[item] * cohorts->m2 + fors_lanes3_modulo(turn, cohorts->m2);
}

#endif
