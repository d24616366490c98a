/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sides.c - which switches are leaves and which are spines.
 *
 * In a two-level fat-tree every cable between switches joins a leaf and a spine,
 * so the switch graph is bipartite: colour each connected component with two
 * colours, then ask which colour is the leaves. Whoever knows best decides: the
 * list of root GUIDs, then what the places remember, then the number of CA ports.
 * A cable between two switches of one side means that this is no such tree, and
 * the cable is named: by what the switches were known as, else by their CAs.
 */
#include "sides.h"

#include <stdlib.h>
#include <string.h>

#include "places_inside.h"

struct colouring {
	const struct fors_net *net;
	const struct fors_places *places;
	const uint64_t *root;
	size_t nroots;
	uint8_t *colour; /* per node: 0 not seen, 1, 2 */
	uint32_t *queue; /* nodes of the component, in breadth-first order */
	uint32_t size;
};

static bool is_root(const struct colouring *c, uint32_t node)
{
	for (size_t i = 0; i < c->nroots; i++)
		if (c->root[i] == c->net->node[node].guid)
			return true;
	return false;
}

static unsigned count_cas(const struct fors_net *net, uint32_t node)
{
	unsigned count = 0;

	for (unsigned p = 1; p <= net->node[node].nports; p++) {
		uint32_t peer = fors_net_port(net, node, p)->peer;

		count += peer != FORS_NONE && net->node[peer].type != FORS_SWITCH;
	}
	return count;
}

/* What is known of a switch before looking at the graph. */
static enum fors_side known_side(const struct colouring *c, uint32_t node)
{
	uint64_t guid = c->net->node[node].guid;

	if (c->nroots)
		return is_root(c, node) ? FORS_SIDE_SPINE : FORS_SIDE_NONE;
	if (fors_places_leaf(c->places, guid) != FORS_NONE)
		return FORS_SIDE_LEAF;
	return fors_places_spine(c->places, guid) != FORS_NONE ? FORS_SIDE_SPINE : FORS_SIDE_NONE;
}

/* The description, if no other node has it too; else the id. */
static const char *display_name(const struct fors_net *net, uint32_t node)
{
	const char *desc = net->node[node].desc;

	for (uint32_t n = 0; n < net->nnodes; n++) {
		if (n != node && !strcmp(net->node[n].desc, desc))
			return net->node[node].id;
	}
	return *desc ? desc : net->node[node].id;
}

static enum fors_err fail_cable(const struct fors_net *net, uint32_t node, unsigned port, const char *what,
				struct fors_error *error)
{
	const struct fors_port *p = fors_net_port(net, node, port);

	return fors_fail(error, FORS_ENOTREE, "not a two-level fat-tree: %s[%u] - %s[%u] joins two %s",
			 display_name(net, node), port, display_name(net, p->peer), p->peer_port, what);
}

/* The first cable between two switches that `is_kind` says are of one kind. */
static bool find_cable(const struct colouring *c, bool (*is_kind)(const struct colouring *, uint32_t), uint32_t *node,
		       unsigned *port)
{
	for (uint32_t i = 0; i < c->size; i++)
		for (unsigned p = 1; p <= c->net->node[c->queue[i]].nports; p++) {
			uint32_t peer = fors_peer_switch(c->net, c->queue[i], p);

			if (peer == FORS_NONE || !is_kind(c, c->queue[i]) || !is_kind(c, peer))
				continue;
			*node = c->queue[i];
			*port = p;
			return true;
		}
	return false;
}

static bool looks_like_leaf(const struct colouring *c, uint32_t node)
{
	enum fors_side known = known_side(c, node);

	return known == FORS_SIDE_LEAF || (known == FORS_SIDE_NONE && count_cas(c->net, node) > 0);
}

static bool looks_like_spine(const struct colouring *c, uint32_t node)
{
	return !looks_like_leaf(c, node);
}

/* The component has an odd cycle: name the likeliest culprit. */
static enum fors_err fail_odd_cycle(const struct colouring *c, struct fors_error *error)
{
	uint32_t node;
	unsigned port;

	if (find_cable(c, looks_like_leaf, &node, &port))
		return fail_cable(c->net, node, port, "leaves", error);
	if (find_cable(c, looks_like_spine, &node, &port))
		return fail_cable(c->net, node, port, "spines", error);
	return fors_fail(error, FORS_ENOTREE, "not a two-level fat-tree: the switch graph has an odd cycle");
}

/* Colour the component of `start` and list its switches; false: it is not bipartite. */
static bool colour_component(struct colouring *c, uint32_t start)
{
	bool is_bipartite = true;

	c->size = 0;
	c->colour[start] = 1;
	c->queue[c->size++] = start;
	for (uint32_t i = 0; i < c->size; i++)
		for (unsigned p = 1; p <= c->net->node[c->queue[i]].nports; p++) {
			uint32_t peer = fors_peer_switch(c->net, c->queue[i], p);

			if (peer == FORS_NONE)
				continue;
			if (!c->colour[peer]) {
				c->colour[peer] = 3 - c->colour[c->queue[i]];
				c->queue[c->size++] = peer;
			} else if (c->colour[peer] == c->colour[c->queue[i]]) {
				is_bipartite = false;
			}
		}
	return is_bipartite;
}

/* Which colour is the leaves? Votes of what is known, else CA ports, else the first switch. */
static uint8_t leaf_colour(const struct colouring *c)
{
	long votes = 0, cas = 0;

	for (uint32_t i = 0; i < c->size; i++) {
		uint32_t node = c->queue[i];
		int sign = c->colour[node] == 1 ? 1 : -1;
		enum fors_side known = known_side(c, node);

		votes += known == FORS_SIDE_LEAF ? sign : known == FORS_SIDE_SPINE ? -sign : 0;
		cas += sign * (long)count_cas(c->net, node);
	}
	if (votes)
		return votes > 0 ? 1 : 2;
	return cas >= 0 ? 1 : 2;
}

/* A switch that is on the other side now than it was known for: two of a kind are joined. */
static enum fors_err check_known(const struct colouring *c, const uint8_t *side, struct fors_error *error)
{
	for (uint32_t i = 0; i < c->size; i++) {
		enum fors_side known = known_side(c, c->queue[i]);

		if (known != FORS_SIDE_NONE && known != side[c->queue[i]])
			return fors_fail(error, FORS_ENOTREE,
					 "not a two-level fat-tree: %s is known as a %s, but is cabled to %s",
					 display_name(c->net, c->queue[i]), known == FORS_SIDE_LEAF ? "leaf" : "spine",
					 known == FORS_SIDE_LEAF ? "leaves" : "spines");
	}
	return FORS_OK;
}

static enum fors_err decide_component(struct colouring *c, uint32_t start, uint8_t *side, struct fors_error *error)
{
	uint8_t leaves;

	if (!colour_component(c, start))
		return fail_odd_cycle(c, error);
	if (c->size == 1 && !count_cas(c->net, start))
		return FORS_OK;
	leaves = leaf_colour(c);
	for (uint32_t i = 0; i < c->size; i++)
		side[c->queue[i]] = c->colour[c->queue[i]] == leaves ? FORS_SIDE_LEAF : FORS_SIDE_SPINE;
	return check_known(c, side, error);
}

enum fors_err fors_sides(const struct fors_net *net, const struct fors_places *places, const uint64_t *root_guids,
			 size_t nroots, uint8_t *side, struct fors_error *error)
{
	struct colouring c = {.net = net, .places = places, .root = root_guids, .nroots = nroots};
	enum fors_err err = FORS_OK;
	uint32_t nswitches = 0;

	memset(side, FORS_SIDE_NONE, net->nnodes);
	c.colour = calloc((size_t)net->nnodes + 1, sizeof(*c.colour));
	c.queue = calloc((size_t)net->nnodes + 1, sizeof(*c.queue));
	if (!c.colour || !c.queue)
		err = fors_fail_memory(error);
	for (uint32_t i = 0; !err && i < net->nnodes; i++) {
		uint32_t node = net->by_guid[i];

		if (net->node[node].type != FORS_SWITCH)
			continue;
		nswitches++;
		if (!c.colour[node])
			err = decide_component(&c, node, side, error);
	}
	if (!err && !nswitches)
		err = fors_fail(error, FORS_ENOTREE, "not a two-level fat-tree: there is no switch");
	free(c.colour);
	free(c.queue);
	return err;
}
