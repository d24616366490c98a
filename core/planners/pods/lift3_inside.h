/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lift3_inside.h - what the files of lift3.c share.
 * Thread rules: pure; a lift belongs to one thread.
 */
#ifndef FORS_CORE_PLANNERS_PODS_LIFT3_INSIDE_H
#define FORS_CORE_PLANNERS_PODS_LIFT3_INSIDE_H

#include "bundles3.h"
#include "cohorts.h"
#include "core/colouring/colour.h"

#define FORS_LIFT3_NONE UINT16_MAX

struct fors_lift3_item {
	uint16_t from, to;    /* pods */
	uint16_t plane, rung; /* rung: FORS_LIFT3_NONE, it stays inside */
	uint16_t cohort;
	uint16_t leaf;	 /* its number in the pod, FORS_LIFT3_NONE: not known yet */
	uint16_t bundle; /* FORS_LIFT3_NONE: none */
	uint32_t slot;	 /* of the server, where items come in parts */
};

/* The graph in hand; node numbers, and which item, or edge of the split, each edge is. */
struct fors_lift3_graph {
	struct fors_multigraph graph;
	uint16_t *left, *right, *mult;
	uint16_t *group, *cap; /* groups of nodes, alike on both sides */
	struct fors_lift3_item *what;
	uint32_t *who;
};

struct fors_lift3 {
	struct fors_cohorts *c;
	struct fors_ways3 *ways;
	const struct fors_lanes3 *l;
	struct fors_split3 *split;
	struct fors_bundles3 *bundles; /* NULL: none */
	uint32_t m1, m2, npods, ncohorts;
	const struct fors_mix3 *mix;  /* NULL: whole items */
	uint32_t first, ninside;      /* of the cohorts in hand, the first; parts in them of an item that stays */
	struct fors_lift3_item *item; /* by place: [((to * m1 + plane) * ncohorts + cohort) * m2 + i] */
	uint8_t *nplaced;	      /* of each plane and cohort of a pod that receives */
	uint16_t *inside;	      /* [pod * m1 + plane]: items that stay */
	uint32_t *given; /* [pod * nslots + slot]: the item from there to the server, by place; FORS_NONE: left out */
	struct fors_lift3_graph g;
	struct fors_colour_space *space;
	uint32_t leaf;	 /* whose servers are named: pod * m2 + number */
	uint32_t bundle; /* which is being written */
};

/* Long cohorts: they come first. */
static inline uint32_t fors_lift3_long(const struct fors_lift3 *w)
{
	return w->bundles ? w->bundles->nlong : 0;
}

/* Has the bundle found a leaf? */
static inline bool fors_lift3_is_bundled(const struct fors_lift3 *w, uint32_t bundle)
{
	return bundle != FORS_LIFT3_NONE && w->bundles->bundle[bundle].leaf != FORS_BUNDLES3_NONE;
}

/* Colour the graph in hand, nedges of its edges, from colour `first` on; who hears of it gets the lift. */
enum fors_err fors_lift3_colour(struct fors_lift3 *w, uint32_t nedges, uint32_t first, uint32_t ncolours,
				fors_colour_emit emit, struct fors_error *error);

/*
 * The right-hand nodes of the graph in hand, of items to a pod, are sources, which may have `most` items in a colour;
 * where items come in parts, planes of sources, which may have as many parts, and of each length as many times more as
 * an item has.
 */
void fors_lift3_sources(struct fors_lift3 *w, uint32_t to, uint32_t most);

/* Which node that is for an item. */
uint16_t fors_lift3_source(const struct fors_lift3 *w, const struct fors_lift3_item *item);

/* A leaf and a server for each item. Errors: FORS_ENOMEM. */
enum fors_err fors_lift3_receivers(struct fors_lift3 *w, struct fors_error *error);

/* Cohorts, turns, rounds and ways of all items. Errors: FORS_ENOMEM, with nothing written. */
enum fors_err fors_lift3_write(struct fors_lift3 *w, struct fors_error *error);

/* The same for items in parts, all of which have servers. */
enum fors_err fors_lift3_write_parts(struct fors_lift3 *w, struct fors_error *error);

/* No rounds yet, for as many as there are. Errors: FORS_ENOMEM. */
enum fors_err fors_lift3_new_rounds(struct fors_lift3 *w, struct fors_error *error);

#endif
