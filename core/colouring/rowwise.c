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
	uint8_t *at;	      /* row x width: the place that has a colour, FORS_UNMATCHED: none has */
	uint32_t *hole;	      /* places without a colour */
	uint32_t nholes, room;
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
	space->at = malloc(nplaces);
	space->hole = malloc(nplaces * sizeof(*space->hole));
	if (space->lacks_node && space->lacks_row && space->row_of && space->at && space->hole)
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
	free(space->at);
	free(space->hole);
	free(space);
}

/* ---- matchings ---- */

/* A row in hand, and what colouring one of its places notes. */
struct row {
	const uint16_t *node;		 /* of each place */
	uint64_t *lacks;		 /* of all nodes */
	uint16_t *row_of;		 /* the same */
	uint64_t free;			 /* colours */
	uint32_t number, width;		 /* number: of the row */
	uint8_t colour[FORS_MATCH_MOST]; /* of each place; FORS_UNMATCHED: a hole */
	uint8_t at[FORS_MATCH_MOST];	 /* of each colour: its place; FORS_UNMATCHED: it is free */
};

/* A place gets a colour that its node lacks; who had it before in this row is forgotten. */
static inline void give(struct row *row, uint32_t place, uint32_t colour)
{
	uint32_t node = row->node[place];

	row->colour[place] = (uint8_t)colour;
	row->at[colour] = (uint8_t)place;
	row->row_of[node * row->width + colour] = (uint16_t)row->number;
	row->lacks[node] &= ~(UINT64_C(1) << colour);
}

/* A place gives its colour up, for another one. */
static inline void take_back(const struct row *row, uint32_t place, uint32_t colour)
{
	uint32_t node = row->node[place];

	row->row_of[node * row->width + colour] = NO_ROW;
	row->lacks[node] |= UINT64_C(1) << colour;
}

/*
 * Nearly always a path of one exchange is enough for a place that finds no free colour: the first colour that it lacks and
 * whose place lacks a free one. It is the path that a search would find, with nothing written down for a longer one.
 */
static bool exchange_once(struct row *row, uint32_t start)
{
	for (uint64_t left = row->lacks[row->node[start]]; left; left &= left - 1) {
		uint32_t colour = (uint32_t)__builtin_ctzll(left), place = row->at[colour];
		uint64_t open = row->lacks[row->node[place]] & row->free;

		if (!open)
			continue;
		take_back(row, place, colour);
		give(row, place, (uint32_t)__builtin_ctzll(open));
		row->free &= ~(open & -open);
		give(row, start, colour);
		return true;
	}
	return false;
}

/*
 * A longer path. What a node lacks now is less than it lacked when the row began, by colours that this row has: none of
 * them is free, nor leads to a place that its own node does not lead to.
 */
static bool search_path(struct row *row, uint32_t start)
{
	struct fors_matching matching;

	for (uint32_t i = 0; i <= start; i++)
		matching.may[i] = row->lacks[row->node[i]];
	memcpy(matching.column, row->colour, sizeof(matching.column));
	memcpy(matching.row, row->at, sizeof(matching.row));
	matching.free = row->free;
	if (!fors_match_augment(&matching, start))
		return false;
	for (uint32_t i = 0; i < start; i++)
		if (matching.column[i] != row->colour[i])
			take_back(row, i, row->colour[i]);
	for (uint32_t i = 0; i <= start; i++)
		if (matching.column[i] != row->colour[i])
			give(row, i, matching.column[i]);
	row->free = matching.free;
	return true;
}

/* A place that finds no free colour. */
static __attribute__((noinline)) void seat_patiently(struct row *row, uint32_t place, struct fors_rowwise_space *space)
{
	row->colour[place] = FORS_UNMATCHED;
	if (!exchange_once(row, place) && !search_path(row, place))
		space->hole[space->nholes++] = row->number * row->width + place;
}

/*
 * Give places of a row, the first one and those behind it up to `end`, colours that their nodes lack; returns the first
 * that has none. The first prefers colour `prefer`, each other one the next: that one or the next one behind it.
 */
static uint32_t seat(struct row *row, uint32_t first, uint32_t end, uint32_t prefer,
			    struct fors_rowwise_space *space)
{
	const uint16_t *nodes = row->node;
	uint64_t *const lacks = row->lacks;
	uint16_t *const row_of = row->row_of;
	const uint32_t width = row->width;
	const uint16_t number = (uint16_t)row->number;
	uint64_t free = row->free, from = UINT64_MAX << prefer;
	uint32_t i = first;

	for (; i < end; i++, from += from) {
		const uint32_t node = nodes[i];
		uint64_t may, open, pick;
		uint32_t colour;

		if (node == FORS_ROWWISE_NOBODY)
			break;
		may = lacks[node];
		open = may & free;
		pick = open & from;
		if (!open) {
			row->free = free;
			seat_patiently(row, i, space);
			free = row->free;
			continue;
		}
		pick = pick ? pick : open;
		colour = (uint32_t)__builtin_ctzll(pick);
		pick &= -pick;
		free ^= pick;
		lacks[node] = may ^ pick;
		row->colour[i] = (uint8_t)colour;
		row->at[colour] = (uint8_t)i;
		row_of[node * width + colour] = number;
	}
	row->free = free;
	return i;
}

static void colour_row(const struct fors_rowwise_job *job, uint32_t number, uint32_t prefer)
{
	struct fors_rowwise_space *space = job->space;
	const uint32_t width = job->graph.width;
	const size_t first = (size_t)number * width;
	struct row row = {.node = job->graph.node + first,
			  .lacks = space->lacks_node,
			  .row_of = space->row_of,
			  .free = fors_match_columns(width),
			  .number = number,
			  .width = width};
	uint32_t n = seat(&row, 0, width - prefer, prefer, space);

	if (n == width - prefer)
		n = seat(&row, n, width, 0, space);
	memcpy(job->colour + first, row.colour, n);
	memcpy(space->at + first, row.at, width);
	for (uint64_t free = row.free; free; free &= free - 1)
		space->at[first + (uint32_t)__builtin_ctzll(free)] = FORS_UNMATCHED;
	space->lacks_row[number] = row.free;
}

/* ---- exchanges ---- */

/* Filling the holes of a job, one after another; in between, on the way along a path on which colours are exchanged. */
struct walk {
	const uint16_t *node; /* of each place */
	uint8_t *colour;      /* the same */
	uint8_t *at;
	uint16_t *row_of;
	uint32_t width, row; /* of the path, NO_ROW: on none */
	uint32_t a, b;	     /* its colours; the row's place of colour a gets b, that of colour b gets a */
	uint32_t from;	     /* times width: the node that the row has been reached from */
	uint32_t next;	     /* hole */
	bool failed;	     /* a node had too many places */
};

/* The hole's row and node both lack this colour: it gets it. */
static void close_hole(struct fors_rowwise_space *space, struct walk *walk, uint32_t colour)
{
	const uint32_t width = walk->width, hole = space->hole[walk->next++], row = hole / width;
	const uint32_t node = walk->node[hole];

	walk->colour[hole] = (uint8_t)colour;
	walk->at[row * width + colour] = (uint8_t)(hole % width);
	walk->row_of[node * width + colour] = (uint16_t)row;
	space->lacks_node[node] &= ~(UINT64_C(1) << colour);
	space->lacks_row[row] &= ~(UINT64_C(1) << colour);
}

/* Begin with the next hole. False: there is none, or its node lacks no colour. */
static bool begin_hole(struct fors_rowwise_space *space, struct walk *walk)
{
	uint32_t hole, node;
	uint64_t node_lacks, row_lacks;

	if (walk->next == space->nholes)
		return false;
	hole = space->hole[walk->next];
	node = walk->node[hole];
	node_lacks = space->lacks_node[node];
	row_lacks = space->lacks_row[hole / walk->width];
	walk->failed = !node_lacks;
	if (walk->failed)
		return false;
	if (node_lacks & row_lacks) {
		close_hole(space, walk, (uint32_t)__builtin_ctzll(node_lacks & row_lacks));
		return true;
	}
	walk->a = (uint32_t)__builtin_ctzll(row_lacks);
	walk->b = (uint32_t)__builtin_ctzll(node_lacks);
	walk->from = node * walk->width;
	walk->row = walk->row_of[walk->from + walk->a];
	walk->row_of[walk->from + walk->a] = NO_ROW;
	space->lacks_node[node] ^= UINT64_C(1) << walk->a | UINT64_C(1) << walk->b;
	return true;
}

/* The path is over, with one that lacks a now and no more b: colour a is free where it began. */
static void end_path(struct fors_rowwise_space *space, struct walk *walk, uint64_t *lacks)
{
	*lacks ^= UINT64_C(1) << walk->a | UINT64_C(1) << walk->b;
	walk->row = NO_ROW;
	close_hole(space, walk, walk->a);
}

/* Exchange colours a and b at the next row of the path, and at the node that leads on from it. */
static inline void exchange(struct fors_rowwise_space *space, struct walk *walk)
{
	const uint32_t a = walk->a, b = walk->b, row = walk->row, width = walk->width;
	const size_t first = (size_t)row * width;
	const uint16_t *node = walk->node + first;
	uint8_t *at = walk->at + first, *colour = walk->colour + first;
	uint16_t *row_of = walk->row_of;
	const uint8_t now = at[a], old = at[b];
	uint32_t on;

	at[b] = now;
	at[a] = old;
	colour[now] = (uint8_t)b;
	row_of[walk->from + b] = (uint16_t)row;
	if (old == FORS_UNMATCHED) {
		end_path(space, walk, &space->lacks_row[row]);
		return;
	}
	colour[old] = (uint8_t)a;
	on = node[old] * width;
	walk->from = on;
	walk->row = row_of[on + a];
	row_of[on + a] = (uint16_t)row;
	if (walk->row == NO_ROW) {
		row_of[on + b] = NO_ROW;
		end_path(space, walk, &space->lacks_node[node[old]]);
	}
}

static struct walk walk_of(const struct fors_rowwise_job *job)
{
	return (struct walk){.node = job->graph.node,
			     .colour = job->colour,
			     .at = job->space->at,
			     .row_of = job->space->row_of,
			     .width = job->graph.width,
			     .row = NO_ROW};
}

/*
 * Fill the holes of all jobs. Every step of a path waits for memory that the step before has named, so one step of each
 * path is taken in turn: they wait together.
 */
static __attribute__((noinline)) uint32_t fill_holes(const struct fors_rowwise_job *job, uint32_t count)
{
	struct walk walk[FORS_ROWWISE_AT_ONCE];
	bool is_busy = true;

	for (uint32_t i = 0; i < count; i++)
		walk[i] = walk_of(&job[i]);
	while (is_busy) {
		is_busy = false;
		for (uint32_t i = 0; i < count; i++) {
			if (walk[i].row != NO_ROW)
				exchange(job[i].space, &walk[i]);
			else if (!begin_hole(job[i].space, &walk[i]))
				continue;
			is_busy = true;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		if (walk[i].failed)
			return i;
	return count;
}

/* ---- the whole ---- */

static __attribute__((noinline)) void colour_rows(const struct fors_rowwise_job *job)
{
	const struct fors_rowwise *graph = &job->graph;
	struct fors_rowwise_space *space = job->space;

	for (uint32_t node = 0; node < graph->nnodes; node++)
		space->lacks_node[node] = fors_match_columns(graph->width);
	memset(space->row_of, 0xFF, (size_t)graph->nnodes * graph->width * sizeof(*space->row_of));
	space->nholes = 0;
	for (uint32_t row = 0, prefer = 0; row < graph->nrows; row++) {
		colour_row(job, row, prefer);
		prefer += graph->turn;
		prefer = prefer < graph->width ? prefer : 0;
	}
}

uint32_t fors_rowwise_all(const struct fors_rowwise_job *job, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		colour_rows(&job[i]);
	return fill_holes(job, count);
}

bool fors_rowwise(struct fors_rowwise_space *space, const struct fors_rowwise *graph, uint8_t *colour)
{
	const struct fors_rowwise_job job = {.space = space, .graph = *graph, .colour = colour};

	return fors_rowwise_all(&job, 1) == 1;
}
