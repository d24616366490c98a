/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * choice.h - along the phases, in chunks to each peer in turn, along the schedule of a demand, or MPI's own way: which is
 * the quickest for this call?
 *
 * Asked by rank 0 of a communicator, which tells all ranks the answer. It knows of a call what all ranks together know
 * (struct demand), and of earlier calls how long they took until the last rank was done. Pure: no MPI, no clock. One
 * thread at a time for one memory.
 */
#ifndef FORSCHED_MPI_CHOICE_H
#define FORSCHED_MPI_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum way { WAY_MPI, WAY_PHASES, WAY_CHUNKS, WAY_DEMAND, NWAYS };

/* What all ranks together want to send, in bytes; what a rank keeps for itself is not in it. */
struct demand {
	uint64_t longest; /* message */
	uint64_t port;	  /* sent by, or received by, the rank that has most of either: the port bound */
	uint64_t turns;	  /* sum over phases of the longest message in each: what phases with barriers wait for */
	uint64_t unit;	  /* messages may be cut at multiples of it; 0: they cannot be cut */
	bool runs_free;	  /* phases would have no barriers between them */
	bool is_whole;	  /* a message cannot go in chunks */
	uint64_t
		planned; /* the length of the demand's schedule for these messages; 0: it is for others, or there is none */
	uint64_t planned_port; /* of that, what the demand's fullest port needs */
};

#define CHOICE_SIZES 16 /* classes of demands: bytes of the port, by factors of four, */
#define CHOICE_SKEWS 4	/* and turns / port */
#define CHOICE_KEPT 5	/* of whose times the lower quartile counts */

/* What one way was seen to take for demands of one class. */
struct seen {
	double rate
		[CHOICE_KEPT]; /* the last ones: seconds for each byte that the way waits for, barriers not counted */
	uint32_t samples;      /* 0: never seen */
	uint64_t last;	       /* the class's number of calls when it was taken last */
};

/* All zeroes: nothing known. */
struct memory {
	uint64_t messages; /* that a port sends or receives, the fullest one */
	double barriers;   /* seconds of all barriers of an exchange, where there are any */
	double asking;	   /* seconds that are spent before each call that does not go MPI's own way */
	uint32_t phases;   /* of the demand's schedule */
	struct seen seen[NWAYS][CHOICE_SIZES][CHOICE_SKEWS];
	uint64_t calls[CHOICE_SIZES][CHOICE_SKEWS];
};

struct choice {
	enum way way;
	uint64_t chunk;	       /* bytes of a chunk */
	double seconds[NWAYS]; /* that each way will take, as far as is known; negative: not known, or impossible */
	bool is_trial;	       /* taken to see how long it takes */
	uint32_t size, skew;   /* class of the demand */
	double slowness;       /* turns / port */
};

/* Decide for a demand whose port is above 0. Counts the call. */
void forsched_mpi_choose(struct memory *memory, const struct demand *demand, struct choice *choice);

/* What barriers take over what the messages of all phases do; negative: not known. */
double forsched_mpi_barrier_share(const struct memory *memory, const struct demand *demand);

/* A way took so many seconds for a demand. */
void forsched_mpi_learn(struct memory *memory, const struct demand *demand, enum way way, double seconds);

/* Nothing is known any more of the schedule of a demand; it has so many phases now. */
void forsched_mpi_forget_demand(struct memory *memory, uint32_t phases);

/* "MPI's own way", "phases", "chunks", "the demand's phases". */
const char *forsched_mpi_way_name(enum way way);

#endif
