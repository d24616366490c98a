/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_jobs.c - `fors jobs`: several jobs at once, each with lanes and a schedule of its own.
 *
 * What runs at the same time on a fabric is read from a file of jobs; lanes are shared out among those that are
 * exclusive, each job is planned over the lanes that it may use, and proven alone and beside the others.
 */
#include "cli/cli.h"
#include "cli/jobs_demand.h"
#include "cli/jobs_made.h"
#include "cli/json.h"
#include "cli/owned.h"
#include "cli/plan.h"
#include "cli/slurm/slurm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/text.h"

/* --- what follows ----------------------------------------------------------------------------------------------- */

/* FORS_UNKNOWN: there is no plan. */
static int64_t phases_of(const struct cli_jobs *jobs, uint32_t j)
{
	const struct fors_schedule *plan = jobs->plans.job[j].plan;

	return plan ? (int64_t)plan->nphases : FORS_UNKNOWN;
}

/* 1: an exchange in as many phases as the job has servers; 0: there is no plan. */
static double speed_of(const struct cli_jobs *jobs, uint32_t j)
{
	const struct fors_schedule *plan = jobs->plans.job[j].plan;

	return plan ? jobs->list.job[j].count / (double)plan->nphases : 0;
}

static double mean_speed(const struct cli_jobs *jobs, uint32_t *slowest)
{
	double sum = 0;

	*slowest = 0;
	for (uint32_t j = 0; j < jobs->list.count; j++) {
		sum += speed_of(jobs, j);
		if (speed_of(jobs, j) < speed_of(jobs, *slowest))
			*slowest = j;
	}
	return jobs->list.count ? sum / jobs->list.count : 0;
}

/* Does no job lack a plan, or one for its demand, or meet another where nobody should? */
static bool is_good(const struct cli_jobs *jobs)
{
	for (uint32_t j = 0; j < jobs->list.count; j++)
		if (!jobs->plans.job[j].plan)
			return false;
	return !jobs->plans.nmeetings && cli_jobs_have_demands(jobs);
}

/* --- for people ------------------------------------------------------------------------------------------------- */

static void print_bound(int64_t bound)
{
	if (bound < 0)
		printf(" %6s", "-");
	else
		printf(" %6lld", (long long)bound);
}

/* Over which lanes, and over which path index, where that is only one. */
static void print_way(const struct cli_jobs *jobs, uint32_t j)
{
	const struct fors_jobplan *made = &jobs->plans.job[j];

	printf("  %5.3f  %s lanes%s", speed_of(jobs, j), fors_jobplan_over(made->whose),
	       jobs->list.job[j].is_exclusive && made->whose != FORS_OVER_OWN ? " (asked for its own)" : "");
	if (made->index >= 0)
		printf(", path index %lld", (long long)made->index);
	else if (jobs->list.job[j].has_index)
		printf(" (asked for the path index of jobs)");
	printf("\n");
}

static void print_job(const struct cli_jobs *jobs, uint32_t j)
{
	const struct fors_jobentry *job = &jobs->list.job[j];
	const struct fors_jobplan *made = &jobs->plans.job[j];

	printf("%-20s %7u %6u %5u", job->name, job->count, job->nleaves, made->nlanes);
	print_bound(phases_of(jobs, j));
	print_bound(made->lower_bound);
	print_bound(made->alone_bound);
	if (made->plan)
		print_way(jobs, j);
	else
		printf("  %snone%s   %s\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN), made->error.text);
	cli_print_jobdemand(jobs, j);
}

static void print_text(const struct cli_jobs *jobs)
{
	uint32_t slowest;
	double mean = mean_speed(jobs, &slowest);

	printf("%-20s %7s %6s %5s %6s %6s %6s  %s  %s\n", "job", "servers", "leaves", "lanes", "phases", "bound",
	       "alone", "speed", "over");
	for (uint32_t j = 0; j < jobs->list.count; j++)
		print_job(jobs, j);
	if (jobs->list.count)
		printf("speed       mean %.3f; slowest %.3f, %s\n", mean, speed_of(jobs, slowest),
		       jobs->list.job[slowest].name);
	if (jobs->plans.nmeetings)
		printf("%sfault%s       %u %s by two jobs that own their lanes; first %s\n", cli_colour(CLI_RED),
		       cli_colour(CLI_PLAIN), jobs->plans.nmeetings,
		       fors_plural(jobs->plans.nmeetings, "cable is used", "cables are used"), jobs->plans.meeting);
	else
		printf("verified    each plan through the tables; no two jobs over their own lanes use the same cable\n");
	printf("time        owners %.1f ms, plans with proofs %.1f ms\n", jobs->owners_ms, jobs->plans_ms);
}

/* --- for programs ----------------------------------------------------------------------------------------------- */

static json_t *number_or_null(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static void add_lanes(const struct fors_fabric *floor, const struct fors_owners *owners, uint32_t j, json_t *all)
{
	for (uint32_t a = 0; a < floor->nleaves; a++) {
		json_t *list = json_array();

		for (uint32_t lane = 0; lane < floor->nlanes; lane++)
			if (fors_owner(owners, a, lane) == j)
				json_array_append_new(list, json_integer(lane));
		if (json_array_size(list))
			json_object_set_new(all, floor->leaf[a].name, list);
		else
			json_decref(list);
	}
}

/* {leaf: [lane, ...], ...}: what the job owns; of three levels at middle switches, too. */
static json_t *lanes_to_json(const struct cli_jobs *jobs, uint32_t j)
{
	json_t *all = json_object();

	for (uint32_t f = 0; f < jobs->floors.count; f++)
		add_lanes(jobs->floors.floor[f], &jobs->tables.holdings.owners[f], j, all);
	return all;
}

static json_t *job_to_json(const struct cli_jobs *jobs, uint32_t j)
{
	const struct fors_jobentry *job = &jobs->list.job[j];
	const struct fors_jobplan *made = &jobs->plans.job[j];
	json_t *object = json_pack("{s:s, s:b, s:i, s:i, s:i, s:s, s:f}", "name", job->name, "exclusive",
				   job->is_exclusive, "servers", job->count, "leaves", job->nleaves, "lanes",
				   made->nlanes, "over", fors_jobplan_over(made->whose), "speed", speed_of(jobs, j));

	if (!object)
		return NULL;
	json_object_set_new(object, "phases", number_or_null(phases_of(jobs, j)));
	json_object_set_new(object, "path_index", number_or_null(made->index));
	json_object_set_new(object, "lower_bound", number_or_null(made->lower_bound));
	json_object_set_new(object, "alone_bound", number_or_null(made->alone_bound));
	json_object_set_new(object, "reason", made->plan ? json_null() : fors_json_text(made->error.text));
	cli_add_jobdemand(jobs, j, object);
	json_object_set_new(object, "owned", lanes_to_json(jobs, j));
	return object;
}

static int print_json(const struct cli_jobs *jobs)
{
	json_t *list = json_array();
	uint32_t slowest;
	double mean = mean_speed(jobs, &slowest);

	for (uint32_t j = 0; list && j < jobs->list.count; j++)
		if (json_array_append_new(list, job_to_json(jobs, j))) {
			json_decref(list);
			list = NULL;
		}
	return cli_print_json(list ? json_pack("{s:f, s:i, s:f, s:f, s:o}", "mean_speed", mean, "meetings",
					       jobs->plans.nmeetings, "owners_ms", jobs->owners_ms, "plans_ms",
					       jobs->plans_ms, "jobs", list)
				   : NULL);
}

/* --- files ------------------------------------------------------------------------------------------------------ */

static int make_folder(const char *path)
{
	if (!mkdir(path, 0755) || errno == EEXIST)
		return CLI_GOOD;
	cli_error("%s: %s", path, strerror(errno));
	return CLI_BAD;
}

/* FOLDER/NAME/schedule */
static int write_job(const char *folder, const char *name, const struct fors_schedule *plan)
{
	char path[CLI_PATH_ROOM], file[CLI_PATH_ROOM];
	int code;

	if (!cli_make_path(folder, name, path) || !cli_make_path(path, "schedule", file))
		return CLI_BAD;
	code = make_folder(path);
	return code ? code : cli_write_schedule(file, plan);
}

/* FOLDER/NAME/demand/NAME/schedule */
static int write_demand(const char *folder, const char *name, const struct fors_schedule *plan)
{
	char job[CLI_PATH_ROOM], path[CLI_PATH_ROOM];
	int code;

	if (!cli_make_path(folder, name, job) || !cli_make_path(job, "demand", path))
		return CLI_BAD;
	code = make_folder(path);
	return code ? code : write_job(path, name, plan);
}

static int write_all(const struct cli_jobs *jobs, const char *folder)
{
	int code = make_folder(folder);

	for (uint32_t j = 0; !code && j < jobs->list.count; j++) {
		const char *name = jobs->list.job[j].name;

		if (jobs->plans.job[j].plan)
			code = write_job(folder, name, jobs->plans.job[j].plan);
		if (!code && jobs->demand && jobs->demand[j].plan)
			code = write_demand(folder, name, jobs->demand[j].plan);
	}
	return code;
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static int tell(const struct cli_settings *settings, const struct cli_jobs *jobs)
{
	int code = settings->output ? write_all(jobs, settings->output) : CLI_GOOD;

	if (!code && settings->is_json)
		code = print_json(jobs);
	else if (!code)
		print_text(jobs);
	return code || is_good(jobs) ? code : CLI_NO;
}

static int work(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made)
{
	struct cli_jobs jobs = {0};
	int code = cli_jobs_read(settings, made, &jobs);

	if (!code)
		code = cli_jobs_plan(settings, made, settings->job_index, &jobs);
	if (!code && settings->demand_dir)
		code = cli_jobs_demands(settings, made, &jobs);
	if (!code && settings->svg)
		code = cli_draw_owned(settings, site, made, &jobs);
	if (!code)
		code = tell(settings, &jobs);
	cli_jobs_clear(&jobs);
	return code;
}

static bool asks_of_slurm(const struct cli_settings *settings)
{
	const struct cli_slurm *slurm = &settings->slurm;

	return slurm->output || slurm->interval || slurm->exclusive || slurm->mark || slurm->names || slurm->squeue ||
	       slurm->plans || slurm->wait || settings->has_timeout;
}

static int run(const struct cli_settings *settings, char **operand)
{
	const struct cli_source *source = &settings->source;
	struct cli_fabric made = {0};
	struct cli_site site = {0};
	int code;

	(void)operand;
	if (settings->slurm.is_wanted)
		return slurm_follow(settings);
	if (asks_of_slurm(settings))
		return cli_usage_error(
			"--output, --interval, --exclusive, --mark, --names, --squeue, --timeout, --publish-dir and "
			"--wait go with --slurm; plans are written with --output-dir DIR");
	if (settings->replay && (settings->job_index || settings->svg))
		return cli_usage_error("--job-index and --svg go with plans, not with --replay");
	if (!settings->replay && (settings->placement || settings->cores || settings->has_count || settings->seed))
		return cli_usage_error("--placement, --cores, --count and --seed go with --replay");
	if (!settings->jobs == !settings->replay)
		return cli_usage_error(settings->jobs ? "--jobs and --replay exclude each other"
						      : "--jobs FILE is missing, or --replay HISTORY");
	if (settings->replay)
		return cli_replay(settings);
	code = cli_site_load(source, &site);
	if (!code)
		code = cli_fabric_make(&site, source->has_lmc, source->lmc, source->down, source->ndown, &made);
	if (!code)
		code = cli_jobs_check(&site, &made);
	if (!code)
		code = work(settings, &site, &made);
	cli_fabric_free(&made);
	cli_site_free(&site);
	return code;
}

const struct cli_command cli_jobs_command = {
	.id = CLI_CMD_JOBS,
	.name = "jobs",
	.summary = "Plan several jobs at once, each over lanes of its own",
	.usage = "(--fabric FILE | --synthetic SPEC) --jobs FILE [OPTION]...\n"
		 "       fors jobs (--fabric FILE | --synthetic SPEC) --replay HISTORY --output-dir DIR [OPTION]...\n"
		 "       fors jobs --slurm --output FILE [OPTION]...",
	.details = "A line of the file is 'NAME: SERVER, SERVER, ...' or 'NAME [exclusive]: SERVER, ...'.\n"
		   "Exclusive jobs get lanes of their own: they promise to follow their schedules.\n"
		   "So do jobs 'NAME [job-index]: ...'; with --job-index one path index is enough for them.\n"
		   "With a path index for each lane (LMC 5 for 17 to 32) isolation is complete.\n"
		   "Example: fors jobs --synthetic 'FT(2;20,18)' --lmc 5 --jobs jobs.txt --output-dir schedules\n"
		   "With --slurm the file is written: what squeue says that runs, as long as it answers.\n"
		   "The exit code is 1 when a job has no plan, or fors does not route the fabric;\n"
		   "with --slurm, when squeue does not answer (the file stays), or there is no plan in time.\n",
	.run = run,
};
