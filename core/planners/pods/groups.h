/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * groups.h - the closed form of regular three-level trees: a round for every unit.
 *
 * A *unit* is what the m1 servers of a leaf send to one server, one after another, in a *round* of m1 phases. Let
 * blocks be the numbers 0 .. npods-1, tau a permutation of them with tau^m2 = 1, beta[x] a block for each number x of
 * a server in its leaf. The unit from leaf (p,y) to server x of leaf (q,y') has its round by v = y' - y mod m2 and C =
 * q - p + beta[x] mod npods: round (tau^-y'(C), v). doc/planners-levels.md proves that no link, leaf or server has two
 * units in a round at home, and what follows. The m2 units from a pod to a server are an *item*.
 *
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_PLANNERS_PODS_GROUPS_H
#define FORS_CORE_PLANNERS_PODS_GROUPS_H

#include "ways.h"

/*
 * How different the blocks beta are: the less, the fewer entries move when tops fail, the more, the more failures in
 * one plane there is room for.
 */
enum fors_pods_groups_choice {
	FORS_PODS_GROUPS_SHARED,
	FORS_PODS_GROUPS_SOME,
	FORS_PODS_GROUPS_SPREAD,
	FORS_PODS_GROUPS_CHOICES
};

struct fors_pods_groups {
	const struct fors_pods_lanes *lanes; /* borrowed; regular */
	uint32_t m1, m2, npods;
	uint32_t nrounds; /* npods * m2 */
	uint16_t *power;  /* [i * npods + block]: tau^i of the block, i = 0 .. m2-1 */
	uint16_t *beta;	  /* per x */
	uint16_t *group;  /* [pod * nslots + slot]: of the item from that pod */
	uint8_t *turn;	  /* the same: leaf y serves it in round (group, turn - y mod m2) */
	uint32_t *slot;	  /* [pod * m2 + y]: the first slot of that leaf */
	uint32_t *leaf;	  /* [pod * m2 + y]: the leaf */
};

/* Of a regular tree, in *groups, owned by the caller (fors_pods_groups_free()). Errors: FORS_ENOMEM. */
enum fors_err fors_pods_groups_new(const struct fors_pods_lanes *lanes, enum fors_pods_groups_choice choice,
				   struct fors_pods_groups **groups, struct fors_error *error);
void fors_pods_groups_free(struct fors_pods_groups *groups);

/*
 * Write the ways of an item from a pod to a slot: its lane at all leaves of the pod where it leads there, else nothing;
 * and its rung at their mid, if it is for another pod. A lane of FORS_NONE: nothing at leaves; a rung of FORS_NONE:
 * the mid's entry stays.
 */
void fors_pods_groups_send(const struct fors_pods_groups *groups, struct fors_pods_ways *ways, uint32_t pod,
			   uint32_t slot, uint32_t lane, uint32_t rung);

/* The round of the unit from a leaf to a slot, below nrounds. */
static inline uint32_t fors_pods_groups_round(const struct fors_pods_groups *groups, uint32_t leaf, uint32_t slot)
{
	const struct fors_pods *pods = groups->lanes->pods;
	size_t item = (size_t)pods->leaf[leaf].pod * pods->nslots + slot;
	uint32_t y = pods->leaf[leaf].number, turn = groups->turn[item];

	turn = turn < y ? turn + groups->m2 - y : turn - y;
	return groups->group[item] * groups->m2 + fors_pods_lanes_modulo(turn, groups->m2);
}

#endif
