/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routes.c - walking through forwarding tables, in any network.
 *
 * A message starts on the cable of its server; each switch looks the destination LID up and sends it on, until it
 * leaves the switches. It has arrived when it comes out at its receiver's port. Everything else is a fault with a name:
 * no entry, no table, a port without a live cable, somebody else's port, or a loop. A loop needs no memory: tables
 * depend on the LID alone, so who has passed more switches than there are will never arrive.
 *
 * "Shortest" means fewest links. Distances are counted over cables between switches, from each switch that has servers
 * (breadth first); adapters pass nothing on.
 *
 * Shares no code with planners, tables or the verifier beyond the types, so that it can stand as a second opinion.
 */
#include "routes.h"
#include "core/base/text.h"
#include "core/net/lfts.h"
#include "core/net/rates.h"
#include "router.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR UINT16_MAX /* no way over switches */

/* ---- names ---- */

void fors_link_name(const struct fors_routes *routes, uint32_t link, char *text, size_t room)
{
	const struct fors_net *net = routes->net;
	uint32_t node = routes->graph->from[link], index = routes->port_of[link];
	const struct fors_port *port = &net->port[index];

	snprintf(text, room, "%s[%u] -> %s[%u]", fors_node_name(net, node), index - net->node[node].first_port,
		 fors_node_name(net, port->peer), port->peer_port);
}

/* ---- the way of a pair ---- */

/* The link over which switch `node` sends what goes to `lid`. */
static enum fors_way next_link(const struct fors_routes *routes, uint32_t node, uint32_t lid, uint32_t *link)
{
	uint32_t row = routes->row_of[node];
	uint8_t port;

	if (row == FORS_NONE)
		return FORS_WAY_NO_TABLE;
	port = fors_lfts_port(routes->lfts, row, lid);
	if (port == 0 || port == FORS_NO_PATH)
		return FORS_WAY_HOLE;
	if (port > routes->net->node[node].nports)
		return FORS_WAY_DEAD;
	*link = routes->link_of[routes->net->node[node].first_port + port];
	return *link == FORS_NONE ? FORS_WAY_DEAD : FORS_WAY_GOOD;
}

static enum fors_way route(const void *context, struct fors_pair pair, uint32_t *link, uint32_t *nlinks)
{
	const struct fors_routes *routes = context;
	const struct fors_endpoint *src = &routes->server[pair.src], *dst = &routes->server[pair.dst];
	uint32_t node = src->leaf, n = 0, last;
	enum fors_way way = FORS_WAY_GOOD;

	link[n++] = routes->link_of[routes->net->node[src->node].first_port + src->port];
	while (!way && routes->net->node[node].type == FORS_SWITCH && n < routes->max_links) {
		way = next_link(routes, node, dst->lid + pair.path, &link[n]);
		if (!way)
			node = routes->graph->to[link[n++]];
	}
	*nlinks = n;
	if (way)
		return way;
	if (routes->net->node[node].type == FORS_SWITCH)
		return FORS_WAY_LOOP;
	last = routes->port_of[link[n - 1]];
	return node == dst->node && routes->net->port[last].peer_port == dst->port ? FORS_WAY_GOOD : FORS_WAY_ASTRAY;
}

static uint32_t shortest(const void *context, uint32_t src, uint32_t dst)
{
	const struct fors_routes *routes = context;
	uint32_t from = routes->server[src].leaf, to = routes->server[dst].leaf;

	return 2u + routes->distance[(size_t)routes->distance_row[from] * routes->net->nnodes + to];
}

static void tell(const void *context, struct fors_pair pair, char *text, size_t room)
{
	const struct fors_routes *routes = context;
	const struct fors_net *net = routes->net;
	const struct fors_endpoint *src = &routes->server[pair.src], *dst = &routes->server[pair.dst];
	uint32_t *link = malloc((routes->max_links + (size_t)1) * sizeof(*link)), nlinks = 0;
	enum fors_way way;
	char last[2 * FORS_NAME_MAX + 32];

	if (!link)
		return;
	way = route(routes, pair, link, &nlinks);
	fors_link_name(routes, link[nlinks - 1], last, sizeof(last));
	snprintf(text, room, "%s to %s (LID %u): %s after %u %s, the last one %s", fors_node_name(net, src->node),
		 fors_node_name(net, dst->node), dst->lid + pair.path,
		 way == FORS_WAY_GOOD ? "arrives" : fors_way_name(way), nlinks, fors_plural(nlinks, "link", "links"),
		 last);
	free(link);
}

struct fors_router fors_routes_router(const struct fors_routes *routes)
{
	return (struct fors_router){.graph = routes->graph,
				    .context = routes,
				    .max_links = routes->max_links,
				    .route = route,
				    .shortest = shortest,
				    .tell = tell};
}

/* ---- making routes ---- */

/* Does the port send into a cable? What is no host neither sends nor receives. */
static bool is_link(const struct fors_net *net, uint32_t node, unsigned port)
{
	uint32_t peer = fors_net_port(net, node, port)->peer;

	return peer != FORS_NONE && net->node[node].type != FORS_OTHER && net->node[peer].type != FORS_OTHER;
}

static uint32_t count_links(const struct fors_net *net)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 1; port <= net->node[node].nports; port++)
			n += is_link(net, node, port);
	return n;
}

static uint32_t count_switches(const struct fors_net *net)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->nnodes; i++)
		n += net->node[i].type == FORS_SWITCH;
	return n;
}

/* How many times as fast as full speed a cable is, one of a server at most once; 1 where that is not known. */
static double capacity_of(const struct fors_net *net, uint32_t node, const struct fors_port *port, uint32_t full)
{
	bool joins_switches = net->node[node].type == FORS_SWITCH && net->node[port->peer].type == FORS_SWITCH;
	double times = full && fors_rates_cable(net, port) ? (double)fors_rates_cable(net, port) / full : 1;

	return joins_switches || times < 1 ? times : 1;
}

/* Full speed of who sends. */
static uint32_t full_of(const struct fors_routes *routes)
{
	uint32_t flow = 0;

	for (uint32_t s = 0; s < routes->graph->nservers; s++)
		fors_rates_takes_part(
			routes->net, fors_net_port(routes->net, routes->server[s].node, routes->server[s].port), &flow);
	return fors_rates_full(routes->net, flow);
}

static void number_links(struct fors_routes *routes)
{
	const struct fors_net *net = routes->net;
	uint32_t n = 0, full = full_of(routes);

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 0; port <= net->node[node].nports; port++) {
			uint32_t index = net->node[node].first_port + port;

			routes->link_of[index] = FORS_NONE;
			if (!is_link(net, node, port))
				continue;
			routes->link_of[index] = n;
			routes->port_of[n] = index;
			routes->graph->capacity[n] = capacity_of(net, node, &net->port[index], full);
			routes->graph->from[n] = node;
			routes->graph->to[n++] = net->port[index].peer;
		}
}

static void describe_nodes(struct fors_routes *routes)
{
	for (uint32_t node = 0; node < routes->net->nnodes; node++) {
		bool is_switch = routes->net->node[node].type == FORS_SWITCH;

		routes->graph->is_terminal[node] = !is_switch;
		routes->row_of[node] =
			is_switch ? fors_lfts_row(routes->lfts, routes->net->node[node].guid) : FORS_NONE;
	}
}

/* Hops from switch `start` to all others, over switches, in distance[]; queue has room for all nodes. */
static void measure(const struct fors_net *net, uint32_t start, uint16_t *distance, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < net->nnodes; i++)
		distance[i] = FAR;
	distance[start] = 0;
	queue[tail++] = start;
	while (head < tail) {
		uint32_t node = queue[head++];

		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			uint32_t peer = fors_net_port(net, node, p)->peer;

			if (peer == FORS_NONE || net->node[peer].type != FORS_SWITCH || distance[peer] != FAR)
				continue;
			distance[peer] = (uint16_t)(distance[node] + 1);
			queue[tail++] = peer;
		}
	}
}

static enum fors_err measure_all(struct fors_routes *routes, struct fors_error *error)
{
	const struct fors_net *net = routes->net;
	uint32_t *queue = malloc((net->nnodes + (size_t)1) * sizeof(*queue));
	uint32_t nrows = 0;

	for (uint32_t i = 0; i < net->nnodes; i++)
		routes->distance_row[i] = FORS_NONE;
	for (uint32_t s = 0; s < routes->graph->nservers; s++)
		if (routes->distance_row[routes->server[s].leaf] == FORS_NONE)
			routes->distance_row[routes->server[s].leaf] = nrows++;
	routes->distance = malloc(((size_t)nrows * net->nnodes + 1) * sizeof(*routes->distance));
	for (uint32_t i = 0; i < net->nnodes && queue && routes->distance; i++)
		if (routes->distance_row[i] != FORS_NONE)
			measure(net, i, routes->distance + (size_t)routes->distance_row[i] * net->nnodes, queue);
	free(queue);
	return queue && routes->distance ? FORS_OK : fors_fail_memory(error);
}

static enum fors_err check_lids(const struct fors_net *net, const struct fors_endpoint *server, uint32_t count,
				struct fors_error *error)
{
	uint32_t *owner = calloc(FORS_LID_MAX + 1 + (1u << FORS_MAX_LMC), sizeof(*owner)); /* server + 1 */
	enum fors_err err = owner ? FORS_OK : fors_fail_memory(error);

	for (uint32_t s = 0; s < count && !err; s++) {
		const char *name = fors_node_name(net, server[s].node);

		if (!server[s].lid || server[s].lid > FORS_LID_MAX || server[s].lmc > FORS_MAX_LMC)
			err = fors_fail(error, FORS_EINPUT,
					"%s has no LID: take the fabric from ibnetdiscover, or tables that name the "
					"ports (opensm-lfts.dump, or dump_fts without -n)",
					name);
		for (uint32_t i = 0; !err && i < 1u << server[s].lmc; i++) {
			uint32_t *before = &owner[server[s].lid + i];

			if (*before)
				err = fors_fail(error, FORS_EINPUT, "%s and %s share LID %u",
						fors_node_name(net, server[*before - 1].node), name, server[s].lid + i);
			*before = s + 1;
		}
	}
	free(owner);
	return err;
}

static enum fors_err fill(struct fors_routes *r, const struct fors_endpoint *server, uint32_t count,
			  struct fors_error *error)
{
	uint32_t nlinks = count_links(r->net);
	enum fors_err err = fors_graph_new(r->net->nnodes, nlinks, count, &r->graph, error);

	if (err)
		return err;
	r->max_links = count_switches(r->net) + 2;
	r->server = malloc((count + (size_t)1) * sizeof(*r->server));
	r->link_of = malloc((r->net->nports + (size_t)1) * sizeof(*r->link_of));
	r->port_of = malloc((nlinks + (size_t)1) * sizeof(*r->port_of));
	r->row_of = malloc((r->net->nnodes + (size_t)1) * sizeof(*r->row_of));
	r->distance_row = malloc((r->net->nnodes + (size_t)1) * sizeof(*r->distance_row));
	if (!r->server || !r->link_of || !r->port_of || !r->row_of || !r->distance_row)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < count; s++) {
		r->server[s] = server[s];
		r->graph->server[s] = server[s].node;
	}
	number_links(r);
	describe_nodes(r);
	return FORS_OK;
}

enum fors_err fors_routes_new(const struct fors_net *net, const struct fors_lfts *lfts,
			      const struct fors_endpoint *server, uint32_t count, struct fors_routes **routes,
			      struct fors_error *error)
{
	struct fors_routes *r = calloc(1, sizeof(*r));
	enum fors_err err;

	if (!r)
		return fors_fail_memory(error);
	*r = (struct fors_routes){.net = net, .lfts = lfts};
	err = check_lids(net, server, count, error);
	if (!err)
		err = fill(r, server, count, error);
	if (!err)
		err = measure_all(r, error);
	if (err) {
		fors_routes_free(r);
		return err;
	}
	*routes = r;
	return FORS_OK;
}

void fors_routes_free(struct fors_routes *routes)
{
	if (!routes)
		return;
	fors_graph_free(routes->graph);
	free(routes->server);
	free(routes->link_of);
	free(routes->port_of);
	free(routes->row_of);
	free(routes->distance);
	free(routes->distance_row);
	free(routes);
}
