/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routes.h - the paths that forwarding tables give, in any net: a router (router.h) made of cables and tables.
 *
 * Nothing here knows of levels: leaf, spine, torus, whatever ibnetdiscover describes. Every port with a live cable
 * sends over one link of the graph; nodes of the graph are the nodes of the net.
 * Thread rules: plain data once made; any number of threads may ask the router.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_ROUTES_H
#define FORS_LAB_MODEL_ROUTERS_ROUTES_H

#include "core/net/endpoints.h"
#include "core/net/lfts.h"
#include "core/net/net.h"
#include "lab/model/graph/graph.h"
#include "router.h"

struct fors_routes {
	const struct fors_net *net;   /* borrowed */
	const struct fors_lfts *lfts; /* borrowed */
	struct fors_graph *graph;
	struct fors_endpoint *server; /* graph->nservers */
	uint32_t *link_of;	      /* per port of the net: the link that it sends over, FORS_NONE: no cable */
	uint32_t *port_of;	      /* per link: the sending port, index of net->port */
	uint32_t *row_of;	      /* per node: row of its table, FORS_NONE */
	uint16_t *distance;	      /* private */
	uint32_t *distance_row;	      /* private */
	uint32_t max_links;
};

/*
 * Routes between `count` servers over `net` (indexed) and `lfts` in *routes, owned by the caller; net and lfts are
 * borrowed. Every server has a LID. Errors: FORS_ENOMEM, FORS_EINPUT (two servers share a LID, or one has none).
 */
enum fors_err fors_routes_new(const struct fors_net *net, const struct fors_lfts *lfts,
			      const struct fors_endpoint *server, uint32_t count, struct fors_routes **routes,
			      struct fors_error *error);
void fors_routes_free(struct fors_routes *routes);

/* The router that asks these tables; valid as long as the routes. */
struct fors_router fors_routes_router(const struct fors_routes *routes);

/* "Leaf00[21] -> Spine00[1]" of a link, in text. */
void fors_link_name(const struct fors_routes *routes, uint32_t link, char *text, size_t room);

#endif
