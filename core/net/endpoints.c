/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * endpoints.c - the servers of a net in an order that depends on cables alone: by the switch, then by its port.
 */
#include "endpoints.h"

#include <stdlib.h>

struct fors_endpoint fors_endpoint_at(const struct fors_net *net, uint32_t node, unsigned port)
{
	const struct fors_port *p = fors_net_port(net, node, port);

	return (struct fors_endpoint){.guid = p->guid,
				      .node = node,
				      .leaf = p->peer,
				      .lid = p->lid,
				      .lmc = p->lmc,
				      .port = (uint8_t)port,
				      .leaf_port = p->peer_port};
}

struct ordered {
	uint64_t leaf_guid;
	struct fors_endpoint end;
};

static int by_place(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->leaf_guid != y->leaf_guid)
		return x->leaf_guid < y->leaf_guid ? -1 : 1;
	return (int)x->end.leaf_port - (int)y->end.leaf_port;
}

static uint32_t collect_ends(const struct fors_net *net, const struct fors_participants *sorted, struct ordered *list)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 1; net->node[node].type == FORS_CA && port <= net->node[node].nports; port++) {
			const struct fors_port *p = fors_net_port(net, node, port);

			if (p->peer == FORS_NONE || net->node[p->peer].type != FORS_SWITCH ||
			    !fors_participants_have(sorted, p->guid))
				continue;
			list[n++] = (struct ordered){net->node[p->peer].guid, fors_endpoint_at(net, node, port)};
		}
	return n;
}

enum fors_err fors_endpoints(const struct fors_net *net, const struct fors_participants *participants,
			     struct fors_endpoint **list, uint32_t *count, struct fors_error *error)
{
	struct ordered *ordered = calloc(net->nports + (size_t)1, sizeof(*ordered));
	struct fors_endpoint *ends = calloc(net->nports + (size_t)1, sizeof(*ends));
	struct fors_participants sorted = {0};
	enum fors_err err = fors_participants_sort(participants, &sorted, error);

	if (err || !ordered || !ends) {
		free(ordered);
		free(ends);
		free(sorted.guid);
		return err ? err : fors_fail_memory(error);
	}
	*count = collect_ends(net, &sorted, ordered);
	free(sorted.guid);
	qsort(ordered, *count, sizeof(*ordered), by_place);
	for (uint32_t i = 0; i < *count; i++)
		ends[i] = ordered[i].end;
	free(ordered);
	*list = ends;
	return FORS_OK;
}
