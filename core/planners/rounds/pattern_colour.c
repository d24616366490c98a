/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern_colour.c - a round for each item of the pattern: step 3.
 *
 * An edge colouring of the bipartite multigraph of classes and lanes. Items at home take the round that they should
 * have, where it is free; whoever is left takes it, or any that is free at both ends. Where no round is, one that is
 * free at the class and one that is free at the lane change places along the path of items that have either (Koenig):
 * the path that starts at the lane cannot end at the class, so that the first is free at both ends then.
 */
#include "pattern_work.h"

static void set(struct fors_rounds_pattern *pattern, uint32_t item, uint32_t round)
{
	uint8_t lane = fors_rounds_chosen_lane(pattern, item);

	pattern->colour[item] = (uint16_t)round;
	pattern->class_at[(size_t)fors_rounds_item_class(pattern, item) * pattern->nrounds + round] = item;
	if (lane != FORS_NO_LANE)
		pattern->lane_at[(size_t)lane * pattern->nrounds + round] = item;
}

static void unset(struct fors_rounds_pattern *pattern, uint32_t item)
{
	uint8_t lane = fors_rounds_chosen_lane(pattern, item);
	uint32_t round = pattern->colour[item];

	pattern->class_at[(size_t)fors_rounds_item_class(pattern, item) * pattern->nrounds + round] = FORS_NO_ITEM;
	if (lane != FORS_NO_LANE)
		pattern->lane_at[(size_t)lane * pattern->nrounds + round] = FORS_NO_ITEM;
}

static bool is_free(const struct fors_rounds_pattern *pattern, uint32_t item, uint32_t round)
{
	uint8_t lane = fors_rounds_chosen_lane(pattern, item);

	return pattern->class_at[(size_t)fors_rounds_item_class(pattern, item) * pattern->nrounds + round] ==
		       FORS_NO_ITEM &&
	       (lane == FORS_NO_LANE || pattern->lane_at[(size_t)lane * pattern->nrounds + round] == FORS_NO_ITEM);
}

/* The first free round of a class or lane, nrounds: none. */
static uint32_t first_free(const uint32_t *at, uint32_t row, uint32_t nrounds)
{
	uint32_t round = 0;

	while (round < nrounds && at[(size_t)row * nrounds + round] != FORS_NO_ITEM)
		round++;
	return round;
}

/*
 * Make round `alpha`, free at the item's class, free at its lane as well: swap alpha and beta along the path
 * of items that starts at the lane with alpha. It cannot end at the class, which has no alpha.
 */
static void swap_path(struct fors_rounds_pattern *pattern, uint32_t item, uint32_t alpha, uint32_t beta)
{
	uint32_t nrounds = pattern->nrounds, from = alpha, to = beta;
	uint32_t at = pattern->lane_at[(size_t)fors_rounds_chosen_lane(pattern, item) * nrounds + alpha];

	unset(pattern, at);
	for (bool to_class = true; at != FORS_NO_ITEM; to_class = !to_class) {
		uint8_t lane = fors_rounds_chosen_lane(pattern, at);
		uint32_t next = FORS_NO_ITEM, swap = from;

		/* `at` goes from `from` to `to`; who holds `to` at its far end goes the other way, and is taken out
		 * first. */
		if (to_class)
			next = pattern->class_at[(size_t)fors_rounds_item_class(pattern, at) * nrounds + to];
		else if (lane != FORS_NO_LANE)
			next = pattern->lane_at[(size_t)lane * nrounds + to];
		if (next != FORS_NO_ITEM)
			unset(pattern, next);
		set(pattern, at, to);
		at = next;
		from = to;
		to = swap;
	}
}

static void colour_item(struct fors_rounds_pattern *pattern, uint32_t item)
{
	uint32_t nrounds = pattern->nrounds, alpha, beta;
	uint32_t lane = fors_rounds_chosen_lane(pattern, item);

	alpha = first_free(pattern->class_at, fors_rounds_item_class(pattern, item), nrounds);
	if (alpha == nrounds)
		return;
	if (lane == FORS_NO_LANE) {
		set(pattern, item, alpha);
		return;
	}
	beta = first_free(pattern->lane_at, lane, nrounds);
	if (beta == nrounds)
		return;
	for (uint32_t round = alpha; round < nrounds; round++) {
		if (is_free(pattern, item, round)) {
			set(pattern, item, round);
			return;
		}
	}
	swap_path(pattern, item, alpha, beta);
	set(pattern, item, alpha);
}

/* Items at home in their own rounds, then whoever is left. */
void fors_rounds_colour_items(struct fors_rounds_pattern *pattern)
{
	for (uint32_t item = 0; item < pattern->nitems; item++) {
		uint32_t own = pattern->own[item];

		if (fors_rounds_keeps_step(pattern))
			pattern->colour[item] = (uint16_t)own;
		else if (fors_rounds_chosen_lane(pattern, item) == fors_rounds_item_home(pattern, item) &&
			 is_free(pattern, item, own))
			set(pattern, item, own);
	}
	for (uint32_t item = 0; item < pattern->nitems; item++) {
		if (pattern->colour[item] != FORS_NO_ROUND)
			continue;
		if (is_free(pattern, item, pattern->own[item]))
			set(pattern, item, pattern->own[item]);
		else
			colour_item(pattern, item);
	}
}
