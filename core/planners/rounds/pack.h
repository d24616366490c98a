/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.h - units in rounds (private to this room and its tests; words: problem.h).
 * Thread rules: a packing is one thread's.
 */
#ifndef FORS_CORE_PLANNERS_ROUNDS_PACK_H
#define FORS_CORE_PLANNERS_ROUNDS_PACK_H

#include "core/base/random.h"
#include "core/planners/book.h"
#include "problem.h"

#define FORS_ROUNDS_NONE FORS_BOOK_NOBODY /* no unit */
#define FORS_ROUNDS_UNPLACED UINT16_MAX	  /* the round of a unit without one */

#define FORS_ROUNDS_MOST_ROWS 4 /* of a unit: receiver, uplink, downlink, group */

/* A packing: which unit is in which round. Rows of the book: receivers, uplinks, downlinks; counted: groups. */
struct fors_rounds_packing {
	const struct fors_rounds_problem *problem; /* borrowed */
	uint32_t nrounds;
	struct fors_book book;
	uint32_t nunits;    /* unit numbers */
	uint16_t *leaf_of;  /* [group]: its leaf */
	uint16_t *round;    /* of each unit, FORS_ROUNDS_UNPLACED: none */
	uint8_t *path;	    /* path index of each placed unit */
	uint32_t *guard;    /* the step until which a unit should stay where it is */
	uint32_t *homeless; /* stack of units without a round, nhomeless of them, room for nunits */
	uint32_t nhomeless;
	uint64_t weighed; /* places that the search looked at */
	struct fors_xorshift random;
};

/* An empty packing with nrounds rounds, nobody homeless yet, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_rounds_packing_new(const struct fors_rounds_problem *problem, uint32_t nrounds,
				      struct fors_rounds_packing **packing, struct fors_error *error);
void fors_rounds_packing_free(struct fors_rounds_packing *packing);

/* One unit, taken apart. */
struct fors_rounds_unit {
	uint32_t id, group, server, leaf;
	uint32_t to;		  /* the server's leaf */
	bool is_local;		  /* stays inside its leaf: no links */
	const uint8_t *up, *down; /* lanes of path 0.. */
};

static inline uint32_t fors_rounds_group_of(const struct fors_rounds_problem *problem, uint32_t id)
{
	return id >> problem->server_bits;
}

/* Take a unit number apart; it must be that of a unit. */
static inline struct fors_rounds_unit fors_rounds_unit(const struct fors_rounds_packing *packing, uint32_t id)
{
	const struct fors_rounds_problem *problem = packing->problem;
	struct fors_rounds_unit unit = {.id = id, .group = fors_rounds_group_of(problem, id)};
	size_t at;

	unit.server = id & ((1u << problem->server_bits) - 1);
	unit.leaf = packing->leaf_of[unit.group];
	unit.to = problem->leaf_of[unit.server];
	unit.is_local = unit.to == unit.leaf;
	at = fors_rounds_ways(problem, unit.leaf, unit.server);
	unit.up = problem->up + at;
	unit.down = problem->down + at;
	return unit;
}

static inline uint32_t fors_rounds_group_row(const struct fors_rounds_packing *packing, uint32_t group)
{
	return packing->book.nnamed + group;
}

/* The row of a leaf's uplink. */
static inline uint32_t fors_rounds_up_row(const struct fors_rounds_packing *packing, uint32_t leaf, uint32_t lane)
{
	return packing->problem->nservers + leaf * packing->problem->nlanes + lane;
}

/* The row of a downlink of the receiver's leaf. */
static inline uint32_t fors_rounds_down_row(const struct fors_rounds_packing *packing, uint32_t leaf, uint32_t lane)
{
	return fors_rounds_up_row(packing, packing->problem->nleaves + leaf, lane);
}

/* The rows of a unit over a path that exists, in row[]: those with a name, then its group's; how many. */
static inline uint32_t fors_rounds_rows(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
					uint32_t path, uint32_t row[FORS_ROUNDS_MOST_ROWS])
{
	uint32_t n = 0;

	row[n++] = unit->server;
	if (!unit->is_local) {
		row[n++] = fors_rounds_up_row(packing, unit->leaf, unit->up[path]);
		row[n++] = fors_rounds_down_row(packing, unit->to, unit->down[path]);
	}
	row[n++] = fors_rounds_group_row(packing, unit->group);
	return n;
}

/* Put a homeless unit where every place is free; take a placed one out. */
void fors_rounds_put(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
		     uint32_t round);
void fors_rounds_take(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit);
/* Put a homeless unit over `path` into `round` if every place is free there; was it? */
bool fors_rounds_put_if_free(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
			     uint32_t round);
/*
 * The first round at or (cyclically) after `start` where the unit fits, with its path in *path; FORS_ROUNDS_NONE:
 * none.
 */
uint32_t fors_rounds_find_free(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
			       uint32_t start, uint32_t *path);

#endif
