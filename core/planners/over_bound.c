/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_bound.c - a lower bound over all tables.
 *
 * Three things hold for any routing. A server receives one flow in a phase: T >= P. What the n servers of a switch send
 * to the others leaves it over its cables, in a phase as many flows as these carry: T >= n (P - n) / capacity. And a flow crosses at
 * least as many cables as its two switches are apart, so all flows together cross the sum of these distances, in T phases
 * no more than T times what all (directed) cables carry. The last is what limits tori and random graphs, the second one
 * trees with few uplinks. Where a cut in the middle is narrower than both, the bound is too low, but still a bound.
 *
 * The same three bound the time, with cables as fast as they are.
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
	double *speed;		    /* the same in times full speed */
	uint64_t all;		    /* of all nodes */
	double all_speed;
};

static double speed_of(const struct fors_net *net, const struct fors_port *port, uint32_t full)
{
	uint32_t rate = fors_rates_cable(net, port);

	return rate && full ? (double)rate / full : 1;
}

/* Cables are looked at once for each switch with servers. */
static void list_peers(struct meter *m, uint32_t flow)
{
	uint32_t n = 0, full = fors_rates_full(m->net, flow);

	for (uint32_t node = 0; node < m->net->nnodes; node++) {
		m->first[node] = n;
		for (unsigned i = 1; m->net->node[node].type == FORS_SWITCH && i <= m->net->node[node].nports; i++) {
			const struct fors_port *port = fors_net_port(m->net, node, i);

			m->peer[n] = fors_peer_switch(m->net, node, i);
			if (m->peer[n] == FORS_NONE)
				continue;
			m->carried[node] += fors_rates_capacity(m->net, port, flow);
			m->speed[node] += speed_of(m->net, port, full);
			n++;
		}
		m->all += m->carried[node];
		m->all_speed += m->speed[node];
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

static void raise_length(double *length, double flows, double speed)
{
	if (speed > 0 && flows / speed > *length)
		*length = flows / speed;
}

/* The bound of the cables around one switch; *sum grows by the distances of its flows. */
static uint64_t bound_of(struct meter *m, const struct fors_flows_routed *routed, uint32_t s, uint64_t *sum,
			 double *length)
{
	const struct fors_flows_problem *p = &routed->problem;
	uint64_t n = p->senders[s];

	measure(m, routed->node[s]);
	for (uint32_t t = 0; t < routed->nswitches; t++)
		if (m->distance[routed->node[t]] != FORS_NONE)
			*sum += n * p->senders[t] * m->distance[routed->node[t]];
	raise_length(length, (double)(n * (routed->nservers - n)), m->speed[routed->node[s]]);
	return divide_up(n * (routed->nservers - n), m->carried[routed->node[s]]);
}

static void free_meter(struct meter *m)
{
	free(m->distance);
	free(m->queue);
	free(m->first);
	free(m->peer);
	free(m->carried);
	free(m->speed);
}

static bool make_meter(struct meter *m, const struct fors_net *net)
{
	*m = (struct meter){.net = net};
	m->distance = malloc((net->nnodes + (size_t)1) * sizeof(*m->distance));
	m->queue = malloc((net->nnodes + (size_t)1) * sizeof(*m->queue));
	m->first = malloc((net->nnodes + (size_t)1) * sizeof(*m->first));
	m->peer = malloc((net->nports + (size_t)1) * sizeof(*m->peer));
	m->carried = calloc(net->nnodes + (size_t)1, sizeof(*m->carried));
	m->speed = calloc(net->nnodes + (size_t)1, sizeof(*m->speed));
	if (m->distance && m->queue && m->first && m->peer && m->carried && m->speed)
		return true;
	free_meter(m);
	return false;
}

/* The ports of servers: the slowest one sends and receives for so long. */
static double length_of_ports(const struct fors_flows_routed *routed)
{
	uint32_t full = fors_rates_full(routed->net, routed->flow);
	double length = routed->nservers;

	for (uint32_t d = 0; d < routed->nservers; d++) {
		const struct fors_flows_server *server = &routed->server[d];
		const struct fors_port *port = fors_net_port(routed->net, server->node, server->port);

		raise_length(&length, routed->nservers - 1.0, 1 / fors_port_slowness(port, full));
	}
	return length;
}

/* The fullest cut, and the mean of all cables. */
static uint64_t bound_all(struct meter *m, const struct fors_flows_routed *routed, struct fors_over_why *why,
			  double *length)
{
	uint64_t most = routed->nservers, sum = 0;

	for (uint32_t s = 0; s < routed->nswitches; s++) {
		uint64_t here = bound_of(m, routed, s, &sum, length);

		if (here <= most)
			continue;
		most = here;
		why->by = FORS_BY_CUT;
		why->node = routed->node[s];
	}
	raise_length(length, (double)sum, m->all_speed);
	if (divide_up(sum, m->all) <= most)
		return most;
	why->by = FORS_BY_DISTANCE;
	return divide_up(sum, m->all);
}

enum fors_err fors_over_bound(const struct fors_flows_routed *routed, struct fors_over_why *why, double *length,
			      struct fors_error *error)
{
	uint64_t most;
	struct meter m;

	if (!make_meter(&m, routed->net))
		return fors_fail_memory(error);
	*why = (struct fors_over_why){.by = FORS_BY_PORT, .node = FORS_NONE};
	*length = length_of_ports(routed);
	list_peers(&m, routed->flow);
	most = bound_all(&m, routed, why, length);
	why->bound = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	if (*length < why->bound)
		*length = why->bound;
	free_meter(&m);
	return FORS_OK;
}
