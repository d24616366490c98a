/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.h - which port each switch of a three-level tree takes to each server place (private to this module and its
 * tests).
 *
 * A column is a path index of a slot: index * nslots + slot. A leaf chooses a port for each column, a mid above other
 * leaves one to a top, for all leaves of its pod together; downwards a top has a port to the mid of its plane, and a
 * mid one to the leaf. A port of 0 stands for none.
 *
 * Thread rules: one thread writes.
 */
#ifndef FORS_CORE_PLANNERS_PODS_WAYS_H
#define FORS_CORE_PLANNERS_PODS_WAYS_H

#include "lanes.h"

/* Where a known port of a switch leads to: what a walk through the tables asks for at each step. */
struct fors_pods_hop {
	uint32_t row;	/* of the neighbour in the tables: leaf[], then mid[], then top[]; FORS_NONE: it is no switch */
	uint32_t first; /* the neighbour's port p is hop[first + p] */
	uint32_t link;	/* the number of the link that this port sends over */
};

struct fors_pods_ways {
	const struct fors_pods_lanes *lanes; /* borrowed */
	uint32_t nindices, ncolumns;
	uint8_t *leaf;		   /* [leaf * ncolumns + column] */
	uint8_t *mid;		   /* [mid * ncolumns + column], behind leaf */
	uint8_t *top;		   /* [top * ncolumns + column], behind mid */
	struct fors_pods_hop *hop; /* per port of known */
	uint32_t nlinks;	   /* known cables between switches, each way, by number */
};

/*
 * All that is at home, its way alive, in *ways, owned by the caller (fors_pods_ways_free()); 0 where it is not, but for
 * ways down, which take another cable, or top, that lives, if there is one. nindices: the most path indices of any
 * slot. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_ways_home(const struct fors_pods_lanes *lanes, uint32_t nindices, struct fors_pods_ways **ways,
				  struct fors_error *error);
void fors_pods_ways_free(struct fors_pods_ways *ways);

/*
 * Entries of leaves, and of mids up, become those of `whole` (path index 0) wherever their ways live, and 0 where they
 * do not; those of mids down where that cable lives; those of tops become `whole`'s where these lead to a mid that goes down itself.
 */
void fors_pods_ways_keep(struct fors_pods_ways *ways, const struct fors_pods_ways *whole);

/* What is 0 and could be more: the port whose fuller end has least to carry. Errors: FORS_ENOMEM. */
enum fors_err fors_pods_ways_level(struct fors_pods_ways *ways, struct fors_error *error);

/* Does the leaf's port lead to a mid that gets to the column's leaf, by its entry? */
bool fors_pods_ways_arrives(const struct fors_pods_ways *ways, uint32_t leaf, uint8_t port, uint32_t column);

/*
 * Could items from a pod to a slot of another one take this rung of a plane: do both cables live, and does the top go
 * down over that one?
 */
bool fors_pods_ways_meets(const struct fors_pods_ways *ways, uint32_t pod, uint32_t slot, uint32_t plane,
			  uint32_t rung);

/*
 * The links from a switch (a node of known) over its port `port` to a column's leaf, by number, in link[4]; how many,
 * 0: it does not arrive.
 */
uint32_t fors_pods_ways_links(const struct fors_pods_ways *ways, uint32_t node, uint8_t port, uint32_t column,
			      uint32_t link[4]);

/* Bytes of all entries, from `leaf` on: they lie behind each other. */
static inline size_t fors_pods_ways_size(const struct fors_pods_ways *ways)
{
	const struct fors_pods *pods = ways->lanes->pods;

	return ((size_t)pods->nleaves + pods->nmids + pods->ntops) * ways->ncolumns;
}

static inline uint32_t fors_pods_ways_slot(const struct fors_pods_ways *ways, uint32_t column)
{
	return fors_pods_lanes_modulo(column, ways->lanes->pods->nslots);
}

/* The path index of a column. */
static inline uint32_t fors_pods_ways_index(const struct fors_pods_ways *ways, uint32_t column)
{
	return column < ways->lanes->pods->nslots ? 0 : column / ways->lanes->pods->nslots;
}

/* Would a top be able to send on to the column's leaf? */
static inline bool fors_pods_ways_gets_down(const struct fors_pods_ways *ways, uint32_t top, uint32_t column)
{
	return ways->top[(size_t)top * ways->ncolumns + column];
}

#endif
