/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tree_graph.c - a fat-tree as the graph of the performance model, and where its links are in its net. */
#include "tree_graph.h"

/* The port of a leaf with the cable to this server. */
static const struct fors_port *port_to_server(const struct fors_tree *tree, const struct fors_net *net, uint32_t s)
{
	return fors_net_port(net, fors_tree_first_node(tree, 1) + fors_tree_parent(tree, 0, s, 0),
			     fors_tree_parent_port(tree, 0, s, 0));
}

uint32_t fors_tree_net_port(const struct fors_tree *tree, const struct fors_net *net, uint32_t link)
{
	uint32_t cable = link % tree->cables, up, x, port, node;
	unsigned level = 0;

	while (cable >= tree->first[level + 1])
		level++;
	up = fors_tree_ports_up(tree, level);
	x = (cable - tree->first[level]) / up;
	port = (cable - tree->first[level]) % up;
	if (link >= tree->cables) {
		node = fors_tree_first_node(tree, level + 1) + fors_tree_parent(tree, level, x, port);
		return net->node[node].first_port + fors_tree_parent_port(tree, level, x, port);
	}
	if (level == 0) {
		const struct fors_port *end = port_to_server(tree, net, x);

		return end->peer == FORS_NONE ? FORS_NONE : net->node[end->peer].first_port + end->peer_port;
	}
	return net->node[fors_tree_first_node(tree, level) + x].first_port + fors_tree_ports_down(tree, level) + port +
	       1;
}

enum fors_err fors_tree_graph(const struct fors_tree *tree, struct fors_graph **graph, struct fors_error *error)
{
	struct fors_graph *g;
	uint32_t nnodes = fors_tree_first_node(tree, 0) + tree->servers;
	enum fors_err err = fors_graph_new(nnodes, 2 * tree->cables, tree->servers, &g, error);

	if (err)
		return err;
	for (unsigned level = 0; level < tree->height; level++) {
		uint32_t first = fors_tree_first_node(tree, level), above = fors_tree_first_node(tree, level + 1);

		for (uint32_t x = 0; x < fors_tree_nodes(tree, level); x++)
			for (uint32_t port = 0; port < fors_tree_ports_up(tree, level); port++) {
				uint32_t up = fors_tree_up(tree, level, x, port),
					 down = fors_tree_down(tree, level, x, port);

				g->from[up] = g->to[down] = first + x;
				g->to[up] = g->from[down] = above + fors_tree_parent(tree, level, x, port);
			}
	}
	for (uint32_t s = 0; s < tree->servers; s++) {
		g->server[s] = fors_tree_first_node(tree, 0) + s;
		g->is_terminal[g->server[s]] = true;
	}
	*graph = g;
	return FORS_OK;
}
