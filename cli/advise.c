/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/advise.h"

#include <string.h>

#include "cli/jobs_made.h"
#include "cli/json.h"
#include "core/base/text.h"
#include "core/jobs/advice.h"

struct report {
	const struct cli_settings *settings;
	struct cli_jobs jobs; /* floors and list only */
	struct fors_advice advice;
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

/* A host is the first word of its description, as for Slurm. */
static struct fors_span host_of(const struct report *report, uint32_t i)
{
	const struct fors_fabric *fabric = report->jobs.floors.floor[0];
	const char *desc = fabric->net->node[fabric->server[report->advice.server[i]].node].desc;

	return (struct fors_span){desc, desc + strcspn(desc, " ")};
}

/* Is it another host than the one before? Ports of one host at one leaf follow each other. */
static bool is_new(const struct report *report, uint32_t i)
{
	struct fors_span host = host_of(report, i), before;

	if (!i)
		return true;
	before = host_of(report, i - 1);
	return host.end - host.at != before.end - before.at ||
	       memcmp(host.at, before.at, (size_t)(host.end - host.at)) != 0;
}

static enum fors_err list_hosts(const struct report *report, char **text, struct fors_error *error)
{
	struct fors_buffer out = {0};
	size_t size;

	for (uint32_t i = 0; i < report->advice.count; i++) {
		struct fors_span host = host_of(report, i);

		if (is_new(report, i))
			fors_buffer_print(&out, "%s%.*s", i ? "," : "", (int)(host.end - host.at), host.at);
	}
	return fors_buffer_finish(&out, text, &size, error);
}

/* --- what there is to say --------------------------------------------------------------------------------------- */

static void print_text(const struct report *report, const char *hosts)
{
	const struct fors_advice *advice = &report->advice;

	printf("%s\n", hosts);
	fprintf(stderr, "%u %s on %u %s", advice->count, fors_plural(advice->count, "server", "servers"),
		advice->nleaves, fors_plural(advice->nleaves, "leaf", "leaves"));
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

	for (uint32_t i = 0; i < advice->count; i++)
		if (is_new(report, i)) {
			struct fors_span host = host_of(report, i);

			json_array_append_new(hosts, json_stringn(host.at, (size_t)(host.end - host.at)));
		}
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
	fors_advice_clear(&report.advice);
	cli_jobs_clear(&report.jobs);
	return code;
}
