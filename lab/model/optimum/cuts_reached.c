/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts_reached.c - a two-level network whose cuts are always reached, seen from its cables alone.
 *
 * If the cables of every leaf are spread over the spines in the same proportions, phi[k] of its capacity to spine k,
 * up and down alike, then every flow between leaves can be split over the spines by phi: the cable of leaf a to spine
 * k carries phi[k] of all that leaves a, no more than phi[k] of all its capacity, which is its own. This holds for
 * healthy trees, for dead spines, and when some leaves have all their cables doubled.
 */
#include "cuts_reached.h"

#include <math.h>
#include <stdlib.h>

#include "lab/model/graph/incidence.h"

struct look {
	const struct fors_graph *graph;
	size_t *out_first, *in_first;
	uint32_t *out, *in; /* links that leave and enter each node */
	bool *is_leaf;	    /* nnodes */
	double *phi;	    /* nnodes: the part of a leaf's capacity that leads to each spine */
	double *part;	    /* nnodes: of one leaf in one direction */
	bool has_phi;
};

static void look_free(struct look *look)
{
	free(look->out_first);
	free(look->in_first);
	free(look->out);
	free(look->in);
	free(look->is_leaf);
	free(look->phi);
	free(look->part);
}

static enum fors_err look_new(struct look *look, const struct fors_graph *graph, struct fors_error *error)
{
	size_t n = graph->nnodes + (size_t)1;
	enum fors_err err;

	*look = (struct look){.graph = graph};
	err = fors_links_by(graph, graph->from, &look->out_first, &look->out, error);
	if (!err)
		err = fors_links_by(graph, graph->to, &look->in_first, &look->in, error);
	look->is_leaf = calloc(n, sizeof(*look->is_leaf));
	look->phi = calloc(n, sizeof(*look->phi));
	look->part = calloc(n, sizeof(*look->part));
	if (!err && !(look->is_leaf && look->phi && look->part))
		err = fors_fail_memory(error);
	return err;
}

/* Every server has one neighbour, a leaf; every other link joins a leaf and a spine. */
static bool is_two_level(struct look *look)
{
	const struct fors_graph *g = look->graph;

	for (uint32_t s = 0; s < g->nservers; s++) {
		size_t begin = look->out_first[g->server[s]], end = look->out_first[g->server[s] + 1];

		for (size_t i = begin; i < end; i++)
			if (g->to[look->out[i]] != g->to[look->out[begin]])
				return false;
		if (begin < end)
			look->is_leaf[g->to[look->out[begin]]] = true;
	}
	for (uint32_t l = 0; l < g->nlinks; l++)
		if (!g->is_terminal[g->from[l]] && !g->is_terminal[g->to[l]] &&
		    look->is_leaf[g->from[l]] == look->is_leaf[g->to[l]])
			return false;
	return true;
}

/*
 * The capacities between a leaf and all spines over these of its links, whose far ends are in end[], as parts of their
 * sum in part[]: are they phi? The first leaf that has any decides what phi is. A leaf without any needs none.
 */
static bool has_proportions(struct look *look, const uint32_t *link, size_t count, const uint32_t *end)
{
	const struct fors_graph *g = look->graph;
	double sum = 0;

	for (uint32_t n = 0; n < g->nnodes; n++)
		look->part[n] = 0;
	for (size_t i = 0; i < count; i++)
		if (!g->is_terminal[end[link[i]]]) {
			look->part[end[link[i]]] += g->capacity[link[i]];
			sum += g->capacity[link[i]];
		}
	for (uint32_t n = 0; n < g->nnodes && sum > 0; n++) {
		if (!look->has_phi)
			look->phi[n] = look->part[n] / sum;
		else if (fabs(look->part[n] / sum - look->phi[n]) > 1e-12)
			return false;
	}
	look->has_phi |= sum > 0;
	return true;
}

static bool are_proportional(struct look *look)
{
	const struct fors_graph *g = look->graph;

	for (uint32_t n = 0; n < g->nnodes; n++) {
		const size_t *out = &look->out_first[n], *in = &look->in_first[n];

		if (look->is_leaf[n] && (!has_proportions(look, look->out + out[0], out[1] - out[0], g->to) ||
					 !has_proportions(look, look->in + in[0], in[1] - in[0], g->from)))
			return false;
	}
	return true;
}

enum fors_err fors_cuts_reached(const struct fors_graph *graph, bool *always, struct fors_error *error)
{
	struct look look;
	enum fors_err err = look_new(&look, graph, error);

	if (!err)
		*always = is_two_level(&look) && are_proportional(&look);
	look_free(&look);
	return err;
}
