/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mended.h - what a repair would give back.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_MENDED_H
#define FORS_CORE_PLANNERS_MENDED_H

#include "core/fabric/repairs.h"
#include "method.h"
#include "over.h"

/*
 * How many phases the exchange of task->fabric (task->lanes is not looked at) would take with this repair and nothing
 * else, by this method, in *phases: those of a plan that was proven. phases_now: those of the plan that there is;
 * where bounds say that a repair cannot lead below it they are the answer, and nothing is planned. 0: there would be
 * no plan either.
 * Errors: FORS_ENOMEM, FORS_ECANCELLED (task->cancelled said so), FORS_EINPUT (no repair of this fabric).
 */
enum fors_err fors_phases_mended(const struct fors_task *task, const char *method, const struct fors_repair *repair,
				 uint32_t phases_now, uint32_t *phases, struct fors_error *error);

/*
 * The same of a tree of three levels, over the tables that fors would make. Of the task counts who takes part, and
 * whether to go on.
 */
enum fors_err fors_phases_mended3(const struct fors_over_task *task, const struct fors_pods *pods,
				  const struct fors_repair *repair, uint32_t phases_now, uint32_t *phases,
				  struct fors_error *error);

#endif
