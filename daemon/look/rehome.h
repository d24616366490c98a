/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehome.h - when homes are ranked afresh (core/fabric/places_rank.c).
 *
 * Servers that came after the last ranking have homes beside the others, which costs phases; a ranking costs a moment without
 * a schedule, and packets that overtake each other on flows that get another path. So it is done
 *
 *	only while nothing is dead, degraded or drained: then no packet is lost on the way (core/tables/tables.c)
 *	when no new port has come for a minute: hosts that boot come together
 *	at most once an hour
 *
 * and in two steps: when it is due and would move entries, the worker is asked to withdraw the schedule; when it has done so,
 * and readers have had a few seconds, the next heavy sweep ranks and routes. Thereby the fabric may have changed: each
 * step asks anew.
 *
 * Pure: time is an argument, by fors_clock_ms(). Threads: OpenSM's sweeper only.
 */
#ifndef FORS_DAEMON_LOOK_REHOME_H
#define FORS_DAEMON_LOOK_REHOME_H

#include "core/fabric/fattree.h"

#define FORS_REHOME_QUIET_MS 60000
#define FORS_REHOME_AGAIN_MS 3600000
#define FORS_REHOME_GRACE_MS 3000 /* for readers, from the withdrawal on */

struct fors_rehome {
	uint32_t nslots;    /* server ports known */
	uint64_t quiet_ms;  /* since when there have been as many */
	uint64_t ranked_ms; /* when homes were ranked, 0: not yet */
	uint64_t armed;	    /* number of the withdrawal that was asked for, 0: none */
	uint64_t last;	    /* number of the last one */
	bool is_free;	    /* a ranking would move no entry: no withdrawal is needed */
	uint64_t due_ms;    /* when a sweep shall look again, 0: nothing is wanted */
};

/* So many server ports are known now. */
void fors_rehome_note(struct fors_rehome *rehome, uint32_t nslots, uint64_t now_ms);

/* May a ranking be made of a tree with these cables: is none dead, degraded or drained? */
bool fors_rehome_is_healthy(const struct fors_fattree *tree);

/* A ranking is wanted, or (false) not, or not now: when it is due comes into due_ms, and nothing is armed otherwise. */
void fors_rehome_want(struct fors_rehome *rehome, bool is_wanted, uint64_t now_ms);

/* Is it wanted and due? */
bool fors_rehome_is_due(const struct fors_rehome *rehome, uint64_t now_ms);

/* It would move so many entries: ask for a withdrawal, if there are any. */
void fors_rehome_arm(struct fors_rehome *rehome, uint64_t nmoved, uint64_t now_ms);

/* May this sweep rank, `withdrawn` being the number of the last withdrawal that was published? */
bool fors_rehome_may_rank(const struct fors_rehome *rehome, uint64_t withdrawn);

/* It did. */
void fors_rehome_done(struct fors_rehome *rehome, uint64_t now_ms);

#endif
