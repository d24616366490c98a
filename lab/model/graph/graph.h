/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graph.h - a network as the performance model sees it: directed links with
 * capacities, and flows that each take one path over them.
 *
 * A struct fors_graph knows nothing of leaves, LIDs or levels. It is made from a
 * net (routers/routes.h: any topology, the paths come from forwarding tables) or from a
 * specification (XGFT, PGFT). Servers are the nodes that send and receive; they
 * are numbered 0..nservers-1, and patterns (patterns/pattern.h) speak of these numbers.
 * A link is one direction of a cable; a cable between a server and its switch is
 * two links like any other.
 *
 * Rates and capacities are in units of one cable: a cable of the usual speed has
 * capacity 1 in each direction.
 *
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_LAB_MODEL_GRAPH_GRAPH_H
#define FORS_LAB_MODEL_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/net/net.h"

struct fors_graph {
	uint32_t nnodes, nlinks, nservers;
	uint32_t *from, *to; /* nlinks each: nodes */
	double *capacity;    /* nlinks, > 0 */
	bool *is_terminal;   /* nnodes: a server, or another adapter, no switch; fors_graph_new() says false */
	uint32_t *server;    /* nservers: the node of each server */
};

/* Room for that many, capacities 1, all else 0, in *graph, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_graph_new(uint32_t nnodes, uint32_t nlinks, uint32_t nservers, struct fors_graph **graph,
			     struct fors_error *error);
void fors_graph_free(struct fors_graph *graph);

/* Flows with their paths; grows by fors_flows_add(). Start with all zero, end with fors_flows_clear(). */
struct fors_flows {
	uint32_t nflows;
	uint32_t *src, *dst; /* nflows each: server numbers */
	size_t *first;	/* nflows + 1 once there is a flow: the path of flow f is link[first[f]] .. link[first[f + 1] -
			   1] */
	uint32_t *link; /* link numbers of a graph, in the order of travel */
	uint32_t room;	/* allocated flows; private */
	size_t link_room; /* allocated links; private */
};

/*
 * Append a flow with a path of `nlinks` links, copied; 0 links: a flow that does not arrive, its rate is 0.
 * Errors: FORS_ENOMEM; the flows are unchanged then.
 */
enum fors_err fors_flows_add(struct fors_flows *flows, uint32_t src, uint32_t dst, const uint32_t *link,
			     uint32_t nlinks, struct fors_error *error);
/* Forget all flows, keep the memory. */
void fors_flows_empty(struct fors_flows *flows);
/* Free what the flows own. */
void fors_flows_clear(struct fors_flows *flows);

/* Add to load[link] (graph->nlinks of them) the number of flows over each link; the largest of these loads is returned.
 */
uint32_t fors_loads_add(const struct fors_flows *flows, uint32_t *load);

/* What rates add up to. */
struct fors_rates {
	double min, mean, aggregate; /* all 0 when there is no flow */
	uint32_t nflows;
};

/* Of rate[0 .. nflows - 1]. */
struct fors_rates fors_rates_of(const double *rate, uint32_t nflows);

#endif
