/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detours.c - ways to one destination for switches that have none by the rules of tables.c.
 *
 * What goes straight is decided elsewhere and stays: a switch looks at the destination only, so whoever makes a detour
 * over a leaf takes that leaf's way from there on. Ways are added one by one, each over a switch that has one already:
 * so every way ends where it should, and none goes round. A spine may only turn where turns.c allows it. A leaf may go
 * up to any spine, for a turn at a spine never closes a loop. Live cables are tried before drained ones, and leaves in
 * order. What is left has no way: it is not connected, or only over turns that could close a credit loop, and then no
 * packet is better than a packet that stops them all (reach.c names it).
 */
#include "filler.h"

#include <string.h>

void fors_detours_begin(const struct fors_filler *w, struct fors_target target)
{
	memset(w->detours.up, FORS_NO_LANE, w->f->nleaves);
	for (uint32_t k = 0; k < w->f->nspines; k++) {
		bool is_straight = target.leaf != FORS_NONE && fors_gets_to(w, target.leaf, k, FORS_ALSO_DRAINED);

		w->detours.down[k] = is_straight ? target.leaf : FORS_NONE;
	}
}

/* The first leaf that has a way up to another spine, which a spine may take by a turn there; or FORS_NONE. */
static uint32_t find_leaf(const struct fors_filler *w, uint32_t spine)
{
	const struct fors_detours *ways = &w->detours;

	for (enum fors_strictness how = FORS_LIVE_ONLY; how < FORS_NEVER; how++)
		for (uint32_t a = 0; a < w->f->nleaves; a++) {
			uint32_t to = ways->up[a] == FORS_NO_LANE ? spine : w->f->lane[ways->up[a]].spine;

			if (to != spine && fors_gets_to(w, a, spine, how) && fors_turns_may(w->turns, spine, a, to))
				return a;
		}
	return FORS_NONE;
}

/* The first lane to a spine that has a way which does not come back here; each target starts at another one. */
static uint8_t find_lane(const struct fors_filler *w, uint32_t leaf, struct fors_target target)
{
	uint32_t nlanes = w->f->nlanes, start = target.leaf == FORS_NONE ? 0 : target.leaf;

	for (enum fors_strictness how = FORS_LIVE_ONLY; how < FORS_NEVER; how++)
		for (uint32_t i = 0; i < nlanes; i++) {
			uint32_t lane = (start + i) % nlanes, spine = w->f->lane[lane].spine;
			uint32_t next = w->detours.down[spine];
			bool carries =
				how == FORS_LIVE_ONLY ? fors_live(w->f, leaf, lane) : fors_passable(w->f, leaf, lane);

			if (carries && (spine == target.spine || (next != FORS_NONE && next != leaf)))
				return (uint8_t)lane;
		}
	return FORS_NO_LANE;
}

static bool add_spines(const struct fors_filler *w, struct fors_target target)
{
	bool is_more = false;

	for (uint32_t k = 0; k < w->f->nspines; k++)
		if (k != target.spine && w->detours.down[k] == FORS_NONE) {
			w->detours.down[k] = find_leaf(w, k);
			is_more |= w->detours.down[k] != FORS_NONE;
		}
	return is_more;
}

static bool add_leaves(const struct fors_filler *w, struct fors_target target)
{
	bool is_more = false;

	for (uint32_t a = 0; a < w->f->nleaves; a++)
		if (a != target.leaf && w->detours.up[a] == FORS_NO_LANE) {
			w->detours.up[a] = find_lane(w, a, target);
			is_more |= w->detours.up[a] != FORS_NO_LANE;
		}
	return is_more;
}

void fors_detours_complete(const struct fors_filler *w, struct fors_target target)
{
	while (add_spines(w, target) || add_leaves(w, target))
		;
}
