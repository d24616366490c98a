/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shares.c - even shares of all shortest paths, and progressive filling over all links.
 *
 * From the source, breadth first, the number of shortest paths to each node; then from the destination back along
 * links that come one step nearer, the number of paths to the end. A link from u to v carries (paths to u) (paths from
 * v) / (paths in all) of the flow.
 */
#include "shares.h"

#include <stdlib.h>

#include "lab/model/graph/incidence.h"
#include "lp.h"

#define FAR UINT32_MAX
#define SAME 1e-10 /* limits that differ by less, relatively, are one limit */

/* One search; all arrays have nnodes entries. */
struct search {
	const struct fors_graph *graph;
	size_t *out_first, *in_first;
	uint32_t *out, *in; /* links of each node */
	uint32_t source;    /* server that distance and paths are from; FORS_NONE at first */
	uint32_t *distance;
	double *paths; /* shortest paths from the source */
	double *rest;  /* shortest paths to the destination; 0 outside of a backward search */
	uint32_t *queue;
};

static void search_free(struct search *s)
{
	free(s->out_first);
	free(s->in_first);
	free(s->out);
	free(s->in);
	free(s->distance);
	free(s->paths);
	free(s->rest);
	free(s->queue);
}

static enum fors_err search_new(struct search *s, const struct fors_graph *graph, struct fors_error *error)
{
	size_t n = graph->nnodes + (size_t)1;
	enum fors_err err;

	*s = (struct search){.graph = graph, .source = FORS_NONE};
	s->distance = calloc(n, sizeof(*s->distance));
	s->paths = calloc(n, sizeof(*s->paths));
	s->rest = calloc(n, sizeof(*s->rest));
	s->queue = calloc(n, sizeof(*s->queue));
	err = fors_links_by(graph, graph->from, &s->out_first, &s->out, error);
	if (!err)
		err = fors_links_by(graph, graph->to, &s->in_first, &s->in, error);
	if (!err && !(s->distance && s->paths && s->rest && s->queue))
		err = fors_fail_memory(error);
	return err;
}

/* Distances and numbers of shortest paths from a server's node; terminals are not passed through. */
static void search_from(struct search *s, uint32_t source)
{
	uint32_t head = 0, tail = 0, start = s->graph->server[source];

	for (uint32_t n = 0; n < s->graph->nnodes; n++) {
		s->distance[n] = FAR;
		s->paths[n] = 0;
	}
	s->source = source;
	s->distance[start] = 0;
	s->paths[start] = 1;
	s->queue[tail++] = start;
	while (head < tail) {
		uint32_t node = s->queue[head++];

		for (size_t i = s->out_first[node];
		     i < s->out_first[node + 1] && (!s->graph->is_terminal[node] || node == start); i++) {
			uint32_t to = s->graph->to[s->out[i]];

			if (s->distance[to] == FAR) {
				s->distance[to] = s->distance[node] + 1;
				s->queue[tail++] = to;
			}
			if (s->distance[to] == s->distance[node] + 1)
				s->paths[to] += s->paths[node];
		}
	}
}

static bool add_entry(struct fors_shares *shares, size_t *used, uint32_t link, double share)
{
	if (*used == shares->room) {
		size_t room = 2 * shares->room + 1024;
		uint32_t *links = realloc(shares->link, room * sizeof(*links));
		double *parts;

		if (!links)
			return false;
		shares->link = links;
		parts = realloc(shares->share, room * sizeof(*parts));
		if (!parts)
			return false;
		shares->share = parts;
		shares->room = room;
	}
	shares->link[*used] = link;
	shares->share[(*used)++] = share;
	return true;
}

/* Entries of the flow from the source to server `target`: back along the links of shortest paths. */
static bool add_flow(struct search *s, uint32_t target, struct fors_shares *shares, size_t *used)
{
	uint32_t end = s->graph->server[target], head = 0, tail = 0;
	bool ok = true;

	if (end == s->graph->server[s->source] || s->distance[end] == FAR)
		return true;
	s->rest[end] = 1;
	s->queue[tail++] = end;
	while (head < tail) {
		uint32_t node = s->queue[head++];

		for (size_t i = s->in_first[node]; i < s->in_first[node + 1] && ok; i++) {
			uint32_t from = s->graph->from[s->in[i]];

			if (s->distance[from] == FAR || s->distance[from] + 1 != s->distance[node] ||
			    (s->graph->is_terminal[from] && s->distance[from]))
				continue;
			if (s->rest[from] == 0)
				s->queue[tail++] = from;
			s->rest[from] += s->rest[node];
			ok = add_entry(shares, used, s->in[i], s->paths[from] * s->rest[node] / s->paths[end]);
		}
	}
	for (uint32_t i = 0; i < tail; i++)
		s->rest[s->queue[i]] = 0;
	return ok;
}

enum fors_err fors_shares_of(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst, uint32_t nflows,
			     struct fors_shares *shares, struct fors_error *error)
{
	struct fors_shares result = {.nflows = nflows};
	struct search s;
	size_t used = 0;
	bool ok;
	enum fors_err err = search_new(&s, graph, error);

	if (err) {
		search_free(&s);
		return err;
	}
	result.first = calloc(nflows + (size_t)1, sizeof(*result.first));
	ok = result.first;
	for (uint32_t f = 0; f < nflows && ok; f++) {
		if (s.source != src[f])
			search_from(&s, src[f]);
		ok = add_flow(&s, dst[f], &result, &used);
		result.first[f + 1] = used;
	}
	search_free(&s);
	if (!ok) {
		fors_shares_clear(&result);
		return fors_fail_memory(error);
	}
	*shares = result;
	return FORS_OK;
}

void fors_shares_clear(struct fors_shares *shares)
{
	free(shares->first);
	free(shares->link);
	free(shares->share);
	*shares = (struct fors_shares){0};
}

/* Progressive filling; arrays of nlinks entries, but is_stopped. */
struct fill {
	const struct fors_graph *graph;
	const struct fors_shares *shares;
	double *room, *weight; /* capacity left; the shares of rising flows */
	uint32_t *rising;      /* how many rise: weight is never exactly 0 again */
	bool *is_full;
	bool *is_stopped; /* nflows */
	double *rate;	  /* nflows; the caller's */
	uint32_t nrising; /* flows in all */
};

static void fill_free(struct fill *fill)
{
	free(fill->room);
	free(fill->weight);
	free(fill->rising);
	free(fill->is_full);
	free(fill->is_stopped);
}

/* Add `sign` times a flow to the weights of its links. */
static void weigh(struct fill *fill, uint32_t f, int sign)
{
	for (size_t i = fill->shares->first[f]; i < fill->shares->first[f + 1]; i++) {
		fill->weight[fill->shares->link[i]] += sign * fill->shares->share[i];
		fill->rising[fill->shares->link[i]] += (uint32_t)sign;
	}
}

static bool fill_new(struct fill *fill)
{
	uint32_t nlinks = fill->graph->nlinks, nflows = fill->shares->nflows;

	fill->room = calloc(nlinks + (size_t)1, sizeof(*fill->room));
	fill->weight = calloc(nlinks + (size_t)1, sizeof(*fill->weight));
	fill->rising = calloc(nlinks + (size_t)1, sizeof(*fill->rising));
	fill->is_full = calloc(nlinks + (size_t)1, sizeof(*fill->is_full));
	fill->is_stopped = calloc(nflows + (size_t)1, sizeof(*fill->is_stopped));
	if (!fill->room || !fill->weight || !fill->rising || !fill->is_full || !fill->is_stopped)
		return false;
	for (uint32_t l = 0; l < nlinks; l++)
		fill->room[l] = fill->graph->capacity[l];
	for (uint32_t f = 0; f < nflows; f++) {
		fill->rate[f] = 0;
		fill->is_stopped[f] = fill->shares->first[f] == fill->shares->first[f + 1];
		fill->nrising += !fill->is_stopped[f];
		weigh(fill, f, 1);
	}
	return true;
}

static double smallest_limit(const struct fill *fill)
{
	double smallest = 0;
	bool is_first = true;

	for (uint32_t l = 0; l < fill->graph->nlinks; l++)
		if (fill->rising[l] && (is_first || fill->room[l] < smallest * fill->weight[l])) {
			smallest = fill->room[l] / fill->weight[l];
			is_first = false;
		}
	return smallest;
}

/* The links that are full at this rate; false when there are none. */
static bool mark_full(struct fill *fill, double level)
{
	bool is_any = false;

	for (uint32_t l = 0; l < fill->graph->nlinks; l++) {
		fill->is_full[l] = fill->rising[l] && fill->room[l] <= level * fill->weight[l] * (1 + SAME) + 1e-14;
		is_any |= fill->is_full[l];
	}
	return is_any;
}

static bool is_over_full_link(const struct fill *fill, uint32_t f)
{
	for (size_t i = fill->shares->first[f]; i < fill->shares->first[f + 1]; i++)
		if (fill->is_full[fill->shares->link[i]])
			return true;
	return false;
}

static void stop_flow(struct fill *fill, uint32_t f, double level)
{
	fill->is_stopped[f] = true;
	fill->rate[f] = level;
	fill->nrising--;
	weigh(fill, f, -1);
	for (size_t i = fill->shares->first[f]; i < fill->shares->first[f + 1]; i++) {
		double *room = &fill->room[fill->shares->link[i]];

		*room -= level * fill->shares->share[i];
		if (*room < 0)
			*room = 0;
	}
}

static enum fors_err rounds(struct fill *fill, enum fors_fill_step step, struct fors_error *error)
{
	while (fill->nrising) {
		double level = 0;
		enum fors_err err = FORS_OK;

		if (step == FORS_STEP_SEARCH)
			level = smallest_limit(fill);
		else
			err = fors_lp_level(fill->weight, fill->room, fill->graph->nlinks, &level, error);
		if (err)
			return err;
		if (!mark_full(fill, level))
			return fors_fail(error, FORS_ENOPLAN, "lp_solve's rate of %.17g fills no link", level);
		for (uint32_t f = 0; f < fill->shares->nflows; f++)
			if (!fill->is_stopped[f] && is_over_full_link(fill, f))
				stop_flow(fill, f, level);
		for (uint32_t l = 0; l < fill->graph->nlinks; l++)
			if (!fill->rising[l])
				fill->weight[l] = 0;
	}
	return FORS_OK;
}

enum fors_err fors_shares_rates(const struct fors_graph *graph, const struct fors_shares *shares,
				enum fors_fill_step step, double *rate, struct fors_error *error)
{
	struct fill fill = {.graph = graph, .shares = shares, .rate = rate};
	enum fors_err err = fill_new(&fill) ? rounds(&fill, step, error) : fors_fail_memory(error);

	fill_free(&fill);
	return err;
}

/* Add what each flow puts on each link; false when memory ran out. *fit: no flow without a path has a rate. */
static bool add_loads(struct search *s, const uint32_t *src, const uint32_t *dst, uint32_t nflows, const double *rate,
		      double *load, bool *fit)
{
	struct fors_shares one = {0};
	bool ok = true;

	for (uint32_t f = 0; f < nflows && ok; f++) {
		size_t n = 0;

		if (s->source != src[f])
			search_from(s, src[f]);
		ok = add_flow(s, dst[f], &one, &n);
		*fit &= n > 0 || rate[f] == 0;
		for (size_t i = 0; i < n; i++)
			load[one.link[i]] += rate[f] * one.share[i];
	}
	fors_shares_clear(&one);
	return ok;
}

enum fors_err fors_shares_fit(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst, uint32_t nflows,
			      const double *rate, bool *fit, struct fors_error *error)
{
	double *load = calloc(graph->nlinks + (size_t)1, sizeof(*load));
	bool result = true;
	struct search s = {0};
	enum fors_err err = load ? search_new(&s, graph, error) : fors_fail_memory(error);

	if (!err && !add_loads(&s, src, dst, nflows, rate, load, &result))
		err = fors_fail_memory(error);
	for (uint32_t l = 0; l < graph->nlinks && !err; l++)
		result &= load[l] <= graph->capacity[l] * (1 + SAME);
	if (load)
		search_free(&s);
	free(load);
	if (!err)
		*fit = result;
	return err;
}
