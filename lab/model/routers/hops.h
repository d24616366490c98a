/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hops.h - sets of next hops: all links by which a packet may go on, on a shortest way, for routing that does not follow a
 * table.
 *
 * A set is for a switch and a goal. Goals are switches with servers: the last link, from there to the server, is the
 * server's own; with to_all all switches are goals. Terminals pass nothing on.
 * Thread rules: plain data once made; any number of readers.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_HOPS_H
#define FORS_LAB_MODEL_ROUTERS_HOPS_H

#include "lab/model/graph/graph.h"

struct fors_hops {
	uint32_t nnodes, ngoals;
	uint32_t *goal_of; /* nnodes: number of the goal, FORS_NONE: it is none */
	uint32_t *node_of; /* ngoals: its node */
	size_t *first;	   /* ngoals * nnodes + 1: the set of goal g at node n is link[first[g * nnodes + n]] .. */
	uint32_t *link;
};

/* The sets of a graph in *hops, owned by the caller. Errors: FORS_ELIMIT (more than 2^28 links in them), FORS_ENOMEM. */
enum fors_err fors_hops_new(const struct fors_graph *graph, bool to_all, struct fors_hops **hops,
			    struct fors_error *error);
void fors_hops_free(struct fors_hops *hops);

/* The set of `goal` at `node`, ascending, and how many; 0: it cannot be reached, or this is it. */
static inline const uint32_t *fors_hops_at(const struct fors_hops *hops, uint32_t goal, uint32_t node, uint32_t *count)
{
	const size_t *first = &hops->first[(size_t)goal * hops->nnodes + node];

	*count = (uint32_t)(first[1] - first[0]);
	return &hops->link[first[0]];
}

#endif
