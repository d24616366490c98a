/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pgft_router.c - paths by a rule, as evaluations ask for them. */
#include "pgft_router.h"

#include <stdlib.h>

#include "model/trees/pgft_net.h"
#include "router.h"

enum fors_err fors_pgft_over(struct fors_pgft_paths *paths, const struct fors_routes *routes, struct fors_error *error)
{
	uint32_t nlinks = 2 * paths->tree->cables, nservers = routes->graph->nservers;
	uint32_t *link_of = malloc((nlinks + (size_t)1) * sizeof(*link_of));
	uint32_t *server_of = malloc((nservers + (size_t)1) * sizeof(*server_of));

	if (!link_of || !server_of) {
		free(link_of);
		free(server_of);
		return fors_fail_memory(error);
	}
	for (uint32_t l = 0; l < nlinks; l++)
		link_of[l] = routes->link_of[fors_pgft_net_port(paths->tree, routes->net, l)];
	for (uint32_t s = 0; s < nservers; s++)
		server_of[s] = routes->server[s].node - fors_pgft_net_server(paths->tree);
	paths->link_of = link_of;
	paths->server_of = server_of;
	paths->graph = routes->graph;
	return FORS_OK;
}

void fors_pgft_paths_clear(struct fors_pgft_paths *paths)
{
	free(paths->link_of);
	free(paths->server_of);
	*paths = (struct fors_pgft_paths){0};
}

static enum fors_way route(const void *context, struct fors_pair pair, uint32_t *link, uint32_t *nlinks)
{
	const struct fors_pgft_paths *paths = context;
	const uint32_t *server = paths->server_of;
	unsigned n = fors_pgft_route(paths->tree, paths->routing, paths->seed, server ? server[pair.src] : pair.src,
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

struct fors_router fors_pgft_router(const struct fors_pgft_paths *paths)
{
	return (struct fors_router){
		.graph = paths->graph, .context = paths, .max_links = 2 * paths->tree->height, .route = route};
}
