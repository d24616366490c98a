/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - when the steps of a sweep were, by fors_clock_exact_ms().
 *
 * Kept for the sweep that runs, or ran last, and for the one before: what comes of a sweep may be published when the next
 * one has begun. A sweep is known by the number of the tables that fors made in it (look.h).
 * Threads: none of its own; whoever keeps it (the worker, in its mailbox) locks.
 */
#ifndef FORS_DAEMON_WORKER_STEPS_H
#define FORS_DAEMON_WORKER_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status/failover.h"

/* One sweep; times are 0 for what was not seen. */
struct fors_steps_of {
	uint64_t number; /* of its tables; 0: fors has made none */
	double at[FORS_NSTEPS];
};

struct fors_steps {
	struct fors_steps_of last, before;
	double trap; /* the first that no sweep has taken up, 0: there is none */
};

/* A step of the sweep that runs; FORS_STEP_SWEEP begins another one. A trap may be of this sweep or of the next. */
void fors_steps_note(struct fors_steps *steps, enum fors_step step, double at);

/* fors has filled the tables of this number, and that took so long; negative: not known. */
void fors_steps_note_filled(struct fors_steps *steps, uint64_t number, double at, double took);

/* The sweep of these tables, borrowed until the next note; NULL: it is not kept any more. */
const struct fors_steps_of *fors_steps_find(const struct fors_steps *steps, uint64_t number);

/* When it began: with the trap or with the sweep, whichever was noted first. */
double fors_steps_begin(const struct fors_steps_of *sweep);

#endif
