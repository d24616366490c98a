/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * extra.c - LIDs that are not behind a server slot: switches, what is no host, all on spines and on stub switches.
 *
 * They get minimum hops: leaves go up to a spine that is cabled to the target, each target starting at another lane,
 * spines straight down; over drained cables where there is nothing else, and where there is no such way, over a detour
 * (detours.c).
 *
 * A stub is a switch that hangs below one leaf, with CAs of its own (sides.h). It has no place, and no home depends on
 * it: for all others its LIDs are LIDs of the leaf's port to it, and all that is not its own it hands up to that leaf.
 */
#include "filler.h"

#include <string.h>

/* A LID range, and the switch and port where it leaves the tree. */
struct range {
	uint32_t lid, count;
	struct fors_target target;
	uint8_t port; /* 0: the switch itself */
};

/* Leaves with a spine in common go up to it; `how` as far as needed. */
static uint8_t lane_to_leaf(const struct fors_filler *w, uint32_t a, uint32_t b)
{
	for (enum fors_strictness how = FORS_LIVE_ONLY; how < FORS_NEVER; how++)
		for (uint32_t i = 0; i < w->f->nlanes; i++) {
			uint32_t k = (b + i) % w->f->nlanes;
			bool carries = how == FORS_LIVE_ONLY ? fors_live(w->f, a, k) : fors_passable(w->f, a, k);

			if (carries && fors_gets_to(w, b, w->f->lane[k].spine, how))
				return (uint8_t)k;
		}
	return FORS_NO_LANE;
}

static void find_ways(const struct fors_filler *w, struct fors_target target)
{
	fors_detours_begin(w, target);
	for (uint32_t a = 0; a < w->f->nleaves; a++)
		if (a != target.leaf)
			w->detours.up[a] = target.leaf != FORS_NONE ? lane_to_leaf(w, a, target.leaf)
								    : fors_turns_lane(w->turns, a, target.spine);
	fors_detours_complete(w, target);
}

/* Write down the ways that find_ways() found for the range's switch. */
static void fill_range(const struct fors_filler *w, const struct range *range)
{
	for (uint32_t a = 0; a < w->f->nleaves; a++)
		if (w->leaf_row[a])
			memset(w->leaf_row[a] + range->lid,
			       a == range->target.leaf ? range->port : fors_up_port(w, a, w->detours.up[a]),
			       range->count);
	for (uint32_t k = 0; k < w->f->nspines; k++)
		if (w->spine_row[k])
			memset(w->spine_row[k] + range->lid,
			       k == range->target.spine ? range->port : fors_port_to(w, k, w->detours.down[k]),
			       range->count);
}

static void fill_port(const struct fors_filler *w, const struct fors_port *port, struct fors_target target, uint8_t out)
{
	if (port->lid)
		fill_range(w, &(struct range){port->lid, 1u << port->lmc, target, out});
}

static bool has_end_node(const struct fors_net *net, uint32_t node, unsigned port)
{
	uint32_t peer = fors_net_port(net, node, port)->peer;

	return peer != FORS_NONE && net->node[peer].type != FORS_SWITCH;
}

static const struct fors_port *other_end(const struct fors_net *net, uint32_t node, unsigned port)
{
	const struct fors_port *here = fors_net_port(net, node, port);

	return fors_net_port(net, here->peer, here->peer_port);
}

/* --- stubs ---------------------------------------------------------------- */

/* The leaf at the first port of a switch that has one at its other end, or FORS_NONE. */
static uint32_t leaf_above(const struct fors_filler *w, uint32_t node, unsigned *port)
{
	for (unsigned p = 1; p <= w->f->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(w->f->net, node, p);

		for (uint32_t a = 0; peer != FORS_NONE && a < w->f->nleaves; a++)
			if (w->f->leaf[a].node == peer) {
				*port = p;
				return a;
			}
	}
	return FORS_NONE;
}

/* The table of a stub: up to its leaf, if it is still cabled to one, but for what is its own. */
static void fill_stub_row(const struct fors_filler *w, uint32_t node, uint32_t leaf, unsigned up)
{
	const struct fors_net *net = w->f->net;
	uint32_t at = fors_lfts_row(w->lfts, net->node[node].guid);
	const struct fors_port *own = fors_net_port(net, node, 0);
	uint8_t *row = w->lfts->port + (size_t)at * w->lfts->nlids;

	for (uint32_t lid = 0; leaf != FORS_NONE && lid < w->lfts->nlids; lid++)
		row[lid] = w->leaf_row[leaf][lid] == FORS_NO_PATH ? FORS_NO_PATH : (uint8_t)up;
	if (own->lid)
		memset(row + own->lid, 0, (size_t)1 << own->lmc);
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (has_end_node(net, node, p) && other_end(net, node, p)->lid)
			memset(row + other_end(net, node, p)->lid, (int)p, (size_t)1 << other_end(net, node, p)->lmc);
}

static void fill_stub_lids(const struct fors_filler *w, uint32_t node, uint32_t leaf, unsigned up)
{
	const struct fors_net *net = w->f->net;
	struct fors_target target = {leaf, FORS_NONE};
	uint8_t down = fors_net_port(net, node, up)->peer_port;

	if (leaf == FORS_NONE)
		return;
	find_ways(w, target);
	fill_port(w, fors_net_port(net, node, 0), target, down);
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (has_end_node(net, node, p))
			fill_port(w, other_end(net, node, p), target, down);
}

static bool has_place(const struct fors_fabric *f, uint32_t node)
{
	for (uint32_t a = 0; a < f->nleaves; a++)
		if (f->leaf[a].node == node)
			return true;
	for (uint32_t k = 0; k < f->nspines; k++)
		if (f->spine[k].node == node)
			return true;
	return false;
}

/* All stubs; a second time for their own tables, which have LIDs of other stubs too. */
static void fill_stubs(const struct fors_filler *w,
		       void (*fill)(const struct fors_filler *w, uint32_t node, uint32_t leaf, unsigned up))
{
	const struct fors_net *net = w->f->net;

	for (uint32_t i = 0; i < net->nnodes; i++) {
		uint32_t node = net->by_guid[i], leaf;
		unsigned up = 0;

		if (net->node[node].type != FORS_SWITCH || has_place(w->f, node))
			continue;
		leaf = leaf_above(w, node, &up);
		fill(w, node, leaf, up);
	}
}

/* --- all of them ---------------------------------------------------------- */

/* Has the port of a leaf a slot? Then what is there goes home by its lane. */
static bool has_slot(const struct fors_fabric *f, uint32_t leaf, unsigned port)
{
	for (uint32_t s = 0; leaf != FORS_NONE && s < f->nslots; s++)
		if (fors_slot(f, leaf, s)->leaf_port == port)
			return true;
	return false;
}

static void fill_switch(const struct fors_filler *w, uint32_t node, struct fors_target target)
{
	const struct fors_net *net = w->f->net;

	find_ways(w, target);
	fill_port(w, fors_net_port(net, node, 0), target, 0);
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (has_end_node(net, node, p) && !has_slot(w->f, target.leaf, p))
			fill_port(w, other_end(net, node, p), target, (uint8_t)p);
}

void fors_fill_extra(const struct fors_filler *w)
{
	for (uint32_t a = 0; a < w->f->nleaves; a++)
		if (w->leaf_row[a])
			fill_switch(w, w->f->leaf[a].node, (struct fors_target){a, FORS_NONE});
	for (uint32_t k = 0; k < w->f->nspines; k++)
		if (w->spine_row[k])
			fill_switch(w, w->f->spine[k].node, (struct fors_target){FORS_NONE, k});
	fill_stubs(w, fill_stub_lids);
	fill_stubs(w, fill_stub_row);
}
