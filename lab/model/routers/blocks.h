/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blocks.h - switches that belong together: groups of a Dragonfly, pods, and the links from one to another (Teh et al.,
 * "TAGO: Rethinking Routing Design in High Performance Reconfigurable Networks").
 *
 * Each switch is in at most one block. A link is global when its ends are switches of two blocks. TAGO sends from block i
 * to block j by way of a switch s of i with weight l_j(s) / sum over s' in i of l_j(s'), l_j(s) the links of s to j
 * (their equation 3); which is to take one of the global links from i to j, all equally likely.
 * Thread rules: plain data once made; any number of readers.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_BLOCKS_H
#define FORS_LAB_MODEL_ROUTERS_BLOCKS_H

#include "lab/model/graph/graph.h"

struct fors_blocks {
	uint32_t nnodes, nblocks;
	uint32_t *block_of; /* nnodes: FORS_NONE: in none */
	size_t *first;	    /* nblocks * nblocks + 1: links from block i to j are link[first[i * nblocks + j]] .. */
	uint32_t *link;	    /* ascending */
};

/*
 * The blocks of a graph in *blocks, owned by the caller; block_of (nnodes, numbers below nblocks, or FORS_NONE) is
 * copied. Errors: FORS_ELIMIT (more than 4,096 blocks), FORS_ENOMEM.
 */
enum fors_err fors_blocks_new(const struct fors_graph *graph, const uint32_t *block_of, uint32_t nblocks,
			      struct fors_blocks **blocks, struct fors_error *error);
void fors_blocks_free(struct fors_blocks *blocks);

/*
 * Blocks by the lines "NAME: SWITCH, SWITCH, ..." of a text into block_of (net->nnodes of them), the line of each block
 * in line_of (the same room: each has a switch of its own) and their number in *nblocks: description, node id or GUID, as
 * fors_net_find() takes them; '#' starts a comment.
 * Errors: FORS_EINPUT "name:line: ..." (another kind of line; no switch, no such switch, or in a block already; a name twice;
 * fewer than two blocks, more than 4,096), FORS_ENOMEM.
 */
enum fors_err fors_blocks_read(const char *text, size_t size, const char *name, const struct fors_net *net,
			       uint32_t *block_of, uint32_t *line_of, uint32_t *nblocks, struct fors_error *error);

/* The links from block i to block j, and how many. */
static inline const uint32_t *fors_blocks_links(const struct fors_blocks *blocks, uint32_t i, uint32_t j,
						uint32_t *count)
{
	const size_t *first = &blocks->first[(size_t)i * blocks->nblocks + j];

	*count = (uint32_t)(first[1] - first[0]);
	return &blocks->link[first[0]];
}

/*
 * May a way between two switches make a detour over this node? Not over its own ends, nor, where there are more than two
 * blocks (may be NULL), over their blocks.
 */
static inline bool fors_is_detour(const struct fors_blocks *blocks, uint32_t node, uint32_t from, uint32_t to)
{
	if (node == from || node == to)
		return false;
	return !blocks || blocks->nblocks < 3 ||
	       (blocks->block_of[node] != blocks->block_of[from] && blocks->block_of[node] != blocks->block_of[to]);
}

#endif
