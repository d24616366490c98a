/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.c - all steps of a plan for a demand, for who wants no more than the schedule. Nothing leaves here that the checker has not walked.
 */
#include "answer.h"

#include "published.h"

static enum fors_err find_plan(struct fors_demand_steps *steps, const struct fors_demand_task *task,
			       struct fors_demand_report *report, struct fors_error *error)
{
	enum fors_err err = fors_demand_find_ways(steps, &report->warnings, error);

	if (!err)
		err = fors_demand_find_messages(steps, task->text, task->size, task->name, &report->warnings, error);
	if (err)
		return err;
	report->messages = steps->demand.count;
	err = fors_demand_find_bounds(steps, task->phase_cost, error);
	return err ? err : fors_demand_find_plan(steps, task->uniform, error);
}

static enum fors_err answer(struct fors_demand_steps *steps, const struct fors_demand_task *task,
			    struct fors_schedule **schedule, struct fors_demand_report *report,
			    struct fors_error *error)
{
	const struct fors_demand_levels levels = {task->sl, task->context};
	const struct fors_demand_plan *plan;
	struct fors_demand_verdict verdict;
	enum fors_err err = find_plan(steps, task, report, error);
	uint64_t least;

	if (err)
		return err;
	plan = fors_demand_chosen(steps);
	least = steps->bound.most;
	report->nphases = plan->nphases;
	report->over_bound = least ? (double)fors_demand_plan_length(plan) / (double)least : 1;
	err = fors_demand_prove(steps, &verdict, error);
	return err ? err : fors_demand_schedule(steps->routed, &steps->demand, plan, &levels, schedule, error);
}

enum fors_err fors_demand_answer(const struct fors_demand_task *task, struct fors_schedule **schedule,
				 struct fors_demand_report *report, struct fors_error *error)
{
	struct fors_demand_steps steps = {.net = task->net,
					  .lfts = task->lfts,
					  .cancelled = task->cancelled,
					  .context = task->context,
					  .limits = task->limits,
					  .part = task->part,
					  .names = task->names};
	enum fors_err err;

	*report = (struct fors_demand_report){.over_bound = -1};
	err = answer(&steps, task, schedule, report, error);
	fors_demand_steps_clear(&steps);
	return err;
}
