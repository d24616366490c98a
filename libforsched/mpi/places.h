/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.h - which ranks are on which server, and in which order a rank's messages go.
 *
 * Pure: no MPI. Ranks are numbers in a communicator, servers numbers in a schedule. Whoever makes places or turns frees
 * them. One thread at a time for one of them.
 */
#ifndef FORSCHED_MPI_PLACES_H
#define FORSCHED_MPI_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#define NO_PLACE UINT32_MAX

/* Where the ranks of a communicator are. A place is a server of the schedule that has ranks here, in the schedule's order. */
struct places {
	uint32_t n;
	uint32_t *server; /* by place: its number in the schedule */
	uint32_t *of;	  /* by server of the schedule: its place, or NO_PLACE */
	int *first;	  /* by place, and one more: where its ranks begin in `rank` */
	int *rank;	  /* by place, ascending */
	uint32_t *at;	  /* by rank: its place */
};

/*
 * The messages of this rank to ranks of other servers, phase by phase. In the phase of server s to server d all ranks of
 * s send to all ranks of d: rank i of the ks on s begins at floor(i kd / ks) of the kd on d, and goes on in a circle.
 */
struct turns {
	uint32_t n;			/* phases */
	uint32_t *out_first, *in_first; /* by phase, and one more: where its messages begin in `out` and `in` */
	int *out, *in;			/* to which rank, from which; in an order in which nobody waits in a circle */
};

/* From which server each rank is, servers[rank] < nservers, as places. False: no memory. */
bool forsched_mpi_make_places(struct places *places, const int *servers, int size, uint32_t nservers);
void forsched_mpi_places_free(struct places *places);
/* Ranks on a server. */
int forsched_mpi_ranks_at(const struct places *places, uint32_t place);

/*
 * A rank's turns: in each phase its place sends to place to[phase], and receives from place from[phase]; NO_PLACE:
 * nobody. False: no memory.
 */
bool forsched_mpi_make_turns(struct turns *turns, const struct places *places, int rank, uint32_t nphases,
			     const uint32_t *to, const uint32_t *from);
void forsched_mpi_turns_free(struct turns *turns);

#endif
