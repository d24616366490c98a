/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * units.h - whole units of a two-level tree, and the round in which each begins. Private to this module.
 *
 * A unit is what a group of servers of a leaf sends to one server. All units of the same distance between leaves, class of
 * the receiver's place (core/tables/home.h) and group, one from each leaf, are an item.
 * Thread rules: plain data of one call.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_UNITS_H
#define FORS_CORE_PLANNERS_FLOWS_UNITS_H

#include "problem.h"

struct fors_units {
	const struct fors_task *task;
	struct fors_flows_problem problem; /* all but senders and lump is that of the flows */
	uint32_t parts, length;		   /* groups of a leaf; phases of a round */
	uint32_t nclasses, *class;	   /* per server: of its place */
	uint8_t *lane;			   /* [class * nleaves + distance]: that most leaves take, FORS_NO_LANE: none */
	uint16_t *round;		   /* [(class * nleaves + distance) * parts + group] */
	bool *is_fixed;			   /* [class * nleaves + distance], while rounds are exchanged */
};

/* Number of the item of a unit, of all groups: class * nleaves + distance. */
static inline size_t fors_units_item(const struct fors_units *units, uint32_t leaf, uint32_t d)
{
	uint32_t to = units->task->fabric->server[d].leaf, n = units->task->fabric->nleaves;

	return (size_t)units->class[d] * n + (to >= leaf ? to - leaf : to + n - leaf);
}

/* Find classes, and lanes of items; false: out of memory. */
bool fors_units_look(struct fors_units *units);
/* Does a unit take the lane that most of its item do, or none? */
bool fors_units_is_usual(const struct fors_units *units, uint32_t leaf, uint32_t d);
/*
 * Do all classes keep step, so that a leaf sends to one other in a round? Where leaves have more lanes than servers; and where
 * nothing is dead, since a leaf's own servers have a round to themselves then.
 */
bool fors_units_keep_step(const struct fors_units *units);
/* Rounds of all items by the arithmetic of core/tables/home.h. */
void fors_units_at_home(struct fors_units *units, uint32_t nrounds);
/* Rounds by a colouring of items, those that find one; false: out of memory. */
bool fors_units_colour(struct fors_units *units, uint32_t nrounds);

#endif
