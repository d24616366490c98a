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

/* The bits of a class, and of a lane. */
static uint64_t *class_bits(const struct fors_rounds_pattern *pattern, uint32_t item)
{
	return pattern->taken + (size_t)fors_rounds_item_class(pattern, item) * pattern->nwords;
}

static uint64_t *lane_bits(const struct fors_rounds_pattern *pattern, uint32_t lane)
{
	return pattern->taken + ((size_t)pattern->nclasses + lane) * pattern->nwords;
}

/* Write `who`, the item or nobody, to the round of an item at both ends. */
static void mark(struct fors_rounds_pattern *pattern, uint32_t item, uint32_t round, uint32_t who)
{
	uint8_t lane = fors_rounds_chosen_lane(pattern, item);
	uint64_t bit = UINT64_C(1) << (round % 64), is_taken = who == FORS_NO_ITEM ? 0 : bit;
	uint64_t *word = class_bits(pattern, item) + round / 64;

	pattern->class_at[(size_t)fors_rounds_item_class(pattern, item) * pattern->nrounds + round] = who;
	*word = (*word & ~bit) | is_taken;
	if (lane == FORS_NO_LANE)
		return;
	pattern->lane_at[(size_t)lane * pattern->nrounds + round] = who;
	word = lane_bits(pattern, lane) + round / 64;
	*word = (*word & ~bit) | is_taken;
}

static void set(struct fors_rounds_pattern *pattern, uint32_t item, uint32_t round)
{
	pattern->colour[item] = (uint16_t)round;
	mark(pattern, item, round, item);
}

static void unset(struct fors_rounds_pattern *pattern, uint32_t item)
{
	mark(pattern, item, pattern->colour[item], FORS_NO_ITEM);
}

static bool is_free(const struct fors_rounds_pattern *pattern, uint32_t item, uint32_t round)
{
	uint8_t lane = fors_rounds_chosen_lane(pattern, item);

	return pattern->class_at[(size_t)fors_rounds_item_class(pattern, item) * pattern->nrounds + round] ==
		       FORS_NO_ITEM &&
	       (lane == FORS_NO_LANE || pattern->lane_at[(size_t)lane * pattern->nrounds + round] == FORS_NO_ITEM);
}

/* The first round that is free in one row of bits and another (the same will do), nrounds: none. */
static uint32_t first_free(const struct fors_rounds_pattern *pattern, const uint64_t *one, const uint64_t *other)
{
	uint32_t w = 0, round;

	while (w < pattern->nwords && !~(one[w] | other[w]))
		w++;
	fors_rounds_spend(pattern->problem, w);
	if (w == pattern->nwords)
		return pattern->nrounds;
	round = w * 64 + (uint32_t)__builtin_ctzll(~(one[w] | other[w]));
	return round < pattern->nrounds ? round : pattern->nrounds;
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
		fors_rounds_spend(pattern->problem, 4);
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
	uint32_t nrounds = pattern->nrounds, alpha, beta, both;
	uint32_t lane = fors_rounds_chosen_lane(pattern, item);
	const uint64_t *of_class = class_bits(pattern, item), *of_lane;

	alpha = first_free(pattern, of_class, of_class);
	if (alpha == nrounds)
		return;
	if (lane == FORS_NO_LANE) {
		set(pattern, item, alpha);
		return;
	}
	of_lane = lane_bits(pattern, lane);
	beta = first_free(pattern, of_lane, of_lane);
	if (beta == nrounds)
		return;
	both = first_free(pattern, of_class, of_lane);
	if (both < nrounds) {
		set(pattern, item, both);
		return;
	}
	swap_path(pattern, item, alpha, beta);
	set(pattern, item, alpha);
}

/*
 * Items at home in their own rounds, then whoever is left. Where what stays inside leaves is apart, distance 0 has no
 * units, and no leaf is as far as there are leaves with servers.
 */
void fors_rounds_colour_items(struct fors_rounds_pattern *pattern)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	uint32_t first = problem->is_apart ? fors_rounds_item(pattern, 1, 0, 0) : 0;
	uint32_t end = problem->is_apart ? fors_rounds_item(pattern, problem->nturns, 0, 0) : pattern->nitems;

	for (uint32_t item = first; item < end; item++) {
		uint32_t own = pattern->own[item];

		if (fors_rounds_keeps_step(pattern))
			pattern->colour[item] = (uint16_t)own;
		else if (fors_rounds_chosen_lane(pattern, item) == fors_rounds_item_home(pattern, item) &&
			 is_free(pattern, item, own))
			set(pattern, item, own);
	}
	for (uint32_t item = first; item < end && fors_rounds_spend(problem, 4); item++) {
		if (pattern->colour[item] != FORS_NO_ROUND)
			continue;
		if (is_free(pattern, item, pattern->own[item]))
			set(pattern, item, pattern->own[item]);
		else
			colour_item(pattern, item);
	}
}
