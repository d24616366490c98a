/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status.c - what fors tells about itself: JSON for programs, metrics for Prometheus.
 *
 * The idea: one table, keys[], says which keys there are, of which kind they are and where they live in
 * struct fors_status. Writing JSON, writing metrics and reading JSON back all walk this table, so the three
 * cannot drift apart; a new number is one new line. Every kind (number, milliseconds, text, state, links)
 * knows how to become JSON, how to come back from it, and how to become a metric.
 *
 * What is unknown is null in JSON and absent from the metrics: a scraper must be able to tell "no dead link"
 * from "nobody has looked".
 */
#include "status.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

#define LONG_MS 60000

enum kind { NUMBER, MILLISECONDS, TEXT, STATE, DEAD_LINKS, DEAD_SINCE, LINKS, REMARKS };

struct key {
	const char *name;
	enum kind kind;
	size_t offset; /* in struct fors_status */
	size_t room;   /* TEXT: bytes of the member */
	const char *help;
};

#define KEY(member, kind, help)                                                                                        \
	{                                                                                                              \
#member, kind, offsetof(struct fors_status, member), 0, help                                           \
	}
#define TEXT_KEY(member, help)                                                                                         \
	{                                                                                                              \
#member, TEXT, offsetof(struct fors_status, member), sizeof(((struct fors_status *)0)->member), help   \
	}

static const struct key keys[] = {
	KEY(epoch, NUMBER, "Number of the published schedule; it only grows"),
	KEY(state, STATE, "1 for the state that fors is in, 0 for the others"),
	TEXT_KEY(reason, NULL),
	KEY(servers, NUMBER, "Servers that take part in the exchange"),
	KEY(leaves, NUMBER, "Leaf switches, living or dead"),
	KEY(spines, NUMBER, "Spine switches, living or dead"),
	KEY(f, NUMBER, "Bandwidth reduction: uplinks that the worst leaf lacks for its servers"),
	KEY(affected_spines, NUMBER, "Spines with at least one dead cable"),
	KEY(capacity, NUMBER, "Flows that a leaf may send in one phase"),
	KEY(phases, NUMBER, "Phases of the published schedule"),
	KEY(lower_bound, NUMBER, "Phases that no conflict-free schedule can go below"),
	TEXT_KEY(method, "1 for the planning method of the published schedule"),
	KEY(plan_ms, MILLISECONDS, "Milliseconds that planning took"),
	KEY(tables_ms, MILLISECONDS, "Milliseconds that filling the forwarding tables took"),
	KEY(unreachable_pairs, NUMBER, "Pairs of leaves without a common live spine"),
	KEY(lmc, NUMBER, "LMC of the servers"),
	KEY(lmc_needed, NUMBER, "LMC that would allow fewer phases"),
	KEY(dead_links, DEAD_LINKS, "Dead cables between leaves and spines"),
	{"dead_since_ms", DEAD_SINCE, 0, 0, NULL},
	KEY(degraded_links, LINKS, "Cables between leaves and spines below full width or speed"),
	KEY(excluded_links, LINKS, "Living cables that the administrator excluded"),
	KEY(held_links, LINKS, "Cables that came back a short time ago and are held down"),
	KEY(held_until_ms, NUMBER, "Unix time in milliseconds when the next held cable returns"),
	KEY(state_since_ms, NUMBER, "Unix time in milliseconds since when the state is what it is"),
	KEY(warnings, REMARKS, "Wishes of fors.conf that cannot be met"),
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

static const char *const state_names[] = {
	[FORS_INACTIVE] = "inactive",
	[FORS_PLANNING] = "planning",
	[FORS_ACTIVE] = "active",
	[FORS_FAILED] = "failed",
};

#define NSTATES (sizeof(state_names) / sizeof(state_names[0]))

const char *fors_state_name(enum fors_state state)
{
	return (size_t)state < NSTATES ? state_names[state] : "unknown";
}

/* Where the value of a key lives. */
static const void *member(const struct fors_status *status, const struct key *key)
{
	return (const char *)status + key->offset;
}

static int64_t number_of(const struct fors_status *status, const struct key *key)
{
	return *(const int64_t *)member(status, key);
}

static double ms_of(const struct fors_status *status, const struct key *key)
{
	return *(const double *)member(status, key);
}

void fors_status_init(struct fors_status *status)
{
	memset(status, 0, sizeof(*status));
	for (size_t i = 0; i < NKEYS; i++) {
		char *at = (char *)status + keys[i].offset;

		if (keys[i].kind == NUMBER)
			*(int64_t *)at = FORS_UNKNOWN;
		else if (keys[i].kind == MILLISECONDS)
			*(double *)at = FORS_UNKNOWN;
	}
}

static void clear_links(struct fors_links *links)
{
	free(links->link);
	*links = (struct fors_links){NULL, 0};
}

void fors_status_clear(struct fors_status *status)
{
	clear_links(&status->dead_links);
	clear_links(&status->degraded_links);
	clear_links(&status->excluded_links);
	clear_links(&status->held_links);
}

/* --- what a fabric and a schedule say ------------------------------------------------------------------------- */

static bool is_dead(const struct fors_cable *cable)
{
	return cable->state == FORS_CABLE_DEAD && !cable->drained;
}

static bool is_degraded(const struct fors_cable *cable)
{
	return cable->is_degraded;
}

static bool is_excluded(const struct fors_cable *cable)
{
	return cable->drained == FORS_DRAIN_EXCLUDED;
}

static bool is_held(const struct fors_cable *cable)
{
	return cable->drained == FORS_DRAIN_HELD;
}

static void describe_cable(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, struct fors_link *link)
{
	const struct fors_cable *cable = fors_cable(fabric, leaf, lane);

	snprintf(link->a, sizeof(link->a), "%s", fabric->leaf[leaf].name);
	snprintf(link->b, sizeof(link->b), "%s", fabric->spine[fabric->lane[lane].spine].name);
	link->a_port = cable->leaf_port;
	link->b_port = cable->spine_port;
	link->is_used = cable->state == FORS_CABLE_LIVE;
	link->since_ms = cable->since_ms ? (int64_t)cable->since_ms : FORS_UNKNOWN;
}

/* The cables of which `belongs` is true, in *links. Errors: FORS_ENOMEM. */
static enum fors_err list_cables(const struct fors_fabric *fabric, bool (*belongs)(const struct fors_cable *cable),
				 struct fors_links *links, struct fors_error *error)
{
	size_t ncables = (size_t)fabric->nleaves * fabric->nlanes, count = 0;

	for (size_t i = 0; i < ncables; i++)
		count += belongs(&fabric->cable[i]);
	links->link = calloc(count + 1, sizeof(*links->link));
	if (!links->link)
		return fors_fail_memory(error);
	for (size_t i = 0; i < ncables; i++)
		if (belongs(&fabric->cable[i]))
			describe_cable(fabric, (uint32_t)(i / fabric->nlanes), (uint32_t)(i % fabric->nlanes),
				       &links->link[links->count++]);
	return FORS_OK;
}

static enum fors_err list_all(struct fors_status *status, const struct fors_fabric *fabric, struct fors_error *error)
{
	enum fors_err err = list_cables(fabric, is_dead, &status->dead_links, error);

	if (!err)
		err = list_cables(fabric, is_degraded, &status->degraded_links, error);
	if (!err)
		err = list_cables(fabric, is_excluded, &status->excluded_links, error);
	if (!err)
		err = list_cables(fabric, is_held, &status->held_links, error);
	return err;
}

/* B: defined when all leaves have the same number of servers. */
static int64_t capacity_of(const struct fors_fabric *fabric)
{
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		if (fabric->leaf[leaf].nservers != fabric->max_servers)
			return FORS_UNKNOWN;
	return fabric->nservers ? (int64_t)fabric->max_servers - fabric->reduction : FORS_UNKNOWN;
}

enum fors_err fors_status_fabric(struct fors_status *status, const struct fors_fabric *fabric, struct fors_error *error)
{
	enum fors_err err;

	fors_status_clear(status);
	err = list_all(status, fabric, error);
	if (err) {
		fors_status_clear(status);
		return err;
	}
	status->held_until_ms = fabric->held_until_ms ? (int64_t)fabric->held_until_ms : FORS_UNKNOWN;
	status->servers = fabric->nservers;
	status->leaves = fabric->nleaves;
	status->spines = fabric->nspines;
	status->f = fabric->reduction;
	status->affected_spines = fabric->affected_spines;
	status->capacity = capacity_of(fabric);
	status->unreachable_pairs = fabric->unreachable_pairs;
	status->lmc = fabric->nservers ? fabric->lmc : FORS_UNKNOWN;
	return FORS_OK;
}

void fors_status_schedule(struct fors_status *status, const struct fors_schedule *schedule)
{
	status->epoch = schedule->epoch ? (int64_t)schedule->epoch : FORS_UNKNOWN;
	status->phases = schedule->nphases ? (int64_t)schedule->nphases : FORS_UNKNOWN;
	snprintf(status->method, sizeof(status->method), "%s", schedule->method);
	if (!schedule->nphases)
		snprintf(status->reason, sizeof(status->reason), "%s", schedule->reason);
}

/* --- what comes next ------------------------------------------------------------------------------------------ */

size_t fors_status_drained(const struct fors_status *status)
{
	const struct fors_links *lists[] = {&status->degraded_links, &status->excluded_links, &status->held_links};
	size_t aside = 0;

	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			aside += !lists[k]->link[i].is_used;
	return aside;
}

/* What to do about a link, or about several. */
static void say_links(const struct fors_links *links, const char *what, const char *then, char *text, size_t room)
{
	const struct fors_link *link = &links->link[0];

	if (links->count > 1)
		snprintf(text, room, "%s %zu links%s", what, links->count, then);
	else
		snprintf(text, room, "%s %s[%u] - %s[%u]%s", what, link->a, link->a_port, link->b, link->b_port, then);
}

static void say_return(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	const struct fors_links *held = &status->held_links;
	long long seconds = (long long)(status->held_until_ms - unix_ms + 999) / 1000;
	char when[64] = "with the next sweep";

	if (seconds > 0)
		snprintf(when, sizeof(when), "in %lld s", seconds);
	if (held->count > 1)
		snprintf(text, room, "%zu links return, the first %s", held->count, when);
	else
		snprintf(text, room, "link %s[%u] - %s[%u] returns %s", held->link[0].a, held->link[0].a_port,
			 held->link[0].b, held->link[0].b_port, when);
}

/* A plan takes seconds at most, but for method ilp; what lasts longer is waiting for OpenSM. */
static bool lasts_long(const struct fors_status *status, int64_t unix_ms)
{
	return status->state_since_ms >= 0 && unix_ms - status->state_since_ms > LONG_MS;
}

void fors_status_next(const struct fors_status *status, int64_t unix_ms, char *text, size_t room)
{
	if (status->state == FORS_PLANNING && lasts_long(status, unix_ms))
		snprintf(text, room, "this lasts longer than it should: see the reason, and ERR in opensm's log");
	else if (status->state == FORS_PLANNING)
		snprintf(text, room, "fors is planning; the schedule follows by itself");
	else if (status->state == FORS_INACTIVE)
		snprintf(text, room, "nothing by itself: see the reason");
	else if (status->held_links.count && status->held_until_ms >= 0)
		say_return(status, unix_ms, text, room);
	else if (status->dead_links.count)
		say_links(&status->dead_links, "nothing to do but mend", "", text, room);
	else if (status->state == FORS_FAILED)
		snprintf(text, room, "nothing by itself: see the reason");
	else if (status->degraded_links.count)
		say_links(&status->degraded_links, "reseat or replace", ": below full width or speed", text, room);
	else if (status->excluded_links.count)
		say_links(&status->excluded_links, "after the maintenance take",
			  " out of fors.conf, then SIGHUP opensm", text, room);
	else
		snprintf(text, room, "nothing to do");
}

/* --- to JSON -------------------------------------------------------------------------------------------------- */

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

static json_t *link_to_json(const struct fors_link *link, bool is_bare)
{
	json_t *object = json_pack("{s:o, s:i, s:o, s:i}", "a", text_to_json(link->a), "a_port", link->a_port, "b",
				   text_to_json(link->b), "b_port", link->b_port);

	if (object && !is_bare &&
	    (json_object_set_new(object, "since_ms", time_to_json(link->since_ms)) ||
	     json_object_set_new(object, "used", json_boolean(link->is_used)))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *warning_to_json(const struct fors_status *status, const struct key *key, size_t i)
{
	return text_to_json(status->warnings.text[i]);
}

static json_t *since_to_json(const struct fors_status *status, const struct key *key, size_t i)
{
	return time_to_json(status->dead_links.link[i].since_ms);
}

/* The i-th link of a list; of dead ones what everybody knows, no more: since when they are dead is another list. */
static json_t *nth_to_json(const struct fors_status *status, const struct key *key, size_t i)
{
	const struct fors_links *links = member(status, key);

	return link_to_json(&links->link[i], key->kind == DEAD_LINKS);
}

/* A list of `count` values, or null when nobody has looked at a fabric. New reference, NULL: out of memory. */
static json_t *list_to_json(const struct fors_status *status, const struct key *key, size_t count,
			    json_t *(*nth)(const struct fors_status *status, const struct key *key, size_t i))
{
	json_t *list;

	if (status->leaves < 0 && key->kind != REMARKS)
		return json_null();
	list = json_array();
	for (size_t i = 0; list && i < count; i++)
		if (json_array_append_new(list, nth(status, key, i))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* New reference, NULL: out of memory. */
static json_t *to_json(const struct fors_status *status, const struct key *key)
{
	const char *text = member(status, key);

	switch (key->kind) {
	case NUMBER:
		return number_of(status, key) < 0 ? json_null() : json_integer(number_of(status, key));
	case MILLISECONDS:
		return ms_of(status, key) < 0 ? json_null() : json_real(round(ms_of(status, key) * 1000) / 1000);
	case TEXT:
		return *text ? text_to_json(text) : json_null();
	case STATE:
		return json_string(fors_state_name(status->state));
	case DEAD_LINKS:
	case LINKS:
		return list_to_json(status, key, ((const struct fors_links *)member(status, key))->count, nth_to_json);
	case DEAD_SINCE:
		return list_to_json(status, key, status->dead_links.count, since_to_json);
	case REMARKS:
		return list_to_json(status, key, fors_warnings_kept(&status->warnings), warning_to_json);
	}
	return NULL;
}

static json_t *status_to_json(const struct fors_status *status)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < NKEYS; i++)
		if (json_object_set_new(object, keys[i].name, to_json(status, &keys[i]))) {
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

/* --- to metrics ----------------------------------------------------------------------------------------------- */

static void metric_head(struct fors_buffer *out, const struct key *key)
{
	fors_buffer_print(out, "# HELP fors_%s %s\n# TYPE fors_%s gauge\n", key->name, key->help, key->name);
}

/* State sets are written whole, as Prometheus recommends, so that an old state does not linger. */
static void metric_states(struct fors_buffer *out, const struct fors_status *status, const struct key *key)
{
	metric_head(out, key);
	for (size_t i = 0; i < NSTATES; i++)
		fors_buffer_print(out, "fors_%s{state=\"%s\"} %d\n", key->name, state_names[i],
				  i == (size_t)status->state);
}

static void metric_text(struct fors_buffer *out, const struct fors_status *status, const struct key *key)
{
	const char *text = member(status, key);

	if (!key->help || !*text)
		return;
	metric_head(out, key);
	fors_buffer_print(out, "fors_%s{%s=\"", key->name, key->name);
	for (const char *c = text; *c; c++)
		fors_buffer_print(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c == '\n' ? ' ' : *c);
	fors_buffer_print(out, "\"} 1\n");
}

static void metric(struct fors_buffer *out, const struct key *key, int decimals, double value)
{
	metric_head(out, key);
	fors_buffer_print(out, "fors_%s %.*f\n", key->name, decimals, value);
}

static void to_metric(struct fors_buffer *out, const struct fors_status *status, const struct key *key)
{
	switch (key->kind) {
	case NUMBER:
		if (number_of(status, key) >= 0)
			metric(out, key, 0, (double)number_of(status, key));
		break;
	case MILLISECONDS:
		if (ms_of(status, key) >= 0)
			metric(out, key, 3, ms_of(status, key));
		break;
	case TEXT:
		metric_text(out, status, key);
		break;
	case STATE:
		metric_states(out, status, key);
		break;
	case DEAD_LINKS:
	case LINKS:
		if (status->leaves >= 0)
			metric(out, key, 0, (double)((const struct fors_links *)member(status, key))->count);
		break;
	case DEAD_SINCE:
		break;
	case REMARKS:
		metric(out, key, 0, status->warnings.count);
		break;
	}
}

enum fors_err fors_status_prom(const struct fors_status *status, char **text, struct fors_error *error)
{
	struct fors_buffer buffer = {0};

	for (size_t n = 0; n < NKEYS; n++)
		to_metric(&buffer, status, &keys[n]);
	return fors_buffer_finish(&buffer, text, NULL, error);
}

/* --- from JSON ------------------------------------------------------------------------------------------------ */

/* Node descriptions and reasons end up on terminals: no control characters come in. */
static void copy_text(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from);
	for (char *c = to; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

static bool parse_state(const json_t *value, enum fors_state *state)
{
	for (size_t i = 0; json_is_string(value) && i < NSTATES; i++)
		if (!strcmp(json_string_value(value), state_names[i])) {
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
	link->is_used = json_is_true(json_object_get(value, "used"));
	return parse_end(value, "a", "a_port", link->a, &link->a_port) &&
	       parse_end(value, "b", "b_port", link->b, &link->b_port) &&
	       parse_time(json_object_get(value, "since_ms"), &link->since_ms);
}

static enum fors_err parse_links(const json_t *value, struct fors_links *links)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value) || links->link)
		return FORS_EINPUT;
	links->link = calloc(n + 1, sizeof(*links->link));
	if (!links->link)
		return FORS_ENOMEM;
	links->count = n;
	for (size_t i = 0; i < n; i++)
		if (!parse_link(json_array_get(value, i), &links->link[i]))
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

static enum fors_err good_if(bool is_good)
{
	return is_good ? FORS_OK : FORS_EINPUT;
}

/* FORS_EINPUT: the value is not of the key's kind. */
static enum fors_err parse_value(const json_t *value, const struct key *key, struct fors_status *status)
{
	void *at = (char *)status + key->offset;

	switch (key->kind) {
	case NUMBER:
		*(int64_t *)at = json_integer_value(value);
		return good_if(json_is_integer(value) && json_integer_value(value) >= 0);
	case MILLISECONDS:
		*(double *)at = json_number_value(value);
		return good_if(json_is_number(value) && json_number_value(value) >= 0);
	case TEXT:
		if (json_is_string(value))
			copy_text(at, key->room, json_string_value(value));
		return good_if(json_is_string(value));
	case STATE:
		return good_if(parse_state(value, &status->state));
	case DEAD_LINKS:
	case LINKS:
		return parse_links(value, at);
	case DEAD_SINCE:
		return good_if(parse_since(value, &status->dead_links));
	case REMARKS:
		return good_if(parse_warnings(value, &status->warnings));
	}
	return FORS_EINPUT;
}

/* A missing key or null leaves "unknown". */
static enum fors_err parse_keys(const json_t *object, const char *name, struct fors_status *status,
				struct fors_error *error)
{
	if (!json_is_string(json_object_get(object, "state")))
		return fors_fail(error, FORS_EINPUT, "%s: not a status of fors: it has no state", name);
	for (size_t i = 0; i < NKEYS; i++) {
		const json_t *value = json_object_get(object, keys[i].name);
		enum fors_err err = value && !json_is_null(value) ? parse_value(value, &keys[i], status) : FORS_OK;

		if (err == FORS_ENOMEM)
			return fors_fail_memory(error);
		if (err)
			return fors_fail(error, err, "%s: not a status of fors: odd value of \"%s\"", name,
					 keys[i].name);
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
