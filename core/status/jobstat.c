/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobstat.c - what is told of each of several jobs, as JSON, by a table of its keys (object.h).
 */
#include "jobstat.h"

#include <stdlib.h>

#include "core/base/unknown.h"
#include "object.h"

#define AT(member) FORS_KEY_AT(#member, struct fors_jobstat, member)

static const char *const states[] = {
	[FORS_JOB_IS_PLANNED] = "active", [FORS_JOB_IS_WITHDRAWN] = "withdrawn", [FORS_JOB_HAS_NONE] = "failed", NULL};

static const struct fors_key keys[] = {
	{AT(name), FORS_KEY_NAME},
	{AT(state), FORS_KEY_WORD, NULL, NULL, states},
	{FORS_KEY_AT("exclusive", struct fors_jobstat, is_exclusive), FORS_KEY_FLAG},
	{FORS_KEY_AT("job_index", struct fors_jobstat, has_index), FORS_KEY_FLAG},
	{FORS_KEY_AT("over", struct fors_jobstat, whose), FORS_KEY_TEXT},
	{AT(reason), FORS_KEY_TEXT},
	{AT(demand), FORS_KEY_TEXT},
	{AT(demand_reason), FORS_KEY_TEXT},
	{AT(demand_over_bound), FORS_KEY_SHARE},
	{AT(servers), FORS_KEY_NUMBER},
	{AT(missing), FORS_KEY_NUMBER},
	{AT(leaves), FORS_KEY_NUMBER},
	{AT(lanes), FORS_KEY_NUMBER},
	{AT(phases), FORS_KEY_NUMBER},
	{AT(lower_bound), FORS_KEY_NUMBER},
	{AT(alone_bound), FORS_KEY_NUMBER},
	{AT(path_index), FORS_KEY_NUMBER},
	{AT(epoch), FORS_KEY_NUMBER},
	{AT(expected_phases), FORS_KEY_NUMBER},
	{AT(demand_epoch), FORS_KEY_NUMBER},
	{AT(demand_phases), FORS_KEY_NUMBER},
};
static const struct fors_object job_object = FORS_OBJECT(keys, struct fors_jobstat);

void fors_jobstats_clear(struct fors_jobstats *jobs)
{
	free(jobs->job);
	*jobs = (struct fors_jobstats){.is_known = false};
}

const char *fors_jobstate_name(enum fors_jobstate state)
{
	return states[state];
}

size_t fors_jobstats_in(const struct fors_jobstats *jobs, enum fors_jobstate state)
{
	size_t n = 0;

	for (size_t i = 0; i < jobs->count; i++)
		n += jobs->job[i].state == state;
	return n;
}

double fors_jobstat_ratio(const struct fors_jobstat *job)
{
	return job->phases > 0 && job->alone_bound > 0 ? (double)job->alone_bound / (double)job->phases : FORS_UNKNOWN;
}

json_t *fors_jobstats_to_json(const struct fors_jobstats *jobs)
{
	static const struct fors_key ratio = {.name = "ratio", .size = sizeof(double), .kind = FORS_KEY_SHARE};
	json_t *list = jobs->is_known ? fors_objects_to_json(&job_object, jobs->job, jobs->count) : json_null();

	for (size_t i = 0; list && i < jobs->count; i++) {
		double value = fors_jobstat_ratio(&jobs->job[i]);

		if (json_object_set_new(json_array_get(list, i), ratio.name, fors_key_to_json(&ratio, &value))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

enum fors_err fors_jobstats_parse(const json_t *value, struct fors_jobstats *jobs)
{
	void *first = jobs->job;
	enum fors_err err = first ? FORS_EINPUT : fors_objects_parse(&job_object, value, &first, &jobs->count);

	jobs->job = first;
	jobs->is_known = true;
	return err;
}
