/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reroute.h - room for one more message in a phase, by other ways for those that are in it.
 * Thread rules: a board belongs to one thread.
 */
#ifndef FORS_CORE_DEMAND_REROUTE_H
#define FORS_CORE_DEMAND_REROUTE_H

#include <stddef.h>

#include "core/planners/method.h"
#include "problem.h"

#define FORS_DEMAND_NOBODY UINT32_MAX
#define FORS_DEMAND_MOST_MOVES 64

/* Who holds what in a phase. What is packed has numbers: items. All borrowed. */
struct fors_demand_board {
	const struct fors_demand_problem *problem;
	uint32_t *holder; /* of resource x: holder[x * stride + at], an item or FORS_DEMAND_NOBODY */
	size_t stride, at;
	const uint32_t *message_of; /* per item; NULL: an item is its message */
	uint32_t *path;		    /* per item that is in the phase: its path index */
	struct fors_effort *effort;
};

/* An item, and the path that it had before; FORS_DEMAND_NOBODY: none. */
struct fors_demand_move {
	uint32_t item, before;
};

/*
 * Put an item whose ports are free into the phase, on links of which others have to give up one: each of them moves to another way, along a chain. The
 * moves in move[FORS_DEMAND_MOST_MOVES], the item's first, and how many; 0: there is no such chain, and nothing has changed. Ports are left
 * to the caller.
 */
uint32_t fors_demand_reroute(const struct fors_demand_board *board, uint32_t item, struct fors_demand_move *move);

#endif
