/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spread.c - see spread.h.
 *
 * What flows want is a matrix: from switch to goal. A detour replaces an entry by others (to what is passed, and on from
 * there). Then goal by goal: switches from the farthest to the nearest hand on what they have and got, in even parts. All
 * links of a set come one nearer, so this order is right, and a switch's distance is one more than that of any next one.
 */
#include "spread.h"

#include <stdlib.h>
#include <string.h>
#include "core/base/text.h"

#define MOST_STEPS ((uint64_t)1 << 36)

struct far {
	uint32_t distance, node;
};

struct spreading {
	const struct fors_router *router;
	const struct fors_graph *graph;
	const struct fors_hops *hops;
	const struct fors_blocks *blocks;
	enum fors_spread_kind kind;
	double *direct; /* ngoals * nnodes: what is wanted, at goal * nnodes + node */
	double *want;	/* the same, with detours */
	double *load;	/* nlinks */
	double *have;	/* nnodes */
	uint32_t *distance, *stack, *path;
	struct far *order;
	struct fors_spread *result;
};

static double *wanted(const struct spreading *s, double *matrix, uint32_t goal, uint32_t node)
{
	return &matrix[(size_t)goal * s->hops->nnodes + node];
}

/* ---- what is wanted ---- */

/* A flow: its own links, and from its first switch to the goal of its last. */
static void add_flow(struct spreading *s, struct fors_pair pair)
{
	uint32_t n = 0, first, last;

	if (s->router->route(s->router->context, pair, s->path, &n) != FORS_WAY_GOOD || !n) {
		s->result->nbroken++;
		return;
	}
	first = s->path[0];
	last = s->path[n - 1];
	s->load[first] += 1;
	if (n == 1)
		return;
	s->load[last] += 1;
	if (s->graph->to[first] != s->graph->from[last])
		*wanted(s, s->direct, s->hops->goal_of[s->graph->from[last]], s->graph->to[first]) += 1;
}

/* Half a way over each switch that is a detour, all with the same part; straight where there is none. */
static void over_switches(struct spreading *s, uint32_t from, uint32_t goal, double amount)
{
	uint32_t n = 0, to = s->hops->node_of[goal];

	for (uint32_t via = 0; via < s->hops->ngoals; via++)
		n += fors_is_detour(s->blocks, s->hops->node_of[via], from, to);
	if (!n)
		*wanted(s, s->want, goal, from) += amount;
	for (uint32_t via = 0; n && via < s->hops->ngoals; via++)
		if (fors_is_detour(s->blocks, s->hops->node_of[via], from, to)) {
			*wanted(s, s->want, via, from) += amount / n;
			*wanted(s, s->want, goal, s->hops->node_of[via]) += amount / n;
		}
}

/* Over each link from the one block to the other; straight inside of a block. */
static void over_links(struct spreading *s, uint32_t from, uint32_t goal, double amount)
{
	uint32_t own = s->blocks->block_of[from], other = s->blocks->block_of[s->hops->node_of[goal]], n = 0;
	const uint32_t *set = NULL;

	if (own != FORS_NONE && other != FORS_NONE && own != other)
		set = fors_blocks_links(s->blocks, own, other, &n);
	if (!n)
		*wanted(s, s->want, goal, from) += amount;
	for (uint32_t i = 0; i < n; i++) {
		s->load[set[i]] += amount / n;
		*wanted(s, s->want, s->hops->goal_of[s->graph->from[set[i]]], from) += amount / n;
		*wanted(s, s->want, goal, s->graph->to[set[i]]) += amount / n;
	}
}

static void add_detours(struct spreading *s)
{
	for (uint32_t goal = 0; goal < s->hops->ngoals; goal++)
		for (uint32_t node = 0; node < s->hops->nnodes; node++) {
			double amount = *wanted(s, s->direct, goal, node);

			if (amount > 0 && s->kind == FORS_SPREAD_VLB)
				over_switches(s, node, goal, amount);
			else if (amount > 0 && s->kind == FORS_SPREAD_TAGO)
				over_links(s, node, goal, amount);
			else
				*wanted(s, s->want, goal, node) += amount;
		}
}

/* ---- on the way ---- */

/* Links to the goal; FORS_NONE: no way. Those that were asked on the way are noted. */
static uint32_t distance_of(struct spreading *s, uint32_t goal, uint32_t node)
{
	uint32_t n = 0, count;

	while (s->distance[node] == FORS_NONE) {
		const uint32_t *set = fors_hops_at(s->hops, goal, node, &count);

		if (!count)
			break;
		s->stack[n++] = node;
		node = s->graph->to[set[0]];
	}
	if (s->distance[node] == FORS_NONE)
		return FORS_NONE;
	for (uint32_t d = s->distance[node]; n--;)
		s->distance[s->stack[n]] = ++d;
	return 0;
}

static int farthest_first(const void *a, const void *b)
{
	const struct far *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Switches that reach the goal, farthest first, in order[]; how many. */
static uint32_t sort_switches(struct spreading *s, uint32_t goal)
{
	struct far *far = s->order;
	uint32_t n = 0, count;

	memset(s->distance, 0xff, s->hops->nnodes * sizeof(*s->distance));
	s->distance[s->hops->node_of[goal]] = 0;
	for (uint32_t node = 0; node < s->hops->nnodes; node++) {
		fors_hops_at(s->hops, goal, node, &count);
		if (count && distance_of(s, goal, node) != FORS_NONE)
			far[n++] = (struct far){s->distance[node], node};
	}
	qsort(far, n, sizeof(*far), farthest_first);
	return n;
}

static void send_to(struct spreading *s, uint32_t goal)
{
	const struct far *far = s->order;
	uint32_t n, count;
	bool is_wanted = false;

	for (uint32_t node = 0; node < s->hops->nnodes; node++) {
		s->have[node] = *wanted(s, s->want, goal, node);
		is_wanted |= s->have[node] > 0;
	}
	n = is_wanted ? sort_switches(s, goal) : 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *set = fors_hops_at(s->hops, goal, far[i].node, &count);
		double part = s->have[far[i].node] / count;

		for (uint32_t k = 0; k < count && part > 0; k++) {
			s->load[set[k]] += part;
			s->have[s->graph->to[set[k]]] += part;
		}
	}
}

/* ---- phases ---- */

static void clear(struct spreading *s)
{
	size_t n = (size_t)s->hops->ngoals * s->hops->nnodes;

	memset(s->direct, 0, n * sizeof(*s->direct));
	memset(s->want, 0, n * sizeof(*s->want));
	memset(s->load, 0, s->graph->nlinks * sizeof(*s->load));
}

static void do_phase(struct spreading *s, const struct fors_pattern *pattern, uint32_t phase)
{
	struct fors_spread *r = s->result;
	size_t npairs = fors_pattern_npairs(pattern, phase);

	clear(s);
	for (size_t i = 0; i < npairs; i++) {
		struct fors_pair pair = fors_pattern_pair(pattern, phase, i);

		if (pair.dst != FORS_NONE && pair.dst != pair.src)
			add_flow(s, pair);
	}
	add_detours(s);
	for (uint32_t goal = 0; goal < s->hops->ngoals; goal++)
		send_to(s, goal);
	for (uint32_t l = 0; l < s->graph->nlinks; l++) {
		double load = s->load[l] / s->graph->capacity[l];

		r->phase_load[phase] = load > r->phase_load[phase] ? load : r->phase_load[phase];
		r->link_load[l] = load > r->link_load[l] ? load : r->link_load[l];
	}
	r->time += r->phase_load[phase] > 1 ? r->phase_load[phase] : 1;
	r->max_load = r->phase_load[phase] > r->max_load ? r->phase_load[phase] : r->max_load;
}

static bool alloc(struct spreading *s, uint32_t nphases)
{
	size_t nodes = s->hops->nnodes + (size_t)1, links = s->graph->nlinks + (size_t)1;
	size_t pairs = (size_t)s->hops->ngoals * s->hops->nnodes + 1;

	s->direct = calloc(pairs, sizeof(*s->direct));
	s->want = calloc(pairs, sizeof(*s->want));
	s->load = calloc(links, sizeof(*s->load));
	s->have = calloc(nodes, sizeof(*s->have));
	s->distance = calloc(nodes, sizeof(*s->distance));
	s->order = calloc(nodes, sizeof(*s->order));
	s->stack = calloc(nodes, sizeof(*s->stack));
	s->path = calloc(s->router->max_links + (size_t)1, sizeof(*s->path));
	s->result = calloc(1, sizeof(*s->result));
	if (!s->result)
		return false;
	s->result->nphases = nphases;
	s->result->nlinks = s->graph->nlinks;
	s->result->phase_load = calloc(nphases + (size_t)1, sizeof(*s->result->phase_load));
	s->result->link_load = calloc(links, sizeof(*s->result->link_load));
	return s->direct && s->want && s->load && s->have && s->distance && s->order && s->stack && s->path &&
	       s->result->phase_load && s->result->link_load;
}

/* All but the result. */
static void release(struct spreading *s)
{
	free(s->direct);
	free(s->want);
	free(s->load);
	free(s->have);
	free(s->distance);
	free(s->order);
	free(s->stack);
	free(s->path);
}

enum fors_err fors_spread_loads(const struct fors_router *router, const struct fors_hops *hops,
				const struct fors_blocks *blocks, enum fors_spread_kind kind,
				const struct fors_pattern *pattern, struct fors_spread **spread,
				struct fors_error *error)
{
	struct spreading s = {.router = router, .graph = router->graph, .hops = hops, .blocks = blocks, .kind = kind};
	uint32_t nphases = fors_pattern_nphases(pattern);
	uint64_t steps = (uint64_t)hops->ngoals * (hops->nnodes + (uint64_t)router->graph->nlinks);
	bool is_there;

	if (kind == FORS_SPREAD_VLB)
		steps += (uint64_t)hops->ngoals * hops->ngoals * hops->ngoals;
	if (nphases && steps > MOST_STEPS / nphases)
		return fors_fail(error, FORS_ELIMIT, "%u %s on this fabric are too much work for a policy by chance",
				 nphases, fors_plural(nphases, "phase", "phases"));
	is_there = alloc(&s, nphases);
	for (uint32_t phase = 0; is_there && phase < nphases; phase++)
		do_phase(&s, pattern, phase);
	release(&s);
	if (!is_there) {
		fors_spread_free(s.result);
		return fors_fail_memory(error);
	}
	*spread = s.result;
	return FORS_OK;
}

void fors_spread_free(struct fors_spread *spread)
{
	if (!spread)
		return;
	free(spread->phase_load);
	free(spread->link_load);
	free(spread);
}
