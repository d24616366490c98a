/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rowwise_large.c - rows of any width by the general colouring.
 *
 * Rows and nodes are the two sides of a graph, places its edges, so that Koenig's theorem gives the same as rowwise.c does
 * for rows that fit a word, by other means (colour.c).
 */
#include "rowwise_large.h"

#include <stdlib.h>

bool fors_rowwise_edges_alloc(struct fors_rowwise_edges *edges, size_t nplaces)
{
	edges->left = malloc((nplaces + 1) * sizeof(*edges->left));
	edges->right = malloc((nplaces + 1) * sizeof(*edges->right));
	edges->place = malloc((nplaces + 1) * sizeof(*edges->place));
	return edges->left && edges->right && edges->place;
}

void fors_rowwise_edges_free(struct fors_rowwise_edges *edges)
{
	free(edges->left);
	free(edges->right);
	free(edges->place);
	*edges = (struct fors_rowwise_edges){0};
}

static enum fors_err write_colour(void *context, uint32_t colour, const uint32_t *edge, uint32_t count)
{
	const struct fors_rowwise_edges *edges = context;

	for (uint32_t i = 0; i < count; i++)
		edges->colour[edges->place[edge[i]]] = (uint8_t)colour;
	return FORS_OK;
}

enum fors_err fors_rowwise_large(struct fors_colour_space *space, struct fors_rowwise_edges *edges,
				 const struct fors_rowwise *rows, uint8_t *colour, struct fors_error *error)
{
	struct fors_multigraph graph = {
		.left = edges->left,
		.right = edges->right,
		.side = {{.nnodes = rows->nrows}, {.nnodes = rows->nnodes}},
	};

	for (uint32_t place = 0; place < rows->nrows * rows->width; place++) {
		if (rows->node[place] == FORS_ROWWISE_NOBODY)
			continue;
		edges->left[graph.nedges] = (uint16_t)(place / rows->width);
		edges->right[graph.nedges] = rows->node[place];
		edges->place[graph.nedges++] = place;
	}
	edges->colour = colour;
	return fors_colour(space, &graph, 0, rows->width, write_colour, edges, error);
}
