/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * optimum.c - the optimum of a pattern: each phase is a problem of its own, so phases go to threads.
 */
#include "optimum.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "cuts_reached.h"
#include "shares.h"

#define MOST_WORK 1e10 /* half a minute */

/* What one phase gave. */
struct phase {
	double min, sum;
	uint32_t nflows;
	bool is_reached;
};

struct job {
	const struct fors_cuts *cuts;
	const struct fors_graph *graph;
	const struct fors_pattern *pattern;
	unsigned threads; /* for one phase */
	bool is_too_long; /* to find out whether the bound is reached */
	struct phase *phase;
};

/* The flows of one phase, and their rates. */
struct flows {
	uint32_t n, *src, *dst;
	double *rate;
};

static void flows_free(struct flows *flows)
{
	free(flows->src);
	free(flows->dst);
	free(flows->rate);
}

static bool collect(const struct fors_pattern *pattern, uint32_t phase, struct flows *flows)
{
	size_t n = fors_pattern_npairs(pattern, phase);

	flows->src = malloc((n + 1) * sizeof(*flows->src));
	flows->dst = malloc((n + 1) * sizeof(*flows->dst));
	flows->rate = malloc((n + 1) * sizeof(*flows->rate));
	if (!flows->src || !flows->dst || !flows->rate)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct fors_pair pair = fors_pattern_pair(pattern, phase, i);

		if (pair.dst == FORS_NONE || pair.dst == pair.src)
			continue;
		flows->src[flows->n] = pair.src;
		flows->dst[flows->n++] = pair.dst;
	}
	return true;
}

static enum fors_err do_phase(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	struct job *job = context;
	struct phase *phase = &job->phase[item];
	struct flows flows = {0};
	enum fors_err err = collect(job->pattern, item, &flows) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_cuts_optimum(job->cuts, flows.src, flows.dst, flows.n, job->threads, flows.rate, error);
	phase->is_reached = !job->graph;
	if (!err && job->graph && !job->is_too_long)
		err = fors_shares_fit(job->graph, flows.src, flows.dst, flows.n, flows.rate, &phase->is_reached, error);
	if (!err) {
		struct fors_rates sum = fors_rates_of(flows.rate, flows.n);

		phase->min = sum.min;
		phase->sum = sum.aggregate;
		phase->nflows = flows.n;
	}
	flows_free(&flows);
	return err;
}

/* In the order of the phases, so that sums do not depend on threads. */
static void add_up(const struct phase *phase, struct fors_optimum *optimum)
{
	struct fors_rates *rates = &optimum->rates;
	double sum = 0;
	uint32_t busy = 0;

	optimum->is_exact = true;
	for (uint32_t p = 0; p < optimum->nphases; p++) {
		optimum->phase_rate[p] = phase[p].sum;
		optimum->is_exact &= phase[p].is_reached;
		if (!phase[p].nflows)
			continue;
		if (!busy++ || phase[p].min < rates->min)
			rates->min = phase[p].min;
		rates->nflows += phase[p].nflows;
		sum += phase[p].sum;
	}
	rates->mean = rates->nflows ? sum / rates->nflows : 0;
	rates->aggregate = busy ? sum / busy : 0;
}

/* Work to find out whether the bound is reached: a search over all links for each flow. */
static double work_of(const struct fors_graph *graph, const struct fors_pattern *pattern)
{
	double flows = 0;

	for (uint32_t p = 0; p < fors_pattern_nphases(pattern); p++)
		flows += (double)fors_pattern_npairs(pattern, p);
	return flows * graph->nlinks;
}

/* The graph to look at, or NULL where its cables alone say that the bound is reached. */
static enum fors_err look_at(struct job *job, struct fors_error *error)
{
	bool always = false;
	enum fors_err err;

	if (!job->graph)
		return FORS_OK;
	err = fors_cuts_reached(job->graph, &always, error);
	job->is_too_long = !err && !always && work_of(job->graph, job->pattern) > MOST_WORK;
	if (always)
		job->graph = NULL;
	return err;
}

enum fors_err fors_optimum_of(const struct fors_cuts *cuts, const struct fors_graph *graph,
			      const struct fors_pattern *pattern, unsigned threads, struct fors_optimum **optimum,
			      struct fors_error *error)
{
	uint32_t n = fors_pattern_nphases(pattern);
	struct job job = {.cuts = cuts, .graph = graph, .pattern = pattern, .threads = n > 1 ? 1 : threads};
	struct fors_optimum *result = calloc(1, sizeof(*result));
	enum fors_err err = FORS_OK;

	job.phase = calloc(n + (size_t)1, sizeof(*job.phase));
	if (result)
		result->phase_rate = calloc(n + (size_t)1, sizeof(*result->phase_rate));
	if (!result || !result->phase_rate || !job.phase)
		err = fors_fail_memory(error);
	if (!err)
		err = look_at(&job, error);
	if (!err)
		err = fors_parallel(threads, n, do_phase, &job, error);
	if (!err) {
		result->nphases = n;
		add_up(job.phase, result);
		*optimum = result;
	} else {
		fors_optimum_free(result);
	}
	free(job.phase);
	return err;
}

void fors_optimum_free(struct fors_optimum *optimum)
{
	if (!optimum)
		return;
	free(optimum->phase_rate);
	free(optimum);
}

enum fors_err fors_graph_of_servers(const struct fors_routes *routes, struct fors_graph **graph,
				    struct fors_error *error)
{
	const struct fors_graph *from = routes->graph;
	const struct fors_net *net = routes->net;
	struct fors_graph *g;
	enum fors_err err = fors_graph_new(from->nnodes + from->nservers, from->nlinks, from->nservers, &g, error);

	if (err)
		return err;
	memcpy(g->from, from->from, from->nlinks * sizeof(*g->from));
	memcpy(g->to, from->to, from->nlinks * sizeof(*g->to));
	memcpy(g->capacity, from->capacity, from->nlinks * sizeof(*g->capacity));
	memcpy(g->is_terminal, from->is_terminal, from->nnodes * sizeof(*g->is_terminal));
	for (uint32_t i = 0; i < from->nservers; i++) {
		const struct fors_endpoint *server = &routes->server[i];
		uint32_t out = routes->link_of[net->node[server->node].first_port + server->port];
		uint32_t in = routes->link_of[net->node[server->leaf].first_port + server->leaf_port];

		g->server[i] = from->nnodes + i;
		g->is_terminal[g->server[i]] = true;
		if (out != FORS_NONE)
			g->from[out] = g->server[i];
		if (in != FORS_NONE)
			g->to[in] = g->server[i];
	}
	*graph = g;
	return FORS_OK;
}
