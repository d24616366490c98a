/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model_tables.c - tables for any net, LID by LID.
 *
 * For one destination every switch gets a distance to it, and candidates: cables to a switch that is one nearer. The rules
 * differ in what a distance is and which candidate is taken.
 *
 *   shortest  hops. The candidate with least to carry so far.
 *   up-down   Switches are ordered by their hops from a root (a switch in the middle), then by number; a cable leads up to the
 *             earlier one. A switch that reaches the destination by going down only does that; any other goes up to where
 *             the way is shortest. So a way never goes up after it went down, and the ways cannot wait for one another in a
 *             ring.
 *   sssp      hops; of the candidates the one whose whole way has least to carry in sum (Hoefler, Schneider, Lumsdaine:
 *             Optimized routing for large-scale InfiniBand networks, 2009).
 *   dor       no search: the first dimension in which the two differ, the shorter way round; when both are equally long
 *             they take turns by place and LID.
 *
 * (Scheduling-aware routing is sssp with another order and another count: sar.c.)
 *
 * What a cable carries is counted in flows: switches are gone through from the farthest to the nearest, each passes on
 * what its servers send and what came in.
 */
#include "model_tables.h"
#include "model_tables_inside.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT32_MAX

static const char *const names[FORS_NMODELS] = {[FORS_MODEL_SHORTEST] = "shortest",
						[FORS_MODEL_UP_DOWN] = "up-down",
						[FORS_MODEL_SSSP] = "sssp",
						[FORS_MODEL_DOR] = "dor"};

enum fors_model fors_model_find(const char *name)
{
	unsigned model = 0;

	while (model < FORS_NMODELS && strcmp(name, names[model]))
		model++;
	return (enum fors_model)model;
}

const char *fors_model_name(enum fors_model model)
{
	return names[model];
}

static bool allocate(struct fors_model_maker *m)
{
	size_t n = m->n + (size_t)2, arcs = m->net->nports + (size_t)1;

	m->node = calloc(n, sizeof(*m->node));
	m->row = malloc((m->net->nnodes + (size_t)1) * sizeof(*m->row));
	m->servers = calloc(n, sizeof(*m->servers));
	m->first = calloc(n, sizeof(*m->first));
	m->to = calloc(arcs, sizeof(*m->to));
	m->port = calloc(arcs, 1);
	m->load = calloc(arcs, sizeof(*m->load));
	m->rank = calloc(n, sizeof(*m->rank));
	m->turn = calloc(n, sizeof(*m->turn));
	m->distance = calloc(n, sizeof(*m->distance));
	m->is_down = calloc(n, sizeof(*m->is_down));
	m->queue = calloc(n, sizeof(*m->queue));
	m->bucket = calloc(n, sizeof(*m->bucket));
	m->cost = calloc(n, sizeof(*m->cost));
	m->carried = calloc(n, sizeof(*m->carried));
	return m->node && m->row && m->servers && m->first && m->to && m->port && m->load && m->rank && m->turn &&
	       m->distance && m->is_down && m->queue && m->bucket && m->cost && m->carried;
}

void fors_model_clear(struct fors_model_maker *m)
{
	free(m->node);
	free(m->row);
	free(m->servers);
	free(m->first);
	free(m->to);
	free(m->port);
	free(m->load);
	free(m->rank);
	free(m->turn);
	free(m->distance);
	free(m->is_down);
	free(m->queue);
	free(m->bucket);
	free(m->cost);
	free(m->carried);
}

/* ---- the graph ---- */

static void list_switches(struct fors_model_maker *m)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < m->net->nnodes; node++)
		m->row[node] = FORS_NONE;
	for (uint32_t i = 0; i < m->net->nnodes; i++) {
		uint32_t node = m->net->by_guid[i];

		if (m->net->node[node].type != FORS_SWITCH)
			continue;
		m->row[node] = n;
		m->lfts->guid[n] = m->net->node[node].guid;
		m->node[n++] = node;
	}
}

static void list_arcs(struct fors_model_maker *m)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < m->n; s++) {
		m->first[s] = n;
		for (unsigned p = 1; p <= m->net->node[m->node[s]].nports; p++) {
			uint32_t peer = fors_net_port(m->net, m->node[s], p)->peer;

			if (peer == FORS_NONE || peer == m->node[s])
				continue;
			if (m->row[peer] == FORS_NONE) {
				m->servers[s] += m->net->node[peer].type == FORS_CA;
				continue;
			}
			m->to[n] = m->row[peer];
			m->port[n++] = (uint8_t)p;
		}
	}
	m->first[m->n] = n;
}

/* ---- distances ---- */

/* Hops to `end` from all switches; the switches that have some come into queue[], the nearest first; how many. */
static uint32_t count_hops(struct fors_model_maker *m, uint32_t end)
{
	uint32_t seen = 1;

	for (uint32_t s = 0; s < m->n; s++)
		m->distance[s] = FAR;
	m->distance[end] = 0;
	m->queue[0] = end;
	for (uint32_t i = 0; i < seen; i++)
		for (uint32_t arc = m->first[m->queue[i]]; arc < m->first[m->queue[i] + 1]; arc++)
			if (m->distance[m->to[arc]] == FAR) {
				m->distance[m->to[arc]] = m->distance[m->queue[i]] + 1;
				m->queue[seen++] = m->to[arc];
			}
	return seen;
}

/* A switch from which no other is farther than it has to be: the first of those whose farthest is nearest. */
static uint32_t find_middle(struct fors_model_maker *m)
{
	uint32_t best = 0, least = FAR, most_seen = 0;

	for (uint32_t s = 0; s < m->n; s++) {
		uint32_t seen = count_hops(m, s), far = m->distance[m->queue[seen - 1]];

		if (seen > most_seen || (seen == most_seen && far < least)) {
			most_seen = seen;
			least = far;
			best = s;
		}
	}
	return best;
}

/* Order all switches: by hops from the middle, then by row; other parts of the net behind, each from its first switch. */
static void order_up_down(struct fors_model_maker *m)
{
	uint32_t n = 0, root = m->n ? find_middle(m) : 0;

	for (uint32_t s = 0; s < m->n; s++)
		m->rank[s] = FAR;
	while (n < m->n) {
		uint32_t seen = count_hops(m, root);

		for (uint32_t hops = 0, left = seen; left; hops++)
			for (uint32_t s = 0; s < m->n; s++)
				if (m->distance[s] == hops) {
					m->rank[s] = n;
					m->turn[n++] = s;
					left--;
				}
		for (root = 0; root < m->n && m->rank[root] != FAR;)
			root++;
	}
}

static bool is_up(const struct fors_model_maker *m, uint32_t from, uint32_t to)
{
	return m->rank[to] < m->rank[from];
}

/* Down only, from those that can. */
static void count_down(struct fors_model_maker *m, uint32_t end)
{
	uint32_t seen = 1;

	m->queue[0] = end;
	for (uint32_t i = 0; i < seen; i++)
		for (uint32_t arc = m->first[m->queue[i]]; arc < m->first[m->queue[i] + 1]; arc++) {
			uint32_t s = m->to[arc];

			if (m->distance[s] != FAR || !is_up(m, m->queue[i], s))
				continue;
			m->distance[s] = m->distance[m->queue[i]] + 1;
			m->is_down[s] = true;
			m->queue[seen++] = s;
		}
}

/* Up for the others, from the top on: what is above has its distance by then. */
static void count_up(struct fors_model_maker *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t s = m->turn[i];

		if (m->is_down[s])
			continue;
		for (uint32_t arc = m->first[s]; arc < m->first[s + 1]; arc++) {
			uint32_t above = m->to[arc];

			if (is_up(m, s, above) && m->distance[above] != FAR && m->distance[above] + 1 < m->distance[s])
				m->distance[s] = m->distance[above] + 1;
		}
	}
}

/* Put all that have a distance into queue[], the nearest first; how many. */
static uint32_t sort_by_distance(struct fors_model_maker *m)
{
	memset(m->bucket, 0, (m->n + (size_t)2) * sizeof(*m->bucket));
	for (uint32_t s = 0; s < m->n; s++)
		if (m->distance[s] != FAR)
			m->bucket[m->distance[s] + 1]++;
	for (uint32_t i = 0; i <= m->n; i++)
		m->bucket[i + 1] += m->bucket[i];
	for (uint32_t s = 0; s < m->n; s++)
		if (m->distance[s] != FAR)
			m->queue[m->bucket[m->distance[s]]++] = s;
	return m->bucket[m->n];
}

static uint32_t count_up_down(struct fors_model_maker *m, uint32_t end)
{
	for (uint32_t s = 0; s < m->n; s++) {
		m->distance[s] = FAR;
		m->is_down[s] = false;
	}
	m->distance[end] = 0;
	m->is_down[end] = true;
	count_down(m, end);
	count_up(m);
	return sort_by_distance(m);
}

/* ---- one destination ---- */

static bool may_take(const struct fors_model_maker *m, uint32_t s, uint32_t arc)
{
	uint32_t to = m->to[arc];

	if (m->distance[to] == FAR || m->distance[to] + 1 != m->distance[s])
		return false;
	if (m->model != FORS_MODEL_UP_DOWN)
		return true;
	return m->is_down[s] ? m->is_down[to] && !is_up(m, s, to) : is_up(m, s, to);
}

/* The arc that a switch takes; of equal ones another one for each LID. */
static uint32_t choose(struct fors_model_maker *m, uint32_t s, uint32_t lid)
{
	uint32_t first = m->first[s], count = m->first[s + 1] - first, best = FORS_NONE;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t arc = first + ((m->takes_first ? 0 : lid) + i) % count;
		uint64_t cost;

		if (!may_take(m, s, arc))
			continue;
		cost = m->load[arc] + (m->model == FORS_MODEL_SSSP ? m->cost[m->to[arc]] : 0);
		if (cost < least) {
			least = cost;
			best = arc;
		}
	}
	m->cost[s] = best == FORS_NONE ? 0 : least;
	return best;
}

static void set_entry(struct fors_model_maker *m, uint32_t s, uint32_t lid, uint8_t port)
{
	m->lfts->port[(size_t)s * m->lfts->nlids + lid] = port;
}

/* sssp chooses from the nearest on, since a way's sum is known then; the others from the farthest, with what comes in. */
static void route_over_graph(struct fors_model_maker *m, uint32_t end, uint32_t lid)
{
	uint32_t seen = m->model == FORS_MODEL_UP_DOWN ? count_up_down(m, end) : count_hops(m, end), *arc = m->bucket;

	if (m->model == FORS_MODEL_SSSP)
		for (uint32_t i = 1; i < seen; i++)
			arc[m->queue[i]] = choose(m, m->queue[i], lid);
	memcpy(m->carried, m->senders, m->n * sizeof(*m->carried));
	for (uint32_t i = seen; i-- > 1;) {
		uint32_t s = m->queue[i], taken = m->model == FORS_MODEL_SSSP ? arc[s] : choose(m, s, lid);

		m->load[taken] += m->carried[s];
		m->carried[m->to[taken]] += m->carried[s];
		set_entry(m, s, lid, m->port[taken]);
	}
}

/* ---- dimension order ---- */

/* The port of a switch that leads towards another, 0: it is the same. */
static unsigned dor_port(const struct fors_graph_spec *spec, uint32_t s, uint32_t end, uint32_t lid)
{
	unsigned port = spec->servers + 1;

	if (spec->kind == FORS_CUBE)
		return s == end ? 0 : port + (unsigned)__builtin_ctz(s ^ end);
	for (unsigned i = 0; i < spec->ndims; i++) {
		uint32_t size = spec->size[i], at = s % size, far = (end % size + size - at) % size;
		bool is_down = 2 * far > size || (2 * far == size && (at + lid) % 2);

		if (far)
			return port + (size > 2 && is_down);
		port += size > 2 ? 2 : 1;
		s /= size;
		end /= size;
	}
	return 0;
}

static void route_by_order(struct fors_model_maker *m, uint32_t end, uint32_t lid)
{
	for (uint32_t s = 0; s < m->n; s++) {
		unsigned port = dor_port(m->spec, m->node[s], m->node[end], lid);

		if (port && fors_net_port(m->net, m->node[s], port)->peer != FORS_NONE)
			set_entry(m, s, lid, (uint8_t)port);
	}
}

/* ---- all ---- */

void fors_model_route(struct fors_model_maker *m, const struct fors_port *port)
{
	uint32_t end = m->row[port->peer];

	for (uint32_t lid = port->lid; lid < port->lid + (1u << port->lmc); lid++) {
		if (m->model == FORS_MODEL_DOR)
			route_by_order(m, end, lid);
		else
			route_over_graph(m, end, lid);
		set_entry(m, end, lid, port->peer_port);
	}
}

const struct fors_port *fors_model_port(const struct fors_model_maker *m, uint32_t node, unsigned number)
{
	const struct fors_port *port;

	if (m->net->node[node].type != FORS_CA || !number || number > m->net->node[node].nports)
		return NULL;
	port = fors_net_port(m->net, node, number);
	return port->lid && port->peer != FORS_NONE && m->row[port->peer] != FORS_NONE ? port : NULL;
}

static void route_all(struct fors_model_maker *m)
{
	if (m->model == FORS_MODEL_UP_DOWN)
		order_up_down(m);
	for (uint32_t node = 0; node < m->net->nnodes; node++)
		for (unsigned p = 1; p <= m->net->node[node].nports; p++)
			if (fors_model_port(m, node, p))
				fors_model_route(m, fors_net_port(m->net, node, p));
}

static uint32_t count_switches(const struct fors_net *net)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		n += net->node[node].type == FORS_SWITCH;
	return n;
}

bool fors_model_start(struct fors_model_maker *m)
{
	m->n = count_switches(m->net);
	m->lfts = fors_lfts_new(m->n, fors_net_lid_end(m->net));
	if (!m->lfts || !allocate(m))
		return false;
	list_switches(m);
	list_arcs(m);
	m->senders = m->servers;
	return true;
}

enum fors_err fors_model_tables(const struct fors_net *net, const struct fors_graph_spec *spec, enum fors_model model,
				struct fors_lfts **lfts, struct fors_error *error)
{
	struct fors_model_maker m = {.net = net, .spec = spec, .model = model};
	enum fors_err err = FORS_OK;

	if (model == FORS_MODEL_DOR && (!spec || (spec->kind != FORS_TORUS && spec->kind != FORS_CUBE)))
		return fors_fail(error, FORS_ENOTAPPL, "routing dor is for TORUS(...) and CUBE(...) only");
	if (fors_model_start(&m))
		route_all(&m);
	else
		err = fors_fail_memory(error);
	fors_model_clear(&m);
	if (err)
		fors_lfts_free(m.lfts);
	else
		*lfts = m.lfts;
	return err;
}

/* ---- LIDs ---- */

/* One port in INIT says nothing of the LIDs that the others have. */
static bool has_lids(const struct fors_net *net)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++)
			if (fors_net_port(net, node, p)->peer != FORS_NONE && fors_net_port(net, node, p)->lid)
				return true;
	return false;
}

enum fors_err fors_model_lids(struct fors_net *net, struct fors_error *error)
{
	uint32_t lid = 0;

	if (has_lids(net))
		return FORS_OK;
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++) {
			if (lid == FORS_LID_MAX)
				return fors_fail(error, FORS_ELIMIT, "more servers than LIDs");
			fors_net_port(net, node, p)->lid = (uint16_t)++lid;
			fors_net_port(net, node, p)->lmc = 0;
		}
	return FORS_OK;
}
