/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cells.c - colouring of small graphs of single edges with a power of two of colours.
 *
 * It is the halving of euler.c again, laid out so
 * that no ties need to be written down and nothing needs to be sorted:
 *
 * To colour with K colours, every node gets K times its cap cells in a row, and every one of
 * its edges a cell of its own at each end; cells may stay empty. The edge in cell 2i is
 * tied to the one in cell 2i + 1. Halving sends one of them to each half, and there
 * both have cell i: a node has half as many cells in a half, so it respects its cap by
 * itself. An edge whose neighbour cell is empty is tied to another such edge of its
 * group, if there are groups: only these ties need a list.
 *
 * So a graph is two arrays of 16-bit numbers: for each left cell the right cell of its edge, and which edge it is; for
 * each right cell the left cell of its edge; and a step of the walk from edge to tied edge is one
 * look-up. The arrays of the halves lie one behind the other in the second of two sets of arrays, at
 * the place of the whole in the first, and their halves again in the first. With one cell per node and cap, the edges
 * that are there have one colour.
 *
 * A walk is followed from its first edge in both directions in turn: the processor then waits for two
 * words of memory at a time instead of one.
 */
#include "cells.h"

#include <stdlib.h>
#include <string.h>

#define EMPTY FORS_EMPTY_CELL
#define MAX_CELLS 0xFFFE

static bool board_alloc(struct fors_grid *board)
{
	size_t n = MAX_CELLS + 2;

	board->cell = malloc(n * sizeof(*board->cell));
	board->left = malloc(n * sizeof(*board->left));
	return board->cell && board->left;
}

static void board_free(struct fors_grid *board)
{
	free(board->cell);
	free(board->left);
}

struct fors_cells *fors_cells_new(uint32_t nnodes)
{
	struct fors_cells *cells = calloc(1, sizeof(*cells));
	bool good = cells != NULL;

	for (int s = 0; good && s < 2; s++) {
		cells->tied[s] = malloc((MAX_CELLS + 2) * sizeof(*cells->tied[s]));
		cells->next[s] = malloc(((size_t)nnodes + 1) * sizeof(*cells->next[s]));
		cells->end[s] = malloc(((size_t)nnodes + 1) * sizeof(*cells->end[s]));
		good = board_alloc(&cells->board[s]) && cells->tied[s] && cells->next[s] && cells->end[s];
	}
	if (good) {
		cells->name = malloc((MAX_CELLS + 2) * sizeof(*cells->name));
		cells->list = malloc((MAX_CELLS + 2) * sizeof(*cells->list));
	}
	if (good && cells->name && cells->list)
		return cells;
	fors_cells_free(cells);
	return NULL;
}

void fors_cells_free(struct fors_cells *cells)
{
	if (!cells)
		return;
	for (int s = 0; s < 2; s++) {
		board_free(&cells->board[s]);
		free(cells->tied[s]);
		free(cells->next[s]);
		free(cells->end[s]);
	}
	free(cells->name);
	free(cells->list);
	free(cells);
}

/* ---- the graph ---- */

static void clear(const struct fors_grid *board, const uint32_t ncells[2])
{
	memset(board->cell, 0xFF, ncells[0] * sizeof(*board->cell));
	memset(board->left, 0xFF, ncells[1] * sizeof(*board->left));
}

bool fors_cells_begin(struct fors_cells *cells, const struct fors_colour_side side[2], uint32_t ncolours)
{
	for (int s = 0; s < 2; s++) {
		uint64_t n = 0;

		for (uint32_t i = 0; i < side[s].nnodes; i++) {
			cells->next[s][i] = (uint32_t)n;
			n += (uint64_t)ncolours * (side[s].cap ? side[s].cap[i] : 1);
			cells->end[s][i] = (uint32_t)n;
			if (n > MAX_CELLS)
				return false;
		}
		cells->ncells[s] = (uint32_t)n;
	}
	cells->side = side;
	cells->ncolours = ncolours;
	cells->n = 0;
	clear(&cells->board[0], cells->ncells);
	return true;
}

/* ---- halving ---- */

/* A graph, or a half: where it lies on the board, and its colours. */
struct area {
	int turn;	   /* on board[turn] */
	uint32_t start[2]; /* of its cells, per side */
	uint32_t ncells[2];
	uint32_t first, ncolours;
};

/* The board as seen from an area: its cell 0 is at index 0. */
static struct fors_grid view(const struct fors_cells *cells, const struct area *area)
{
	const struct fors_grid *board = &cells->board[area->turn];

	return (struct fors_grid){
		.cell = board->cell + area->start[0],
		.left = board->left + area->start[1],
	};
}

/* Half h of an area. */
static struct area half_of(const struct area *area, int h)
{
	struct area half = *area;

	half.turn = !area->turn;
	half.ncolours /= 2;
	for (int s = 0; s < 2; s++) {
		half.ncells[s] /= 2;
		half.start[s] += (uint32_t)h * half.ncells[s];
	}
	half.first += (uint32_t)h * half.ncolours;
	return half;
}

/*
 * In each group, tie the edges whose neighbour cell is empty, in pairs. cell: the first cell of this side of the area;
 * a cell is `step` numbers long, of which the first says whether it is empty.
 */
static void tie_groups(const struct fors_colour_side *side, uint32_t ncolours, const uint16_t *cell, uint32_t step,
		       uint16_t *tied)
{
	uint32_t single = EMPTY, group = UINT32_MAX, i = 0;

	for (uint32_t node = 0; node < side->nnodes; node++) {
		uint32_t end = i + ncolours * (side->cap ? side->cap[node] : 1);

		if (side->group[node] != group)
			single = EMPTY;
		group = side->group[node];
		for (; i < end; i += 2) {
			bool one = cell[i * step] != EMPTY, other = cell[(i + 1) * step] != EMPTY;
			uint32_t alone = one ? i : i + 1;

			tied[i] = tied[i + 1] = EMPTY;
			if (one == other)
				continue;
			if (single != EMPTY) {
				tied[alone] = (uint16_t)single;
				tied[single] = (uint16_t)alone;
				single = EMPTY;
			} else {
				single = alone;
			}
		}
	}
}

/* What a walk needs to see. */
struct walk {
	struct fors_grid from, to[2];
	const uint16_t *tied[2]; /* NULL: no groups on this side */
};

/* Put an edge in cells (l, r) into half h, and strike it off. */
static inline void put_edge(const struct walk *walk, uint32_t l, uint32_t r, uint16_t edge, int h)
{
	walk->to[h].cell[l / 2] = (struct fors_edge_cell){.right = (uint16_t)(r / 2), .edge = edge};
	walk->to[h].left[r / 2] = (uint16_t)(l / 2);
	walk->from.cell[l].right = EMPTY;
}

/*
 * One step of a walk that has come to left cell l: its edge goes to half h, that edge's right mate to the other half.
 * Returns the left cell to go on with, or EMPTY: the walk ends, with this step or before it (no edge, or passed
 * already).
 */
static inline __attribute__((always_inline)) uint32_t step(const struct walk *walk, uint32_t l, int h)
{
	struct fors_edge_cell cell = walk->from.cell[l];
	uint32_t mate_r, mate_l;

	if (cell.right == EMPTY) {
		l = walk->tied[0] ? walk->tied[0][l ^ 1] : EMPTY;
		if (l == EMPTY || walk->from.cell[l].right == EMPTY)
			return EMPTY;
		cell = walk->from.cell[l];
	}
	mate_r = cell.right ^ 1u;
	mate_l = walk->from.left[mate_r];
	put_edge(walk, l, cell.right, cell.edge, h);
	if (mate_l == EMPTY) {
		mate_r = walk->tied[1] ? walk->tied[1][cell.right] : EMPTY;
		if (mate_r == EMPTY)
			return EMPTY;
		mate_l = walk->from.left[mate_r];
	}
	put_edge(walk, mate_l, mate_r, walk->from.cell[mate_l].edge, !h);
	return mate_l ^ 1;
}

/* Follow all walks of an area of n left cells. Inlined with and without groups, for speed. */
static inline __attribute__((always_inline)) void follow_all(const struct walk *walk, uint32_t n)
{
	for (uint32_t l = 0; l < n; l++) {
		uint32_t on, back = l ^ 1;

		if (walk->from.cell[l].right == EMPTY)
			continue;
		on = step(walk, l, 0);
		while (on != EMPTY && back != EMPTY) {
			on = step(walk, on, 0);
			back = step(walk, back, 1);
		}
		while (on != EMPTY)
			on = step(walk, on, 0);
		while (back != EMPTY)
			back = step(walk, back, 1);
	}
}

/* Halve an area onto the other board. */
static void halve(const struct fors_cells *cells, const struct area *area, const struct area half[2])
{
	struct walk walk = {.from = view(cells, area), .to = {view(cells, &half[0]), view(cells, &half[1])}};

	for (int s = 0; s < 2; s++) {
		if (cells->side[s].ngroups) {
			tie_groups(&cells->side[s], area->ncolours, s == 0 ? &walk.from.cell->right : walk.from.left,
				   s == 0 ? 2 : 1, cells->tied[s]);
			walk.tied[s] = cells->tied[s];
		}
	}
	clear(&walk.to[0], area->ncells); /* both halves */
	if (walk.tied[0] || walk.tied[1]) {
		follow_all(&walk, area->ncells[0]);
	} else {
		const struct walk plain = {.from = walk.from, .to = {walk.to[0], walk.to[1]}};

		follow_all(&plain, area->ncells[0]);
	}
}

static enum fors_err emit_area(struct fors_cells *cells, const struct area *area)
{
	const struct fors_edge_cell *cell = view(cells, area).cell;
	uint32_t n = 0;

	for (uint32_t l = 0; l < area->ncells[0]; l++)
		if (cell[l].right != EMPTY)
			cells->list[n++] = cells->name[cell[l].edge];
	return cells->emit(cells->context, area->first, cells->list, n);
}

static enum fors_err colour(struct fors_cells *cells, const struct area *area)
{
	struct area half[2] = {half_of(area, 0), half_of(area, 1)};
	enum fors_err err;

	if (area->ncolours == 1)
		return emit_area(cells, area);
	halve(cells, area, half);
	err = colour(cells, &half[0]);
	return err ? err : colour(cells, &half[1]);
}

enum fors_err fors_cells_colour(struct fors_cells *cells, uint32_t first, fors_colour_emit emit, void *context)
{
	struct area whole = {
		.ncells = {cells->ncells[0], cells->ncells[1]}, .first = first, .ncolours = cells->ncolours};

	cells->emit = emit;
	cells->context = context;
	return colour(cells, &whole);
}
