/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern_work.h - what the steps of the pattern share (private to pattern*.c; words: pattern.c).
 * Thread rules: a pattern belongs to one call.
 */
#ifndef FORS_CORE_PLANNERS_ROUNDS_PATTERN_WORK_H
#define FORS_CORE_PLANNERS_ROUNDS_PATTERN_WORK_H

#include "core/tables/home.h"
#include "problem.h"

#define FORS_NO_ITEM UINT32_MAX
#define FORS_NO_ROUND UINT16_MAX

struct fors_rounds_pattern {
	const struct fors_rounds_problem *problem;
	uint32_t nrounds, nclasses, nitems;
	uint8_t *lane;	   /* [(delta * nclasses + class) * npaths + path]: of most leaves, FORS_NO_LANE: none */
	uint8_t *path;	   /* [item]: path index chosen */
	uint32_t *movable; /* the items that have a lane, nmovable of them */
	uint8_t *on;	   /* [number in movable]: the lane that it takes */
	uint32_t nmovable;
	uint16_t *colour;   /* [item]: round, FORS_NO_ROUND: none */
	uint16_t *own;	    /* [item]: the round that it should have */
	uint32_t *class_at; /* [class * nrounds + round]: item or FORS_NO_ITEM */
	uint32_t *lane_at;  /* [lane * nrounds + round]: the same */
	uint64_t *taken;    /* [row * nwords + round / 64]: a bit for each item of class_at, then of lane_at */
	uint32_t nwords;
	uint32_t *load;	    /* [lane]: items */
	uint32_t *class_of; /* [server] */
};

/* How many leaves further on `to` is; of those with servers, where what stays inside leaves is apart. */
static inline uint32_t fors_rounds_distance(const struct fors_rounds_problem *problem, uint32_t leaf, uint32_t to)
{
	if (problem->is_apart) {
		uint32_t from = problem->turn_of[leaf], at = problem->turn_of[to];

		return at >= from ? at - from : at + problem->nturns - from;
	}
	return to >= leaf ? to - leaf : to + problem->nleaves - leaf;
}

/* The item of a distance, number of the source group, and class. */
static inline uint32_t fors_rounds_item(const struct fors_rounds_pattern *pattern, uint32_t delta, uint32_t number,
					uint32_t class)
{
	return (delta * pattern->problem->parts + number) * pattern->nclasses + class;
}

static inline uint32_t fors_rounds_item_class(const struct fors_rounds_pattern *pattern, uint32_t item)
{
	return item % pattern->nclasses;
}

static inline uint32_t fors_rounds_item_delta(const struct fors_rounds_pattern *pattern, uint32_t item)
{
	return item / pattern->nclasses / pattern->problem->parts;
}

/* Lane of an item over a path index, FORS_NO_LANE: none, or inside the leaf. */
static inline uint8_t fors_rounds_item_lane(const struct fors_rounds_pattern *pattern, uint32_t item, uint32_t path)
{
	uint32_t place =
		fors_rounds_item_delta(pattern, item) * pattern->nclasses + fors_rounds_item_class(pattern, item);

	return pattern->lane[(size_t)place * pattern->problem->npaths + path];
}

static inline uint8_t fors_rounds_chosen_lane(const struct fors_rounds_pattern *pattern, uint32_t item)
{
	return fors_rounds_item_lane(pattern, item, pattern->path[item]);
}

/* Home lane of the item's places. */
static inline uint32_t fors_rounds_item_home(const struct fors_rounds_pattern *pattern, uint32_t item)
{
	return fors_home_class_lane(pattern->problem->nlanes, fors_rounds_item_class(pattern, item));
}

/*
 * With more lanes than places each leaf has other lanes that no place is at home on, free for what is displaced in its
 * own round; no pattern says which.
 */
static inline bool fors_rounds_keeps_step(const struct fors_rounds_pattern *pattern)
{
	return pattern->problem->nlanes > pattern->problem->fabric->nslots;
}

/* Step 1, pattern_own.c: the round that each item should have, in own. False: out of memory. */
bool fors_rounds_own_rounds(struct fors_rounds_pattern *pattern);

/* Step 2, pattern_paths.c: path indices for all items, and with them their lanes. False: out of memory. */
bool fors_rounds_choose_paths(struct fors_rounds_pattern *pattern);

/* Step 3, pattern_colour.c: rounds for all items for which there is one. */
void fors_rounds_colour_items(struct fors_rounds_pattern *pattern);

/* Step 4, pattern_labels.c: balance the source groups. Errors: FORS_ENOMEM. */
enum fors_err fors_rounds_relabel(struct fors_rounds_pattern *pattern, struct fors_error *error);

#endif
