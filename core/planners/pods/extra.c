/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * extra.c - entries for LIDs that are not those of servers below leaves: of switches, and of guests on mids and tops.
 *
 * For each switch with such LIDs, from it outwards: who is above it and gets down to it; then, from the tops down, who
 * gets up to one that does. Each takes the first such port from a place on that depends on the LID, counted over the
 * ports that were ever cabled: so LIDs spread, and a failure moves only what went over it. A top gets to another top,
 * and a mid to another one of its pod, by going down and up again only, which could close a circle of packets that
 * wait: there is no way. Cables that are drained are for those who have no other. A switch that is on no level, since no cable joins
 * it to the tree, has the entries of what is its own: nobody gets there, and nobody has to.
 *
 * There is such a LID for every switch, and each asks all switches for a port: so cables are listed before, and who is not
 * above anybody that gets there is not asked.
 */
#include "extra.h"

#include <stdlib.h>
#include <string.h>

/* A cable of a switch to another one, known or alive. */
struct cable {
	uint32_t peer; /* node of known */
	uint8_t port;
	bool lives, passes; /* passes: also when it is drained */
};

struct work {
	const struct fors_pods *pods;
	struct fors_lfts *lfts;
	const uint32_t *row_of;
	uint32_t *now_of; /* per node of known */
	bool *gets;	  /* per node of known: it has a way to the target */
	bool *is_above;	  /* per node of known: it has a cable to one below it that has */
	bool any_drained;
	struct cable *cable;
	uint32_t *begin; /* [2 * node + up]: where its cables begin in cable[], those down, then those up; by port */
	uint8_t *before; /* [2 * port of known + up]: how many of them the node has at lower ports */
};

static uint8_t *entry_of(const struct work *w, uint32_t node, uint32_t lid)
{
	return &w->lfts->port[(size_t)w->row_of[w->now_of[node]] * w->lfts->nlids + lid];
}

/* The first port that lives, up or down, from a port on, to a switch that gets there; 0: none. drained: one that is. */
static uint8_t find_port(const struct work *w, uint32_t node, bool up, uint32_t from, bool drained)
{
	const struct cable *list = w->cable + w->begin[2 * node + up];
	uint32_t n = w->begin[2 * node + up + 1] - w->begin[2 * node + up];
	uint32_t at = n ? w->before[2 * (w->pods->known->node[node].first_port + from) + up] : 0;

	for (uint32_t i = 0; i < n; i++, at++) {
		const struct cable *cable = &list[at < n ? at : at - n];

		if (w->gets[cable->peer] && (drained ? cable->passes : cable->lives))
			return cable->port;
	}
	return 0;
}

/* The switches of a level, in order. */
static const struct fors_pods_switch *list_of(const struct fors_pods *pods, uint8_t level, uint32_t *count)
{
	*count = level == FORS_PODS_LEAF ? pods->nleaves : level == FORS_PODS_MID ? pods->nmids : pods->ntops;
	return level == FORS_PODS_LEAF ? pods->leaf : level == FORS_PODS_MID ? pods->mid : pods->top;
}

/* A switch gets there: those above it may, over it. */
static void reach(const struct work *w, uint32_t node)
{
	w->gets[node] = true;
	for (uint32_t i = w->begin[2 * node + 1]; i < w->begin[2 * node + 2]; i++)
		w->is_above[w->cable[i].peer] = true;
}

/* All switches of `level` that do not get there yet, over those of the level above or below; how many. */
static uint32_t spread(const struct work *w, uint8_t level, bool up, uint32_t lid, uint32_t target)
{
	uint32_t count, found = 0, nports = 0, from = 0;
	const struct fors_pods_switch *list = list_of(w->pods, level, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = list[i].node;
		uint8_t port;

		if (list[i].now == FORS_NONE || w->gets[node] || node == target || (!up && !w->is_above[node]))
			continue;
		/* Mostly as many as the one before has, and divisions take long. */
		if (w->pods->known->node[node].nports != nports) {
			nports = w->pods->known->node[node].nports;
			from = nports ? lid % nports + 1 : 0;
		}
		port = find_port(w, node, up, from, false);
		if (!port && w->any_drained)
			port = find_port(w, node, up, from, true);
		if (!port)
			continue;
		*entry_of(w, node, lid) = port;
		if (up)
			w->gets[node] = true;
		else
			reach(w, node);
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
	memset(w->is_above, 0, w->pods->known->nnodes * sizeof(*w->is_above));
	*entry_of(w, target, lid) = port;
	reach(w, target);
	if (level == FORS_PODS_LEAF)
		mids += spread(w, FORS_PODS_MID, false, lid, target);
	if (mids)
		tops += spread(w, FORS_PODS_TOP, false, lid, target);
	if (tops)
		mids += spread(w, FORS_PODS_MID, true, lid, target);
	if (mids)
		spread(w, FORS_PODS_LEAF, true, lid, target);
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

/* The cables of a node that lead up, or those that lead down, from cable[*n] on. */
static void list_cables(struct work *w, uint32_t node, bool up, uint32_t *n)
{
	const struct fors_pods *pods = w->pods;
	const struct fors_node *known = &pods->known->node[node];
	unsigned level = pods->level[node] + (up ? 1u : -1u);

	w->begin[2 * node + up] = *n;
	for (unsigned port = 1; port <= known->nports; port++) {
		uint32_t peer = fors_pods_peer(pods, node, port);

		w->before[2 * (known->first_port + port) + up] = (uint8_t)(*n - w->begin[2 * node + up]);
		if (peer == FORS_NONE || !pods->level[node] || pods->level[peer] != level)
			continue;
		w->cable[*n] = (struct cable){peer, (uint8_t)port, fors_pods_live(pods, node, port),
					      fors_pods_passes(pods, node, port)};
		w->any_drained |= w->cable[*n].passes && !w->cable[*n].lives;
		++*n;
	}
	w->begin[2 * node + up + 1] = *n;
}

static bool allocate(struct work *w)
{
	const struct fors_net *known = w->pods->known;
	size_t nnodes = known->nnodes + (size_t)1, nports = known->nports + (size_t)1;

	w->now_of = malloc(nnodes * sizeof(*w->now_of));
	w->gets = malloc(nnodes * sizeof(*w->gets));
	w->is_above = malloc(nnodes * sizeof(*w->is_above));
	w->cable = malloc(nports * sizeof(*w->cable));
	w->begin = malloc(2 * nnodes * sizeof(*w->begin));
	w->before = malloc(2 * nports * sizeof(*w->before));
	return w->now_of && w->gets && w->is_above && w->cable && w->begin && w->before;
}

static void release(struct work *w)
{
	free(w->now_of);
	free(w->gets);
	free(w->is_above);
	free(w->cable);
	free(w->begin);
	free(w->before);
}

/* The node that a switch is now, also one on no level. */
static uint32_t find_now(const struct fors_pods *pods, uint32_t node)
{
	return pods->level[node] ? fors_pods_now(pods, node)
				 : fors_net_find_guid(pods->now, pods->known->node[node].guid);
}

enum fors_err fors_pods_extra_fill(const struct fors_pods *pods, const uint32_t *row_of, const bool *is_server,
				   struct fors_lfts *lfts, struct fors_error *error)
{
	const struct fors_net *known = pods->known;
	struct work w = {.pods = pods, .lfts = lfts, .row_of = row_of};
	enum fors_err err = allocate(&w) ? FORS_OK : fors_fail_memory(error);
	uint32_t n = 0;

	for (uint32_t node = 0; !err && node < known->nnodes; node++) {
		w.now_of[node] = find_now(pods, node);
		list_cables(&w, node, false, &n);
		list_cables(&w, node, true, &n);
	}
	for (uint32_t node = 0; !err && node < known->nnodes; node++)
		if (known->node[node].type == FORS_SWITCH && w.now_of[node] != FORS_NONE)
			fill_switch(&w, node, is_server);
	release(&w);
	return err;
}
