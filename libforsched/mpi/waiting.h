/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiting.h - barriers between the phases of a call, or none: FORSCHED_BARRIER=auto.
 *
 * Pure: no MPI, no clock. Each rank has a struct waiting of its own, and all ranks of a communicator put the same numbers
 * into theirs in the same order, so all come to the same verdict. One thread at a time.
 */
#ifndef FORSCHED_MPI_WAITING_H
#define FORSCHED_MPI_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/* FORSCHED_BARRIER; goes over the wire. */
enum barrier { BARRIER_NONE, BARRIER_TREE, BARRIER_AUTO };

#define WAITING_SIZES 64 /* classes of messages: by the highest bit of their bytes */
#define WAITING_TRIALS 4 /* calls of a class that are timed, every second one with barriers */

/* What is known of a class. */
struct waiting_size {
	uint32_t calls;	 /* timed so far */
	double least[2]; /* seconds without barriers, and with; 0: never timed */
};

/* All zeroes: not auto. */
struct waiting {
	bool is_auto;
	struct waiting_size size[WAITING_SIZES];
};

/*
 * Does a call whose messages all have so many bytes (0: they are unequal) get barriers? *is_trial: it is to be timed, and
 * the time of the slowest rank given to forsched_waiting_learn().
 */
bool forsched_waiting_has_barrier(const struct waiting *waiting, uint64_t bytes, bool *is_trial);
/* A call that was a trial took so many seconds, more than 0. */
void forsched_waiting_learn(struct waiting *waiting, uint64_t bytes, bool had_barrier, double seconds);

#endif
