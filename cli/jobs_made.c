/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/jobs_made.h"

#include <stdlib.h>

#include "cli/clock.h"
#include "core/planners/jobplan_over.h"

int cli_jobs_check(const struct cli_site *site, const struct cli_fabric *made)
{
	struct fors_error error = {0};

	if (!site->places || !made->tree.kind) {
		cli_error(
			"jobs are planned for in fat-trees of two levels or three, where lanes can be shared out; this "
			"is none. Elsewhere opensm plans each job over all of the fabric (jobs_file in fors.conf)");
		return CLI_NO;
	}
	return fors_fattree_connected(&made->tree, &error) ? cli_fail(&error) : CLI_GOOD;
}

static enum fors_err read_list(const char *text, size_t size, const char *path, void *context, struct fors_error *error)
{
	struct cli_jobs *jobs = context;

	return fors_joblist_read(text, size, path, jobs->floors.floor[0], &jobs->list, error);
}

int cli_jobs_read(const struct cli_settings *settings, const struct cli_fabric *made, struct cli_jobs *jobs)
{
	struct fors_error error = {0};

	if (fors_floors_make(&made->tree, &jobs->floors, &error))
		return cli_fail(&error);
	return settings->jobs ? cli_use_file(settings->jobs, read_list, jobs) : CLI_GOOD;
}

/* --- plans ------------------------------------------------------------------------------------------------------ */

static enum fors_err plan(const struct cli_settings *settings, const struct cli_fabric *made, struct cli_jobs *jobs,
			  struct fors_error *error)
{
	const struct fors_jobtables *tables = &jobs->tables;
	const struct fors_jobfloors lanes = {&jobs->floors, &tables->holdings,
					     tables->lfts ? (int64_t)tables->index : FORS_UNKNOWN};
	const struct fors_request request = {.task = {.fabric = made->fabric,
						      .progress = cli_progress,
						      .limits = settings->limits,
						      .threads = cli_processors()},
					     .net = made->net,
					     .lfts = tables->lfts ? tables->lfts : made->lfts,
					     .clock_ms = cli_now_ms,
					     .haste = FORS_ONE_OF_MANY};

	return fors_jobplans_floors(&request, &lanes, &jobs->list, NULL, &jobs->plans, error);
}

int cli_jobs_plan(const struct cli_settings *settings, const struct cli_fabric *made, bool has_index,
		  struct cli_jobs *jobs)
{
	struct fors_error error = {0};
	double start = cli_now_ms();
	enum fors_err err = fors_jobtables_make(&made->tree, &jobs->floors, &jobs->list, has_index ? made->lfts : NULL,
						&jobs->tables, &error);

	jobs->owners_ms = cli_now_ms() - start;
	start = cli_now_ms();
	if (!err)
		err = plan(settings, made, jobs, &error);
	jobs->plans_ms = cli_now_ms() - start;
	cli_progress_end();
	return err ? cli_fail(&error) : CLI_GOOD;
}

void cli_jobs_clear(struct cli_jobs *jobs)
{
	for (uint32_t j = 0; jobs->demand && j < jobs->list.count; j++)
		fors_schedule_free(jobs->demand[j].plan);
	free(jobs->demand);
	fors_jobplans_clear(&jobs->plans);
	fors_jobtables_clear(&jobs->tables);
	fors_joblist_clear(&jobs->list);
	fors_floors_clear(&jobs->floors);
}
