/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * problem.h - what the rounds planner packs (private to this room and its tests).
 *
 * rounds.c    the method: which group sizes and numbers of rounds to try, and the schedule
 * problem.c   units and ways read off the fabric and its tables; the bound
 * pattern*.c  a first colouring that is the same for all leaves
 * pack.c      units in rounds: the book of what is taken
 * search.c    finding a round for the units that the pattern left homeless
 *
 * Words: a unit is (group of servers of a leaf, receiving server); its number is
 * (group << server_bits) + receiver, so there are numbers without a unit. A link is leaf * nlanes + lane. No function
 * here keeps global state; any thread may work on its own packing, the problem is only read.
 */
#ifndef FORS_CORE_PLANNERS_ROUNDS_PROBLEM_H
#define FORS_CORE_PLANNERS_ROUNDS_PROBLEM_H

#include "core/planners/method.h"

/* All that has to be packed; filled by fors_rounds_problem_init(). */
struct fors_rounds_problem {
	const struct fors_task *task;	  /* borrowed */
	struct fors_effort *effort;	  /* borrowed: what all stages may spend together */
	const struct fors_fabric *fabric; /* borrowed */
	uint32_t nleaves, nservers;
	uint32_t nlanes;      /* at least 1, also where a single leaf has no spine */
	uint32_t stride;      /* ways per (leaf, server): the path indices that were read */
	uint32_t npaths;      /* path indices in use, at most stride */
	uint32_t parts;	      /* groups per leaf */
	uint32_t capacity;    /* members of the largest group = phases per round = units of a group in a round */
	uint32_t server_bits; /* bits that hold the number of a server */
	bool is_apart;	      /* what stays inside leaves has a round of its own, the last: it is not packed */
	uint16_t *leaf_of;    /* [server]: its leaf */
	uint16_t *turn_of;    /* [leaf]: its number among those with servers, nturns of them */
	uint32_t nturns;
	uint8_t *up;   /* [(leaf * nservers + server) * stride + path]: uplink lane, FORS_NO_LANE: no such way */
	uint8_t *down; /* the same for the downlink's lane */
};

/*
 * Read the ways of all path indices below max_paths off task's tables into *problem (released with
 * fors_rounds_problem_clear()); npaths and parts are 1 then. Errors: FORS_ENOPLAN (a base LID has no
 * way), FORS_ENOMEM; *problem needs no clearing then.
 */
enum fors_err fors_rounds_problem_init(struct fors_rounds_problem *problem, const struct fors_task *task,
				       uint32_t max_paths, struct fors_error *error);
void fors_rounds_problem_clear(struct fors_rounds_problem *problem);
/* Choose the groups per leaf and the path indices in use; nothing has a round of its own. */
void fors_rounds_problem_set(struct fors_rounds_problem *problem, uint32_t npaths, uint32_t parts);
/* No packing has fewer rounds, the last one of what is apart not counted. Errors: FORS_ENOMEM. */
enum fors_err fors_rounds_bound(const struct fors_rounds_problem *problem, uint32_t *bound, struct fors_error *error);

/* Does the caller want the planner to stop? */
static inline bool fors_rounds_is_cancelled(const struct fors_rounds_problem *problem)
{
	return fors_effort_cancelled(problem->effort);
}

/* Count steps of work; false: all are spent, or the caller wants the planner to stop. */
static inline bool fors_rounds_spend(const struct fors_rounds_problem *problem, uint64_t steps)
{
	return fors_effort_spend(problem->effort, steps);
}

/* The error of it. */
static inline enum fors_err fors_rounds_cancelled(struct fors_error *error)
{
	return fors_fail(error, FORS_ECANCELLED, "rounds: planning was cancelled");
}

/* May a group be packed with a unit for this server? Not where what stays inside leaves is apart. */
static inline bool fors_rounds_is_packed(const struct fors_rounds_problem *problem, uint32_t group, uint32_t server)
{
	return !problem->is_apart || problem->leaf_of[server] != group / problem->parts;
}

static inline uint32_t fors_rounds_ngroups(const struct fors_rounds_problem *problem)
{
	return problem->nleaves * problem->parts;
}

/* Members of a group: the participants of its leaf with rank mod parts == its number there. */
static inline uint32_t fors_rounds_members(const struct fors_rounds_problem *problem, uint32_t group)
{
	uint32_t n = problem->fabric->leaf[group / problem->parts].nservers, number = group % problem->parts;

	return n > number ? (n - number - 1) / problem->parts + 1 : 0;
}

/* Where the ways of (leaf, server) begin in up[] and down[]. */
static inline size_t fors_rounds_ways(const struct fors_rounds_problem *problem, uint32_t leaf, uint32_t server)
{
	return ((size_t)leaf * problem->nservers + server) * problem->stride;
}

#endif
