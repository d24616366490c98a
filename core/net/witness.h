/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * witness.h - why no plan has fewer phases: an argument with its members, from which anybody reckons the bound again.
 *
 * Each bound of fors is one of these arguments. P servers take part. A cable carries one flow in a phase in each direction,
 * or k, if it is k times as fast as a flow (rates.h): it counts k times among cables, and in a sum of prices, then; over a link
 * T >= flows / k, and of lumps of n flows it carries floor(k T / n).
 *
 *   port      a server receives from all P servers, itself included: T >= P
 *   cut       flows that have to cross one of these cables, in this direction, whatever the tables: T >= flows / cables.
 *             Ways lead up, then down; a flow that has to cross several of the cables counts as often.
 *   distance  a flow crosses at least as many cables as its two switches are apart: T >= sum of that / directed cables
 *   lump      one LID for each server: the n servers of switch[0] send to a server over one of its c cables:
 *             T >= n ceil((P - n) / c)
 *   last      one LID for each server: f servers get to the n of switch[0] by switch[1] above it alone, over c cables:
 *             T >= f ceil(n / c), T >= n ceil(f / c)
 *   link      over these tables: so many flows cross link[0], whichever LID of their receiver they take
 *   ways      over these tables: each link has a price; a flow crosses at least the price of the cheapest of its ways:
 *             T >= sum of that / sum of the prices
 *
 * Thread rules: plain data of one owner.
 */
#ifndef FORS_CORE_NET_WITNESS_H
#define FORS_CORE_NET_WITNESS_H

#include <stdint.h>

#include "core/base/error.h"

enum fors_argument {
	FORS_BY_NOTHING, /* not known */
	FORS_BY_PORT,
	FORS_BY_CUT,
	FORS_BY_DISTANCE,
	FORS_BY_LUMP,
	FORS_BY_LAST,
	FORS_BY_LINK,
	FORS_BY_WAYS,
};

/* One direction of a cable: what leaves a switch by a port. */
struct fors_witness_link {
	uint64_t guid; /* of the switch */
	uint32_t port;
	uint64_t price; /* of ways; 1 elsewhere */
};

/* All zero: nothing is known. */
struct fors_witness {
	enum fors_argument by;
	uint64_t bound;			/* phases */
	uint64_t switch_of[2];		/* GUIDs: of lump the first, of last both */
	struct fors_witness_link *link; /* of cut, link and ways; owned */
	uint32_t nlinks, room;
};

/* Free what the witness owns; it is all zero then. */
void fors_witness_clear(struct fors_witness *witness);
/* One more link. Errors: FORS_ENOMEM; the witness is unchanged then. */
enum fors_err fors_witness_add(struct fors_witness *witness, uint64_t guid, uint32_t port, uint64_t price,
			       struct fors_error *error);
/* What a witness is called, "cut"; NULL: FORS_BY_NOTHING. */
const char *fors_argument_name(enum fors_argument by);

#endif
