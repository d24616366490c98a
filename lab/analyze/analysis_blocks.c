/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* analysis_blocks.c - blocks of switches, for ways that detour by them: those of a file, or a synthetic Dragonfly's groups. */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/graph_spec.h"

struct reading {
	const struct fors_net *net;
	uint32_t *block_of, nblocks;
	const char *path; /* of the file that says so; NULL: nobody's */
	uint32_t *line;	  /* per block, where it stands there */
};

static enum fors_err read_blocks(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct reading *r = context;

	return fors_blocks_read(text, size, path, r->net, r->block_of, r->line, &r->nblocks, error);
}

/* Of the i-th switch of a network with groups, with its name. */
static uint32_t group_of(const struct fors_graph_spec *spec, uint32_t i, char *name, size_t room)
{
	if (spec->kind != FORS_DFPLUS) {
		snprintf(name, room, "Switch%02u", i);
		return i / spec->size[0];
	}
	if (i < spec->nleaves) {
		snprintf(name, room, "Leaf%02u", i);
		return i / spec->size[0];
	}
	snprintf(name, room, "Spine%02u", i - spec->nleaves);
	return (i - spec->nleaves) / spec->size[1];
}

static bool has_groups(enum fors_graph_kind kind)
{
	return kind == FORS_DRAGONFLY || kind == FORS_DFPLUS || kind == FORS_FLEXFLY || kind == FORS_FLEXSPANDER;
}

/* The groups of a synthetic fabric; none where it has none. */
static enum fors_err find_groups(const char *text, struct reading *r, struct fors_error *error)
{
	struct fors_graph_spec spec = {0};
	char name[32];
	unsigned port;
	uint32_t node;
	enum fors_err err;

	if (!text || !fors_graph_spec_begins(text))
		return FORS_OK;
	err = fors_graph_spec_parse(text, &spec, error);
	for (uint32_t i = 0; !err && has_groups(spec.kind) && i < spec.nswitches; i++) {
		uint32_t group = group_of(&spec, i, name, sizeof(name));

		r->nblocks = group + 1 > r->nblocks ? group + 1 : r->nblocks;
		if (!fors_net_find(r->net, name, &node, &port, NULL))
			r->block_of[node] = group;
	}
	fors_graph_spec_clear(&spec);
	return err;
}

static enum fors_err fail_pair(const struct reading *r, uint32_t i, uint32_t j, struct fors_error *error)
{
	if (r->path)
		return fors_fail(error, FORS_EINPUT,
				 "%s:%u: no cable leads from this block to that of line %u: TAGO needs one between "
				 "each two",
				 r->path, r->line[i], r->line[j]);
	return fors_fail(error, FORS_EINPUT,
			 "no cable leads from block %u to block %u (numbered from 0): TAGO needs one between each two",
			 i, j);
}

/* TAGO takes one global link: each two blocks have to have one. */
static enum fors_err check_pairs(const struct fors_blocks *blocks, const struct reading *r, struct fors_error *error)
{
	uint32_t count;

	for (uint32_t i = 0; i < blocks->nblocks; i++)
		for (uint32_t j = 0; j < blocks->nblocks; j++) {
			fors_blocks_links(blocks, i, j, &count);
			if (i != j && !count)
				return fail_pair(r, i, j, error);
		}
	return FORS_OK;
}

/* Who sends from a switch that was forgotten would go another way than the policy's, and nobody would know. */
static enum fors_err check_servers(const struct fors_graph *graph, const struct reading *r, struct fors_error *error)
{
	for (uint32_t l = 0; r->path && l < graph->nlinks; l++)
		if (graph->is_terminal[graph->from[l]] && r->block_of[graph->to[l]] == FORS_NONE)
			return fors_fail(error, FORS_EINPUT, "%s: switch \"%s\" has servers and is in no block",
					 r->path, fors_node_name(r->net, graph->to[l]));
	return FORS_OK;
}

static enum fors_err make_blocks(const struct fors_graph *graph, const struct reading *r, bool is_tago,
				 struct fors_blocks **blocks, struct fors_error *error)
{
	enum fors_err err = fors_blocks_new(graph, r->block_of, r->nblocks, blocks, error);

	if (!err && is_tago)
		err = check_pairs(*blocks, r, error);
	return err ? err : check_servers(graph, r, error);
}

static int find_blocks(const struct cli_settings *settings, bool is_tago, const struct fors_graph *graph,
		       struct reading *r, struct fors_blocks **blocks)
{
	struct fors_error error = {0};
	int code = CLI_GOOD;

	memset(r->block_of, 0xff, graph->nnodes * sizeof(*r->block_of));
	if (r->path)
		code = cli_use_file(r->path, read_blocks, r);
	else if (find_groups(settings->source.synthetic, r, &error))
		code = cli_fail(&error);
	if (!code && is_tago && !r->nblocks)
		return cli_usage_error("--policy tago needs --blocks FILE (a Dragonfly of --synthetic has its groups)");
	if (!code && r->nblocks && make_blocks(graph, r, is_tago, blocks, &error))
		code = cli_fail(&error);
	return code;
}

int cli_analysis_blocks(const struct cli_settings *settings, bool is_tago, const struct cli_analysis *a,
			struct fors_blocks **blocks)
{
	const struct fors_graph *graph = a->router.graph;
	struct reading r = {.net = a->routes ? a->routes->net : NULL, .path = cli_lab(settings)->simulate.blocks};
	int code;

	if (!r.net)
		return r.path || is_tago ? cli_usage_error("blocks are of switches with names; this fabric has none")
					 : CLI_GOOD;
	r.block_of = malloc((graph->nnodes + (size_t)1) * sizeof(*r.block_of));
	r.line = calloc(graph->nnodes + (size_t)1, sizeof(*r.line));
	if (r.block_of && r.line)
		code = find_blocks(settings, is_tago, graph, &r, blocks);
	else
		code = cli_fail(&(struct fors_error){FORS_ENOMEM, "out of memory"});
	free(r.block_of);
	free(r.line);
	return code;
}
