/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts_find.c - the subtrees of a graph that no specification describes.
 *
 * The rank of a node is its distance from the nearest server. Adding the nodes rank by rank, and joining what a link
 * connects, gives the nested families of node sets that cuts.h speaks of. A switch with a single neighbour is a dead
 * end: nothing passes through it, so its cables count for no cut (a spine that lost all cables but one, say).
 */
#include "cuts_find.h"

#include <stdlib.h>

#include "lab/model/graph/incidence.h"

#define NO_RANK UINT32_MAX /* not connected to a server, or a dead end */

struct search {
	const struct fors_graph *graph;
	size_t *first; /* nnodes + 1: the links that leave node n are link[first[n]] .. */
	uint32_t *link;
	uint32_t *rank;	   /* nnodes */
	uint32_t *root;	   /* nnodes: union-find */
	uint32_t *queue;   /* nnodes */
	uint32_t *number;  /* nnodes: the subtree whose root this node is, at the level at hand */
	double *up, *down; /* nnodes: capacity out of and into the set whose root this is */
	bool *is_server;   /* nnodes */
	uint32_t top;	   /* the highest rank */
};

static void search_free(struct search *s)
{
	free(s->first);
	free(s->link);
	free(s->rank);
	free(s->root);
	free(s->queue);
	free(s->number);
	free(s->up);
	free(s->down);
	free(s->is_server);
}

static enum fors_err search_new(struct search *s, const struct fors_graph *graph, struct fors_error *error)
{
	size_t n = graph->nnodes + (size_t)1;
	enum fors_err err;

	*s = (struct search){.graph = graph};
	err = fors_links_by(graph, graph->from, &s->first, &s->link, error);
	s->rank = calloc(n, sizeof(*s->rank));
	s->root = calloc(n, sizeof(*s->root));
	s->queue = calloc(n, sizeof(*s->queue));
	s->number = calloc(n, sizeof(*s->number));
	s->up = calloc(n, sizeof(*s->up));
	s->down = calloc(n, sizeof(*s->down));
	s->is_server = calloc(n, sizeof(*s->is_server));
	if (!err && !(s->rank && s->root && s->queue && s->number && s->up && s->down && s->is_server))
		err = fors_fail_memory(error);
	for (uint32_t i = 0; i < graph->nservers && !err; i++)
		s->is_server[graph->server[i]] = true;
	return err;
}

/* The only neighbour of a node that is no dead end itself, or FORS_NONE when there are none or several. */
static uint32_t only_neighbour(const struct search *s, uint32_t node)
{
	uint32_t only = FORS_NONE;

	for (size_t i = s->first[node]; i < s->first[node + 1]; i++) {
		uint32_t other = s->graph->to[s->link[i]];

		if (s->rank[other] == NO_RANK || other == only)
			continue;
		if (only != FORS_NONE)
			return FORS_NONE;
		only = other;
	}
	return only;
}

/* Dead ends get NO_RANK, again and again: what hung only on one becomes one. */
static void mark_dead_ends(struct search *s)
{
	uint32_t nqueue = 0;

	for (uint32_t n = 0; n < s->graph->nnodes; n++)
		if (s->graph->is_terminal[n] && !s->is_server[n])
			s->rank[n] = NO_RANK;
		else if (!s->is_server[n])
			s->queue[nqueue++] = n;
	while (nqueue) {
		uint32_t node = s->queue[--nqueue], only;

		only = s->rank[node] == NO_RANK ? FORS_NONE : only_neighbour(s, node);
		if (only == FORS_NONE)
			continue;
		s->rank[node] = NO_RANK;
		if (!s->is_server[only])
			s->queue[nqueue++] = only;
	}
}

/* Ranks by breadth-first search from all servers at once. */
static void find_ranks(struct search *s)
{
	uint32_t head = 0, tail = 0;

	mark_dead_ends(s);
	for (uint32_t n = 0; n < s->graph->nnodes; n++) {
		s->number[n] = s->rank[n] == NO_RANK; /* for now: is a dead end */
		s->rank[n] = NO_RANK;
	}
	for (uint32_t i = 0; i < s->graph->nservers; i++)
		if (s->rank[s->graph->server[i]] == NO_RANK) {
			s->rank[s->graph->server[i]] = 0;
			s->queue[tail++] = s->graph->server[i];
		}
	while (head < tail) {
		uint32_t node = s->queue[head++];

		s->top = s->rank[node];
		for (size_t i = s->first[node]; i < s->first[node + 1]; i++) {
			uint32_t other = s->graph->to[s->link[i]];

			if (s->rank[other] == NO_RANK && !s->number[other]) {
				s->rank[other] = s->rank[node] + 1;
				s->queue[tail++] = other;
			}
		}
	}
}

static uint32_t find_root(struct search *s, uint32_t node)
{
	while (s->root[node] != node) {
		s->root[node] = s->root[s->root[node]];
		node = s->root[node];
	}
	return node;
}

/* Join what links connect whose higher end has this rank. */
static void join_rank(struct search *s, uint32_t rank)
{
	const struct fors_graph *g = s->graph;

	for (uint32_t l = 0; l < g->nlinks; l++) {
		uint32_t a = s->rank[g->from[l]], b = s->rank[g->to[l]];

		if (a != NO_RANK && b != NO_RANK && (a > b ? a : b) == rank) {
			uint32_t x = find_root(s, g->from[l]), y = find_root(s, g->to[l]);

			s->root[x > y ? x : y] = x > y ? y : x;
		}
	}
}

/* The capacity of the links that leave and enter each set of nodes of at most this rank. */
static void measure(struct search *s, uint32_t rank)
{
	const struct fors_graph *g = s->graph;

	for (uint32_t n = 0; n < g->nnodes; n++)
		s->up[n] = s->down[n] = 0;
	for (uint32_t l = 0; l < g->nlinks; l++) {
		uint32_t a = s->rank[g->from[l]], b = s->rank[g->to[l]];

		if (a == NO_RANK || b == NO_RANK || (a <= rank) == (b <= rank))
			continue;
		if (a <= rank)
			s->up[find_root(s, g->from[l])] += g->capacity[l];
		else
			s->down[find_root(s, g->to[l])] += g->capacity[l];
	}
}

/* Number the sets that hold servers from `first` on, by their first server; the end of the numbers. */
static uint32_t number_sets(struct search *s, uint32_t *subtree, uint32_t first)
{
	const struct fors_graph *g = s->graph;

	for (uint32_t n = 0; n < g->nnodes; n++)
		s->number[n] = FORS_NONE;
	for (uint32_t i = 0; i < g->nservers; i++) {
		uint32_t *number = &s->number[find_root(s, g->server[i])];

		if (*number == FORS_NONE)
			*number = first++;
		subtree[i] = *number;
	}
	return first;
}

/* All levels, until one set holds all servers or nothing is left to add. */
static enum fors_err build(struct search *s, struct fors_cuts *cuts, double *capacity)
{
	uint32_t first = 0;

	for (uint32_t n = 0; n < s->graph->nnodes; n++)
		s->root[n] = n;
	for (uint32_t rank = 0; rank <= s->top && cuts->nlevels < FORS_CUT_LEVELS; rank++) {
		uint32_t *subtree = malloc((s->graph->nservers + (size_t)1) * sizeof(*subtree)), end;

		if (!subtree)
			return FORS_ENOMEM;
		join_rank(s, rank);
		end = number_sets(s, subtree, first);
		if (end - first <= 1) {
			free(subtree);
			break;
		}
		measure(s, rank);
		for (uint32_t i = 0; i < s->graph->nservers; i++) {
			capacity[2 * (size_t)subtree[i]] = s->up[find_root(s, s->graph->server[i])];
			capacity[2 * (size_t)subtree[i] + 1] = s->down[find_root(s, s->graph->server[i])];
		}
		cuts->subtree[cuts->nlevels++] = subtree;
		first = end;
	}
	cuts->graph->nlinks = 2 * first;
	return FORS_OK;
}

enum fors_err fors_cuts_of_graph(const struct fors_graph *graph, struct fors_cuts **cuts, struct fors_error *error)
{
	struct search s = {0};
	struct fors_cuts *result = calloc(1, sizeof(*result));
	enum fors_err err = result ? search_new(&s, graph, error) : fors_fail_memory(error);

	if (!err)
		err = fors_graph_new(0, 2 * FORS_CUT_LEVELS * graph->nservers, 0, &result->graph, error);
	if (!err) {
		find_ranks(&s);
		result->nservers = graph->nservers;
		err = build(&s, result, result->graph->capacity);
		if (err)
			fors_fail_memory(error);
	}
	search_free(&s);
	if (err) {
		fors_cuts_free(result);
		return err;
	}
	*cuts = result;
	return FORS_OK;
}
