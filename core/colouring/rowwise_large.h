/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rowwise_large.h - what rowwise.h does, for rows of any width: by the general colouring.
 * Thread rules: pure; edges and a space belong to one thread at a time.
 */
#ifndef FORS_CORE_COLOURING_ROWWISE_LARGE_H
#define FORS_CORE_COLOURING_ROWWISE_LARGE_H

#include <stddef.h>

#include "colour.h"
#include "rowwise.h"

/* Working memory: places as edges. Start with all zero. */
struct fors_rowwise_edges {
	uint16_t *left, *right;
	uint32_t *place; /* of each edge */
	uint8_t *colour; /* where colours go; private */
};

/* Room for so many places; false: out of memory. fors_rowwise_edges_free() in any case. */
bool fors_rowwise_edges_alloc(struct fors_rowwise_edges *edges, size_t nplaces);
void fors_rowwise_edges_free(struct fors_rowwise_edges *edges);

/*
 * As fors_rowwise(), but for rows up to 256 places wide: the colour of each place to colour[]. `space` is large enough
 * for as many edges as there are places, and nodes as there are rows or nodes. Errors: FORS_ENOPLAN when a node has too many
 * places, FORS_ENOMEM.
 */
enum fors_err fors_rowwise_large(struct fors_colour_space *space, struct fors_rowwise_edges *edges,
				 const struct fors_rowwise *graph, uint8_t *colour, struct fors_error *error);

#endif
