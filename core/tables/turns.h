/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * turns.h - at which leaf a packet that came down from one spine may go up to another.
 * Thread rules: built by one thread, read by any number.
 */
#ifndef FORS_CORE_TABLES_TURNS_H
#define FORS_CORE_TABLES_TURNS_H

#include "core/fabric/fabric.h"

struct fors_turns {
	uint32_t nleaves, nspines;
	uint8_t *lane;	  /* [leaf * nspines + spine]: the leaf's first live lane to the spine, else a drained one */
	uint8_t *live;	  /* likewise: that one lives */
	uint32_t *rank;	  /* per spine: its position in the order; no two have the same */
	uint32_t *leaf;	  /* per spine: where it turns to all that come before it, FORS_NONE: it has no cable */
	uint32_t *island; /* per leaf: equal for leaves that cables join, FORS_NONE: it has no cable */
};

/*
 * The turns of a fabric's living and drained cables in *turns, owned by the caller (fors_turns_free()). A pure
 * function of the fabric. Errors: FORS_ENOMEM.
 */
enum fors_err fors_turns_build(const struct fors_fabric *fabric, struct fors_turns **turns, struct fors_error *error);
void fors_turns_free(struct fors_turns *turns);

/* The one leaf at which packets from spine `from` to spine `to` may turn; FORS_NONE: there is none. from != to. */
static inline uint32_t fors_turns_leaf(const struct fors_turns *turns, uint32_t from, uint32_t to)
{
	return turns->leaf[turns->rank[from] > turns->rank[to] ? from : to];
}

/* May a packet go down from spine `from` to `leaf`, and up from there to spine `to`? from != to. */
static inline bool fors_turns_may(const struct fors_turns *turns, uint32_t from, uint32_t leaf, uint32_t to)
{
	return fors_turns_leaf(turns, from, to) == leaf;
}

/* The lane that leads from a leaf to a spine: a live one, else a drained one, else FORS_NO_LANE. */
static inline uint8_t fors_turns_lane(const struct fors_turns *turns, uint32_t leaf, uint32_t spine)
{
	return turns->lane[(size_t)leaf * turns->nspines + spine];
}

/* Has the leaf a live cable to the spine? */
static inline bool fors_turns_live(const struct fors_turns *turns, uint32_t leaf, uint32_t spine)
{
	return turns->live[(size_t)leaf * turns->nspines + spine];
}

#endif
