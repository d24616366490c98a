/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demand_file.c - the reader of demands: words of a line, hosts of a word, pairs of hosts.
 *
 * A line may name as many pairs as there are servers, so each word is looked up once, and pairs are put in a list that grows. Roles take
 * effect at the end of the text: who sends last is named last.
 */
#include "demand_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/hostlist.h"
#include "core/base/text.h"
#include "core/net/directory.h"

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)
#define NAMED 3	       /* of the hosts that are left out, in messages */
#define NAMES_ROOM 256 /* bytes of these names as text */

enum { SENDS = 1, RECEIVES = 2 };

/* Servers that a word stands for. */
struct crowd {
	uint32_t *server;
	uint32_t count, room;
};

struct reader {
	struct fors_lines lines;
	struct fors_error *error;
	const struct fors_demand_hosts *hosts;
	struct fors_directory directory;
	uint32_t *of_node; /* per node: its first server, FORS_NONE */
	uint32_t *on_node; /* per node: how many it has */
	uint8_t *role;	   /* per server */
	uint32_t *word;	   /* per server: the word that named it last */
	uint32_t nwords;
	bool has_roles, has_sizes, has_groups;
	struct fors_demand_message *message;
	uint32_t count, room;
	struct crowd left, right;
	struct fors_keyed *unknown; /* digests of names that are left out */
	uint32_t nunknown, unknown_room, nnamed;
	char named[NAMED][FORS_HOSTNAME_ROOM];
};

/* ---- hosts ---- */

/* A word that names a server twice, as by name and GUID, means it once. */
static bool is_named(struct reader *r, uint32_t server)
{
	bool is_twice = r->word[server] == r->nwords;

	r->word[server] = r->nwords;
	return is_twice;
}

static enum fors_err add_server(struct reader *r, struct crowd *crowd, uint32_t server)
{
	if (crowd->count == crowd->room) {
		uint32_t room = 2 * crowd->room + 16;
		uint32_t *more = realloc(crowd->server, room * sizeof(*more));

		if (!more)
			return fors_fail_memory(r->error);
		crowd->server = more;
		crowd->room = room;
	}
	crowd->server[crowd->count++] = server;
	return FORS_OK;
}

/* FNV-1a: to count names once. */
static uint64_t digest(const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
	return hash;
}

/* Most demands name a host on many lines: the list is made of different names now and then. */
static void forget_twins(struct reader *r)
{
	struct fors_keyed first, second;
	uint32_t used = 0;

	fors_keyed_sort(r->unknown, r->nunknown, &first, &second);
	for (uint32_t i = 0; i < r->nunknown; i++)
		if (!used || r->unknown[used - 1].key != r->unknown[i].key)
			r->unknown[used++] = r->unknown[i];
	r->nunknown = used;
}

static void remember_name(struct reader *r, const char *name)
{
	for (uint32_t i = 0; i < r->nnamed; i++)
		if (!strcmp(r->named[i], name))
			return;
	if (r->nnamed < NAMED)
		memcpy(r->named[r->nnamed++], name, strlen(name) + 1);
}

static enum fors_err leave_out(struct reader *r, const char *name)
{
	remember_name(r, name);
	if (r->nunknown == r->unknown_room)
		forget_twins(r);
	if (2 * r->nunknown >= r->unknown_room) {
		uint32_t room = 2 * r->unknown_room + 64;
		struct fors_keyed *more = realloc(r->unknown, room * sizeof(*more));

		if (!more)
			return fors_fail_memory(r->error);
		r->unknown = more;
		r->unknown_room = room;
	}
	r->unknown[r->nunknown++] = (struct fors_keyed){digest(name), r->lines.number, 0};
	return FORS_OK;
}

/* The server that has this port GUID, on this node. */
static uint32_t find_port(const struct reader *r, uint32_t node, uint64_t guid)
{
	for (uint32_t s = r->of_node[node]; s < r->hosts->count; s++)
		if (r->hosts->guid[s] == guid)
			return s;
	return FORS_NONE;
}

static enum fors_err add_node(struct reader *r, const char *name, uint32_t node, uint64_t guid, struct crowd *crowd)
{
	uint32_t server = FORS_NONE;

	if (node == FORS_NONE || r->of_node[node] == FORS_NONE)
		return leave_out(r, name);
	if (guid)
		server = find_port(r, node, guid);
	if (server == FORS_NONE && r->on_node[node] > 1)
		return FAIL(r, "%.60s has %u ports: name one by its port GUID", name, r->on_node[node]);
	server = server == FORS_NONE ? r->of_node[node] : server;
	return is_named(r, server) ? FORS_OK : add_server(r, crowd, server);
}

static enum fors_err add_name(struct reader *r, const char *name, struct crowd *crowd)
{
	struct fors_address address;
	struct fors_error ignored;
	uint32_t first, n;

	if (fors_directory_address(&r->directory, name, &address, &ignored))
		return leave_out(r, name);
	if (address.node != FORS_NONE || address.is_guid)
		return add_node(r, name, address.node, address.guid, crowd);
	if (r->hosts->book)
		return add_node(r, name, fors_namebook_find(r->hosts->book, &r->directory, name).node, 0, crowd);
	n = fors_directory_desc(&r->directory, name, &first);
	if (n > 1)
		return FAIL(r, "%u nodes are called %.60s: name one by its GUID", n, name);
	return add_node(r, name, n ? r->directory.by_desc[first] : FORS_NONE, 0, crowd);
}

/* All hosts of a word. */
static enum fors_err read_hosts(struct reader *r, struct fors_span word, struct crowd *crowd)
{
	struct fors_hostlist list = {NULL, 0};
	struct fors_error why;
	enum fors_err err = fors_hostlist_read(word, &list, &why);

	crowd->count = 0;
	r->nwords++;
	if (err == FORS_ENOMEM)
		return fors_fail_memory(r->error);
	if (err)
		return FAIL(r, "%.300s", why.text);
	for (uint32_t i = 0; !err && i < list.count; i++)
		err = add_name(r, list.name[i], crowd);
	fors_hostlist_clear(&list);
	return err;
}

/* ---- pairs ---- */

static enum fors_err add_pair(struct reader *r, uint32_t src, uint32_t dst, uint64_t bytes)
{
	if (src == dst || !bytes)
		return FORS_OK;
	if (r->count == FORS_DEMAND_MOST_MESSAGES)
		return fors_fail(r->error, FORS_ELIMIT, "%s:%u: more than %u messages", r->lines.name, r->lines.number,
				 FORS_DEMAND_MOST_MESSAGES);
	if (r->count == r->room) {
		uint32_t room = 2 * r->room + 1024;
		struct fors_demand_message *more = realloc(r->message, room * sizeof(*more));

		if (!more)
			return fors_fail_memory(r->error);
		r->message = more;
		r->room = room;
	}
	r->message[r->count++] = (struct fors_demand_message){src, dst, bytes};
	return FORS_OK;
}

/* From each of these to each of those. */
static enum fors_err add_pairs(struct reader *r, const struct crowd *from, const struct crowd *to, uint64_t bytes)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; !err && i < from->count; i++)
		for (uint32_t j = 0; !err && j < to->count; j++)
			err = add_pair(r, from->server[i], to->server[j], bytes);
	return err;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line, empty at its end. */
static struct fors_span take_text(struct fors_span *line)
{
	struct fors_span word;

	while (line->at < line->end && is_blank(*line->at))
		line->at++;
	word.at = line->at;
	while (line->at < line->end && !is_blank(*line->at))
		line->at++;
	word.end = line->at;
	return word;
}

static bool is_text(struct fors_span word, const char *text)
{
	return (size_t)(word.end - word.at) == strlen(text) && fors_starts_with(word, text);
}

static enum fors_err check_end(struct reader *r, struct fors_span *line)
{
	struct fors_span word = take_text(line);

	if (fors_span_is_empty(word))
		return FORS_OK;
	return FAIL(r, "\"%.*s\" is one word too many", fors_span_width(word), word.at);
}

static enum fors_err check_kind(struct reader *r)
{
	if (r->has_sizes && (r->has_roles || r->has_groups))
		return FAIL(r, "sizes go without roles and groups: those have messages of one size");
	return FORS_OK;
}

/* "role HOSTS send|receive|both", behind its first word */
static enum fors_err read_role(struct reader *r, struct fors_span *line)
{
	struct fors_span hosts = take_text(line), what = take_text(line);
	uint8_t role = is_text(what, "send") ? SENDS : is_text(what, "receive") ? RECEIVES : 0;
	enum fors_err err;

	if (is_text(what, "both"))
		role = SENDS | RECEIVES;
	if (!role)
		return FAIL(r, "\"role HOSTS send\", receive or both is expected");
	r->has_roles = true;
	err = check_end(r, line);
	if (!err)
		err = check_kind(r);
	if (!err)
		err = read_hosts(r, hosts, &r->left);
	for (uint32_t i = 0; !err && i < r->left.count; i++) {
		uint32_t s = r->left.server[i];

		if (r->role[s])
			err = FAIL(r, "%.64s has a role already", r->hosts->net->node[r->hosts->node[s]].desc);
		r->role[s] = role;
	}
	return err;
}

/* "group NAME HOSTS", behind its first word */
static enum fors_err read_group(struct reader *r, struct fors_span *line)
{
	struct fors_span name = take_text(line), hosts = take_text(line);
	enum fors_err err;

	if (fors_span_is_empty(name) || fors_span_is_empty(hosts))
		return FAIL(r, "\"group NAME HOSTS\" is expected");
	r->has_groups = true;
	err = check_end(r, line);
	if (!err)
		err = check_kind(r);
	if (!err)
		err = read_hosts(r, hosts, &r->left);
	return err ? err : add_pairs(r, &r->left, &r->left, 1);
}

/* "SRC DST BYTES" */
static enum fors_err read_size(struct reader *r, struct fors_span src, struct fors_span *line)
{
	struct fors_span dst = take_text(line), size = take_text(line), number = size;
	uint64_t bytes = 0;
	enum fors_err err;

	if (fors_span_is_empty(size))
		return FAIL(r,
			    "\"SRC DST BYTES\", \"role HOSTS send|receive|both\" or \"group NAME HOSTS\" is expected");
	if (!fors_take_number(&number, 10, FORS_DEMAND_MOST_BYTES, &bytes) || !fors_span_is_empty(number))
		return FAIL(r, "\"%.*s\" is no number of bytes", fors_span_width(size), size.at);
	r->has_sizes = true;
	err = check_end(r, line);
	if (!err)
		err = check_kind(r);
	if (!err)
		err = read_hosts(r, src, &r->left);
	if (!err)
		err = read_hosts(r, dst, &r->right);
	return err ? err : add_pairs(r, &r->left, &r->right, bytes);
}

static enum fors_err read_line(struct reader *r, struct fors_span line)
{
	const char *hash = memchr(line.at, '#', (size_t)(line.end - line.at));
	struct fors_span word;

	if (hash)
		line.end = hash;
	word = take_text(&line);
	if (fors_span_is_empty(word))
		return FORS_OK;
	if (is_text(word, "role"))
		return read_role(r, &line);
	return is_text(word, "group") ? read_group(r, &line) : read_size(r, word, &line);
}

/* One message from each that sends to each that receives. */
static enum fors_err add_roles(struct reader *r)
{
	enum fors_err err = FORS_OK;

	r->left.count = r->right.count = 0;
	for (uint32_t s = 0; !err && s < r->hosts->count; s++) {
		if (r->role[s] & SENDS)
			err = add_server(r, &r->left, s);
		if (!err && r->role[s] & RECEIVES)
			err = add_server(r, &r->right, s);
	}
	return err ? err : add_pairs(r, &r->left, &r->right, 1);
}

/* The first names that are left out, as text. */
static void list_unknown(const struct reader *r, char *text, size_t room)
{
	snprintf(text, room, "%.60s%s%.60s%s%.60s%s", r->named[0], r->nnamed > 1 ? ", " : "", r->named[1],
		 r->nnamed > 2 ? ", " : "", r->named[2], r->nunknown > NAMED ? ", ..." : "");
}

static const char *whole_of(const struct reader *r)
{
	return r->hosts->is_job ? "job" : "fabric";
}

static void warn(const struct reader *r, struct fors_warnings *warnings)
{
	char names[NAMES_ROOM];

	if (!r->nunknown)
		return;
	list_unknown(r, names, sizeof(names));
	fors_warn(warnings, "%s: %u %s no server of this %s and left out: %s", r->lines.name, r->nunknown,
		  fors_plural(r->nunknown, "host is", "hosts are"), whole_of(r), names);
}

/* Mostly the names of another fabric. */
static enum fors_err fail_empty(const struct reader *r)
{
	char names[NAMES_ROOM];

	if (!r->nunknown)
		return fors_fail(r->error, FORS_EINPUT, "%s: no message between servers of this %s", r->lines.name,
				 whole_of(r));
	list_unknown(r, names, sizeof(names));
	return fors_fail(r->error, FORS_EINPUT, "%s: no message between servers of this %s; %u %s not among them: %s",
			 r->lines.name, whole_of(r), r->nunknown, fors_plural(r->nunknown, "host is", "hosts are"),
			 names);
}

static enum fors_err prepare(struct reader *r)
{
	const struct fors_demand_hosts *hosts = r->hosts;
	size_t nnodes = hosts->net->nnodes + (size_t)1;

	r->of_node = malloc(nnodes * sizeof(*r->of_node));
	r->on_node = calloc(nnodes, sizeof(*r->on_node));
	r->role = calloc(hosts->count + (size_t)1, sizeof(*r->role));
	r->word = calloc(hosts->count + (size_t)1, sizeof(*r->word));
	if (!r->of_node || !r->on_node || !r->role || !r->word)
		return fors_fail_memory(r->error);
	memset(r->of_node, 0xFF, nnodes * sizeof(*r->of_node));
	for (uint32_t s = hosts->count; s-- > 0;) {
		r->of_node[hosts->node[s]] = s;
		r->on_node[hosts->node[s]]++;
	}
	return fors_directory_make(hosts->net, &r->directory, r->error);
}

static enum fors_err read_all(struct reader *r)
{
	struct fors_span line;
	enum fors_err err = FORS_OK;

	while (!err && fors_lines_next(&r->lines, &line))
		err = read_line(r, line);
	if (!err && r->has_roles)
		err = add_roles(r);
	forget_twins(r);
	return !err && !r->count ? fail_empty(r) : err;
}

static void finish(struct reader *r)
{
	fors_directory_clear(&r->directory);
	free(r->of_node);
	free(r->on_node);
	free(r->role);
	free(r->word);
	free(r->left.server);
	free(r->right.server);
	free(r->unknown);
}

enum fors_err fors_demand_read(const char *text, size_t size, const char *name, const struct fors_demand_hosts *hosts,
			       struct fors_demand *demand, uint32_t *left_out, struct fors_warnings *warnings,
			       struct fors_error *error)
{
	struct reader r = {.error = error, .hosts = hosts};
	enum fors_err err = fors_lines_start(&r.lines, text, size, name, error);

	if (!err)
		err = prepare(&r);
	if (!err)
		err = read_all(&r);
	if (!err)
		err = fors_demand_make(r.message, r.count, hosts->count, !r.has_sizes, demand, error);
	else
		free(r.message);
	if (!err) {
		warn(&r, warnings);
		*left_out = r.nunknown;
	}
	finish(&r);
	return err;
}
