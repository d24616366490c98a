/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.c - the tables come first: they say who the servers are, and which ways messages take. Then the file is read over them. The plan of all with all is
 * what an application would follow without a demand, and where the demand is uniform it is the plan.
 */
#include "steps.h"

#include <stdlib.h>

#include "core/net/rates.h"
#include "cables.h"
#include "demand_file.h"
#include "pack.h"
#include "reach.h"
#include "uniform.h"

#define MOST_PATHS 128		   /* path indices that are looked at: all */
#define USUAL_RATE 200000	   /* Mb/s where the fabric does not say */
#define BUDGET UINT64_C(400000000) /* steps of the packers */
#define BUDGET_PER_MESSAGE UINT64_C(5000)
#define MANY_MESSAGES 4096 /* all with all of 64 servers */

void fors_demand_steps_clear(struct fors_demand_steps *steps)
{
	fors_demand_plan_free(steps->plan);
	fors_demand_plan_free(steps->uniform);
	fors_demand_problem_clear(&steps->problem);
	fors_demand_clear(&steps->demand);
	fors_flows_routed_free(steps->routed);
	free(steps->guid);
}

const struct fors_demand_plan *fors_demand_chosen(const struct fors_demand_steps *steps)
{
	return steps->plan ? steps->plan : steps->uniform;
}

/* ---- ways, messages ---- */

struct fors_demand_part fors_demand_part_of(const struct fors_schedule *job, bool is_over_all, int64_t path)
{
	return (struct fors_demand_part){job, !is_over_all && path <= 0, path > 0 ? (uint32_t)path : 0};
}

/* The ways once more, without those over other cables than the schedule's. */
static enum fors_err hold_part(struct fors_demand_steps *steps, const struct fors_flows_tables *all,
			       struct fors_error *error)
{
	struct fors_flows_tables tables = *all;
	bool *is_barred = fors_demand_bar_others(steps->routed, steps->part.job);
	enum fors_err err = is_barred ? FORS_OK : fors_fail_memory(error);

	fors_flows_routed_free(steps->routed);
	steps->routed = NULL;
	tables.is_barred = is_barred;
	if (!err)
		err = fors_flows_routed_read(&tables, &steps->routed, error);
	free(is_barred);
	return err;
}

static enum fors_err read_part(struct fors_demand_steps *steps, const struct fors_flows_tables *all,
			       struct fors_error *error)
{
	const struct fors_schedule *job = steps->part.job;
	struct fors_flows_tables tables = *all;
	struct fors_participants servers = {malloc((job->nservers + (size_t)1) * sizeof(*servers.guid)), job->nservers};
	enum fors_err err = servers.guid ? FORS_OK : fors_fail_memory(error);

	for (uint32_t s = 0; !err && s < job->nservers; s++)
		servers.guid[s] = job->server[s].guid;
	tables.participants = &servers;
	if (!err)
		err = fors_flows_routed_read(&tables, &steps->routed, error);
	if (!err && steps->part.is_held)
		err = hold_part(steps, &tables, error);
	free(servers.guid);
	return err;
}

enum fors_err fors_demand_find_ways(struct fors_demand_steps *steps, struct fors_warnings *warnings,
				    struct fors_error *error)
{
	const struct fors_flows_tables tables = {.net = steps->net,
						 .lfts = steps->lfts,
						 .most_paths = steps->part.path ? 1 : MOST_PATHS,
						 .first_path = steps->part.path,
						 .cancelled = steps->cancelled,
						 .context = steps->context};
	enum fors_err err =
		steps->limits.bytes ? fors_ways_fit(steps->net, MOST_PATHS, steps->limits.bytes, error) : FORS_OK;

	if (!err && steps->part.job)
		err = read_part(steps, &tables, error);
	else if (!err)
		err = fors_demand_reach(&tables, &steps->routed, warnings, error);
	if (err)
		return err;
	steps->guid = malloc((steps->routed->nservers + (size_t)1) * sizeof(*steps->guid));
	if (!steps->guid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < steps->routed->nservers; s++)
		steps->guid[s] = steps->routed->server[s].guid;
	return FORS_OK;
}

enum fors_err fors_demand_find_messages(struct fors_demand_steps *steps, const char *text, size_t size,
					const char *name, struct fors_warnings *warnings, struct fors_error *error)
{
	uint32_t *node = malloc((steps->routed->nservers + (size_t)1) * sizeof(*node));
	const struct fors_demand_hosts hosts = {steps->net,	 steps->guid, node, steps->routed->nservers,
						steps->part.job, steps->names};
	enum fors_err err;

	if (!node)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < hosts.count; s++)
		node[s] = steps->routed->server[s].node;
	err = fors_demand_read(text, size, name, &hosts, &steps->demand, &steps->left_out, warnings, error);
	free(node);
	return err;
}

/* ---- bounds ---- */

/* The phases that a demand needs at least; of messages of one size a bound says it. */
static enum fors_err count_fewest(struct fors_demand_steps *steps, struct fors_error *error)
{
	uint64_t least = steps->bound.most;

	if (!steps->demand.is_unit)
		return fors_demand_fewest(&steps->problem, &steps->fewest, error);
	steps->fewest = (uint32_t)(least > UINT32_MAX ? UINT32_MAX : least);
	return FORS_OK;
}

/* What a phase costs in bytes at the rate of the links. */
static uint64_t cost_of(const struct fors_demand_steps *steps, uint64_t phase_cost)
{
	uint32_t rate = fors_rates_full(steps->net, fors_rates_flow(steps->net));

	return steps->demand.is_unit ? 0 : (uint64_t)((double)phase_cost * (rate ? rate : USUAL_RATE) / 8e6);
}

enum fors_err fors_demand_find_bounds(struct fors_demand_steps *steps, uint64_t phase_cost, struct fors_error *error)
{
	enum fors_err err = fors_demand_problem_make(&steps->demand, steps->routed, &steps->problem, error);

	if (!err)
		err = fors_demand_bound_of(&steps->problem, &steps->bound, error);
	if (!err)
		err = count_fewest(steps, error);
	steps->cost = cost_of(steps, phase_cost);
	return err;
}

/* ---- the plan ---- */

/*
 * Is none better than that of all with all? Where all send to all that was searched for already. But it counts a phase in which each server sends to itself,
 * and has one too many where nobody needs that: of few servers this is much, of many it would be looked for in vain for long.
 */
static bool is_uniform_best(const struct fors_demand_steps *steps)
{
	uint64_t least = steps->bound.most + steps->fewest * steps->cost;
	bool is_searched = fors_demand_is_uniform(&steps->demand) && steps->demand.count > MANY_MESSAGES;

	return steps->uniform && (is_searched || fors_demand_plan_time(steps->uniform, steps->cost) <= least);
}

/* Where ways were chosen a piece has the number of its way among those of its pair so far; it gets the path index. */
static void name_paths(const struct fors_demand_steps *steps)
{
	const struct fors_flows_routed *routed = steps->routed;
	const struct fors_flows_problem *p = &routed->problem;
	struct fors_demand_plan *plan = steps->plan;

	for (uint32_t i = 0; routed->path_of && i < plan->npieces; i++) {
		struct fors_demand_piece *piece = &plan->piece[i];

		piece->path = routed->path_of[(p->home[piece->src] * p->ndests + piece->dst) * p->npaths + piece->path];
	}
}

/* Of a part that is held to cables, or to a path index, none: its ways are others. */
static const struct fors_schedule *uniform_of(const struct fors_demand_steps *steps,
					      const struct fors_schedule *uniform)
{
	const struct fors_demand_part *part = &steps->part;

	if (!part->job)
		return uniform;
	return part->is_held || part->path ? NULL : part->job;
}

/*
 * The plan of all with all, if there is one for pieces: each has a cable to itself, since pieces of a phase differ in length. A fast cable that carries
 * several flows of a phase makes it none.
 */
static enum fors_err take_uniform(struct fors_demand_steps *steps, const struct fors_schedule *uniform,
				  struct fors_error *error)
{
	const struct fors_schedule *schedule = uniform_of(steps, uniform);
	struct fors_demand_verdict verdict = {.is_right = true};
	enum fors_err err =
		schedule ? fors_demand_by_schedule(&steps->problem, schedule, &steps->uniform, error) : FORS_OK;

	if (!err && steps->uniform)
		err = fors_demand_check(steps->net, steps->lfts, steps->guid, &steps->demand, steps->uniform, &verdict,
					error);
	if (!err && !verdict.is_right) {
		fors_demand_plan_free(steps->uniform);
		steps->uniform = NULL;
	}
	return err;
}

enum fors_err fors_demand_find_plan(struct fors_demand_steps *steps, const struct fors_schedule *uniform,
				    struct fors_error *error)
{
	const struct fors_task asking = {.cancelled = steps->cancelled, .context = steps->context};
	struct fors_effort effort = {.task = &asking,
				     .budget = steps->limits.steps ? steps->limits.steps
								   : BUDGET + BUDGET_PER_MESSAGE * steps->demand.count};
	const struct fors_demand_asked asked = {&steps->problem, steps->bound.most,   steps->fewest,
						steps->cost,	 steps->limits.bytes, &effort};
	enum fors_err err = take_uniform(steps, uniform, error);

	if (err || is_uniform_best(steps))
		return err;
	err = fors_demand_pack(&asked, &steps->plan, error);
	if (!err)
		name_paths(steps);
	if (err || !steps->uniform ||
	    fors_demand_plan_time(steps->plan, steps->cost) < fors_demand_plan_time(steps->uniform, steps->cost))
		return err;
	fors_demand_plan_free(steps->plan);
	steps->plan = NULL;
	return FORS_OK;
}

enum fors_err fors_demand_prove(const struct fors_demand_steps *steps, struct fors_demand_verdict *verdict,
				struct fors_error *error)
{
	const struct fors_demand_plan *plan = fors_demand_chosen(steps);
	enum fors_err err =
		fors_demand_check(steps->net, steps->lfts, steps->guid, &steps->demand, plan, verdict, error);

	if (err || verdict->is_right)
		return err;
	return fors_fail(error, FORS_ENOPLAN,
			 "the plan of method %s is wrong (please report this in the issue tracker of fors): %.300s",
			 plan->method, verdict->text);
}
