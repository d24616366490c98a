/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outcome.c - plan, say what could be had, verify.
 *
 * Whoever wants a plan wants more: is it at the lower bound, would a larger LMC help, and above all, is it right?
 * Here these steps have their one order. What no plan says nothing about is left out: a plan that was broken off has
 * no bound to compare it with, and leaves that are cut off have none. A larger LMC is named for a plan above the
 * bound, or when the method says that the LMC is too small; where it declines for another reason, no LMC would help
 * it.
 *
 * Nothing unverified leaves: the plan can be looked at, but fors_outcome_take() gives it away only after a proof. The
 * two steps can be asked for one by one, because between them the tables may change: the plugin plans while OpenSM
 * still sends tables, and proves again over what the switches really hold. A proof that fails or is broken off undoes
 * the one before it.
 *
 * Whoever made the tables, the order is the same. A tree of two levels is planned over its lanes, as planner.h chooses;
 * all else over ways, which bring bounds of their own.
 *
 * Times are taken by a clock that the caller brings: core/ has none.
 */
#include "outcome.h"

#include <string.h>

#include "bound.h"
#include "core/fabric/fabric.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "lmc.h"
#include "memory.h"
#include "over.h"
#include "planner.h"

void fors_outcome_init(struct fors_outcome *outcome)
{
	*outcome = (struct fors_outcome){.lower_bound = FORS_UNKNOWN,
					 .lump_bound = FORS_UNKNOWN,
					 .tables_bound = FORS_UNKNOWN,
					 .lmc_needed = FORS_UNKNOWN,
					 .plan_ms = -1,
					 .verify_ms = -1};
}

void fors_outcome_clear(struct fors_outcome *outcome)
{
	fors_schedule_free(outcome->plan);
	fors_outcome_init(outcome);
}

static double now_ms(const struct fors_request *request)
{
	return request->clock_ms ? request->clock_ms() : 0;
}

/* The time since `start`. */
static double ms_since(const struct fors_request *request, double start)
{
	return request->clock_ms ? request->clock_ms() - start : -1;
}

/* What one LID for each server allows: with any tables, and with these. More LIDs leave planners a choice. */
static enum fors_err bound_one_lid(const struct fors_task *task, struct fors_outcome *outcome)
{
	uint64_t bound;
	enum fors_err err;

	if (task->fabric->lmc || task->fabric->unreachable_pairs || !task->fabric->nservers)
		return FORS_OK;
	err = fors_lanes_bound(task->fabric, task->lanes, &bound, &outcome->error);
	if (err)
		return err;
	outcome->tables_bound = (int64_t)bound;
	outcome->lump_bound = (int64_t)fors_lump_bound(task->fabric);
	return FORS_OK;
}

/* fors_plan(), over the lanes of the tables. */
static enum fors_err plan_lanes(const struct fors_request *request, struct fors_outcome *outcome)
{
	struct fors_task task = request->task;
	struct fors_lanes *lanes = NULL;
	enum fors_err err = FORS_OK;

	if (!task.lanes)
		err = fors_lanes_read(task.fabric, request->lfts, &lanes, &outcome->error);
	if (lanes)
		task.lanes = lanes;
	if (!err)
		err = bound_one_lid(&task, outcome);
	if (!err)
		err = fors_plan(&task, fors_method_of(&task.limits), &outcome->plan, &outcome->error);
	fors_lanes_free(lanes);
	return err;
}

/* Memory that a shorter plan of method auto would take and may not. */
static void see_memory(const struct fors_request *request, struct fors_outcome *outcome)
{
	const struct fors_task *task = &request->task;
	bool has_all = fors_home_has_all(task->fabric->nlanes, task->fabric->lmc);

	if (!outcome->plan || outcome->plan->nphases <= outcome->lower_bound ||
	    strcmp(fors_method_of(&task->limits), "auto") || (!has_all && task->fabric->nservers > FORS_FLOWS_SERVERS))
		return;
	fors_plan_fits(task, has_all ? &fors_method_exact : &fors_method_flows, (uint32_t)outcome->lower_bound,
		       &outcome->wanted_bytes, NULL);
}

/* What nobody can go below is no less for those with one LID, nor for these tables than for any with one LID. */
static void level_bounds(struct fors_outcome *outcome)
{
	if (outcome->lump_bound != FORS_UNKNOWN && outcome->lump_bound < outcome->lower_bound)
		outcome->lump_bound = outcome->lower_bound;
	if (outcome->tables_bound != FORS_UNKNOWN && outcome->tables_bound < outcome->lump_bound)
		outcome->tables_bound = outcome->lump_bound;
}

/* What could be had at best over any lanes, and what it would take. */
static enum fors_err compare(const struct fors_request *request, struct fors_outcome *outcome, struct fors_error *error)
{
	const struct fors_fabric *fabric = request->task.fabric;
	uint32_t bound;

	if (!fabric || fabric->unreachable_pairs)
		return FORS_OK;
	if (fors_lower_bound(fabric, &bound, error))
		return FORS_ENOMEM;
	outcome->lower_bound = bound;
	level_bounds(outcome);
	see_memory(request, outcome);
	if (outcome->plan || outcome->error.code == FORS_ELMC)
		outcome->lmc_needed =
			fors_lmc_needed(fabric, outcome->plan ? outcome->plan->nphases : 0, outcome->lower_bound);
	return FORS_OK;
}

/* A reason that ends everything ends this; any other is an answer. */
static enum fors_err end_or_answer(struct fors_outcome *outcome, enum fors_err err, struct fors_error *error)
{
	outcome->error.code = err;
	return err == FORS_ECANCELLED || err == FORS_ENOMEM ? fors_fail(error, err, "%s", outcome->error.text)
							    : FORS_OK;
}

enum fors_err fors_outcome_plan(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error)
{
	double start = now_ms(request);
	enum fors_err err;

	fors_outcome_clear(outcome);
	err = request->task.fabric ? plan_lanes(request, outcome) : fors_over_plan(request, outcome, &outcome->error);
	outcome->plan_ms = ms_since(request, start);
	err = end_or_answer(outcome, err, error);
	if (!err)
		err = compare(request, outcome, error);
	if (err)
		fors_outcome_clear(outcome);
	return err;
}

void fors_outcome_lump(const struct fors_fattree *tree, struct fors_outcome *outcome)
{
	struct fors_witness witness = {0};

	if (!tree->pods || tree->pods->nplayers != outcome->seen.nservers)
		return;
	fors_lump_leaves(tree, &witness);
	if (witness.by)
		outcome->lump_bound =
			(int64_t)witness.bound > outcome->lower_bound ? (int64_t)witness.bound : outcome->lower_bound;
}

enum fors_err fors_outcome_look(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error)
{
	enum fors_err err;

	fors_outcome_clear(outcome);
	err = end_or_answer(outcome, fors_over_look(request, outcome, &outcome->error), error);
	if (err)
		fors_outcome_clear(outcome);
	return err;
}

enum fors_err fors_outcome_prove(const struct fors_request *request, struct fors_outcome *outcome,
				 struct fors_error *error)
{
	const struct fors_task *task = &request->task;
	double start = now_ms(request);
	enum fors_err err;

	outcome->is_proven = false;
	if (request->is_used)
		memset(request->is_used, 0, request->net->nports * sizeof(*request->is_used));
	err = fors_verify_used(request->net, request->lfts, outcome->plan, task->threads, task->cancelled,
			       task->context, &outcome->verdict, request->is_used, error);
	if (err)
		return err;
	outcome->is_proven = outcome->verdict.is_good;
	outcome->verify_ms = ms_since(request, start);
	outcome->error = (struct fors_error){0};
	if (!outcome->is_proven)
		fors_fail(&outcome->error, FORS_ENOPLAN,
			  "the plan of method %s is wrong (please report this in the issue tracker of fors): %.300s",
			  outcome->plan->method, outcome->verdict.text);
	return FORS_OK;
}

enum fors_err fors_outcome_make(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error)
{
	enum fors_err err = fors_outcome_plan(request, outcome, error);

	if (!err && outcome->plan)
		err = fors_outcome_prove(request, outcome, error);
	if (err)
		fors_outcome_clear(outcome);
	return err;
}

struct fors_schedule *fors_outcome_take(struct fors_outcome *outcome)
{
	struct fors_schedule *plan = outcome->is_proven ? outcome->plan : NULL;

	if (plan)
		outcome->plan = NULL;
	return plan;
}

enum fors_err fors_plan_proven(const struct fors_request *request, struct fors_schedule **plan,
			       struct fors_outcome *outcome, struct fors_error *error)
{
	struct fors_outcome made;
	enum fors_err err;

	fors_outcome_init(&made);
	err = fors_outcome_make(request, &made, error);
	if (!err && made.error.code)
		err = fors_fail(error, made.error.code, "%s", made.error.text);
	if (!err)
		*plan = fors_outcome_take(&made);
	fors_schedule_free(made.plan);
	made.plan = NULL;
	if (outcome)
		*outcome = made;
	return err;
}
