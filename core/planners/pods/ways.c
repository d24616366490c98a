/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.c - which port each switch of a three-level tree takes to each server place.
 *
 * From the destination outwards, for nobody may send where the next one knows no way. Its pod's mids go down, over the
 * cable of the home lane or another one; where the home lane is dead, over those that fewest others come down by. A top goes down to a mid that does: that of the home plane, if it has a cable
 * to it. A mid of another pod goes up its home rung, if the top there gets down; a leaf goes up its home lane, if the
 * mid there has a way. What is left is levelled: mids first, then leaves, each takes the port whose fuller end has
 * least to carry, from its home on, so that what need not share does not. So a packet goes up, then down: a mid that is
 * above the leaf never sends up again, and a top sends only to such mids.
 *
 * Where planes share tops (a director switch) a top has a choice: what finds the home plane's mid without a way takes
 * plane over which least comes down so far. In a regular tree each top does that for itself, and mids are levelled over
 * the tops, so that what lost its plane comes down over all others (of two tops both take the same plane). And leaves of
 * one pod without a mid in common meet at such a top.
 */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

#define FEW_TOPS 2

void fors_pods_ways_free(struct fors_pods_ways *ways)
{
	if (!ways)
		return;
	free(ways->leaf);
	free(ways->hop);
	free(ways);
}

static uint32_t leaf_of(const struct fors_pods_ways *w, uint32_t column)
{
	return w->lanes->pods->slot[fors_pods_ways_slot(w, column)].leaf;
}

static uint32_t lane_of(const struct fors_pods_ways *w, uint32_t column)
{
	return fors_pods_lanes_lane(w->lanes, fors_pods_ways_slot(w, column), fors_pods_ways_index(w, column));
}

static uint32_t rung_of(const struct fors_pods_ways *w, uint32_t plane, uint32_t column)
{
	return fors_pods_lanes_rung(w->lanes, plane, fors_pods_ways_slot(w, column), fors_pods_ways_index(w, column));
}

static uint32_t rung_from(const struct fors_pods_ways *w, uint32_t mid, uint32_t column)
{
	return fors_pods_lanes_rung_from(w->lanes, mid, fors_pods_ways_slot(w, column),
					 fors_pods_ways_index(w, column));
}

static uint8_t *mid_entry(const struct fors_pods_ways *w, uint32_t mid, uint32_t column)
{
	return &w->mid[(size_t)mid * w->ncolumns + column];
}

/*
 * Is what lost its home spread over tops, each with a plane of its own? Two tops are too few for that: together, on one
 * plane, is the better beginning for a search (units.c).
 */
static bool spreads_tops(const struct fors_pods_lanes *l)
{
	return fors_pods_lanes_tops_choose(l) && l->pods->ntops > FEW_TOPS;
}

/* ---- down ---- */

/*
 * The living lane of a leaf to a plane that a column comes down by: the one with its home lane's number, or the next;
 * where the home lane is dead the one that fewest come down by.
 */
static uint32_t lane_down(const struct fors_pods_ways *w, const uint32_t *on_lane, uint32_t leaf, uint32_t plane,
			  uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t planes = l->pods->nplanes, cables = l->nlanes / planes, best = FORS_NONE;
	bool is_home = fors_pods_lanes_live(l, leaf, lane_of(w, column));

	for (uint32_t i = 0; i < cables && (best == FORS_NONE || !is_home); i++) {
		uint32_t lane = (lane_of(w, column) / planes + i) % cables * planes + plane;

		if (fors_pods_lanes_live(l, leaf, lane) && (best == FORS_NONE || on_lane[lane] < on_lane[best]))
			best = lane;
	}
	return best;
}

/* The mids above a leaf, for one column; on_lane: how many come down by a lane of the leaf so far. */
static void fill_mids_down(struct fors_pods_ways *w, uint32_t *on_lane, uint32_t leaf, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	const struct fors_pods *pods = l->pods;

	for (uint32_t plane = 0; plane < pods->nplanes; plane++) {
		uint32_t lane = lane_down(w, on_lane, leaf, plane, column);

		if (lane == FORS_NONE)
			continue;
		*mid_entry(w, fors_pods_lanes_mid(l, leaf, lane), column) =
			fors_pods_lanes_far(pods, pods->leaf[leaf].node, l->leaf_port[(size_t)leaf * l->nlanes + lane]);
		on_lane[lane] += !fors_pods_lanes_live(l, leaf, lane_of(w, column));
	}
}

/* All mids, each for the leaves below it; what is at home counts first. */
static enum fors_err fill_all_mids_down(struct fors_pods_ways *w, struct fors_error *error)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t *on_lane = calloc((size_t)l->pods->nleaves * l->nlanes + 1, sizeof(*on_lane));

	if (!on_lane)
		return fors_fail_memory(error);
	for (uint32_t column = 0; column < w->ncolumns; column++)
		on_lane[(size_t)leaf_of(w, column) * l->nlanes + lane_of(w, column)]++;
	for (uint32_t column = 0; column < w->ncolumns; column++)
		fill_mids_down(w, on_lane + (size_t)leaf_of(w, column) * l->nlanes, leaf_of(w, column), column);
	free(on_lane);
	return FORS_OK;
}

/* What comes down to a pod, by columns: what tops choose by where they have a choice. */
struct down {
	uint32_t *leaf; /* [leaf * nplanes + plane] */
	uint32_t *rung; /* [(pod * nplanes + plane) * nrungs + rung], where the column is at home on that rung's top */
};

static uint32_t *on_leaf(const struct fors_pods_ways *w, const struct down *d, uint32_t column, uint32_t plane)
{
	return &d->leaf[(size_t)leaf_of(w, column) * w->lanes->pods->nplanes + plane];
}

static uint32_t *on_rung(const struct fors_pods_ways *w, const struct down *d, uint32_t pod, uint32_t plane,
			 uint32_t rung)
{
	return &d->rung[((size_t)pod * w->lanes->pods->nplanes + plane) * w->lanes->nrungs + rung];
}

/*
 * A living rung of the pod's mid of a plane to this top (FORS_NONE: to any, the home rung first), if that mid goes down;
 * FORS_NONE.
 */
static uint32_t rung_to(const struct fors_pods_ways *w, uint32_t pod, uint32_t plane, uint32_t top, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t mid = fors_pods_mid(l->pods, pod, plane), first;

	if (mid == FORS_NONE || !*mid_entry(w, mid, column) || !l->rungs[plane])
		return FORS_NONE;
	first = rung_of(w, plane, column);
	for (uint32_t i = 0; i < l->rungs[plane]; i++) {
		uint32_t rung = (first + i) % l->rungs[plane];

		if ((top == FORS_NONE || l->rung_top[plane * l->nrungs + rung] == top) &&
		    fors_pods_lanes_rung_live(l, mid, rung))
			return rung;
	}
	return FORS_NONE;
}

/* Does a column find its home top with a way to the home plane's mid? Its home rung is in *rung. */
static bool is_down_home(const struct fors_pods_ways *w, uint32_t pod, uint32_t column, uint32_t *rung)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t plane = fors_pods_lanes_plane(l, lane_of(w, column)), mid = fors_pods_mid(l->pods, pod, plane);

	*rung = l->rungs[plane] ? rung_of(w, plane, column) : FORS_NONE;
	return *rung != FORS_NONE && mid != FORS_NONE && *mid_entry(w, mid, column) &&
	       fors_pods_lanes_rung_live(l, mid, *rung);
}

/* The plane, from home on, over whose mid least comes down from this top (as in rung_to()), and to the leaf; FORS_NONE. */
static uint32_t least_plane(const struct fors_pods_ways *w, const struct down *d, uint32_t pod, uint32_t column,
			    uint32_t top)
{
	uint32_t nplanes = w->lanes->pods->nplanes, home = fors_pods_lanes_plane(w->lanes, lane_of(w, column)),
		 least = UINT32_MAX, best = FORS_NONE, best_rung = 0;

	for (uint32_t i = 0; i < nplanes; i++) {
		uint32_t plane = (home + i) % nplanes, rung = rung_to(w, pod, plane, top, column), load, more;

		if (rung == FORS_NONE)
			continue;
		load = *on_leaf(w, d, column, plane);
		more = *on_rung(w, d, pod, plane, rung);
		load = load > more ? load : more;
		if (load < least) {
			least = load;
			best = plane;
			best_rung = rung;
		}
	}
	if (best != FORS_NONE) {
		++*on_leaf(w, d, column, best);
		++*on_rung(w, d, pod, best, best_rung);
	}
	return best;
}

/* The plane to come down over where it cannot be that of home: from the home top, or else from any. */
static uint32_t other_plane(const struct fors_pods_ways *w, const struct down *d, uint32_t pod, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t home = fors_pods_lanes_plane(l, lane_of(w, column)), best = FORS_NONE, rung;

	if (is_down_home(w, pod, column, &rung))
		return home;
	if (rung != FORS_NONE)
		best = least_plane(w, d, pod, column, l->rung_top[home * l->nrungs + rung]);
	if (best == FORS_NONE)
		best = least_plane(w, d, pod, column, FORS_NONE);
	return best == FORS_NONE ? home : best;
}

/*
 * A column that lost its home plane, or its cable at the home top: what tops do not send down over the home plane, each
 * sends over the plane that has least to carry, so that pods which send to different tops do not all meet on one cable.
 */
static void spread_tops(struct fors_pods_ways *w, const struct down *d, uint32_t pod, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t home = fors_pods_lanes_plane(l, lane_of(w, column));

	for (uint32_t top = 0; top < l->pods->ntops; top++) {
		uint32_t rung = rung_to(w, pod, home, top, column), plane = home, mid;

		if (rung == FORS_NONE) {
			plane = least_plane(w, d, pod, column, top);
			rung = plane == FORS_NONE ? FORS_NONE : rung_to(w, pod, plane, top, column);
		}
		if (rung == FORS_NONE)
			continue;
		mid = fors_pods_mid(l->pods, pod, plane);
		w->top[(size_t)top * w->ncolumns + column] = fors_pods_lanes_far(
			l->pods, l->pods->mid[mid].node, l->mid_port[(size_t)mid * l->nrungs + rung]);
	}
}

/*
 * Tops above the mids that go down: the home plane's mid first, over its home rung, which is a cable too. Where planes
 * share tops, the others after it, from `other` on.
 */
static void fill_tops(struct fors_pods_ways *w, uint32_t pod, uint32_t column, uint32_t other)
{
	const struct fors_pods_lanes *l = w->lanes;
	const struct fors_pods *pods = l->pods;
	uint32_t home = fors_pods_lanes_plane(l, lane_of(w, column));

	for (uint32_t i = 0; i <= pods->nplanes; i++) {
		uint32_t plane = i ? (other + i - 1) % pods->nplanes : home;
		uint32_t mid = fors_pods_mid(pods, pod, plane), first;

		if (mid == FORS_NONE || !*mid_entry(w, mid, column) || !l->rungs[plane])
			continue;
		first = rung_of(w, plane, column);
		for (uint32_t r = 0; r < l->rungs[plane]; r++) {
			uint32_t rung = (first + r) % l->rungs[plane], top = l->rung_top[plane * l->nrungs + rung];
			uint8_t *entry = &w->top[(size_t)top * w->ncolumns + column];

			if (!*entry && fors_pods_lanes_rung_live(l, mid, rung))
				*entry = fors_pods_lanes_far(pods, pods->mid[mid].node,
							     l->mid_port[(size_t)mid * l->nrungs + rung]);
		}
	}
}

/* All tops; what is at home counts first, so that what is not goes round it. */
static enum fors_err fill_all_tops(struct fors_pods_ways *w, struct fors_error *error)
{
	const struct fors_pods *pods = w->lanes->pods;
	size_t leaves = (size_t)pods->nleaves * pods->nplanes,
	       rungs = (size_t)pods->npods * pods->nplanes * w->lanes->nrungs;
	struct down d = {.leaf = calloc(leaves + rungs + 1, sizeof(*d.leaf))};
	bool spreads = spreads_tops(w->lanes);
	uint32_t rung, weight = spreads ? pods->ntops : 1;

	if (!d.leaf)
		return fors_fail_memory(error);
	d.rung = d.leaf + leaves;
	for (uint32_t column = 0; column < w->ncolumns; column++) {
		uint32_t pod = pods->leaf[leaf_of(w, column)].pod,
			 plane = fors_pods_lanes_plane(w->lanes, lane_of(w, column));

		if (!is_down_home(w, pod, column, &rung))
			continue;
		*on_leaf(w, &d, column, plane) += weight;
		*on_rung(w, &d, pod, plane, rung) += weight;
	}
	for (uint32_t column = 0; column < w->ncolumns; column++) {
		uint32_t pod = pods->leaf[leaf_of(w, column)].pod;

		if (spreads && !is_down_home(w, pod, column, &rung))
			spread_tops(w, &d, pod, column);
		else
			fill_tops(w, pod, column, other_plane(w, &d, pod, column));
	}
	free(d.leaf);
	return FORS_OK;
}

/* ---- up, at home ---- */

/* May a mid take this rung? */
static bool is_good_rung(const struct fors_pods_ways *w, uint32_t mid, uint32_t rung, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t top = l->rung_top[l->pods->mid[mid].plane * l->nrungs + rung];

	return fors_pods_lanes_rung_live(l, mid, rung) && fors_pods_ways_gets_down(w, top, column);
}

/* What is spread over the tops has no home to go up to: mids are levelled for it. */
static void fill_mids_up(struct fors_pods_ways *w, uint32_t pod, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t home;

	if (spreads_tops(l) && !is_down_home(w, pod, column, &home))
		return;
	for (uint32_t m = 0; m < l->pods->nmids; m++) {
		uint32_t plane = l->pods->mid[m].plane, rung;

		if (l->pods->mid[m].pod == pod || !l->rungs[plane])
			continue;
		rung = rung_from(w, m, column);
		if (is_good_rung(w, m, rung, column))
			*mid_entry(w, m, column) = l->mid_port[(size_t)m * l->nrungs + rung];
	}
}

static void fill_leaves(struct fors_pods_ways *w, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;
	uint32_t lane = lane_of(w, column), own = leaf_of(w, column);

	for (uint32_t a = 0; a < l->pods->nleaves; a++) {
		uint8_t port = l->leaf_port[(size_t)a * l->nlanes + lane];

		if (a != own && fors_pods_lanes_live(l, a, lane) && fors_pods_ways_arrives(w, a, port, column))
			w->leaf[(size_t)a * w->ncolumns + column] = port;
	}
}

bool fors_pods_ways_arrives(const struct fors_pods_ways *ways, uint32_t leaf, uint8_t port, uint32_t column)
{
	const struct fors_pods *pods = ways->lanes->pods;
	uint32_t peer = fors_pods_peer(pods, pods->leaf[leaf].node, port);

	return peer != FORS_NONE && pods->level[peer] == FORS_PODS_MID &&
	       ways->mid[(size_t)pods->number[peer] * ways->ncolumns + column];
}

bool fors_pods_ways_meets(const struct fors_pods_ways *ways, uint32_t pod, uint32_t slot, uint32_t plane, uint32_t rung)
{
	const struct fors_pods_lanes *l = ways->lanes;
	uint32_t top = l->rung_top[plane * l->nrungs + rung], from = fors_pods_mid(l->pods, pod, plane),
		 to = fors_pods_mid(l->pods, l->pods->leaf[l->pods->slot[slot].leaf].pod, plane);

	return from != FORS_NONE && to != FORS_NONE && fors_pods_lanes_rung_live(l, from, rung) &&
	       fors_pods_lanes_rung_live(l, to, rung) &&
	       ways->top[(size_t)top * ways->ncolumns + slot] ==
		       fors_pods_lanes_far(l->pods, l->pods->mid[to].node, l->mid_port[(size_t)to * l->nrungs + rung]);
}

/* The link that a port of a node sends over. */
static uint32_t link_at(const struct fors_pods_ways *ways, uint32_t node, uint8_t port)
{
	return ways->hop[ways->lanes->pods->known->node[node].first_port + port].link;
}

uint32_t fors_pods_ways_links(const struct fors_pods_ways *ways, uint32_t node, uint8_t port, uint32_t column,
			      uint32_t link[4])
{
	const struct fors_pods *pods = ways->lanes->pods;
	uint32_t target = leaf_of(ways, column), first = pods->known->node[node].first_port;

	for (uint32_t n = 0; port && n < 4; n++) {
		const struct fors_pods_hop *hop = &ways->hop[first + port];

		link[n] = hop->link;
		if (hop->row == target)
			return n + 1;
		if (hop->row < pods->nleaves)
			return 0;
		port = ways->leaf[(size_t)hop->row * ways->ncolumns + column];
		first = hop->first;
	}
	return 0;
}

static void find_hops(struct fors_pods_ways *w)
{
	const struct fors_pods *pods = w->lanes->pods;
	const struct fors_net *known = pods->known;

	for (uint32_t node = 0; node < known->nnodes; node++)
		for (unsigned port = 1; pods->level[node] && port <= known->node[node].nports; port++) {
			uint32_t peer = fors_pods_peer(pods, node, port);

			w->hop[known->node[node].first_port + port] =
				peer == FORS_NONE ? (struct fors_pods_hop){FORS_NONE, 0, 0}
						  : (struct fors_pods_hop){fors_pods_row(pods, peer),
									   known->node[peer].first_port, w->nlinks++};
		}
}

enum fors_err fors_pods_ways_home(const struct fors_pods_lanes *lanes, uint32_t nindices, struct fors_pods_ways **ways,
				  struct fors_error *error)
{
	const struct fors_pods *pods = lanes->pods;
	struct fors_pods_ways *w = calloc(1, sizeof(*w));
	enum fors_err err;

	if (!w)
		return fors_fail_memory(error);
	w->lanes = lanes;
	w->nindices = nindices;
	w->ncolumns = nindices * pods->nslots;
	w->leaf = calloc(fors_pods_ways_size(w) + 1, 1);
	w->hop = calloc(pods->known->nports + (size_t)1, sizeof(*w->hop));
	if (!w->leaf || !w->hop) {
		fors_pods_ways_free(w);
		return fors_fail_memory(error);
	}
	w->mid = w->leaf + (size_t)pods->nleaves * w->ncolumns;
	w->top = w->mid + (size_t)pods->nmids * w->ncolumns;
	find_hops(w);
	err = fill_all_mids_down(w, error);
	if (!err)
		err = fill_all_tops(w, error);
	if (err) {
		fors_pods_ways_free(w);
		return err;
	}
	for (uint32_t column = 0; column < w->ncolumns; column++) {
		fill_mids_up(w, pods->leaf[leaf_of(w, column)].pod, column);
		fill_leaves(w, column);
	}
	*ways = w;
	return FORS_OK;
}

/* ---- what is kept ---- */

/* Does a mid's port to a top live, and the top get down? */
static bool gets_up(const struct fors_pods_ways *w, uint32_t mid, uint8_t port, uint32_t column)
{
	const struct fors_pods *pods = w->lanes->pods;
	uint32_t node = pods->mid[mid].node, peer = port ? fors_pods_peer(pods, node, port) : FORS_NONE;

	return peer != FORS_NONE && pods->level[peer] == FORS_PODS_TOP && fors_pods_live(pods, node, port) &&
	       fors_pods_ways_gets_down(w, pods->number[peer], column);
}

/* Does a mid's port to the column's own leaf live? */
static bool goes_down(const struct fors_pods_ways *w, uint32_t mid, uint8_t port, uint32_t column)
{
	const struct fors_pods *pods = w->lanes->pods;
	uint32_t node = pods->mid[mid].node;

	return port && fors_pods_live(pods, node, port) &&
	       fors_pods_peer(pods, node, port) == pods->leaf[leaf_of(w, column)].node;
}

/* Tops that choose otherwise than at home, where that cable and what is below it live. */
static void keep_tops(struct fors_pods_ways *ways, const struct fors_pods_ways *whole)
{
	const struct fors_pods *pods = ways->lanes->pods;

	for (size_t i = 0; i < (size_t)pods->ntops * pods->nslots; i++) {
		uint32_t t = (uint32_t)(i / pods->nslots), c = (uint32_t)(i % pods->nslots), link[4];
		uint8_t port = whole->top[(size_t)t * whole->ncolumns + c];

		if (port && fors_pods_live(pods, pods->top[t].node, port) &&
		    fors_pods_ways_links(ways, pods->top[t].node, port, c, link) == 2)
			ways->top[(size_t)t * ways->ncolumns + c] = port;
	}
}

void fors_pods_ways_keep(struct fors_pods_ways *ways, const struct fors_pods_ways *whole)
{
	const struct fors_pods *pods = ways->lanes->pods;

	keep_tops(ways, whole);
	for (uint32_t m = 0; m < pods->nmids; m++)
		for (uint32_t c = 0; c < pods->nslots; c++) {
			uint8_t port = *mid_entry(whole, m, c);

			if (pods->leaf[leaf_of(ways, c)].pod != pods->mid[m].pod)
				*mid_entry(ways, m, c) = gets_up(ways, m, port, c) ? port : 0;
			else if (goes_down(ways, m, port, c))
				*mid_entry(ways, m, c) = port;
		}
	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (uint32_t c = 0; c < pods->nslots; c++) {
			uint8_t port = whole->leaf[(size_t)a * whole->ncolumns + c];

			if (leaf_of(ways, c) != a)
				ways->leaf[(size_t)a * ways->ncolumns + c] =
					port && fors_pods_live(pods, pods->leaf[a].node, port) &&
							fors_pods_ways_arrives(ways, a, port, c)
						? port
						: 0;
		}
}

/* ---- what is left ---- */

struct leveller {
	struct fors_pods_ways *w;
	uint32_t *load; /* per link: flows, or entries, that go over it */
};

/* The link that a top goes on over with a column. */
static uint32_t down_of(const struct leveller *v, uint32_t top, uint32_t column)
{
	const struct fors_pods *pods = v->w->lanes->pods;

	return link_at(v->w, pods->top[top].node, v->w->top[(size_t)top * v->w->ncolumns + column]);
}

/* Count a mid's entry up: that port, and the one that the top goes on at. */
static void count_mid(struct leveller *v, uint32_t mid, uint32_t rung, uint32_t column)
{
	const struct fors_pods_lanes *l = v->w->lanes;
	const struct fors_pods_switch *at = &l->pods->mid[mid];

	v->load[link_at(v->w, at->node, l->mid_port[(size_t)mid * l->nrungs + rung])]++;
	v->load[down_of(v, l->rung_top[at->plane * l->nrungs + rung], column)]++;
}

static void level_mid(struct leveller *v, uint32_t mid, uint32_t column)
{
	const struct fors_pods_lanes *l = v->w->lanes;
	const struct fors_pods_switch *at = &l->pods->mid[mid];
	uint32_t home = l->rungs[at->plane] ? rung_from(v->w, mid, column) : 0, best = FORS_NONE, least = UINT32_MAX;

	for (uint32_t i = 0; i < l->rungs[at->plane]; i++) {
		uint32_t rung = (home + i) % l->rungs[at->plane], load, down;

		if (!is_good_rung(v->w, mid, rung, column))
			continue;
		load = v->load[link_at(v->w, at->node, l->mid_port[(size_t)mid * l->nrungs + rung])];
		down = v->load[down_of(v, l->rung_top[at->plane * l->nrungs + rung], column)];
		load = load > down ? load : down;
		if (load < least) {
			least = load;
			best = rung;
		}
	}
	if (best == FORS_NONE)
		return;
	*mid_entry(v->w, mid, column) = l->mid_port[(size_t)mid * l->nrungs + best];
	count_mid(v, mid, best, column);
}

static void level_mids(struct leveller *v)
{
	const struct fors_pods_lanes *l = v->w->lanes;
	const struct fors_pods *pods = l->pods;

	for (uint32_t m = 0; m < pods->nmids; m++)
		for (uint32_t c = 0; c < v->w->ncolumns; c++) {
			uint8_t port = *mid_entry(v->w, m, c);
			uint32_t peer = port ? fors_pods_peer(pods, pods->mid[m].node, port) : FORS_NONE;

			if (peer == FORS_NONE || pods->level[peer] != FORS_PODS_TOP)
				continue;
			v->load[link_at(v->w, pods->mid[m].node, port)]++;
			v->load[down_of(v, pods->number[peer], c)]++;
		}
	for (uint32_t c = 0; c < v->w->ncolumns; c++)
		for (uint32_t m = 0; m < pods->nmids; m++)
			if (!*mid_entry(v->w, m, c) && pods->leaf[leaf_of(v->w, c)].pod != pods->mid[m].pod)
				level_mid(v, m, c);
}

static void count_leaf(struct leveller *v, uint32_t leaf, uint8_t port, uint32_t column)
{
	uint32_t link[4], n = fors_pods_ways_links(v->w, v->w->lanes->pods->leaf[leaf].node, port, column, link);

	for (uint32_t i = 0; i < n; i++)
		v->load[link[i]] += v->w->lanes->pods->leaf[leaf].nslots;
}

static void level_leaf(struct leveller *v, uint32_t leaf, uint32_t column)
{
	const struct fors_pods_lanes *l = v->w->lanes;
	uint32_t home = lane_of(v->w, column), least = UINT32_MAX;
	uint8_t best = 0;

	for (uint32_t i = 0; i < l->nlanes; i++) {
		uint32_t lane = (home + i) % l->nlanes, link[4], n, load = 0;
		uint8_t port = l->leaf_port[(size_t)leaf * l->nlanes + lane];

		if (!fors_pods_lanes_live(l, leaf, lane))
			continue;
		n = fors_pods_ways_links(v->w, v->w->lanes->pods->leaf[leaf].node, port, column, link);
		for (uint32_t k = 0; k < n; k++)
			load = v->load[link[k]] > load ? v->load[link[k]] : load;
		if (n && load < least) {
			least = load;
			best = port;
		}
	}
	v->w->leaf[(size_t)leaf * v->w->ncolumns + column] = best;
	count_leaf(v, leaf, best, column);
}

static void level_leaves(struct leveller *v)
{
	const struct fors_pods *pods = v->w->lanes->pods;

	memset(v->load, 0, v->w->nlinks * sizeof(*v->load));
	for (uint32_t a = 0; !v->w->lanes->is_regular && a < pods->nleaves; a++) /* homes weigh the same there */
		for (uint32_t c = 0; c < v->w->ncolumns; c++)
			count_leaf(v, a, v->w->leaf[(size_t)a * v->w->ncolumns + c], c);
	for (uint32_t c = 0; c < v->w->ncolumns; c++)
		for (uint32_t a = 0; a < pods->nleaves; a++)
			if (a != leaf_of(v->w, c) && !v->w->leaf[(size_t)a * v->w->ncolumns + c])
				level_leaf(v, a, c);
}

static bool has_way(const struct fors_pods_ways *w, uint32_t leaf, uint32_t column)
{
	const struct fors_pods_lanes *l = w->lanes;

	for (uint32_t lane = 0; lane < l->nlanes; lane++)
		if (fors_pods_lanes_live(l, leaf, lane) &&
		    fors_pods_ways_arrives(w, leaf, l->leaf_port[(size_t)leaf * l->nlanes + lane], column))
			return true;
	return false;
}

/*
 * A leaf that has no mid in common with another one of its pod: the mids that it has send up to a top that other planes
 * share, which gets down over them.
 */
static void turn_at_tops(struct leveller *v)
{
	const struct fors_pods_lanes *l = v->w->lanes;
	const struct fors_pods *pods = l->pods;

	for (uint32_t c = 0; c < v->w->ncolumns; c++)
		for (uint32_t a = 0; a < pods->nleaves; a++) {
			if (pods->leaf[a].pod != pods->leaf[leaf_of(v->w, c)].pod || a == leaf_of(v->w, c) ||
			    v->w->leaf[(size_t)a * v->w->ncolumns + c] || has_way(v->w, a, c))
				continue;
			for (uint32_t lane = 0; lane < l->nlanes; lane++)
				if (fors_pods_lanes_live(l, a, lane))
					level_mid(v, fors_pods_lanes_mid(l, a, lane), c);
		}
}

/* Does a mid lack a way to a slot of another pod? */
static bool lacks_mid(const struct fors_pods_ways *w)
{
	const struct fors_pods *pods = w->lanes->pods;

	for (uint32_t m = 0; m < pods->nmids; m++)
		for (uint32_t c = 0; c < w->ncolumns; c++)
			if (!*mid_entry(w, m, c) && pods->leaf[leaf_of(w, c)].pod != pods->mid[m].pod)
				return true;
	return false;
}

static bool lacks_leaf(const struct fors_pods_ways *w)
{
	for (uint32_t a = 0; a < w->lanes->pods->nleaves; a++)
		for (uint32_t c = 0; c < w->ncolumns; c++)
			if (!w->leaf[(size_t)a * w->ncolumns + c] && leaf_of(w, c) != a)
				return true;
	return false;
}

enum fors_err fors_pods_ways_level(struct fors_pods_ways *ways, struct fors_error *error)
{
	struct leveller v = {.w = ways};
	bool mids = lacks_mid(ways), leaves = mids || lacks_leaf(ways);

	if (!leaves)
		return FORS_OK;
	v.load = calloc(ways->nlinks + (size_t)1, sizeof(*v.load));
	if (!v.load)
		return fors_fail_memory(error);
	if (mids)
		level_mids(&v);
	turn_at_tops(&v);
	level_leaves(&v);
	free(v.load);
	return FORS_OK;
}
