/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calendar.c - see calendar.h. A place holds a ring of events by its last one, so that both ends are at hand. */
#include "calendar.h"

#include <stdlib.h>
#include <string.h>

static void set_bucket(struct fors_calendar *c, uint64_t bucket)
{
	c->bucket = bucket;
	c->near_end = (bucket + 2) << FORS_FAR_SHIFT;
}

struct fors_calendar *fors_calendar_new(void)
{
	struct fors_calendar *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	memset(c->near, 0xff, sizeof(c->near));
	memset(c->far, 0xff, sizeof(c->far));
	c->spare = FORS_NONE;
	set_bucket(c, 0);
	return c;
}

void fors_calendar_free(struct fors_calendar *calendar)
{
	if (calendar)
		free(calendar->event);
	free(calendar);
}

/* ---- events ---- */

static bool grow(struct fors_calendar *c)
{
	uint32_t room = c->room ? 2 * c->room : 1024;
	struct fors_calendar_event *larger = room < FORS_NONE / 2 ? realloc(c->event, room * sizeof(*larger)) : NULL;

	c->is_full |= !larger;
	if (!larger)
		return false;
	c->event = larger;
	c->room = room;
	return true;
}

static inline uint32_t new_event(struct fors_calendar *c)
{
	uint32_t e = c->spare;

	if (e != FORS_NONE) {
		c->spare = c->event[e].next;
		return e;
	}
	if (c->used == c->room && !grow(c))
		return FORS_NONE;
	return c->used++;
}

/* Behind the last of a ring. */
static inline void append(struct fors_calendar *c, uint32_t *last, uint32_t e)
{
	struct fors_calendar_event *event = c->event;

	if (*last == FORS_NONE) {
		event[e].next = e;
	} else {
		event[e].next = event[*last].next;
		event[*last].next = e;
	}
	*last = e;
}

/* ---- places ---- */

static void put_far(struct fors_calendar *c, uint32_t e)
{
	uint64_t bucket = c->event[e].time >> FORS_FAR_SHIFT, last = c->bucket + FORS_FAR - 1;
	uint32_t place = (uint32_t)(bucket < last ? bucket : last) & (FORS_FAR - 1);

	append(c, &c->far[place], e);
}

static inline void put(struct fors_calendar *c, uint32_t e)
{
	if (c->event[e].time < c->near_end)
		fors_calendar_put_near(c, e);
	else
		put_far(c, e);
}

void fors_calendar_put_rare(struct fors_calendar *c, uint64_t time, uint32_t what, uint32_t which)
{
	uint32_t e = new_event(c);

	if (e == FORS_NONE)
		return;
	c->event[e].time = time;
	c->event[e].what = what;
	c->event[e].which = which;
	c->pending++;
	put(c, e);
}

/* ---- time goes on ---- */

/* Go on by one bucket: what the wheel has room for now comes into it. */
static void enter_next_bucket(struct fors_calendar *c)
{
	uint32_t place, last, e, next;

	set_bucket(c, c->bucket + 1);
	place = (uint32_t)(c->bucket + 1) & (FORS_FAR - 1);
	last = c->far[place];
	if (last == FORS_NONE)
		return;
	c->far[place] = FORS_NONE;
	e = c->event[last].next;
	do {
		next = c->event[e].next;
		put(c, e);
	} while (e != last && (e = next, true));
}

/* The first place that is taken, from `place` on to the end of the wheel; FORS_NONE: none. */
static inline uint32_t taken_from(const struct fors_calendar *c, uint32_t place)
{
	uint32_t word = place / 64, group = word / 64;
	uint64_t bits = c->near_bits[word] & ~(uint64_t)0 << (place & 63);

	if (bits)
		return word * 64 + (uint32_t)__builtin_ctzll(bits);
	bits = (word & 63) == 63 ? 0 : c->near_groups[group] & ~(uint64_t)0 << ((word & 63) + 1);
	while (!bits) {
		if (++group == FORS_NEAR / 4096)
			return FORS_NONE;
		bits = c->near_groups[group];
	}
	word = group * 64 + (uint32_t)__builtin_ctzll(bits);
	return word * 64 + (uint32_t)__builtin_ctzll(c->near_bits[word]);
}

/* The place of the next event, in time's order round the wheel. */
static inline uint32_t next_place(const struct fors_calendar *c)
{
	uint32_t place = taken_from(c, (uint32_t)c->now & (FORS_NEAR - 1));

	return place != FORS_NONE ? place : taken_from(c, 0);
}

/*
 * Nothing is due in the first bucket that is taken, the one after next: what waits there is later than all buckets were
 * when it was put. So the first event of all may be many rounds ahead (a barrier of minutes), and going there bucket by
 * bucket takes as long as it sounds.
 */
static bool is_nothing_due(const struct fors_calendar *c)
{
	uint64_t bucket = c->bucket + 2;
	uint32_t last = c->far[bucket & (FORS_FAR - 1)], e = last;

	do {
		if (c->event[e].time >> FORS_FAR_SHIFT == bucket)
			return false;
		e = c->event[e].next;
	} while (e != last);
	return true;
}

/* The bucket of the first event of all; the wheel is empty. */
static uint64_t first_bucket(const struct fors_calendar *c)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t place = 0; place < FORS_FAR; place++) {
		uint32_t last = c->far[place];

		for (uint32_t e = last; e != FORS_NONE; e = c->event[e].next == last ? FORS_NONE : c->event[e].next)
			first = c->event[e].time < first ? c->event[e].time : first;
	}
	return first >> FORS_FAR_SHIFT;
}

/* Out of the ring of a bucket, onto the end of `later`: what only waits there for later ones. */
static void take_later(struct fors_calendar *c, uint64_t bucket, uint32_t *later)
{
	uint32_t *place = &c->far[bucket & (FORS_FAR - 1)], last = *place, e, next;

	if (last == FORS_NONE)
		return;
	*place = FORS_NONE;
	e = c->event[last].next;
	do {
		next = c->event[e].next;
		append(c, c->event[e].time >> FORS_FAR_SHIFT == bucket ? place : later, e);
	} while (e != last && (e = next, true));
}

/* The first event of all will be in the bucket after next. Buckets keep their places, so what was in its own stays there. */
static void jump(struct fors_calendar *c)
{
	uint64_t first = first_bucket(c);
	uint32_t later = FORS_NONE, e, next;

	for (uint32_t i = 2; i < FORS_FAR; i++)
		take_later(c, c->bucket + i, &later);
	set_bucket(c, first - 2);
	e = c->event[later].next;
	do {
		next = c->event[e].next;
		put_far(c, e);
	} while (e != later && (e = next, true));
}

/* An empty wheel: go on until there is something in it. */
static uint32_t skip_ahead(struct fors_calendar *c)
{
	uint32_t place;

	do {
		while (c->far[(c->bucket + 2) & (FORS_FAR - 1)] == FORS_NONE)
			set_bucket(c, c->bucket + 1);
		if (is_nothing_due(c))
			jump(c);
		enter_next_bucket(c);
		c->now = c->bucket << FORS_FAR_SHIFT;
	} while ((place = next_place(c)) == FORS_NONE);
	return place;
}

uint32_t fors_calendar_next_rare(struct fors_calendar *c)
{
	uint32_t place = next_place(c);

	return place != FORS_NONE ? place : skip_ahead(c);
}

void fors_calendar_advance(struct fors_calendar *c)
{
	while (c->now >> FORS_FAR_SHIFT > c->bucket)
		enter_next_bucket(c);
}
