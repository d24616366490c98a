/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sm.h - is the subnet manager at work? One question that anybody may ask: SMInfo.
 *
 * OpenSM counts the management packets of QP0 that it has handed to the kernel, answers and settings alike, and says the
 * number in SMInfo.ActCount. Each answer to us adds one. If it rose by exactly our own questions between two moments,
 * the manager has sent no setting between them. What that does not show: settings that the kernel sends again (for less than
 * a second), and ports that die. A standby manager or another watcher that asks adds to it, so a larger number proves nothing.
 * Threads: one.
 */
#ifndef FORS_WATCH_SM_H
#define FORS_WATCH_SM_H

#include "mads.h"

struct fors_sm {
	bool is_there;	/* it answered as the master */
	uint64_t guid;	/* of its port */
	uint32_t count; /* ActCount, modulo 2^32 */
	uint8_t priority, state;
	double at_ms; /* of the answer, by fors_clock_exact_ms() */
};

/* Ask our own port which manager it has; without an answer it stays the one of before. Errors: as fors_sm_ask(). */
enum fors_err fors_sm_find(struct fors_mads *mads, struct fors_error *error);

/*
 * Ask the manager whose LID the port has. One that does not answer, or not as a master, is not there, which is no
 * error. Errors: FORS_ECANCELLED, FORS_EIO, FORS_ENOMEM.
 */
enum fors_err fors_sm_ask(struct fors_mads *mads, struct fors_sm *sm, struct fors_error *error);

/* Its first half: what fors_mads_run() takes, until which *sm stays where it is, or fors_mads_forget() does. Errors: FORS_ENOMEM. */
enum fors_err fors_sm_queue(struct fors_mads *mads, struct fors_sm *sm, struct fors_error *error);

/* Is it the same manager, at work since? A restart shows as another port, or a count that fell or jumped. */
bool fors_sm_is_same(const struct fors_sm *before, const struct fors_sm *after);

/* By how many packets the count rose between two answers, ours left out: `asked` of them, the last one included. */
uint32_t fors_sm_rise(const struct fors_sm *before, const struct fors_sm *after, uint32_t asked);

#endif
