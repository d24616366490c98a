/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * levels.c - see levels.h. The senders are servers, the receivers LIDs: an engine may lead the LIDs of one server over
 * different ways, and each has a level of its own; but where a packet comes from does not change its way.
 */
#include "levels.h"

#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "daemon/base/digest.h"

/* Give a server its number, and each of its LIDs one. */
static void add_server(struct fors_levels *levels, const struct fors_port *port)
{
	uint32_t end = port->lid + (1u << port->lmc);

	levels->base[levels->nservers] = port->lid;
	for (uint32_t lid = port->lid; lid < end && lid < levels->lid_end; lid++) {
		if (levels->server_of[lid] != FORS_NONE)
			continue; /* OpenSM's tables contradict themselves: the first one has it */
		levels->server_of[lid] = levels->nservers;
		levels->column_of[lid] = levels->nlids;
		levels->lid[levels->nlids++] = (uint16_t)lid;
	}
	levels->nservers++;
}

static void add_servers(struct fors_levels *levels, const struct fors_net *net, const struct fors_participants *sorted)
{
	for (uint32_t node = 0; node < net->nnodes; node++) {
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(net, node, p);

			if (port->lid && port->peer != FORS_NONE && fors_participants_have(sorted, port->guid))
				add_server(levels, port);
		}
	}
}

static struct fors_levels *make(uint32_t lid_end)
{
	struct fors_levels *levels = calloc(1, sizeof(*levels));

	if (!levels)
		return NULL;
	levels->lid_end = lid_end;
	levels->server_of = malloc(lid_end * sizeof(*levels->server_of));
	levels->column_of = calloc(lid_end, sizeof(*levels->column_of));
	levels->lid = calloc(lid_end, sizeof(*levels->lid));
	levels->base = calloc(lid_end, sizeof(*levels->base)); /* a server has a LID at least */
	if (levels->server_of && levels->column_of && levels->lid && levels->base) {
		for (uint32_t lid = 0; lid < lid_end; lid++)
			levels->server_of[lid] = FORS_NONE;
		return levels;
	}
	fors_levels_free(levels);
	return NULL;
}

static enum fors_err make_paths(struct fors_levels *levels, struct fors_error *error)
{
	uint64_t count = (uint64_t)levels->nservers * levels->nlids;

	if (count > FORS_LEVELS_MAX)
		return fors_fail(error, FORS_ELIMIT, "%llu paths between the servers, more than %u",
				 (unsigned long long)count, FORS_LEVELS_MAX);
	levels->sl = calloc(count + 1, sizeof(*levels->sl));
	return levels->sl ? FORS_OK : fors_fail_memory(error);
}

enum fors_err fors_levels_new(const struct fors_net *net, const struct fors_participants *participants, bool has_paths,
			      struct fors_levels **levels, struct fors_error *error)
{
	struct fors_participants sorted = {NULL, 0};
	struct fors_levels *made = make(fors_net_lid_end(net));
	enum fors_err err = made ? fors_participants_sort(participants, &sorted, error) : fors_fail_memory(error);

	if (!err)
		add_servers(made, net, &sorted);
	if (!err && has_paths)
		err = make_paths(made, error);
	free(sorted.guid);
	if (err)
		fors_levels_free(made);
	else
		*levels = made;
	return err;
}

void fors_levels_free(struct fors_levels *levels)
{
	if (!levels)
		return;
	free(levels->server_of);
	free(levels->column_of);
	free(levels->lid);
	free(levels->base);
	free(levels->sl);
	free(levels);
}

uint8_t fors_levels_find(void *context, uint32_t src_lid, uint32_t dst_lid)
{
	const struct fors_levels *levels = context;

	if (!levels || src_lid >= levels->lid_end || dst_lid >= levels->lid_end ||
	    levels->server_of[src_lid] == FORS_NONE || levels->server_of[dst_lid] == FORS_NONE)
		return FORS_NO_SL;
	if (!levels->sl)
		return levels->all;
	return levels->sl[(size_t)levels->server_of[src_lid] * levels->nlids + levels->column_of[dst_lid]];
}

uint64_t fors_levels_digest(uint64_t before, const struct fors_levels *levels)
{
	if (!levels)
		return before;
	before = fors_digest(before, levels->lid, levels->nlids * sizeof(*levels->lid));
	if (levels->sl)
		return fors_digest(before, levels->sl, (size_t)levels->nservers * levels->nlids);
	return fors_digest(before, &levels->all, sizeof(levels->all));
}
