/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule.h - who sends to whom in which phase, on which path index and lane.
 *
 * The schedule type is all that planners and the verifier share. Two layouts
 * say the same thing; everybody reads them through fors_schedule_flow():
 *
 * dense:  one cell per (server, phase). Any plan fits; 4 bytes per flow.
 * rounds: a plan of method rounds. The servers of each leaf form `parts`
 *         groups (rank r is member r / parts of group r % parts), each group is
 *         a virtual leaf v = leaf * parts + group. A round has `round_length`
 *         phases, phase t is number t % round_length of round t / round_length. There is one cell per
 *         (v, round, position i): the receiver d that the members of v send to
 *         one after another; at phase number u of the round the member
 *         (u + i) mod round_length of v sends to it, nobody when there is no
 *         such member or when it is d itself.
 *
 * In a two-level tree that fors routes itself a flow crosses one spine, and its cell names the lane. Everywhere else
 * lanes mean nothing: cells have FORS_NO_LANE, nlanes is 0, and `ways` says which switches and cables a flow crosses.
 *
 * A schedule of a demand is dense, and has a length for each phase and a size for each cell: each server sends to each
 * other any number of times, a piece of its message each time.
 *
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_H
#define FORS_CORE_SCHEDULE_SCHEDULE_H

#include "core/fabric/fabric.h"
#include "ways.h"

#define FORS_IDLE 0xFFFF /* sends to nobody */
#define FORS_NO_SL 255	 /* nobody said which service level */

/* What a server does in a phase. */
struct fors_cell {
	uint16_t dst; /* index of the receiving server, FORS_IDLE: none */
	uint8_t path; /* path index: the destination LID is the receiver's base LID + path */
	uint8_t lane; /* lane of the way (so its spine), FORS_NO_LANE inside a leaf */
};

struct fors_schedule_server {
	uint64_t guid; /* port GUID */
	uint16_t lid;  /* base LID */
	uint16_t leaf, rank;
	uint8_t lmc;
	char desc[FORS_NAME_MAX + 1]; /* node description */
};

struct fors_schedule {
	uint64_t epoch;	      /* 0: not published */
	uint64_t fingerprint; /* of the fabric that it was planned for */
	uint32_t nservers;    /* P */
	uint32_t nphases;     /* T; phases are 0..T-1 */
	uint32_t nleaves;
	uint32_t nlanes;		     /* S */
	uint32_t parts;			     /* rounds layout: groups per leaf; dense layout: 0 */
	uint32_t round_length;		     /* rounds layout: phases per round; nphases is a multiple of it */
	struct fors_schedule_server *server; /* nservers, ordered by leaf, then rank */
	uint64_t *lane_spine;		     /* nlanes: node GUID of the lane's spine */
	struct fors_cell *cell; /* dense: nservers x nphases; rounds: nleaves*parts x nphases; all idle at first */
	char method[16];	/* name of the planner */
	char reason[128];	/* why there is no plan, when nphases is 0; else empty */

	/* Of a demand; length NULL: of an exchange in which each server sends each other one message. (version 3) */
	uint64_t *length; /* per phase: of its longest piece */
	uint64_t *bytes;  /* per cell: so much of a message; 0: nobody sends */
	uint64_t granule; /* all pieces are whole multiples of it */
	bool is_unit;	  /* lengths and bytes are numbers of messages of one size, which nobody said */

	/* Of any of the next three the file is of version 2 (schedule_format.h), or 3, and nlanes is 0. */
	struct fors_waylist *ways; /* NULL: ways are lanes */
	uint8_t *sl;   /* [src * nservers + dst]: service level, FORS_NO_SL: not known; NULL: none is known */
	char name[64]; /* of the job or the demand; empty: all servers of the fabric */

	bool is_dense;	       /* version 2: written cell by cell also where units would do */
	uint64_t fabric_epoch; /* under which the tables that it was verified on were first published; 0: its own */
};

/*
 * An empty schedule for the servers of `fabric` in *schedule, owned by the
 * caller (fors_schedule_free()): all cells idle, epoch 0. parts == 0 asks for
 * the dense layout (round_length is ignored then).
 * Errors: FORS_ELIMIT (more than 65,535 phases), FORS_ENOMEM.
 */
enum fors_err fors_schedule_new(const struct fors_fabric *fabric, uint32_t nphases, uint32_t parts,
				uint32_t round_length, const char *method, struct fors_schedule **schedule,
				struct fors_error *error);

/*
 * The same for nservers servers of any fabric, on nleaves switches, ordered by leaf, then rank, 0, 1, 2 on each: no
 * lanes, no ways yet, fingerprint 0. Errors: the same.
 */
enum fors_err fors_schedule_new_of(const struct fors_schedule_server *server, uint32_t nservers, uint32_t nleaves,
				   uint32_t nphases, uint32_t parts, uint32_t round_length, const char *method,
				   struct fors_schedule **schedule, struct fors_error *error);

void fors_schedule_free(struct fors_schedule *schedule);

/* Room for lengths and sizes in a schedule in the dense layout: it becomes one of a demand, all sizes 0, granule 1. Errors: FORS_ENOMEM. */
enum fors_err fors_schedule_make_sizes(struct fors_schedule *schedule, struct fors_error *error);

/* The version of the format that it is written in, 1, 2 or 3: see struct fors_schedule. */
uint32_t fors_schedule_version(const struct fors_schedule *schedule);

/* Number of cells: see struct fors_schedule. */
size_t fors_schedule_ncells(const struct fors_schedule *schedule);

/* Phases in which anybody sends: the others take no time. */
uint32_t fors_schedule_nbusy(const struct fors_schedule *schedule);

/*
 * What server s (< nservers) does in `phase` (< nphases). Self-sends are idle.
 * O(1), a few nanoseconds.
 */
struct fors_cell fors_schedule_flow(const struct fors_schedule *schedule, uint32_t s, uint32_t phase);

/*
 * What server s does in the n phases from `first` on (first + n <= nphases): where that lies, or in room[n]. As
 * fors_schedule_flow() for each, but a cell that names s itself is left as it is, and means idle all the same.
 */
const struct fors_cell *fors_schedule_flows(const struct fors_schedule *schedule, uint32_t s, uint32_t first,
					    uint32_t n, struct fors_cell *room);

/* Number of the way in schedule->ways of the flow that server s sends by `cell`; FORS_NONE: none, or not known. */
uint32_t fors_schedule_way(const struct fors_schedule *schedule, uint32_t s, struct fors_cell cell);

/* Service level of the flow from server s to server d, FORS_NO_SL: not known. */
uint8_t fors_schedule_sl(const struct fors_schedule *schedule, uint32_t s, uint32_t d);

/* Index of the server with this port GUID, or FORS_NONE. O(P). */
uint32_t fors_schedule_find(const struct fors_schedule *schedule, uint64_t guid);

#endif
