/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_router.h - single-path routing in a fat-tree (tree_route.h) as a router (router.h), with or without a net.
 * Thread rules: the router may be asked by any number of threads.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_TREE_ROUTER_H
#define FORS_LAB_MODEL_ROUTERS_TREE_ROUTER_H

#include "core/net/tree.h"
#include "router.h"
#include "routes.h"
#include "tree_route.h"

/* Set tree, graph, routing and seed; fors_tree_paths_over() does the rest when the links are to be those of a net. */
struct fors_tree_paths {
	const struct fors_tree *tree;	/* borrowed */
	const struct fors_graph *graph; /* borrowed; fors_tree_graph()'s, or that of the routes */
	enum fors_tree_routing routing;
	uint64_t seed;
	uint32_t *link_of;   /* NULL, or for each link of the tree that of graph, FORS_NONE where the cable is down */
	uint32_t *server_of; /* NULL, or for each server of graph that of the tree */
};

/*
 * Let `paths` (tree, routing and seed set) speak of the links of `routes`, made over fors_tree_net()'s net of this
 * tree, some cables of which may be down (a path over one of them is a dead end) and some slots empty, between all or
 * some of its servers. Free with fors_tree_paths_clear(). Errors: FORS_ENOMEM.
 */
enum fors_err fors_tree_paths_over(struct fors_tree_paths *paths, const struct fors_routes *routes,
				   struct fors_error *error);
void fors_tree_paths_clear(struct fors_tree_paths *paths);

/* The router that asks these paths; valid as long as they are. */
struct fors_router fors_tree_router(const struct fors_tree_paths *paths);

#endif
