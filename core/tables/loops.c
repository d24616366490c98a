/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loops.c - the channel dependency graph of tables, and a search for its cycles.
 *
 * InfiniBand's switches never drop a packet for want of room: it holds the buffer of the link that it came over until
 * the next one has credits. So a link waits for those that its packets want to go on to, and if links wait in a circle,
 * full buffers stay full for ever. Where no circle is, none can (Dally and Seitz, 1987).
 *
 * A channel is the way from a switch to a neighbour, parallel cables taken as one: that can only find a circle too
 * many, and on tables of fors none. It is kept at the switch where it ends, as the number of the neighbour where it
 * begins; a bit per neighbour says that some packet goes on there. The search is depth-first: a channel is white, or on
 * the way that is being looked at (grey), or leads to no circle (black).
 */
#include "loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHITE, GREY, BLACK };

struct fors_loops {
	const struct fors_switches *switches;
	size_t *row;	/* per switch: where the bits of its channels begin; channel i at row + i x words() */
	uint64_t *bits; /* by neighbour number */
};

static size_t words(const struct fors_switch *at)
{
	return (at->nneighbours + 63u) / 64;
}

struct fors_loops *fors_loops_new(const struct fors_switches *switches)
{
	struct fors_loops *loops = calloc(1, sizeof(*loops));
	size_t size = 0;

	if (!loops)
		return NULL;
	loops->switches = switches;
	loops->row = calloc((size_t)switches->count + 1, sizeof(*loops->row));
	for (uint32_t at = 0; loops->row && at < switches->count; at++) {
		loops->row[at] = size;
		size += switches->all[at].nneighbours * words(&switches->all[at]);
	}
	loops->bits = calloc(size + 1, sizeof(*loops->bits));
	if (loops->row && loops->bits)
		return loops;
	fors_loops_free(loops);
	return NULL;
}

void fors_loops_free(struct fors_loops *loops)
{
	if (!loops)
		return;
	free(loops->row);
	free(loops->bits);
	free(loops);
}

static uint64_t *bits_of(const struct fors_loops *loops, uint32_t at, uint8_t from)
{
	return loops->bits + loops->row[at] + from * words(&loops->switches->all[at]);
}

void fors_loops_add(struct fors_loops *loops, uint32_t at, uint8_t from, uint8_t to)
{
	bits_of(loops, at, from)[to / 64] |= UINT64_C(1) << to % 64;
}

/* --- the search ----------------------------------------------------------- */

/* A channel on the way, and which of the ways on from it is tried next. */
struct step {
	uint32_t at;
	uint8_t from;
	uint16_t next;
};

struct search {
	const struct fors_loops *loops;
	uint8_t *colour;   /* per channel: switch's first neighbour + number */
	struct step *step; /* the way; room for all channels */
	uint32_t depth;
};

static uint8_t *colour_of(const struct search *s, uint32_t at, uint8_t from)
{
	return &s->colour[s->loops->switches->all[at].first + from];
}

static void enter(struct search *s, uint32_t at, uint8_t from)
{
	*colour_of(s, at, from) = GREY;
	s->step[s->depth++] = (struct step){at, from, 0};
}

/* The next neighbour that the channel's packets go on to, from number `next` on; or nneighbours. */
static uint16_t find_bit(const struct search *s, const struct step *step)
{
	const uint64_t *bits = bits_of(s->loops, step->at, step->from);
	uint16_t count = s->loops->switches->all[step->at].nneighbours;

	for (uint16_t i = step->next; i < count; i = (uint16_t)((i / 64 + 1) * 64)) {
		uint64_t left = bits[i / 64] >> i % 64;

		if (left)
			return (uint16_t)(i + __builtin_ctzll(left));
	}
	return count;
}

/* The switches of the circle that closes at the channel (at, from), which is on the way. */
static enum fors_err fail_circle(const struct search *s, uint32_t at, uint8_t from, struct fors_error *error)
{
	char text[300] = "";
	size_t used = 0;
	uint32_t i = s->depth;

	while (s->step[i - 1].at != at || s->step[i - 1].from != from)
		i--;
	for (i--; i < s->depth && used < sizeof(text) - FORS_NAME_MAX - 8; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s - ",
					 fors_switches_name(s->loops->switches, s->step[i].at));
	return fors_fail(error, FORS_ETABLES, "the tables would have a credit loop: %s%s", text,
			 i < s->depth ? "..." : fors_switches_name(s->loops->switches, at));
}

/* All that can be reached from one channel. */
static enum fors_err search(struct search *s, struct fors_error *error)
{
	const struct fors_switches *switches = s->loops->switches;

	while (s->depth) {
		struct step *step = &s->step[s->depth - 1];
		const struct fors_neighbour *to;
		uint16_t bit = find_bit(s, step);

		if (bit == switches->all[step->at].nneighbours) {
			*colour_of(s, step->at, step->from) = BLACK;
			s->depth--;
			continue;
		}
		step->next = (uint16_t)(bit + 1);
		to = &switches->neighbour[switches->all[step->at].first + bit];
		if (*colour_of(s, to->at, to->back) == GREY)
			return fail_circle(s, to->at, to->back, error);
		if (*colour_of(s, to->at, to->back) == WHITE)
			enter(s, to->at, to->back);
	}
	return FORS_OK;
}

enum fors_err fors_loops_check(const struct fors_loops *loops, struct fors_error *error)
{
	const struct fors_switches *switches = loops->switches;
	struct search s = {.loops = loops};
	enum fors_err err = FORS_OK;

	s.colour = calloc((size_t)switches->nneighbours + 1, sizeof(*s.colour));
	s.step = malloc(((size_t)switches->nneighbours + 1) * sizeof(*s.step));
	if (!s.colour || !s.step)
		err = fors_fail_memory(error);
	for (uint32_t at = 0; !err && at < switches->count; at++)
		for (uint8_t from = 0; !err && from < switches->all[at].nneighbours; from++)
			if (*colour_of(&s, at, from) == WHITE) {
				enter(&s, at, from);
				err = search(&s, error);
			}
	free(s.colour);
	free(s.step);
	return err;
}
