/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * together.h - what the ranks of one exchange share: memory, a barrier, a stop sign.
 *
 * The ranks live in network namespaces of their own, so that all of their data goes over the
 * simulated cables; what keeps them in step does not, and costs the cables nothing.
 */
#ifndef FORS_LAB_TESTBED_TOGETHER_H
#define FORS_LAB_TESTBED_TOGETHER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "plan.h"

#define MAX_ITERATIONS 4096
#define MAX_BINS 8192 /* of the record of bytes over time */

/* One whole exchange, as rank 0 saw it. */
struct iteration {
	double start, seconds; /* start: on the monotonic clock */
	uint64_t epoch;
	uint32_t phases;
};

struct together {
	pthread_mutex_t mutex;
	pthread_cond_t all_here;
	uint32_t nranks, waiting, round; /* of the barrier, under the mutex */
	atomic_bool failed;		 /* a rank gave up: everybody does */
	atomic_bool is_told_to_stop;	 /* by a signal */
	bool stop;			 /* end at the next boundary; written by rank 0 between barriers */
	bool is_new_plan;		 /* since the last boundary; written by rank 0 between barriers */
	uint32_t niterations;
	struct iteration iteration[MAX_ITERATIONS];
	double first_bin, bin_seconds;
	_Atomic uint64_t received[MAX_BINS];	    /* bytes that arrived, by time */
	_Atomic uint64_t got[MAX_RANKS][MAX_RANKS]; /* bytes of this exchange, by receiver and sender; see waiting.h */
	struct plan plan;			    /* in force; written by rank 0 between barriers */
};

double monotonic_seconds(void);

/* Shared memory for nranks ranks, to be inherited by fork(); NULL: out of memory. */
struct together *together_new(uint32_t nranks, double bin_seconds);

/* Wait for all ranks, at most `seconds`. False: one has failed or did not come; then nobody should go on. */
bool together_wait(struct together *together, double seconds);

/* Tell the others that this rank cannot go on. */
void together_fail(struct together *together);

/* Count bytes that arrived now. */
void together_received(struct together *together, uint64_t bytes);

#endif
