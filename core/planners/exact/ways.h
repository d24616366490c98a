/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.h - what ways the tables offer between leaves, for planners that choose lanes.
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_PLANNERS_EXACT_WAYS_H
#define FORS_CORE_PLANNERS_EXACT_WAYS_H

#include "core/planners/method.h"

#define FORS_NO_WAY 255

/* What ways there are between leaves: way k of (a, b) climbs over lane up[a][b][k] and comes down over down[a][b][k].
 */
struct fors_ways {
	uint32_t nleaves, nlanes;
	const uint32_t *servers; /* n_a of each leaf */
	const uint8_t *up;	 /* nleaves x nleaves x nlanes lanes, FORS_NO_WAY: there is no way k */
	const uint8_t *down;	 /* likewise, FORS_NO_WAY at the same places */
	bool is_straight;	 /* every way k goes up and down over lane k, by the path index at home there */
};

/* Where way k from leaf a to leaf b stands in arrays over all ways. */
static inline size_t fors_way(const struct fors_ways *ways, uint32_t a, uint32_t b, uint32_t k)
{
	return ((size_t)a * ways->nleaves + b) * ways->nlanes + k;
}

/*
 * The ways between all leaves of the task's fabric that the path indices of ALL servers of
 * the receiving leaf offer, in *ways, owned by the caller (fors_ways_free()).
 * Way k stands for the path index at home on lane k: it goes up and down over lane k itself where that lives at
 * both leaves; where it does not, over other cables of the same spine if the tables say so (parallel cables).
 * Errors: FORS_ELMC (two leaves without any way that all path indices share), FORS_ENOMEM.
 */
enum fors_err fors_ways_build(const struct fors_task *task, struct fors_ways **ways, struct fors_error *error);
void fors_ways_free(struct fors_ways *ways);

/*
 * The ways that the cables allow, whatever the tables: exact where a spine has one or two cables to a leaf, some
 * of them where it has more. Owned by the caller (fors_ways_free()). Errors: FORS_ENOMEM.
 */
enum fors_err fors_ways_of_cables(const struct fors_fabric *fabric, struct fors_ways **ways, struct fors_error *error);

/* The path index of way k from leaf a to server d; FORS_NO_INDEX if it has none. */
uint8_t fors_ways_index(const struct fors_task *task, const struct fors_ways *ways, uint32_t a, uint32_t d, uint32_t k);

#endif
