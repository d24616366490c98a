/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/jobs_demand.h"

#include <stdlib.h>

#include "cli/json.h"
#include "core/base/text.h"

/* A demand that is being planned. */
struct task {
	const struct cli_settings *settings;
	const struct cli_fabric *made;
	const struct cli_jobs *jobs;
	uint32_t job;
	struct cli_jobdemand *demand;
};

static enum fors_err answer(const char *text, size_t size, const char *path, void *context, struct fors_error *error)
{
	const struct task *task = context;
	const struct fors_jobplan *job = &task->jobs->plans.job[task->job];
	const struct fors_demand_task asked = {
		.net = task->made->net,
		.lfts = task->jobs->tables.lfts ? task->jobs->tables.lfts : task->made->lfts,
		.text = text,
		.size = size,
		.name = path,
		.phase_cost = FORS_DEMAND_PHASE_COST,
		.limits = task->settings->limits,
		.part = fors_demand_part_of(job->plan, job->whose == FORS_OVER_ALL, job->index)};
	struct cli_jobdemand *demand = task->demand;
	enum fors_err err = fors_demand_answer(&asked, &demand->plan, &demand->report, error);

	if (!err)
		snprintf(demand->plan->name, sizeof(demand->plan->name), "%s", task->jobs->list.job[task->job].name);
	return err;
}

/* What goes wrong was printed; the job has no schedule for its demand then. */
static void plan(struct task *task)
{
	const char *name = task->jobs->list.job[task->job].demand;
	char file[CLI_PATH_ROOM], path[CLI_PATH_ROOM];

	snprintf(file, sizeof(file), "%s.demand", name);
	if (!cli_make_path(task->settings->demand_dir, file, path) || cli_use_file(path, answer, task))
		task->demand->plan = NULL;
}

int cli_jobs_demands(const struct cli_settings *settings, const struct cli_fabric *made, struct cli_jobs *jobs)
{
	jobs->demand = calloc(jobs->list.count + (size_t)1, sizeof(*jobs->demand));
	if (!jobs->demand) {
		cli_error("out of memory");
		return CLI_BAD;
	}
	for (uint32_t j = 0; j < jobs->list.count; j++) {
		struct task task = {settings, made, jobs, j, &jobs->demand[j]};

		if (*jobs->list.job[j].demand && jobs->plans.job[j].plan)
			plan(&task);
	}
	return CLI_GOOD;
}

bool cli_jobs_have_demands(const struct cli_jobs *jobs)
{
	for (uint32_t j = 0; jobs->demand && j < jobs->list.count; j++)
		if (*jobs->list.job[j].demand && !jobs->demand[j].plan)
			return false;
	return true;
}

void cli_print_jobdemand(const struct cli_jobs *jobs, uint32_t j)
{
	const struct cli_jobdemand *demand = jobs->demand ? &jobs->demand[j] : NULL;

	if (!demand || !*jobs->list.job[j].demand)
		return;
	printf("  demand %s: ", jobs->list.job[j].demand);
	if (!demand->plan)
		printf("%snone%s\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN));
	else
		printf("%u %s, %.3f of the bound\n", demand->report.nphases,
		       fors_plural(demand->report.nphases, "phase", "phases"), demand->report.over_bound);
	for (unsigned i = 0; i < fors_warnings_kept(&demand->report.warnings); i++)
		printf("    %s%s%s\n", cli_colour(CLI_YELLOW), demand->report.warnings.text[i], cli_colour(CLI_PLAIN));
}

void cli_add_jobdemand(const struct cli_jobs *jobs, uint32_t j, json_t *object)
{
	const struct cli_jobdemand *demand = jobs->demand ? &jobs->demand[j] : NULL;
	const char *name = jobs->list.job[j].demand;
	bool has_plan = demand && demand->plan;

	json_object_set_new(object, "demand", *name ? fors_json_text(name) : json_null());
	json_object_set_new(object, "demand_phases", has_plan ? json_integer(demand->report.nphases) : json_null());
	json_object_set_new(object, "demand_over_bound", has_plan ? json_real(demand->report.over_bound) : json_null());
}
