/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.c - all steps of a plan for a demand, one after another, for who wants no more than the schedule.
 *
 * The tables come first: they say who the servers are, and which ways messages take. Then the file is read over them. The plan of all with all is
 * what an application would follow without a demand: it is taken where it takes no longer. Nothing leaves here that the checker has not walked.
 */
#include "answer.h"

#include <stdlib.h>

#include "check.h"
#include "core/net/rates.h"
#include "demand_file.h"
#include "odd.h"
#include "pack.h"
#include "published.h"
#include "reach.h"
#include "uniform.h"

#define MOST_PATHS 128	  /* path indices that are looked at: all */
#define USUAL_RATE 200000 /* Mb/s where the fabric does not say */
#define BUDGET UINT64_C(400000000)
#define BUDGET_PER_MESSAGE UINT64_C(5000)
#define ODD_BUDGET UINT64_C(40000000)

struct answer {
	const struct fors_demand_task *task;
	struct fors_demand_report *report;
	struct fors_flows_routed *routed;
	uint64_t *guid; /* of servers */
	struct fors_demand demand;
	struct fors_demand_problem problem;
	uint64_t least; /* bytes; no plan is shorter */
	uint64_t cost;	/* of a phase, in bytes */
	struct fors_demand_plan *plan, *uniform;
};

static enum fors_err read_ways(struct answer *a, struct fors_error *error)
{
	const struct fors_flows_tables tables = {.net = a->task->net,
						 .lfts = a->task->lfts,
						 .most_paths = MOST_PATHS,
						 .cancelled = a->task->cancelled,
						 .context = a->task->context};
	enum fors_err err = fors_demand_reach(&tables, &a->routed, &a->report->warnings, error);

	if (err)
		return err;
	a->guid = malloc((a->routed->nservers + (size_t)1) * sizeof(*a->guid));
	if (!a->guid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < a->routed->nservers; s++)
		a->guid[s] = a->routed->server[s].guid;
	return FORS_OK;
}

static enum fors_err read_demand(struct answer *a, struct fors_error *error)
{
	const struct fors_demand_task *task = a->task;
	uint32_t *node = malloc((a->routed->nservers + (size_t)1) * sizeof(*node));
	const struct fors_demand_hosts hosts = {task->net, a->guid, node, a->routed->nservers};
	enum fors_err err;

	if (!node)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < hosts.count; s++)
		node[s] = a->routed->server[s].node;
	err = fors_demand_read(task->text, task->size, task->name, &hosts, &a->demand, &a->report->left_out,
			       &a->report->warnings, error);
	free(node);
	a->report->messages = err ? 0 : a->demand.count;
	return err;
}

/* What a phase costs in bytes at the rate of the links; 0 where messages have no size. */
static uint64_t cost_of(const struct answer *a)
{
	uint32_t rate = fors_rates_full(a->task->net);

	return a->demand.is_unit ? 0 : (uint64_t)((double)a->task->phase_cost * (rate ? rate : USUAL_RATE) / 8e6);
}

static enum fors_err find_bounds(struct answer *a, struct fors_error *error)
{
	const struct fors_task asking = {.cancelled = a->task->cancelled, .context = a->task->context};
	struct fors_effort effort = {.task = &asking, .budget = ODD_BUDGET};
	struct fors_demand_bound bound;
	uint64_t odd;
	uint32_t size;
	enum fors_err err = fors_demand_problem_make(&a->demand, a->routed, &a->problem, error);

	if (!err)
		err = fors_demand_bound_of(&a->problem, &bound, error);
	if (!err)
		err = fors_demand_odd_bound(&a->problem, &effort, &odd, &size, error);
	if (!err)
		a->least = odd > bound.most ? odd : bound.most;
	a->cost = cost_of(a);
	if (!err && effort.is_cancelled)
		err = fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
	return err;
}

/* The plan of the packers, unless the uniform one takes no longer. */
static enum fors_err make_plan(struct answer *a, struct fors_error *error)
{
	const struct fors_task asking = {.cancelled = a->task->cancelled, .context = a->task->context};
	struct fors_effort effort = {.task = &asking, .budget = BUDGET + BUDGET_PER_MESSAGE * a->demand.count};
	const struct fors_demand_asked asked = {&a->problem, a->least, a->cost, &effort};
	uint64_t bytes;
	enum fors_err err = FORS_OK;

	if (a->task->uniform)
		err = fors_demand_by_schedule(&a->problem, a->task->uniform, &a->uniform, error);
	if (err || (a->uniform && fors_demand_is_uniform(&a->demand, &bytes)))
		return err;
	err = fors_demand_pack(&asked, &a->plan, error);
	if (!err && a->uniform &&
	    fors_demand_plan_time(a->uniform, a->cost) <= fors_demand_plan_time(a->plan, a->cost)) {
		fors_demand_plan_free(a->plan);
		a->plan = NULL;
	}
	return err;
}

static enum fors_err prove(const struct answer *a, const struct fors_demand_plan *plan, struct fors_error *error)
{
	struct fors_demand_verdict verdict;
	enum fors_err err = fors_demand_check(a->task->net, a->task->lfts, a->guid, &a->demand, plan, &verdict, error);

	if (err || verdict.is_right)
		return err;
	return fors_fail(error, FORS_ENOPLAN, "the plan of method %s is wrong (please report this): %.300s",
			 plan->method, verdict.text);
}

static enum fors_err answer(struct answer *a, struct fors_schedule **schedule, struct fors_error *error)
{
	const struct fors_demand_levels levels = {a->task->sl, a->task->context};
	const struct fors_demand_plan *plan;
	enum fors_err err = read_ways(a, error);

	if (!err)
		err = read_demand(a, error);
	if (!err)
		err = find_bounds(a, error);
	if (!err)
		err = make_plan(a, error);
	if (err)
		return err;
	plan = a->plan ? a->plan : a->uniform;
	a->report->nphases = plan->nphases;
	a->report->over_bound = a->least ? (double)fors_demand_plan_length(plan) / (double)a->least : 1;
	err = prove(a, plan, error);
	return err ? err : fors_demand_schedule(a->routed, &a->demand, plan, &levels, schedule, error);
}

enum fors_err fors_demand_answer(const struct fors_demand_task *task, struct fors_schedule **schedule,
				 struct fors_demand_report *report, struct fors_error *error)
{
	struct answer a = {.task = task, .report = report};
	enum fors_err err;

	*report = (struct fors_demand_report){.over_bound = -1};
	err = answer(&a, schedule, error);
	fors_demand_plan_free(a.plan);
	fors_demand_plan_free(a.uniform);
	fors_demand_problem_clear(&a.problem);
	fors_demand_clear(&a.demand);
	fors_flows_routed_free(a.routed);
	free(a.guid);
	return err;
}
