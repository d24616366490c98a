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
#define NARROW 32 /* colours: rows of at most so many take half of the memory, and nearly all fabrics have such */
#define WIDE FORS_MATCH_MOST

/*
 * What belongs to a row lies together, since an exchange needs all of it: for `stride` (NARROW or WIDE) colours the
 * place that has them (FORS_UNMATCHED: none has), of as many places the colour (FORS_UNMATCHED: a hole), and their
 * nodes.
 */
struct fors_rowwise_space {
	uint32_t stride;
	uint8_t *record;      /* of each row, 4 x stride bytes */
	uint64_t *lacks_node; /* of each node: colours that it has not yet */
	uint64_t *lacks_row;  /* of each row */
	uint16_t *row_of;     /* node x stride: the row in which it has a colour; once there are holes, NO_ROW: none */
	uint32_t *hole;	      /* places without a colour: row x WIDE + place */
	uint32_t nholes, room;
};

/* A record, taken apart. */
struct row {
	uint8_t *at, *colour;
	uint16_t *node;
};

static inline __attribute__((always_inline)) struct row row_at(const struct fors_rowwise_space *space, uint32_t stride,
							       uint32_t row)
{
	uint8_t *record = space->record + (size_t)row * stride * 4;

	return (struct row){record, record + stride, (uint16_t *)(void *)(record + 2 * stride)};
}

/* Memory for n x size bytes that begins where a cache line does. */
static void *lines_alloc(size_t n, size_t size)
{
	return aligned_alloc(64, (n * size + 64) / 64 * 64);
}

struct fors_rowwise_space *fors_rowwise_space_new(uint32_t nrows, uint32_t width, uint32_t nnodes)
{
	struct fors_rowwise_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->stride = width <= NARROW ? NARROW : WIDE;
	space->record = lines_alloc(nrows, (size_t)space->stride * 4);
	space->lacks_node = malloc(((size_t)nnodes + 1) * sizeof(*space->lacks_node));
	space->lacks_row = malloc(((size_t)nrows + 1) * sizeof(*space->lacks_row));
	space->row_of = lines_alloc(nnodes, space->stride * sizeof(*space->row_of));
	space->hole = malloc(((size_t)nrows * width + 1) * sizeof(*space->hole));
	if (space->record && space->lacks_node && space->lacks_row && space->row_of && space->hole)
		return space;
	fors_rowwise_space_free(space);
	return NULL;
}

void fors_rowwise_space_free(struct fors_rowwise_space *space)
{
	if (!space)
		return;
	free(space->record);
	free(space->lacks_node);
	free(space->lacks_row);
	free(space->row_of);
	free(space->hole);
	free(space);
}

uint16_t *fors_rowwise_nodes(struct fors_rowwise_space *space, uint32_t row)
{
	return row_at(space, space->stride, row).node;
}

const uint8_t *fors_rowwise_colours(const struct fors_rowwise_space *space, uint32_t row)
{
	return row_at(space, space->stride, row).colour;
}

/* ---- matchings ---- */

/* A row in hand. */
struct hand {
	struct row row;
	struct fors_rowwise_space *space;
	uint64_t free; /* colours */
	uint32_t number;
};

/* A place gets a colour that its node lacks; who had it before in this row is forgotten. */
static inline void give(const struct hand *hand, uint32_t place, uint32_t colour)
{
	struct fors_rowwise_space *space = hand->space;
	uint32_t node = hand->row.node[place];

	hand->row.colour[place] = (uint8_t)colour;
	hand->row.at[colour] = (uint8_t)place;
	space->row_of[node * space->stride + colour] = (uint16_t)hand->number;
	space->lacks_node[node] &= ~(UINT64_C(1) << colour);
}

/* A place gives its colour up, for another one. */
static inline void take_back(const struct hand *hand, uint32_t place, uint32_t colour)
{
	hand->space->lacks_node[hand->row.node[place]] |= UINT64_C(1) << colour;
}

/*
 * Nearly always a path of one exchange is enough for a place that finds no free colour: the first colour that it lacks
 * and whose place lacks a free one. It is the path that a search would find, with nothing noted for a longer one.
 * If there is none, *reach is what paths of one exchange lead to.
 */
static bool exchange_once(struct hand *hand, uint32_t start, uint64_t *reach)
{
	const uint64_t *lacks = hand->space->lacks_node;
	const struct row row = hand->row;

	*reach = 0;
	for (uint64_t left = lacks[row.node[start]]; left; left &= left - 1) {
		uint32_t colour = (uint32_t)__builtin_ctzll(left), place = row.at[colour];
		uint64_t found = lacks[row.node[place]], open = found & hand->free;

		*reach |= found;
		if (!open)
			continue;
		take_back(hand, place, colour);
		give(hand, place, (uint32_t)__builtin_ctzll(open));
		hand->free &= ~(open & -open);
		give(hand, start, colour);
		return true;
	}
	return false;
}

/* Do longer paths lead to a free colour? Mostly not, and then no search need remember how it came anywhere. */
static bool leads_on(const struct hand *hand, uint32_t start, uint64_t reach)
{
	const uint64_t *lacks = hand->space->lacks_node;
	uint64_t seen = lacks[hand->row.node[start]];

	for (uint64_t left = reach & ~seen; left && !(reach & hand->free); left = reach & ~seen) {
		seen |= left & -left;
		reach |= lacks[hand->row.node[hand->row.at[__builtin_ctzll(left)]]];
	}
	return reach & hand->free;
}

/*
 * A longer path. What a node lacks now is less than it lacked when the row began, by colours that this row has: none of
 * them is free, nor leads to a place that its own node does not lead to.
 */
static bool search_path(struct hand *hand, uint32_t start)
{
	const struct row row = hand->row;
	struct fors_matching matching;

	for (uint32_t i = 0; i <= start; i++)
		matching.may[i] = hand->space->lacks_node[row.node[i]];
	memcpy(matching.column, row.colour, start + 1);
	memcpy(matching.row, row.at, hand->space->stride);
	matching.free = hand->free;
	if (!fors_match_augment(&matching, start))
		return false;
	for (uint32_t i = 0; i < start; i++)
		if (matching.column[i] != row.colour[i])
			take_back(hand, i, row.colour[i]);
	for (uint32_t i = 0; i <= start; i++)
		if (matching.column[i] != row.colour[i])
			give(hand, i, matching.column[i]);
	hand->free = matching.free;
	return true;
}

/* A place that finds no free colour. */
static __attribute__((noinline)) void colour_patiently(struct hand *hand, uint32_t place)
{
	uint64_t reach;

	hand->row.colour[place] = FORS_UNMATCHED;
	if (exchange_once(hand, place, &reach))
		return;
	if (!leads_on(hand, place, reach) || !search_path(hand, place))
		hand->space->hole[hand->space->nholes++] = hand->number * WIDE + place;
}

/*
 * Give the places first .. end - 1 of a row, each of which has a node, colours that their nodes lack. The first prefers
 * colour `prefer`, each other one the next: that one or the next one behind it. The record's parts are told from one
 * address, so that all that a place needs stays in registers.
 */
static inline __attribute__((always_inline)) void colour_places(struct hand *hand, uint32_t stride, uint32_t first,
								uint32_t end, uint32_t prefer)
{
	uint8_t *const record = hand->row.at;
	uint64_t *const lacks = hand->space->lacks_node;
	uint16_t *const row_of = hand->space->row_of;
	const uint16_t number = (uint16_t)hand->number;
	uint64_t free = hand->free, from = UINT64_MAX << prefer;

	for (size_t i = first; i < end; i++, from += from) {
		const size_t node = ((const uint16_t *)(const void *)(record + 2 * stride))[i];
		const uint64_t may = lacks[node], open = may & free;
		uint64_t pick = open & from;
		size_t colour;

		if (__builtin_expect(!open, 0)) {
			hand->free = free;
			colour_patiently(hand, (uint32_t)i);
			free = hand->free;
			continue;
		}
		pick = pick ? pick : open;
		colour = (uint32_t)__builtin_ctzll(pick);
		pick &= -pick;
		free ^= pick;
		lacks[node] = may ^ pick;
		record[stride + i] = (uint8_t)colour;
		record[colour] = (uint8_t)i;
		row_of[node * stride + colour] = number;
	}
	hand->free = free;
}

/* The places of a row that have a node: all before the first that has none. */
static inline uint32_t count_places(const uint16_t *node, uint32_t width)
{
	while (width && node[width - 1] == FORS_ROWWISE_NOBODY)
		width--;
	return width;
}

static inline __attribute__((always_inline)) void colour_row(struct fors_rowwise_space *space, uint32_t stride,
							     uint32_t width, uint32_t number, uint32_t prefer)
{
	struct hand hand = {.row = row_at(space, stride, number),
			    .space = space,
			    .free = fors_match_columns(width),
			    .number = number};
	const uint32_t end = count_places(hand.row.node, width), turn = width - prefer;

	colour_places(&hand, stride, 0, end < turn ? end : turn, prefer);
	if (end > turn)
		colour_places(&hand, stride, turn, end, 0);
	for (uint64_t free = hand.free; free; free &= free - 1)
		hand.row.at[__builtin_ctzll(free)] = FORS_UNMATCHED;
	space->lacks_row[number] = hand.free;
}

static inline __attribute__((always_inline)) void colour_all(const struct fors_rowwise_job *job, uint32_t stride)
{
	for (uint32_t row = 0, prefer = 0; row < job->nrows; row++) {
		colour_row(job->space, stride, job->width, row, prefer);
		prefer += job->turn;
		prefer = prefer < job->width ? prefer : 0;
	}
}

static void colour_rows(const struct fors_rowwise_job *job)
{
	struct fors_rowwise_space *space = job->space;

	for (uint32_t node = 0; node < job->nnodes; node++)
		space->lacks_node[node] = fors_match_columns(job->width);
	space->nholes = 0;
	if (space->stride == NARROW)
		colour_all(job, NARROW);
	else
		colour_all(job, WIDE);
	for (uint32_t node = 0; node < job->nnodes; node++)
		for (uint64_t left = space->lacks_node[node]; left; left &= left - 1)
			space->row_of[node * space->stride + (uint32_t)__builtin_ctzll(left)] = NO_ROW;
}

/* ---- exchanges ---- */

/* Filling the holes of a job, one after another; in between, on the way along a path on which colours are exchanged. */
struct walk {
	struct fors_rowwise_space *space;
	uint16_t *row_of;
	uint32_t row;  /* of the path, NO_ROW: on none */
	uint32_t a, b; /* its colours; the row's place of colour a gets b, that of colour b gets a */
	uint32_t from; /* times stride: the node that the row has been reached from */
	uint32_t next; /* hole */
	bool failed;   /* a node had too many places */
};

/* The hole's row and node both lack this colour: it gets it. */
static void close_hole(struct walk *walk, uint32_t colour)
{
	struct fors_rowwise_space *space = walk->space;
	const uint32_t hole = space->hole[walk->next++], number = hole / WIDE;
	const struct hand hand = {.row = row_at(space, space->stride, number), .space = space, .number = number};

	give(&hand, hole % WIDE, colour);
	space->lacks_row[number] &= ~(UINT64_C(1) << colour);
}

/* Begin with the next hole. False: there is none, or its node lacks no colour. */
static bool begin_hole(struct walk *walk)
{
	struct fors_rowwise_space *space = walk->space;
	uint64_t node_lacks, row_lacks;
	uint32_t hole, node;

	if (walk->next == space->nholes)
		return false;
	hole = space->hole[walk->next];
	node = row_at(space, space->stride, hole / WIDE).node[hole % WIDE];
	node_lacks = space->lacks_node[node];
	row_lacks = space->lacks_row[hole / WIDE];
	walk->failed = !node_lacks;
	if (walk->failed)
		return false;
	if (node_lacks & row_lacks) {
		close_hole(walk, (uint32_t)__builtin_ctzll(node_lacks & row_lacks));
		return true;
	}
	walk->a = (uint32_t)__builtin_ctzll(row_lacks);
	walk->b = (uint32_t)__builtin_ctzll(node_lacks);
	walk->from = node * space->stride;
	walk->row = space->row_of[walk->from + walk->a];
	space->row_of[walk->from + walk->a] = NO_ROW;
	space->lacks_node[node] ^= UINT64_C(1) << walk->a | UINT64_C(1) << walk->b;
	return true;
}

/* The path is over, at what lacks a now and no more b: colour a is free where it began. */
static __attribute__((noinline)) void end_path(struct walk *walk, uint64_t *lacks)
{
	*lacks ^= UINT64_C(1) << walk->a | UINT64_C(1) << walk->b;
	walk->row = NO_ROW;
	close_hole(walk, walk->a);
}

/* Exchange colours a and b at the next row of the path, and at the node that leads on from it. */
static inline __attribute__((always_inline)) void exchange(struct walk *walk, uint32_t stride)
{
	const uint32_t a = walk->a, b = walk->b, number = walk->row;
	const struct row row = row_at(walk->space, stride, number);
	uint16_t *const row_of = walk->row_of;
	const uint8_t now = row.at[a], old = row.at[b];
	uint32_t on;

	row.at[b] = now;
	row.at[a] = old;
	row.colour[now] = (uint8_t)b;
	row_of[walk->from + b] = (uint16_t)number;
	if (old == FORS_UNMATCHED) {
		end_path(walk, &walk->space->lacks_row[number]);
		return;
	}
	row.colour[old] = (uint8_t)a;
	on = row.node[old] * stride;
	walk->from = on;
	walk->row = row_of[on + a];
	row_of[on + a] = (uint16_t)number;
	if (walk->row == NO_ROW) {
		row_of[on + b] = NO_ROW;
		end_path(walk, &walk->space->lacks_node[row.node[old]]);
	}
}

/* A step on the way of each job; false: all have arrived. */
static inline __attribute__((always_inline)) bool step_all(struct walk *walk, uint32_t count, uint32_t stride)
{
	bool is_busy = false;

	for (uint32_t i = 0; i < count; i++) {
		if (walk[i].row != NO_ROW)
			exchange(&walk[i], stride);
		else if (!begin_hole(&walk[i]))
			continue;
		is_busy = true;
	}
	return is_busy;
}

/*
 * Fill the holes of all jobs. Every step of a path waits for memory that the step before has named, so one step of each
 * path is taken in turn: they wait together.
 */
static uint32_t fill_holes(const struct fors_rowwise_job *job, uint32_t count)
{
	struct walk walk[FORS_ROWWISE_AT_ONCE];

	for (uint32_t i = 0; i < count; i++)
		walk[i] = (struct walk){.space = job[i].space, .row_of = job[i].space->row_of, .row = NO_ROW};
	if (job->space->stride == NARROW)
		while (step_all(walk, count, NARROW))
			;
	else
		while (step_all(walk, count, WIDE))
			;
	for (uint32_t i = 0; i < count; i++)
		if (walk[i].failed)
			return i;
	return count;
}

/* ---- the whole ---- */

uint32_t fors_rowwise_all(const struct fors_rowwise_job *job, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		colour_rows(&job[i]);
	return count ? fill_holes(job, count) : 0;
}

bool fors_rowwise(struct fors_rowwise_space *space, const struct fors_rowwise *graph, uint8_t *colour)
{
	const uint32_t width = graph->width;
	const struct fors_rowwise_job job = {
		.space = space, .nrows = graph->nrows, .width = width, .nnodes = graph->nnodes, .turn = graph->turn};

	for (uint32_t row = 0; row < graph->nrows; row++)
		memcpy(fors_rowwise_nodes(space, row), graph->node + (size_t)row * width, width * sizeof(*graph->node));
	if (fors_rowwise_all(&job, 1) != 1)
		return false;
	for (uint32_t row = 0; row < graph->nrows; row++)
		for (uint32_t i = 0; i < width && graph->node[row * width + i] != FORS_ROWWISE_NOBODY; i++)
			colour[row * width + i] = fors_rowwise_colours(space, row)[i];
	return true;
}
