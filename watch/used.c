/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * used.c - for each LID of a server, the walk from every switch that has servers: a tree that leads there, of which each
 * switch is passed once.
 */
#include "used.h"

#include <stdlib.h>
#include <string.h>

struct fors_used {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	uint32_t *row_of;  /* [node]; FORS_NONE: no switch with a table */
	uint32_t *node_of; /* [row]; FORS_NONE: not in the net */
	uint32_t *passed;  /* [node]: the LID whose walk was there last */
	bool *has_servers; /* [node] */
	bool *entry;	   /* [row * nlids + lid]: a way goes by it */
	bool *port;	   /* [row * PORTS + port]: likewise */
};

#define PORTS 256

static bool is_server(const struct fors_net *net, uint32_t node, unsigned port)
{
	const struct fors_port *at = fors_net_port(net, node, port);

	return net->node[node].type == FORS_CA && port && at->lid && at->peer != FORS_NONE;
}

static void walk(struct fors_used *used, uint32_t node, uint32_t lid)
{
	const struct fors_net *net = used->net;

	while (node != FORS_NONE && used->row_of[node] != FORS_NONE && used->passed[node] != lid) {
		uint32_t row = used->row_of[node];
		uint8_t port = fors_lfts_port(used->lfts, row, lid);

		used->passed[node] = lid;
		used->entry[(size_t)row * used->lfts->nlids + lid] = true;
		used->port[(size_t)row * PORTS + port] = true;
		node = port && port <= net->node[node].nports ? fors_net_port(net, node, port)->peer : FORS_NONE;
	}
}

static void walk_to(struct fors_used *used, uint32_t lid)
{
	for (uint32_t node = 0; node < used->net->nnodes && lid < used->lfts->nlids; node++)
		if (used->has_servers[node])
			walk(used, node, lid);
}

/* A use of each server port: of its LIDs. */
static void walk_to_server(struct fors_used *used, const struct fors_port *port)
{
	for (uint32_t lid = port->lid; lid < port->lid + (1u << port->lmc); lid++)
		walk_to(used, lid);
}

typedef void (*server_use)(struct fors_used *used, const struct fors_port *port);

static void for_each_server(struct fors_used *used, server_use use)
{
	for (uint32_t node = 0; node < used->net->nnodes; node++)
		for (unsigned port = 1; port <= used->net->node[node].nports; port++)
			if (is_server(used->net, node, port))
				use(used, fors_net_port(used->net, node, port));
}

static void note_switch(struct fors_used *used, const struct fors_port *port)
{
	used->has_servers[port->peer] = true;
}

static bool make_room(struct fors_used *used)
{
	size_t nnodes = used->net->nnodes + (size_t)1, nrows = used->lfts->nswitches + (size_t)1;

	used->row_of = calloc(nnodes, sizeof(*used->row_of));
	used->node_of = calloc(nrows, sizeof(*used->node_of));
	used->passed = calloc(nnodes, sizeof(*used->passed));
	used->has_servers = calloc(nnodes, sizeof(*used->has_servers));
	used->entry = calloc(nrows * used->lfts->nlids, sizeof(*used->entry));
	used->port = calloc(nrows * PORTS, sizeof(*used->port));
	return used->row_of && used->node_of && used->passed && used->has_servers && used->entry && used->port;
}

static void match_rows(struct fors_used *used)
{
	const struct fors_net *net = used->net;

	for (uint32_t row = 0; row < used->lfts->nswitches; row++)
		used->node_of[row] = fors_net_find_guid(net, used->lfts->guid[row]);
	for (uint32_t node = 0; node < net->nnodes; node++)
		used->row_of[node] = net->node[node].type == FORS_SWITCH
					     ? fors_lfts_row(used->lfts, net->node[node].guid)
					     : FORS_NONE;
}

enum fors_err fors_used_find(const struct fors_net *net, const struct fors_lfts *lfts, struct fors_used **used,
			     struct fors_error *error)
{
	struct fors_used *made = calloc(1, sizeof(*made));

	if (made) {
		made->net = net;
		made->lfts = lfts;
	}
	if (!made || !make_room(made)) {
		fors_used_free(made);
		return fors_fail_memory(error);
	}
	match_rows(made);
	for_each_server(made, note_switch);
	for_each_server(made, walk_to_server);
	*used = made;
	return FORS_OK;
}

void fors_used_free(struct fors_used *used)
{
	if (!used)
		return;
	free(used->row_of);
	free(used->node_of);
	free(used->passed);
	free(used->has_servers);
	free(used->entry);
	free(used->port);
	free(used);
}

/* ---- beside another reading ---- */

/* Does this port have the same neighbour there? */
static bool is_same_cable(const struct fors_net *net, uint32_t node, unsigned port, const struct fors_net *other,
			  uint32_t there)
{
	const struct fors_port *a = fors_net_port(net, node, port), *b;

	if (a->peer == FORS_NONE)
		return true; /* no way went over it */
	if (port > other->node[there].nports)
		return false;
	b = fors_net_port(other, there, port);
	return b->peer != FORS_NONE && b->peer_port == a->peer_port &&
	       other->node[b->peer].guid == net->node[a->peer].guid;
}

static const char *change_of_server(const struct fors_net *net, uint32_t node, unsigned port,
				    const struct fors_net *other)
{
	const struct fors_port *a = fors_net_port(net, node, port), *b;
	uint32_t there = fors_net_find_guid(other, net->node[node].guid);

	if (there == FORS_NONE || !is_same_cable(net, node, port, other, there))
		return "a server is gone, or hangs elsewhere";
	b = fors_net_port(other, there, port);
	return a->lid == b->lid && a->lmc == b->lmc ? NULL : "a server has another LID";
}

static const char *change_of_row(const struct fors_used *used, uint32_t row, const struct fors_net *other,
				 const struct fors_lfts *lfts)
{
	const bool *entry = used->entry + (size_t)row * used->lfts->nlids;
	uint32_t there = fors_net_find_guid(other, used->lfts->guid[row]),
		 to = fors_lfts_row(lfts, used->lfts->guid[row]);

	for (uint32_t lid = 0; lid < used->lfts->nlids; lid++) {
		uint8_t port = fors_lfts_port(used->lfts, row, lid);

		if (!entry[lid])
			continue;
		if (there == FORS_NONE || to == FORS_NONE)
			return "a switch that is used is gone";
		if (fors_lfts_port(lfts, to, lid) != port)
			return "a table entry that is used has changed";
		if (port && port <= used->net->node[used->node_of[row]].nports &&
		    !is_same_cable(used->net, used->node_of[row], port, other, there))
			return FORS_CABLE_DOWN;
	}
	return NULL;
}

const char *fors_used_change(const struct fors_used *used, const struct fors_net *net, const struct fors_lfts *lfts)
{
	const char *change = NULL;

	for (uint32_t node = 0; node < used->net->nnodes && !change; node++)
		for (unsigned port = 1; port <= used->net->node[node].nports && !change; port++)
			if (is_server(used->net, node, port))
				change = change_of_server(used->net, node, port, net);
	for (uint32_t row = 0; row < used->lfts->nswitches && !change; row++)
		if (used->node_of[row] != FORS_NONE)
			change = change_of_row(used, row, net, lfts);
	return change;
}

bool fors_used_has_port(const struct fors_used *used, uint64_t guid, unsigned port)
{
	uint32_t node = fors_net_find_guid(used->net, guid), row = node == FORS_NONE ? FORS_NONE : used->row_of[node];
	const struct fors_port *at;

	if (row == FORS_NONE || !port || port > used->net->node[node].nports)
		return false;
	at = fors_net_port(used->net, node, port);
	return (at->peer != FORS_NONE && is_server(used->net, at->peer, at->peer_port)) ||
	       used->port[(size_t)row * PORTS + port];
}
