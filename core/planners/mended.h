/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mended.h - what a repair would give back.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_MENDED_H
#define FORS_CORE_PLANNERS_MENDED_H

#include "core/fabric/repairs.h"
#include "method.h"

/*
 * How many phases the exchange of the tree would take with this repair and nothing else, within its limits, over the tables
 * that fors would make, in *phases: those of a plan that was proven. Of the task count the limits, and whether to go on.
 * phases_now: those of the plan that there is; where bounds say that a repair cannot lead below it they are the answer,
 * and nothing is planned. 0: there would be no plan either.
 * Errors: FORS_ENOMEM, FORS_ECANCELLED (task->cancelled said so), FORS_EINPUT (no repair of this tree).
 */
enum fors_err fors_phases_mended(const struct fors_task *task, struct fors_fattree tree,
				 const struct fors_repair *repair, uint32_t phases_now, uint32_t *phases,
				 struct fors_error *error);

/*
 * How many phases the exchange of the tree would take if the ports of servers that take no part were not there, over the tables that
 * fors would make then; the rest as above. 0: not known, for everybody takes part, or a cable is dead or drained.
 * Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_phases_alone(const struct fors_task *task, const struct fors_fattree *tree, uint32_t *phases,
				struct fors_error *error);

#endif
