/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "incomplete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/lids.h"
#include "core/tables/tables.h"

#define MOST_HOPS 8
#define MOST_PORTS 254

static void must(enum fors_err err, const struct fors_error *error, const char *what)
{
	if (err) {
		fprintf(stderr, "%s: %s: %s\n", what, fors_strerror(err), error->text);
		exit(2);
	}
}

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (!memory) {
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return memory;
}

/* --- plans ---------------------------------------------------------------- */

/* Cables of each pair: alike but for missing ones, one less here and there, or any number. */
static void draw_cables(struct incomplete_plan *plan, struct fors_random *random)
{
	static const uint32_t shares[] = {2, 5, 10, 25, 40}; /* per cent of the pairs */
	uint32_t how = fors_random_below(random, 4), missing = shares[fors_random_below(random, 5)];

	for (uint32_t i = 0; i < plan->nleaves * plan->nspines; i++) {
		plan->cables[i] = (uint8_t)plan->most;
		if (how == 1 && fors_random_below(random, 100) < missing)
			plan->cables[i]--;
		if (how == 2)
			plan->cables[i] = (uint8_t)fors_random_below(random, plan->most + 1);
		if (how != 2 && fors_random_below(random, 100) < missing)
			plan->cables[i] = 0;
	}
	/* Some leaves without the same few spines, as where a part of a fabric was built with smaller switches. */
	for (uint32_t leaf = 0; how == 3 && leaf < (plan->nleaves + 2) / 3; leaf++)
		for (uint32_t spine = 0; spine < (plan->nspines + 5) / 6; spine++)
			plan->cables[leaf * plan->nspines + spine] = 0;
}

static void draw_servers(struct incomplete_plan *plan, struct fors_random *random, uint32_t most_servers)
{
	uint32_t most = most_servers / plan->nleaves, usual, how = fors_random_below(random, 3);

	most = most > 48 ? 48 : most;
	usual = 1 + fors_random_below(random,
				      most < 2 * plan->nspines * plan->most ? most : 2 * plan->nspines * plan->most);
	for (uint32_t leaf = 0; leaf < plan->nleaves; leaf++) {
		plan->servers[leaf] = (uint8_t)usual;
		if (how == 1 && fors_random_below(random, 4) == 0)
			plan->servers[leaf] = (uint8_t)fors_random_below(random, usual + 1);
		if (how == 2)
			plan->servers[leaf] = (uint8_t)fors_random_below(random, usual + 1);
	}
}

void incomplete_draw(struct incomplete *tree, struct fors_random *random, uint32_t most_servers)
{
	static const uint32_t sizes[] = {4, 8, 12, 20};
	struct incomplete_plan *plan = &tree->plan;
	uint32_t size = sizes[fors_random_below(random, 4)];

	*tree = (struct incomplete){0};
	plan->nleaves = 2 + fors_random_below(random, size);
	plan->nspines = 2 + fors_random_below(random, size);
	plan->most = 1 + fors_random_below(random, 4);
	if (plan->most > 1 && size == 20)
		plan->most = 2;
	plan->cables = room((size_t)plan->nleaves * plan->nspines, 1);
	plan->servers = room(plan->nleaves, 1);
	plan->is_shuffled = fors_random_below(random, 2);
	draw_cables(plan, random);
	draw_servers(plan, random, most_servers);
}

/* --- nets ------------------------------------------------------------------ */

static uint32_t add(struct fors_net *net, enum fors_node_type type, unsigned nports, uint64_t guid, const char *kind,
		    uint32_t number)
{
	struct fors_error error;
	char id[FORS_NAME_MAX];
	uint32_t node;

	snprintf(id, sizeof(id), "%s%02u", kind, number);
	must(fors_net_add_node(net, type, nports, guid, id, id, &node, &error), &error, id);
	if (type == FORS_CA)
		fors_net_port(net, node, 1)->guid = guid + 1;
	return node;
}

/* A free port of a switch: the first, or any. */
static unsigned free_port(const struct fors_net *net, uint32_t node, struct fors_random *random, bool any)
{
	unsigned port = any ? 1 + fors_random_below(random, net->node[node].nports) : 1;

	while (fors_net_port(net, node, port)->peer != FORS_NONE)
		port = port % net->node[node].nports + 1;
	return port;
}

static void plug(struct fors_net *net, uint32_t a, uint32_t b, struct fors_random *random, bool any)
{
	unsigned p = free_port(net, a, random, any), q = free_port(net, b, random, any);
	struct fors_error error;

	must(fors_net_connect(net, a, p, b, q, &error), &error, "cable");
}

/* Switches in any order if they are shuffled: of the GUIDs, for those are what places go by. */
static uint64_t *draw_guids(const struct incomplete_plan *plan, struct fors_random *random)
{
	uint32_t count = plan->nleaves + plan->nspines;
	uint32_t *order = room(count, sizeof(*order));
	uint64_t *guid = room(count, sizeof(*guid));

	if (plan->is_shuffled)
		fors_random_order(random, order, count);
	for (uint32_t i = 0; i < count; i++)
		guid[i] = 0x200000 + (plan->is_shuffled ? order[i] : i);
	free(order);
	return guid;
}

static struct fors_net *cable(const struct incomplete_plan *plan, struct fors_random *random)
{
	struct fors_net *net = fors_net_new();
	uint64_t *guid = draw_guids(plan, random);
	uint32_t servers = 0;

	for (uint32_t leaf = 0; leaf < plan->nleaves; leaf++)
		add(net, FORS_SWITCH, MOST_PORTS, guid[leaf], "Leaf", leaf);
	for (uint32_t spine = 0; spine < plan->nspines; spine++)
		add(net, FORS_SWITCH, MOST_PORTS, guid[plan->nleaves + spine], "Spine", spine);
	for (uint32_t leaf = 0; leaf < plan->nleaves; leaf++) {
		for (uint32_t i = 0; i < plan->servers[leaf]; i++, servers++)
			plug(net, leaf, add(net, FORS_CA, 1, 0x900000 + 2 * servers, "Node", servers), random, false);
		for (uint32_t spine = 0; spine < plan->nspines; spine++)
			for (uint32_t i = 0; i < plan->cables[leaf * plan->nspines + spine]; i++)
				plug(net, leaf, plan->nleaves + spine, random, plan->is_shuffled);
	}
	free(guid);
	return net;
}

bool incomplete_build(struct incomplete *tree, struct fors_random *random, unsigned lmc)
{
	struct fors_error error;
	struct fors_fabric *fabric = NULL;
	bool good;

	tree->net = cable(&tree->plan, random);
	tree->places = fors_places_new();
	must(fors_net_index(tree->net, &error), &error, "index");
	good = tree->places && !fors_places_learn(tree->places, tree->net, NULL, 0, &error) &&
	       !fors_assign_lids(tree->net, tree->places, lmc, false, &error) &&
	       !fors_fabric_build(tree->net, tree->places, NULL, &fabric, &error);
	/* It has to be seen as it was meant, which a tree of very few servers need not be. */
	good = good && fabric->nservers > 1 && !fabric->unreachable_pairs;
	for (uint32_t leaf = 0; good && leaf < fabric->nleaves; leaf++)
		good = fabric->leaf[leaf].node < tree->plan.nleaves;
	tree->nservers = good ? fabric->nservers : 0;
	fors_fabric_free(fabric);
	return good;
}

void incomplete_clear(struct incomplete *tree)
{
	free(tree->plan.cables);
	free(tree->plan.servers);
	fors_net_free(tree->net);
	fors_places_free(tree->places);
	*tree = (struct incomplete){0};
}

struct fors_net *incomplete_copy(const struct fors_net *net)
{
	struct fors_error error;
	struct fors_net *copy = NULL;

	must(fors_net_copy(net, &copy, &error), &error, "copy");
	return copy;
}

uint32_t incomplete_cables(const struct incomplete *tree, struct incomplete_cable **list)
{
	uint32_t count = 0;

	*list = room(tree->net->nports, sizeof(**list));
	for (uint32_t leaf = 0; leaf < tree->plan.nleaves; leaf++)
		for (unsigned port = 1; port <= tree->net->node[leaf].nports; port++)
			if (fors_peer_switch(tree->net, leaf, port) != FORS_NONE)
				(*list)[count++] = (struct incomplete_cable){leaf, (uint8_t)port};
	return count;
}

struct fors_fabric *incomplete_fabric(const struct fors_net *net, const struct fors_places *places)
{
	struct fors_error error;
	struct fors_fabric *fabric = NULL;

	must(fors_fabric_build(net, places, NULL, &fabric, &error), &error, "fabric");
	return fabric;
}

struct fors_lfts *incomplete_tables(const struct fors_fabric *fabric)
{
	struct fors_error error;
	struct fors_lfts *lfts = NULL;

	must(fors_tables_build(fabric, &lfts, &error), &error, "tables");
	return lfts;
}

/* --- comparing -------------------------------------------------------------- */

static uint8_t entry(const struct fors_net *net, const struct fors_lfts *lfts, uint32_t node, uint32_t lid)
{
	uint32_t row = fors_lfts_row(lfts, net->node[node].guid);

	return row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(lfts, row, lid);
}

/* Does a packet from the switch arrive at the CA, by these tables over what lives in the net? */
static bool arrives(const struct fors_net *net, const struct fors_lfts *lfts, uint32_t node, uint32_t lid, uint32_t ca)
{
	for (int hop = 0; hop < MOST_HOPS && node != ca; hop++) {
		uint8_t port = entry(net, lfts, node, lid);

		if (net->node[node].type != FORS_SWITCH || !port || port > net->node[node].nports)
			return false;
		node = fors_net_port(net, node, port)->peer;
		if (node == FORS_NONE)
			return false;
	}
	return node == ca;
}

static bool is_live_port(const struct fors_net *net, uint32_t node, uint8_t port)
{
	return port && port <= net->node[node].nports && fors_net_port(net, node, port)->peer != FORS_NONE;
}

static void compare_entry(const struct fors_net *net, const struct fors_lfts *was, const struct fors_lfts *is,
			  uint32_t node, uint32_t lid, uint32_t ca, bool is_leaf, struct incomplete_moves *moves)
{
	uint8_t before = entry(net, was, node, lid), after = entry(net, is, node, lid);

	if (!is_leaf)
		moves->spine += before != after && is_live_port(net, node, before);
	else if (!arrives(net, was, node, lid, ca))
		moves->lost++;
	else
		moves->moved += before != after;
}

struct incomplete_moves incomplete_compare(const struct fors_net *net, const struct fors_lfts *was,
					   const struct fors_lfts *is)
{
	struct incomplete_moves moves = {0};

	for (uint32_t node = 0; node < net->nnodes; node++) {
		bool is_leaf = net->node[node].id[0] == 'L';

		for (uint32_t ca = 0; net->node[node].type == FORS_SWITCH && ca < net->nnodes; ca++) {
			const struct fors_port *port = fors_net_port(net, ca, net->node[ca].type == FORS_CA);

			for (uint32_t i = 0; net->node[ca].type == FORS_CA && port->lid && i < 1u << port->lmc; i++)
				compare_entry(net, was, is, node, port->lid + i, ca, is_leaf, &moves);
		}
	}
	return moves;
}
