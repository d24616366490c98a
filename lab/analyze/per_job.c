/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * per_job.c - how fast the jobs of --jobs get on beside one another.
 *
 *   per-job-shift        each job goes through its shifts, phase after phase, over base LIDs
 *   per-job-all-to-all   the same without phases: each server has WINDOW messages under way
 *   per-job-plan         each job follows a plan of its own, as `fors jobs` makes it: exclusive jobs over lanes that they own;
 *                        with --job-index over tables in which one path index belongs to jobs
 */
#include "per_job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/analyze/analysis.h"
#include "cli/jobs_made.h"
#include "core/base/text.h"
#include "lab/model/measure/together.h"
#include "lab/options.h"

#define WINDOW 8

static const char *const names[] = {"per-job-shift", "per-job-all-to-all", "per-job-plan", NULL};
enum kind { SHIFT, ALL_TO_ALL, PLAN, NKINDS };

struct per_job {
	struct cli_analysis a;
	enum kind kind;
	struct cli_jobs jobs;	       /* with plans */
	struct fors_pattern **pattern; /* per job; NULL: it has no plan */
	struct fors_running *worker;
	struct fors_efi *efi, *chosen; /* over base LIDs; over the path indices of the plans, or NULL */
	struct fors_together result;
};

static enum kind kind_of(const struct cli_settings *settings)
{
	unsigned kind = 0;

	while (cli_lab(settings)->pattern && kind < NKINDS && strcmp(cli_lab(settings)->pattern, names[kind]))
		kind++;
	return cli_lab(settings)->pattern ? (enum kind)kind : NKINDS;
}

bool cli_is_per_job(const struct cli_settings *settings)
{
	return kind_of(settings) != NKINDS;
}

/* --- plans ------------------------------------------------------------------------------------------------------ */

/* Which of a job's servers in the order of the routes has this port GUID, from number `from` on; FORS_NONE: none. */
static uint32_t find_server(const struct per_job *p, const struct fors_efi_job *job, uint64_t guid, uint32_t from)
{
	for (uint32_t i = from; i < job->count; i++)
		if (p->a.routes->server[job->server[i]].guid == guid)
			return i;
	return FORS_NONE;
}

/* The servers of a job in the order of its plan, which is its own; false: the plan is of others. */
static bool follow_plan(const struct per_job *p, uint32_t j)
{
	const struct fors_schedule *plan = p->jobs.plans.job[j].plan;
	struct fors_efi_job *job = &p->a.jobs.job[j];

	if (job->count != p->jobs.list.job[j].count)
		return false;
	for (uint32_t i = 0; plan && i < job->count; i++) {
		uint32_t at = find_server(p, job, plan->server[i].guid, i), server;

		if (at == FORS_NONE)
			return false;
		server = job->server[at];
		job->server[at] = job->server[i];
		job->server[i] = server;
	}
	return true;
}

static int check_plans(struct per_job *p)
{
	if (p->jobs.list.count != p->a.jobs.count) {
		cli_error("the file of jobs is read twice, and had other jobs then: it has to be a file");
		return CLI_BAD;
	}
	for (uint32_t j = 0; j < p->jobs.list.count; j++)
		if (!follow_plan(p, j)) {
			cli_error("job %s: its plan is of other servers", p->jobs.list.job[j].name);
			return CLI_BAD;
		}
	return CLI_GOOD;
}

/* Of two levels any tables in the order of lanes will do; of three those that fors made. */
static bool is_ours(const struct cli_settings *settings, const struct per_job *p)
{
	const struct cli_fabric *made = &p->a.made;

	if (made->tree.pods)
		return settings->routing && !strcmp(settings->routing, "fors");
	return cli_site_is_two_level(&p->a.site) && made->fabric && made->lanes;
}

static int make_plans(const struct cli_settings *settings, struct per_job *p)
{
	int code = CLI_GOOD;

	if (!is_ours(settings, p)) {
		cli_error("plans of jobs are for fat-trees of two levels or three under the tables of fors; for others "
			  "per-job-shift");
		code = CLI_BAD;
	}
	if (!code)
		code = cli_jobs_read(settings, &p->a.made, &p->jobs);
	if (!code)
		code = cli_jobs_plan(settings, &p->a.made, settings->job_index, &p->jobs);
	if (!code)
		code = check_plans(p);
	if (!code && settings->job_index) {
		code = cli_analysis_replace_tables(&p->a, p->jobs.tables.lfts);
		p->jobs.tables.lfts = NULL;
	}
	return code;
}

/* --- patterns --------------------------------------------------------------------------------------------------- */

static enum fors_err make_pattern(struct per_job *p, uint32_t j, struct fors_error *error)
{
	const struct fors_pattern_options options = {0};

	if (p->kind != PLAN)
		return fors_pattern_new("linear-shift", p->a.jobs.job[j].count, &options, &p->pattern[j], error);
	if (!p->jobs.plans.job[j].plan)
		return FORS_OK;
	return fors_pattern_plan(p->jobs.plans.job[j].plan, &p->pattern[j], error);
}

static enum fors_err make_workers(struct per_job *p, struct fors_error *error)
{
	const struct fors_efi_jobs *jobs = &p->a.jobs;
	enum fors_err err = FORS_OK;

	p->pattern = calloc(jobs->count + (size_t)1, sizeof(struct fors_pattern *));
	p->worker = calloc(jobs->count + (size_t)1, sizeof(*p->worker));
	if (!p->pattern || !p->worker)
		return fors_fail_memory(error);
	for (uint32_t j = 0; j < jobs->count && !err; j++) {
		err = make_pattern(p, j, error);
		p->worker[j] = (struct fors_running){.pattern = p->pattern[j],
						     .server = jobs->job[j].server,
						     .count = jobs->job[j].count,
						     .window = p->kind == ALL_TO_ALL ? WINDOW : 0};
	}
	return err;
}

static enum fors_err evaluate(struct per_job *p, const struct cli_settings *settings, struct fors_error *error)
{
	const struct fors_together_options options = {settings->seed, cli_lab(settings)->phases};
	const struct fors_pattern *const *pattern = (const struct fors_pattern *const *)p->pattern;
	enum fors_err err = make_workers(p, error);

	if (!err)
		err = fors_efi_count(&p->a.router, &p->a.jobs, &p->efi, error);
	if (!err && p->kind == PLAN)
		err = fors_efi_count_chosen(&p->a.router, &p->a.jobs, pattern, &p->chosen, error);
	if (!err)
		err = fors_run_together(&p->a.router, p->worker, p->a.jobs.count, &options, &p->result, error);
	return err;
}

/* --- what there is to say --------------------------------------------------------------------------------------- */

static double mean_speed(const struct per_job *p, uint32_t *slowest)
{
	double sum = 0;

	*slowest = 0;
	for (uint32_t j = 0; j < p->result.njobs; j++) {
		sum += p->result.speed[j];
		if (p->result.speed[j] < p->result.speed[*slowest])
			*slowest = j;
	}
	return sum / p->result.njobs;
}

static void print_efi(const char *label, const struct fors_efi *efi)
{
	printf("%-11s EFI %" PRIu64 " at most, dark fiber %.1f %% (%u of %u links)\n", label, efi->max,
	       100 * efi->dark_fiber, efi->dark_links, efi->switch_links);
}

static const char *over(const struct per_job *p, uint32_t j)
{
	if (p->kind != PLAN)
		return "";
	return p->jobs.plans.job[j].plan ? fors_jobplan_over(p->jobs.plans.job[j].whose) : "no plan";
}

static void print_text(const struct per_job *p)
{
	uint32_t slowest;
	double mean = mean_speed(p, &slowest);

	printf("fabric      %s: %u %s\n", p->a.title, p->a.router.graph->nservers,
	       fors_plural(p->a.router.graph->nservers, "server", "servers"));
	printf("routing     %s\n", p->a.routing);
	printf("pattern     %s, %u %s, each with a clock of its own\n", names[p->kind], p->result.njobs,
	       fors_plural(p->result.njobs, "job", "jobs"));
	for (uint32_t j = 0; j < p->result.njobs; j++)
		printf("job         %-20s %5u %s  speed %.3f  EFI %u at most, %u %s  %s\n", p->a.jobs.job[j].name,
		       p->a.jobs.job[j].count, fors_plural(p->a.jobs.job[j].count, "server", "servers"),
		       p->result.speed[j], p->efi->job_max[j], p->efi->job_links[j],
		       fors_plural(p->efi->job_links[j], "link", "links"), over(p, j));
	print_efi("routes", p->efi);
	if (p->chosen)
		print_efi("chosen", p->chosen);
	if (p->result.nbroken)
		printf("%sbroken%s      %" PRIu64 " %s\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN),
		       p->result.nbroken,
		       fors_plural(p->result.nbroken, "message does not arrive", "messages do not arrive"));
	printf("speed       mean %.3f; slowest %.3f, %s\n", mean, p->result.speed[slowest],
	       p->a.jobs.job[slowest].name);
}

/* The speed that no plan exceeds if the job has the fabric for itself. */
static json_t *alone_speed(const struct cli_jobs *jobs, uint32_t j)
{
	int64_t bound = jobs->plans.job[j].alone_bound;

	return bound > 0 ? json_real(jobs->list.job[j].count / (double)bound) : json_null();
}

static json_t *jobs_to_json(const struct per_job *p)
{
	json_t *list = json_array();

	for (uint32_t j = 0; list && j < p->result.njobs; j++) {
		json_t *job = json_pack("{s:o, s:i, s:f, s:i, s:i}", "name", fors_json_text(p->a.jobs.job[j].name),
					"servers", p->a.jobs.job[j].count, "speed", p->result.speed[j], "efi_max",
					p->efi->job_max[j], "links", p->efi->job_links[j]);

		if (job && p->kind == PLAN)
			json_object_set_new(job, "over",
					    p->jobs.plans.job[j].plan ? json_string(over(p, j)) : json_null());
		if (job && p->kind == PLAN)
			json_object_set_new(job, "alone_speed", alone_speed(&p->jobs, j));
		if (job && p->kind == PLAN)
			json_object_set_new(job, "path_index",
					    p->jobs.plans.job[j].index < 0 ? json_null()
									   : json_integer(p->jobs.plans.job[j].index));
		if (json_array_append_new(list, job)) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *to_json(const struct per_job *p)
{
	uint32_t slowest;
	double mean = mean_speed(p, &slowest);
	json_t *jobs = jobs_to_json(p);
	json_t *object = jobs ? json_pack("{s:s, s:s, s:f, s:f, s:f, s:I, s:I, s:f, s:f, s:o}", "routing", p->a.routing,
					  "pattern", names[p->kind], "mean_speed", mean, "worst_speed",
					  p->result.speed[slowest], "time", p->result.time, "broken",
					  (json_int_t)p->result.nbroken, "efi_max", (json_int_t)p->efi->max,
					  "job_efi_mean", 0., "dark_fiber", p->efi->dark_fiber, "jobs", jobs)
			      : NULL;
	double sum = 0;

	for (uint32_t j = 0; j < p->result.njobs; j++)
		sum += p->efi->job_max[j];
	if (object)
		json_object_set_new(object, "job_efi_mean", json_real(sum / p->result.njobs));
	if (object && p->chosen) {
		json_object_set_new(object, "meetings", json_integer(p->jobs.plans.nmeetings));
		json_object_set_new(object, "chosen_efi_max", json_integer((json_int_t)p->chosen->max));
		json_object_set_new(object, "chosen_dark_fiber", json_real(p->chosen->dark_fiber));
	}
	return object;
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static void clear(struct per_job *p)
{
	for (uint32_t j = 0; p->pattern && j < p->a.jobs.count; j++)
		fors_pattern_free(p->pattern[j]);
	free(p->pattern);
	free(p->worker);
	fors_together_clear(&p->result);
	fors_efi_free(p->efi);
	fors_efi_free(p->chosen);
	cli_jobs_clear(&p->jobs);
	cli_analysis_free(&p->a);
}

static int tell(const struct cli_settings *settings, const struct per_job *p)
{
	int code = CLI_GOOD;

	if (settings->is_json)
		code = cli_print_json(to_json(p));
	else
		print_text(p);
	if (code || !p->result.nbroken)
		return code;
	cli_error("%" PRIu64 " %s", p->result.nbroken,
		  fors_plural(p->result.nbroken, "message does not arrive", "messages do not arrive"));
	return CLI_NO;
}

int cli_analyze_per_job(const struct cli_settings *settings)
{
	struct per_job p = {.kind = kind_of(settings)};
	struct fors_error error = {0};
	int code = cli_analysis_load(settings, &p.a);
	if (!code)
		code = cli_analysis_jobs(settings->jobs, &p.a);
	if (!code && p.kind == PLAN)
		code = make_plans(settings, &p);
	if (!code && evaluate(&p, settings, &error))
		code = cli_fail(&error);
	if (!code)
		code = tell(settings, &p);
	clear(&p);
	return code;
}
