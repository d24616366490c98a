/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * router.h - a router: whatever gives the path of a pair of servers, be it forwarding tables or a rule.
 * Thread rules: as each router says; all so far may be asked by any number of threads.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_ROUTER_H
#define FORS_LAB_MODEL_ROUTERS_ROUTER_H

#include "lab/model/graph/graph.h"
#include "lab/model/patterns/pattern.h"

/* How a path ends. */
enum fors_way {
	FORS_WAY_GOOD,
	FORS_WAY_HOLE,	   /* a table on the way has no entry for the LID, or names the switch itself */
	FORS_WAY_NO_TABLE, /* a switch on the way has no table */
	FORS_WAY_DEAD,	   /* it is sent into a port without a live cable */
	FORS_WAY_LOOP,	   /* it comes to a switch for the second time */
	FORS_WAY_ASTRAY,   /* it comes out at somebody else */
	FORS_NWAYS
};

/* "hole", "no table", ...; never NULL. */
const char *fors_way_name(enum fors_way way);

struct fors_router {
	const struct fors_graph *graph;
	const void *context;
	uint32_t max_links; /* no path is longer */
	/*
	 * The path of a pair (of distinct servers) in link[0 .. *nlinks - 1] (room for max_links), how far it goes when
	 * it is not good. Any thread; pure.
	 */
	enum fors_way (*route)(const void *context, struct fors_pair pair, uint32_t *link, uint32_t *nlinks);
	/* Links of the shortest way between two servers. NULL: all paths count as shortest. Any thread. */
	uint32_t (*shortest)(const void *context, uint32_t src, uint32_t dst);
	/* The pair and how its way ends, for people. NULL: server numbers do. */
	void (*tell)(const void *context, struct fors_pair pair, char *text, size_t room);
};

#endif
