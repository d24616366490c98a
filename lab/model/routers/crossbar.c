/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* crossbar.c - see crossbar.h. */
#include "crossbar.h"

enum fors_err fors_crossbar_graph(uint32_t nservers, struct fors_graph **graph, struct fors_error *error)
{
	enum fors_err err;

	if (nservers > FORS_CROSSBAR_SERVERS)
		return fors_fail(error, FORS_ELIMIT,
				 "one switch for %u servers is too large to compare with: %u at most", nservers,
				 FORS_CROSSBAR_SERVERS);
	err = fors_graph_new(nservers + 1, 2 * nservers, nservers, graph, error);
	for (uint32_t s = 0; s < nservers && !err; s++) {
		struct fors_graph *g = *graph;

		g->server[s] = s;
		g->is_terminal[s] = true;
		g->from[s] = g->to[nservers + s] = s;
		g->to[s] = g->from[nservers + s] = nservers;
	}
	return err;
}

static enum fors_way route(const void *context, struct fors_pair pair, uint32_t *link, uint32_t *nlinks)
{
	const struct fors_graph *graph = context;

	link[0] = pair.src;
	link[1] = graph->nservers + pair.dst;
	*nlinks = 2;
	return FORS_WAY_GOOD;
}

struct fors_router fors_crossbar_router(const struct fors_graph *graph)
{
	return (struct fors_router){.graph = graph, .context = graph, .max_links = 2, .route = route};
}
