/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiting.h - an exchange in which a rank waits for some of the others, as `fors simulate --wait` has it, and sends one
 * message at a time.
 *
 * Who is how far is read from shared memory, so tokens take no time. Messages to oneself are left out.
 */
#ifndef FORS_LAB_TESTBED_WAITING_H
#define FORS_LAB_TESTBED_WAITING_H

#include "mesh.h"
#include "together.h"

enum waiting_kind {
	WAITING_PHASES, /* all, after each phase: not here */
	WAITING_TREE,	/* until the phase `ahead` before is over everywhere */
	WAITING_OWN,	/* for the own messages of all phases before, and until the receiver is as far */
	WAITING_NOBODY
};

struct waiting {
	enum waiting_kind kind;
	uint32_t ahead;
	uint64_t chunk; /* bytes, to each in turn; 0: whole messages */
	uint64_t bytes; /* of a message */
	double patience;
	struct together *together;
	struct mesh *mesh;
};

/* The byte at `offset` of the message between two ranks: whoever gets another's message finds out. */
uint8_t content(uint32_t from, uint32_t to, uint64_t offset);

/* "tree", "own", "nobody", "phases". False: it is none. */
bool waiting_parse(const char *name, enum waiting_kind *kind);

/* This rank has nothing yet; call it between two times when all wait for all. */
void waiting_reset(const struct waiting *waiting);
/* This rank's part of an exchange of the plan in force. False: printed why. */
bool waiting_exchange(const struct waiting *waiting);

#endif
