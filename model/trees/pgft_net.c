/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pgft_net.c - a fat-tree as a net, and as the graph of the performance model.
 *
 * Switch x of level k has its children on ports 1.. (child c of m, cable j of p: port c p + j + 1) and its parents
 * after them. Its children stand in the subtrees below its own, its parents share its digits.
 */
#include "pgft_net.h"

#include <stdio.h>

#define MAX_PORTS 254
#define FIRST_CA_GUID 0x100000
#define FIRST_SWITCH_GUID 0x200000

/* The number of the parent that cable `port` of node x of `level` leads to. */
static uint32_t parent_of(const struct fors_pgft *tree, unsigned level, uint32_t x, uint32_t port)
{
	uint32_t subtree = x / tree->roots[level] / tree->m[level];

	return subtree * tree->roots[level + 1] + port / tree->p[level] * tree->roots[level] + x % tree->roots[level];
}

/* Which port of its parent that is, 0..: children first. */
static uint32_t parent_port(const struct fors_pgft *tree, unsigned level, uint32_t x, uint32_t port)
{
	return x / tree->roots[level] % tree->m[level] * tree->p[level] + port % tree->p[level];
}

/* Cables down and up of a node of this level. */
static uint32_t ports_down(const struct fors_pgft *tree, unsigned level)
{
	return level ? tree->m[level - 1] * tree->p[level - 1] : 0;
}

static uint32_t ports_up(const struct fors_pgft *tree, unsigned level)
{
	return level < tree->height ? tree->w[level] * tree->p[level] : 0;
}

/* Index in the net of the first node of a level: switches from the bottom, then servers. */
static uint32_t first_node(const struct fors_pgft *tree, unsigned level)
{
	uint32_t first = 0;
	unsigned end = level ? level : tree->height + 1;

	for (unsigned i = 1; i < end; i++)
		first += fors_pgft_nodes(tree, i);
	return first;
}

static enum fors_err check_ports(const struct fors_pgft *tree, struct fors_error *error)
{
	if (ports_up(tree, 0) > 1)
		return fors_fail(error, FORS_ENOTAPPL,
				 "a server of this tree has %u ports, which are %u servers to fors; "
				 "a net needs w0 = 1 and p0 = 1",
				 ports_up(tree, 0), ports_up(tree, 0));
	for (unsigned i = 1; i <= tree->height; i++)
		if ((uint64_t)ports_down(tree, i) + ports_up(tree, i) > MAX_PORTS)
			return fors_fail(error, FORS_ELIMIT,
					 "a level-%u switch of this tree needs %u ports, a switch has at most %u", i,
					 ports_down(tree, i) + ports_up(tree, i), MAX_PORTS);
	return FORS_OK;
}

static void switch_name(const struct fors_pgft *tree, unsigned level, uint32_t x, char *name)
{
	if (level > 1 && level < tree->height)
		snprintf(name, FORS_NAME_MAX, "Mid%u-%02u", level, x);
	else
		snprintf(name, FORS_NAME_MAX, "%s%02u", level == 1 ? "Leaf" : "Spine", x);
}

static enum fors_err add_switches(struct fors_net *net, const struct fors_pgft *tree, struct fors_error *error)
{
	uint64_t guid = FIRST_SWITCH_GUID;
	enum fors_err err = FORS_OK;
	char name[FORS_NAME_MAX];
	uint32_t node;

	for (unsigned level = 1; level <= tree->height; level++)
		for (uint32_t x = 0; x < fors_pgft_nodes(tree, level) && !err; x++) {
			switch_name(tree, level, x, name);
			err = fors_net_add_node(net, FORS_SWITCH, ports_down(tree, level) + ports_up(tree, level),
						guid++, name, name, &node, error);
		}
	return err;
}

static enum fors_err add_servers(struct fors_net *net, const struct fors_pgft *tree, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	char name[FORS_NAME_MAX];
	uint32_t node;

	for (uint32_t s = 0; s < tree->servers && !err; s++) {
		snprintf(name, sizeof(name), "Node%02u-%02u", s / tree->m[0], s % tree->m[0]);
		err = fors_net_add_node(net, FORS_CA, 1, FIRST_CA_GUID + 2 * (uint64_t)s, name, name, &node, error);
		if (!err)
			fors_net_port(net, node, 1)->guid = FIRST_CA_GUID + 2 * (uint64_t)s + 1;
	}
	return err;
}

static enum fors_err add_cables(struct fors_net *net, const struct fors_pgft *tree, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned level = 0; level < tree->height; level++)
		for (uint32_t x = 0; x < fors_pgft_nodes(tree, level); x++)
			for (uint32_t port = 0; port < ports_up(tree, level) && !err; port++)
				err = fors_net_connect(net, first_node(tree, level) + x,
						       ports_down(tree, level) + port + 1,
						       first_node(tree, level + 1) + parent_of(tree, level, x, port),
						       parent_port(tree, level, x, port) + 1, error);
	return err;
}

enum fors_err fors_pgft_net(const struct fors_pgft *tree, struct fors_net **net, struct fors_error *error)
{
	struct fors_net *result;
	enum fors_err err = check_ports(tree, error);

	if (err)
		return err;
	result = fors_net_new();
	if (!result)
		return fors_fail_memory(error);
	err = add_switches(result, tree, error);
	if (!err)
		err = add_servers(result, tree, error);
	if (!err)
		err = add_cables(result, tree, error);
	if (!err)
		err = fors_net_index(result, error);
	if (err) {
		fors_net_free(result);
		return err;
	}
	*net = result;
	return FORS_OK;
}

uint32_t fors_pgft_net_server(const struct fors_pgft *tree)
{
	return first_node(tree, 0);
}

uint32_t fors_pgft_net_port(const struct fors_pgft *tree, const struct fors_net *net, uint32_t link)
{
	uint32_t cable = link % tree->cables, up, x, port, node;
	unsigned level = 0;

	while (cable >= tree->first[level + 1])
		level++;
	up = ports_up(tree, level);
	x = (cable - tree->first[level]) / up;
	port = (cable - tree->first[level]) % up;
	if (link < tree->cables)
		return net->node[first_node(tree, level) + x].first_port + ports_down(tree, level) + port + 1;
	node = first_node(tree, level + 1) + parent_of(tree, level, x, port);
	return net->node[node].first_port + parent_port(tree, level, x, port) + 1;
}

enum fors_err fors_pgft_graph(const struct fors_pgft *tree, struct fors_graph **graph, struct fors_error *error)
{
	struct fors_graph *g;
	uint32_t nnodes = first_node(tree, 0) + tree->servers;
	enum fors_err err = fors_graph_new(nnodes, 2 * tree->cables, tree->servers, &g, error);

	if (err)
		return err;
	for (unsigned level = 0; level < tree->height; level++)
		for (uint32_t x = 0; x < fors_pgft_nodes(tree, level); x++)
			for (uint32_t port = 0; port < ports_up(tree, level); port++) {
				uint32_t up = fors_pgft_up(tree, level, x, port),
					 down = fors_pgft_down(tree, level, x, port);

				g->from[up] = g->to[down] = first_node(tree, level) + x;
				g->to[up] = g->from[down] =
					first_node(tree, level + 1) + parent_of(tree, level, x, port);
			}
	for (uint32_t s = 0; s < tree->servers; s++) {
		g->server[s] = first_node(tree, 0) + s;
		g->is_terminal[g->server[s]] = true;
	}
	*graph = g;
	return FORS_OK;
}
