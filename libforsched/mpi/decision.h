/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * decision.h - does a call follow the schedule, or is it left to MPI?
 *
 * Asked by rank 0 of a communicator, which tells all ranks the answer. Pure: no MPI, no clock. One thread at a time for one
 * decision.
 */
#ifndef FORSCHED_MPI_DECISION_H
#define FORSCHED_MPI_DECISION_H

#include <stdbool.h>
#include <stdint.h>

enum way { WAY_MPI, WAY_PHASES, WAY_CHUNKS, NWAYS };

/* What all ranks together want to send, in bytes; what a rank keeps for itself is not in it. */
struct sizes {
	uint64_t longest; /* message */
	uint64_t rank;	  /* sent by, or received by, the rank that has most of either */
	uint64_t unit;	  /* messages may be cut at multiples of it; 0: they cannot be cut */
	bool is_whole;	  /* a message cannot go in chunks */
};

/* The last three of some numbers; all zeroes: none. */
struct three {
	double number[3];
	uint32_t n;
};

void forsched_mpi_note_number(struct three *three, double number);
/* The middle one; negative: there are no three yet. */
double forsched_mpi_middle(const struct three *three);

/* Begins with the number of peers of a rank, and no schedule that is followed: waiting is 0. */
struct decision {
	uint32_t peers;	   /* other ranks */
	double waiting;	   /* seconds that the phases take without data */
	struct three rate; /* seconds for each byte of the rank that has most, in MPI's own way */
	uint64_t reach;	   /* bytes of a message in those calls */
	uint64_t least;	   /* bytes of a message from which on calls follow; UINT64_MAX: none does yet */
	uint32_t slow;	   /* calls in a row that followed, and took longer than MPI's own way */
};

/* A schedule is followed from now on, or none is (waiting 0): nothing is known of it. */
void forsched_mpi_begin_deciding(struct decision *decision, uint32_t peers, double waiting);

enum way forsched_mpi_decide(const struct decision *decision, const struct sizes *sizes);

/* A call went this way, and took so many seconds until the last rank was done. */
void forsched_mpi_learn(struct decision *decision, const struct sizes *sizes, enum way way, double seconds);

/* Bytes of a message up to which calls may follow: longer ones were never measured. */
uint64_t forsched_mpi_most(const struct decision *decision);

/* Bytes of a message of the rank that has most, on average. */
uint64_t forsched_mpi_mean(const struct decision *decision, const struct sizes *sizes);

/* Bytes of a chunk, no element cut; 0: the call cannot go in chunks. `wanted`: so many; 0: half of a message. */
uint64_t forsched_mpi_chunk(const struct decision *decision, const struct sizes *sizes, uint64_t wanted);

/* "MPI's own way", "phases", "chunks". */
const char *forsched_mpi_way_name(enum way way);

#endif
