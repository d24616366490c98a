/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree_graph.h - a fat-tree (core/net/tree.h) as the graph of the performance model, and its links in its net.
 *
 * Every cable is two directed links of capacity 1: first all that lead up, level by level from the servers', then those
 * that lead down, in the same order.
 * Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_LAB_MODEL_TREES_TREE_GRAPH_H
#define FORS_LAB_MODEL_TREES_TREE_GRAPH_H

#include "core/net/net.h"
#include "core/net/tree.h"
#include "lab/model/graph/graph.h"

/* Directed link of cable up `port` (0..w p - 1, parent-major) from node x of `level` to its parent, and back. */
static inline uint32_t fors_tree_up(const struct fors_tree *tree, unsigned level, uint32_t x, uint32_t port)
{
	return tree->first[level] + x * fors_tree_ports_up(tree, level) + port;
}

static inline uint32_t fors_tree_down(const struct fors_tree *tree, unsigned level, uint32_t x, uint32_t port)
{
	return tree->cables + fors_tree_up(tree, level, x, port);
}

/*
 * The graph of a tree with all its servers, owned by the caller; nodes are those of fors_tree_first_node(). Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_tree_graph(const struct fors_tree *tree, struct fors_graph **graph, struct fors_error *error);

/*
 * The port of fors_tree_net()'s net of this tree (some cables may be down, some servers missing), as an index into
 * net->port, that sends over a directed link. FORS_NONE: it would be that of a server which no live cable leads to.
 */
uint32_t fors_tree_net_port(const struct fors_tree *tree, const struct fors_net *net, uint32_t link);

#endif
