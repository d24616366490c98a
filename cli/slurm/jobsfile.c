/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobsfile.c - the same jobs give the same bytes, so whether something has changed is seen by comparing files: no time and no
 * order of squeue is in them.
 *
 * A server works for one job in a file of jobs, while Slurm may give a host to several. Then the job with the lowest ID, which
 * mostly has run longest, keeps the host, and the others are left out: half a job would be planned wrongly.
 */
#include "jobsfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/joblines.h"
#include "core/jobs/joblist.h"

/* --- names ------------------------------------------------------------------------------------------------------ */

static int by_host(const void *a, const void *b)
{
	return strcmp(((const struct slurm_name *)a)->host, ((const struct slurm_name *)b)->host);
}

static enum fors_err read_name(const struct fors_lines *lines, struct fors_jobline *line, struct slurm_name *name,
			       struct fors_error *error)
{
	struct fors_buffer out = {0};
	struct fors_span member;
	bool is_first = true;

	*name = (struct slurm_name){0};
	if (line->name.end - line->name.at >= FORS_HOSTNAME_ROOM)
		return fors_lines_fail(lines, lines->number, error, "a name that is too long");
	memcpy(name->host, line->name.at, (size_t)(line->name.end - line->name.at));
	for (; fors_jobline_member(line, &member); is_first = false)
		fors_buffer_print(&out, "%s%.*s", is_first ? "" : ", ", (int)(member.end - member.at), member.at);
	if (is_first)
		return fors_lines_fail(lines, lines->number, error, "\"%s\" has no server", name->host);
	return fors_buffer_finish(&out, &name->servers, NULL, error);
}

static enum fors_err read_all_names(struct fors_lines *lines, struct slurm_names *names, struct fors_error *error)
{
	struct fors_jobline line;
	bool is_there = true;
	enum fors_err err = FORS_OK;
	uint32_t room = 0;

	while (!err && is_there) {
		err = fors_jobline_next(lines, &line, &is_there, error);
		if (err || !is_there)
			break;
		if (names->count == room) {
			struct slurm_name *more = realloc(names->name, (room * 2 + (size_t)16) * sizeof(*more));

			if (!more)
				return fors_fail_memory(error);
			names->name = more;
			room = room * 2 + 16;
		}
		err = read_name(lines, &line, &names->name[names->count], error);
		names->count += !err;
	}
	return err;
}

enum fors_err slurm_read_names(const char *text, size_t size, const char *path, struct slurm_names *names,
			       struct fors_error *error)
{
	struct slurm_names made = {NULL, 0};
	struct fors_lines lines = {0};
	enum fors_err err = size ? fors_lines_start(&lines, text, size, path, error) : FORS_OK;

	if (!err && size)
		err = read_all_names(&lines, &made, error);
	if (!err && made.count)
		qsort(made.name, made.count, sizeof(*made.name), by_host);
	for (uint32_t i = 1; i < made.count && !err; i++)
		if (!by_host(&made.name[i - 1], &made.name[i]))
			err = fors_fail(error, FORS_EINPUT, "%s: \"%s\" has two lines", path, made.name[i].host);
	if (err)
		slurm_names_clear(&made);
	else
		*names = made;
	return err;
}

/* --- names of a fabric ------------------------------------------------------------------------------------------ */

static int by_host_then_text(const void *left, const void *right)
{
	const struct slurm_name *a = left, *b = right;
	int order = by_host(a, b);

	return order ? order : strcmp(a->servers, b->servers);
}

static enum fors_err add_port(struct slurm_names *names, const struct fors_net *net, uint32_t node, unsigned port,
			      struct fors_error *error)
{
	struct slurm_name *name = &names->name[names->count];
	struct fors_buffer out = {0};

	*name = (struct slurm_name){0};
	if (!fors_host_name(&net->node[node], name->host))
		return FORS_OK;
	fors_buffer_print(&out, "0x%016" PRIx64, fors_net_port(net, node, port)->guid);
	return fors_buffer_finish(&out, &name->servers, NULL, error);
}

/* Ports of one host become one name. */
static enum fors_err join_hosts(struct slurm_names *names, struct fors_error *error)
{
	uint32_t n = 0, end;
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < names->count && !err; i = end) {
		struct fors_buffer out = {0};
		struct slurm_name *name = &names->name[i];
		char *text = NULL;

		for (end = i; end < names->count && !by_host(name, &names->name[end]); end++)
			fors_buffer_print(&out, "%s%s", end == i ? "" : ", ", names->name[end].servers);
		err = fors_buffer_finish(&out, &text, NULL, error);
		for (uint32_t k = i; !err && k < end; k++) {
			free(names->name[k].servers);
			names->name[k].servers = NULL;
		}
		if (err)
			return err;
		name->servers = text;
		if (n != i) {
			names->name[n] = *name;
			name->servers = NULL;
		}
		n++;
	}
	names->count = n;
	return err;
}

enum fors_err slurm_names_of(const struct fors_net *net, struct slurm_names *names, struct fors_error *error)
{
	struct slurm_names made = {calloc(net->nports + (size_t)1, sizeof(*made.name)), 0};
	enum fors_err err = made.name ? FORS_OK : fors_fail_memory(error);

	for (uint32_t node = 0; node < net->nnodes && !err; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports && !err; p++)
			if (fors_net_port(net, node, p)->peer != FORS_NONE &&
			    !(err = add_port(&made, net, node, p, error)))
				made.count += made.name[made.count].servers != NULL;
	if (!err && made.count)
		qsort(made.name, made.count, sizeof(*made.name), by_host_then_text);
	if (!err)
		err = join_hosts(&made, error);
	if (err)
		slurm_names_clear(&made);
	else
		*names = made;
	return err;
}

void slurm_names_clear(struct slurm_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->name[i].servers);
	free(names->name);
	*names = (struct slurm_names){NULL, 0};
}

static int host_by_name(const void *host, const void *name)
{
	return strcmp(host, ((const struct slurm_name *)name)->host);
}

static const char *servers_of(const struct slurm_names *names, const char *host)
{
	const struct slurm_name *found = NULL;

	if (names->count)
		found = bsearch(host, names->name, names->count, sizeof(*names->name), host_by_name);
	return found ? found->servers : host;
}

/* --- who has which host ----------------------------------------------------------------------------------------- */

/* A host of a job; all of them sorted give each host a number. */
struct use {
	const char *host;
	uint32_t job, at; /* job->hosts.name[at] */
};

static int compare_uses(const void *left, const void *right)
{
	return strcmp(((const struct use *)left)->host, ((const struct use *)right)->host);
}

static struct use *list_uses(const struct slurm_queue *queue, size_t *count)
{
	size_t n = 0;
	struct use *use;

	for (uint32_t j = 0; j < queue->count; j++)
		n += queue->job[j].hosts.count;
	*count = n;
	use = malloc((n + 1) * sizeof(*use));
	n = 0;
	for (uint32_t j = 0; use && j < queue->count; j++)
		for (uint32_t i = 0; i < queue->job[j].hosts.count; i++)
			use[n++] = (struct use){queue->job[j].hosts.name[i], j, i};
	if (use)
		qsort(use, n, sizeof(*use), compare_uses);
	return use;
}

/* Per job the first of its numbers of hosts in *first[], which are in number[] from there on. False: out of memory. */
static bool number_hosts(const struct slurm_queue *queue, uint32_t **number, size_t *total)
{
	struct use *use = list_uses(queue, total);
	size_t *first = malloc((queue->count + (size_t)1) * sizeof(*first));
	uint32_t n = 0;

	*number = malloc((*total + 1) * sizeof(**number));
	if (use && first && *number) {
		first[0] = 0;
		for (uint32_t j = 0; j < queue->count; j++)
			first[j + 1] = first[j] + queue->job[j].hosts.count;
		for (size_t i = 0; i < *total; i++) {
			n += i && compare_uses(&use[i - 1], &use[i]);
			(*number)[first[use[i].job] + use[i].at] = n;
		}
	}
	n = use && first && *number;
	free(use);
	free(first);
	return n;
}

/* owner[] per host: the job that has it, or FORS_NONE. Returns the index of a host that somebody has, or hosts.count. */
static uint32_t find_taken(const struct slurm_job *job, const uint32_t *number, const uint32_t *owner)
{
	uint32_t i = 0;

	while (i < job->hosts.count && owner[number[i]] == FORS_NONE)
		i++;
	return i;
}

static void leave_out(const struct slurm_queue *queue, uint32_t j, uint32_t other, uint32_t at,
		      struct slurm_written *written)
{
	if (written->nleft_out++)
		return;
	written->left_out = queue->job[j].id;
	written->other = queue->job[other].id;
	snprintf(written->host, sizeof(written->host), "%s", queue->job[j].hosts.name[at]);
}

/* is_in[] per job: is it to be written? */
static enum fors_err choose(const struct slurm_queue *queue, bool *is_in, struct slurm_written *written,
			    struct fors_error *error)
{
	uint32_t *number = NULL, *owner = NULL, *at;
	size_t total;
	enum fors_err err = FORS_OK;

	if (!number_hosts(queue, &number, &total) || !(owner = malloc((total + 1) * sizeof(*owner))))
		err = fors_fail_memory(error);
	for (size_t i = 0; !err && i < total; i++)
		owner[i] = FORS_NONE;
	at = number;
	for (uint32_t j = 0; !err && j < queue->count; at += queue->job[j++].hosts.count) {
		uint32_t taken = find_taken(&queue->job[j], at, owner);

		is_in[j] = taken == queue->job[j].hosts.count;
		if (!is_in[j])
			leave_out(queue, j, owner[at[taken]], taken, written);
		for (uint32_t i = 0; is_in[j] && i < queue->job[j].hosts.count; i++)
			owner[at[i]] = j;
	}
	free(number);
	free(owner);
	return err;
}

/* --- the text --------------------------------------------------------------------------------------------------- */

static void print_job(struct fors_buffer *out, const struct slurm_job *job, const struct slurm_names *names)
{
	static const char *const marks[] = {
		[SLURM_SHARED] = "", [SLURM_EXCLUSIVE] = "exclusive", [SLURM_JOB_INDEX] = "job-index"};
	const char *mark = marks[job->mark];

	fors_buffer_print(out, "%" PRIu64, job->id);
	if (*job->demand)
		fors_buffer_print(out, " [%s%sdemand=%s]", mark, *mark ? ", " : "", job->demand);
	else if (*mark)
		fors_buffer_print(out, " [%s]", mark);
	fors_buffer_print(out, ":");
	for (uint32_t i = 0; i < job->hosts.count; i++)
		fors_buffer_print(out, "%s %s", i ? "," : "", servers_of(names, job->hosts.name[i]));
	fors_buffer_print(out, "\n");
}

/* Has some line of the text this server? */
static bool has_server(const struct fors_buffer *out, struct fors_span server)
{
	struct fors_lines lines = {0};
	struct fors_jobline line;
	struct fors_span member;
	bool is_there = !fors_lines_start(&lines, out->text, out->size, "", NULL), is_it = false;

	while (!is_it && is_there && !fors_jobline_next(&lines, &line, &is_there, NULL) && is_there)
		while (!is_it && fors_jobline_member(&line, &member))
			is_it = member.end - member.at == server.end - server.at &&
				!memcmp(member.at, server.at, (size_t)(server.end - server.at));
	return is_it;
}

/* The line that the job had, if all its servers are still free; else nothing. */
static bool keep_line(struct fors_buffer *out, struct fors_span text)
{
	struct fors_lines lines = {.name = "", .at = text.at, .end = text.end};
	struct fors_jobline line;
	struct fors_span member;
	bool is_there = false;

	if (fors_span_is_empty(text) || fors_jobline_next(&lines, &line, &is_there, NULL) || !is_there)
		return false;
	while (fors_jobline_member(&line, &member))
		if (has_server(out, member))
			return false;
	fors_buffer_print(out, "%.*s", (int)(text.end - text.at), text.at);
	return true;
}

enum fors_err slurm_write_jobs(const struct slurm_queue *queue, const struct slurm_names *names,
			       struct fors_span before, struct slurm_written *written, struct fors_error *error)
{
	struct slurm_written made = {0};
	struct fors_buffer out = {0};
	bool *is_in = calloc(queue->count + (size_t)1, sizeof(*is_in));
	enum fors_err err = is_in ? choose(queue, is_in, &made, error) : fors_fail_memory(error);

	fors_buffer_print(&out, "%s", SLURM_HEAD);
	for (uint32_t j = 0; !err && j < queue->count; j++)
		if (is_in[j] && queue->job[j].hosts.count) {
			print_job(&out, &queue->job[j], names);
			made.njobs++;
			made.nexclusive += queue->job[j].mark == SLURM_EXCLUSIVE;
			made.nindex += queue->job[j].mark == SLURM_JOB_INDEX;
		}
	for (uint32_t j = 0; !err && j < queue->count; j++)
		if (!queue->job[j].hosts.count)
			made.njobs += keep_line(&out, slurm_line_of(before, queue->job[j].id));
	free(is_in);
	if (!err && made.njobs > FORS_JOBLIST_MAX)
		err = fors_fail(error, FORS_ELIMIT, "Slurm runs %u jobs, more than the %u that a file of jobs may have",
				made.njobs, FORS_JOBLIST_MAX);
	if (!err)
		err = fors_buffer_finish(&out, &made.text, &made.size, error);
	else
		free(out.text);
	if (!err)
		*written = made;
	return err;
}

struct fors_span slurm_line_of(struct fors_span text, uint64_t id)
{
	char head[24];
	int length = snprintf(head, sizeof(head), "%" PRIu64, id);

	while (!fors_span_is_empty(text)) {
		const char *end = memchr(text.at, '\n', (size_t)(text.end - text.at));
		struct fors_span line = {text.at, end ? end + 1 : text.end};

		if (fors_starts_with(line, head) && line.end - line.at > length &&
		    (line.at[length] == ':' || line.at[length] == ' '))
			return line;
		text.at = line.end;
	}
	return text;
}
