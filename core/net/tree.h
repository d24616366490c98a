/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree.h - regular fat-trees of any height as numbers: PGFT(h; m0,...; w0,...; p0,...).
 *
 * Level 0 are the servers, level h the roots. A node of level i has w[i] parents, p[i] cables to each of them, and a
 * node of level i+1 has m[i] children (parallel ports generalised fat-tree: Zahavi; Mollah et al., section 2.1). XGFT
 * is p = 1; FT(2;S,M) with N servers per leaf and C cables is PGFT(2;N,M;1,S;1,C).
 *
 * Numbers of nodes. A level-k subtree is a PGFT of height k; server s lies in number s / (m[0]...m[k-1]) of them.
 * Its roots are the level-k switches; switch x of level k stands in subtree x / (w[0]...w[k-1]), and
 * the rest of that division, read as digits with base w[0], w[1], ..., says which parent one took at
 * each level to arrive there. So a switch's children stand in the subtrees below its own, its parents share its digits.
 *
 * Ports. A node has its children on ports 1.. (child c of m, cable j of p: port c p + j + 1) and its parents after them
 * (parent-major). Below, "cable up" `port` counts a node's cables to its parents only, from 0.
 *
 * tree_spec.h reads trees as text, tree_net.h makes a net of one. Pure functions; any thread.
 */
#ifndef FORS_CORE_NET_TREE_H
#define FORS_CORE_NET_TREE_H

#include <stdint.h>

#include "core/base/error.h"

#define FORS_TREE_LEVELS 8	     /* the highest tree */
#define FORS_TREE_SERVERS (1u << 18) /* of the largest one, 262,144: five times what has LIDs in a subnet */
#define FORS_TREE_CABLES (1u << 22)  /* of the largest one: a quarter of a GB, as a net or as a graph */

struct fors_tree {
	unsigned height;		      /* h, 1..FORS_TREE_LEVELS */
	uint32_t m[FORS_TREE_LEVELS];	      /* children of a node of level i+1 */
	uint32_t w[FORS_TREE_LEVELS];	      /* parents of a node of level i */
	uint32_t p[FORS_TREE_LEVELS];	      /* cables from a node of level i to each parent */
	uint32_t below[FORS_TREE_LEVELS + 1]; /* servers of a level-i subtree: m[0]...m[i-1] */
	uint32_t roots[FORS_TREE_LEVELS + 1]; /* roots of a level-i subtree: w[0]...w[i-1] */
	uint32_t first[FORS_TREE_LEVELS + 1]; /* cables below level i: the number of the first one from level i up */
	uint32_t servers;		      /* below[height] */
	uint32_t cables;		      /* of the whole tree, first[height] */
};

/*
 * Fill in what follows from height, m, w and p (all at least 1, at most 65,535). Errors: FORS_ELIMIT (more than
 * FORS_TREE_SERVERS or FORS_TREE_CABLES), found without allocating anything.
 */
enum fors_err fors_tree_count(struct fors_tree *tree, struct fors_error *error);

/*
 * Could its switches be bought, and its servers be told apart? Errors: FORS_ELIMIT where a switch needs more than 254
 * ports; FORS_ENOTAPPL where a server has several ports, which to fors are several servers.
 */
enum fors_err fors_tree_check_ports(const struct fors_tree *tree, struct fors_error *error);

/* How many nodes level 0..height has. */
static inline uint32_t fors_tree_nodes(const struct fors_tree *tree, unsigned level)
{
	return tree->servers / tree->below[level] * tree->roots[level];
}

/* The lowest level whose subtree holds both servers; 0 when they are the same. */
static inline unsigned fors_tree_meet(const struct fors_tree *tree, uint32_t a, uint32_t b)
{
	unsigned level = 0;

	while (a / tree->below[level] != b / tree->below[level])
		level++;
	return level;
}

/* Ports of a node of this level to its children, and to its parents. */
static inline uint32_t fors_tree_ports_down(const struct fors_tree *tree, unsigned level)
{
	return level ? tree->m[level - 1] * tree->p[level - 1] : 0;
}

static inline uint32_t fors_tree_ports_up(const struct fors_tree *tree, unsigned level)
{
	return level < tree->height ? tree->w[level] * tree->p[level] : 0;
}

/* The parent that cable up `port` of node x of `level` leads to: its number in level + 1. */
static inline uint32_t fors_tree_parent(const struct fors_tree *tree, unsigned level, uint32_t x, uint32_t port)
{
	uint32_t subtree = x / tree->roots[level] / tree->m[level];

	return subtree * tree->roots[level + 1] + port / tree->p[level] * tree->roots[level] + x % tree->roots[level];
}

/* The port of that parent, from 1. */
static inline uint32_t fors_tree_parent_port(const struct fors_tree *tree, unsigned level, uint32_t x, uint32_t port)
{
	return x / tree->roots[level] % tree->m[level] * tree->p[level] + port % tree->p[level] + 1;
}

/* All nodes in one row, as nets and graphs have them: switches level by level from the leaves up, then the servers. */
static inline uint32_t fors_tree_first_node(const struct fors_tree *tree, unsigned level)
{
	uint32_t first = 0;
	unsigned end = level ? level : tree->height + 1;

	for (unsigned i = 1; i < end; i++)
		first += fors_tree_nodes(tree, i);
	return first;
}

#endif
