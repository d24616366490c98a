/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * follow.h - what the files of libforsched-mpi share.
 *
 * The library stands between a program and its MPI: it defines MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw, MPI_Init
 * (init.c) and MPI_Finalize, and does its own work with the PMPI_ names, by which MPI offers the same functions to such
 * libraries.
 *
 * Whatever decides how messages go has to be the same on all ranks of a communicator, else they would wait for each
 * other for ever. So nothing is decided by what one rank sees: rank 0 of the communicator reads settings and schedule
 * and broadcasts them, ranks tell each other which servers they are, and each comes to the same verdict from the same
 * numbers.
 */
#ifndef FORSCHED_MPI_FOLLOW_H
#define FORSCHED_MPI_FOLLOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libforsched/forsched.h"

/* Functions return MPI error codes, MPI_SUCCESS = 0; those of MPI have not been reported to an error handler yet. */

/* ---- member.c: what a communicator has agreed on ---- */

struct member {
	MPI_Comm private_comm;	   /* for the messages of exchanges; MPI_COMM_NULL: not needed so far */
	int rank, size;		   /* of the communicator */
	bool is_following;	   /* the schedule fits: run exchanges along it */
	struct forsched *schedule; /* that all ranks hold; NULL: none */
	void *bytes;		   /* it lies in them */
	uint32_t me;		   /* this rank's server; of the schedule followed */
	int *rank_of;		   /* by server */
	uint64_t calls;		   /* so far on this communicator, the same on all ranks */
	uint64_t check_every;	   /* look for a newer epoch before each n-th call; 0: never again */
	uint64_t min_bytes;	   /* MPI_Alltoall with fewer bytes per pair is left to MPI */
	bool has_barrier;	   /* between phases */
	struct forsched *file;	   /* rank 0: the newest schedule seen */
	bool is_fit;		   /* rank 0: it is one for this communicator */
	bool is_refused;	   /* rank 0: nobody stands behind it, and FORSCHED_STRICT is set */
};

/*
 * What holds for this call on comm, in *member; NULL: leave it to MPI (inter-communicators, single ranks). Collective:
 * every rank of comm calls it in the same order. The communicator owns the result.
 */
int forsched_mpi_enter(MPI_Comm comm, struct member **member);

/*
 * The schedule that this process has to follow: of its job, if there is one. Owned by the caller; NULL: there is none, and
 * a person has been told.
 */
char *forsched_mpi_find(const char *path);

/* How often a communicator of this process began to follow an epoch. Any thread may ask. */
uint64_t forsched_mpi_epochs(void);

/* ---- init.c: MPI_Init, and the path index ---- */

/* Say once that a plan, all of whose rows are there, wants other LIDs than this process sends to. */
void forsched_mpi_warn_of_paths(const struct forsched *schedule);

/* ---- exchange.c ---- */

/* One side of an all-to-all: where the block of each rank is. */
struct side {
	char *buffer;
	const int *counts;	   /* by rank; NULL: `count` for all */
	const int *displacements;  /* by rank, times `unit` bytes; NULL: blocks follow each other */
	const MPI_Datatype *types; /* by rank; NULL: `type` for all */
	int count;
	MPI_Datatype type;
	MPI_Aint unit;
};

/* Tags on the private communicator. */
#define TAG_DATA 1
#define TAG_BARRIER 2

/*
 * Run the exchange along the schedule. send == NULL: in place, what recv holds is sent and replaced. After an error the
 * other messages are exchanged all the same, so that no other rank waits for ever; the first error is returned.
 */
int forsched_mpi_exchange(const struct member *member, const struct side *send, const struct side *recv);

/* ---- packed.c ---- */

/* What is sent to one rank, or received from it. */
struct block {
	void *at;
	int count;
	MPI_Datatype type;
};

struct block forsched_mpi_block_of(const struct side *side, int rank);

/* All blocks to be sent, packed one behind the other; bytes == NULL: nothing could be packed. */
struct packed {
	char *bytes;
	struct packed_block {
		size_t offset, size;
		bool is_wide; /* of more bytes than an int counts */
	} * block;	      /* by rank; this rank's own has none */
};

/* Pack what `from` holds. On errors *packed is empty. The caller frees it. */
int forsched_mpi_pack(const struct member *member, const struct side *from, struct packed *packed);
void forsched_mpi_packed_free(struct packed *packed);
/* Start sending a packed block. */
int forsched_mpi_send_packed(const struct member *member, const struct packed *packed, int rank, MPI_Request *request);

/* ---- whoami.c ---- */

/*
 * Which server of the schedule this process runs on, in *number. False: none, or not certain; `why` (of
 * FORSCHED_ERROR_TEXT bytes) says why. Asks FORSCHED_SERVER, else FORSCHED_MAP, else the ports of this host.
 */
bool forsched_mpi_whoami(const struct forsched *schedule, uint32_t *number, char *why);

/* ---- settings.c ---- */

/* An environment variable that is set and not empty, or NULL. */
const char *forsched_mpi_setting(const char *name);

/*
 * A line to standard error: what a person has to know, once in each process; with FORSCHED_VERBOSE=0 nothing. `chat`:
 * only with FORSCHED_VERBOSE=2, and as often as it happens. Any thread.
 */
void forsched_mpi_say(bool chat, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
