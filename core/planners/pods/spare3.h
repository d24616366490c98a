/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spare3.h - other lanes and rungs for units that lost their way, in the rounds that they have (private to this room).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_SPARE3_H
#define FORS_CORE_PLANNERS_PODS_SPARE3_H

#include "cohorts.h"

/*
 * Ways of path index 0 for units that have none, such that they keep the round of fors_cohorts_round() and share no link there.
 * Entries of leaves change, of units without a way and of some that go elsewhere to make room, and those of mids up, and of tops
 * that have a choice, that no other unit uses. What finds no such way has 0 as before. Unless may_be_part all find one, or all is as
 * it was; may_be_part: a fourth of them, or all is as it was. `steps`: so many places are looked at, about. Errors: FORS_ENOMEM, with
 * nothing written.
 */
enum fors_err fors_spare3(const struct fors_cohorts *cohorts, struct fors_ways3 *ways, bool may_be_part, uint64_t steps,
			  struct fors_error *error);

#endif
