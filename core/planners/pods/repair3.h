/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repair3.h - ways round dead tops, and dead cables to tops, that leave every unit its round (private to this room).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_REPAIR3_H
#define FORS_CORE_PLANNERS_PODS_REPAIR3_H

#include "cohorts.h"

/*
 * Ways of path index 0 round what is dead between mids and tops, as far as units that stay in their pod leave room for
 * them: changes entries of `ways`, which are at home, so that units still have the rounds of fors_cohorts_round() to
 * themselves. What it finds no room for stays as it is; how many items, in *nleft, and how many change lanes, in
 * *nmoved. is_trial: only that, nothing changes, and when more than `most` are left it is not looked for how many more
 * there are. Errors: FORS_ENOMEM.
 */
enum fors_err fors_repair3(const struct fors_cohorts *cohorts, struct fors_ways3 *ways, bool is_trial, uint32_t most,
			   uint32_t *nleft, uint32_t *nmoved, struct fors_error *error);

#endif
