/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lift3_rounds.c - rounds and ways of all items.
 *
 * A cohort has m2 rounds, and leaf y serves an item of turn t in round t - y mod m2. A long cohort has m2 + 1, counts
 * modulo m2 + 1, and uses the turns 0 .. m2 - 1. So an item of turn t leaves its track idle in round t + 1, and there
 * leaf m2 - 1 - t, whose lane would be for the turn that nobody has, may use it once more.
 *
 * So a bundle and its host have m1 (m2 + 1) places in m1 tracks, for (m1 + 1) m2 units. The host takes its own ones, the
 * others are for the bundle: for each place one leaf, and servers are a colouring of leaves against rounds. All
 * servers of a bundle may go by any of its tracks, for each plane has but one. Turns in its planes are all different as
 * far as there are enough, so where m1 = m2 each leaf has m1 places, and no unit is left without one; where m1 < m2
 * some are.
 */
#include <stdlib.h>
#include <string.h>

#include "lift3_inside.h"

/* ---- turns ---- */

/* The turn of a bundle in a plane. */
static uint32_t bundle_turn(const struct fors_lift3 *w, const struct fors_bundle3 *bundle, uint32_t plane)
{
	return (plane + bundle->index) % w->m2;
}

/* Do bundles of a pod have this turn in a plane of a cohort? */
static bool is_taken(const struct fors_lift3 *w, uint32_t pod, uint32_t plane, uint32_t cohort, uint32_t turn)
{
	for (uint32_t i = 0; cohort < fors_lift3_long(w) && i < w->bundles->n; i++) {
		const struct fors_bundle3 *bundle = &w->bundles->bundle[i];

		if (bundle->from == pod && bundle->cohort == cohort && fors_lift3_is_bundled(w, i) &&
		    bundle_turn(w, bundle, plane) == turn)
			return true;
	}
	return false;
}

/* The next turn of a pod in a plane of a cohort. */
static uint32_t next_turn(const struct fors_lift3 *w, uint32_t pod, uint32_t plane, uint32_t cohort)
{
	uint8_t *next = &w->nplaced[((size_t)pod * w->m1 + plane) * w->ncohorts + cohort];

	while (is_taken(w, pod, plane, cohort, *next))
		++*next;
	return (*next)++;
}

/* The turn of an item: that of a bundle where it is its host, else the next one. */
static uint32_t turn_of(const struct fors_lift3 *w, const struct fors_lift3_item *item)
{
	for (uint32_t i = 0; item->cohort < fors_lift3_long(w) && i < w->bundles->n; i++) {
		const struct fors_bundle3 *bundle = &w->bundles->bundle[i];

		if (bundle->from == item->from && bundle->cohort == item->cohort && bundle->ghost == item->plane &&
		    w->bundles->rung[i * w->m1 + item->plane] == item->rung && fors_lift3_is_bundled(w, i))
			return bundle_turn(w, bundle, item->plane);
	}
	return next_turn(w, item->from, item->plane, item->cohort);
}

/* The round of a cohort that comes `round` rounds after its first one; what makes cohorts long is at the end. */
static uint32_t round_of(const struct fors_lift3 *w, uint32_t cohort, uint32_t round)
{
	return round < w->m2 ? cohort * w->m2 + round : w->ncohorts * w->m2 + cohort;
}

static void set_round(const struct fors_lift3 *w, uint32_t leaf, uint32_t slot, uint32_t round)
{
	if (w->c->round)
		w->c->round[(size_t)leaf * w->l->pods->nslots + slot] = (uint16_t)round;
}

/* ---- items ---- */

/* An item of a pod for a slot; NULL: it has no place. */
static void write_item(const struct fors_lift3 *w, const struct fors_lift3_item *item, uint32_t pod, uint32_t slot)
{
	size_t at = (size_t)pod * w->l->pods->nslots + slot;
	uint32_t length, turn;

	w->c->cohort[at] = item ? item->cohort : FORS_COHORTS_NONE;
	fors_cohorts_send(w->c, w->ways, pod, slot, item ? item->plane : FORS_NONE, item ? item->rung : FORS_NONE);
	if (!item)
		return;
	turn = turn_of(w, item);
	length = w->m2 + (item->cohort < fors_lift3_long(w));
	w->c->turn[at] = (uint8_t)turn;
	for (uint32_t y = 0; y < w->m2; y++)
		set_round(w, w->c->leaf[pod * w->m2 + y], slot,
			  round_of(w, item->cohort, (turn + length - y) % length));
}

static void write_items(const struct fors_lift3 *w)
{
	uint32_t nslots = w->l->pods->nslots;

	memset(w->nplaced, 0, (size_t)w->npods * w->m1 * w->ncohorts);
	for (uint32_t p = 0; p < w->npods; p++)
		for (uint32_t s = 0; s < nslots; s++) {
			uint32_t who = w->given[(size_t)p * nslots + s];
			const struct fors_lift3_item *item = who == FORS_NONE ? NULL : &w->item[who];

			if (item && fors_lift3_is_bundled(w, item->bundle))
				continue;
			write_item(w, item, p, s);
		}
}

/* ---- bundles ---- */

/* Server x of the bundle's leaf: which leaf sends to it when, and over which plane. */
static enum fors_err take_units(void *context, uint32_t x, const uint32_t *edge, uint32_t count)
{
	struct fors_lift3 *w = context;
	const struct fors_bundle3 *bundle = &w->bundles->bundle[w->bundle];
	uint32_t slot = w->c->slot[bundle->to * w->m2 + bundle->leaf] + x;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t leaf = w->c->leaf[bundle->from * w->m2 + w->g.left[edge[i]]];

		w->ways->leaf[(size_t)leaf * w->ways->ncolumns + slot] =
			w->l->leaf_port[(size_t)leaf * w->l->nlanes + w->g.who[edge[i]]];
		set_round(w, leaf, slot, round_of(w, bundle->cohort, w->g.right[edge[i]]));
	}
	return FORS_OK;
}

/* The places of a bundle for one of the leaves that send. */
static uint32_t list_places(struct fors_lift3 *w, const struct fors_bundle3 *bundle, uint32_t y, uint32_t n)
{
	uint32_t first = n, length = w->m2 + 1;

	for (unsigned again = 0; again < 2; again++)
		for (uint32_t plane = 0; plane < w->m1; plane++) {
			uint32_t turn = bundle_turn(w, bundle, plane);

			if (again ? w->m2 - 1 - turn != y || n - first == w->m1 : plane == bundle->ghost)
				continue;
			w->g.left[n] = (uint16_t)y;
			w->g.right[n] = (uint16_t)((again ? turn + 1 : turn + length - y) % length);
			w->g.who[n++] = plane;
		}
	return n;
}

/* No entries yet at leaves, and the rungs of the bundle at mids. */
static void begin_bundle(const struct fors_lift3 *w, const struct fors_bundle3 *bundle)
{
	for (uint32_t x = 0; x < w->m1; x++) {
		uint32_t slot = w->c->slot[bundle->to * w->m2 + bundle->leaf] + x;

		for (uint32_t plane = 0; plane < w->m1; plane++)
			fors_cohorts_send(w->c, w->ways, bundle->from, slot, plane,
					  w->bundles->rung[w->bundle * w->m1 + plane]);
		fors_cohorts_send(w->c, w->ways, bundle->from, slot, FORS_NONE, FORS_NONE);
		w->c->cohort[(size_t)bundle->from * w->l->pods->nslots + slot] = bundle->cohort;
	}
}

static enum fors_err write_bundles(struct fors_lift3 *w, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; !err && w->bundles && i < w->bundles->n; i++) {
		uint32_t n = 0;

		if (!fors_lift3_is_bundled(w, i))
			continue;
		w->bundle = i;
		begin_bundle(w, &w->bundles->bundle[i]);
		for (uint32_t y = 0; y < w->m2; y++)
			n = list_places(w, &w->bundles->bundle[i], y, n);
		w->g.graph.mult = NULL;
		w->g.graph.side[0] = (struct fors_colour_side){.nnodes = w->m2};
		w->g.graph.side[1] = (struct fors_colour_side){.nnodes = w->m2 + 1};
		err = fors_lift3_colour(w, n, 0, w->m1, take_units, error);
	}
	return err;
}

enum fors_err fors_lift3_new_rounds(struct fors_lift3 *w, struct fors_error *error)
{
	size_t size = (size_t)w->l->pods->nleaves * w->l->pods->nslots;

	w->c->round = malloc((size + 1) * sizeof(*w->c->round));
	if (!w->c->round)
		return fors_fail_memory(error);
	memset(w->c->round, 0xFF, size * sizeof(*w->c->round));
	return FORS_OK;
}

enum fors_err fors_lift3_write(struct fors_lift3 *w, struct fors_error *error)
{
	enum fors_err err = w->bundles ? fors_lift3_new_rounds(w, error) : FORS_OK;

	if (err)
		return err;
	w->c->nrounds = w->ncohorts * w->m2 + fors_lift3_long(w);
	write_items(w);
	return write_bundles(w, error);
}
