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

/* The node that a line means, which has to be a switch. */
static enum fors_err find_switch(const struct fors_lines *lines, struct fors_span what, const struct fors_net *net,
				 uint32_t *node, struct fors_error *error)
{
	char name[2 * FORS_NAME_MAX + 16];
	long room = (long)sizeof(name) - 1, length = what.end - what.at;
	struct fors_error why = {0};
	unsigned port = 0;

	snprintf(name, sizeof(name), "%.*s", (int)(length < room ? length : room), what.at);
	if (length > room)
		return FAIL(lines, "there is no switch \"%.*s...\" in the fabric", fors_span_width(what), what.at);
	if (fors_net_find(net, name, node, &port, &why))
		return FAIL(lines, "there is no such switch, or more than one: %s", why.text);
	if (port)
		return FAIL(lines, "\"%.*s\" is a port, here switches are expected", fors_span_width(what), what.at);
	if (net->node[*node].type != FORS_SWITCH)
		return FAIL(lines, "\"%.*s\" is no switch", fors_span_width(what), what.at);
	return FORS_OK;
}

static enum fors_err add_switch(const struct fors_lines *lines, struct fors_span what, const struct fors_net *net,
				const uint32_t *line_of, uint32_t block, uint32_t *block_of, struct fors_error *error)
{
	uint32_t node;
	enum fors_err err = find_switch(lines, what, net, &node, error);

	if (err)
		return err;
	if (block_of[node] == block)
		return FAIL(lines, "switch \"%.*s\" is named twice", fors_span_width(what), what.at);
	if (block_of[node] != FORS_NONE)
		return FAIL(lines, "switch \"%.*s\" is in a block already, that of line %u", fors_span_width(what),
			    what.at, line_of[block_of[node]]);
	block_of[node] = block;
	return FORS_OK;
}

/* A line that jobs may have, and blocks may not; name: of the blocks before, `block` of them, and then of this one too. */
static enum fors_err check_line(const struct fors_lines *lines, const struct fors_jobline *line,
				const uint32_t *line_of, uint32_t block, struct fors_span *name,
				struct fors_error *error)
{
	size_t length = (size_t)(line->name.end - line->name.at);

	if (block == MAX_BLOCKS)
		return FAIL(lines, "this is one block more than there can be, %d", MAX_BLOCKS);
	if (!fors_span_is_empty(line->mark))
		return FAIL(lines, "blocks have no marks like [%.*s]", fors_span_width(line->mark), line->mark.at);
	for (uint32_t i = 0; i < block; i++)
		if ((size_t)(name[i].end - name[i].at) == length && !memcmp(name[i].at, line->name.at, length))
			return FAIL(lines, "block \"%.*s\" is there already, in line %u", fors_span_width(line->name),
				    line->name.at, line_of[i]);
	name[block] = line->name;
	return FORS_OK;
}

/* One block, with at least one switch. */
static enum fors_err read_block(const struct fors_lines *lines, struct fors_jobline *line, const struct fors_net *net,
				const uint32_t *line_of, uint32_t block, uint32_t *block_of, struct fors_error *error)
{
	struct fors_span member;
	bool is_empty = true;
	enum fors_err err = FORS_OK;

	while (!err && fors_jobline_member(line, &member)) {
		err = add_switch(lines, member, net, line_of, block, block_of, error);
		is_empty = false;
	}
	if (!err && is_empty)
		return FAIL(lines, "block \"%.*s\" has no switch", fors_span_width(line->name), line->name.at);
	return err;
}

/* name: room for MAX_BLOCKS. */
static enum fors_err read_all(struct fors_lines *lines, const struct fors_net *net, struct fors_span *name,
			      uint32_t *block_of, uint32_t *line_of, uint32_t *nblocks, struct fors_error *error)
{
	struct fors_jobline line;
	bool is_there = true;
	uint32_t n = 0;
	enum fors_err err = FORS_OK;

	while (!err) {
		if (fors_jobline_next(lines, &line, &is_there, error))
			return FAIL(lines, "\"NAME: SWITCH, SWITCH, ...\" is expected");
		if (!is_there)
			break;
		err = check_line(lines, &line, line_of, n, name, error);
		if (err)
			return err;
		err = read_block(lines, &line, net, line_of, n, block_of, error);
		if (!err)
			line_of[n++] = lines->number;
	}
	if (!err && n < 2)
		err = FAIL(lines, "the text ends, but two blocks at least are expected, \"NAME: SWITCH, SWITCH, ...\"");
	*nblocks = n;
	return err;
}

enum fors_err fors_blocks_read(const char *text, size_t size, const char *name, const struct fors_net *net,
			       uint32_t *block_of, uint32_t *line_of, uint32_t *nblocks, struct fors_error *error)
{
	struct fors_lines lines = {0};
	struct fors_span *names = malloc(MAX_BLOCKS * sizeof(*names));
	uint32_t n = 0;
	enum fors_err err = names ? fors_lines_start(&lines, text, size, name, error) : fors_fail_memory(error);

	memset(block_of, 0xff, net->nnodes * sizeof(*block_of));
	if (!err)
		err = read_all(&lines, net, names, block_of, line_of, &n, error);
	if (!err)
		*nblocks = n;
	free(names);
	return err;
}
