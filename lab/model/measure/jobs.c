/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs.c - a job file, and what its jobs have of the network.
 *
 * Only routes between servers of one job count, because only they carry traffic: the effective edge forwarding index
 * of a link is the number of such routes over it, and a link between switches without any is dark fiber.
 * A route is the path of an ordered pair over the base LID. Cables of servers are left out (the paper's C*): they
 * are used whenever their server is.
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/joblines.h"
#include "lab/model/routers/router.h"

/* ---- reading ---- */

struct reader {
	struct fors_lines lines;
	struct fors_error *error;
	const struct fors_routes *routes;
	struct fors_efi_jobs *jobs;
	uint32_t nservers;
	bool *is_member; /* of the job that is being read */
};

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

/* "17" or "0-17" in *first and *last; false: this is no number. */
static bool take_range(struct fors_span what, uint64_t *first, uint64_t *last)
{
	if (!fors_take_number(&what, 10, UINT32_MAX, first))
		return false;
	*last = *first;
	if (fors_take_char(&what, '-') && !fors_take_number(&what, 10, UINT32_MAX, last))
		return false;
	return fors_span_is_empty(what);
}

static enum fors_err add_range(struct reader *r, uint64_t first, uint64_t last)
{
	if (first > last || last >= r->nservers)
		return FAIL(r, "servers %llu to %llu: there are %u servers, numbered from 0", (unsigned long long)first,
			    (unsigned long long)last, r->nservers);
	for (uint64_t s = first; s <= last; s++)
		r->is_member[s] = true;
	return FORS_OK;
}

/* All servers of a node, or of one of its ports. */
static enum fors_err add_named(struct reader *r, struct fors_span what)
{
	char name[2 * FORS_NAME_MAX + 16];
	unsigned port = 0, found = 0;
	uint32_t node;

	if (!r->routes)
		return FAIL(r, "\"%.*s\" is no server number", fors_span_width(what), what.at);
	snprintf(name, sizeof(name), "%.*s",
		 (int)(what.end - what.at < (long)sizeof(name) ? what.end - what.at : (long)sizeof(name) - 1), what.at);
	if (fors_net_find(r->routes->net, name, &node, &port, NULL))
		return FAIL(r, "there is no node \"%.*s\" in the fabric, or more than one", fors_span_width(what),
			    what.at);
	for (uint32_t s = 0; s < r->nservers; s++) {
		const struct fors_endpoint *server = &r->routes->server[s];

		if (server->node != node || (port && server->port != port))
			continue;
		r->is_member[s] = true;
		found++;
	}
	return found ? FORS_OK : FAIL(r, "\"%.*s\" is no server that takes part", fors_span_width(what), what.at);
}

static enum fors_err add_member(struct reader *r, struct fors_span what)
{
	uint64_t first, last;

	if (take_range(what, &first, &last))
		return add_range(r, first, last);
	return add_named(r, what);
}

/* Those of is_member as the servers of a new job. */
static enum fors_err finish_job(struct reader *r, struct fors_span name)
{
	struct fors_efi_jobs *jobs = r->jobs;
	struct fors_efi_job *more = realloc(jobs->job, (jobs->count + (size_t)1) * sizeof(*more)), *job;

	if (!more)
		return fors_fail_memory(r->error);
	jobs->job = more;
	job = &more[jobs->count];
	*job = (struct fors_efi_job){.server = malloc((r->nservers + (size_t)1) * sizeof(*job->server))};
	if (!job->server)
		return fors_fail_memory(r->error);
	snprintf(job->name, sizeof(job->name), "%.*s", fors_span_width(name), name.at);
	for (uint32_t s = 0; s < r->nservers; s++) {
		if (r->is_member[s])
			job->server[job->count++] = s;
		r->is_member[s] = false;
	}
	jobs->count++;
	return FORS_OK;
}

/* The marks of a job are for whoever plans it; here they change nothing. */
static enum fors_err read_job(struct reader *r, struct fors_jobline *line)
{
	struct fors_span member;
	enum fors_err err = FORS_OK;

	while (!err && fors_jobline_member(line, &member))
		err = add_member(r, member);
	return err ? err : finish_job(r, line->name);
}

static enum fors_err read_jobs(struct reader *r)
{
	struct fors_jobline line;
	bool is_there = true;
	enum fors_err err = FORS_OK;

	while (!err && is_there) {
		err = fors_jobline_next(&r->lines, &line, &is_there, r->error);
		if (!err && is_there)
			err = read_job(r, &line);
	}
	return err;
}

enum fors_err fors_efi_jobs_read(const char *text, size_t size, const char *name, uint32_t nservers,
				 const struct fors_routes *routes, struct fors_efi_jobs *jobs, struct fors_error *error)
{
	struct fors_efi_jobs list = {0};
	struct reader r = {.error = error, .routes = routes, .jobs = &list, .nservers = nservers};
	enum fors_err err = fors_lines_start(&r.lines, text, size, name, error);

	r.is_member = calloc(nservers + (size_t)1, sizeof(*r.is_member));
	if (!err && !r.is_member)
		err = fors_fail_memory(error);
	if (!err)
		err = read_jobs(&r);
	if (!err && !list.count)
		err = fors_fail(error, FORS_EINPUT, "%s: there is no job in the file", name);
	free(r.is_member);
	if (err) {
		fors_efi_jobs_clear(&list);
		return err;
	}
	*jobs = list;
	return FORS_OK;
}

enum fors_err fors_efi_jobs_all(uint32_t nservers, struct fors_efi_jobs *jobs, struct fors_error *error)
{
	struct fors_efi_job *job = calloc(1, sizeof(*job));
	uint32_t *server = malloc((nservers + (size_t)1) * sizeof(*server));

	if (!job || !server) {
		free(job);
		free(server);
		return fors_fail_memory(error);
	}
	*job = (struct fors_efi_job){.name = "all", .server = server, .count = nservers};
	for (uint32_t s = 0; s < nservers; s++)
		server[s] = s;
	*jobs = (struct fors_efi_jobs){job, 1};
	return FORS_OK;
}

void fors_efi_jobs_clear(struct fors_efi_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++)
		free(jobs->job[i].server);
	free(jobs->job);
	*jobs = (struct fors_efi_jobs){0};
}

/* ---- counting ---- */

struct counter {
	const struct fors_router *router;
	struct fors_efi *efi;
	uint32_t *path;	 /* room for one */
	uint32_t *count; /* per link, of the job that is being counted */
};

static bool is_between_switches(const struct fors_graph *graph, uint32_t link)
{
	return !graph->is_terminal[graph->from[link]] && !graph->is_terminal[graph->to[link]];
}

static void count_route(struct counter *c, struct fors_pair pair)
{
	uint32_t nlinks = 0;

	if (c->router->route(c->router->context, pair, c->path, &nlinks) != FORS_WAY_GOOD) {
		c->efi->broken++;
		return;
	}
	for (uint32_t i = 0; i < nlinks; i++)
		c->count[c->path[i]]++;
}

/* What the routes of the job over each link add up to; its counts begin anew. */
static void end_job(struct counter *c, uint32_t number)
{
	const struct fors_graph *graph = c->router->graph;
	struct fors_efi *efi = c->efi;

	for (uint32_t l = 0; l < graph->nlinks; l++) {
		if (c->count[l] && is_between_switches(graph, l)) {
			efi->link[l] += c->count[l];
			efi->job_links[number]++;
			if (c->count[l] > efi->job_max[number])
				efi->job_max[number] = c->count[l];
		}
		c->count[l] = 0;
	}
}

static void count_job(struct counter *c, const struct fors_efi_job *job)
{
	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t k = 0; k < job->count; k++)
			if (i != k)
				count_route(c, (struct fors_pair){job->server[i], job->server[k], 0});
}

static void count_pattern(struct counter *c, const struct fors_efi_job *job, const struct fors_pattern *pattern)
{
	for (uint32_t p = 0; pattern && p < fors_pattern_nphases(pattern); p++)
		for (size_t i = 0; i < fors_pattern_npairs(pattern, p); i++) {
			struct fors_pair pair = fors_pattern_pair(pattern, p, i);

			if (pair.dst != FORS_NONE && pair.dst != pair.src)
				count_route(
					c, (struct fors_pair){job->server[pair.src], job->server[pair.dst], pair.path});
		}
}

static void judge_links(const struct fors_graph *graph, struct fors_efi *efi)
{
	for (uint32_t l = 0; l < graph->nlinks; l++) {
		if (!is_between_switches(graph, l))
			continue;
		efi->switch_links++;
		efi->dark_links += !efi->link[l];
		if (efi->link[l] > efi->max)
			efi->max = efi->link[l];
	}
	efi->dark_fiber = efi->switch_links ? efi->dark_links / (double)efi->switch_links : 0;
}

static struct fors_efi *new_efi(uint32_t njobs, uint32_t nlinks)
{
	struct fors_efi *efi = calloc(1, sizeof(*efi));

	if (!efi)
		return NULL;
	*efi = (struct fors_efi){.njobs = njobs, .nlinks = nlinks};
	efi->job_max = calloc(njobs + (size_t)1, sizeof(*efi->job_max));
	efi->job_links = calloc(njobs + (size_t)1, sizeof(*efi->job_links));
	efi->link = calloc(nlinks + (size_t)1, sizeof(*efi->link));
	if (efi->job_max && efi->job_links && efi->link)
		return efi;
	fors_efi_free(efi);
	return NULL;
}

/* pattern NULL: all pairs over base LIDs. */
static enum fors_err count_all(const struct fors_router *router, const struct fors_efi_jobs *jobs,
			       const struct fors_pattern *const *pattern, struct fors_efi **efi,
			       struct fors_error *error)
{
	struct counter c = {.router = router, .efi = new_efi(jobs->count, router->graph->nlinks)};

	c.path = malloc((router->max_links + (size_t)1) * sizeof(*c.path));
	c.count = calloc(router->graph->nlinks + (size_t)1, sizeof(*c.count));
	if (!c.efi || !c.path || !c.count) {
		fors_efi_free(c.efi);
		free(c.path);
		free(c.count);
		return fors_fail_memory(error);
	}
	for (uint32_t i = 0; i < jobs->count; i++) {
		if (pattern)
			count_pattern(&c, &jobs->job[i], pattern[i]);
		else
			count_job(&c, &jobs->job[i]);
		end_job(&c, i);
	}
	judge_links(router->graph, c.efi);
	free(c.path);
	free(c.count);
	*efi = c.efi;
	return FORS_OK;
}

enum fors_err fors_efi_count(const struct fors_router *router, const struct fors_efi_jobs *jobs, struct fors_efi **efi,
			     struct fors_error *error)
{
	return count_all(router, jobs, NULL, efi, error);
}

enum fors_err fors_efi_count_chosen(const struct fors_router *router, const struct fors_efi_jobs *jobs,
				    const struct fors_pattern *const *pattern, struct fors_efi **efi,
				    struct fors_error *error)
{
	return count_all(router, jobs, pattern, efi, error);
}

void fors_efi_free(struct fors_efi *efi)
{
	if (!efi)
		return;
	free(efi->job_max);
	free(efi->job_links);
	free(efi->link);
	free(efi);
}
