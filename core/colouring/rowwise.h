/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rowwise.h - edge colouring of a bipartite graph whose left nodes are rows of places, with few colours.
 *
 * Shape: nrows rows of `width` places, row by row; each place has a node, or nobody. In a row every colour comes at
 * most once, and at a node too. Thread rules: pure; a space belongs to one thread at a time.
 */
#ifndef FORS_CORE_COLOURING_ROWWISE_H
#define FORS_CORE_COLOURING_ROWWISE_H

#include <stdbool.h>
#include <stdint.h>

#include "match.h"

#define FORS_ROWWISE_NOBODY 0xFFFF

struct fors_rowwise {
	uint32_t nrows;
	uint32_t width;	      /* places of a row = colours, at most FORS_MATCH_MOST */
	uint32_t nnodes;      /* numbers of nodes are below; at most `width` places each */
	const uint16_t *node; /* of each place; NOBODY from some place of a row on */
	uint32_t turn;	      /* the place that prefers colour 0 moves on by so many from row to row */
};

struct fors_rowwise_space;

/* Working memory for graphs of at most so many rows, width and nodes; NULL: out of memory. */
struct fors_rowwise_space *fors_rowwise_space_new(uint32_t nrows, uint32_t width, uint32_t nnodes);
void fors_rowwise_space_free(struct fors_rowwise_space *space);

/*
 * Write the colour of each place to colour[] (nrows x width; places with nobody are left alone). False: a node has too
 * many places; colour[] means nothing then. Same input, same colours.
 */
bool fors_rowwise(struct fors_rowwise_space *space, const struct fors_rowwise *graph, uint8_t *colour);

#define FORS_ROWWISE_AT_ONCE 4

/* A graph as above, but its nodes lie in a space of its own, and so do its colours. */
struct fors_rowwise_job {
	struct fors_rowwise_space *space;
	uint32_t nrows, width, nnodes, turn;
};

/* Where the nodes of a row are to be written to, `width` of them; and its colours, once it has them. */
uint16_t *fors_rowwise_nodes(struct fors_rowwise_space *space, uint32_t row);
const uint8_t *fors_rowwise_colours(const struct fors_rowwise_space *space, uint32_t row);

/*
 * As fors_rowwise(), for up to FORS_ROWWISE_AT_ONCE graphs, sooner than one after another. Their spaces were made for
 * the same width. Returns how many there are; fewer: the number of one whose node has too many places.
 */
uint32_t fors_rowwise_all(const struct fors_rowwise_job *job, uint32_t count);

#endif
