/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/advise.h"

#include <stdlib.h>
#include <string.h>

#include "cli/jobs_made.h"
#include "cli/json.h"
#include "core/base/text.h"
#include "core/jobs/advice.h"

struct report {
	const struct cli_settings *settings;
	struct cli_jobs jobs; /* floors and list only */
	struct fors_advice advice;
	uint32_t *host;		    /* per server: see struct fors_advice_task */
	uint32_t nhosts, nnameless; /* of the answer; servers whose host has no name */
};

/* 1: as many phases as servers; 0: no lanes of its own. */
static double speed_of(uint32_t servers, uint32_t bound)
{
	return bound ? servers / (double)bound : 0;
}

/* Is the job as fast as a job can be, and is nobody slower for it? */
static bool is_good(const struct report *report)
{
	const struct fors_advice *advice = &report->advice;

	return advice->bound == advice->count && !advice->nslowed;
}

/* --- hosts ------------------------------------------------------------------------------------------------------ */

/* A server, and the host that it is of as Slurm names it. */
struct named {
	char host[FORS_NAME_MAX + 1];
	uint32_t server;
};

static int by_host(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order = strcmp(a->host, b->host);

	return order ? order : (a->server > b->server) - (a->server < b->server);
}

/* Each server gets the first server of its host; one whose host has no name none. */
static enum fors_err join_hosts(struct report *report, struct fors_error *error)
{
	const struct fors_fabric *fabric = report->jobs.floors.floor[0];
	struct named *list = calloc(fabric->nservers + (size_t)1, sizeof(*list));
	uint32_t count = 0, first = 0;

	report->host = calloc(fabric->nservers + (size_t)1, sizeof(*report->host));
	if (!list || !report->host) {
		free(list);
		return fors_fail_memory(error);
	}
	for (uint32_t s = 0; s < fabric->nservers; s++) {
		report->host[s] = FORS_NONE;
		list[count].server = s;
		count += fors_host_name(&fabric->net->node[fabric->server[s].node], list[count].host);
	}
	qsort(list, count, sizeof(*list), by_host);
	for (uint32_t i = 0; i < count; i++) {
		first = i && !strcmp(list[i].host, list[first].host) ? first : i;
		report->host[list[i].server] = list[first].server;
	}
	report->nnameless = fabric->nservers - count;
	free(list);
	return FORS_OK;
}

/* The name of the host whose first server is the i-th of the answer; false: it is another of its servers. */
static bool take_host(const struct report *report, uint32_t i, char name[FORS_NAME_MAX + 1])
{
	const struct fors_fabric *fabric = report->jobs.floors.floor[0];
	uint32_t s = report->advice.server[i];

	return report->host[s] == s && fors_host_name(&fabric->net->node[fabric->server[s].node], name);
}

static enum fors_err list_hosts(struct report *report, char **text, struct fors_error *error)
{
	struct fors_buffer out = {0};
	char name[FORS_NAME_MAX + 1];
	size_t size;

	for (uint32_t i = 0; i < report->advice.count; i++)
		if (take_host(report, i, name))
			fors_buffer_print(&out, "%s%s", report->nhosts++ ? "," : "", name);
	return fors_buffer_finish(&out, text, &size, error);
}

/* --- what there is to say --------------------------------------------------------------------------------------- */

static void print_text(const struct report *report, const char *hosts)
{
	const struct fors_advice *advice = &report->advice;

	printf("%s\n", hosts);
	fprintf(stderr, "%u %s", advice->count, fors_plural(advice->count, "server", "servers"));
	if (report->nhosts != advice->count)
		fprintf(stderr, " of %u %s", report->nhosts, fors_plural(report->nhosts, "host", "hosts"));
	fprintf(stderr, " on %u %s", advice->nleaves, fors_plural(advice->nleaves, "leaf", "leaves"));
	if (report->jobs.floors.pods)
		fprintf(stderr, " in %u %s", advice->npods, fors_plural(advice->npods, "pod", "pods"));
	if (advice->bound)
		fprintf(stderr, "; expected speed %.3f", speed_of(advice->count, advice->bound));
	else
		fprintf(stderr, "; no lanes of its own");
	if (advice->nslowed)
		fprintf(stderr, "; %u running %s slower\n", advice->nslowed,
			fors_plural(advice->nslowed, "job would be", "jobs would be"));
	else
		fprintf(stderr, "; no running job is slower for it\n");
}

static json_t *neighbours(const struct report *report)
{
	const struct fors_joblist *list = &report->jobs.list;
	json_t *all = json_array();

	for (uint32_t j = 0; j < list->count; j++) {
		uint32_t n = list->job[j].count;

		if (list->job[j].is_exclusive)
			json_array_append_new(all, json_pack("{s:s, s:f, s:f}", "name", list->job[j].name, "speed",
							     speed_of(n, report->advice.before[j]), "speed_with",
							     speed_of(n, report->advice.with[j])));
	}
	return all;
}

static int print_json(const struct report *report, const char *text)
{
	const struct fors_advice *advice = &report->advice;
	json_t *hosts = json_array();
	char name[FORS_NAME_MAX + 1];

	for (uint32_t i = 0; i < advice->count; i++)
		if (take_host(report, i, name))
			json_array_append_new(hosts, json_string(name));
	return cli_print_json(json_pack("{s:i, s:s, s:o, s:i, s:i, s:f, s:i, s:o}", "servers", advice->count,
					"nodelist", text, "hosts", hosts, "leaves", advice->nleaves, "pods",
					advice->npods, "expected_speed", speed_of(advice->count, advice->bound),
					"slowed", advice->nslowed, "neighbours", neighbours(report)));
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static int find(struct report *report)
{
	const struct fors_advice_task task = {.floors = &report->jobs.floors,
					      .list = &report->jobs.list,
					      .host = report->host,
					      .wanted = report->settings->advise,
					      .work = FORS_ADVICE_WORK};
	struct fors_error error = {0};
	enum fors_err err = fors_advice_find(&task, &report->advice, &error);

	if (err == FORS_ENOPLAN) {
		cli_error("%s", error.text);
		return CLI_NO;
	}
	return err ? cli_fail(&error) : CLI_GOOD;
}

int cli_advise(const struct cli_settings *settings, const struct cli_fabric *made)
{
	struct report report = {.settings = settings};
	struct fors_error error = {0};
	char *hosts = NULL;
	int code = cli_jobs_read(settings, made, &report.jobs);

	if (!code && join_hosts(&report, &error))
		code = cli_fail(&error);
	if (!code && report.nnameless)
		cli_error("%u %s not given away: the description of the adapter is no name of a host", report.nnameless,
			  fors_plural(report.nnameless, "server is", "servers are"));
	if (!code)
		code = find(&report);
	if (!code && list_hosts(&report, &hosts, &error))
		code = cli_fail(&error);
	if (!code && settings->is_json)
		code = print_json(&report, hosts);
	else if (!code)
		print_text(&report, hosts);
	if (!code && !is_good(&report))
		code = CLI_NO;
	free(hosts);
	free(report.host);
	fors_advice_clear(&report.advice);
	cli_jobs_clear(&report.jobs);
	return code;
}
