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
 * numbers. A rank knows its own sizes only: one reduction tells rank 0 those of all (sizes.c), and with the time that
 * earlier calls took it picks the way that the call goes (choice.c), which is in its broadcast (chief.c).
 */
#ifndef FORSCHED_MPI_FOLLOW_H
#define FORSCHED_MPI_FOLLOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "choice.h"
#include "libforsched/forsched.h"
#include "places.h"
#include "portions.h"
#include "subset.h"
#include "waiting.h"

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
	LEFT_QUICKER, /* or to be tried, or set */
	LEFT_LATER,   /* it does not wait */
	LEFT_FAILED,
	NLEFT
};

/* What all ranks do with it. */
struct order {
	enum way way;
	enum left why;	  /* where way is WAY_MPI */
	uint64_t chunk;	  /* bytes, where way is WAY_CHUNKS */
	uint64_t unit;	  /* where it is WAY_DEMAND: messages are cut at multiples of it */
	bool has_barrier; /* between phases */
};

/* ---- member.c: what a communicator has agreed on ---- */

/* Whom a rank's place sends to, and receives from: by phase, a place or NO_PLACE. */
struct phases {
	uint32_t n, least; /* least: so many there have to be */
	uint32_t *to, *from;
};

enum step {
	STEP_NONE,
	STEP_ROOM,
	STEP_BYTES,
	STEP_SERVERS,
	STEP_PHASES,
	STEP_PRIVATE,
	STEP_WITHIN,
	STEP_ACROSS,
	STEP_BARRIER,
	STEPS_END,
	STEP_HEAD, /* the same for the schedule of a demand, while another one is followed */
	STEP_CELLS,
	STEP_TOTALS,
	NSTEPS
};

/* A schedule that is being taken up. All ranks are equally far. */
struct taking {
	enum step step;	       /* the next one; STEP_NONE: none is taken up */
	uint64_t weight;       /* of the steps in a call */
	uint64_t piece, done;  /* bytes of the schedule in a step; so far */
	uint64_t epoch, calls; /* calls that had steps */
	int *servers;	       /* by rank; -1: none of the schedule */
	struct phases phases;
	uint32_t barriers;	    /* that were timed */
	double seconds, barrier;    /* that the steps took here; the least that a barrier took */
	struct portions portions;   /* of a demand, so far */
	uint32_t phase, ncells;	    /* the next one, and how many there are in a step */
	struct portion_cell *cells; /* room for a step; on rank 0 those of each rank */
	uint32_t *server,
		*place; /* rank 0: the demand's server of each place, and the place of each server; or NO_PLACE */
};

/* Ranks speak while MPI does the program's call: what comes in the next call that is not left to MPI at once. */
enum aside { ASIDE_NOT, ASIDE_TELL, ASIDE_HEAR };

/* What rank 0 tells the others. All numbers are 64 bits wide, to be sent as they are. */
struct word {
	uint64_t is_new;      /* there is a newer epoch, or another verdict: forget the old schedule */
	uint64_t size;	      /* bytes of the new schedule; 0: it is not for this communicator, or not to be followed */
	uint64_t is_over;     /* never ask again */
	uint64_t is_weighing; /* there is a schedule for this communicator: tell how much is sent */
	uint64_t quiet;	      /* leave so many calls after this one to MPI */
	uint64_t is_aside;    /* after that, speak while MPI does the calls */
	uint64_t is_for_small; /* both are for small calls: an MPI_Alltoall that is large ends them */
	uint64_t min_bytes;
	uint64_t barrier; /* enum barrier */
	uint64_t epoch;
	uint64_t way, chunk, unit, has_barrier; /* of this call */
	uint64_t demand;			/* enum demand_news */
	uint64_t weight; /* of the steps of taking up that a call may have; ALL_STEPS: all, in this call */
	uint64_t piece;	 /* bytes of the schedule in such a step */
};

/* The schedule of a demand: take up another one, or follow it no more. */
enum demand_news { DEMAND_SAME, DEMAND_NEW, DEMAND_GONE };

#define ALL_STEPS 64 /* more than all of them weigh, in pieces as rank 0 makes them then */

#define GROUPS 64		  /* of phases, at most */
#define MOST_NUMBERS (8 + GROUPS) /* that a rank tells, or some fewer */

struct member {
	MPI_Comm private_comm;	   /* for the messages of exchanges; MPI_COMM_NULL: not needed so far */
	int rank, size;		   /* of the communicator */
	bool is_following;	   /* the schedule fits: run exchanges along it */
	struct forsched *schedule; /* that all ranks hold; NULL: none */
	void *bytes;		   /* it lies in them, */
	uint64_t nbytes;	   /* so many */
	struct family *family;	   /* NULL: not known */
	uint32_t server;	   /* this rank's, of the schedule followed */
	struct places places;	   /* of the schedule followed, as all that is below */
	struct turns turns;
	uint32_t me;	/* this rank's place */
	int local;	/* its number among the ranks of its place */
	uint32_t least; /* phases that there have to be; as many as in turns where all servers have ranks */
	int most;	/* ranks that any place has */
	MPI_Comm within,
		across;	       /* the ranks of a place, the first ones of all; MPI_COMM_NULL: each place has one rank */
	MPI_Request *requests; /* room of exchange.c: 3 `most` */
	void *streams;	       /* room of chunks.c */
	struct portions portions; /* of the schedule of a demand, where one is followed beside it */
	uint64_t calls;		  /* so far on this communicator, the same on all ranks */
	uint64_t quiet;		  /* so many calls more are left to MPI before ranks speak again */
	uint64_t min_bytes;	  /* a call none of whose messages has as many is left to MPI */
	bool is_agreed;		  /* min_bytes is known: rank 0 has spoken */
	bool is_over;		  /* there will never be a schedule to follow: ranks do not speak again */
	bool is_weighing;	  /* ranks tell rank 0 how much each call sends */
	bool may_have_barrier;	  /* between phases, in some calls or in all */
	MPI_Datatype vector;	  /* what they tell it in, `length` numbers; MPI_DATATYPE_NULL: none yet */
	uint32_t length, ngroups; /* of these numbers so many are of groups of phases */
	uint16_t *group_of;	  /* by rank: the group of the phase in which this one sends to it */
	double began, took;	  /* the call that runs, when; how long the last one took here, 0: not known; seconds */
	enum aside aside;
	bool is_for_small;    /* that, and `quiet`, end with a large MPI_Alltoall, which all ranks know to be one */
	uint64_t unheard;     /* the longest message of this rank, in bytes, of such calls that nobody spoke about */
	MPI_Request speaking; /* aside, during this call; MPI_REQUEST_NULL: nobody is */
	uint64_t mine[MOST_NUMBERS], all[MOST_NUMBERS]; /* what is told aside, here and by all, */
	uint64_t bytes_aside;				/* struct heard's bytes, */
	struct word word;				/* and what is heard, */
	void *given;					/* with a schedule; rank 0 */
	struct taking taking;				/* while it is taken up */
	struct chief *chief;				/* rank 0: what only it knows */
};

/*
 * What all ranks do with this call on comm, in *order, and who does it, in *member; NULL: nobody, it is left to MPI
 * (inter-communicators, single ranks). Collective: every rank of comm calls it in the same order. The communicator owns
 * the member. When it is not NULL and the call is over, forsched_mpi_leave() takes the time, and ends what ranks say
 * during the call.
 */
int forsched_mpi_enter(MPI_Comm comm, const struct call *call, struct member **member, struct order *order);
int forsched_mpi_leave(struct member *member, MPI_Comm comm);

/* A new communicator has this family, which is the library's own from now on. Collective over it. */
int forsched_mpi_join_family(MPI_Comm comm, struct family *family);

/*
 * The schedule that this process has to follow: of its job, if there is one. Owned by the caller; NULL: there is none, and
 * a person has been told.
 */
char *forsched_mpi_find(const char *path);

/* How often a communicator of this process began to follow an epoch. Any thread may ask. */
uint64_t forsched_mpi_epochs(void);

/* ---- family.c: communicators that were made together ---- */

/* After an MPI function has made `made` (MPI_COMM_NULL: not for this rank) from `old`. Collective over `old`. */
void forsched_mpi_found(MPI_Comm old, MPI_Comm made);
void forsched_mpi_family_free(struct family *family);

/* ---- take_up.c: a schedule is taken up by all ranks, or by none ---- */

/* Do all ranks say yes? Collective. */
int forsched_mpi_all_agree(MPI_Comm comm, bool mine, bool *all);
/* From now on take up the schedule that rank 0 has in `bytes` (its own no more; elsewhere NULL). Nothing is told yet. */
void forsched_mpi_begin(struct member *member, const struct word *word, void *bytes);
/*
 * The steps of one call, while member->taking.step says that there are any. After the last one all ranks know in
 * member->is_following whether they follow it. Collective.
 */
int forsched_mpi_go_on(struct member *member, MPI_Comm comm);
/* Forget the schedule; also communicators, unless MPI is at its end. */
void forsched_mpi_drop(struct member *member, bool is_finalized);
/* Forget that of a demand only. */
void forsched_mpi_drop_demand(struct member *member);

/* ---- take_demand.c: the steps for the schedule of a demand; collective ---- */

int forsched_mpi_take_head(struct member *member, MPI_Comm comm, bool *goes_on);
int forsched_mpi_take_cells(struct member *member, MPI_Comm comm, bool *goes_on);
int forsched_mpi_take_totals(struct member *member, MPI_Comm comm, bool *goes_on);

/* ---- sizes.c: what all ranks together want to send ---- */

/* Bytes of an element of a type; 0: it is none. */
uint64_t forsched_mpi_size_of(MPI_Datatype type);
/* Bytes of each message of an MPI_Alltoall. */
uint64_t forsched_mpi_uniform_bytes(const struct call *call);
/* Note in which phase this rank sends to whom: member->group_of, for the turns that it has now. */
void forsched_mpi_group(struct member *member);
/* The numbers that ranks tell are others under another schedule. */
void forsched_mpi_drop_vector(struct member *member);

/* What rank 0 hears. */
struct heard {
	struct demand demand; /* of this call; turns 0: not known without a schedule */
	double took;	      /* seconds of the last call that was timed, until the last rank was done; 0: none was */
	bool is_even;	      /* each rank sends what the other expects */
	uint64_t ratio;	      /* to the demand; NO_RATIO: no such call */
	bool is_aside;	      /* ranks spoke during the call */
	uint64_t bytes;	      /* of each message of an MPI_Alltoall; 0: another function */
};

/* Collective. *heard is written on rank 0 only. */
int forsched_mpi_weigh(struct member *member, MPI_Comm comm, const struct call *call, struct heard *heard);
/*
 * The same beside the call: begin in member->speaking, and what rank 0 heard at its end. Where a schedule is followed that is
 * only whether the call was small, for what the ranks of a server have is not added up.
 */
int forsched_mpi_weigh_aside(struct member *member, MPI_Comm comm, const struct call *call);
struct heard forsched_mpi_heard_aside(const struct member *member);
/* This rank's longest message of a call that nobody speaks about: it is told in the next one that is spoken about aside. */
void forsched_mpi_note_longest(struct member *member, const struct call *call);

/* ---- demand_file.c: the schedule of a demand, as rank 0 finds it ---- */

/* All zeroes: never looked for. */
struct demand_file {
	struct forsched *file; /* the newest seen; NULL: none */
	bool is_fit;	       /* it is not withdrawn */
	bool is_unusable;      /* ranks could not take it up */
	bool is_untold;	       /* the others do not know of it */
	bool has_said;	       /* that there are several */
};

/* Look for a newer one, beside the schedule that is followed or where FORSCHED_DEMAND says. What is found is is_untold. */
void forsched_mpi_look_for_demand(struct demand_file *demand, const struct forsched *schedule);
/* Its rows, which take much memory, are dealt out. */
void forsched_mpi_forget_rows(struct demand_file *demand);

/* ---- chief.c: what rank 0 sees and decides ---- */

struct chief *forsched_mpi_chief_new(void); /* NULL: no memory */
void forsched_mpi_chief_free(struct chief *chief);
/* The word for a call, which is in *heard, too; NULL: nobody was asked. With a schedule to be broadcast, its bytes in *bytes, the caller's. */
struct word forsched_mpi_speak(struct member *member, struct heard *heard, void **bytes);
/* A schedule was taken up, or could not be; it took so long, and so long does a barrier. Seconds. */
void forsched_mpi_taken_up(struct member *member, double seconds, double barrier);
/* The same for that of a demand. */
void forsched_mpi_demand_taken_up(struct member *member, bool is_followed);
/* The file that a demand's schedule is taken from. */
const struct forsched *forsched_mpi_demand_taken(const struct member *member);
/* To ask and to answer took rank 0 so many seconds. */
void forsched_mpi_asked(struct member *member, double seconds);

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

/* To whom or from whom a message goes, its tag, and, where blocks are packed, which of them it is. */
struct letter {
	int rank, tag;
	size_t item;
};

/* Pack `n` blocks. On errors *packed is empty. The caller frees it. */
int forsched_mpi_pack(const struct member *member, const struct block *block, size_t n, struct packed *packed);
void forsched_mpi_packed_free(struct packed *packed);
/* Start sending a packed block. */
int forsched_mpi_send_packed(const struct member *member, const struct packed *packed, const struct letter *letter,
			     MPI_Request *request);

/* ---- exchange.c ---- */

/* Tags on the private communicator. */
#define TAG_DATA 1
#define TAG_BARRIER 2
#define TAG_CHUNK 3
#define TAG_PIECE 4

/*
 * Run the exchange along the schedule, in phases or in chunks. After an error the other messages are exchanged all the
 * same, so that no other rank waits for ever; the first error is returned.
 */
int forsched_mpi_exchange(struct member *member, const struct call *call, const struct order *order);

/* An exchange that runs. */
struct exchange {
	const struct member *member;
	const struct side *send; /* NULL: in place, then packed is set */
	const struct side *recv;
	struct packed packed;
	bool has_barrier;
};

/* Keep the first error. */
void forsched_mpi_note(int *first, int err);
int forsched_mpi_wait_for(MPI_Request *requests, int n);

/*
 * Start what this rank receives from another, or sends to it. Where the caller's block is so wrong that MPI refuses it,
 * an empty message takes its place: the other rank waits for one, and must not be served by the next call's.
 */
int forsched_mpi_start_receive(const struct exchange *exchange, const struct block *block, const struct letter *letter,
			       MPI_Request *request);
int forsched_mpi_start_send(const struct exchange *exchange, const struct block *block, const struct letter *letter,
			    MPI_Request *request);

/* All ranks wait for each other; how long that took here, in seconds. */
int forsched_mpi_time_barrier(const struct member *member, double *seconds);

/* ---- chunks.c ---- */

/* Is there room? It is made at the first time; member->streams, the caller's. */
bool forsched_mpi_can_chunk(struct member *member);
/* All messages to other servers, in chunks of so many bytes. Only where each rank sends what the other expects. */
int forsched_mpi_run_chunks(const struct member *member, const struct side *send, const struct side *recv,
			    uint64_t chunk);

/* ---- run_demand.c ---- */

/* All messages to other servers, along the schedule of the demand. Only where each rank sends what the other expects. */
int forsched_mpi_run_demand(const struct exchange *exchange, uint64_t unit);
/* In place: how many pieces this rank sends, empty ones too; and where each of them is. */
size_t forsched_mpi_count_pieces(const struct member *member);
void forsched_mpi_fill_pieces(const struct exchange *exchange, uint64_t unit, struct block *block);

/* ---- later.c: calls that do not wait ---- */

enum later { IALLTOALL, IALLTOALLV, IALLTOALLW, ALLTOALL_INIT, ALLTOALLV_INIT, ALLTOALLW_INIT, NLATERS };

/* Count such a call, and say at the first one that it is left to MPI. Any thread. */
void forsched_mpi_leave_later(enum later which, MPI_Comm comm);

/* ---- alltoall.c ---- */

/* One more call of this process is left to MPI. Any thread. */
void forsched_mpi_count_left(enum left why);

/* ---- settings.c ---- */

/* An environment variable that is set and not empty, or NULL. */
const char *forsched_mpi_setting(const char *name);
/* A number in the environment; what is none is complained of and counts as the usual one. */
uint64_t forsched_mpi_number(const char *name, uint64_t usual);
/* What FORSCHED_BARRIER says. */
enum barrier forsched_mpi_barrier_setting(void);
/* Seconds on a clock that only goes forward. */
double forsched_mpi_now(void);

/*
 * A line to standard error: what a person has to know, once in each process; with FORSCHED_VERBOSE=0 nothing. `chat`:
 * only with FORSCHED_VERBOSE=2, and as often as it happens. Any thread.
 */
void forsched_mpi_say(bool chat, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
