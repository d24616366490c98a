/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan_left.h - whose the lanes were, by the schedules of jobs that an earlier subnet manager left.
 *
 * The schedules are what processes follow, and what was checked when they were read; so nothing else has to be kept of owners.
 * What they say is a claim: a lane that two of them use, or one that is not there, was nobody's.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_JOBPLAN_LEFT_H
#define FORS_CORE_PLANNERS_JOBPLAN_LEFT_H

#include "core/jobs/holdings.h"
#include "core/schedule/schedule.h"

/*
 * left[]: for each job of the list the schedule that it has, borrowed, NULL: none. The lanes on all floors of a tree, with the entries
 * that these ways are made of, for struct fors_holdings_task, in *before, owned by the caller (fors_holdings_clear()). `index`: only those of this path index; negative: of
 * all, and of several ways to a server the first is the entry. Errors: FORS_ENOMEM.
 */
enum fors_err fors_jobplans_left(const struct fors_floors *floors, const struct fors_joblist *list,
				 const struct fors_schedule *const *left, int64_t index, struct fors_holdings *before,
				 struct fors_error *error);

#endif
