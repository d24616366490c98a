/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan_over.h"

#include <stdlib.h>

static enum fors_err plan(const struct fors_request *whole, const struct fors_participants *servers,
			  struct fors_jobplan *made, struct fors_error *error)
{
	struct fors_request request = *whole;
	struct fors_outcome outcome;
	enum fors_err err;

	request.participants = servers;
	request.haste = FORS_ONE_OF_MANY;
	fors_limit_method(&request.task.limits, "auto");
	err = fors_plan_proven(&request, &made->plan, &outcome, &made->error);
	if (!err)
		made->lower_bound = made->alone_bound = outcome.tables_bound;
	return fors_jobplan_ends(made, err, error);
}

static enum fors_err plan_job(const struct fors_request *request, const struct fors_fabric *seats,
			      const struct fors_jobentry *job, struct fors_jobplan *made, struct fors_error *error)
{
	struct fors_participants servers = {.count = job->count};
	enum fors_err err;

	if (!job->count) {
		fors_fail(&made->error, FORS_ENOPLAN, "none of its servers is there, or takes part");
		return FORS_OK;
	}
	servers.guid = malloc(job->count * sizeof(*servers.guid));
	if (!servers.guid)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < job->count; i++)
		servers.guid[i] = seats->server[job->server[i]].guid;
	err = plan(request, &servers, made, error);
	free(servers.guid);
	return err;
}

enum fors_err fors_jobplans_over(const struct fors_request *request, const struct fors_fabric *seats,
				 const struct fors_joblist *list, const struct fors_jobkept *kept,
				 struct fors_jobplans *plans, struct fors_error *error)
{
	struct fors_jobplans made = {.job = calloc(list->count + (size_t)1, sizeof(*made.job)), .count = list->count};
	enum fors_err err = FORS_OK;

	if (!made.job)
		return fors_fail_memory(error);
	for (uint32_t j = 0; j < list->count; j++)
		made.job[j] = (struct fors_jobplan){.whose = FORS_OVER_ALL,
						    .lower_bound = FORS_UNKNOWN,
						    .alone_bound = FORS_UNKNOWN,
						    .index = FORS_UNKNOWN,
						    .is_kept = kept && kept[j].plan};
	for (uint32_t j = 0; j < list->count && !err; j++)
		if (!made.job[j].is_kept)
			err = plan_job(request, seats, &list->job[j], &made.job[j], error);
	if (err)
		fors_jobplans_clear(&made);
	else
		*plans = made;
	return err;
}
