/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * planner.h - the list of planning methods, and the choice among them.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PLANNER_H
#define FORS_CORE_PLANNERS_PLANNER_H

#include "method.h"

/* All methods, simplest first; count in *count. */
const struct fors_method *const *fors_methods(size_t *count);

/*
 * Plan with the method called `name`, or with `auto`: of the plans of rounds, exact and flows, as far as
 * they apply, the one with the fewest phases; on a tie with the fewest in which anybody sends, then of the smallest
 * file.
 * Errors: as struct fors_method; FORS_ENOPATH when leaves have no common spine;
 * FORS_EINPUT for an unknown name; FORS_ENOTAPPL when there is no server; FORS_ELIMIT
 * when every method would take more memory than task->limits.bytes.
 */
enum fors_err fors_plan(const struct fors_task *task, const char *name, struct fors_schedule **schedule,
			struct fors_error *error);

#endif
