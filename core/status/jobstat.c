/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobstat.c - what is told of each of several jobs, as JSON. As in the status itself (status_keys.h) one table says
 * which numbers there are; what is unknown is null, and keys that are not known are of a newer fors.
 */
#include "jobstat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/base/unknown.h"
#include "status_keys.h"

#define AT(member) #member, offsetof(struct fors_jobstat, member)

static const struct number {
	const char *key;
	size_t offset;
} numbers[] = {
	{AT(servers)}, {AT(missing)},	      {AT(leaves)},	  {AT(lanes)},
	{AT(phases)},  {AT(lower_bound)},     {AT(alone_bound)},  {AT(path_index)},
	{AT(epoch)},   {AT(expected_phases)}, {AT(demand_epoch)}, {AT(demand_phases)},
};

#define NNUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static const char *const states[] = {
	[FORS_JOB_IS_PLANNED] = "active", [FORS_JOB_IS_WITHDRAWN] = "withdrawn", [FORS_JOB_HAS_NONE] = "failed"};

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

/* --- writing -------------------------------------------------------------------------------------------------- */

static json_t *real_or_null(double number)
{
	return number < 0 ? json_null() : json_real(round(number * 1e6) / 1e6);
}

/* False: out of memory; the value is used up in any case. */
static bool put(json_t *object, const char *key, json_t *value)
{
	return !json_object_set_new(object, key, value);
}

static json_t *to_json(const struct fors_jobstat *job)
{
	json_t *object = json_object();
	double ratio = fors_jobstat_ratio(job);
	bool is_good = object && put(object, "name", fors_text_or_null(job->name)) &&
		       put(object, "state", json_string(states[job->state])) &&
		       put(object, "exclusive", json_boolean(job->is_exclusive)) &&
		       put(object, "job_index", json_boolean(job->has_index)) &&
		       put(object, "over", fors_text_or_null(job->whose)) &&
		       put(object, "reason", fors_text_or_null(job->reason)) &&
		       put(object, "demand", fors_text_or_null(job->demand)) &&
		       put(object, "demand_reason", fors_text_or_null(job->demand_reason)) &&
		       put(object, "demand_over_bound", real_or_null(job->demand_over_bound));

	for (size_t i = 0; is_good && i < NNUMBERS; i++) {
		int64_t number = *(const int64_t *)((const char *)job + numbers[i].offset);

		is_good = put(object, numbers[i].key, number < 0 ? json_null() : json_integer(number));
	}
	if (is_good && put(object, "ratio", real_or_null(ratio)))
		return object;
	json_decref(object);
	return NULL;
}

json_t *fors_jobstats_to_json(const struct fors_jobstats *jobs)
{
	json_t *list;

	if (!jobs->is_known)
		return json_null();
	list = json_array();
	for (size_t i = 0; list && i < jobs->count; i++)
		if (json_array_append_new(list, to_json(&jobs->job[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* --- reading -------------------------------------------------------------------------------------------------- */

/* A text or null, or nothing; it ends up on terminals, so no control characters come in. */
static bool take_text(const json_t *object, const char *key, char *text, size_t size)
{
	const json_t *value = json_object_get(object, key);

	text[0] = '\0';
	if (json_is_string(value))
		snprintf(text, size, "%s", json_string_value(value));
	fors_text_clean(text);
	return !value || json_is_null(value) || json_is_string(value);
}

static bool take_number(const json_t *object, const struct number *number, struct fors_jobstat *job)
{
	const json_t *value = json_object_get(object, number->key);
	int64_t *at = (int64_t *)((char *)job + number->offset);

	*at = json_is_integer(value) ? json_integer_value(value) : FORS_UNKNOWN;
	return !value || json_is_null(value) || (json_is_integer(value) && *at >= 0);
}

static bool take_state(const json_t *object, enum fors_jobstate *state)
{
	const char *text = json_string_value(json_object_get(object, "state"));

	for (int i = 0; text && i <= FORS_JOB_HAS_NONE; i++)
		if (!strcmp(text, states[i])) {
			*state = (enum fors_jobstate)i;
			return true;
		}
	return false;
}

static bool parse(const json_t *object, struct fors_jobstat *job)
{
	bool is_good = take_text(object, "name", job->name, sizeof(job->name)) && take_state(object, &job->state) &&
		       take_text(object, "over", job->whose, sizeof(job->whose)) &&
		       take_text(object, "reason", job->reason, sizeof(job->reason)) &&
		       take_text(object, "demand", job->demand, sizeof(job->demand)) &&
		       take_text(object, "demand_reason", job->demand_reason, sizeof(job->demand_reason));
	const json_t *over_bound = json_object_get(object, "demand_over_bound");

	job->is_exclusive = json_is_true(json_object_get(object, "exclusive"));
	job->has_index = json_is_true(json_object_get(object, "job_index"));
	job->demand_over_bound = json_is_number(over_bound) ? json_number_value(over_bound) : FORS_UNKNOWN;
	for (size_t i = 0; is_good && i < NNUMBERS; i++)
		is_good = take_number(object, &numbers[i], job);
	return is_good && *job->name;
}

enum fors_err fors_jobstats_parse(const json_t *value, struct fors_jobstats *jobs)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value) || jobs->job)
		return FORS_EINPUT;
	jobs->job = calloc(n + 1, sizeof(*jobs->job));
	if (!jobs->job)
		return FORS_ENOMEM;
	jobs->is_known = true;
	for (jobs->count = 0; jobs->count < n; jobs->count++)
		if (!parse(json_array_get(value, jobs->count), &jobs->job[jobs->count]))
			return FORS_EINPUT;
	return FORS_OK;
}
