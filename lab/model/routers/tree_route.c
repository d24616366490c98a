/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_route.c - single-path routing in fat-trees.
 *
 * A path is known by its way up: it goes up to the level where the subtrees of source and destination become one,
 * and from there only one way leads down, whose switches have the same low digits. So a routing is a rule for one
 * number per level, the cable taken up. Zahavi's D-mod-K for PGFTs takes (d / (w0...wi-1)) mod (wi pi): the rest
 * modulo wi is the parent, the quotient the parallel cable. Going down, the cable is the one with the same number, as
 * if the destination had sent: so all flows to one server come down one tree, whatever the rule's source part says
 * (Mollah et al. and E. Zahavi, "Fat-tree routing and node ordering ...", JPDC 72(11), 2012).
 */
#include "tree_route.h"

#include <string.h>

#include "core/base/random.h"
#include "lab/model/trees/tree_graph.h"

static const struct {
	const char *name;
	enum fors_tree_routing routing;
} names[] = {
	{"d-mod-k", FORS_ROUTE_DMODK}, {"s-mod-k", FORS_ROUTE_SMODK}, {"random", FORS_ROUTE_RANDOM},
	{"hash", FORS_ROUTE_HASH},     {"dmodk", FORS_ROUTE_DMODK},   {"smodk", FORS_ROUTE_SMODK},
	{"dmk", FORS_ROUTE_DMODK},     {"smk", FORS_ROUTE_SMODK},     {"hashed", FORS_ROUTE_HASH},
};

enum fors_err fors_tree_routing_parse(const char *name, enum fors_tree_routing *routing, struct fors_error *error)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i].name) == 0) {
			*routing = names[i].routing;
			return FORS_OK;
		}
	return fors_fail(error, FORS_EINPUT,
			 "routing \"%.60s\" is not known; there are d-mod-k, s-mod-k, random and hash", name);
}

const char *fors_tree_routing_name(enum fors_tree_routing routing)
{
	return names[routing].name;
}

/* The number that the rule turns into cables, and whether it is random (then it is mixed again at each level). */
static uint64_t key_of(enum fors_tree_routing routing, uint64_t seed, uint32_t s, uint32_t d)
{
	if (routing == FORS_ROUTE_RANDOM)
		return fors_random_of(fors_random_of(seed ^ fors_random_of(s)) ^ d);
	if (routing == FORS_ROUTE_HASH)
		return fors_random_of(fors_random_of(seed) ^ d);
	return routing == FORS_ROUTE_DMODK ? d : s;
}

unsigned fors_tree_route(const struct fors_tree *tree, enum fors_tree_routing routing, uint64_t seed, uint32_t s,
			 uint32_t d, uint32_t *path)
{
	bool is_random = routing == FORS_ROUTE_RANDOM || routing == FORS_ROUTE_HASH;
	unsigned meet = fors_tree_meet(tree, s, d);
	uint64_t key = key_of(routing, seed, s, d);
	uint32_t digits = 0; /* of the switch reached so far, within its subtree */

	for (unsigned i = 0; i < meet; i++) {
		uint64_t number = is_random ? fors_random_of(key + i) : key / tree->roots[i];
		uint32_t cable = (uint32_t)(number % ((uint64_t)tree->w[i] * tree->p[i]));
		uint32_t parent = cable % tree->w[i], port = parent * tree->p[i] + cable / tree->w[i];

		path[i] = fors_tree_up(tree, i, s / tree->below[i] * tree->roots[i] + digits, port);
		path[2 * meet - 1 - i] = fors_tree_down(tree, i, d / tree->below[i] * tree->roots[i] + digits, port);
		digits += parent * tree->roots[i];
	}
	return 2 * meet;
}
