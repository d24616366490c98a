/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * euler.h - halving a bipartite graph along alternating walks; private to the colouring.
 * Thread rules: pure; working memory belongs to one thread at a time.
 */
#ifndef FORS_CORE_COLOURING_EULER_H
#define FORS_CORE_COLOURING_EULER_H

#include "colour.h"

#define FORS_NO_EDGE UINT32_MAX

/* A list of single edges in the order of both sides. All arrays are borrowed. */
struct fors_edges {
	uint32_t n;
	uint16_t *left;	    /* left node of edge e, ascending */
	uint16_t *right_of; /* right node of edge e */
	uint32_t *by_right; /* the edges in order of their right nodes */
	uint16_t *right;    /* right node of by_right[i], ascending */
};

/* The edges that follow an edge at its left and its right node. */
struct fors_mates {
	uint32_t left, right; /* FORS_NO_EDGE: none */
};

/*
 * Write 0 or 1 for each edge into half[0..n-1], so that of the edges of each node, and
 * of each group, floor or ceil of one half are 0. mate: scratch for n edges.
 * right_of is not looked at. O(n) time.
 */
void fors_euler_halve(const struct fors_edges *edges, const struct fors_colour_side side[2], struct fors_mates *mate,
		      uint8_t *half);

#endif
