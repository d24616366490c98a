/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts.c - subtrees, what their links carry, and the optimum under that.
 *
 * In a specification a subtree is a division of the server's number. In a graph it is found: the rank of a node is its
 * distance from the nearest server; the nodes of rank k or less, and the cables between them, fall apart into the
 * level-k subtrees. In a fat-tree these are the same. Any nested family of node sets gives true
 * bounds, so nothing has to be assumed about the graph.
 */
#include "cuts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "lab/model/graph/maxmin.h"

void fors_cuts_free(struct fors_cuts *cuts)
{
	if (!cuts)
		return;
	for (unsigned k = 0; k < FORS_CUT_LEVELS; k++)
		free(cuts->subtree[k]);
	fors_graph_free(cuts->graph);
	free(cuts);
}

static struct fors_cuts *new_cuts(uint32_t nservers, unsigned nlevels)
{
	struct fors_cuts *cuts = calloc(1, sizeof(*cuts));

	if (!cuts)
		return NULL;
	cuts->nservers = nservers;
	cuts->nlevels = nlevels;
	for (unsigned k = 0; k < nlevels; k++) {
		cuts->subtree[k] = calloc(nservers + (size_t)1, sizeof(**cuts->subtree));
		if (!cuts->subtree[k]) {
			fors_cuts_free(cuts);
			return NULL;
		}
	}
	return cuts;
}

static void set_capacity(struct fors_cuts *cuts, uint32_t subtree, double up, double down)
{
	cuts->graph->capacity[2 * (size_t)subtree] = up;
	cuts->graph->capacity[2 * (size_t)subtree + 1] = down;
}

static enum fors_err of_tree(const struct fors_tree *tree, unsigned nlevels, struct fors_cuts **cuts,
			     struct fors_error *error)
{
	struct fors_cuts *result = new_cuts(tree->servers, nlevels);
	uint32_t first = 0;
	enum fors_err err;

	for (unsigned k = 0; k < nlevels; k++)
		first += tree->servers / tree->below[k];
	if (!result)
		return fors_fail_memory(error);
	err = fors_graph_new(0, 2 * first, 0, &result->graph, error);
	if (err) {
		fors_cuts_free(result);
		return err;
	}
	first = 0;
	for (unsigned k = 0; k < nlevels; k++) {
		uint32_t count = tree->servers / tree->below[k];
		double capacity = (double)tree->roots[k + 1] * tree->p[k];

		for (uint32_t s = 0; s < tree->servers; s++)
			result->subtree[k][s] = first + s / tree->below[k];
		for (uint32_t i = 0; i < count; i++)
			set_capacity(result, first + i, capacity, capacity);
		first += count;
	}
	*cuts = result;
	return FORS_OK;
}

enum fors_err fors_cuts_of_tree(const struct fors_tree *tree, struct fors_cuts **cuts, struct fors_error *error)
{
	return of_tree(tree, tree->height, cuts, error);
}

enum fors_err fors_cuts_of_crossbar(uint32_t nservers, struct fors_cuts **cuts, struct fors_error *error)
{
	struct fors_tree crossbar = {.height = 1,
				     .m = {nservers},
				     .w = {1},
				     .p = {1},
				     .below = {1, nservers},
				     .roots = {1, 1},
				     .servers = nservers,
				     .cables = nservers};

	return of_tree(&crossbar, 1, cuts, error);
}

unsigned fors_cuts_path(const struct fors_cuts *cuts, uint32_t s, uint32_t d, uint32_t *cut)
{
	unsigned n = 0, k = 0;

	while (k < cuts->nlevels && cuts->subtree[k][s] != cuts->subtree[k][d]) {
		cut[n++] = 2 * cuts->subtree[k][s];
		cut[n++] = 2 * cuts->subtree[k][d] + 1;
		k++;
	}
	return n;
}

/* The flows as the cuts see them: paths over subtree links. Filled block by block, on several threads. */
struct crossing {
	const struct fors_cuts *cuts;
	struct fors_flows flows;
	bool is_counting; /* only the lengths of the paths, into flows.first[f + 1] */
};

#define BLOCK 8192u   /* flows that a thread takes at a time */
#define WORTHY 65536u /* flows from which on a second thread is worth starting */

static enum fors_err cross_block(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	struct crossing *c = context;
	struct fors_flows *flows = &c->flows;
	uint32_t first = item * BLOCK, end = flows->nflows - first < BLOCK ? flows->nflows : first + BLOCK;
	uint32_t unused[FORS_CUT_PATH];

	for (uint32_t f = first; f < end; f++)
		if (c->is_counting)
			flows->first[f + 1] = fors_cuts_path(c->cuts, flows->src[f], flows->dst[f], unused);
		else
			fors_cuts_path(c->cuts, flows->src[f], flows->dst[f], flows->link + flows->first[f]);
	return FORS_OK;
}

/* Lengths first, then where each path starts, then the paths. */
static enum fors_err cross(struct crossing *c, unsigned threads, struct fors_error *error)
{
	struct fors_flows *flows = &c->flows;
	uint32_t nblocks = flows->nflows / BLOCK + (flows->nflows % BLOCK > 0);

	flows->first = calloc(flows->nflows + (size_t)1, sizeof(*flows->first));
	if (!flows->first)
		return fors_fail_memory(error);
	c->is_counting = true;
	fors_parallel(threads, nblocks, cross_block, c, error);
	for (uint32_t f = 0; f < flows->nflows; f++)
		flows->first[f + 1] += flows->first[f];
	flows->link = malloc((flows->first[flows->nflows] + 1) * sizeof(*flows->link));
	if (!flows->link)
		return fors_fail_memory(error);
	c->is_counting = false;
	return fors_parallel(threads, nblocks, cross_block, c, error);
}

enum fors_err fors_cuts_optimum(const struct fors_cuts *cuts, const uint32_t *src, const uint32_t *dst, uint32_t nflows,
				unsigned threads, double *rate, struct fors_error *error)
{
	struct crossing c = {.cuts = cuts, .flows = {.nflows = nflows, .src = (uint32_t *)src, .dst = (uint32_t *)dst}};
	enum fors_err err = cross(&c, nflows < WORTHY ? 1 : threads, error);

	if (!err)
		err = fors_maxmin(cuts->graph, &c.flows, rate, error);
	free(c.flows.first);
	free(c.flows.link);
	return err;
}
