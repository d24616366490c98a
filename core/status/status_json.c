/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_json.c - the status as JSON, for programs.
 *
 * Writing and reading walk the table of keys (status_keys.h), value by value. What is unknown is null: a reader must
 * be able to tell "no dead link" from "nobody has looked". Reading is for `fors status`: keys that it does not know are
 * of a newer fors, and what is missing is unknown; but a value of the wrong kind is an error, since nothing else in
 * such a file can be trusted.
 */
#include "status_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "status_keys.h"

/* --- writing -------------------------------------------------------------------------------------------------- */

/* Node descriptions are bytes, JSON is UTF-8: what is not becomes '?'. */
static json_t *text_to_json(const char *text)
{
	char plain[FORS_ERROR_TEXT];
	json_t *value = json_string(text);

	if (value)
		return value;
	snprintf(plain, sizeof(plain), "%s", text);
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(plain);
}

static json_t *time_to_json(int64_t ms)
{
	return ms < 0 ? json_null() : json_integer(ms);
}

json_t *fors_text_or_null(const char *text)
{
	return *text ? text_to_json(text) : json_null();
}

static json_t *server_to_json(const struct fors_status *status, const struct fors_key *key, size_t i)
{
	const struct fors_links *servers = fors_key_member(status, key);
	const struct fors_link *place = &servers->link[i];

	return json_pack("{s:o, s:i, s:o, s:o}", "leaf", text_to_json(place->a), "port", place->a_port, "server",
			 fors_text_or_null(place->b), "name", fors_text_or_null(place->host));
}

static json_t *switch_to_json(const struct fors_status *status, const struct fors_key *key, size_t i)
{
	const struct fors_dead_switch *one = &status->dead_switches.one[i];

	return json_pack("{s:o, s:s, s:I, s:I}", "switch", text_to_json(one->name), "level", one->level, "cables",
			 (json_int_t)one->cables, "servers", (json_int_t)one->servers);
}

static json_t *link_to_json(const struct fors_link *link, bool is_bare)
{
	json_t *object = json_pack("{s:o, s:i, s:o, s:i}", "a", text_to_json(link->a), "a_port", link->a_port, "b",
				   text_to_json(link->b), "b_port", link->b_port);

	if (object && !is_bare &&
	    (json_object_set_new(object, "since_ms", time_to_json(link->since_ms)) ||
	     json_object_set_new(object, "used", json_boolean(link->is_used)) ||
	     json_object_set_new(object, "planned", json_boolean(link->is_planned)) ||
	     json_object_set_new(object, "rate", fors_text_or_null(link->rate)) ||
	     (link->is_degraded && json_object_set_new(object, "degraded", json_true())) ||
	     (link->changes && json_object_set_new(object, "changes", json_integer(link->changes))))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *warning_to_json(const struct fors_status *status, const struct fors_key *key, size_t i)
{
	return text_to_json(status->warnings.text[i]);
}

static json_t *since_to_json(const struct fors_status *status, const struct fors_key *key, size_t i)
{
	return time_to_json(status->dead_links.link[i].since_ms);
}

/* The i-th link of a list; of dead ones what everybody knows, no more: since when they are dead is another list. */
static json_t *nth_to_json(const struct fors_status *status, const struct fors_key *key, size_t i)
{
	const struct fors_links *links = fors_key_member(status, key);

	return link_to_json(&links->link[i], key->kind == FORS_KEY_DEAD_LINKS);
}

/* A list of `count` values, or null when nobody has looked at a fabric. New reference, NULL: out of memory. */
static json_t *list_to_json(const struct fors_status *status, const struct fors_key *key, size_t count,
			    json_t *(*nth)(const struct fors_status *status, const struct fors_key *key, size_t i))
{
	json_t *list;

	if (status->leaves < 0 && key->kind != FORS_KEY_WARNINGS)
		return json_null();
	list = json_array();
	for (size_t i = 0; list && i < count; i++)
		if (json_array_append_new(list, nth(status, key, i))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* A gain; of a whole spine there is no other end. */
static json_t *gain_to_json(const struct fors_gain *gain)
{
	const struct fors_link *link = &gain->link;

	if (!*link->a)
		return json_pack("{s:n, s:n, s:o, s:n, s:I}", "a", "a_port", "b", text_to_json(link->b), "b_port",
				 "phases", (json_int_t)gain->phases);
	return json_pack("{s:o, s:i, s:o, s:i, s:I}", "a", text_to_json(link->a), "a_port", link->a_port, "b",
			 text_to_json(link->b), "b_port", link->b_port, "phases", (json_int_t)gain->phases);
}

static json_t *gains_to_json(const struct fors_gains *gains)
{
	json_t *list = json_array(), *object;

	if (!gains->is_known) {
		json_decref(list);
		return json_null();
	}
	for (uint32_t i = 0; list && i < gains->count; i++)
		if (json_array_append_new(list, gain_to_json(&gains->gain[i]))) {
			json_decref(list);
			return NULL;
		}
	object = json_pack("{s:o, s:i}", "list", list, "untried", (int)gains->untried);
	return object;
}

static json_t *ms_to_json(double ms)
{
	return ms < 0 ? json_null() : json_real(round(ms * 1000) / 1000);
}

/* One object: what was the last one, and when each step was. */
static json_t *failover_to_json(const struct fors_failover *failover)
{
	json_t *object;
	char name[32];

	if (failover->epoch < 0)
		return json_null();
	object = json_pack("{s:I, s:o}", "epoch", (json_int_t)failover->epoch, "began_ms",
			   time_to_json(failover->began_ms));
	for (unsigned i = 0; object && i < FORS_NSTEPS; i++) {
		snprintf(name, sizeof(name), "%s_ms", fors_step_name((enum fors_step)i));
		if (json_object_set_new(object, name, ms_to_json(failover->ms[i]))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

/* The numbers of shadow mode and their keys, for both ways. */
static const struct {
	const char *name;
	size_t offset;
} shadow_numbers[] = {
#define NUMBER(member)                                                                                                 \
	{                                                                                                              \
#member, offsetof(struct fors_shadow_facts, member)                                                    \
	}
	NUMBER(sweeps),	  NUMBER(skipped),  NUMBER(looked_ms),	    NUMBER(entries),
	NUMBER(compared), NUMBER(switches), NUMBER(present_phases), NUMBER(present_bound),
#undef NUMBER
};
#define NSHADOW (sizeof(shadow_numbers) / sizeof(shadow_numbers[0]))

static json_t *share_to_json(double share)
{
	return share < 0 ? json_null() : json_real(round(share * 1e6) / 1e6);
}

static json_t *shadow_to_json(const struct fors_shadow_facts *facts)
{
	json_t *object = json_pack("{s:o, s:o, s:o}", "present_shift", share_to_json(facts->present_shift), "own_shift",
				   share_to_json(facts->own_shift), "trouble", fors_text_or_null(facts->trouble));

	for (size_t i = 0; object && i < NSHADOW; i++)
		if (json_object_set_new(
			    object, shadow_numbers[i].name,
			    time_to_json(*(const int64_t *)((const char *)facts + shadow_numbers[i].offset)))) {
			json_decref(object);
			return NULL;
		}
	return object;
}

/* New reference, NULL: out of memory. */
static json_t *to_json(const struct fors_status *status, const struct fors_key *key)
{
	const char *text = fors_key_member(status, key);

	switch (key->kind) {
	case FORS_KEY_NUMBER:
	case FORS_KEY_UNIX_MS:
		return fors_key_number(status, key) < 0 ? json_null() : json_integer(fors_key_number(status, key));
	case FORS_KEY_MS:
		return ms_to_json(fors_key_ms(status, key));
	case FORS_KEY_PHASES:
		return fors_key_ms(status, key) < 0 ? json_null() : json_real(fors_key_ms(status, key));
	case FORS_KEY_TEXT:
		return fors_text_or_null(text);
	case FORS_KEY_STATE:
		return json_string(fors_state_name(status->state));
	case FORS_KEY_DEAD_LINKS:
	case FORS_KEY_LINKS:
		return list_to_json(status, key, ((const struct fors_links *)fors_key_member(status, key))->count,
				    nth_to_json);
	case FORS_KEY_SERVERS:
		return list_to_json(status, key, ((const struct fors_links *)fors_key_member(status, key))->count,
				    server_to_json);
	case FORS_KEY_SWITCHES:
		return list_to_json(status, key, status->dead_switches.count, switch_to_json);
	case FORS_KEY_DEAD_SINCE:
		return list_to_json(status, key, status->dead_links.count, since_to_json);
	case FORS_KEY_REPAIRS:
		return gains_to_json(&status->repairs);
	case FORS_KEY_JOBS:
		return fors_jobstats_to_json(&status->jobs);
	case FORS_KEY_WARNINGS:
		return list_to_json(status, key, fors_warnings_kept(&status->warnings), warning_to_json);
	case FORS_KEY_FAILOVER:
		return failover_to_json(&status->failover);
	case FORS_KEY_SHADOW:
		return shadow_to_json(&status->shadow);
	}
	return NULL;
}

static json_t *status_to_json(const struct fors_status *status)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < fors_nkeys; i++)
		if ((fors_keys[i].kind != FORS_KEY_SHADOW || status->shadow.is_known) &&
		    json_object_set_new(object, fors_keys[i].name, to_json(status, &fors_keys[i]))) {
			json_decref(object);
			return NULL;
		}
	return object;
}

static int add_json(const char *text, size_t size, void *buffer)
{
	fors_buffer_print(buffer, "%.*s", (int)size, text);
	return ((struct fors_buffer *)buffer)->is_short ? -1 : 0;
}

enum fors_err fors_status_json(const struct fors_status *status, char **text, struct fors_error *error)
{
	json_t *object = status_to_json(status);
	struct fors_buffer buffer = {0};

	if (!object || json_dump_callback(object, add_json, &buffer, JSON_INDENT(2) | JSON_REAL_PRECISION(12)))
		buffer.is_short = true;
	json_decref(object);
	fors_buffer_print(&buffer, "\n");
	return fors_buffer_finish(&buffer, text, NULL, error);
}

/* --- reading -------------------------------------------------------------------------------------------------- */

/* Node descriptions and reasons end up on terminals: no control characters come in. */
static void copy_text(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from);
	fors_text_clean(to);
}

static bool parse_state(const json_t *value, enum fors_state *state)
{
	for (int i = 0; json_is_string(value) && i < FORS_NSTATES; i++)
		if (!strcmp(json_string_value(value), fors_state_name((enum fors_state)i))) {
			*state = (enum fors_state)i;
			return true;
		}
	return false;
}

/* One end of a cable; `name` has room for FORS_NAME_MAX bytes and the end. */
static bool parse_end(const json_t *link, const char *node_key, const char *port_key, char *name, uint8_t *port)
{
	const json_t *node = json_object_get(link, node_key), *number = json_object_get(link, port_key);

	if (!json_is_string(node) || !json_is_integer(number) || json_integer_value(number) < 0 ||
	    json_integer_value(number) > UINT8_MAX)
		return false;
	copy_text(name, FORS_NAME_MAX + 1, json_string_value(node));
	*port = (uint8_t)json_integer_value(number);
	return true;
}

/* A time in milliseconds; null, or none at all: not known. */
static bool parse_time(const json_t *value, int64_t *ms)
{
	*ms = value && !json_is_null(value) ? json_integer_value(value) : FORS_UNKNOWN;
	return !value || json_is_null(value) || (json_is_integer(value) && *ms >= 0);
}

static bool parse_link(const json_t *value, struct fors_link *link)
{
	const json_t *rate = json_object_get(value, "rate"), *planned = json_object_get(value, "planned");
	json_int_t changes = json_integer_value(json_object_get(value, "changes"));

	link->is_used = json_is_true(json_object_get(value, "used"));
	link->is_planned =
		planned ? json_is_true(planned) : link->is_used; /* a status of an earlier version has no word of it */
	link->is_degraded = json_is_true(json_object_get(value, "degraded"));
	link->changes = (uint16_t)(changes < 0 || changes > UINT16_MAX ? 0 : changes);
	if (json_is_string(rate))
		copy_text(link->rate, sizeof(link->rate), json_string_value(rate));
	return parse_end(value, "a", "a_port", link->a, &link->a_port) &&
	       parse_end(value, "b", "b_port", link->b, &link->b_port) &&
	       parse_time(json_object_get(value, "since_ms"), &link->since_ms);
}

static bool parse_server(const json_t *value, struct fors_link *place)
{
	const json_t *server = json_object_get(value, "server"), *name = json_object_get(value, "name");

	place->since_ms = FORS_UNKNOWN;
	if (json_is_string(server))
		copy_text(place->b, sizeof(place->b), json_string_value(server));
	if (json_is_string(name))
		copy_text(place->host, sizeof(place->host), json_string_value(name));
	return parse_end(value, "leaf", "port", place->a, &place->a_port);
}

static enum fors_err parse_links(const json_t *value, bool (*parse)(const json_t *value, struct fors_link *link),
				 struct fors_links *links)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value) || links->link)
		return FORS_EINPUT;
	links->link = calloc(n + 1, sizeof(*links->link));
	if (!links->link)
		return FORS_ENOMEM;
	links->count = n;
	for (size_t i = 0; i < n; i++)
		if (!parse(json_array_get(value, i), &links->link[i]))
			return FORS_EINPUT;
	return FORS_OK;
}

static bool parse_count(const json_t *value, uint32_t *count)
{
	*count = (uint32_t)json_integer_value(value);
	return json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= INT32_MAX;
}

static bool parse_switch(const json_t *value, struct fors_dead_switch *one)
{
	const json_t *name = json_object_get(value, "switch"), *level = json_object_get(value, "level");

	if (!json_is_string(name) || !json_is_string(level))
		return false;
	copy_text(one->name, sizeof(one->name), json_string_value(name));
	copy_text(one->level, sizeof(one->level), json_string_value(level));
	return parse_count(json_object_get(value, "cables"), &one->cables) &&
	       parse_count(json_object_get(value, "servers"), &one->servers);
}

static enum fors_err parse_switches(const json_t *value, struct fors_dead_switches *list)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value) || list->one)
		return FORS_EINPUT;
	list->one = calloc(n + 1, sizeof(*list->one));
	if (!list->one)
		return FORS_ENOMEM;
	list->count = n;
	for (size_t i = 0; i < n; i++)
		if (!parse_switch(json_array_get(value, i), &list->one[i]))
			return FORS_EINPUT;
	return FORS_OK;
}

/* One time for each dead link, in their order; dead_links came before. */
static bool parse_since(const json_t *value, struct fors_links *dead)
{
	if (!json_is_array(value) || json_array_size(value) != dead->count)
		return false;
	for (size_t i = 0; i < dead->count; i++)
		if (!parse_time(json_array_get(value, i), &dead->link[i].since_ms))
			return false;
	return true;
}

static bool parse_warnings(const json_t *value, struct fors_warnings *warnings)
{
	if (!json_is_array(value))
		return false;
	for (size_t i = 0; i < json_array_size(value); i++) {
		const json_t *text = json_array_get(value, i);
		char plain[FORS_WARNING_TEXT];

		if (!json_is_string(text))
			return false;
		copy_text(plain, sizeof(plain), json_string_value(text));
		fors_warn(warnings, "%s", plain);
	}
	return true;
}

static bool parse_gain(const json_t *value, struct fors_gain *gain)
{
	const json_t *phases = json_object_get(value, "phases"), *spine = json_object_get(value, "b");
	struct fors_link *link = &gain->link;

	*gain = (struct fors_gain){.link = {.since_ms = FORS_UNKNOWN}, .phases = json_integer_value(phases)};
	if (!json_is_integer(phases) || gain->phases <= 0)
		return false;
	if (!json_is_null(json_object_get(value, "a")))
		return parse_end(value, "a", "a_port", link->a, &link->a_port) &&
		       parse_end(value, "b", "b_port", link->b, &link->b_port);
	if (json_is_string(spine))
		copy_text(link->b, sizeof(link->b), json_string_value(spine));
	return json_is_string(spine);
}

static bool parse_gains(const json_t *value, struct fors_gains *gains)
{
	const json_t *list = json_object_get(value, "list"), *untried = json_object_get(value, "untried");
	size_t n = json_array_size(list);

	if (!json_is_array(list) || !json_is_integer(untried) || json_integer_value(untried) < 0 ||
	    json_integer_value(untried) > INT32_MAX)
		return false;
	gains->untried = (uint32_t)json_integer_value(untried);
	gains->is_known = true;
	for (size_t i = 0; i < n && i < FORS_GAINS_MAX; i++)
		if (!parse_gain(json_array_get(list, i), &gains->gain[gains->count++]))
			return false;
	return true;
}

/* Steps that are missing are not known; those that are not known here are of a newer fors. */
static bool parse_failover(const json_t *value, struct fors_failover *failover)
{
	const json_t *epoch = json_object_get(value, "epoch"), *began = json_object_get(value, "began_ms");
	char name[32];

	if (!json_is_integer(epoch) || json_integer_value(epoch) < 0 || !parse_time(began, &failover->began_ms))
		return false;
	for (unsigned i = 0; i < FORS_NSTEPS; i++) {
		const json_t *ms;

		snprintf(name, sizeof(name), "%s_ms", fors_step_name((enum fors_step)i));
		ms = json_object_get(value, name);
		if (!ms || json_is_null(ms))
			continue;
		failover->ms[i] = json_number_value(ms);
		if (!json_is_number(ms) || failover->ms[i] < 0)
			return false;
	}
	failover->epoch = json_integer_value(epoch);
	return true;
}

static bool parse_share(const json_t *value, double *share)
{
	*share = value && !json_is_null(value) ? json_number_value(value) : FORS_UNKNOWN;
	return !value || json_is_null(value) || (json_is_number(value) && *share >= 0);
}

static bool parse_shadow(const json_t *value, struct fors_shadow_facts *facts)
{
	const json_t *trouble = json_object_get(value, "trouble");

	if (!json_is_object(value))
		return false;
	fors_shadow_facts_init(facts);
	for (size_t i = 0; i < NSHADOW; i++)
		if (!parse_time(json_object_get(value, shadow_numbers[i].name),
				(int64_t *)((char *)facts + shadow_numbers[i].offset)))
			return false;
	if (json_is_string(trouble))
		copy_text(facts->trouble, sizeof(facts->trouble), json_string_value(trouble));
	return parse_share(json_object_get(value, "present_shift"), &facts->present_shift) &&
	       parse_share(json_object_get(value, "own_shift"), &facts->own_shift);
}

static enum fors_err good_if(bool is_good)
{
	return is_good ? FORS_OK : FORS_EINPUT;
}

/* FORS_EINPUT: the value is not of the key's kind. */
static enum fors_err parse_value(const json_t *value, const struct fors_key *key, struct fors_status *status)
{
	void *at = (char *)status + key->offset;

	switch (key->kind) {
	case FORS_KEY_NUMBER:
	case FORS_KEY_UNIX_MS:
		*(int64_t *)at = json_integer_value(value);
		return good_if(json_is_integer(value) && json_integer_value(value) >= 0);
	case FORS_KEY_MS:
	case FORS_KEY_PHASES:
		*(double *)at = json_number_value(value);
		return good_if(json_is_number(value) && json_number_value(value) >= 0);
	case FORS_KEY_TEXT:
		if (json_is_string(value))
			copy_text(at, key->size, json_string_value(value));
		return good_if(json_is_string(value));
	case FORS_KEY_STATE:
		return good_if(parse_state(value, &status->state));
	case FORS_KEY_DEAD_LINKS:
	case FORS_KEY_LINKS:
		return parse_links(value, parse_link, at);
	case FORS_KEY_SERVERS:
		return parse_links(value, parse_server, at);
	case FORS_KEY_SWITCHES:
		return parse_switches(value, at);
	case FORS_KEY_DEAD_SINCE:
		return good_if(parse_since(value, &status->dead_links));
	case FORS_KEY_REPAIRS:
		return good_if(parse_gains(value, at));
	case FORS_KEY_JOBS:
		return fors_jobstats_parse(value, at);
	case FORS_KEY_WARNINGS:
		return good_if(parse_warnings(value, &status->warnings));
	case FORS_KEY_FAILOVER:
		return good_if(parse_failover(value, &status->failover));
	case FORS_KEY_SHADOW:
		return good_if(parse_shadow(value, &status->shadow));
	}
	return FORS_EINPUT;
}

/* A missing key or null leaves "unknown". */
static enum fors_err parse_keys(const json_t *object, const char *name, struct fors_status *status,
				struct fors_error *error)
{
	if (!json_is_string(json_object_get(object, "state")))
		return fors_fail(error, FORS_EINPUT, "%s: not a status of fors: it has no state", name);
	for (size_t i = 0; i < fors_nkeys; i++) {
		const json_t *value = json_object_get(object, fors_keys[i].name);
		enum fors_err err = value && !json_is_null(value) ? parse_value(value, &fors_keys[i], status) : FORS_OK;

		if (err == FORS_ENOMEM)
			return fors_fail_memory(error);
		if (err)
			return fors_fail(error, err, "%s: not a status of fors: odd value of \"%s\"", name,
					 fors_keys[i].name);
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
