/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_jobs.c - `fors jobs`: several jobs at once, each with lanes and a schedule of its own.
 *
 * What runs at the same time on a fabric is read from a file of jobs; lanes are shared out among those that are
 * exclusive, each job is planned over the lanes that it may use, and proven alone and beside the others.
 */
#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/json.h"
#include "cli/owned.h"
#include "cli/plan_over.h"
#include "cli/replay.h"
#include "cli/slurm/slurm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/text.h"
#include "core/planners/jobplan.h"
#include "core/planners/jobplan_index.h"

/* All that there is to say. */
struct report {
	const struct fors_fabric *fabric;
	struct fors_joblist list;
	struct fors_owners owners;    /* of tables, where it is set */
	struct fors_jobtables tables; /* with a path index of jobs; lfts is NULL: without */
	struct fors_jobplans plans;
	double owners_ms, plans_ms;
};

/* --- making it -------------------------------------------------------------------------------------------------- */

static enum fors_err read_list(const char *text, size_t size, const char *path, void *context, struct fors_error *error)
{
	struct report *report = context;

	return fors_joblist_read(text, size, path, report->fabric, &report->list, error);
}

/* Whose the lanes are, and with --job-index the entries that follow from it. */
static enum fors_err share_out(struct report *report, const struct cli_fabric *made, bool has_index,
			       struct fors_error *error)
{
	const struct fors_owners_task task = {.fabric = made->fabric, .list = &report->list, .work = FORS_OWNERS_WORK};
	enum fors_err err;

	if (!has_index)
		return fors_owners_find(&task, &report->owners, error);
	err = fors_jobtables_make(made->fabric, &report->list, made->lfts, &report->tables, error);
	report->owners = report->tables.owners;
	report->tables.owners = (struct fors_owners){0};
	return err;
}

static enum fors_err make(struct report *report, const struct cli_fabric *made, const struct cli_settings *settings,
			  struct fors_error *error)
{
	double start = cli_now_ms();
	enum fors_err err = share_out(report, made, settings->job_index, error);
	const struct fors_lfts *lfts = report->tables.lfts;
	const struct fors_jobindex index = {report->tables.index, &report->tables.entries};
	const struct fors_request request = {.task = {.fabric = made->fabric,
						      .progress = cli_progress,
						      .threads = cli_processors(),
						      .limits = settings->limits},
					     .net = made->net,
					     .lfts = lfts ? lfts : made->lfts,
					     .clock_ms = cli_now_ms};

	report->owners_ms = cli_now_ms() - start;
	start = cli_now_ms();
	if (!err)
		err = fors_jobplans_index(&request, &report->list, &report->owners, lfts ? &index : NULL, NULL,
					  &report->plans, error);
	report->plans_ms = cli_now_ms() - start;
	cli_progress_end();
	return err;
}

/* --- what follows ----------------------------------------------------------------------------------------------- */

/* FORS_UNKNOWN: there is no plan. */
static int64_t phases_of(const struct report *report, uint32_t j)
{
	const struct fors_schedule *plan = report->plans.job[j].plan;

	return plan ? (int64_t)plan->nphases : FORS_UNKNOWN;
}

/* 1: an exchange in as many phases as the job has servers; 0: there is no plan. */
static double speed_of(const struct report *report, uint32_t j)
{
	const struct fors_schedule *plan = report->plans.job[j].plan;

	return plan ? report->list.job[j].count / (double)plan->nphases : 0;
}

static double mean_speed(const struct report *report, uint32_t *slowest)
{
	double sum = 0;

	*slowest = 0;
	for (uint32_t j = 0; j < report->list.count; j++) {
		sum += speed_of(report, j);
		if (speed_of(report, j) < speed_of(report, *slowest))
			*slowest = j;
	}
	return report->list.count ? sum / report->list.count : 0;
}

/* Does any job lack a plan, or meet another where nobody should? */
static bool is_good(const struct report *report)
{
	for (uint32_t j = 0; j < report->list.count; j++)
		if (!report->plans.job[j].plan)
			return false;
	return !report->plans.nmeetings;
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
static void print_way(const struct report *report, uint32_t j)
{
	const struct fors_jobplan *made = &report->plans.job[j];

	printf("  %5.3f  %s lanes%s", speed_of(report, j), fors_jobplan_over(made->over),
	       report->list.job[j].is_exclusive && made->over != FORS_OVER_OWN ? " (asked for its own)" : "");
	if (made->index >= 0)
		printf(", path index %lld", (long long)made->index);
	else if (report->list.job[j].has_index)
		printf(" (asked for the path index of jobs)");
	printf("\n");
}

static void print_job(const struct report *report, uint32_t j)
{
	const struct fors_jobentry *job = &report->list.job[j];
	const struct fors_jobplan *made = &report->plans.job[j];

	printf("%-20s %7u %6u %5u", job->name, job->count, job->nleaves, made->nlanes);
	print_bound(phases_of(report, j));
	print_bound(made->lower_bound);
	print_bound(made->alone_bound);
	if (made->plan)
		print_way(report, j);
	else
		printf("  %snone%s   %s\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN), made->error.text);
}

static void print_text(const struct report *report)
{
	uint32_t slowest;
	double mean = mean_speed(report, &slowest);

	printf("%-20s %7s %6s %5s %6s %6s %6s  %s  %s\n", "job", "servers", "leaves", "lanes", "phases", "bound",
	       "alone", "speed", "over");
	for (uint32_t j = 0; j < report->list.count; j++)
		print_job(report, j);
	if (report->list.count)
		printf("speed       mean %.3f; slowest %.3f, %s\n", mean, speed_of(report, slowest),
		       report->list.job[slowest].name);
	if (report->plans.nmeetings)
		printf("%sfault%s       %u %s by two jobs that own their lanes; first %s\n", cli_colour(CLI_RED),
		       cli_colour(CLI_PLAIN), report->plans.nmeetings,
		       fors_plural(report->plans.nmeetings, "cable is used", "cables are used"), report->plans.meeting);
	else
		printf("verified    each plan through the tables; no two jobs over their own lanes use the same cable\n");
	printf("time        owners %.1f ms, plans with proofs %.1f ms\n", report->owners_ms, report->plans_ms);
}

/* --- for programs ----------------------------------------------------------------------------------------------- */

static json_t *number_or_null(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

/* {leaf: [lane, ...], ...}: what the job owns. */
static json_t *lanes_to_json(const struct report *report, uint32_t j)
{
	json_t *all = json_object();

	for (uint32_t a = 0; a < report->fabric->nleaves; a++) {
		json_t *list = json_array();

		for (uint32_t lane = 0; lane < report->fabric->nlanes; lane++)
			if (fors_owner(&report->owners, a, lane) == j)
				json_array_append_new(list, json_integer(lane));
		if (json_array_size(list))
			json_object_set_new(all, report->fabric->leaf[a].name, list);
		else
			json_decref(list);
	}
	return all;
}

static json_t *job_to_json(const struct report *report, uint32_t j)
{
	const struct fors_jobentry *job = &report->list.job[j];
	const struct fors_jobplan *made = &report->plans.job[j];
	json_t *object = json_pack("{s:s, s:b, s:i, s:i, s:i, s:s, s:f}", "name", job->name, "exclusive",
				   job->is_exclusive, "servers", job->count, "leaves", job->nleaves, "lanes",
				   made->nlanes, "over", fors_jobplan_over(made->over), "speed", speed_of(report, j));

	if (!object)
		return NULL;
	json_object_set_new(object, "phases", number_or_null(phases_of(report, j)));
	json_object_set_new(object, "path_index", number_or_null(made->index));
	json_object_set_new(object, "lower_bound", number_or_null(made->lower_bound));
	json_object_set_new(object, "alone_bound", number_or_null(made->alone_bound));
	json_object_set_new(object, "reason", made->plan ? json_null() : cli_json_text(made->error.text));
	json_object_set_new(object, "owned", lanes_to_json(report, j));
	return object;
}

static int print_json(const struct report *report)
{
	json_t *list = json_array();
	uint32_t slowest;
	double mean = mean_speed(report, &slowest);

	for (uint32_t j = 0; list && j < report->list.count; j++)
		if (json_array_append_new(list, job_to_json(report, j))) {
			json_decref(list);
			list = NULL;
		}
	return cli_print_json(list ? json_pack("{s:f, s:i, s:f, s:f, s:o}", "mean_speed", mean, "meetings",
					       report->plans.nmeetings, "owners_ms", report->owners_ms, "plans_ms",
					       report->plans_ms, "jobs", list)
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

static int write_all(const struct report *report, const char *folder)
{
	int code = make_folder(folder);

	for (uint32_t j = 0; !code && j < report->list.count; j++)
		if (report->plans.job[j].plan)
			code = write_job(folder, report->list.job[j].name, report->plans.job[j].plan);
	return code;
}

/* --- pictures --------------------------------------------------------------------------------------------------- */

static int draw(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made,
		const struct report *report)
{
	struct cli_owned_row *row = calloc(report->list.count + (size_t)1, sizeof(*row));
	int code;

	if (!row) {
		cli_error("out of memory");
		return CLI_BAD;
	}
	for (uint32_t j = 0; j < report->list.count; j++)
		row[j] = (struct cli_owned_row){report->plans.job[j].nlanes, phases_of(report, j), speed_of(report, j),
						fors_jobplan_over(report->plans.job[j].over)};
	code = cli_draw_owned(settings, site, made, &report->list, &report->owners, row);
	free(row);
	return code;
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static int tell(const struct cli_settings *settings, const struct report *report)
{
	int code = settings->output ? write_all(report, settings->output) : CLI_GOOD;

	if (!code && settings->is_json)
		code = print_json(report);
	else if (!code)
		print_text(report);
	return code || is_good(report) ? code : CLI_NO;
}

static int work(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made)
{
	struct report report = {.fabric = made->fabric};
	struct fors_error error = {0};
	int code = cli_use_file(settings->jobs, read_list, &report);

	if (!code && make(&report, made, settings, &error))
		code = cli_fail(&error);
	else if (!code && (settings->svg || settings->html))
		code = draw(settings, site, made, &report);
	if (!code)
		code = tell(settings, &report);
	fors_jobplans_clear(&report.plans);
	fors_jobtables_clear(&report.tables);
	fors_owners_clear(&report.owners);
	fors_joblist_clear(&report.list);
	return code;
}

/* Is it a fabric that fors routes? Else its tables are not those of the plans. */
static int check_fabric(const struct cli_site *site, const struct cli_fabric *made)
{
	struct fors_error error = {0};

	if (!cli_site_is_two_level(site)) {
		cli_error(
			"jobs are planned for in two-level fat-trees only, where lanes can be shared out; this is none. "
			"Elsewhere opensm plans each job over all of the fabric (jobs_file in fors.conf)");
		return CLI_NO;
	}
	return fors_fabric_connected(made->fabric, &error) ? cli_fail(&error) : CLI_GOOD;
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
	if (settings->replay && (settings->job_index || settings->svg || settings->html))
		return cli_usage_error("--job-index, --svg and --html go with plans, not with --replay");
	if (!settings->replay && (settings->placement || settings->cores || settings->has_count || settings->seed))
		return cli_usage_error("--placement, --cores, --count and --seed go with --replay");
	if (!settings->jobs == !settings->replay)
		return cli_usage_error(settings->jobs ? "--jobs and --replay exclude each other"
						      : "--jobs FILE is missing, or --replay HISTORY");
	code = cli_site_load(source, &site);
	if (!code)
		code = cli_fabric_make(&site, source->has_lmc, source->lmc, source->down, source->ndown, &made);
	if (!code && (!settings->replay || !made.fabric))
		code = check_fabric(&site, &made);
	if (!code)
		code = settings->replay ? cli_replay(settings, made.fabric) : work(settings, &site, &made);
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
