/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hops.c - from each goal backwards, in breadth, all distances; a link belongs to the set when it comes one nearer. */
#include "hops.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINKS ((size_t)1 << 28)

/* Links by the node that they come to: link[first[n]] .. link[first[n + 1] - 1]. */
struct into {
	uint32_t *first, *link, *queue, *distance;
};

static bool into_alloc(struct into *into, const struct fors_graph *graph)
{
	into->first = calloc(graph->nnodes + (size_t)2, sizeof(*into->first));
	into->link = calloc(graph->nlinks + (size_t)1, sizeof(*into->link));
	into->queue = calloc(graph->nnodes + (size_t)1, sizeof(*into->queue));
	into->distance = calloc(graph->nnodes + (size_t)1, sizeof(*into->distance));
	return into->first && into->link && into->queue && into->distance;
}

static void into_fill(struct into *into, const struct fors_graph *graph)
{
	for (uint32_t l = 0; l < graph->nlinks; l++)
		into->first[graph->to[l] + 2]++;
	for (uint32_t n = 0; n < graph->nnodes; n++)
		into->first[n + 2] += into->first[n + 1];
	for (uint32_t l = 0; l < graph->nlinks; l++)
		into->link[into->first[graph->to[l] + 1]++] = l;
}

static void into_clear(struct into *into)
{
	free(into->first);
	free(into->link);
	free(into->queue);
	free(into->distance);
}

/* distance[] of all switches to `goal`. */
static void measure(const struct fors_graph *graph, struct into *into, uint32_t goal)
{
	uint32_t head = 0, tail = 0;

	memset(into->distance, 0xff, graph->nnodes * sizeof(*into->distance));
	into->distance[goal] = 0;
	into->queue[tail++] = goal;
	while (head < tail) {
		uint32_t node = into->queue[head++];

		for (uint32_t i = into->first[node]; i < into->first[node + 1]; i++) {
			uint32_t from = graph->from[into->link[i]];

			if (graph->is_terminal[from] || into->distance[from] != FORS_NONE)
				continue;
			into->distance[from] = into->distance[node] + 1;
			into->queue[tail++] = from;
		}
	}
}

static bool is_nearer(const struct fors_graph *graph, const uint32_t *distance, uint32_t l)
{
	uint32_t from = distance[graph->from[l]], to = distance[graph->to[l]];

	return from != FORS_NONE && to != FORS_NONE && to + 1 == from;
}

/* Count the links of a goal, or (link is there) write them down: each node's at its place. */
static void collect(const struct fors_graph *graph, const uint32_t *distance, size_t *first, uint32_t *link)
{
	for (uint32_t l = 0; l < graph->nlinks; l++) {
		if (!is_nearer(graph, distance, l))
			continue;
		if (link)
			link[first[graph->from[l]]] = l;
		first[graph->from[l]]++;
	}
}

/* Those with servers first. */
static void number_goals(const struct fors_graph *graph, bool to_all, struct fors_hops *hops)
{
	uint32_t n = 0;

	memset(hops->goal_of, 0xff, graph->nnodes * sizeof(*hops->goal_of));
	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (graph->is_terminal[graph->to[l]] && hops->goal_of[graph->from[l]] == FORS_NONE)
			hops->goal_of[graph->from[l]] = n++;
	for (uint32_t node = 0; node < graph->nnodes && to_all; node++)
		if (!graph->is_terminal[node] && hops->goal_of[node] == FORS_NONE)
			hops->goal_of[node] = n++;
	for (uint32_t node = 0; node < graph->nnodes; node++)
		if (hops->goal_of[node] != FORS_NONE)
			hops->node_of[hops->goal_of[node]] = node;
	hops->ngoals = n;
}

/* Each set is counted one place on, so that after the sums first[i] is where set i begins. */
static enum fors_err count(const struct fors_graph *graph, struct into *into, struct fors_hops *hops,
			   struct fors_error *error)
{
	size_t nsets = (size_t)hops->ngoals * hops->nnodes;

	for (uint32_t node = 0; node < graph->nnodes; node++)
		if (hops->goal_of[node] != FORS_NONE) {
			measure(graph, into, node);
			collect(graph, into->distance, &hops->first[(size_t)hops->goal_of[node] * hops->nnodes + 2],
				NULL);
		}
	for (size_t i = 0; i < nsets; i++)
		hops->first[i + 2] += hops->first[i + 1];
	if (hops->first[nsets + 1] > MAX_LINKS)
		return fors_fail(error, FORS_ELIMIT, "the fabric is too large for routing without tables");
	hops->link = malloc((hops->first[nsets + 1] + 1) * sizeof(*hops->link));
	return hops->link ? FORS_OK : fors_fail_memory(error);
}

static void write(const struct fors_graph *graph, struct into *into, struct fors_hops *hops)
{
	for (uint32_t node = 0; node < graph->nnodes; node++)
		if (hops->goal_of[node] != FORS_NONE) {
			measure(graph, into, node);
			collect(graph, into->distance, &hops->first[(size_t)hops->goal_of[node] * hops->nnodes + 1],
				hops->link);
		}
}

static enum fors_err fill(const struct fors_graph *graph, bool to_all, struct into *into, struct fors_hops *hops,
			  struct fors_error *error)
{
	enum fors_err err;

	hops->nnodes = graph->nnodes;
	hops->goal_of = malloc((graph->nnodes + (size_t)1) * sizeof(*hops->goal_of));
	hops->node_of = malloc((graph->nnodes + (size_t)1) * sizeof(*hops->node_of));
	if (!hops->goal_of || !hops->node_of || !into_alloc(into, graph))
		return fors_fail_memory(error);
	number_goals(graph, to_all, hops);
	hops->first = calloc((size_t)hops->ngoals * graph->nnodes + 2, sizeof(*hops->first));
	if (!hops->first)
		return fors_fail_memory(error);
	into_fill(into, graph);
	err = count(graph, into, hops, error);
	if (!err)
		write(graph, into, hops);
	return err;
}

enum fors_err fors_hops_new(const struct fors_graph *graph, bool to_all, struct fors_hops **hops,
			    struct fors_error *error)
{
	struct fors_hops *made = calloc(1, sizeof(*made));
	struct into into = {0};
	enum fors_err err = made ? fill(graph, to_all, &into, made, error) : fors_fail_memory(error);

	into_clear(&into);
	if (err)
		fors_hops_free(made);
	else
		*hops = made;
	return err;
}

void fors_hops_free(struct fors_hops *hops)
{
	if (!hops)
		return;
	free(hops->goal_of);
	free(hops->node_of);
	free(hops->first);
	free(hops->link);
	free(hops);
}
