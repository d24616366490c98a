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
	uint32_t *has;	      /* row x width: node that has a colour, and 65,536 times 1 + its place; 0: none has */
	uint32_t *hole;	      /* places without a colour */
	uint32_t nholes, room;
};

/* The job in hand. */
struct job {
	struct fors_rowwise_space *space;
	const struct fors_rowwise *graph;
	uint8_t *colour; /* the caller's; FORS_UNMATCHED: a hole */
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
	space->has = malloc(nplaces * sizeof(*space->has));
	space->hole = malloc(nplaces * sizeof(*space->hole));
	if (space->lacks_node && space->lacks_row && space->row_of && space->has && space->hole)
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
	free(space->has);
	free(space->hole);
	free(space);
}

/* ---- matchings ---- */

/*
 * Match the places of a row, whose nodes lack so much; returns how many there are. Each prefers the next colour: `from` has the
 * bits of that one and all behind it.
 */
static uint32_t match_row(const uint16_t *node, uint32_t width, const uint64_t *lacks, uint32_t prefer,
			  struct fors_matching *matching)
{
	const uint64_t all = fors_match_columns(width);
	uint64_t free = all, from = all >> prefer << prefer;
	uint32_t i = 0;

	for (; i < width && node[i] != FORS_ROWWISE_NOBODY; i++) {
		uint64_t may = lacks[node[i]], open = may & free;

		matching->may[i] = may;
		if (open) {
			uint64_t pick = open & from ? open & from : open;
			uint32_t column = (uint32_t)__builtin_ctzll(pick);

			matching->column[i] = (uint8_t)column;
			matching->row[column] = (uint8_t)i;
			free ^= pick & -pick;
		} else {
			matching->column[i] = FORS_UNMATCHED;
			matching->free = free;
			fors_match_augment(matching, i);
			free = matching->free;
		}
		from = from << 1 & all;
		from = from ? from : all;
	}
	matching->free = free;
	return i;
}

/* What a row has of a colour: who, and at which place. */
static inline uint32_t entry_of(uint32_t node, uint32_t place)
{
	return (place + 1) << 16 | node;
}

static void colour_row(const struct job *job, uint32_t row, uint32_t prefer)
{
	struct fors_rowwise_space *space = job->space;
	const uint32_t width = job->graph->width;
	const size_t first = (size_t)row * width;
	const uint16_t *node = job->graph->node + first;
	uint64_t *lacks = space->lacks_node;
	uint32_t *has = space->has + first;
	uint16_t *row_of = space->row_of;
	struct fors_matching matching;
	uint32_t n = match_row(node, width, lacks, prefer, &matching);

	memcpy(job->colour + first, matching.column, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t column = matching.column[i];

		if (column == FORS_UNMATCHED) {
			space->hole[space->nholes++] = (uint32_t)first + i;
			continue;
		}
		lacks[node[i]] &= ~(UINT64_C(1) << column);
		has[column] = entry_of(node[i], i);
		row_of[node[i] * width + column] = (uint16_t)row;
	}
	for (uint64_t free = matching.free; free; free &= free - 1)
		has[__builtin_ctzll(free)] = 0;
	space->lacks_row[row] = matching.free;
}

/* ---- exchanges ---- */

/* Exchange colours a and b along the path that begins with the place of colour a at `node`, which lacks b. */
static void exchange(const struct job *job, uint32_t node, uint32_t a, uint32_t b)
{
	const uint32_t width = job->graph->width;
	struct fors_rowwise_space *space = job->space;
	const uint64_t both = UINT64_C(1) << a | UINT64_C(1) << b;
	uint16_t *rows = space->row_of + node * width;
	uint32_t row = rows[a];

	space->lacks_node[node] ^= both;
	rows[a] = NO_ROW;
	for (;;) {
		const size_t first = (size_t)row * width;
		uint32_t *has = space->has + first, old = has[b];
		uint32_t next;

		has[b] = has[a];
		has[a] = old;
		job->colour[first + (has[b] >> 16) - 1] = (uint8_t)b;
		rows[b] = (uint16_t)row;
		if (!old) {
			space->lacks_row[row] ^= both;
			return;
		}
		job->colour[first + (old >> 16) - 1] = (uint8_t)a;
		node = old & 0xFFFF;
		rows = space->row_of + node * width;
		next = rows[a];
		rows[a] = (uint16_t)row;
		if (next == NO_ROW) {
			rows[b] = NO_ROW;
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
	job->colour[hole] = (uint8_t)colour;
	job->space->has[row * job->graph->width + colour] = entry_of(node, hole % job->graph->width);
	job->space->row_of[node * job->graph->width + colour] = (uint16_t)row;
	job->space->lacks_node[node] &= ~(UINT64_C(1) << colour);
	job->space->lacks_row[row] &= ~(UINT64_C(1) << colour);
	return true;
}

/* ---- the whole ---- */

bool fors_rowwise(struct fors_rowwise_space *space, const struct fors_rowwise *graph, uint8_t *colour)
{
	const struct job job = {.space = space, .graph = graph, .colour = colour};

	for (uint32_t node = 0; node < graph->nnodes; node++)
		space->lacks_node[node] = fors_match_columns(graph->width);
	memset(space->row_of, 0xFF, (size_t)graph->nnodes * graph->width * sizeof(*space->row_of));
	space->nholes = 0;
	for (uint32_t row = 0, prefer = 0; row < graph->nrows; row++) {
		colour_row(&job, row, prefer);
		prefer += graph->turn;
		prefer = prefer < graph->width ? prefer : 0;
	}
	for (uint32_t i = 0; i < space->nholes; i++)
		if (!fill_hole(&job, space->hole[i]))
			return false;
	return true;
}
