/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repair.h - ways round dead tops, and dead cables to tops, that leave every unit its round (private to this module).
 * Thread rules: one thread writes.
 */
#ifndef FORS_CORE_PLANNERS_PODS_REPAIR_H
#define FORS_CORE_PLANNERS_PODS_REPAIR_H

#include "groups.h"

/*
 * Ways of path index 0, which are at home, go round what is dead between mids and tops, as far as units that stay in their pod
 * leave room for them, so that units still have the rounds of fors_pods_groups_round() to themselves; others stay as they
 * are. may_trade: items may change lanes for it. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_repair(const struct fors_pods_groups *groups, struct fors_pods_ways *ways, bool may_trade,
			       struct fors_error *error);

#endif
