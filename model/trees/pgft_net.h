/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pgft_net.h - a fat-tree (pgft.h) as a net and as a graph.
 * Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_MODEL_TREES_PGFT_NET_H
#define FORS_MODEL_TREES_PGFT_NET_H

#include "model/graph/graph.h"
#include "pgft.h"

/*
 * The net of a tree, indexed, without LIDs, owned by the caller: switches level by level, then the servers,
 * named, ordered and numbered as fors_synthetic() does (XGFT(2;S,M;1,S) gives the net of FT(2;S,M)): Leaf00 (level
 * 1), Spine00 (level h), Mid2-00 (between), Node<leaf>-<slot>; a switch has its children first, then
 * its parents, cables of a pair side by side. Errors: FORS_ENOMEM; FORS_ELIMIT where a switch would have more than
 * 254 ports; FORS_ENOTAPPL where a server would have several ports, which to fors are several servers.
 */
enum fors_err fors_pgft_net(const struct fors_pgft *tree, struct fors_net **net, struct fors_error *error);

/* The port of that net, as an index into net->port, that sends over a directed link of the tree. */
uint32_t fors_pgft_net_port(const struct fors_pgft *tree, const struct fors_net *net, uint32_t link);

/* The node of server 0 in that net; the others follow. */
uint32_t fors_pgft_net_server(const struct fors_pgft *tree);

/* The graph of a tree, owned by the caller; links are those of fors_pgft_up() and fors_pgft_down(). Errors: FORS_ENOMEM. */
enum fors_err fors_pgft_graph(const struct fors_pgft *tree, struct fors_graph **graph, struct fors_error *error);

#endif
