/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* blocks.c - see blocks.h. */
#include "blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/joblines.h"

#define MAX_BLOCKS 4096

/* ---- links between them ---- */

/* Number of the pair of blocks that a link joins; SIZE_MAX: it joins none. */
static size_t pair_of(const struct fors_blocks *b, const struct fors_graph *graph, uint32_t l)
{
	uint32_t i = b->block_of[graph->from[l]], j = b->block_of[graph->to[l]];

	return i == FORS_NONE || j == FORS_NONE || i == j ? SIZE_MAX : (size_t)i * b->nblocks + j;
}

/* Counted one place on, and written one place back: so first[] is right in the end. */
static void sort_links(struct fors_blocks *b, const struct fors_graph *graph)
{
	size_t npairs = (size_t)b->nblocks * b->nblocks;

	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (pair_of(b, graph, l) != SIZE_MAX)
			b->first[pair_of(b, graph, l) + 2]++;
	for (size_t i = 0; i < npairs; i++)
		b->first[i + 2] += b->first[i + 1];
	for (uint32_t l = 0; l < graph->nlinks; l++)
		if (pair_of(b, graph, l) != SIZE_MAX)
			b->link[b->first[pair_of(b, graph, l) + 1]++] = l;
}

enum fors_err fors_blocks_new(const struct fors_graph *graph, const uint32_t *block_of, uint32_t nblocks,
			      struct fors_blocks **blocks, struct fors_error *error)
{
	struct fors_blocks *b;

	if (nblocks > MAX_BLOCKS)
		return fors_fail(error, FORS_ELIMIT, "%u blocks: there can be %d", nblocks, MAX_BLOCKS);
	b = calloc(1, sizeof(*b));
	if (!b)
		return fors_fail_memory(error);
	b->nnodes = graph->nnodes;
	b->nblocks = nblocks;
	b->block_of = malloc((graph->nnodes + (size_t)1) * sizeof(*b->block_of));
	b->first = calloc((size_t)nblocks * nblocks + 2, sizeof(*b->first));
	b->link = malloc((graph->nlinks + (size_t)1) * sizeof(*b->link));
	if (!b->block_of || !b->first || !b->link) {
		fors_blocks_free(b);
		return fors_fail_memory(error);
	}
	memcpy(b->block_of, block_of, graph->nnodes * sizeof(*b->block_of));
	sort_links(b, graph);
	*blocks = b;
	return FORS_OK;
}

void fors_blocks_free(struct fors_blocks *blocks)
{
	if (!blocks)
		return;
	free(blocks->block_of);
	free(blocks->first);
	free(blocks->link);
	free(blocks);
}

/* ---- a file ---- */

#define FAIL(lines, ...) fors_lines_fail(lines, (lines)->number, error, __VA_ARGS__)

static enum fors_err add_switch(const struct fors_lines *lines, struct fors_span what, const struct fors_net *net,
				uint32_t block, uint32_t *block_of, struct fors_error *error)
{
	char name[2 * FORS_NAME_MAX + 16];
	long room = (long)sizeof(name) - 1, length = what.end - what.at;
	unsigned port = 0;
	uint32_t node;

	snprintf(name, sizeof(name), "%.*s", (int)(length < room ? length : room), what.at);
	if (length > room || fors_net_find(net, name, &node, &port, NULL) || port ||
	    net->node[node].type != FORS_SWITCH)
		return FAIL(lines, "there is no switch \"%.*s\" in the fabric, or more than one", fors_span_width(what),
			    what.at);
	if (block_of[node] != FORS_NONE)
		return FAIL(lines, "switch \"%.*s\" is in a block already", fors_span_width(what), what.at);
	block_of[node] = block;
	return FORS_OK;
}

enum fors_err fors_blocks_read(const char *text, size_t size, const char *name, const struct fors_net *net,
			       uint32_t *block_of, uint32_t *nblocks, struct fors_error *error)
{
	struct fors_lines lines = {0};
	struct fors_jobline line;
	struct fors_span member;
	bool is_there = true;
	uint32_t n = 0;
	enum fors_err err = fors_lines_start(&lines, text, size, name, error);

	memset(block_of, 0xff, net->nnodes * sizeof(*block_of));
	while (!err && is_there) {
		err = fors_jobline_next(&lines, &line, &is_there, error);
		while (!err && is_there && fors_jobline_member(&line, &member))
			err = add_switch(&lines, member, net, n, block_of, error);
		n += !err && is_there;
	}
	if (!err && n < 2)
		err = fors_fail(error, FORS_EINPUT, "%s: two blocks at least, \"NAME: SWITCH, SWITCH, ...\"", name);
	if (!err)
		*nblocks = n;
	return err;
}
