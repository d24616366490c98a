/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_tabu.c - a tabu search for the last units above the cap.
 *
 * What is to be made 0 is the surplus: the load above the cap, over all links. The links that are too full take turns;
 * each makes the best move of one of its units, even if the surplus does not shrink, and the unit has to stay for a few
 * steps. That leads out of places where each single move makes something else too full, which is where level_repair.c
 * gets stuck when all links of several leaves must be filled to the brim. (To choose the best of all links in each step
 * finds no more for the same effort.)
 */
#include "leveller.h"

#define STEPS 600 /* without a lower surplus */
#define STAY 6	  /* steps that a moved unit has to stay at least */

bool fors_leveller_tabu(struct fors_leveller *leveller)
{
	uint64_t least = leveller->surplus;
	uint32_t end = STEPS, link = 0;

	for (uint32_t step = 1; step < end && leveller->surplus && leveller->effort; step++) {
		struct fors_leveller_move move;

		link = fors_leveller_next_over(leveller, link);
		if (link == FORS_NONE)
			link = fors_leveller_next_over(leveller, 0);
		move = fors_leveller_best_move(leveller, link, INT64_MAX, step);
		if (move.unit != FORS_NONE) {
			fors_leveller_make_move(leveller, &move);
			leveller->unit[move.unit].free_at = step + STAY + step % 5;
		}
		link++;
		if (leveller->surplus < least) {
			least = leveller->surplus;
			end = step + STEPS;
		}
	}
	return !leveller->surplus;
}
