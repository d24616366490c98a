/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repair.h - ways round dead tops, and dead cables to tops, that leave every unit its round (private to this module).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_REPAIR_H
#define FORS_CORE_PLANNERS_PODS_REPAIR_H

#include "groups.h"

/* An item that does not go as at home. */
struct fors_pods_move {
	uint32_t pod, slot;  /* from there, to there */
	uint32_t lane, rung; /* rung: FORS_NONE: none */
};

struct fors_pods_repair {
	uint32_t nleft;		     /* items that there is no room for; they stay as they are */
	uint32_t nlanes;	     /* items that change lanes */
	struct fors_pods_move *move; /* nmoves of them */
	uint32_t nmoves, room;
};

/*
 * Ways of path index 0 round what is dead between mids and tops, as far as units that stay in their pod leave room for
 * them, in *repair, which the caller clears (fors_pods_repair_clear()): moves from home, so that units still have the rounds of
 * fors_pods_groups_round() to themselves. Of `ways` only those down count. When more than `most` items are left it is
 * not looked for more. may_trade: items may change lanes for it. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_repair_find(const struct fors_pods_groups *groups, const struct fors_pods_ways *ways,
				    bool may_trade, uint32_t most, struct fors_pods_repair *repair,
				    struct fors_error *error);
void fors_pods_repair_clear(struct fors_pods_repair *repair);

/* Write the moves that were found for these groups to `ways`, which are at home. */
void fors_pods_repair_write(const struct fors_pods_repair *repair, const struct fors_pods_groups *groups,
			    struct fors_pods_ways *ways);

#endif
