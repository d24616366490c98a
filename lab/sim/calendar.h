/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calendar.h - what happens next: events at whole ticks, without a heap.
 *
 * Nearly all that happens in a fabric happens within a few packet times, so events stand in a wheel with one place for
 * each of the next ticks; which places are taken say bits, and bits of words of bits, so the next event is found by
 * counting zeros, twice. What is later (a barrier, a slow link) waits in coarse buckets, each as long as half the
 * wheel, and moves into the wheel one bucket ahead of the time; what is later than the last bucket waits there, and is
 * looked at again. Putting and taking cost the same however many events there are.
 *
 * Events of one tick come out in the order in which they were put, so a simulation is the same on every machine: an
 * event is put into the wheel only after the bucket that its tick belongs to has been emptied into it.
 *
 * (Brown, Calendar Queues, CACM 1988; Varghese and Lauck, Hashed and Hierarchical Timing Wheels, SOSP 1987.)
 *
 * Thread rules: a calendar belongs to one thread.
 */
#ifndef FORS_LAB_SIM_CALENDAR_H
#define FORS_LAB_SIM_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/net/net.h"

#define FORS_NEAR 16384u /* ticks of the wheel */
#define FORS_FAR 4096u	 /* buckets, each of half the wheel */
#define FORS_FAR_SHIFT 13

struct fors_calendar_event {
	uint64_t time;	      /* tick */
	uint32_t next;	      /* private */
	uint32_t what, which; /* anything */
};

struct fors_calendar {
	uint64_t now;			   /* tick of the event that was taken last */
	uint64_t pending;		   /* events put and not taken */
	bool is_full;			   /* memory ran out, and events were lost */
	struct fors_calendar_event *event; /* the rest is private */
	uint32_t used, room, spare;
	uint64_t bucket;   /* that of now, or an empty one before it */
	uint64_t near_end; /* the wheel has all events before this tick, (bucket + 2) << FORS_FAR_SHIFT */
	uint32_t near[FORS_NEAR], far[FORS_FAR]; /* last event of a ring, FORS_NONE: empty */
	uint64_t near_bits[FORS_NEAR / 64], near_groups[FORS_NEAR / 64 / 64];
};

/* An empty calendar at tick 0, or NULL when out of memory; to be freed with fors_calendar_free(). */
struct fors_calendar *fors_calendar_new(void);
void fors_calendar_free(struct fors_calendar *calendar);

/* What is rare, of the two below: a new event, or a late one; a wheel whose rest of ticks is empty; the next bucket. */
void fors_calendar_put_rare(struct fors_calendar *calendar, uint64_t time, uint32_t what, uint32_t which);
uint32_t fors_calendar_next_rare(struct fors_calendar *calendar);
void fors_calendar_advance(struct fors_calendar *calendar);

/* Into the wheel, behind what is there at its tick. */
static inline void fors_calendar_put_near(struct fors_calendar *c, uint32_t e)
{
	uint32_t place = (uint32_t)c->event[e].time & (FORS_NEAR - 1), last = c->near[place];

	if (last == FORS_NONE) {
		c->event[e].next = e;
		c->near_bits[place / 64] |= (uint64_t)1 << (place & 63);
		c->near_groups[place / 4096] |= (uint64_t)1 << (place / 64 & 63);
	} else {
		c->event[e].next = c->event[last].next;
		c->event[last].next = e;
	}
	c->near[place] = e;
}

/* Put an event; `time` is not before now. When memory runs out is_full is set, and the event is lost. */
static inline void fors_calendar_put(struct fors_calendar *c, uint64_t time, uint32_t what, uint32_t which)
{
	uint32_t e = c->spare;

	if (e == FORS_NONE || time >= c->near_end) {
		fors_calendar_put_rare(c, time, what, which);
		return;
	}
	c->spare = c->event[e].next;
	c->event[e].time = time;
	c->event[e].what = what;
	c->event[e].which = which;
	c->pending++;
	fors_calendar_put_near(c, e);
}

/* The event in turn at a place leaves it. */
static inline void fors_calendar_pop(struct fors_calendar *c, uint32_t place, struct fors_calendar_event *event)
{
	uint32_t last = c->near[place], e = c->event[last].next;

	event->time = c->event[e].time; /* one by one: what was just written so is not read at once in larger pieces */
	event->next = c->event[e].next;
	event->what = c->event[e].what;
	event->which = c->event[e].which;
	c->event[e].next = c->spare;
	c->spare = e;
	if (e != last) {
		c->event[last].next = event->next;
		return;
	}
	c->near[place] = FORS_NONE;
	c->near_bits[place / 64] &= ~((uint64_t)1 << (place & 63));
	if (!c->near_bits[place / 64])
		c->near_groups[place / 4096] &= ~((uint64_t)1 << (place / 64 & 63));
}

/* Take the next event, now becomes its time; false: there is none. */
static inline bool fors_calendar_take(struct fors_calendar *c, struct fors_calendar_event *event)
{
	uint32_t place = (uint32_t)c->now & (FORS_NEAR - 1);
	uint64_t bits = c->near_bits[place / 64] >> (place & 63);

	if (!c->pending)
		return false;
	place = bits ? place + (uint32_t)__builtin_ctzll(bits) : fors_calendar_next_rare(c);
	fors_calendar_pop(c, place, event);
	c->pending--;
	c->now = event->time;
	if (c->now >= c->near_end - FORS_NEAR / 2)
		fors_calendar_advance(c);
	return true;
}

#endif
