/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rounds.h - what the files of the rounds planner share (private to core/rounds*.c and their tests).
 *
 * rounds.c          the method: which group sizes and numbers of rounds to try, and the schedule
 * rounds_problem.c  units and ways read off the fabric and its tables; the bound
 * rounds_pattern.c  a first colouring that is the same for all leaves
 * rounds_pack.c     units in rounds: the book of what is taken
 * rounds_search.c   finding a round for the units that the pattern left homeless
 *
 * Words: a unit is (group of servers of a leaf, receiving server); its number is
 * (group << server_bits) + receiver, so there are numbers without a unit. A link is leaf * nlanes + lane. No function
 * here keeps global state; any thread may work on its own packing, the problem is only read.
 */
#ifndef FORS_CORE_ROUNDS_H
#define FORS_CORE_ROUNDS_H

#include "planner.h"

#define ROUNDS_NONE UINT32_MAX	   /* no unit */
#define ROUNDS_UNPLACED UINT16_MAX /* the round of a unit without one */

/* All that has to be packed; filled by fors_rounds_problem_init(). */
struct rounds_problem {
	const struct fors_task *task;	  /* borrowed */
	const struct fors_fabric *fabric; /* borrowed */
	uint32_t nleaves, nservers;
	uint32_t nlanes;      /* at least 1, also where a single leaf has no spine */
	uint32_t stride;      /* ways per (leaf, server): the path indices that were read */
	uint32_t npaths;      /* path indices in use, at most stride */
	uint32_t parts;	      /* groups per leaf */
	uint32_t capacity;    /* members of the largest group = phases per round = units of a group in a round */
	uint32_t server_bits; /* bits that hold the number of a server */
	uint16_t *leaf_of;    /* [server]: its leaf */
	uint8_t *up;	      /* [(leaf * nservers + server) * stride + path]: uplink lane, FORS_NO_LANE: no such way */
	uint8_t *down;	      /* the same for the downlink's lane */
};

/*
 * Read the ways of all path indices below max_paths off task's tables into *problem (released with
 * fors_rounds_problem_clear()); npaths and parts are 1 then. Errors: FORS_ENOPLAN (a base LID has no
 * way), FORS_ENOMEM; *problem needs no clearing then.
 */
enum fors_err fors_rounds_problem_init(struct rounds_problem *problem, const struct fors_task *task, uint32_t max_paths,
				       struct fors_error *error);
void fors_rounds_problem_clear(struct rounds_problem *problem);
/* Choose the groups per leaf and the path indices in use. */
void fors_rounds_problem_set(struct rounds_problem *problem, uint32_t npaths, uint32_t parts);
/* No packing has fewer rounds. Errors: FORS_ENOMEM. */
enum fors_err fors_rounds_bound(const struct rounds_problem *problem, uint32_t *bound, struct fors_error *error);

/* Does the caller want the planner to stop? */
static inline bool fors_rounds_is_cancelled(const struct rounds_problem *problem)
{
	return problem->task->cancelled && problem->task->cancelled(problem->task->context);
}

/* The error of it. */
static inline enum fors_err fors_rounds_cancelled(struct fors_error *error)
{
	return fors_fail(error, FORS_ECANCELLED, "rounds: planning was cancelled");
}

static inline uint32_t rounds_ngroups(const struct rounds_problem *problem)
{
	return problem->nleaves * problem->parts;
}

/* Members of a group: the participants of its leaf with rank mod parts == its number there. */
static inline uint32_t rounds_members(const struct rounds_problem *problem, uint32_t group)
{
	uint32_t n = problem->fabric->leaf[group / problem->parts].nservers, number = group % problem->parts;

	return n > number ? (n - number - 1) / problem->parts + 1 : 0;
}

/* Where the ways of (leaf, server) begin in up[] and down[]. */
static inline size_t rounds_ways(const struct rounds_problem *problem, uint32_t leaf, uint32_t server)
{
	return ((size_t)leaf * problem->nservers + server) * problem->stride;
}

/*
 * A packing: which unit is in which round. The *_at arrays say who is there (ROUNDS_NONE: nobody), the
 * *_busy bit masks (nwords words of 64 rounds each, bits past nrounds set) say the same for fast search.
 */
struct rounds_packing {
	const struct rounds_problem *problem; /* borrowed */
	uint32_t nrounds, nwords;
	uint32_t nunits;			      /* unit numbers */
	uint16_t *leaf_of;			      /* [group]: its leaf */
	uint16_t *round;			      /* of each unit, ROUNDS_UNPLACED: none */
	uint8_t *path;				      /* path index of each placed unit */
	uint32_t *guard;			      /* the step until which a unit should stay where it is */
	uint32_t *up_at;			      /* [link * nrounds + round]: unit */
	uint32_t *down_at;			      /* the same */
	uint32_t *receive_at;			      /* [server * nrounds + round]: unit */
	uint16_t *count;			      /* [group * nrounds + round]: units */
	uint64_t *up_busy, *down_busy, *receive_busy; /* [link or server * nwords + round / 64] */
	uint64_t *full;				      /* [group * nwords + round / 64]: capacity reached */
	uint32_t *homeless; /* stack of units without a round, nhomeless of them, room for nunits */
	uint32_t nhomeless;
	uint64_t weighed; /* places that the search looked at */
	uint64_t random;  /* state of the pseudo random sequence, the same on every machine */
};

/* An empty packing with nrounds rounds, nobody homeless yet, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_rounds_packing_new(const struct rounds_problem *problem, uint32_t nrounds,
				      struct rounds_packing **packing, struct fors_error *error);
void fors_rounds_packing_free(struct rounds_packing *packing);

/* One unit, taken apart. */
struct rounds_unit {
	uint32_t id, group, server, leaf;
	uint32_t to;		  /* the server's leaf */
	bool is_local;		  /* stays inside its leaf: no links */
	const uint8_t *up, *down; /* lanes of path 0.. */
};

static inline uint32_t rounds_group_of(const struct rounds_problem *problem, uint32_t id)
{
	return id >> problem->server_bits;
}

static inline struct rounds_unit rounds_unit(const struct rounds_packing *packing, uint32_t id)
{
	const struct rounds_problem *problem = packing->problem;
	struct rounds_unit unit = {.id = id, .group = rounds_group_of(problem, id)};
	size_t at;

	unit.server = id & ((1u << problem->server_bits) - 1);
	unit.leaf = packing->leaf_of[unit.group];
	unit.to = problem->leaf_of[unit.server];
	unit.is_local = unit.to == unit.leaf;
	at = rounds_ways(problem, unit.leaf, unit.server);
	unit.up = problem->up + at;
	unit.down = problem->down + at;
	return unit;
}

/* Put a homeless unit where every place is free; take a placed one out. */
void fors_rounds_put(struct rounds_packing *packing, const struct rounds_unit *unit, uint32_t path, uint32_t round);
void fors_rounds_take(struct rounds_packing *packing, const struct rounds_unit *unit);
/* Is everything free for `unit` over `path` in `round`? */
bool fors_rounds_is_free(const struct rounds_packing *packing, const struct rounds_unit *unit, uint32_t path,
			 uint32_t round);
/* The first round at or (cyclically) after `start` where the unit fits, with its path in *path; ROUNDS_NONE: none. */
uint32_t fors_rounds_find_free(const struct rounds_packing *packing, const struct rounds_unit *unit, uint32_t start,
			       uint32_t *path);

/* Place units by a pattern that is the same for all leaves; the others become homeless. Errors: FORS_ENOMEM,
 * FORS_ECANCELLED. */
enum fors_err fors_rounds_start(struct rounds_packing *packing, struct fors_error *error);

/*
 * Find rounds for the homeless; give up after `patience` ejections without fewer homeless than ever before. *done says
 * whether nobody is homeless any more. Errors: FORS_ECANCELLED.
 */
enum fors_err fors_rounds_search(struct rounds_packing *packing, uint64_t patience, bool *done,
				 struct fors_error *error);

#endif
