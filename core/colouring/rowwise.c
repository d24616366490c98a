/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rowwise.c - edge colouring, row after row.
 *
 * Go through the rows; the places of a row get colours that their nodes do not have yet: a matching of places and
 * colours, as large as possible. A place that prefers a colour is given it when it can have it; where rows repeat
 * themselves, so do the colours then, and little is left to match. Only nodes with few places to come are hard to
 * serve, so about one place in a hundred gets no colour.
 *
 * Those are mended by Koenig's exchange: let the place's row lack colour A and its node lack colour B. The
 * places of colours A and B that hang together, beginning with that of colour A at the node, form a path; on it
 * exchange A and B. It cannot end at the row, since it comes to rows by places of colour A. Now both lack A. So every
 * place gets a colour, however the matchings were.
 */
#include "rowwise.h"

#include <stdlib.h>
#include <string.h>

#define NO_ROW 0xFFFF

struct fors_rowwise_space {
	uint64_t *lacks_node; /* of each node: colours that it has not yet */
	uint64_t *lacks_row;  /* of each row */
	uint16_t *row_of;     /* node x width: the row in which it has a colour, NO_ROW: none */
	uint8_t *place_of;    /* row x width: 1 + the place that has a colour, 0: none */
	uint32_t *hole;	      /* places without a colour */
	uint32_t nholes, room;
};

/* The job in hand. */
struct job {
	struct fors_rowwise_space *space;
	const struct fors_rowwise *graph;
};

struct fors_rowwise_space *fors_rowwise_space_new(uint32_t nrows, uint32_t width, uint32_t nnodes)
{
	struct fors_rowwise_space *space = calloc(1, sizeof(*space));
	size_t nplaces = (size_t)nrows * width + 1;

	if (!space)
		return NULL;
	space->lacks_node = malloc(((size_t)nnodes + 1) * sizeof(*space->lacks_node));
	space->lacks_row = malloc(((size_t)nrows + 1) * sizeof(*space->lacks_row));
	space->row_of = malloc(((size_t)nnodes * width + 1) * sizeof(*space->row_of));
	space->place_of = malloc(nplaces);
	space->hole = malloc(nplaces * sizeof(*space->hole));
	if (space->lacks_node && space->lacks_row && space->row_of && space->place_of && space->hole)
		return space;
	fors_rowwise_space_free(space);
	return NULL;
}

void fors_rowwise_space_free(struct fors_rowwise_space *space)
{
	if (!space)
		return;
	free(space->lacks_node);
	free(space->lacks_row);
	free(space->row_of);
	free(space->place_of);
	free(space->hole);
	free(space);
}

static void clear(const struct job *job)
{
	struct fors_rowwise_space *space = job->space;
	const struct fors_rowwise *graph = job->graph;

	for (uint32_t node = 0; node < graph->nnodes; node++)
		space->lacks_node[node] = fors_match_columns(graph->width);
	memset(space->row_of, 0xFF, (size_t)graph->nnodes * graph->width * sizeof(*space->row_of));
	memset(space->place_of, 0, (size_t)graph->nrows * graph->width);
	space->nholes = 0;
}

/* ---- matchings ---- */

/* Match the places of a row; returns how many there are. */
static uint32_t match_row(const struct job *job, uint32_t row, uint32_t prefer, struct fors_matching *matching)
{
	const uint16_t *node = job->graph->node + (size_t)row * job->graph->width;
	uint32_t i = 0;

	matching->free = fors_match_columns(job->graph->width);
	for (; i < job->graph->width && node[i] != FORS_ROWWISE_NOBODY; i++) {
		uint64_t open;

		matching->may[i] = job->space->lacks_node[node[i]];
		matching->column[i] = FORS_UNMATCHED;
		open = matching->may[i] & matching->free;
		if (open)
			fors_match(matching, i, fors_match_first(open, prefer));
		else
			fors_match_augment(matching, i);
		prefer = prefer + 1 < job->graph->width ? prefer + 1 : 0;
	}
	return i;
}

/* Write down that the node of a place has a colour there. */
static inline void note(const struct job *job, uint32_t row, uint32_t place, uint32_t colour)
{
	struct fors_rowwise_space *space = job->space;
	size_t first = (size_t)row * job->graph->width;
	uint32_t node = job->graph->node[first + place];

	space->lacks_node[node] &= ~(UINT64_C(1) << colour);
	space->row_of[node * job->graph->width + colour] = (uint16_t)row;
	space->place_of[first + colour] = (uint8_t)(place + 1);
}

static void colour_row(const struct job *job, uint32_t row, uint32_t prefer)
{
	struct fors_matching matching;
	uint32_t n = match_row(job, row, prefer, &matching);

	for (uint32_t i = 0; i < n; i++) {
		if (matching.column[i] == FORS_UNMATCHED)
			job->space->hole[job->space->nholes++] = row * job->graph->width + i;
		else
			note(job, row, i, matching.column[i]);
	}
	job->space->lacks_row[row] = matching.free;
}

/* ---- exchanges ---- */

/* Exchange colours a and b along the path that begins with the place of colour a at `node`, which lacks b. */
static void exchange(const struct job *job, uint32_t node, uint32_t a, uint32_t b)
{
	const struct fors_rowwise *graph = job->graph;
	struct fors_rowwise_space *space = job->space;
	const uint64_t both = UINT64_C(1) << a | UINT64_C(1) << b;
	uint32_t row = space->row_of[node * graph->width + a];

	space->lacks_node[node] ^= both;
	space->row_of[node * graph->width + a] = NO_ROW;
	for (;;) {
		uint8_t *place = space->place_of + (size_t)row * graph->width, old = place[b];
		uint32_t next;

		place[b] = place[a];
		place[a] = old;
		space->row_of[node * graph->width + b] = (uint16_t)row;
		if (!old) {
			space->lacks_row[row] ^= both;
			return;
		}
		node = graph->node[(size_t)row * graph->width + old - 1];
		next = space->row_of[node * graph->width + a];
		space->row_of[node * graph->width + a] = (uint16_t)row;
		if (next == NO_ROW) {
			space->row_of[node * graph->width + b] = NO_ROW;
			space->lacks_node[node] ^= both;
			return;
		}
		row = next;
	}
}

/* Give a place without colour one. False: its node lacks none. */
static bool fill_hole(const struct job *job, uint32_t hole)
{
	uint32_t row = hole / job->graph->width, node = job->graph->node[hole], colour;
	uint64_t node_lacks = job->space->lacks_node[node], row_lacks = job->space->lacks_row[row];

	if (!node_lacks)
		return false;
	colour = (uint32_t)__builtin_ctzll(node_lacks & row_lacks ? node_lacks & row_lacks : row_lacks);
	if (!(node_lacks & row_lacks))
		exchange(job, node, colour, (uint32_t)__builtin_ctzll(node_lacks));
	note(job, row, hole % job->graph->width, colour);
	job->space->lacks_row[row] &= ~(UINT64_C(1) << colour);
	return true;
}

/* ---- the whole ---- */

static void write_colours(const struct job *job, uint8_t *colour)
{
	const uint32_t width = job->graph->width;
	const uint8_t *place = job->space->place_of;

	for (uint32_t row = 0; row < job->graph->nrows; row++, place += width, colour += width)
		for (uint32_t c = 0; c < width; c++)
			if (place[c])
				colour[place[c] - 1] = (uint8_t)c;
}

bool fors_rowwise(struct fors_rowwise_space *space, const struct fors_rowwise *graph, uint8_t *colour)
{
	const struct job job = {.space = space, .graph = graph};

	clear(&job);
	for (uint32_t row = 0, prefer = 0; row < graph->nrows; row++) {
		colour_row(&job, row, prefer);
		prefer += graph->turn;
		prefer = prefer < graph->width ? prefer : 0;
	}
	for (uint32_t i = 0; i < space->nholes; i++)
		if (!fill_hole(&job, space->hole[i]))
			return false;
	write_colours(&job, colour);
	return true;
}
