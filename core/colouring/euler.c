/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * euler.c - halving a bipartite graph along alternating walks.
 *
 * At every node tie its edges together in pairs; one may be left over. In every
 * group tie the left-overs of its nodes together in pairs; again one may be left.
 * Each edge is now tied to at most one edge at its left end and to at most one at
 * its right end, so the edges fall apart into walks and closed walks that use left
 * and right ties in turn. A closed one has as many left ties as right ones, hence an
 * even number of edges. So the edges of every walk can be called 0, 1, 0, 1, ...,
 * and of each tied pair one is 0 and one is 1: nodes and groups are halved, up
 * to their odd edge. (This is the proof of de Werra's balanced colourings for
 * nested families, and the Euler partition of Gabow where there are no groups.)
 */
#include "euler.h"

#include <string.h>

#define UNSET 2

/* The tie of edge e at one side. */
static inline uint32_t *tie_of(struct fors_mates *mate, uint32_t e, int s)
{
	return s == 0 ? &mate[e].left : &mate[e].right;
}

static inline void tie(struct fors_mates *mate, uint32_t e, uint32_t f, int s)
{
	*tie_of(mate, e, s) = f;
	*tie_of(mate, f, s) = e;
}

/*
 * Tie the edges of side s. node[i] is the node of the i-th edge in the order of
 * this side, order[i] that edge (NULL: i itself). Inlined twice, for speed.
 */
static inline __attribute__((always_inline)) void tie_side(uint32_t n, const uint32_t *order, const uint16_t *node,
							   const uint16_t *group, struct fors_mates *mate, int s)
{
	uint32_t left_over = FORS_NO_EDGE, group_of_it = 0;

	for (uint32_t i = 0; i < n;) {
		uint32_t e = order ? order[i] : i;

		if (i + 1 < n && node[i] == node[i + 1]) {
			tie(mate, e, order ? order[i + 1] : i + 1, s);
			i += 2;
			continue;
		}
		*tie_of(mate, e, s) = FORS_NO_EDGE;
		if (group && left_over != FORS_NO_EDGE && group[node[i]] == group_of_it) {
			tie(mate, e, left_over, s);
			left_over = FORS_NO_EDGE;
		} else if (group) {
			left_over = e;
			group_of_it = group[node[i]];
		}
		i++;
	}
}

/* Call e `value` and go on over right and left ties in turn until the walk ends. */
static void follow(const struct fors_mates *mate, uint8_t *half, uint32_t e, uint8_t value)
{
	do {
		uint32_t f = mate[e].right;

		half[e] = value;
		if (f == FORS_NO_EDGE)
			return;
		half[f] = value ^ 1;
		e = mate[f].left;
	} while (e != FORS_NO_EDGE && half[e] == UNSET);
}

void fors_euler_halve(const struct fors_edges *edges, const struct fors_colour_side side[2], struct fors_mates *mate,
		      uint8_t *half)
{
	uint32_t n = edges->n;

	if (side[0].ngroups)
		tie_side(n, NULL, edges->left, side[0].group, mate, 0);
	else
		tie_side(n, NULL, edges->left, NULL, mate, 0);
	if (side[1].ngroups)
		tie_side(n, edges->by_right, edges->right, side[1].group, mate, 1);
	else
		tie_side(n, edges->by_right, edges->right, NULL, mate, 1);
	memset(half, UNSET, n);
	for (uint32_t e = 0; e < n; e++) {
		uint32_t back;

		if (half[e] != UNSET)
			continue;
		follow(mate, half, e, 0);
		back = mate[e].left;
		if (back != FORS_NO_EDGE && half[back] == UNSET)
			follow(mate, half, back, 1);
	}
}
