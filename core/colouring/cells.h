/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cells.h - colouring of small graphs of single edges with a power of two of colours; private to the colouring.
 * Thread rules: pure; working memory belongs to one thread at a time.
 */
#ifndef FORS_CORE_COLOURING_CELLS_H
#define FORS_CORE_COLOURING_CELLS_H

#include "colour.h"

#define FORS_EMPTY_CELL 0xFFFF

/* What is in a left cell. */
struct fors_edge_cell {
	uint16_t right; /* right cell of the edge here; EMPTY: no edge, or passed by already */
	uint16_t edge;	/* its number */
};

/* A graph in cells. */
struct fors_grid {
	struct fors_edge_cell *cell; /* left cells */
	uint16_t *left;		     /* left cell of the edge in a right cell; EMPTY: none */
};

struct fors_cells {
	struct fors_grid board[2];
	uint16_t *tied[2]; /* per cell of each side: cell of the group's edge that it is tied to; EMPTY: none */
	uint32_t *next[2]; /* per node of each side: cell of its next edge, while adding, */
	uint32_t *end[2];  /* and the first one that is no longer its own */
	uint32_t *name;	   /* of each edge */
	uint32_t *list;	   /* for emit */
	/* the graph in hand */
	const struct fors_colour_side *side;
	uint32_t ncolours, n;
	uint32_t ncells[2]; /* at ncolours colours */
	fors_colour_emit emit;
	void *context;
};

/* Working memory for graphs of at most nnodes nodes per side; NULL: out of memory. About 1.5 MB. */
struct fors_cells *fors_cells_new(uint32_t nnodes);
void fors_cells_free(struct fors_cells *cells);

/*
 * Begin a graph between these sides, to be coloured with ncolours colours, a power of two. side[] is
 * borrowed until the colouring is done. False: it is too large for cells; nothing has begun then.
 */
bool fors_cells_begin(struct fors_cells *cells, const struct fors_colour_side side[2], uint32_t ncolours);

/*
 * Add an edge between two nodes; `name` is what emit gets. False: the node has ncolours times its cap edges already.
 * Inline, and quickest when edges come by their left nodes.
 */
static inline bool fors_cells_add(struct fors_cells *cells, uint32_t left, uint32_t right, uint32_t name)
{
	uint32_t l = cells->next[0][left], r = cells->next[1][right], n = cells->n;

	if (l >= cells->end[0][left] || r >= cells->end[1][right])
		return false;
	cells->next[0][left] = l + 1;
	cells->next[1][right] = r + 1;
	cells->board[0].cell[l] = (struct fors_edge_cell){.right = (uint16_t)r, .edge = (uint16_t)n};
	cells->board[0].left[r] = (uint16_t)l;
	cells->name[n] = name;
	cells->n = n + 1;
	return true;
}

/* Colour all edges as fors_colour() does. Errors: what emit returned. */
enum fors_err fors_cells_colour(struct fors_cells *cells, uint32_t first, fors_colour_emit emit, void *context);

#endif
