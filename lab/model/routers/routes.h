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

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "lab/model/graph/graph.h"
#include "router.h"

/* A CA port that sends and receives. */
struct fors_endpoint {
	uint64_t guid; /* of the port */
	uint32_t node; /* CA in the net */
	uint32_t leaf; /* switch that it hangs on */
	uint16_t lid;  /* base LID, 0: none */
	uint8_t lmc;
	uint8_t port; /* of the CA */
	uint8_t leaf_port;
};

/* The endpoint at port `port` of CA `node`; the port has a live cable. */
struct fors_endpoint fors_endpoint_at(const struct fors_net *net, uint32_t node, unsigned port);

/*
 * The servers of `net` (indexed) in *list (owned by the caller, free()) and *count: all CA ports with a live cable to a
 * switch, by the switch's GUID, then its port; participants (may be NULL) limits them. In a two-level fat-tree with
 * servers under leaves only, that is the order of fors_fabric's servers. Errors: FORS_ENOMEM.
 */
enum fors_err fors_endpoints(const struct fors_net *net, const struct fors_participants *participants,
			     struct fors_endpoint **list, uint32_t *count, struct fors_error *error);

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
/* The same without distances, which take longest: for who asks for the graph only, and no router. */
enum fors_err fors_routes_unmeasured(const struct fors_net *net, const struct fors_lfts *lfts,
				     const struct fors_endpoint *server, uint32_t count, struct fors_routes **routes,
				     struct fors_error *error);
void fors_routes_free(struct fors_routes *routes);

/* The router that asks these tables; valid as long as the routes. */
struct fors_router fors_routes_router(const struct fors_routes *routes);

/* "Leaf00[21] -> Spine00[1]" of a link, in text. */
void fors_link_name(const struct fors_routes *routes, uint32_t link, char *text, size_t room);

#endif
