/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * whatif_run.c - what each failure costs.
 *
 * Under fors: the tables that it would write, in a tree of two levels or of three, the plan that it would make, proven
 * by the verifier; the throughput is that of the plan. Under another engine: the tables that opensm writes for the same
 * cables; the throughput is that of the linear shift, since nobody plans, and beside it that of the plan which fors
 * would make over them. Under a model of an engine, in any net: its tables for the same cables, and the plan over them.
 * One failure under one engine is one round of a parallel loop.
 */
#include "whatif.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/net/lfts.h"
#include "core/planners/outcome.h"
#include "core/schedule/pace.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"

static pthread_mutex_t report_mutex = PTHREAD_MUTEX_INITIALIZER;

/* --- under fors ------------------------------------------------------------------------------------------------- */

/* Entries of the living switches that differ; both tables are of the same places, so of as many LIDs. */
static uint64_t count_changes(const struct fors_lfts *before, const struct fors_lfts *after)
{
	uint64_t n = 0;

	for (uint32_t row = 0; row < after->nswitches; row++) {
		uint32_t old = fors_lfts_row(before, after->guid[row]);

		for (uint32_t lid = 0; old != FORS_NONE && lid < after->nlids; lid++)
			n += fors_lfts_port(before, old, lid) != fors_lfts_port(after, row, lid);
	}
	return n;
}

enum fors_err whatif_plan(const struct whatif *whatif, const struct cli_fabric *made,
			  const struct fors_endpoint *server, struct whatif_result *result, struct fors_error *error)
{
	const struct fors_request request = {
		.task = {.fabric = made->fabric, .lanes = made->lanes, .threads = 1},
		.net = made->net,
		.lfts = made->lfts,
	};
	struct fors_outcome outcome;
	struct fors_pace pace;
	enum fors_err err;

	fors_outcome_init(&outcome);
	err = fors_outcome_make(&request, &outcome, error);
	if (!err && outcome.is_proven) {
		result->phases = outcome.plan->nphases;
		err = fors_pace_of(made->net, made->lfts, outcome.plan, NULL, &pace, error);
		result->throughput = err ? 0 : outcome.plan->nservers / pace.length;
		result->planned = result->throughput;
		snprintf(result->note, sizeof(result->note), "%s", outcome.plan->method);
		if (whatif->simulate.is_wanted)
			err = whatif_simulate(whatif, made->net, made->lfts, server, outcome.plan->nservers,
					      outcome.plan, &result->gbits, error);
	} else if (!err) {
		snprintf(result->note, sizeof(result->note), "%.255s",
			 outcome.plan ? outcome.verdict.text : outcome.error.text);
	}
	fors_outcome_clear(&outcome);
	return err;
}

/* The plan has an order of servers of its own. */
static enum fors_err simulate_plan(const struct whatif *whatif, const struct cli_fabric *made,
				   const struct fors_endpoint *server, uint32_t count, const struct fors_schedule *plan,
				   struct whatif_result *result, struct fors_error *error)
{
	struct fors_endpoint *list = NULL;
	uint32_t n = 0;
	enum fors_err err = cli_plan_endpoints(plan, server, count, &list, &n, error);

	if (!err)
		err = whatif_simulate(whatif, made->net, made->lfts, list, n, plan, &result->gbits, error);
	free(list);
	return err;
}

/* Over the tables as they are, beginning with their rounds. */
static enum fors_err plan_over(const struct whatif *whatif, const struct cli_fabric *made,
			       const struct fors_endpoint *server, uint32_t count, struct whatif_result *result,
			       struct fors_error *error)
{
	struct fors_schedule *schedule = NULL;
	enum fors_err err = whatif_plan_over(whatif, made->net, made->lfts, made->rounds, result, &schedule, error);

	if (!err && schedule) {
		result->throughput = result->planned;
		snprintf(result->note, sizeof(result->note), "%s", schedule->method);
		if (whatif->simulate.is_wanted)
			err = simulate_plan(whatif, made, server, count, schedule, result, error);
	}
	fors_schedule_free(schedule);
	return err;
}

static enum fors_err under_fors(const struct whatif *whatif, const struct whatif_case *one,
				struct whatif_result *result, struct fors_error *error)
{
	struct cli_fabric made = {0};
	struct fors_endpoint *server = NULL;
	uint32_t count = 0;
	enum fors_err err = whatif_net(whatif, one, &made.net, error);

	if (!err)
		err = cli_fabric_route(&whatif->site, &made, error);
	if (!err)
		err = made.fabric ? cli_fabric_endpoints(made.fabric, &server, &count, error)
				  : whatif_servers(whatif, made.net, &server, &count, error);
	if (!err)
		err = made.fabric ? whatif_plan(whatif, &made, server, result, error)
				  : plan_over(whatif, &made, server, count, result, error);
	if (!err && count)
		err = whatif_shift(whatif, whatif->shift, made.net, made.lfts, server, count, result, error);
	if (!err)
		result->changed = count_changes(whatif->intact.lfts, made.lfts);
	free(server);
	cli_fabric_free(&made);
	return err;
}

/* --- under a model of an engine --------------------------------------------------------------------------------- */

/* Its tables for what is left, and the plan over them. */
static enum fors_err under_model(const struct whatif *whatif, const struct whatif_case *one,
				 struct whatif_result *result, struct fors_error *error)
{
	struct cli_fabric made = {0};
	struct fors_endpoint *server = NULL;
	uint32_t count = 0;
	enum fors_err err = whatif_net(whatif, one, &made.net, error);

	if (!err)
		err = cli_model_make(whatif->source, whatif->model, made.net, &made.lfts, error);
	if (!err)
		err = whatif_servers(whatif, made.net, &server, &count, error);
	if (!err && count)
		err = whatif_shift(whatif, whatif->shift, made.net, made.lfts, server, count, result, error);
	if (!err)
		err = whatif_plan_over(whatif, made.net, made.lfts, NULL, result, NULL, error);
	if (!err) {
		result->throughput = result->planned;
		result->changed = count_changes(whatif->intact.lfts, made.lfts);
	}
	free(server);
	cli_fabric_free(&made);
	return err;
}

/* --- all of them ------------------------------------------------------------------------------------------------ */

static void report(struct whatif *whatif, uint32_t number, uint32_t engine)
{
	uint32_t total = whatif->ncases * whatif->nengines;

	pthread_mutex_lock(&report_mutex);
	whatif_store_add(whatif, number, engine);
	cli_progress(NULL, ++whatif->done / (double)total);
	pthread_mutex_unlock(&report_mutex);
}

static enum fors_err do_one(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	struct whatif *whatif = context;
	uint32_t engine = item / whatif->ncases, number = item % whatif->ncases;
	struct whatif_result *result = whatif_at(whatif, number, engine);
	enum fors_err err;

	(void)worker;
	if (result->is_known)
		return FORS_OK;
	if (whatif_is_stopped())
		return fors_fail(error, FORS_ECANCELLED, "stopped");
	if (engine)
		err = whatif_engine(whatif, &whatif->cases[number], whatif->engine[engine], result, error);
	else if (whatif->model)
		err = under_model(whatif, &whatif->cases[number], result, error);
	else
		err = under_fors(whatif, &whatif->cases[number], result, error);
	if (err && engine) {
		struct fors_error cause = *error;

		return fors_fail(error, err, "%s after the failure of %.100s: %.300s", whatif->engine[engine],
				 whatif->cases[number].name, cause.text);
	}
	if (err)
		return err;
	result->is_known = true;
	report(whatif, number, engine);
	return FORS_OK;
}

/* Without a plan for the intact fabric there is nothing to compare its failures with. Returns an exit code. */
static int judge_intact(struct whatif *whatif)
{
	const struct whatif_result *intact = whatif_at(whatif, 0, 0);
	struct fors_error error = {0};

	if (whatif_shift_intact(whatif, &error))
		return cli_fail(&error);
	if (do_one(whatif, 0, 0, &error))
		return whatif_is_stopped() ? CLI_BAD : cli_fail(&error);
	if (intact->phases)
		return CLI_GOOD;
	cli_error("fors has no plan for %s as it is, so it cannot say what a failure costs: %s", whatif->fabric_name,
		  intact->note);
	return CLI_NO;
}

/* Ctrl-C: what is done, and how to go on. */
static void tell_stop(const struct whatif *whatif)
{
	unsigned done = whatif->done, total = whatif->ncases * whatif->nengines;

	if (whatif->store)
		cli_error("stopped after %u of %u; the same command goes on from there", done, total);
	else
		cli_error(
			"stopped after %u of %u; nothing is kept. With --resume FILE it would be, and the same command go on",
			done, total);
}

int whatif_run(struct whatif *whatif)
{
	struct fors_error error = {0};
	enum fors_err err = FORS_OK;
	int code;

	whatif_stop_watch();
	cli_progress_name("failures", whatif->ncases * whatif->nengines);
	code = judge_intact(whatif);
	if (!code)
		err = fors_parallel(whatif->threads, whatif->ncases * whatif->nengines, do_one, whatif, &error);
	cli_progress_end();
	if (whatif_is_stopped() && (code || err)) {
		tell_stop(whatif);
		return CLI_BAD;
	}
	return code ? code : err ? cli_fail(&error) : CLI_GOOD;
}
