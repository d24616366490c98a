/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repair3.h - ways round dead tops, and dead cables to tops, that leave every unit its round (private to this module).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_REPAIR3_H
#define FORS_CORE_PLANNERS_PODS_REPAIR3_H

#include "cohorts.h"

/* An item that does not go as at home. */
struct fors_move3 {
	uint32_t pod, slot;  /* from there, to there */
	uint32_t lane, rung; /* rung: FORS_NONE: none */
};

struct fors_repair3 {
	uint32_t nleft;		 /* items that there is no room for; they stay as they are */
	uint32_t nlanes;	 /* items that change lanes */
	struct fors_move3 *move; /* nmoves of them */
	uint32_t nmoves, room;
};

/*
 * Ways of path index 0 round what is dead between mids and tops, as far as units that stay in their pod leave room for
 * them, in *repair, which the caller clears (fors_repair3_clear()): moves from home, so that units still have the rounds of
 * fors_cohorts_round() to themselves. Of `ways` only those down count. When more than `most` items are left it is
 * not looked for more. may_trade: items may change lanes for it. Errors: FORS_ENOMEM.
 */
enum fors_err fors_repair3_find(const struct fors_cohorts *cohorts, const struct fors_ways3 *ways, bool may_trade,
				uint32_t most, struct fors_repair3 *repair, struct fors_error *error);
void fors_repair3_clear(struct fors_repair3 *repair);

/* Write the moves that were found for these cohorts to `ways`, which are at home. */
void fors_repair3_write(const struct fors_repair3 *repair, const struct fors_cohorts *cohorts, struct fors_ways3 *ways);

#endif
