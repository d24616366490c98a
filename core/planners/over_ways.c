/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_ways.c - the ways of a problem as a schedule names them.
 *
 * The level of a switch is how far it is from the nearest one with servers. Where every cable between switches joins
 * neighbouring levels the net is taken for a tree, and a way that climbs, then descends, has a topmost switch. A torus with
 * servers everywhere has level 0 only, so there are no tops.
 */
#include "over_ways.h"

#include <stdlib.h>
#include <string.h>

struct writer {
	const struct fors_flows_routed *routed;
	struct fors_waylist *ways;
	uint32_t *level; /* per node; NULL: this is no tree */
};

/* ---- levels ---- */

/* Breadth first from all switches with servers at once. */
static void measure(const struct fors_flows_routed *routed, uint32_t *level, uint32_t *queue)
{
	const struct fors_net *net = routed->net;
	uint32_t end = routed->nswitches;

	memset(level, 0xFF, net->nnodes * sizeof(*level));
	memcpy(queue, routed->node, routed->nswitches * sizeof(*queue));
	for (uint32_t i = 0; i < end; i++)
		level[queue[i]] = 0;
	for (uint32_t i = 0; i < end; i++)
		for (unsigned port = 1; port <= net->node[queue[i]].nports; port++) {
			uint32_t peer = fors_peer_switch(net, queue[i], port);

			if (peer == FORS_NONE || level[peer] != FORS_NONE)
				continue;
			level[peer] = level[queue[i]] + 1;
			queue[end++] = peer;
		}
}

static bool is_tree(const struct fors_net *net, const uint32_t *level)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 1; level[node] != FORS_NONE && port <= net->node[node].nports; port++) {
			uint32_t peer = fors_peer_switch(net, node, port);

			if (peer != FORS_NONE && level[peer] + 1 != level[node] && level[node] + 1 != level[peer])
				return false;
		}
	return true;
}

static enum fors_err find_levels(struct writer *w, struct fors_error *error)
{
	const struct fors_net *net = w->routed->net;
	uint32_t *queue = malloc((net->nnodes + (size_t)1) * sizeof(*queue));

	w->level = malloc((net->nnodes + (size_t)1) * sizeof(*w->level));
	if (!queue || !w->level) {
		free(queue);
		return fors_fail_memory(error);
	}
	measure(w->routed, w->level, queue);
	free(queue);
	if (!is_tree(net, w->level)) {
		free(w->level);
		w->level = NULL;
	}
	return FORS_OK;
}

/* Which of these nodes is the topmost one. */
static uint8_t top_of(const struct writer *w, const uint32_t *node, uint32_t n)
{
	uint32_t top = 0;

	if (!w->level || n == 1)
		return FORS_WAY_NO_TOP;
	while (top + 1 < n && w->level[node[top + 1]] > w->level[node[top]])
		top++;
	for (uint32_t i = top; i + 1 < n; i++)
		if (w->level[node[i + 1]] >= w->level[node[i]])
			return FORS_WAY_NO_TOP;
	return (uint8_t)top;
}

/* ---- ways ---- */

static enum fors_err put(struct writer *w, uint32_t s, uint32_t d, uint32_t path, struct fors_error *error)
{
	const struct fors_flows_routed *routed = w->routed;
	const struct fors_flows_problem *p = &routed->problem;
	uint32_t way = (s * p->ndests + d) * p->npaths + path, n = 0, at = routed->node[s];
	struct fors_way_hop hop[FORS_FLOWS_MOST_LINKS + 1];
	uint32_t node[FORS_FLOWS_MOST_LINKS + 1];

	if (!p->exists[way])
		return FORS_OK;
	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++) {
		uint32_t port = routed->link_port[p->link[i]];

		node[n] = at;
		hop[n++] = (struct fors_way_hop){routed->net->node[at].guid,
						 (uint8_t)(port - routed->net->node[at].first_port)};
		at = routed->net->port[port].peer;
	}
	node[n] = at;
	hop[n++] = (struct fors_way_hop){routed->net->node[at].guid, 0};
	return fors_waylist_put(w->ways, s, d, path, hop, n, top_of(w, node, n), error);
}

static enum fors_err put_all(struct writer *w, struct fors_error *error)
{
	const struct fors_flows_problem *p = &w->routed->problem;
	enum fors_err err = FORS_OK;

	for (uint32_t s = 0; !err && s < p->nswitches; s++)
		for (uint32_t d = 0; !err && d < p->ndests; d++)
			for (uint32_t path = 0; !err && path < p->npaths; path++)
				err = put(w, s, d, path, error);
	return err;
}

static enum fors_err start(struct writer *w, struct fors_error *error)
{
	const struct fors_flows_routed *routed = w->routed;
	uint64_t *guid = malloc((routed->nswitches + (size_t)1) * sizeof(*guid));
	enum fors_err err;

	if (!guid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < routed->nswitches; s++)
		guid[s] = routed->net->node[routed->node[s]].guid;
	err = fors_waylist_new(routed->nswitches, guid, routed->nservers, routed->problem.npaths, &w->ways, error);
	free(guid);
	return err;
}

enum fors_err fors_over_ways(const struct fors_flows_routed *routed, struct fors_waylist **ways,
			     struct fors_error *error)
{
	struct writer w = {.routed = routed};
	enum fors_err err = start(&w, error);

	if (!err)
		err = find_levels(&w, error);
	if (!err)
		err = put_all(&w, error);
	free(w.level);
	if (err) {
		fors_waylist_free(w.ways);
		return err;
	}
	fors_waylist_trim(w.ways);
	*ways = w.ways;
	return FORS_OK;
}
