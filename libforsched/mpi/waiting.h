/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiting.h - barriers between the phases of a call, or none: FORSCHED_BARRIER=auto.
 *
 * Asked by rank 0 of a communicator, which tells all ranks the answer. Pure: no MPI, no clock. One thread at a time.
 */
#ifndef FORSCHED_MPI_WAITING_H
#define FORSCHED_MPI_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/* FORSCHED_BARRIER; goes over the wire. */
enum barrier { BARRIER_NONE, BARRIER_TREE, BARRIER_AUTO };

/*
 * The last table of lab/doc/waiting.md: hundredths of the time of a phase's messages that a barrier takes. Below the first,
 * calls have barriers. From the second on they have none. Between them calls are measured.
 */
#define WAITING_BARRIERS_BELOW 3
#define WAITING_NONE_FROM 100

#define WAITING_SIZES 64 /* classes of messages: by the highest bit of their bytes */
#define WAITING_TRIALS 2 /* calls of a class without barriers, to see how long they take */

/* What is known of a class. */
struct waiting_size {
	double spent, lost; /* seconds of all calls that had barriers; what trials took longer */
	double least[2];    /* seconds without barriers, and with; 0: never timed */
	uint32_t trials;    /* so far */
};

/* All zeroes: nothing known. */
struct waiting {
	struct waiting_size size[WAITING_SIZES];
};

/*
 * Does a call whose messages all have so many bytes (0: they are unequal) get barriers? `share`: the time of a barrier
 * over that of a phase's messages; negative: not known.
 */
bool forsched_waiting_has_barrier(const struct waiting *waiting, uint64_t bytes, double share);
/* Such a call took so many seconds until the last rank was done; more than 0. */
void forsched_waiting_learn(struct waiting *waiting, uint64_t bytes, bool had_barrier, double seconds);

#endif
