/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odds3.c - entries for LIDs that are not those of servers below leaves: of switches, and of guests on mids and tops.
 *
 * For each switch with such LIDs, from it outwards: who is above it and gets down to it; then, from the tops down, who
 * gets up to one that does. Each takes the first such port from a place on that depends on the LID, counted over the
 * ports that were ever cabled: so LIDs spread, and a failure moves only what went over it. A top gets to another top,
 * and a mid to another one of its pod, by going down and up again only, which could close a circle of packets that
 * wait: there is no way. Cables that are drained are for those who have no other.
 */
#include "odds3.h"

#include <stdlib.h>
#include <string.h>

struct work {
	const struct fors_pods *pods;
	struct fors_lfts *lfts;
	const uint32_t *row_of;
	uint32_t *now_of; /* per node of known */
	bool *gets;	  /* per node of known: it has a way to the target */
};

static uint8_t *entry_of(const struct work *w, uint32_t node, uint32_t lid)
{
	return &w->lfts->port[(size_t)w->row_of[w->now_of[node]] * w->lfts->nlids + lid];
}

/* The first port that lives, from a place on, to a switch of `level` that gets there; 0: none. drained: one that is. */
static uint8_t find_port(const struct work *w, uint32_t node, uint8_t level, uint32_t from, bool drained)
{
	unsigned nports = w->pods->known->node[node].nports;

	for (unsigned i = 0; i < nports; i++) {
		unsigned port = (from + i) % nports + 1;
		uint32_t peer = fors_pods_peer(w->pods, node, port);

		if (peer != FORS_NONE && w->pods->level[peer] == level && w->gets[peer] &&
		    (drained ? fors_pods_passes(w->pods, node, port) : fors_pods_live(w->pods, node, port)))
			return (uint8_t)port;
	}
	return 0;
}

/* The switches of a level, in order. */
static const struct fors_pods_switch *list_of(const struct fors_pods *pods, uint8_t level, uint32_t *count)
{
	*count = level == FORS_PODS_LEAF ? pods->nleaves : level == FORS_PODS_MID ? pods->nmids : pods->ntops;
	return level == FORS_PODS_LEAF ? pods->leaf : level == FORS_PODS_MID ? pods->mid : pods->top;
}

/* All switches of `level` that do not get there yet, over those of `over`; how many. */
static uint32_t spread(const struct work *w, uint8_t level, uint8_t over, uint32_t lid, uint32_t target)
{
	uint32_t count, found = 0;
	const struct fors_pods_switch *list = list_of(w->pods, level, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = list[i].node;
		uint8_t port;

		if (list[i].now == FORS_NONE || w->gets[node] || node == target)
			continue;
		port = find_port(w, node, over, lid, false);
		if (!port)
			port = find_port(w, node, over, lid, true);
		if (!port)
			continue;
		*entry_of(w, node, lid) = port;
		w->gets[node] = true;
		found++;
	}
	return found;
}

/* One LID, at the target's own port `port`. */
static void fill_lid(const struct work *w, uint32_t target, uint32_t lid, uint8_t port)
{
	uint8_t level = w->pods->level[target];
	uint32_t mids = level == FORS_PODS_MID, tops = level == FORS_PODS_TOP; /* that get there */

	memset(w->gets, 0, w->pods->known->nnodes * sizeof(*w->gets));
	*entry_of(w, target, lid) = port;
	w->gets[target] = true;
	if (level == FORS_PODS_LEAF)
		mids += spread(w, FORS_PODS_MID, FORS_PODS_LEAF, lid, target);
	if (mids)
		tops += spread(w, FORS_PODS_TOP, FORS_PODS_MID, lid, target);
	if (tops)
		mids += spread(w, FORS_PODS_MID, FORS_PODS_TOP, lid, target);
	if (mids)
		spread(w, FORS_PODS_LEAF, FORS_PODS_MID, lid, target);
}

static void fill_port(const struct work *w, uint32_t target, const struct fors_port *owner, uint8_t port,
		      const bool *is_server)
{
	for (uint32_t i = 0; owner->lid && i < 1u << owner->lmc && owner->lid + i < w->lfts->nlids; i++)
		if (!is_server[owner->lid + i])
			fill_lid(w, target, owner->lid + i, port);
}

static void fill_switch(const struct work *w, uint32_t target, const bool *is_server)
{
	const struct fors_net *now = w->pods->now;
	uint32_t node = w->now_of[target];

	fill_port(w, target, fors_net_port(now, node, 0), 0, is_server);
	for (unsigned port = 1; port <= now->node[node].nports; port++) {
		const struct fors_port *here = fors_net_port(now, node, port);

		if (here->peer != FORS_NONE && now->node[here->peer].type != FORS_SWITCH)
			fill_port(w, target, fors_net_port(now, here->peer, here->peer_port), (uint8_t)port, is_server);
	}
}

enum fors_err fors_odds3_fill(const struct fors_pods *pods, const uint32_t *row_of, const bool *is_server,
			      struct fors_lfts *lfts, struct fors_error *error)
{
	const struct fors_net *known = pods->known;
	struct work w = {.pods = pods, .lfts = lfts, .row_of = row_of};
	enum fors_err err = FORS_OK;

	w.now_of = malloc((known->nnodes + (size_t)1) * sizeof(*w.now_of));
	w.gets = malloc((known->nnodes + (size_t)1) * sizeof(*w.gets));
	if (!w.now_of || !w.gets)
		err = fors_fail_memory(error);
	for (uint32_t node = 0; !err && node < known->nnodes; node++)
		w.now_of[node] = fors_net_find_guid(pods->now, known->node[node].guid);
	for (uint32_t node = 0; !err && node < known->nnodes; node++)
		if (pods->level[node] && w.now_of[node] != FORS_NONE)
			fill_switch(&w, node, is_server);
	free(w.now_of);
	free(w.gets);
	return err;
}
