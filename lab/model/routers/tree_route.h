/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_route.h - single-path routing in fat-trees (core/net/tree.h) by a rule, without tables.
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_TREE_ROUTE_H
#define FORS_LAB_MODEL_ROUTERS_TREE_ROUTE_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/net/tree.h"

enum fors_tree_routing {
	FORS_ROUTE_DMODK,  /* by the destination's number: cable (d / (w0...wi-1)) mod (wi pi) up from level i */
	FORS_ROUTE_SMODK,  /* the same with the source's number */
	FORS_ROUTE_RANDOM, /* for each pair of servers a random path */
	FORS_ROUTE_HASH, /* for each destination a random path, whatever the source, as a table of random entries does */
};

/*
 * "d-mod-k", "s-mod-k", "random", "hash"; also without dashes and as "dmodk", "dmk", "smk". Errors: FORS_EINPUT (lists
 * them).
 */
enum fors_err fors_tree_routing_parse(const char *name, enum fors_tree_routing *routing, struct fors_error *error);
const char *fors_tree_routing_name(enum fors_tree_routing routing);

/*
 * The directed links (fors_tree_up(), fors_tree_down()) of the flow from server s to d in path[], in their order, and
 * how many: two times the level where they meet, at most 2 FORS_TREE_LEVELS, 0 for s = d. `seed` matters to the random
 * ones only.
 */
unsigned fors_tree_route(const struct fors_tree *tree, enum fors_tree_routing routing, uint64_t seed, uint32_t s,
			 uint32_t d, uint32_t *path);

#endif
