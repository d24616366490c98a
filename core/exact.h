/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exact.h - what the files of the exact planner share (private to core/exact*.c).
 */
#ifndef FORS_CORE_EXACT_H
#define FORS_CORE_EXACT_H

#include "colour.h"
#include "fabric.h"
#include "split.h"

/* The graph whose colours are phases, and what its edges mean. */
struct fors_lane_graph {
	struct fors_multigraph graph;  /* left: up, right: down; it borrows the arrays below */
	uint16_t *left, *right, *mult; /* of each edge */
	uint8_t *way;		       /* of each edge; FORS_NO_LANE: inside the leaf */
	uint16_t *leaf_of;	       /* of each node */
	uint16_t *servers;	       /* n_a of each leaf */
};

/*
 * The graph of a split into T = nphases phases, in *lanes, to be released with fors_lane_graph_free(). It can be
 * coloured with T colours so that no node has two edges of a colour and no leaf more than n_a, up or down; groups are
 * there only when they are needed for the latter.
 * Errors: FORS_ELIMIT (too many nodes), FORS_ENOMEM; there is nothing to release then.
 */
enum fors_err fors_lane_graph_build(const struct fors_fabric *fabric, const struct fors_ways *ways,
				    const uint16_t *split, uint32_t nphases, struct fors_lane_graph *lanes,
				    struct fors_error *error);
void fors_lane_graph_free(struct fors_lane_graph *lanes);

/* Step 3 for one leaf: which of its n servers sends which flow. */
struct fors_senders {
	uint32_t n, nphases, nleaves;
	const uint16_t *to;	 /* nphases x n places: leaf that the flow goes to, FORS_NOBODY: no flow */
	const uint16_t *servers; /* n_b of each leaf: a sender has as many flows to leaf b */
	uint16_t *sender;	 /* nphases x n, to be filled: rank of the sender, in each phase each once */
	int32_t *excess;	 /* n x (nleaves + 1): scratch */
};
#define FORS_NOBODY 0xFFFF

/*
 * Fill sender[] by turns and swaps. False: no success within its budget (sender[] means nothing then), which does not
 * mean that there is no solution.
 */
bool fors_senders_find(const struct fors_senders *senders);

#endif
