/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan_over.h - a schedule for each of several jobs over the tables of any engine, in a net of any topology.
 *
 * There no lane is anybody's: each job is planned over all of the fabric, as if it were alone there (over.h), and may
 * meet the others.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_JOBPLAN_OVER_H
#define FORS_CORE_PLANNERS_JOBPLAN_OVER_H

#include "jobplan.h"
#include "over.h"

/*
 * Plan and prove the jobs of a list on these seats (core/jobs/running.h), in *plans, owned by the caller
 * (fors_jobplans_clear()). The participants of the task are not looked at. Jobs that have a plan in kept[] (NULL: none
 * has) keep it. That a job has no plan is no error here. Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_jobplans_over(const struct fors_over_task *task, const struct fors_fabric *seats,
				 const struct fors_joblist *list, const struct fors_jobkept *kept,
				 struct fors_jobplans *plans, struct fors_error *error);

#endif
