/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reach.h"

#include <stdlib.h>

#include "core/base/text.h"

struct parts {
	const struct fors_net *net;
	uint32_t *part;	   /* per node: the first switch of its part, FORS_NONE: not known so far */
	uint32_t *servers; /* per node: servers of the part that begins there */
	uint32_t *queue;
	uint32_t all; /* servers */
};

/* Are there a server and a switch at the ends of this cable? */
static bool is_server(const struct fors_net *net, uint32_t node, unsigned port)
{
	return net->node[node].type == FORS_CA && fors_net_port(net, node, port)->lid &&
	       fors_peer_switch(net, node, port) != FORS_NONE;
}

/* All switches that cables lead to from this one. */
static void spread(struct parts *p, uint32_t first)
{
	uint32_t end = 0;

	p->queue[end++] = first;
	p->part[first] = first;
	for (uint32_t i = 0; i < end; i++)
		for (unsigned port = 1; port <= p->net->node[p->queue[i]].nports; port++) {
			uint32_t peer = fors_peer_switch(p->net, p->queue[i], port);

			if (peer == FORS_NONE || p->part[peer] != FORS_NONE)
				continue;
			p->part[peer] = first;
			p->queue[end++] = peer;
		}
}

static void count_servers(struct parts *p)
{
	for (uint32_t node = 0; node < p->net->nnodes; node++)
		for (unsigned port = 1; port <= p->net->node[node].nports; port++)
			if (is_server(p->net, node, port)) {
				p->servers[p->part[fors_peer_switch(p->net, node, port)]]++;
				p->all++;
			}
}

/* The part with most servers. */
static uint32_t largest(const struct parts *p)
{
	uint32_t best = 0;

	for (uint32_t node = 1; node < p->net->nnodes; node++)
		if (p->servers[node] > p->servers[best])
			best = node;
	return best;
}

static uint64_t *list_servers(const struct parts *p, uint32_t part)
{
	uint64_t *guid = malloc((p->servers[part] + (size_t)1) * sizeof(*guid));
	size_t n = 0;

	for (uint32_t node = 0; guid && node < p->net->nnodes; node++)
		for (unsigned port = 1; port <= p->net->node[node].nports; port++)
			if (is_server(p->net, node, port) && p->part[fors_peer_switch(p->net, node, port)] == part)
				guid[n++] = fors_net_port(p->net, node, port)->guid;
	return guid;
}

static bool find_parts(const struct fors_net *net, struct parts *p)
{
	*p = (struct parts){.net = net,
			    .part = malloc((net->nnodes + (size_t)1) * sizeof(*p->part)),
			    .servers = calloc(net->nnodes + (size_t)1, sizeof(*p->servers)),
			    .queue = malloc((net->nnodes + (size_t)1) * sizeof(*p->queue))};
	if (!p->part || !p->servers || !p->queue)
		return false;
	for (uint32_t node = 0; node < net->nnodes; node++)
		p->part[node] = FORS_NONE;
	for (uint32_t node = 0; node < net->nnodes; node++)
		if (net->node[node].type == FORS_SWITCH && p->part[node] == FORS_NONE)
			spread(p, node);
	count_servers(p);
	return true;
}

/* Read the ways of the largest part; `error` says why not of all, and stays where there is one part only. */
static enum fors_err read_largest(const struct fors_flows_tables *tables, const struct parts *p,
				  struct fors_flows_routed **routed, struct fors_warnings *warnings,
				  struct fors_error *error)
{
	uint32_t best = largest(p), n = p->servers[best], left = p->all - n;
	struct fors_participants players = {list_servers(p, best), n};
	struct fors_flows_tables some = *tables;
	enum fors_err err = FORS_ENOPATH;

	if (!players.guid)
		return fors_fail_memory(error);
	some.participants = &players;
	if (left && n > 1)
		err = fors_flows_routed_read(&some, routed, error);
	if (!err)
		fors_warn(warnings, "%u %s cut off from the %u others, and left out with all messages", left,
			  fors_plural(left, "server is", "servers are"), n);
	free(players.guid);
	return err;
}

enum fors_err fors_demand_reach(const struct fors_flows_tables *tables, struct fors_flows_routed **routed,
				struct fors_warnings *warnings, struct fors_error *error)
{
	enum fors_err err = fors_flows_routed_read(tables, routed, error);
	struct parts parts;

	if (err != FORS_ENOPATH)
		return err;
	err = find_parts(tables->net, &parts) ? read_largest(tables, &parts, routed, warnings, error)
					      : fors_fail_memory(error);
	free(parts.part);
	free(parts.servers);
	free(parts.queue);
	return err;
}
