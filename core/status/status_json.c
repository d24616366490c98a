/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_json.c - the status as JSON, for programs.
 *
 * Writing and reading walk the table of keys (status_keys.h), value by value; what a value of one kind is in JSON, object.c says.
 * Here is what only a status has: its lists, and objects that need not be known. Reading is for `fors status`.
 */
#include "status_json.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "status_keys.h"

/* --- writing -------------------------------------------------------------------------------------------------- */

static json_t *since_to_json(const struct fors_links *dead)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < dead->count; i++) {
		int64_t ms = dead->link[i].since_ms;

		if (json_array_append_new(list, ms < 0 ? json_null() : json_integer(ms))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *fors_warnings_to_json(const struct fors_warnings *warnings)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < fors_warnings_kept(warnings); i++)
		if (json_array_append_new(list, fors_json_text(warnings->text[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *gains_to_json(const struct fors_gains *gains)
{
	if (!gains->is_known)
		return json_null();
	return json_pack("{s:o, s:i}", "list", fors_objects_to_json(&fors_gain_object, gains->gain, gains->count),
			 "untried", (int)gains->untried);
}

/* New reference, NULL: out of memory. Lists are null when nobody has looked at a fabric. */
static json_t *to_json(const struct fors_status *status, const struct fors_key *key)
{
	struct fors_key_list list;

	switch (key->kind) {
	case FORS_KEY_LIST:
		list = fors_key_list(status, key);
		return status->leaves < 0 ? json_null() : fors_objects_to_json(key->of, list.first, list.count);
	case FORS_KEY_DEAD_SINCE:
		return status->leaves < 0 ? json_null() : since_to_json(&status->dead_links);
	case FORS_KEY_REPAIRS:
		return gains_to_json(&status->repairs);
	case FORS_KEY_JOBS:
		return fors_jobstats_to_json(&status->jobs);
	case FORS_KEY_WARNINGS:
		return fors_warnings_to_json(&status->warnings);
	case FORS_KEY_FAILOVER:
		return status->failover.epoch < 0 ? json_null()
						  : fors_object_to_json(&fors_failover_object, &status->failover);
	case FORS_KEY_SHADOW:
		return fors_object_to_json(&fors_shadow_object, &status->shadow);
	default:
		return fors_key_to_json(key, status);
	}
}

enum fors_err fors_status_to_json(const struct fors_status *status, json_t **object, struct fors_error *error)
{
	json_t *made = json_object();

	for (size_t i = 0; made && i < fors_status_object.count; i++) {
		const struct fors_key *key = &fors_status_object.key[i];

		if ((key->kind != FORS_KEY_SHADOW || status->shadow.is_known) &&
		    json_object_set_new(made, key->name, to_json(status, key))) {
			json_decref(made);
			made = NULL;
		}
	}
	if (!made)
		return fors_fail_memory(error);
	*object = made;
	return FORS_OK;
}

static int add_json(const char *text, size_t size, void *buffer)
{
	fors_buffer_print(buffer, "%.*s", (int)size, text);
	return ((struct fors_buffer *)buffer)->is_short ? -1 : 0;
}

enum fors_err fors_status_json(const struct fors_status *status, char **text, struct fors_error *error)
{
	struct fors_buffer buffer = {0};
	json_t *object;

	if (fors_status_to_json(status, &object, error))
		return FORS_ENOMEM;
	if (json_dump_callback(object, add_json, &buffer, FORS_STATUS_JSON))
		buffer.is_short = true;
	json_decref(object);
	fors_buffer_print(&buffer, "\n");
	return fors_buffer_finish(&buffer, text, NULL, error);
}

/* --- reading -------------------------------------------------------------------------------------------------- */

static enum fors_err good_if(bool is_good)
{
	return is_good ? FORS_OK : FORS_EINPUT;
}

/* Into the list of a key, which has none yet. */
static enum fors_err parse_list(const json_t *value, const struct fors_key *key, struct fors_status *status)
{
	struct fors_key_list list = fors_key_list(status, key);
	enum fors_err err = list.first ? FORS_EINPUT : fors_objects_parse(key->of, value, &list.first, &list.count);

	memcpy((char *)status + key->offset, &list, sizeof(list));
	return err;
}

/* One time for each dead link, in their order; dead_links came before. */
static bool parse_since(const json_t *value, struct fors_links *dead)
{
	if (!json_is_array(value) || json_array_size(value) != dead->count)
		return false;
	for (size_t i = 0; i < dead->count; i++) {
		const json_t *ms = json_array_get(value, i);

		dead->link[i].since_ms = json_is_null(ms) ? FORS_UNKNOWN : json_integer_value(ms);
		if (!json_is_null(ms) && (!json_is_integer(ms) || dead->link[i].since_ms < 0))
			return false;
	}
	return true;
}

static bool parse_warnings(const json_t *value, struct fors_warnings *warnings)
{
	if (!json_is_array(value))
		return false;
	for (size_t i = 0; i < json_array_size(value); i++) {
		const char *text = json_string_value(json_array_get(value, i));

		if (!text)
			return false;
		fors_warn(warnings, "%s", text);
	}
	return true;
}

/* The first ones, should there be more. */
static bool parse_gains(const json_t *value, struct fors_gains *gains)
{
	const json_t *list = json_object_get(value, "list"), *untried = json_object_get(value, "untried");
	size_t n = json_array_size(list);

	gains->is_known = true;
	gains->untried = (uint32_t)json_integer_value(untried);
	for (; gains->count < n && gains->count < FORS_GAINS_MAX; gains->count++) {
		struct fors_gain *gain = &gains->gain[gains->count];

		if (!fors_object_parse(&fors_gain_object, json_array_get(list, gains->count), gain) ||
		    gain->phases <= 0)
			return false;
	}
	return json_is_array(list) && json_is_integer(untried) && json_integer_value(untried) >= 0 &&
	       json_integer_value(untried) <= INT32_MAX;
}

static bool parse_shadow(const json_t *value, struct fors_shadow_facts *facts)
{
	facts->is_known = true;
	return fors_object_parse(&fors_shadow_object, value, facts);
}

/* FORS_EINPUT: the value is not of the key's kind. */
static enum fors_err parse_value(const json_t *value, const struct fors_key *key, struct fors_status *status)
{
	switch (key->kind) {
	case FORS_KEY_LIST:
		return parse_list(value, key, status);
	case FORS_KEY_DEAD_SINCE:
		return good_if(parse_since(value, &status->dead_links));
	case FORS_KEY_REPAIRS:
		return good_if(parse_gains(value, &status->repairs));
	case FORS_KEY_JOBS:
		return fors_jobstats_parse(value, &status->jobs);
	case FORS_KEY_WARNINGS:
		return good_if(parse_warnings(value, &status->warnings));
	case FORS_KEY_FAILOVER:
		return good_if(fors_object_parse(&fors_failover_object, value, &status->failover) &&
			       status->failover.epoch >= 0);
	case FORS_KEY_SHADOW:
		return good_if(parse_shadow(value, &status->shadow));
	default:
		return good_if(fors_key_parse(key, value, status));
	}
}

/* A missing key or null leaves "unknown". */
static enum fors_err parse_keys(const json_t *object, const char *name, struct fors_status *status,
				struct fors_error *error)
{
	if (!json_is_string(json_object_get(object, "state")))
		return fors_fail(error, FORS_EINPUT, "%s: not a status of fors: it has no state", name);
	for (size_t i = 0; i < fors_status_object.count; i++) {
		const struct fors_key *key = &fors_status_object.key[i];
		const json_t *value = json_object_get(object, key->name);
		enum fors_err err = value && !json_is_null(value) ? parse_value(value, key, status) : FORS_OK;

		if (err == FORS_ENOMEM)
			return fors_fail_memory(error);
		if (err)
			return fors_fail(error, err, "%s: not a status of fors: odd value of \"%s\"", name, key->name);
	}
	return FORS_OK;
}

enum fors_err fors_status_parse(const char *text, const char *name, struct fors_status *status,
				struct fors_error *error)
{
	struct fors_status found;
	json_error_t fault;
	json_t *object;
	enum fors_err err;

	errno = 0;
	object = json_loads(text, 0, &fault);
	if (!object && errno == ENOMEM) /* jansson speaks of bad syntax then, or says nothing */
		return fors_fail_memory(error);
	if (!object)
		return fors_fail(error, FORS_EINPUT, "%s:%d: not JSON: %s", name, fault.line, fault.text);
	fors_status_init(&found);
	err = parse_keys(object, name, &found, error);
	json_decref(object);
	if (err) {
		fors_status_clear(&found);
		return err;
	}
	*status = found;
	return FORS_OK;
}
