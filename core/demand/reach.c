/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is left out: as long as some cannot send to others, or hear from them, the server goes that misses most of those who are left. So of two
 * parts that no cable connects the smaller one goes, and a gateway on a top that two leaves have no way to goes alone.
 */
#include "reach.h"

#include <stdlib.h>

#include "core/base/text.h"

struct ends {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	uint32_t *row;	  /* per node: its table, FORS_NONE */
	uint32_t *number; /* per node: of its switch among those with servers, FORS_NONE */
	uint32_t *leaf;	  /* such a switch by number */
	uint32_t *home;	  /* per server: the number of its switch */
	uint32_t *port;	  /* per server: its port, an index of net->port */
	uint32_t nleaves, nservers;
	bool *misses;	 /* [leaf number * nservers + server]: no way from there to here */
	uint32_t *count; /* per leaf: servers that are left */
	uint32_t *out;	 /* per leaf: those left that it has no way to */
	uint32_t *in;	 /* per server: those left that have no way to it */
	bool *is_out;	 /* per server: it is left out */
};

static bool allocate(struct ends *e)
{
	size_t nodes = e->net->nnodes + (size_t)1, ports = e->net->nports + (size_t)1;

	return (e->row = malloc(nodes * sizeof(*e->row))) && (e->number = malloc(nodes * sizeof(*e->number))) &&
	       (e->leaf = malloc(nodes * sizeof(*e->leaf))) && (e->home = malloc(ports * sizeof(*e->home))) &&
	       (e->port = malloc(ports * sizeof(*e->port))) && (e->count = calloc(nodes, sizeof(*e->count))) &&
	       (e->out = calloc(nodes, sizeof(*e->out))) && (e->in = calloc(ports, sizeof(*e->in))) &&
	       (e->is_out = calloc(ports, sizeof(*e->is_out)));
}

static void clear(struct ends *e)
{
	free(e->row);
	free(e->number);
	free(e->leaf);
	free(e->home);
	free(e->port);
	free(e->misses);
	free(e->count);
	free(e->out);
	free(e->in);
	free(e->is_out);
}

/* Every CA port that has a LID and a cable to a switch. */
static void list_servers(struct ends *e)
{
	const struct fors_net *net = e->net;

	for (uint32_t node = 0; node < net->nnodes; node++) {
		e->row[node] =
			net->node[node].type == FORS_SWITCH ? fors_lfts_row(e->lfts, net->node[node].guid) : FORS_NONE;
		e->number[node] = FORS_NONE;
	}
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 1; net->node[node].type == FORS_CA && port <= net->node[node].nports; port++) {
			uint32_t leaf = fors_peer_switch(net, node, port);

			if (leaf == FORS_NONE || !fors_net_port(net, node, port)->lid)
				continue;
			if (e->number[leaf] == FORS_NONE) {
				e->leaf[e->nleaves] = leaf;
				e->number[leaf] = e->nleaves++;
			}
			e->home[e->nservers] = e->number[leaf];
			e->port[e->nservers++] = net->node[node].first_port + port;
			e->count[e->number[leaf]]++;
		}
}

/* Do the tables lead from a switch to a server? */
static bool arrives(const struct ends *e, uint32_t node, uint32_t server)
{
	const struct fors_net *net = e->net;
	uint32_t end = e->port[server];

	for (uint32_t hops = 0; hops < net->nnodes && e->row[node] != FORS_NONE; hops++) {
		uint32_t number = fors_lfts_port(e->lfts, e->row[node], net->port[end].lid), port, peer;

		if (!number || number > net->node[node].nports)
			return false;
		port = net->node[node].first_port + number;
		peer = net->port[port].peer;
		if (peer == FORS_NONE || net->node[peer].first_port + net->port[port].peer_port == end)
			return peer != FORS_NONE;
		if (net->node[peer].type != FORS_SWITCH)
			return false;
		node = peer;
	}
	return false;
}

static void find_misses(struct ends *e)
{
	for (uint32_t l = 0; l < e->nleaves; l++)
		for (uint32_t s = 0; s < e->nservers; s++) {
			bool misses = !arrives(e, e->leaf[l], s);

			e->misses[(size_t)l * e->nservers + s] = misses;
			e->out[l] += misses;
			e->in[s] += misses ? e->count[l] : 0;
		}
}

/* The server that misses most others, the last one of several; FORS_NONE: none misses any. */
static uint32_t find_worst(const struct ends *e)
{
	uint32_t worst = FORS_NONE, most = 1;

	for (uint32_t s = 0; s < e->nservers; s++) {
		uint32_t missed = e->in[s] + e->out[e->home[s]];

		if (e->is_out[s] || missed < most)
			continue;
		most = missed;
		worst = s;
	}
	return worst;
}

static void leave_out(struct ends *e, uint32_t server)
{
	const bool *from = e->misses + (size_t)e->home[server] * e->nservers;

	e->is_out[server] = true;
	e->count[e->home[server]]--;
	for (uint32_t s = 0; s < e->nservers; s++)
		e->in[s] -= from[s];
	for (uint32_t l = 0; l < e->nleaves; l++)
		e->out[l] -= e->misses[(size_t)l * e->nservers + server];
}

/* How many are left out. */
static uint32_t find_cut_off(struct ends *e)
{
	uint32_t left = 0;

	find_misses(e);
	for (uint32_t s = find_worst(e); s != FORS_NONE; s = find_worst(e), left++)
		leave_out(e, s);
	return left;
}

/* Read the ways of those who are left; `error` says why not of all, and stays where nobody is left out, or all but one. */
static enum fors_err read_some(const struct fors_flows_tables *tables, const struct ends *e, uint32_t left,
			       struct fors_flows_routed **routed, struct fors_warnings *warnings,
			       struct fors_error *error)
{
	struct fors_participants players = {malloc((e->nservers + (size_t)1) * sizeof(*players.guid)), 0};
	struct fors_flows_tables some = *tables;
	enum fors_err err = FORS_ENOPATH;

	if (!players.guid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < e->nservers; s++)
		if (!e->is_out[s])
			players.guid[players.count++] = e->net->port[e->port[s]].guid;
	some.participants = &players;
	if (left && players.count > 1)
		err = fors_flows_routed_read(&some, routed, error);
	if (!err)
		fors_warn(warnings, "%u %s cut off from the %u others, and left out with all messages", left,
			  fors_plural(left, "server is", "servers are"), (unsigned)players.count);
	free(players.guid);
	return err;
}

enum fors_err fors_demand_reach(const struct fors_flows_tables *tables, struct fors_flows_routed **routed,
				struct fors_warnings *warnings, struct fors_error *error)
{
	struct ends e = {.net = tables->net, .lfts = tables->lfts};
	enum fors_err err = fors_flows_routed_read(tables, routed, error);

	if (err != FORS_ENOPATH)
		return err;
	if (!allocate(&e)) {
		clear(&e);
		return fors_fail_memory(error);
	}
	list_servers(&e);
	e.misses = malloc((size_t)e.nleaves * e.nservers + 1);
	err = e.misses ? read_some(tables, &e, find_cut_off(&e), routed, warnings, error) : fors_fail_memory(error);
	clear(&e);
	return err;
}
