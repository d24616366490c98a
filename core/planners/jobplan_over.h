/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan_over.h - a schedule for each of several jobs over the tables of any engine, in a net of any topology.
 *
 * Outside of trees no lane is anybody's: each job is planned over all of the fabric, as if it were alone there (outcome.h), and
 * may meet the others. In a tree jobs own lanes on its floors (core/jobs/holdings.h).
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_JOBPLAN_OVER_H
#define FORS_CORE_PLANNERS_JOBPLAN_OVER_H

#include "core/jobs/holdings.h"
#include "jobplan.h"
#include "outcome.h"

/*
 * Plan and prove the jobs of a list on these seats (core/jobs/running.h), in *plans, owned by the caller
 * (fors_jobplans_clear()). The participants of the request are not looked at. Jobs that have a plan in kept[] (NULL: none
 * has) keep it. That a job has no plan is no error here. Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_jobplans_over(const struct fors_request *request, const struct fors_fabric *seats,
				 const struct fors_joblist *list, const struct fors_jobkept *kept,
				 struct fors_jobplans *plans, struct fors_error *error);

/* Whose the cables of a tree are. */
struct fors_jobfloors {
	const struct fors_floors *floors;
	const struct fors_holdings *holdings;
	int64_t index; /* the path index that belongs to jobs, whose entries are in the tables; negative: none does */
};

/*
 * The same in a tree in which jobs own lanes; the list is on floor 0. A job that has entries is planned over them, one that is marked
 * and has none over the same path index, over all lanes. Any other that is exclusive takes its own lanes; where these do not
 * join it also those that nobody owns, then all, as one that shares does from the start (jobplan.h). A plan that is kept is proven
 * once more, and what is not right is planned anew. What is proven is as in jobplan.h, and meetings are counted.
 */
enum fors_err fors_jobplans_floors(const struct fors_request *request, const struct fors_jobfloors *lanes,
				   const struct fors_joblist *list, const struct fors_jobkept *kept,
				   struct fors_jobplans *plans, struct fors_error *error);

#endif
