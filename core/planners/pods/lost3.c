/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lost3.c - other ways for what lost its own, where homes are by number.
 *
 * Plans over such tables live on this: nobody meets on the way down, and all leaves of a pod send to a slot over the same lane and
 * rung (number3.c, core/planners/flows/stages.h). So a slot that lost its lane or rung gets another home for all who send, one that
 * no other slot of its pod has; where some places are empty there are such. Then a pod that lost its way to a slot, for its
 * own cable to a top is dead, or its middle switch: another one, for all its leaves. What is at home nowhere else is preferred, then a lane
 * that nobody else of the slot's leaf has, then the lane that it had, then what fewest others of the pod are sent over.
 */
#include "lost3.h"

#include <stdlib.h>
#include <string.h>

struct home {
	uint32_t lane, rung; /* FORS_NONE: not known */
};

struct work {
	struct fors_ways3 *ways;
	const struct fors_ways3 *whole;
	const struct fors_lanes3 *l;
	const struct fors_pods *pods;
	struct home *home; /* per slot */
	uint16_t *taken;   /* [(pod * nlanes + lane) * nrungs + rung]: slots of the pod at home there */
	uint16_t *sent;	   /* the same: slots of others that the pod sends to over it */
	uint16_t *on_lane; /* [leaf * nlanes + lane]: slots of the leaf at home there */
};

static size_t at(const struct work *w, uint32_t pod, struct home h)
{
	return ((size_t)pod * w->l->nlanes + h.lane) * w->l->nrungs + h.rung;
}

static uint32_t pod_of(const struct work *w, uint32_t slot)
{
	return w->pods->leaf[w->pods->slot[slot].leaf].pod;
}

static uint32_t mid_of(const struct work *w, uint32_t pod, uint32_t lane)
{
	return fors_pods_mid(w->pods, pod, fors_lanes3_plane(w->l, lane));
}

static uint8_t *mid_entry(const struct fors_ways3 *ways, uint32_t mid, uint32_t slot)
{
	return &ways->mid[(size_t)mid * ways->ncolumns + slot];
}

static uint8_t *leaf_entry(const struct fors_ways3 *ways, uint32_t leaf, uint32_t slot)
{
	return &ways->leaf[(size_t)leaf * ways->ncolumns + slot];
}

/* Does a pod's cable to the top of a home live? */
static bool is_rung_live(const struct work *w, uint32_t pod, struct home h)
{
	uint32_t mid = mid_of(w, pod, h.lane);

	return mid != FORS_NONE && h.rung < w->l->rungs[fors_lanes3_plane(w->l, h.lane)] &&
	       fors_lanes3_rung_live(w->l, mid, h.rung);
}

/* Does a slot's way down from there live? */
static bool gets_down(const struct work *w, uint32_t slot, struct home h)
{
	return fors_lanes3_live(w->l, w->pods->slot[slot].leaf, h.lane) && is_rung_live(w, pod_of(w, slot), h);
}

/* ---- homes ---- */

static uint32_t lane_of_port(const struct work *w, uint32_t leaf, uint8_t port)
{
	for (uint32_t lane = 0; port && lane < w->l->nlanes; lane++)
		if (w->l->leaf_port[(size_t)leaf * w->l->nlanes + lane] == port)
			return lane;
	return FORS_NONE;
}

/* As the first leaf of another pod sends in the tree that is alive. */
static struct home find_home(const struct work *w, uint32_t slot)
{
	struct home h = {FORS_NONE, FORS_NONE};
	uint32_t a = 0, mid, plane;

	while (a < w->pods->nleaves && w->pods->leaf[a].pod == pod_of(w, slot))
		a++;
	if (a == w->pods->nleaves)
		return h;
	h.lane = lane_of_port(w, a, *leaf_entry(w->whole, a, slot));
	if (h.lane == FORS_NONE)
		return h;
	mid = mid_of(w, w->pods->leaf[a].pod, h.lane);
	plane = fors_lanes3_plane(w->l, h.lane);
	for (uint32_t r = 0; mid != FORS_NONE && r < w->l->rungs[plane]; r++)
		if (w->l->mid_port[(size_t)mid * w->l->nrungs + r] == *mid_entry(w->whole, mid, slot))
			h.rung = r;
	return h;
}

/* Homes that live are taken; what others send there is, too. */
static void count_homes(struct work *w)
{
	for (uint32_t s = 0; s < w->pods->nslots; s++) {
		struct home h = w->home[s] = find_home(w, s);

		if (h.rung == FORS_NONE)
			continue;
		w->on_lane[(size_t)w->pods->slot[s].leaf * w->l->nlanes + h.lane]++;
		if (!gets_down(w, s, h))
			continue;
		w->taken[at(w, pod_of(w, s), h)]++;
		for (uint32_t p = 0; p < w->pods->npods; p++)
			w->sent[at(w, p, h)] += p != pod_of(w, s);
	}
}

/* ---- other ways ---- */

/* What speaks against a place for a slot; pod: which sends, FORS_NONE: all do. */
static uint64_t price_of(const struct work *w, uint32_t slot, struct home h, uint32_t pod)
{
	const struct home *own = &w->home[slot];
	uint32_t leaf = w->pods->slot[slot].leaf,
		 others = w->on_lane[(size_t)leaf * w->l->nlanes + h.lane] - (own->lane == h.lane), sent = 0;

	for (uint32_t p = 0; p < w->pods->npods; p++)
		if (p == pod || (pod == FORS_NONE && p != pod_of(w, slot)))
			sent += w->sent[at(w, p, h)];
	return (uint64_t)w->taken[at(w, pod_of(w, slot), h)] << 40 | (uint64_t)others << 32 |
	       (uint64_t)(own->lane != h.lane) << 24 | sent;
}

/* The cheapest place that gets down, and up from the pod, if that is one; false: there is none. */
static bool find_place(const struct work *w, uint32_t slot, uint32_t pod, struct home *best)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t lane = 0; lane < w->l->nlanes; lane++)
		for (uint32_t rung = 0; rung < w->l->rungs[fors_lanes3_plane(w->l, lane)]; rung++) {
			struct home h = {lane, rung};

			if (!gets_down(w, slot, h) || (pod != FORS_NONE && !is_rung_live(w, pod, h)) ||
			    price_of(w, slot, h, pod) >= least)
				continue;
			least = price_of(w, slot, h, pod);
			*best = h;
		}
	return least != UINT64_MAX;
}

/* Leaves of a pod that have no way to a slot take this one. */
static void lead_leaves(const struct work *w, uint32_t pod, uint32_t slot, uint32_t lane)
{
	for (uint32_t a = 0; a < w->pods->nleaves; a++)
		if (w->pods->leaf[a].pod == pod && a != w->pods->slot[slot].leaf && !*leaf_entry(w->ways, a, slot) &&
		    fors_lanes3_live(w->l, a, lane))
			*leaf_entry(w->ways, a, slot) = w->l->leaf_port[(size_t)a * w->l->nlanes + lane];
}

/* A pod sends to a slot over a place, if its cable there lives. */
static void lead(struct work *w, uint32_t pod, uint32_t slot, struct home h)
{
	uint32_t mid = mid_of(w, pod, h.lane);

	if (!is_rung_live(w, pod, h))
		return;
	*mid_entry(w->ways, mid, slot) = w->l->mid_port[(size_t)mid * w->l->nrungs + h.rung];
	w->sent[at(w, pod, h)]++;
	lead_leaves(w, pod, slot, h.lane);
}

/* A slot that is not to be reached at home gets another one. */
static void move_home(struct work *w, uint32_t slot)
{
	uint32_t leaf = w->pods->slot[slot].leaf, own = pod_of(w, slot), mid;
	struct home h;

	if (!find_place(w, slot, FORS_NONE, &h))
		return;
	w->on_lane[(size_t)leaf * w->l->nlanes + w->home[slot].lane]--;
	w->on_lane[(size_t)leaf * w->l->nlanes + h.lane]++;
	w->taken[at(w, own, h)]++;
	w->home[slot] = h;
	for (uint32_t p = 0; p < w->pods->npods; p++)
		if (p != own)
			lead(w, p, slot, h);
	mid = mid_of(w, own, h.lane);
	if (*mid_entry(w->ways, mid, slot))
		lead_leaves(w, own, slot, h.lane);
}

/* Has no leaf of a pod a way to a slot? */
static bool is_lost(const struct work *w, uint32_t pod, uint32_t slot)
{
	for (uint32_t a = 0; a < w->pods->nleaves; a++)
		if (w->pods->leaf[a].pod == pod && *leaf_entry(w->ways, a, slot))
			return false;
	return true;
}

static void find_ways(struct work *w)
{
	struct home h;

	for (uint32_t s = 0; s < w->pods->nslots; s++)
		if (w->home[s].rung != FORS_NONE && !gets_down(w, s, w->home[s]))
			move_home(w, s);
	for (uint32_t p = 0; p < w->pods->npods; p++)
		for (uint32_t s = 0; s < w->pods->nslots; s++)
			if (pod_of(w, s) != p && w->home[s].rung != FORS_NONE && is_lost(w, p, s) &&
			    find_place(w, s, p, &h))
				lead(w, p, s, h);
}

static bool allocate(struct work *w)
{
	size_t places = (size_t)w->pods->npods * w->l->nlanes * w->l->nrungs + 1;

	w->home = malloc((w->pods->nslots + (size_t)1) * sizeof(*w->home));
	w->taken = calloc(places, sizeof(*w->taken));
	w->sent = calloc(places, sizeof(*w->sent));
	w->on_lane = calloc((size_t)w->pods->nleaves * w->l->nlanes + 1, sizeof(*w->on_lane));
	return w->home && w->taken && w->sent && w->on_lane;
}

/* Is there anything to be done: is an entry of a leaf 0 that leads to others? */
static bool is_any_lost(const struct fors_ways3 *ways)
{
	const struct fors_pods *pods = ways->lanes->pods;

	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (uint32_t s = 0; s < pods->nslots; s++)
			if (pods->slot[s].leaf != a && !*leaf_entry(ways, a, s))
				return true;
	return false;
}

enum fors_err fors_lost3(struct fors_ways3 *ways, const struct fors_ways3 *whole, struct fors_error *error)
{
	struct work w = {.ways = ways, .whole = whole, .l = ways->lanes, .pods = ways->lanes->pods};
	bool good = true;

	if (!is_any_lost(ways))
		return FORS_OK;
	good = allocate(&w);
	if (good) {
		count_homes(&w);
		find_ways(&w);
	}
	free(w.home);
	free(w.taken);
	free(w.sent);
	free(w.on_lane);
	return good ? FORS_OK : fors_fail_memory(error);
}
