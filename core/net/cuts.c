/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts.c - the narrow places of a net of any shape.
 *
 * The rank of a switch is its distance from the nearest switch with servers. Adding the switches rank by rank, and joining what a
 * cable connects, gives nested families of sets: switches with servers, pods, whatever is above them. What the n servers of a
 * set send to the others leaves it over its cables: T >= n (P - n) / capacity. So does what a single server sends over its
 * own, which may be slow. A switch with a single neighbour and without servers is a dead end: nothing passes through it, so its
 * cables count for no cut.
 */
#include "cuts.h"

#include <math.h>
#include <stdlib.h>

#include "core/net/rates.h"

#define NO_RANK UINT32_MAX /* no server can be reached, or a dead end */

struct search {
	const struct fors_net *net;
	uint32_t flow, full;
	uint32_t *servers; /* per node: at a switch; of a set, at its root */
	uint32_t *rank;	   /* per node */
	uint32_t *root;	   /* per node: union-find */
	uint32_t *queue;   /* nodes */
	double *speed;	   /* per node: what leaves the set whose root this is, in parts of full speed */
	uint64_t *flows;   /* the same in flows of a phase */
	double length;
	uint64_t phases;
};

static void search_free(struct search *s)
{
	free(s->servers);
	free(s->rank);
	free(s->root);
	free(s->queue);
	free(s->speed);
	free(s->flows);
}

static bool search_new(struct search *s, const struct fors_net *net, uint32_t count)
{
	size_t n = net->nnodes + (size_t)1;

	*s = (struct search){.net = net, .length = count, .phases = count};
	s->servers = calloc(n, sizeof(*s->servers));
	s->rank = calloc(n, sizeof(*s->rank));
	s->root = calloc(n, sizeof(*s->root));
	s->queue = calloc(n, sizeof(*s->queue));
	s->speed = calloc(n, sizeof(*s->speed));
	s->flows = calloc(n, sizeof(*s->flows));
	return s->servers && s->rank && s->root && s->queue && s->speed && s->flows;
}

/* Servers at their switches, full speed, and what the slowest cable of a server needs. */
static void look_at_servers(struct search *s, const struct fors_endpoint *server, uint32_t count)
{
	const struct fors_net *net = s->net;

	for (uint32_t i = 0; i < count; i++)
		fors_rates_takes_part(net, fors_net_port(net, server[i].node, server[i].port), &s->flow);
	s->full = fors_rates_full(net, s->flow);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t rate = fors_rates_cable(net, fors_net_port(net, server[i].node, server[i].port));

		s->servers[server[i].leaf]++;
		if (rate && rate < s->full)
			s->length = fmax(s->length, (count - 1) * (double)s->full / rate);
	}
}

/* The only neighbour of a switch that is no dead end itself, or FORS_NONE: there are none, or several. */
static uint32_t only_neighbour(const struct search *s, uint32_t node)
{
	uint32_t only = FORS_NONE;

	for (unsigned p = 1; p <= s->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(s->net, node, p);

		if (peer == FORS_NONE || s->rank[peer] == NO_RANK || peer == only)
			continue;
		if (only != FORS_NONE)
			return FORS_NONE;
		only = peer;
	}
	return only;
}

/* Dead ends get NO_RANK, again and again: what hung only on one becomes one. */
static void mark_dead_ends(struct search *s)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < s->net->nnodes; n++)
		if (s->net->node[n].type == FORS_SWITCH && !s->servers[n])
			s->queue[count++] = n;
	while (count) {
		uint32_t node = s->queue[--count];
		uint32_t only = s->rank[node] == NO_RANK ? FORS_NONE : only_neighbour(s, node);

		if (only == FORS_NONE)
			continue;
		s->rank[node] = NO_RANK;
		if (!s->servers[only])
			s->queue[count++] = only;
	}
}

/* Ranks by breadth-first search from all switches with servers at once; returns the highest. */
static uint32_t find_ranks(struct search *s)
{
	uint32_t end = 0, top = 0;

	mark_dead_ends(s);
	for (uint32_t n = 0; n < s->net->nnodes; n++) {
		bool is_dead = s->rank[n] == NO_RANK;

		s->root[n] = is_dead ? NO_RANK : n;
		s->rank[n] = NO_RANK;
		if (s->servers[n]) {
			s->rank[n] = 0;
			s->queue[end++] = n;
		}
	}
	for (uint32_t i = 0; i < end; i++)
		for (unsigned p = 1; p <= s->net->node[s->queue[i]].nports; p++) {
			uint32_t peer = fors_peer_switch(s->net, s->queue[i], p);

			if (peer == FORS_NONE || s->root[peer] == NO_RANK || s->rank[peer] != NO_RANK)
				continue;
			top = s->rank[peer] = s->rank[s->queue[i]] + 1;
			s->queue[end++] = peer;
		}
	return top;
}

static uint32_t find_root(struct search *s, uint32_t node)
{
	while (s->root[node] != node)
		node = s->root[node] = s->root[s->root[node]];
	return node;
}

/* Join switches of at most this rank that a cable connects; a set's servers are counted at its root. */
static void join(struct search *s, uint32_t node, uint32_t peer)
{
	uint32_t a = find_root(s, node), b = find_root(s, peer);

	if (a == b)
		return;
	s->root[b] = a;
	s->servers[a] += s->servers[b];
}

static void measure(struct search *s, uint32_t node, unsigned port)
{
	const struct fors_port *p = fors_net_port(s->net, node, port);
	uint32_t root = find_root(s, node), rate = fors_rates_cable(s->net, p);

	s->speed[root] += s->full && rate ? (double)rate / s->full : 1;
	s->flows[root] += fors_rates_capacity(s->net, p, s->flow);
}

static void for_cables(struct search *s, uint32_t rank, bool joins)
{
	for (uint32_t node = 0; node < s->net->nnodes; node++)
		for (unsigned p = 1; s->rank[node] <= rank && p <= s->net->node[node].nports; p++) {
			uint32_t peer = fors_peer_switch(s->net, node, p);

			if (peer == FORS_NONE || s->rank[peer] == NO_RANK)
				continue;
			if (joins && s->rank[peer] <= rank)
				join(s, node, peer);
			else if (!joins && s->rank[peer] > rank)
				measure(s, node, p);
		}
}

/* What the sets of switches of at most this rank say. */
static void look_at_cuts(struct search *s, uint32_t rank, uint32_t count)
{
	for (uint32_t n = 0; n < s->net->nnodes; n++) {
		s->speed[n] = 0;
		s->flows[n] = 0;
	}
	for_cables(s, rank, true);
	for_cables(s, rank, false);
	for (uint32_t n = 0; n < s->net->nnodes; n++) {
		uint64_t pairs = s->root[n] == n ? (uint64_t)s->servers[n] * (count - s->servers[n]) : 0;
		uint64_t phases = s->flows[n] ? (pairs + s->flows[n] - 1) / s->flows[n] : 0;

		if (s->flows[n])
			s->length = fmax(s->length, (double)pairs / s->speed[n]);
		s->phases = phases > s->phases ? phases : s->phases;
	}
}

enum fors_err fors_cuts_bound(const struct fors_net *net, const struct fors_endpoint *server, uint32_t count,
			      double *length, uint32_t *phases, struct fors_error *error)
{
	struct search s;
	bool is_good = search_new(&s, net, count);

	if (is_good) {
		uint32_t top;

		look_at_servers(&s, server, count);
		top = find_ranks(&s);
		for (uint32_t rank = 0; rank <= top; rank++)
			look_at_cuts(&s, rank, count);
		*length = s.length;
		*phases = s.phases > UINT32_MAX ? UINT32_MAX : (uint32_t)s.phases;
	}
	search_free(&s);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
