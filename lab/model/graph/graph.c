/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* graph.c - the plain data of the model: links, flows, and sums over them. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

enum fors_err fors_graph_new(uint32_t nnodes, uint32_t nlinks, uint32_t nservers, struct fors_graph **graph,
			     struct fors_error *error)
{
	struct fors_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return fors_fail_memory(error);
	*g = (struct fors_graph){.nnodes = nnodes, .nlinks = nlinks, .nservers = nservers};
	g->from = calloc(nlinks + (size_t)1, sizeof(*g->from));
	g->to = calloc(nlinks + (size_t)1, sizeof(*g->to));
	g->capacity = calloc(nlinks + (size_t)1, sizeof(*g->capacity));
	g->server = calloc(nservers + (size_t)1, sizeof(*g->server));
	g->is_terminal = calloc(nnodes + (size_t)1, sizeof(*g->is_terminal));
	if (!g->from || !g->to || !g->capacity || !g->server || !g->is_terminal) {
		fors_graph_free(g);
		return fors_fail_memory(error);
	}
	for (uint32_t i = 0; i < nlinks; i++)
		g->capacity[i] = 1;
	*graph = g;
	return FORS_OK;
}

void fors_graph_free(struct fors_graph *graph)
{
	if (!graph)
		return;
	free(graph->from);
	free(graph->to);
	free(graph->capacity);
	free(graph->server);
	free(graph->is_terminal);
	free(graph);
}

/* Make *array (of `size` bytes each) hold `room` elements. */
static bool grow(void *array, size_t room, size_t size)
{
	void **where = array;
	void *larger = realloc(*where, room * size);

	if (!larger)
		return false;
	*where = larger;
	return true;
}

static bool make_room(struct fors_flows *flows, uint32_t nlinks)
{
	size_t used = flows->nflows ? flows->first[flows->nflows] : 0;

	if (flows->nflows == flows->room) {
		uint32_t room = flows->room ? 2 * flows->room : 256;

		if (flows->room > UINT32_MAX / 2 || !grow(&flows->src, room, sizeof(*flows->src)) ||
		    !grow(&flows->dst, room, sizeof(*flows->dst)) ||
		    !grow(&flows->first, room + (size_t)1, sizeof(*flows->first)))
			return false;
		flows->room = room;
	}
	if (used + nlinks > flows->link_room) {
		size_t room = 2 * flows->link_room + nlinks + 1024;

		if (!grow(&flows->link, room, sizeof(*flows->link)))
			return false;
		flows->link_room = room;
	}
	return true;
}

enum fors_err fors_flows_add(struct fors_flows *flows, uint32_t src, uint32_t dst, const uint32_t *link,
			     uint32_t nlinks, struct fors_error *error)
{
	uint32_t flow = flows->nflows;

	if (!make_room(flows, nlinks))
		return fors_fail_memory(error);
	if (!flow)
		flows->first[0] = 0;
	flows->src[flow] = src;
	flows->dst[flow] = dst;
	if (nlinks)
		memcpy(flows->link + flows->first[flow], link, nlinks * sizeof(*link));
	flows->first[flow + 1] = flows->first[flow] + nlinks;
	flows->nflows++;
	return FORS_OK;
}

void fors_flows_empty(struct fors_flows *flows)
{
	flows->nflows = 0;
}

void fors_flows_clear(struct fors_flows *flows)
{
	free(flows->src);
	free(flows->dst);
	free(flows->first);
	free(flows->link);
	*flows = (struct fors_flows){0};
}

uint32_t fors_loads_add(const struct fors_flows *flows, uint32_t *load)
{
	size_t nlinks = flows->nflows ? flows->first[flows->nflows] : 0;
	uint32_t most = 0;

	for (size_t i = 0; i < nlinks; i++) {
		uint32_t now = ++load[flows->link[i]];

		if (now > most)
			most = now;
	}
	return most;
}

struct fors_rates fors_rates_of(const double *rate, uint32_t nflows)
{
	struct fors_rates sum = {.nflows = nflows, .min = nflows ? rate[0] : 0};

	for (uint32_t i = 0; i < nflows; i++) {
		sum.aggregate += rate[i];
		if (rate[i] < sum.min)
			sum.min = rate[i];
	}
	sum.mean = nflows ? sum.aggregate / nflows : 0;
	return sum;
}
