/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holddown.h - which cables died and came back when, and which of them are held down.
 *
 * The clock is passed in, so all of it can be tried out without waiting.
 * Threads: one at a time.
 */
#ifndef FORS_CORE_FABRIC_HOLDDOWN_H
#define FORS_CORE_FABRIC_HOLDDOWN_H

#include "fattree.h"

struct fors_holddown;

struct fors_moment {
	uint64_t ms;	  /* of a clock that never steps back, above 0 */
	uint64_t unix_ms; /* for people; may step */
};

/* A watch that has seen nothing, or NULL when out of memory. */
struct fors_holddown *fors_holddown_new(void);
void fors_holddown_free(struct fors_holddown *watch);

/*
 * Look at the cables, of which none is drained yet: what died since the last look, and what came back,
 * which is held from now on; those of hosts, too. Cables that are seen for the first time are trusted.
 * since_ms and changes of each cable are filled in. Errors: FORS_ENOMEM; the watch is unchanged then.
 */
enum fors_err fors_holddown_look(struct fors_holddown *watch, struct fors_fattree tree, struct fors_moment now,
				 struct fors_error *error);

/*
 * Let go of the cables that have been up for hold_ms (0: of all), though at most once in hold_ms, so that
 * cables which come back one by one return together. The number let go.
 */
uint32_t fors_holddown_release(struct fors_holddown *watch, uint64_t now_ms, uint64_t hold_ms);

/* When the next cable may be let go, on the clock that does not step back; 0: none is held. */
uint64_t fors_holddown_due(const struct fors_holddown *watch, uint64_t hold_ms);

/* The cable of a host. */
struct fors_flap {
	uint32_t slot;	   /* of the tree */
	uint64_t since_ms; /* Unix time when it died or came back, 0: it has been so from the start */
	uint16_t changes;  /* in the last hour */
	bool is_held;
};

/* What is remembered of the host of this slot of the tree that was looked at last, in *flap; false: nothing. */
bool fors_holddown_host(const struct fors_holddown *watch, struct fors_fattree tree, uint32_t slot,
			struct fors_flap *flap);

/* Mark the held cables of the tree that was looked at last, to be taken out. The number of them. */
uint32_t fors_holddown_mark(const struct fors_holddown *watch, struct fors_fattree tree);

#endif
