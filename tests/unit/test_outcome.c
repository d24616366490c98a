/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of core/planners/outcome.c and lmc.c: what is told of a plan, of none, and when a plan is given away.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/planners/bound.h"
#include "core/planners/lmc.h"
#include "core/planners/memory.h"
#include "core/planners/outcome.h"
#include "core/schedule/schedule_file.h"

/* Each look takes a millisecond more than the last. */
static double ticks;

static double tick(void)
{
	static double now;

	now += ++ticks;
	return now;
}

static struct fors_request request_for(const struct bed *bed, const char *method)
{
	struct fors_request request = {.task = bed_task(bed), .net = bed->net, .lfts = bed->lfts};

	fors_limit_method(&request.task.limits, method);
	return request;
}

static void make(const struct bed *bed, const char *method, struct fors_outcome *outcome)
{
	struct fors_request request = request_for(bed, method);
	struct fors_error error = {0};

	fors_outcome_init(outcome);
	if (fors_outcome_make(&request, outcome, &error))
		fail_msg("%s: %s", method, error.text);
}

static uint32_t bound_of(const struct bed *bed)
{
	uint32_t bound = 0;

	assert_int_equal(fors_lower_bound(bed->fabric, &bound, NULL), FORS_OK);
	return bound;
}

static void assert_empty(const struct fors_outcome *outcome)
{
	assert_null(outcome->plan);
	assert_false(outcome->is_proven);
	assert_int_equal(outcome->lower_bound, FORS_UNKNOWN);
	assert_int_equal(outcome->lmc_needed, FORS_UNKNOWN);
	assert_true(outcome->plan_ms < 0 && outcome->verify_ms < 0);
}

TEST(plan_is_proven_and_given_once)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct fors_outcome outcome;
	struct fors_schedule *plan;

	bed_down(bed, "Leaf00[5] Leaf01[6]");
	make(bed, "auto", &outcome);
	assert_int_equal(outcome.error.code, FORS_OK);
	assert_true(outcome.is_proven);
	assert_int_equal(outcome.verdict.nflows, 16 * 15);
	assert_int_equal(outcome.lower_bound, bound_of(bed));
	assert_int_equal(outcome.plan->nphases, outcome.lower_bound);
	assert_int_equal(outcome.lmc_needed, FORS_UNKNOWN); /* there are path indices enough */
	plan = fors_outcome_take(&outcome);
	assert_non_null(plan);
	assert_plan(bed, plan, "auto");
	assert_null(outcome.plan);
	assert_null(fors_outcome_take(&outcome));
	fors_outcome_clear(&outcome);
	fors_schedule_free(plan);
	bed_free(bed);
}

/* Lanes are read off the tables when the task brings none; the bytes are the same. */
TEST(lanes_are_read_off_the_tables)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct fors_outcome with, without;
	struct fors_request request = request_for(bed, "exact");
	void *bytes[2];
	size_t size[2];

	make(bed, "exact", &with);
	request.task.lanes = NULL;
	fors_outcome_init(&without);
	assert_int_equal(fors_outcome_make(&request, &without, NULL), FORS_OK);
	assert_int_equal(fors_schedule_encode(with.plan, &bytes[0], &size[0], NULL), FORS_OK);
	assert_int_equal(fors_schedule_encode(without.plan, &bytes[1], &size[1], NULL), FORS_OK);
	assert_int_equal(size[0], size[1]);
	assert_memory_equal(bytes[0], bytes[1], size[0]);
	free(bytes[0]);
	free(bytes[1]);
	fors_outcome_clear(&with);
	fors_outcome_clear(&without);
	bed_free(bed);
}

TEST(times_are_the_callers)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct fors_request request = request_for(bed, "auto");
	struct fors_outcome outcome;

	fors_outcome_init(&outcome);
	assert_int_equal(fors_outcome_make(&request, &outcome, NULL), FORS_OK);
	assert_true(outcome.plan_ms < 0 && outcome.verify_ms < 0);
	request.clock_ms = tick;
	assert_int_equal(fors_outcome_make(&request, &outcome, NULL), FORS_OK);
	assert_true(outcome.plan_ms == 2); /* from the first look to the second */
	assert_true(outcome.verify_ms == 4);
	fors_outcome_clear(&outcome);
	bed_free(bed);
}

/* A method that is not for this fabric: no plan, the reason, the bound; no LMC would help it. */
TEST(refusal_has_a_reason_and_a_bound)
{
	struct bed *bed = bed_new("FT(2;4,4;empty=0/0)", 0);
	struct fors_outcome outcome;

	make(bed, "closed-form", &outcome);
	assert_null(outcome.plan);
	assert_false(outcome.is_proven);
	assert_null(fors_outcome_take(&outcome));
	assert_int_equal(outcome.error.code, FORS_ENOTAPPL);
	assert_true(outcome.error.text[0]);
	assert_int_equal(outcome.lower_bound, bound_of(bed));
	assert_int_equal(outcome.lmc_needed, FORS_UNKNOWN);
	fors_outcome_clear(&outcome);
	make(bed, "no-such-method", &outcome);
	assert_int_equal(outcome.error.code, FORS_EINPUT);
	fors_outcome_clear(&outcome);
	bed_free(bed);
}

TEST(larger_lmc_is_named_where_it_helps)
{
	struct bed *bed = bed_new("FT(2;4,4)", 0);
	struct fors_outcome outcome;

	bed_down(bed, "Leaf00[6]");
	make(bed, "exact", &outcome); /* too few path indices for it */
	assert_int_equal(outcome.error.code, FORS_ELMC);
	assert_int_equal(outcome.lmc_needed, 2);
	fors_outcome_clear(&outcome);
	bed_down(bed, "Leaf01[6] Leaf02[7]");
	make(bed, "rounds", &outcome); /* has a plan, but above the bound */
	assert_true(outcome.plan->nphases > outcome.lower_bound);
	assert_int_equal(outcome.lmc_needed, 2);
	fors_outcome_clear(&outcome);
	bed_restore(bed);
	make(bed, "auto", &outcome); /* at the bound */
	assert_int_equal(outcome.plan->nphases, outcome.lower_bound);
	assert_int_equal(outcome.lmc_needed, FORS_UNKNOWN);
	fors_outcome_clear(&outcome);
	bed_free(bed);
}

/* Leaves without a common spine: there is no bound, and no LMC helps. */
TEST(cut_off_leaves_have_no_bound)
{
	struct bed *bed = bed_new("FT(2;2,3)", 0);
	struct fors_outcome outcome;

	bed_down(bed, "Leaf00[3] Leaf01[4]");
	make(bed, "auto", &outcome);
	assert_int_equal(outcome.error.code, FORS_ENOPATH);
	assert_null(outcome.plan);
	assert_int_equal(outcome.lower_bound, FORS_UNKNOWN);
	assert_int_equal(outcome.lmc_needed, FORS_UNKNOWN);
	fors_outcome_clear(&outcome);
	bed_free(bed);
}

static bool at_once(void *context)
{
	return true;
}

/* Only the last proof counts: over other cables the plan is refuted, and a proof that is broken off is none. */
TEST(unproven_plan_is_never_given)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2), *broken = bed_new("FT(2;4,4)", 2);
	struct fors_request right = request_for(bed, "auto"), wrong = right, stopped = right;
	struct fors_outcome outcome;
	struct fors_schedule *plan;

	bed_down(broken, "Leaf00[5]");
	wrong.net = broken->net;
	stopped.task.cancelled = at_once;
	fors_outcome_init(&outcome);
	assert_int_equal(fors_outcome_plan(&right, &outcome, NULL), FORS_OK);
	assert_non_null(outcome.plan);
	assert_null(fors_outcome_take(&outcome)); /* nobody has looked */
	assert_int_equal(fors_outcome_prove(&right, &outcome, NULL), FORS_OK);
	assert_true(outcome.is_proven);
	assert_int_equal(fors_outcome_prove(&wrong, &outcome, NULL), FORS_OK);
	assert_false(outcome.is_proven);
	assert_true(outcome.verdict.nproblems && outcome.verdict.text[0]);
	assert_null(fors_outcome_take(&outcome));
	assert_int_equal(fors_outcome_prove(&right, &outcome, NULL), FORS_OK);
	assert_int_equal(fors_outcome_prove(&stopped, &outcome, NULL), FORS_ECANCELLED);
	assert_null(fors_outcome_take(&outcome));
	assert_int_equal(fors_outcome_prove(&right, &outcome, NULL), FORS_OK);
	plan = fors_outcome_take(&outcome);
	assert_non_null(plan);
	fors_schedule_free(plan);
	assert_int_equal(fors_outcome_make(&wrong, &outcome, NULL), FORS_OK);
	assert_non_null(outcome.plan);
	assert_null(fors_outcome_take(&outcome));
	fors_outcome_clear(&outcome);
	bed_free(bed);
	bed_free(broken);
}

/* Says stop at the ask number `left`. */
static bool stop_at(void *context)
{
	uint64_t *left = context;

	if (*left)
		--*left;
	return *left == 0;
}

/* Stopped at each ask in turn, of planner and verifier: an empty outcome, whatever it held before. */
TEST(can_be_stopped_anywhere)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct fors_request request = request_for(bed, "exact");
	struct fors_error error;
	struct fors_outcome outcome;
	uint64_t left = 1, stops = 0;
	bool is_through = false;

	request.task.cancelled = stop_at;
	request.task.context = &left;
	make(bed, "exact", &outcome);
	while (!is_through) {
		left = ++stops;
		error.text[0] = '\0';
		if (fors_outcome_make(&request, &outcome, &error) == FORS_OK) {
			is_through = true;
			continue;
		}
		assert_int_equal(error.code, FORS_ECANCELLED);
		assert_true(error.text[0]);
		assert_empty(&outcome);
	}
	assert_true(stops > 2);
	assert_true(outcome.is_proven);
	fors_outcome_clear(&outcome);
	bed_free(bed);
}

TEST(lmc_needed_only_when_it_helps)
{
	struct bed *bed = bed_new("FT(2;4,4)", 0);
	struct fors_fabric fabric = *bed->fabric;
	struct fors_net full = *bed->net;

	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), 2);
	assert_int_equal(fors_lmc_needed(&fabric, FORS_UNKNOWN, 8), 2);
	assert_int_equal(fors_lmc_needed(&fabric, 0, 8), 2); /* no plan */
	assert_int_equal(fors_lmc_needed(&fabric, 8, 8), FORS_UNKNOWN);
	fabric.lmc = 1;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), 2);
	fabric.lmc = 2;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
	fabric.lmc = 0;
	fabric.nservers = 0;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
	fabric.nservers = bed->fabric->nservers;
	full.nnodes = FORS_LID_MAX; /* no LIDs left */
	full.node = calloc(full.nnodes, sizeof(*full.node));
	for (uint32_t i = 0; i < full.nnodes; i++)
		full.node[i].type = FORS_SWITCH;
	fabric.net = &full;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
	full.nnodes = FORS_LID_MAX + 1 - (1 << 2); /* the last that fit beside the unused block */
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), 2);
	full.nnodes++;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
	free(full.node);
	bed_free(bed);
}

/* Methods that would take too much are not asked; what is left is whole units, and says so; or nothing, and says why. */
TEST(memory_is_limited)
{
	struct bed *bed = bed_new("FT(2;20,18)", 5);
	const struct fors_task *task;
	struct fors_request request;
	struct fors_outcome outcome;
	uint64_t bytes;

	bed_down(bed, "Leaf00[21] Leaf00[22] Leaf05[22] Leaf05[23] Leaf05[24]");
	request = request_for(bed, "auto");
	task = &request.task;
	fors_outcome_init(&outcome);
	bytes = fors_plan_bytes(task->fabric, &fors_method_exact, bound_of(bed));
	request.task.limits.bytes = bytes - 1;
	assert_int_equal(fors_outcome_make(&request, &outcome, NULL), FORS_OK);
	assert_string_equal(outcome.plan->method, "rounds");
	assert_true(outcome.wanted_bytes == (outcome.plan->nphases > bound_of(bed) ? bytes : 0));
	fors_limit_method(&request.task.limits, "exact");
	for (unsigned i = 0; i < 2; i++) { /* as much as it needs, then a byte less */
		request.task.limits.bytes = fors_plan_bytes(task->fabric, &fors_method_exact, 360) - i;
		assert_int_equal(fors_outcome_make(&request, &outcome, NULL), FORS_OK);
		assert_int_equal(outcome.error.code, i ? FORS_ELIMIT : FORS_OK);
		assert_int_equal(outcome.is_proven, !i);
	}
	assert_non_null(strstr(outcome.error.text, "method exact for 360 servers"));
	fors_limit_method(&request.task.limits, "auto");
	request.task.limits.bytes = 1 << 20;
	assert_int_equal(fors_outcome_make(&request, &outcome, NULL), FORS_OK);
	assert_null(outcome.plan);
	assert_int_equal(outcome.error.code, FORS_ELIMIT);
	assert_non_null(strstr(outcome.error.text, "MiB of memory, and the limit is 1"));
	fors_outcome_clear(&outcome);
	bed_free(bed);
}
