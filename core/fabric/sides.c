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
 *
 * A stray cable between two trees need not be such a cable: joined spine to spine or leaf to leaf, one of them stands
 * upside down, and all is bipartite. What gives it away are its servers: they stand below spines that have no leaf with
 * servers at all. (A gateway on a spine has leaves with servers next to it.) Joined spine to leaf, the sides agree, but
 * the two halves hang together by one cable, and at least two switches with servers stand on either side. A known
 * switch, which was part of this tree before, is never held against it: so a fabric that fell into pieces stays what it
 * is.
 *
 * A switch with CAs of its own that is cabled to one leaf only is no spine, since it joins nothing: a stub.
 */
#include "sides.h"

#include <stdlib.h>
#include <string.h>

#include "places_inside.h"

/* What stands behind a switch in the breadth-first tree. */
struct half {
	uint32_t parent; /* node it was found from, FORS_NONE: the start */
	uint8_t port;	 /* its port to that */
	uint64_t
		cables; /* exclusive or of the numbers of all other cables that end there: 0, if none leads elsewhere */
	uint32_t hosts; /* switches with CAs */
	uint32_t cas;	/* CA ports */
	uint32_t strangers; /* switches that are not known */
	uint32_t switches;
};

struct colouring {
	const struct fors_net *net;
	const struct fors_places *places;
	const uint64_t *root;
	size_t nroots;
	uint8_t *colour;     /* per node: 0 not seen, 1, 2 */
	uint32_t *queue;     /* nodes of the component, in breadth-first order */
	struct half *behind; /* per node: what hangs together behind it, seen from the start */
	uint32_t size;
};

/* What is known of a switch before looking at the graph. */
static enum fors_side known_side(const struct colouring *c, uint32_t node)
{
	uint64_t guid = c->net->node[node].guid;

	if (c->nroots)
		return fors_places_is_root(c->root, c->nroots, guid) ? FORS_SIDE_SPINE : FORS_SIDE_NONE;
	if (fors_places_leaf(c->places, guid) != FORS_NONE)
		return FORS_SIDE_LEAF;
	return fors_places_spine(c->places, guid) != FORS_NONE ? FORS_SIDE_SPINE : FORS_SIDE_NONE;
}

/* The description, if no other node has it too; else the id. */
static const char *display_name(const struct fors_net *net, uint32_t node)
{
	for (uint32_t n = 0; n < net->nnodes; n++)
		if (n != node && !strcmp(net->node[n].desc, net->node[node].desc))
			return net->node[node].id;
	return fors_node_name(net, node);
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

	return known == FORS_SIDE_LEAF || (known == FORS_SIDE_NONE && fors_net_hosts(c->net, node) > 0);
}

static bool looks_like_spine(const struct colouring *c, uint32_t node)
{
	return !looks_like_leaf(c, node);
}

/* Name the likeliest culprit: a cable between two of a kind; else say what is wrong in other words. */
static enum fors_err fail_odd_cycle(const struct colouring *c, const char *what, struct fors_error *error)
{
	uint32_t node;
	unsigned port;

	if (find_cable(c, looks_like_leaf, &node, &port))
		return fail_cable(c->net, node, port, "leaves", error);
	if (find_cable(c, looks_like_spine, &node, &port))
		return fail_cable(c->net, node, port, "spines", error);
	return fors_fail(error, FORS_ENOTREE, "not a two-level fat-tree: %s", what);
}

/* Colour the component of `start` and list its switches; false: it is not bipartite. */
static bool colour_component(struct colouring *c, uint32_t start)
{
	bool is_bipartite = true;

	c->size = 0;
	c->colour[start] = 1;
	c->behind[start] = (struct half){.parent = FORS_NONE};
	c->queue[c->size++] = start;
	for (uint32_t i = 0; i < c->size; i++)
		for (unsigned p = 1; p <= c->net->node[c->queue[i]].nports; p++) {
			uint32_t peer = fors_peer_switch(c->net, c->queue[i], p);

			if (peer == FORS_NONE)
				continue;
			if (!c->colour[peer]) {
				c->colour[peer] = 3 - c->colour[c->queue[i]];
				c->behind[peer] =
					(struct half){.parent = c->queue[i],
						      .port = fors_net_port(c->net, c->queue[i], p)->peer_port};
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
		cas += sign * (long)fors_net_hosts(c->net, node);
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

/* --- stubs, and trees that a stray cable joins ---------------------------- */

static bool is_known(const struct colouring *c, uint32_t node)
{
	return known_side(c, node) != FORS_SIDE_NONE || fors_places_has(c->places, c->net->node[node].guid);
}

/* The distinct switches that one is cabled to. */
struct around {
	uint32_t first; /* the first of them */
	uint32_t count;
	uint32_t leaves; /* with CAs, or known as leaves */
};

static struct around look_around(const struct colouring *c, uint32_t node)
{
	struct around around = {.first = FORS_NONE};

	for (unsigned p = 1; p <= c->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(c->net, node, p);
		bool is_new = peer != FORS_NONE;

		for (unsigned before = 1; is_new && before < p; before++)
			is_new = fors_peer_switch(c->net, node, before) != peer;
		if (!is_new)
			continue;
		if (!around.count++)
			around.first = peer;
		around.leaves +=
			looks_like_leaf(c, peer) || fors_places_leaf(c->places, c->net->node[peer].guid) != FORS_NONE;
	}
	return around;
}

/* A switch with CAs that nobody knows on the side of the spines: what may be a stub, or of another tree. */
static bool is_odd(const struct colouring *c, const uint8_t *side, uint32_t node)
{
	return side[node] == FORS_SIDE_SPINE && !is_known(c, node) && fors_net_hosts(c->net, node) > 0;
}

/* Has a leaf another neighbour than stubs, or had it one? */
static bool has_spine(const struct colouring *c, const uint8_t *side, uint32_t leaf)
{
	for (unsigned p = 1; p <= c->net->node[leaf].nports; p++) {
		uint32_t peer = fors_peer_switch(c->net, leaf, p);

		if (peer != FORS_NONE && (!is_odd(c, side, peer) || look_around(c, peer).count > 1) &&
		    side[peer] != FORS_SIDE_STUB)
			return true;
	}
	return is_known(c, leaf);
}

static enum fors_err fail_two(const struct colouring *c, uint32_t a, uint32_t b, struct fors_error *error)
{
	unsigned p = 1;

	while (fors_peer_switch(c->net, a, p) != b)
		p++;
	return fail_cable(c->net, a, p, "switches with servers, which no spine joins", error);
}

static enum fors_err mark_stubs(const struct colouring *c, uint8_t *side, struct fors_error *error)
{
	for (uint32_t i = 0; i < c->size; i++) {
		uint32_t node = c->queue[i];
		struct around around;

		if (!is_odd(c, side, node))
			continue;
		around = look_around(c, node);
		if (around.count != 1 || !around.leaves)
			continue;
		if (!has_spine(c, side, around.first))
			return fail_two(c, around.first, node, error);
		side[node] = FORS_SIDE_STUB;
	}
	return FORS_OK;
}

/* The number of a cable for the exclusive or, the same from both ends: splitmix64 of its lower port. */
static uint64_t number_of(const struct fors_net *net, uint32_t node, unsigned port)
{
	const struct fors_port *here = fors_net_port(net, node, port);
	uint64_t one = net->node[node].first_port + port, other = net->node[here->peer].first_port + here->peer_port;
	uint64_t z = (one < other ? one : other) * 0x9e3779b97f4a7c15 + 1;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static bool is_tree_cable(const struct colouring *c, uint32_t node, unsigned port)
{
	const struct fors_port *here = fors_net_port(c->net, node, port);

	return (c->behind[node].parent == here->peer && c->behind[node].port == port) ||
	       (c->behind[here->peer].parent == node && c->behind[here->peer].port == here->peer_port);
}

static void count_own(struct colouring *c, uint32_t node)
{
	struct half *half = &c->behind[node];

	half->switches = 1;
	half->cas = fors_net_hosts(c->net, node);
	half->hosts = half->cas > 0;
	half->strangers = !is_known(c, node);
	for (unsigned p = 1; p <= c->net->node[node].nports; p++)
		if (fors_peer_switch(c->net, node, p) != FORS_NONE && !is_tree_cable(c, node, p))
			half->cables ^= number_of(c->net, node, p);
}

/* What hangs behind each switch: from the last that was found to the first. */
static void count_halves(struct colouring *c)
{
	for (uint32_t i = 0; i < c->size; i++)
		count_own(c, c->queue[i]);
	for (uint32_t i = c->size; i-- > 1;) {
		const struct half *half = &c->behind[c->queue[i]];
		struct half *parent = &c->behind[half->parent];

		parent->switches += half->switches;
		parent->cas += half->cas;
		parent->hosts += half->hosts;
		parent->strangers += half->strangers;
		parent->cables ^= half->cables;
	}
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * The switch that hangs, with all behind it, by the one cable to its parent, so that most CAs stand on either side; or
 * FORS_NONE. `at_least`: so many switches with CAs on either side, and a side of strangers only.
 */
static uint32_t find_bridge(const struct colouring *c, uint32_t at_least)
{
	const struct half *all = &c->behind[c->queue[0]];
	uint32_t best = FORS_NONE, most = 0;

	for (uint32_t i = 1; i < c->size; i++) {
		const struct half *half = &c->behind[c->queue[i]];
		uint32_t cas = least(half->cas, all->cas - half->cas);
		bool is_strange = half->strangers == half->switches ||
				  all->strangers - half->strangers == all->switches - half->switches;

		if (half->cables || cas <= most || !is_strange ||
		    least(half->hosts, all->hosts - half->hosts) < at_least)
			continue;
		best = c->queue[i];
		most = cas;
	}
	return best;
}

static enum fors_err fail_joined(const struct colouring *c, uint32_t bridge, struct fors_error *error)
{
	return fail_cable(c->net, bridge, c->behind[bridge].port, "trees, each with servers of its own", error);
}

/* Servers on both sides, first below `node`: name the cable that joins the trees. */
static enum fors_err fail_foreign(const struct colouring *c, uint32_t node, struct fors_error *error)
{
	uint32_t bridge = find_bridge(c, 1);
	struct fors_error like;
	enum fors_err err;

	if (bridge != FORS_NONE)
		return fail_joined(c, bridge, error);
	err = fail_odd_cycle(c, "servers stand on both sides", &like);
	return fors_fail(error, err, "%.380s; below %s are servers, and it has no leaf with servers", like.text,
			 display_name(c->net, node));
}

static bool has_known(const struct colouring *c)
{
	return c->behind[c->queue[0]].strangers < c->size;
}

/* Do all servers belong to one tree? */
static enum fors_err check_trees(struct colouring *c, const uint8_t *side, struct fors_error *error)
{
	uint32_t bridge;

	count_halves(c);
	for (uint32_t i = 0; i < c->size; i++) {
		struct around around;

		if (!is_odd(c, side, c->queue[i]))
			continue;
		around = look_around(c, c->queue[i]);
		if (!around.leaves || (has_known(c) && around.count > 2 * around.leaves))
			return fail_foreign(c, c->queue[i], error);
	}
	bridge = find_bridge(c, 2);
	return bridge == FORS_NONE ? FORS_OK : fail_joined(c, bridge, error);
}

/* --- all together --------------------------------------------------------- */

static enum fors_err decide_component(struct colouring *c, uint32_t start, uint8_t *side, struct fors_error *error)
{
	uint8_t leaves;
	enum fors_err err;

	if (!colour_component(c, start))
		return fail_odd_cycle(c, "the switch graph has an odd cycle", error);
	if (c->size == 1 && !fors_net_hosts(c->net, start))
		return FORS_OK;
	leaves = leaf_colour(c);
	for (uint32_t i = 0; i < c->size; i++)
		side[c->queue[i]] = c->colour[c->queue[i]] == leaves ? FORS_SIDE_LEAF : FORS_SIDE_SPINE;
	err = check_known(c, side, error);
	if (!err)
		err = mark_stubs(c, side, error);
	return err ? err : check_trees(c, side, error);
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
	c.behind = calloc((size_t)net->nnodes + 1, sizeof(*c.behind));
	if (!c.colour || !c.queue || !c.behind)
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
	free(c.behind);
	return err;
}
