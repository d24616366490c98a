/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * follow.h - what the files of libforsched-mpi share.
 *
 * The library stands between a program and its MPI: it defines MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw, MPI_Init
 * (init.c) and MPI_Finalize, and their Fortran names (fortran.c), and does its own work with the PMPI_ names, by which
 * MPI offers the same functions to such libraries.
 *
 * Whatever decides how messages go has to be the same on all ranks of a communicator, else they would wait for each
 * other for ever. So nothing is decided by what one rank sees: rank 0 of the communicator reads settings and schedule
 * and broadcasts them, ranks tell each other which servers they are, and each comes to the same verdict from the same
 * numbers. A rank knows its own sizes only: one reduction tells rank 0 those of all (sizes.c), and with what was measured
 * it picks the way that the call goes (decision.c), which is in its broadcast (root.c).
 */
#ifndef FORSCHED_MPI_FOLLOW_H
#define FORSCHED_MPI_FOLLOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "decision.h"
#include "libforsched/forsched.h"
#include "places.h"
#include "subset.h"

/* Functions return MPI error codes, MPI_SUCCESS = 0; those of MPI have not been reported to an error handler yet. */

/* ---- a call ---- */

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

/* What a program wants. */
struct call {
	const struct side *send; /* NULL: in place, what recv holds is sent and replaced */
	const struct side *recv;
	bool is_uniform; /* an MPI_Alltoall: all messages of all ranks have one size */
};

/* Why a call is left to MPI, for the person who asks. */
enum left {
	LEFT_UNSET,	  /* FORSCHED_SCHEDULE is not set */
	LEFT_NO_SCHEDULE, /* none that the communicator can follow */
	LEFT_NOT_YET,	  /* it is not taken up yet */
	LEFT_ALONE,	  /* one rank, or two groups */
	LEFT_SMALL,
	LEFT_SHORT, /* beside what phases wait, or not known to be longer */
	LEFT_FAILED,
	NLEFT
};

/* What all ranks do with it. */
struct order {
	enum way way;
	enum left why;	/* where way is WAY_MPI */
	uint64_t chunk; /* bytes, where way is WAY_CHUNKS */
};

/* ---- member.c: what a communicator has agreed on ---- */

/* Whom a rank's place sends to, and receives from: by phase, a place or NO_PLACE. */
struct phases {
	uint32_t n, least; /* least: so many there have to be */
	uint32_t *to, *from;
};

/* What rank 0 tells the others. All numbers are 64 bits wide, to be sent as they are. */
struct word {
	uint64_t is_new;      /* there is a newer epoch, or another verdict: forget the old schedule */
	uint64_t size;	      /* bytes of the new schedule; 0: it is not for this communicator, or not to be followed */
	uint64_t is_over;     /* never ask again */
	uint64_t is_weighing; /* there is a schedule for this communicator: tell how much is sent */
	uint64_t quiet;	      /* so many calls after this one pass without a word */
	uint64_t from, to;    /* bytes of a message of an MPI_Alltoall that follows the schedule then */
	uint64_t min_bytes;
	uint64_t has_barrier; /* between phases */
	uint64_t epoch;
	uint64_t way, chunk; /* of this call */
};

struct member {
	MPI_Comm private_comm;	   /* for the messages of exchanges; MPI_COMM_NULL: not needed so far */
	int rank, size;		   /* of the communicator */
	bool is_following;	   /* the schedule fits: run exchanges along it */
	struct forsched *schedule; /* that all ranks hold; NULL: none */
	void *bytes;		   /* it lies in them, */
	uint64_t nbytes;	   /* so many */
	uint32_t server;	   /* this rank's, of the schedule followed */
	struct places places;	   /* of the schedule followed, as all that is below */
	struct turns turns;
	uint32_t me;	       /* this rank's place */
	int local;	       /* its number among the ranks of its place */
	uint32_t least;	       /* phases that there have to be; as many as in turns where all servers have ranks */
	int most;	       /* ranks that any place has */
	MPI_Request *requests; /* room of exchange.c: 3 `most` */
	void *streams;	       /* room of chunks.c */
	uint64_t calls;	       /* so far on this communicator, the same on all ranks */
	uint64_t quiet;	       /* so many calls more pass without a word, */
	uint64_t from, to;     /* and follow the schedule all the same, if they are an MPI_Alltoall of so many bytes */
	uint64_t min_bytes;    /* a call none of whose messages has as many is left to MPI */
	bool is_agreed;	       /* min_bytes is known: rank 0 has spoken */
	bool is_over;	       /* there will never be a schedule to follow: ranks do not speak again */
	bool is_weighing;      /* ranks tell rank 0 how much each call sends */
	bool has_barrier;      /* between phases */
	bool is_asked;	       /* about the call that runs: ranks have spoken */
	double began;	       /* that call, when; 0: nobody wants to know */
	double took;	       /* the last one that was asked about, seconds; 0: not known */
	double asking;	       /* to ask about it, seconds; 0: not known */
	struct root *root;     /* rank 0: what only it knows */
};

/*
 * What all ranks do with this call on comm, in *order, and who does it, in *member; NULL: nobody, it is left to MPI
 * (inter-communicators, single ranks). Collective: every rank of comm calls it in the same order. The communicator owns
 * the member. When it is not NULL and the call is over, forsched_mpi_leave() takes the time.
 */
int forsched_mpi_enter(MPI_Comm comm, const struct call *call, struct member **member, struct order *order);
void forsched_mpi_leave(struct member *member);

/* How often a communicator of this process began to follow an epoch. Any thread may ask. */
uint64_t forsched_mpi_epochs(void);

/* ---- take_up.c: a schedule is taken up by all ranks, or by none ---- */

/* Do all ranks say yes? Collective. */
int forsched_mpi_all_agree(MPI_Comm comm, bool mine, bool *all);
/*
 * Take up the schedule that rank 0 has in `bytes` (its own no more; elsewhere NULL). Afterwards all ranks know in
 * member->is_following whether they follow it. Collective.
 */
int forsched_mpi_take_up(struct member *member, MPI_Comm comm, const struct word *word, void *bytes);
/* Forget the schedule. */
void forsched_mpi_drop(struct member *member);

/* ---- sizes.c: what all ranks together want to send ---- */

/* Bytes of an element of a type; 0: it is none. */
uint64_t forsched_mpi_size_of(MPI_Datatype type);
/* Bytes of each message of an MPI_Alltoall. */
uint64_t forsched_mpi_uniform_bytes(const struct call *call);

/* What rank 0 hears. */
struct heard {
	struct sizes sizes; /* of this call */
	double took;   /* seconds of the last call that was asked about, until the last rank was done; 0: not known */
	double asking; /* the same of asking, on the rank that waited longest */
	bool is_even;  /* each rank sends what the other expects */
};

/* Collective. *heard is written on rank 0 only. */
int forsched_mpi_weigh(struct member *member, MPI_Comm comm, const struct call *call, struct heard *heard);

/* ---- root.c: what rank 0 sees and decides ---- */

struct root *forsched_mpi_root_new(int size); /* NULL: no memory */
void forsched_mpi_root_free(struct root *root);
/* The word for a call, NULL: nobody was asked. With a schedule to be broadcast, its bytes in *bytes, the caller's. */
struct word forsched_mpi_speak(struct member *member, struct heard *heard, void **bytes);
/* A schedule was taken up, or could not be; it took so long, and so long do phases without data. Seconds. */
void forsched_mpi_taken_up(struct member *member, double seconds, double waiting);
/* A call took rank 0 so many seconds. */
void forsched_mpi_called(struct member *member, double seconds);

/* ---- init.c: MPI_Init, and the path index ---- */

/* The path index that this process's messages have. */
uint8_t forsched_mpi_path_in_use(void);
/* Say once that a plan, all of whose rows are there, wants other LIDs than this process sends to. */
void forsched_mpi_warn_of_paths(const struct forsched *schedule);

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
	} * block;
};

/* Pack a block for each rank. On errors *packed is empty. The caller frees it. */
int forsched_mpi_pack(const struct member *member, const struct block *block, struct packed *packed);
void forsched_mpi_packed_free(struct packed *packed);
/* Start sending the packed block of a rank to it. */
int forsched_mpi_send_packed(const struct member *member, const struct packed *packed, int rank, MPI_Request *request);

/* ---- exchange.c ---- */

/* Tags on the private communicator. */
#define TAG_DATA 1
#define TAG_BARRIER 2
#define TAG_CHUNK 3

/*
 * Run the exchange along the schedule, in phases or in chunks. After an error the other messages are exchanged all the
 * same, so that no other rank waits for ever; the first error is returned.
 */
int forsched_mpi_exchange(struct member *member, const struct call *call, const struct order *order);

/* All phases with empty messages; how long that took, in seconds, until the last rank was done. Collective. */
int forsched_mpi_time_phases(const struct member *member, double *seconds);

/* ---- chunks.c ---- */

/* Is there room? It is made at the first time; member->streams, the caller's. */
bool forsched_mpi_can_chunk(struct member *member);
/* All messages to other servers, in chunks of so many bytes. Only where each rank sends what the other expects. */
int forsched_mpi_run_chunks(const struct member *member, const struct side *send, const struct side *recv,
			    uint64_t chunk);

/* ---- settings.c ---- */

/* An environment variable that is set and not empty, or NULL. */
const char *forsched_mpi_setting(const char *name);
/* A number in the environment; what is none is complained of and counts as the usual one. */
uint64_t forsched_mpi_number(const char *name, uint64_t usual);
/* What FORSCHED_BARRIER says. */
bool forsched_mpi_has_barrier(void);
/* Seconds on a clock that only goes forward. */
double forsched_mpi_now(void);

/*
 * A line to standard error: what a person has to know, once in each process; with FORSCHED_VERBOSE=0 nothing. `chat`:
 * only with FORSCHED_VERBOSE=2, and as often as it happens. Any thread.
 */
void forsched_mpi_say(bool chat, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
