/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tree_router.c - paths by a rule, as evaluations ask for them. */
#include "tree_router.h"

#include <stdlib.h>

#include "lab/model/trees/tree_graph.h"
#include "router.h"

/* The number in the tree of a server of its net: empty slots are counted. */
static uint32_t server_at(const struct fors_tree *tree, const struct fors_endpoint *server)
{
	return (server->leaf - fors_tree_first_node(tree, 1)) * tree->m[0] + server->leaf_port - 1;
}

enum fors_err fors_tree_paths_over(struct fors_tree_paths *paths, const struct fors_routes *routes,
				   struct fors_error *error)
{
	uint32_t nlinks = 2 * paths->tree->cables, nservers = routes->graph->nservers;
	uint32_t *link_of = malloc((nlinks + (size_t)1) * sizeof(*link_of));
	uint32_t *server_of = malloc((nservers + (size_t)1) * sizeof(*server_of));

	if (!link_of || !server_of) {
		free(link_of);
		free(server_of);
		return fors_fail_memory(error);
	}
	for (uint32_t l = 0; l < nlinks; l++) {
		uint32_t port = fors_tree_net_port(paths->tree, routes->net, l);

		link_of[l] = port == FORS_NONE ? FORS_NONE : routes->link_of[port];
	}
	for (uint32_t s = 0; s < nservers; s++)
		server_of[s] = server_at(paths->tree, &routes->server[s]);
	paths->link_of = link_of;
	paths->server_of = server_of;
	paths->graph = routes->graph;
	return FORS_OK;
}

void fors_tree_paths_clear(struct fors_tree_paths *paths)
{
	free(paths->link_of);
	free(paths->server_of);
	*paths = (struct fors_tree_paths){0};
}

static enum fors_way route(const void *context, struct fors_pair pair, uint32_t *link, uint32_t *nlinks)
{
	const struct fors_tree_paths *paths = context;
	const uint32_t *server = paths->server_of;
	unsigned n = fors_tree_route(paths->tree, paths->routing, paths->seed, server ? server[pair.src] : pair.src,
				     server ? server[pair.dst] : pair.dst, link);

	for (unsigned i = 0; i < n && paths->link_of; i++) {
		link[i] = paths->link_of[link[i]];
		if (link[i] == FORS_NONE) {
			*nlinks = i;
			return FORS_WAY_DEAD;
		}
	}
	*nlinks = n;
	return FORS_WAY_GOOD;
}

struct fors_router fors_tree_router(const struct fors_tree_paths *paths)
{
	return (struct fors_router){
		.graph = paths->graph, .context = paths, .max_links = 2 * paths->tree->height, .route = route};
}
