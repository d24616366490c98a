/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_bound.c - a lower bound over all tables.
 *
 * Three things hold for any routing. A server receives one flow in a phase: T >= P. What the n servers of a switch send
 * to the others leaves it over its cables, in a phase as many flows as these carry: T >= n (P - n) / capacity. And a flow crosses at
 * least as many cables as its two switches are apart, so all flows together cross the sum of these distances, in T phases
 * no more than T times what all (directed) cables carry. The last is what limits tori and random graphs, the second one
 * trees with few uplinks. Where a cut in the middle is narrower than both, the bound is too low, but still a bound.
 */
#include "over_bound.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/rates.h"

struct meter {
	const struct fors_net *net;
	uint32_t *distance, *queue; /* per node */
	uint32_t *first;	    /* per node: where its neighbours begin in peer[]; one more than nodes */
	uint32_t *peer;		    /* the switch behind each cable between switches, directed ones */
	uint64_t *carried;	    /* per node: capacity of its cables to others */
	uint64_t all;		    /* of all nodes */
};

/* Cables are looked at once for each switch with servers. */
static void list_peers(struct meter *m, uint32_t flow)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < m->net->nnodes; node++) {
		m->first[node] = n;
		for (unsigned port = 1; m->net->node[node].type == FORS_SWITCH && port <= m->net->node[node].nports;
		     port++) {
			m->peer[n] = fors_peer_switch(m->net, node, port);
			if (m->peer[n] == FORS_NONE)
				continue;
			m->carried[node] += fors_rates_capacity(m->net, fors_net_port(m->net, node, port), flow);
			n++;
		}
		m->all += m->carried[node];
	}
	m->first[m->net->nnodes] = n;
}

/* Distances from a switch to all that can be reached. */
static void measure(struct meter *m, uint32_t from)
{
	uint32_t end = 1;

	memset(m->distance, 0xFF, m->net->nnodes * sizeof(*m->distance));
	m->distance[from] = 0;
	m->queue[0] = from;
	for (uint32_t i = 0; i < end; i++)
		for (uint32_t k = m->first[m->queue[i]]; k < m->first[m->queue[i] + 1]; k++) {
			uint32_t peer = m->peer[k];

			if (m->distance[peer] != FORS_NONE)
				continue;
			m->distance[peer] = m->distance[m->queue[i]] + 1;
			m->queue[end++] = peer;
		}
}

static uint64_t divide_up(uint64_t number, uint64_t by)
{
	return by ? (number + by - 1) / by : 0;
}

/* The bound of the cables around one switch; *sum grows by the distances of its flows. */
static uint64_t bound_of(struct meter *m, const struct fors_flows_routed *routed, uint32_t s, uint64_t *sum)
{
	const struct fors_flows_problem *p = &routed->problem;
	uint64_t n = p->senders[s];

	measure(m, routed->node[s]);
	for (uint32_t t = 0; t < routed->nswitches; t++)
		if (m->distance[routed->node[t]] != FORS_NONE)
			*sum += n * p->senders[t] * m->distance[routed->node[t]];
	return divide_up(n * (routed->nservers - n), m->carried[routed->node[s]]);
}

static void free_meter(struct meter *m)
{
	free(m->distance);
	free(m->queue);
	free(m->first);
	free(m->peer);
	free(m->carried);
}

static bool make_meter(struct meter *m, const struct fors_net *net)
{
	*m = (struct meter){.net = net};
	m->distance = malloc((net->nnodes + (size_t)1) * sizeof(*m->distance));
	m->queue = malloc((net->nnodes + (size_t)1) * sizeof(*m->queue));
	m->first = malloc((net->nnodes + (size_t)1) * sizeof(*m->first));
	m->peer = malloc((net->nports + (size_t)1) * sizeof(*m->peer));
	m->carried = calloc(net->nnodes + (size_t)1, sizeof(*m->carried));
	if (m->distance && m->queue && m->first && m->peer && m->carried)
		return true;
	free_meter(m);
	return false;
}

enum fors_err fors_over_bound(const struct fors_flows_routed *routed, uint32_t *bound, enum fors_argument *why,
			      uint32_t *around, struct fors_error *error)
{
	uint64_t most = routed->nservers, sum = 0, mean;
	struct meter m;

	if (!make_meter(&m, routed->net))
		return fors_fail_memory(error);
	*why = FORS_BY_PORT;
	*around = FORS_NONE;
	list_peers(&m, routed->flow);
	for (uint32_t s = 0; s < routed->nswitches; s++) {
		uint64_t here = bound_of(&m, routed, s, &sum);

		if (here <= most)
			continue;
		most = here;
		*why = FORS_BY_CUT;
		*around = routed->node[s];
	}
	mean = divide_up(sum, m.all);
	if (mean > most) {
		most = mean;
		*why = FORS_BY_DISTANCE;
	}
	free_meter(&m);
	*bound = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return FORS_OK;
}
