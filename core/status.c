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

#include "text.h"

enum kind { NUMBER, MILLISECONDS, TEXT, STATE, LINKS };

struct key {
	const char *name;
	enum kind kind;
	size_t offset; /* in struct fors_status */
	size_t room;   /* TEXT: bytes of the member */
	const char *help;
};

#define KEY(member, kind, help) {#member, kind, offsetof(struct fors_status, member), 0, help}
#define TEXT_KEY(member, help) \
	{#member, TEXT, offsetof(struct fors_status, member), sizeof(((struct fors_status *)0)->member), help}

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
	{"dead_links", LINKS, 0, 0, "Dead cables between leaves and spines"},
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

void fors_status_clear(struct fors_status *status)
{
	free(status->dead_link);
	status->dead_link = NULL;
	status->ndead_links = 0;
}

/* --- what a fabric and a schedule say ------------------------------------------------------------------------- */

static size_t count_dead_cables(const struct fors_fabric *fabric)
{
	size_t dead = 0;

	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nlanes; i++)
		dead += fabric->cable[i].state == FORS_CABLE_DEAD;
	return dead;
}

static void describe_cable(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, struct fors_dead_link *link)
{
	const struct fors_cable *cable = fors_cable(fabric, leaf, lane);

	snprintf(link->a, sizeof(link->a), "%s", fabric->leaf[leaf].name);
	snprintf(link->b, sizeof(link->b), "%s", fabric->spine[fabric->lane[lane].spine].name);
	link->a_port = cable->leaf_port;
	link->b_port = cable->spine_port;
}

static void list_dead_cables(const struct fors_fabric *fabric, struct fors_dead_link *link)
{
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			if (fors_cable(fabric, leaf, lane)->state == FORS_CABLE_DEAD)
				describe_cable(fabric, leaf, lane, link++);
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
	size_t dead = count_dead_cables(fabric);
	struct fors_dead_link *link = calloc(dead ? dead : 1, sizeof(*link));

	if (!link)
		return fors_fail_memory(error);
	list_dead_cables(fabric, link);
	free(status->dead_link);
	status->dead_link = link;
	status->ndead_links = dead;
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

/* LIDs that a fabric needs at this LMC: blocks for the ports of CAs and routers, LID block 0 unused; one per switch. */
static uint64_t count_lids(const struct fors_net *net, unsigned lmc)
{
	uint64_t blocks = 1, switches = 0;

	for (uint32_t i = 0; i < net->nnodes; i++) {
		switches += net->node[i].type == FORS_SWITCH;
		for (unsigned p = 1; net->node[i].type != FORS_SWITCH && p <= net->node[i].nports; p++)
			blocks += fors_net_port(net, i, p)->guid != 0;
	}
	return (blocks << lmc) + switches;
}

int64_t fors_lmc_needed(const struct fors_fabric *fabric, int64_t phases, int64_t lower_bound)
{
	unsigned lmc = 0;

	while (lmc < FORS_MAX_LMC && 1u << lmc < fabric->nlanes)
		lmc++;
	if (!fabric->nservers || fabric->lmc >= lmc || (phases > 0 && phases <= lower_bound))
		return FORS_UNKNOWN;
	if (count_lids(fabric->net, lmc) > FORS_LID_MAX + 1)
		return FORS_UNKNOWN;
	return lmc;
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

static json_t *link_to_json(const struct fors_dead_link *link)
{
	return json_pack("{s:o, s:i, s:o, s:i}", "a", text_to_json(link->a), "a_port", link->a_port, "b",
			 text_to_json(link->b), "b_port", link->b_port);
}

static json_t *links_to_json(const struct fors_status *status)
{
	json_t *list;

	if (status->leaves < 0)
		return json_null();
	list = json_array();
	for (size_t i = 0; list && i < status->ndead_links; i++)
		if (json_array_append_new(list, link_to_json(&status->dead_link[i]))) {
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
	case LINKS:
		return links_to_json(status);
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
		fors_buffer_print(out, "fors_%s{state=\"%s\"} %d\n", key->name, state_names[i], i == (size_t)status->state);
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
	case LINKS:
		if (status->leaves >= 0)
			metric(out, key, 0, (double)status->ndead_links);
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

static bool parse_link(const json_t *value, struct fors_dead_link *link)
{
	return parse_end(value, "a", "a_port", link->a, &link->a_port) &&
	       parse_end(value, "b", "b_port", link->b, &link->b_port);
}

static enum fors_err parse_links(const json_t *value, struct fors_status *status)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value))
		return FORS_EINPUT;
	status->dead_link = calloc(n ? n : 1, sizeof(*status->dead_link));
	if (!status->dead_link)
		return FORS_ENOMEM;
	status->ndead_links = n;
	for (size_t i = 0; i < n; i++)
		if (!parse_link(json_array_get(value, i), &status->dead_link[i]))
			return FORS_EINPUT;
	return FORS_OK;
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
	case LINKS:
		return parse_links(value, status);
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
			return fors_fail(error, err, "%s: not a status of fors: odd value of \"%s\"", name, keys[i].name);
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
