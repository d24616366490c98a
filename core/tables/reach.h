/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reach.h - does every LID arrive from everywhere where packets begin?
 * Thread rules: one thread.
 */
#ifndef FORS_CORE_TABLES_REACH_H
#define FORS_CORE_TABLES_REACH_H

#include "loops.h"

/* Entries (switch where packets begin, LID) with no way, though cables join the two. Switches by number. */
struct fors_hole {
	uint32_t entries;
	uint32_t from, to;   /* the first: that switch, and the one that has the LID */
	uint32_t nfrom, nto; /* how many of each there are */
};

/* Switches by number. */
struct fors_reach {
	struct fors_hole to_switches, to_hosts; /* LIDs of switches, for management; of CAs */
	struct fors_hole hostless;		/* of both, where nobody sends: from leaves without hosts */
	uint32_t detours; /* pairs (leaf with CAs, leaf with CAs) that go down and up again on the way */
	uint32_t detour_first[2];
	uint32_t guest_detours; /* the same where CAs of one or both switches are guests: no leaf's */
	uint32_t guest_first[2];
};

/*
 * Walk through the tables: *reach is what arrives only by detours, or not at all because a detour could close a
 * credit loop; and every dependency between links is added to `loops`. Errors: FORS_ETABLES, when anything else
 * does not arrive, or a packet goes round or to the wrong place (named); FORS_ENOMEM.
 */
enum fors_err fors_reach_check(const struct fors_switches *switches, struct fors_loops *loops, struct fors_reach *reach,
			       struct fors_error *error);

#endif
