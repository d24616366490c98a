/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "joblist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/joblines.h"

struct reader {
	struct fors_lines lines;
	struct fors_error *error;
	const struct fors_fabric *fabric;
	struct fors_joblist *list;
	uint32_t room;	     /* of list->job */
	uint32_t *job_of;    /* per server: job + 1, 0: none yet */
	uint32_t *server_of; /* per node of the net: its first server, FORS_NONE */
	bool is_lenient;     /* what is not there is left out */
};

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

bool fors_jobname_is_good(struct fors_span name)
{
	if (name.at == name.end || *name.at == '.' || name.end - name.at >= FORS_JOBNAME_ROOM)
		return false;
	for (; name.at < name.end; name.at++)
		if (!*name.at || !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *name.at))
			return false;
	return true;
}

static bool is_word(struct fors_span span, const char *word)
{
	return fors_starts_with(span, word) && (size_t)(span.end - span.at) == strlen(word);
}

/* ---- members ---- */

/* Server `s` works for the job that is being read, which is the last of the list. */
static enum fors_err take_server(struct reader *r, uint32_t s, struct fors_span what)
{
	uint32_t job = r->list->count, other = r->job_of[s];

	if (other && other != job + 1)
		return FAIL(r, "\"%.*s\" works for job \"%s\" of line %u already: a server has one job",
			    fors_span_width(what), what.at, r->list->job[other - 1].name, r->list->job[other - 1].line);
	r->job_of[s] = job + 1;
	return FORS_OK;
}

/* A member is no server: left out. */
static void miss(struct reader *r, struct fors_span what)
{
	struct fors_jobentry *job = &r->list->job[r->list->count];

	if (!job->nmissing++)
		snprintf(job->missing, sizeof(job->missing), "%.*s", fors_span_width(what), what.at);
}

/* *node is FORS_NONE: it was left out. */
static enum fors_err find_node(struct reader *r, struct fors_span what, uint32_t *node, unsigned *port)
{
	char text[2 * FORS_NAME_MAX + 16];
	uint32_t found;

	*node = FORS_NONE;
	if ((size_t)(what.end - what.at) >= sizeof(text))
		return FAIL(r, "\"%.*s...\" is no node of the fabric", fors_span_width(what), what.at);
	snprintf(text, sizeof(text), "%.*s", (int)(what.end - what.at), what.at);
	if (!fors_net_find(r->fabric->net, text, &found, port, NULL))
		*node = found;
	if (*node == FORS_NONE && !r->is_lenient)
		return FAIL(r, "there is no node \"%.*s\" in the fabric, or more than one", fors_span_width(what),
			    what.at);
	if (*node == FORS_NONE)
		miss(r, what);
	return FORS_OK;
}

/* The port of a server, through the CA's port table. */
static bool is_port(const struct fors_fabric *fabric, uint32_t s, unsigned port)
{
	return !port || fors_net_port(fabric->net, fabric->server[s].node, port)->guid == fabric->server[s].guid;
}

static enum fors_err add_member(struct reader *r, struct fors_span what)
{
	const struct fors_fabric *fabric = r->fabric;
	uint32_t node, found = 0;
	unsigned port = 0;
	enum fors_err err = find_node(r, what, &node, &port);

	if (err)
		return err;
	if (err || node == FORS_NONE)
		return err;
	for (uint32_t s = r->server_of[node]; s < fabric->nservers && !err; s++)
		if (fabric->server[s].node == node && is_port(fabric, s, port)) {
			err = take_server(r, s, what);
			found++;
		}
	if (!err && !found && !r->is_lenient)
		err = FAIL(r, "\"%.*s\" is no server that takes part", fors_span_width(what), what.at);
	else if (!err && !found)
		miss(r, what);
	return err;
}

/* ---- jobs ---- */

static enum fors_err make_room(struct reader *r)
{
	struct fors_jobentry *more;

	if (r->list->count == FORS_JOBLIST_MAX)
		return fors_fail(r->error, FORS_ELIMIT, "%s:%u: more than %u jobs", r->lines.name, r->lines.number,
				 FORS_JOBLIST_MAX);
	if (r->list->count < r->room)
		return FORS_OK;
	more = realloc(r->list->job, (r->room * 2 + (size_t)16) * sizeof(*more));
	if (!more)
		return fors_fail_memory(r->error);
	r->list->job = more;
	r->room = r->room * 2 + 16;
	return FORS_OK;
}

static enum fors_err begin_job(struct reader *r, const struct fors_jobline *line)
{
	struct fors_jobentry *job = &r->list->job[r->list->count];

	*job = (struct fors_jobentry){.line = r->lines.number};
	if (!fors_jobname_is_good(line->name))
		return FAIL(r,
			    "\"%.*s\" is no name of a job: letters, digits, '.', '_' and '-', at most %u, no '.' first",
			    fors_span_width(line->name), line->name.at, FORS_JOBNAME_ROOM - 1);
	snprintf(job->name, sizeof(job->name), "%.*s", (int)(line->name.end - line->name.at), line->name.at);
	job->has_index = is_word(line->mark, "job-index");
	job->is_exclusive = job->has_index || is_word(line->mark, "exclusive");
	if (!fors_span_is_empty(line->mark) && !job->is_exclusive && !is_word(line->mark, "shared"))
		return FAIL(r, "[%.*s]: [exclusive], [job-index] or [shared] is expected", fors_span_width(line->mark),
			    line->mark.at);
	return FORS_OK;
}

/* Servers are in the order of leaves. */
static uint32_t count_leaves(const struct fors_fabric *fabric, const struct fors_jobentry *job)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->count; i++)
		n += !i || fabric->server[job->server[i]].leaf != fabric->server[job->server[i - 1]].leaf;
	return n;
}

static enum fors_err end_job(struct reader *r)
{
	struct fors_jobentry *job = &r->list->job[r->list->count];
	uint32_t n = 0;

	for (uint32_t s = 0; s < r->fabric->nservers; s++)
		n += r->job_of[s] == r->list->count + 1;
	if (!n && !job->nmissing)
		return FAIL(r, "job \"%s\" has no server", job->name);
	job->server = malloc((n + (size_t)1) * sizeof(*job->server));
	if (!job->server)
		return fors_fail_memory(r->error);
	for (uint32_t s = 0; s < r->fabric->nservers; s++)
		if (r->job_of[s] == r->list->count + 1)
			job->server[job->count++] = s;
	job->nleaves = count_leaves(r->fabric, job);
	r->list->count++;
	return FORS_OK;
}

static enum fors_err read_job(struct reader *r, struct fors_jobline *line)
{
	struct fors_span member;
	enum fors_err err = make_room(r);

	if (!err)
		err = begin_job(r, line);
	while (!err && fors_jobline_member(line, &member))
		err = add_member(r, member);
	return err ? err : end_job(r);
}

static int by_name(const void *left, const void *right)
{
	const struct fors_jobentry *const *a = left, *const *b = right;
	int order = strcmp((*a)->name, (*b)->name);

	return order ? order : (*a)->line < (*b)->line ? -1 : 1;
}

static enum fors_err check_names(struct reader *r)
{
	const struct fors_joblist *list = r->list;
	const struct fors_jobentry **sorted = malloc((list->count + (size_t)1) * sizeof(*sorted));
	enum fors_err err = FORS_OK;

	if (!sorted)
		return fors_fail_memory(r->error);
	for (uint32_t i = 0; i < list->count; i++)
		sorted[i] = &list->job[i];
	qsort(sorted, list->count, sizeof(*sorted), by_name);
	for (uint32_t i = 1; i < list->count && !err; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
			err = fors_lines_fail(&r->lines, sorted[i]->line, r->error,
					      "job \"%s\" is that of line %u already", sorted[i]->name,
					      sorted[i - 1]->line);
	free(sorted);
	return err;
}

static enum fors_err read_all(struct reader *r)
{
	struct fors_jobline line;
	bool is_there = true;
	enum fors_err err = FORS_OK;

	while (!err && is_there) {
		err = fors_jobline_next(&r->lines, &line, &is_there, r->error);
		if (!err && is_there)
			err = read_job(r, &line);
	}
	return err ? err : check_names(r);
}

static bool prepare(struct reader *r)
{
	const struct fors_fabric *fabric = r->fabric;

	r->job_of = calloc(fabric->nservers + (size_t)1, sizeof(*r->job_of));
	r->server_of = malloc((fabric->net->nnodes + (size_t)1) * sizeof(*r->server_of));
	if (!r->job_of || !r->server_of)
		return false;
	for (uint32_t node = 0; node < fabric->net->nnodes; node++)
		r->server_of[node] = FORS_NONE;
	for (uint32_t s = fabric->nservers; s-- > 0;)
		r->server_of[fabric->server[s].node] = s;
	return true;
}

static enum fors_err read_text(struct reader *r, const char *text, size_t size, const char *name,
			       struct fors_joblist *list)
{
	struct fors_joblist made = {NULL, 0};
	struct fors_error *error = r->error;
	enum fors_err err;

	r->list = &made;
	err = size ? fors_lines_start(&r->lines, text, size, name, error) : FORS_OK;

	if (!err && !prepare(r))
		err = fors_fail_memory(error);
	if (!err && size)
		err = read_all(r);
	free(r->job_of);
	free(r->server_of);
	if (err)
		fors_joblist_clear(&made);
	else
		*list = made;
	return err;
}

enum fors_err fors_joblist_read(const char *text, size_t size, const char *name, const struct fors_fabric *fabric,
				struct fors_joblist *list, struct fors_error *error)
{
	struct reader r = {.error = error, .fabric = fabric};

	return read_text(&r, text, size, name, list);
}

enum fors_err fors_joblist_read_present(const char *text, size_t size, const char *name,
					const struct fors_fabric *fabric, struct fors_joblist *list,
					struct fors_error *error)
{
	struct reader r = {.error = error, .fabric = fabric, .is_lenient = true};

	return read_text(&r, text, size, name, list);
}

void fors_joblist_clear(struct fors_joblist *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->job[i].server);
	free(list->job);
	*list = (struct fors_joblist){NULL, 0};
}
