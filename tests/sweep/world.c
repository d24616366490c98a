/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* world.c - networks, tables, and walks along them. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/net/spec.h"
#include "lab/model/routers/model_tables.h"
#include "lab/model/routers/tree_route.h"
#include "lab/model/trees/tree_graph.h"

#define MOST_HOPS 60

static void must(enum fors_err err, const struct fors_error *error, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, error->text);
	exit(1);
}

static void *must_have(void *memory)
{
	if (!memory)
		exit(1);
	return memory;
}

/* ---- making ---- */

static void take_down_some(struct fors_net *net, unsigned count, struct fors_random *random)
{
	while (count) {
		uint32_t node = fors_random_below(random, net->nnodes);
		unsigned port = 1 + fors_random_below(random, net->node[node].nports);

		if (net->node[node].type != FORS_SWITCH || fors_peer_switch(net, node, port) == FORS_NONE)
			continue;
		fors_net_disconnect(net, node, port);
		count--;
	}
}

static void empty_some(struct fors_net *net, unsigned percent, struct fors_random *random)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		if (net->node[node].type == FORS_CA && fors_random_below(random, 100) < percent)
			fors_net_disconnect(net, node, 1);
}

/* D-mod-K, entry by entry from the ways of all pairs. */
static void make_dmodk(struct world *world, const struct fors_tree *tree)
{
	uint32_t first = fors_tree_first_node(tree, 0), path[2 * FORS_TREE_LEVELS];

	world->lfts = must_have(fors_lfts_new(first, fors_net_lid_end(world->net)));
	for (uint32_t node = 0; node < first; node++)
		world->lfts->guid[node] = world->net->node[node].guid;
	for (uint32_t s = 0; s < tree->servers; s++)
		for (uint32_t d = 0; d < tree->servers; d++) {
			unsigned n = fors_tree_route(tree, FORS_ROUTE_DMODK, 0, s, d, path);
			uint32_t lid = fors_net_port(world->net, first + d, 1)->lid, at;

			for (unsigned i = 1; i < n; i++) {
				uint32_t port = fors_tree_net_port(tree, world->net, path[i]);

				for (at = 0; at + 1 < first && world->net->node[at + 1].first_port <= port;)
					at++;
				world->lfts->port[(size_t)at * world->lfts->nlids + lid] =
					(uint8_t)(port - world->net->node[at].first_port);
			}
		}
}

static void make_tables(struct world *world, const struct fors_spec *spec, const char *tables)
{
	struct fors_error error;

	if (!strcmp(tables, "d-mod-k"))
		make_dmodk(world, &spec->tree.tree);
	else
		must(fors_model_tables(world->net, spec->is_graph ? &spec->graph : NULL, fors_model_find(tables),
				       &world->lfts, &error),
		     &error, tables);
}

static void list_servers(struct world *world)
{
	const struct fors_net *net = world->net;

	world->leaf = must_have(calloc(net->nnodes + (size_t)1, sizeof(*world->leaf)));
	world->first = must_have(calloc(net->nnodes + (size_t)2, sizeof(*world->first)));
	world->server = must_have(calloc(net->nnodes + (size_t)1, sizeof(*world->server)));
	for (uint32_t node = 0; node < net->nnodes; node++) {
		uint32_t before = world->nservers;

		for (unsigned p = 1; net->node[node].type == FORS_SWITCH && p <= net->node[node].nports; p++) {
			uint32_t peer = fors_net_port(net, node, p)->peer;

			if (peer != FORS_NONE && net->node[peer].type == FORS_CA)
				world->server[world->nservers++] = peer;
		}
		if (world->nservers > before) {
			world->leaf[world->nswitches] = node;
			world->first[world->nswitches++] = before;
		}
	}
	world->first[world->nswitches] = world->nservers;
}

/* ---- walking ---- */

/* The sending ports (index of net->port) from a switch to a server; how many, or MOST_HOPS: it does not get there. */
static uint32_t walk(const struct world *world, uint32_t node, uint32_t server, uint32_t *port)
{
	uint32_t lid = fors_net_port(world->net, server, 1)->lid, n = 0;

	while (n < MOST_HOPS) {
		uint8_t out = fors_lfts_port(world->lfts, fors_lfts_row(world->lfts, world->net->node[node].guid), lid);
		const struct fors_port *end;

		if (out == FORS_NO_PATH || out == 0)
			return MOST_HOPS;
		end = fors_net_port(world->net, node, out);
		if (end->peer == server)
			return n;
		if (end->peer == FORS_NONE || world->net->node[end->peer].type != FORS_SWITCH)
			return MOST_HOPS;
		port[n++] = world->net->node[node].first_port + out;
		node = end->peer;
	}
	return n;
}

static bool hangs_together(const struct world *world)
{
	uint32_t port[MOST_HOPS];

	for (uint32_t s = 0; s < world->nswitches; s++)
		for (uint32_t d = 0; d < world->nservers; d++)
			if (walk(world, world->leaf[s], world->server[d], port) == MOST_HOPS)
				return false;
	return true;
}

bool world_make(struct world *world, const struct world_wish *wish)
{
	struct fors_random random = {wish->dead * 1000 + wish->empty};
	struct fors_spec spec = {0};
	struct fors_error error;

	*world = (struct world){0};
	must(fors_spec_parse(wish->spec, &spec, &error), &error, wish->spec);
	must(fors_spec_net(&spec, &world->net, &error), &error, wish->spec);
	take_down_some(world->net, wish->dead, &random);
	empty_some(world->net, wish->empty, &random);
	must(fors_model_lids(world->net, &error), &error, wish->spec);
	list_servers(world);
	if (world->nservers >= 50 && world->nservers <= (wish->most ? wish->most : 512)) {
		make_tables(world, &spec, wish->tables);
		fors_spec_clear(&spec);
		if (hangs_together(world))
			return true;
	}
	fors_spec_clear(&spec);
	world_clear(world);
	return false;
}

void world_clear(struct world *world)
{
	fors_lfts_free(world->lfts);
	fors_net_free(world->net);
	free(world->leaf);
	free(world->first);
	free(world->server);
	*world = (struct world){0};
}

void world_name(const struct world_wish *wish, char *text, size_t room)
{
	snprintf(text, room, "%s %s dead %u empty %u %%", wish->spec, wish->tables, wish->dead, wish->empty);
}

void world_shuffle(struct world *world, uint64_t seed)
{
	struct fors_random random = {seed};
	uint32_t n = world->nswitches, at = 0;
	uint32_t *order = must_have(calloc(n + (size_t)1, sizeof(*order)));
	uint32_t *leaf = must_have(calloc(world->net->nnodes + (size_t)1, sizeof(*leaf)));
	uint32_t *first = must_have(calloc(world->net->nnodes + (size_t)2, sizeof(*first)));
	uint32_t *server = must_have(calloc(world->net->nnodes + (size_t)1, sizeof(*server)));

	fors_random_order(&random, order, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = order[i], count = world->first[s + 1] - world->first[s], within[256];

		fors_random_order(&random, within, count);
		leaf[i] = world->leaf[s];
		first[i] = at;
		for (uint32_t k = 0; k < count; k++)
			server[at++] = world->server[world->first[s] + within[k]];
	}
	first[n] = at;
	free(order);
	free(world->leaf);
	free(world->first);
	free(world->server);
	world->leaf = leaf;
	world->first = first;
	world->server = server;
}

/* ---- the problem ---- */

static void number_links(const struct world *world, struct fors_flows_problem *p)
{
	uint32_t *number = must_have(malloc((world->net->nports + (size_t)1) * sizeof(*number)));
	uint32_t port[MOST_HOPS], used = 0;

	memset(number, 0xFF, (world->net->nports + (size_t)1) * sizeof(*number));
	for (uint32_t s = 0; s < p->nswitches; s++)
		for (uint32_t d = 0; d < p->ndests; d++) {
			uint32_t n = walk(world, world->leaf[s], world->server[d], port);

			p->begin[s * p->ndests + d] = used;
			p->exists[s * p->ndests + d] = 1;
			for (uint32_t i = 0; i < n; i++) {
				if (number[port[i]] == FORS_NONE)
					number[port[i]] = p->nlinks++;
				p->link[used++] = number[port[i]];
			}
		}
	p->begin[p->nswitches * p->ndests] = used;
	free(number);
}

void world_problem(const struct world *world, struct fors_flows_problem *problem)
{
	uint32_t n = world->nswitches, dests = world->nservers, port[MOST_HOPS];
	size_t links = 0;

	for (uint32_t s = 0; s < n; s++)
		for (uint32_t d = 0; d < dests; d++)
			links += walk(world, world->leaf[s], world->server[d], port);
	*problem = (struct fors_flows_problem){.nswitches = n, .ndests = dests, .npaths = 1};
	problem->senders = must_have(calloc(n + (size_t)1, sizeof(uint32_t)));
	problem->first = must_have(calloc(n + (size_t)1, sizeof(uint32_t)));
	problem->home = must_have(calloc(dests + (size_t)1, sizeof(uint32_t)));
	problem->begin = must_have(calloc((size_t)n * dests + 1, sizeof(uint32_t)));
	problem->link = must_have(calloc(links + 1, sizeof(uint32_t)));
	problem->exists = must_have(calloc((size_t)n * dests + 1, 1));
	for (uint32_t s = 0; s <= n; s++)
		problem->first[s] = world->first[s];
	for (uint32_t s = 0; s < n; s++) {
		problem->senders[s] = world->first[s + 1] - world->first[s];
		for (uint32_t d = world->first[s]; d < world->first[s + 1]; d++)
			problem->home[d] = s;
	}
	number_links(world, problem);
}

/* Flows of the fullest link. */
static uint32_t fullest(const struct world *world)
{
	uint32_t *load = must_have(calloc(world->net->nports + (size_t)1, sizeof(*load)));
	uint32_t port[MOST_HOPS], most = 0;

	for (uint32_t s = 0; s < world->nswitches; s++)
		for (uint32_t d = 0; d < world->nservers; d++)
			for (uint32_t n = walk(world, world->leaf[s], world->server[d], port); n-- > 0;)
				load[port[n]] += world->first[s + 1] - world->first[s];
	for (uint32_t i = 0; i < world->net->nports; i++)
		most = load[i] > most ? load[i] : most;
	free(load);
	return most;
}

uint32_t world_bound(const struct world *world)
{
	uint32_t most = fullest(world);

	return most > world->nservers ? most : world->nservers;
}

bool world_is_tight(const char *spec, const char *tables)
{
	struct world world;
	uint32_t most, n;

	if (!world_make(&world, &(struct world_wish){.spec = spec, .tables = tables}))
		return false;
	most = fullest(&world);
	n = world.nservers;
	world_clear(&world);
	return n >= 64 && n <= 512 && most * 10 >= n * 9 && n * 10 >= most * 9;
}

/* ---- the judge ---- */

/* One phase: mark what each token uses. */
static bool check_phase(const struct world *world, const struct fors_flows_packing *packing, uint32_t t,
			uint32_t *used_in, uint32_t *sent, const char *what)
{
	uint32_t port[MOST_HOPS], *out = must_have(calloc(world->nswitches + (size_t)1, sizeof(*out)));
	bool is_good = true;

	for (uint32_t d = 0; d < world->nservers; d++) {
		uint32_t unit = fors_flows_received(packing, d, t), s, n;

		if (unit == FORS_FLOWS_NONE)
			continue;
		s = unit / world->nservers;
		is_good &= unit % world->nservers == d && ++out[s] <= world->first[s + 1] - world->first[s];
		sent[unit]++;
		n = walk(world, world->leaf[s], world->server[d], port);
		while (n-- > 0) {
			is_good &= used_in[port[n]] != t + 1;
			used_in[port[n]] = t + 1;
		}
	}
	free(out);
	if (!is_good)
		printf("%s: phase %u is no phase\n", what, t);
	return is_good;
}

bool world_check(const struct world *world, const struct fors_flows_packing *packing, const char *what)
{
	uint32_t *used_in = must_have(calloc(world->net->nports + (size_t)1, sizeof(*used_in)));
	uint32_t *sent = must_have(calloc((size_t)world->nswitches * world->nservers + 1, sizeof(*sent)));
	bool is_good = true;

	for (uint32_t t = 0; t < packing->nphases; t++)
		is_good &= check_phase(world, packing, t, used_in, sent, what);
	for (uint32_t s = 0; s < world->nswitches; s++)
		for (uint32_t d = 0; d < world->nservers; d++)
			if (sent[(size_t)s * world->nservers + d] != world->first[s + 1] - world->first[s]) {
				printf("%s: switch %u sends to server %u %u times\n", what, s, d,
				       sent[(size_t)s * world->nservers + d]);
				is_good = false;
			}
	free(used_in);
	free(sent);
	return is_good;
}
