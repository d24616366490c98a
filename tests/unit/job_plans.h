/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* job_plans.h - plans of jobs on a fabric of two levels, whose lanes have these owners. */
#ifndef FORS_TESTS_JOB_PLANS_H
#define FORS_TESTS_JOB_PLANS_H

#include <stdlib.h>

#include "core/base/unknown.h"
#include "core/jobs/entries.h"
#include "core/planners/jobplan_over.h"

/* index: the path index of jobs, whose entries are in the tables of the request; NULL: none is. */
static inline enum fors_err plan_jobs(const struct fors_request *request, const struct fors_joblist *list,
				      const struct fors_owners *owners, const struct fors_jobindex *index,
				      const struct fors_jobkept *kept, struct fors_jobplans *plans,
				      struct fors_error *error)
{
	const struct fors_fabric *floor = request->task.fabric;
	const struct fors_floors floors = {.count = 1, .floor = &floor};
	struct fors_owners lanes = *owners;
	struct fors_entries entries = index ? *index->entries : (struct fors_entries){0};
	uint32_t *none = calloc(list->count + (size_t)1, sizeof(*none));
	const struct fors_holdings holdings = {
		.nfloors = 1, .owners = &lanes, .entries = &entries, .bound = index ? entries.bound : none};
	const struct fors_jobfloors whose = {&floors, &holdings, index ? (int64_t)index->index : FORS_UNKNOWN};
	enum fors_err err = fors_jobplans_floors(request, &whose, list, kept, plans, error);

	free(none);
	return err;
}

#endif
