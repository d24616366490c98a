/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern_own.c - the round that each item of the pattern should have: step 1.
 *
 * The colouring starts from round = delta + z[class], with the z spread evenly
 * over the rounds. So every lane has its idle round (that of the units inside the
 * leaf) at another time, the idle lanes are spread evenly over the rounds, and
 * a unit displaced by a dead cable finds one of them in its own round: core/tables/level_own.c
 * looks for a displaced entry's lane just there first. One dead cable then
 * needs no extra round where M1 rounds can carry its load at all.
 *
 * The tables may have seen other rounds idle than this rule gives, where more than one cable is dead. So, where the
 * order of the rounds of a class is free, distances exchange their rounds as long as more displaced units find their
 * lane idle.
 */
#include "pattern_work.h"

#include <stdlib.h>

#include "core/tables/home.h"

/*
 * The shift z of a class. Where leaves have places for more classes than a group may serve in a round (more lanes than
 * servers, or empty slots), all classes keep step, so that a leaf sends to one other leaf in a round, and never too
 * much. So they do where what stays inside leaves is apart: no lane needs a round to idle in.
 */
static uint32_t shift(const struct fors_rounds_pattern *pattern, uint32_t class)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	uint32_t parts = problem->parts, nrounds = pattern->nrounds / parts;

	if (problem->fabric->max_servers < pattern->nclasses || problem->is_apart)
		nrounds = 0;
	return parts * fors_home_class_shift(problem->nlanes, problem->nleaves, nrounds, class) +
	       fors_home_class_lane(problem->nlanes, class) % parts;
}

/* The round that an item has in a healthy tree, see shift(). The next leaf is the first where the own one is apart. */
static uint32_t first_round(const struct fors_rounds_pattern *pattern, uint32_t item)
{
	uint32_t parts = pattern->problem->parts, number = item / pattern->nclasses % parts;

	return (parts * fors_rounds_item_delta(pattern, item) + number +
		shift(pattern, fors_rounds_item_class(pattern, item)) + pattern->nrounds - pattern->problem->is_apart) %
	       pattern->nrounds;
}

static void find_own_rounds(struct fors_rounds_pattern *pattern)
{
	for (uint32_t item = 0; item < pattern->nitems; item++)
		pattern->own[item] = (uint16_t)first_round(pattern, item);
}

/*
 * With as many rounds as leaves, whole leaves as groups and a lane for each class, the distances of a class may have
 * the rounds in any order (the one inside the leaf keeps its own): every leaf sends one unit of every class in every
 * round.
 */
static bool can_reorder(const struct fors_rounds_pattern *pattern)
{
	const struct fors_rounds_problem *problem = pattern->problem;

	return problem->parts == 1 && pattern->nrounds == problem->nleaves && pattern->nclasses == problem->nlanes &&
	       !fors_rounds_keeps_step(pattern);
}

/*
 * Count for each class and distance how many of its displaced units want each round, one in which their lane
 * idles. The result is wanted[(class * nleaves + distance) * nleaves + round].
 */
static void count_wanted(const struct fors_rounds_pattern *pattern, uint16_t *wanted)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	uint32_t nleaves = problem->nleaves;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++) {
		for (uint32_t d = 0; d < problem->nservers; d++) {
			uint8_t lane = problem->up[fors_rounds_ways(problem, leaf, d)];
			uint32_t class = pattern->class_of[d],
				 delta = fors_rounds_distance(problem, leaf, problem->leaf_of[d]);

			if (lane != FORS_NO_LANE && lane != class)
				wanted[(class * nleaves + delta) * nleaves +
				       pattern->own[fors_rounds_item(pattern, 0, 0, lane)]]++;
		}
	}
}

/* Exchange the rounds of two distances of a class if more units are in a round of theirs then. */
static bool exchange(struct fors_rounds_pattern *pattern, const uint16_t *wanted, uint32_t class, uint32_t delta,
		     uint32_t other)
{
	uint32_t nleaves = pattern->problem->nleaves;
	const uint16_t *one = wanted + (class * nleaves + delta) * nleaves,
		       *two = wanted + (class * nleaves + other) * nleaves;
	uint16_t *own = &pattern->own[fors_rounds_item(pattern, delta, 0, class)];
	uint16_t *own_other = &pattern->own[fors_rounds_item(pattern, other, 0, class)], round = *own;

	if (one[*own_other] + two[*own] <= one[*own] + two[*own_other])
		return false;
	*own = *own_other;
	*own_other = round;
	return true;
}

/* Put the distances of each class in the order that core/tables/level_own.c had in mind; false: out of memory. */
static bool reorder(struct fors_rounds_pattern *pattern)
{
	uint32_t nleaves = pattern->problem->nleaves;
	uint16_t *wanted = calloc((size_t)pattern->nclasses * nleaves * nleaves, sizeof(*wanted));

	if (!wanted)
		return false;
	count_wanted(pattern, wanted);
	for (uint32_t c = 0; c < pattern->nclasses; c++)
		for (uint32_t delta = 1; delta < nleaves; delta++)
			for (uint32_t other = 1; other < nleaves && fors_rounds_spend(pattern->problem, 2); other++)
				if (other != delta && exchange(pattern, wanted, c, delta, other))
					other = 0;
	free(wanted);
	return true;
}

bool fors_rounds_own_rounds(struct fors_rounds_pattern *pattern)
{
	find_own_rounds(pattern);
	return !can_reorder(pattern) || reorder(pattern);
}
