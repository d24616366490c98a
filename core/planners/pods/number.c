/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * number.c - homes by number, in trees that are not regular.
 *
 * Where leaves or pods differ there are no rounds, and with as many phases as servers every sender and every receiver is busy in
 * each. What helps a plan then is that receivers do not meet on their way down: each has a lane of its leaf and a rung of its pod's
 * plane for itself, whoever sends. So number x is at home in lane x modulo lanes, and lanes' turns take rungs in turn; a pod has
 * numbers in a row.
 *
 * In the linear shift number i sends to number i + t in phase t. Then a leaf of n servers sends to n numbers in a row, a pod
 * likewise. If equal lanes are as far from each other on the circle of numbers as the largest leaf is wide, and equal homes as the largest
 * pod, nobody meets upwards either, and that is a plan. Plain numbers are so, but where they go round from the last one to the first. If
 * that is too narrow the circle may be cut into blocks as even as possible, each no larger than there are lanes, and blocks into groups, no
 * larger than there are rungs: lanes begin anew in each block, rungs in each group. Else homes stay plain, and few flows of a phase
 * share a link.
 */
#include "number.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 8 /* numbers of blocks that are tried, and */
#define MOST_GROUPS 8 /* of groups of them */

/* How homes follow from numbers; no blocks: of as many numbers as there are lanes, in one group. */
struct cut {
	uint32_t nblocks, ngroups;
};

struct work {
	struct fors_pods_lanes lanes; /* with homes by number */
	const struct fors_pods *pods;
	uint32_t *slot; /* per number */
	uint32_t *seen; /* per home, and per lane: the number that was there last */
};

uint32_t *fors_pods_number(const struct fors_pods *pods)
{
	uint32_t *number = malloc((pods->nslots + (size_t)1) * sizeof(*number)), next = 0;

	for (uint32_t p = 0; number && p < pods->npods; p++)
		for (uint32_t s = 0; s < pods->nslots; s++)
			if (pods->leaf[pods->slot[s].leaf].pod == p)
				number[s] = next++;
	return number;
}

/* ---- cuts ---- */

/* Which of so many parts of a circle, as even as possible, and how far behind its begin. */
static uint32_t part_of(uint32_t x, uint32_t n, uint32_t nparts, uint32_t *place)
{
	uint32_t part = (uint32_t)((uint64_t)x * nparts / n);

	*place = x - (uint32_t)(((uint64_t)part * n + nparts - 1) / nparts);
	return part;
}

static void place_homes(struct work *w, struct cut cut)
{
	struct fors_pods_lanes *l = &w->lanes;
	uint32_t n = w->pods->nslots, planes = w->pods->nplanes, cables = l->nlanes / planes;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t lane = i % l->nlanes, turn = i / l->nlanes, rungs;

		if (cut.nblocks)
			part_of(part_of(i, n, cut.nblocks, &lane), cut.nblocks, cut.ngroups, &turn);
		rungs = l->rungs[fors_pods_lanes_plane(l, lane)];
		l->home_lane[w->slot[i]] = (uint16_t)lane;
		l->home_rung[w->slot[i]] = (uint16_t)(rungs ? (turn * cables + lane / planes) % rungs : 0);
	}
}

/* Are numbers in the same lane (with_rung: at the same home) as far from each other as this? */
static bool is_wide(const struct work *w, uint32_t width, bool with_rung)
{
	const struct fors_pods_lanes *l = &w->lanes;
	uint32_t n = w->pods->nslots;

	memset(w->seen, 0xFF, (size_t)l->nlanes * (l->nrungs + 1) * sizeof(*w->seen));
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t slot = w->slot[i < n ? i : i - n], rung = with_rung ? l->home_rung[slot] : 0,
			 *seen = &w->seen[(size_t)l->home_lane[slot] * (l->nrungs + 1) + rung];

		if (*seen != FORS_NONE && i - *seen < width)
			return false;
		*seen = i;
	}
	return true;
}

static uint32_t largest_leaf(const struct fors_pods *pods)
{
	uint32_t largest = 1;

	for (uint32_t a = 0; a < pods->nleaves; a++)
		largest = pods->leaf[a].nslots > largest ? pods->leaf[a].nslots : largest;
	return largest;
}

static uint32_t largest_pod(const struct fors_pods *pods)
{
	uint32_t largest = 1;

	for (uint32_t p = 0; p < pods->npods; p++) {
		uint32_t n = 0;

		for (uint32_t a = 0; a < pods->nleaves; a++)
			n += pods->leaf[a].pod == p ? pods->leaf[a].nslots : 0;
		largest = n > largest ? n : largest;
	}
	return largest;
}

static bool try_cut(struct work *w, struct cut cut)
{
	place_homes(w, cut);
	return is_wide(w, largest_leaf(w->pods), false) && is_wide(w, largest_pod(w->pods), true);
}

/* Groups of as many blocks, no larger than there are rungs in each plane. */
static bool try_groups(struct work *w, uint32_t nblocks)
{
	uint32_t cables = w->lanes.nlanes / w->pods->nplanes, rungs = UINT32_MAX, fewest;

	for (uint32_t j = 0; j < w->pods->nplanes; j++)
		rungs = w->lanes.rungs[j] < rungs ? w->lanes.rungs[j] : rungs;
	if (rungs < cables)
		return false;
	fewest = (nblocks + rungs / cables - 1) / (rungs / cables);
	for (uint32_t c = fewest; c < fewest + MOST_GROUPS && c <= nblocks; c++)
		if (try_cut(w, (struct cut){nblocks, c}))
			return true;
	return false;
}

/* Homes in which the linear shift is a plan, or else plain ones, and false. */
static bool find_homes(struct work *w)
{
	uint32_t n = w->pods->nslots, fewest = (n + w->lanes.nlanes - 1) / w->lanes.nlanes,
		 most = n / largest_leaf(w->pods);

	if (try_cut(w, (struct cut){0}))
		return true;
	for (uint32_t b = fewest; b <= most && b < fewest + MOST_BLOCKS; b++)
		if (try_groups(w, b))
			return true;
	place_homes(w, (struct cut){0});
	return false;
}

/* ---- the whole ---- */

static bool allocate(struct work *w)
{
	uint32_t *number = fors_pods_number(w->pods);
	size_t n = w->pods->nslots + (size_t)1;

	w->slot = malloc(n * sizeof(*w->slot));
	w->seen = malloc(((size_t)w->lanes.nlanes * (w->lanes.nrungs + 1) + 1) * sizeof(*w->seen));
	w->lanes.home_lane = calloc(n, sizeof(*w->lanes.home_lane));
	w->lanes.home_rung = calloc(n, sizeof(*w->lanes.home_rung));
	for (uint32_t s = 0; number && w->slot && s < w->pods->nslots; s++)
		w->slot[number[s]] = s;
	free(number);
	return number && w->slot && w->seen && w->lanes.home_lane && w->lanes.home_rung;
}

enum fors_err fors_pods_number_ways(const struct fors_pods_lanes *lanes, uint32_t nindices,
				    struct fors_pods_ways **ways, bool *shifts, struct fors_error *error)
{
	struct work w = {.lanes = *lanes, .pods = lanes->pods};
	struct fors_pods_ways *made = NULL;
	enum fors_err err;

	w.lanes.is_numbered = true;
	err = allocate(&w) ? FORS_OK : fors_fail_memory(error);
	if (!err) {
		*shifts = find_homes(&w);
		err = fors_pods_ways_home(&w.lanes, nindices, &made, error);
	}
	if (!err)
		err = fors_pods_ways_level(made, error);
	free(w.slot);
	free(w.seen);
	free(w.lanes.home_lane);
	free(w.lanes.home_rung);
	if (err) {
		fors_pods_ways_free(made);
		return err;
	}
	made->lanes = lanes;
	*ways = made;
	return FORS_OK;
}
