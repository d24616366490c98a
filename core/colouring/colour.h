/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * colour.h - edge colouring of bipartite multigraphs whose nodes come in groups.
 *
 * Shape: `nedges` edges with parallel copies; two sides of nodes; on each side
 * nodes may be gathered into groups (a leaf gathers its lanes). In no colour a
 * node has more edges than its cap, and no group more than its group's cap.
 * With caps of 1 and no groups this is the edge colouring of Koenig's theorem.
 *
 * Thread rules: pure; a space belongs to one thread at a time.
 */
#ifndef FORS_CORE_COLOURING_COLOUR_H
#define FORS_CORE_COLOURING_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

/* The nodes of one side. All arrays are borrowed. */
struct fors_colour_side {
	uint32_t nnodes;	   /* at most 65,535 */
	const uint16_t *cap;	   /* most edges of one colour at each node; NULL: 1 */
	uint32_t ngroups;	   /* 0: no groups */
	const uint16_t *group;	   /* of each node, ascending; NULL when there are no groups */
	const uint16_t *group_cap; /* most edges of one colour in each group */
};

struct fors_multigraph {
	uint32_t nedges;
	const uint16_t *left;		 /* left node of each edge, ascending */
	const uint16_t *right;		 /* right node of each edge */
	const uint16_t *mult;		 /* parallel copies of each edge, at least 1; NULL: 1 */
	struct fors_colour_side side[2]; /* left, right */
};

struct fors_colour_space;

/* Working memory for graphs of at most so many edges and nodes per side; NULL: out of memory. */
struct fors_colour_space *fors_colour_space_new(uint32_t nedges, uint32_t nnodes);
void fors_colour_space_free(struct fors_colour_space *space);

/*
 * Who hears of each colour: `count` edges (numbers in the graph, by their left nodes)
 * have one copy of this colour. Anything but FORS_OK ends the colouring with that code.
 */
typedef enum fors_err (*fors_colour_emit)(void *context, uint32_t colour, const uint32_t *edge, uint32_t count);

/*
 * Colour with colours first .. first + ncolours - 1 (ncolours >= 1), in some order. Every copy of
 * every edge gets one. The caller promises that no node has more edges than
 * ncolours times its cap, and no group more than ncolours times its own, and that every edge has an end with
 * a cap of 1; then a colouring exists. Same input, same colours. About log2(ncolours) passes over the edges.
 * Errors: FORS_ENOMEM; FORS_ENOPLAN when the promise was broken; what emit returned.
 */
enum fors_err fors_colour(struct fors_colour_space *space, const struct fors_multigraph *graph, uint32_t first,
			  uint32_t ncolours, fors_colour_emit emit, void *context, struct fors_error *error);

#endif
