/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree.c - what follows from the numbers of a fat-tree, and which of them are too large.
 *
 * A tree is a product of small numbers, and soon larger than any memory. So its parts are multiplied up level by level,
 * in 64 bits, and each product is held against its limit before the next factor, which is below 2^16, comes to it:
 * nothing overflows, nothing is allocated, and who asks for too much hears how much it is.
 */
#include "tree.h"

#include <stdbool.h>
#include <stdio.h>

#define MAX_PORTS 254

/* `count` is all of them, or what a part of the tree has already. */
static enum fors_err fail(uint64_t count, const char *what, uint32_t most, bool is_all, struct fors_error *error)
{
	return fors_fail(error, FORS_ELIMIT, "the tree has %s%llu %s; fors takes trees of at most %u",
			 is_all ? "" : "at least ", (unsigned long long)count, what, most);
}

enum fors_err fors_tree_count(struct fors_tree *tree, struct fors_error *error)
{
	uint64_t below = 1, roots = 1, cables = 0;

	tree->below[0] = tree->roots[0] = 1;
	for (unsigned i = 0; i < tree->height; i++) {
		below *= tree->m[i];
		if (below > FORS_TREE_SERVERS)
			return fail(below, "servers", FORS_TREE_SERVERS, i + 1 == tree->height, error);
		tree->below[i + 1] = (uint32_t)below;
	}
	for (unsigned i = 0; i < tree->height; i++) {
		tree->first[i] = (uint32_t)cables;
		roots *= tree->w[i];
		if (roots > FORS_TREE_CABLES) /* each root has one at least */
			return fail(roots, "cables", FORS_TREE_CABLES, false, error);
		cables += below / tree->below[i] * roots * tree->p[i];
		if (cables > FORS_TREE_CABLES)
			return fail(cables, "cables", FORS_TREE_CABLES, i + 1 == tree->height, error);
		tree->roots[i + 1] = (uint32_t)roots;
	}
	tree->first[tree->height] = tree->cables = (uint32_t)cables;
	tree->servers = (uint32_t)below;
	return FORS_OK;
}

/* "leaf", "spine", or "level-2 switch" between them. */
static void name_level(const struct fors_tree *tree, unsigned level, char *name, size_t room)
{
	if (level > 1 && level < tree->height)
		snprintf(name, room, "level-%u switch", level);
	else
		snprintf(name, room, "%s", level == 1 ? "leaf" : "spine");
}

enum fors_err fors_tree_check_ports(const struct fors_tree *tree, struct fors_error *error)
{
	char name[32];

	if (fors_tree_ports_up(tree, 0) > 1)
		return fors_fail(error, FORS_ENOTAPPL,
				 "a server of this tree has %u ports, which are %u servers to fors; "
				 "a net needs w0 = 1 and p0 = 1",
				 fors_tree_ports_up(tree, 0), fors_tree_ports_up(tree, 0));
	for (unsigned level = 1; level <= tree->height; level++) {
		uint64_t ports = (uint64_t)fors_tree_ports_down(tree, level) + fors_tree_ports_up(tree, level);

		name_level(tree, level, name, sizeof(name));
		if (ports > MAX_PORTS)
			return fors_fail(error, FORS_ELIMIT, "a %s needs %llu ports, a switch has at most %u", name,
					 (unsigned long long)ports, MAX_PORTS);
	}
	return FORS_OK;
}
