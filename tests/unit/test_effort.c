/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_effort.c - what planners spend: counted steps, linear in the flows, on trees that lack many cables.
 *
 * Such trees are what searches for long, in vain: each leaf has other lanes, no pattern fits most of them, and T is far from
 * the bound of leaves.
 */
#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "support.h"

#define AT_LEAST UINT64_C(20000000)
#define PER_FLOW 400
#define MORE 2 /* times the budget: what is begun is brought to an end */

/* A tree with so many per cent of its cables dead, and a third of its servers idle. */
static struct bed *bed_with_gaps(const char *spec, unsigned lmc, uint32_t percent)
{
	struct bed *bed = bed_new(spec, lmc);
	struct rng rng = {.state = 7 + lmc};

	bed_random_participants(bed, &rng, bed->fabric->nservers * 2 / 3);
	bed_random_failures(bed, &rng, bed->fabric->nleaves * bed->fabric->nlanes * percent / 100);
	return bed;
}

static bool count_asks(void *context)
{
	++*(uint64_t *)context;
	return false;
}

/* Plan and check the plan; the steps that it took, and how often it asked whether to stop. */
static uint64_t steps_of(const struct bed *bed, const char *method, uint64_t most, uint64_t *asks)
{
	struct fors_task task = bed_task(bed);
	struct fors_error error = {.text = ""};
	struct fors_schedule *schedule = NULL;
	uint64_t steps = 0;

	*asks = 0;
	task.limits.steps = most;
	task.steps = &steps;
	task.cancelled = count_asks;
	task.context = asks;
	if (fors_plan(&task, method, &schedule, &error))
		fail_msg("%s: %s", method, error.text);
	assert_plan(bed, schedule, method);
	fors_schedule_free(schedule);
	return steps;
}

static void check(const char *spec, unsigned lmc, uint32_t percent, const char *method)
{
	struct bed *bed = bed_with_gaps(spec, lmc, percent);
	uint64_t flows = (uint64_t)bed->fabric->nservers * bed->fabric->nservers, asks;
	uint64_t steps = steps_of(bed, method, 0, &asks);

	print_message("%s LMC %u %s: %u servers, %.1f million steps, %.1f for each flow\n", spec, lmc, method,
		      bed->fabric->nservers, (double)steps * 1e-6, (double)steps / (double)flows);
	assert_true(steps > 0);
	assert_true(steps <= MORE * (AT_LEAST + PER_FLOW * flows));
	assert_true(asks >= steps / FORS_EFFORT_ASK / 2);
	bed_free(bed);
}

static void test_rounds_are_linear(void **unused)
{
	for (unsigned lmc = 0; lmc <= 4; lmc++) {
		check("FT(2;12,9;servers=10;cables=3)", lmc, 45, "rounds");
		check("FT(2;36,27;servers=14;cables=3)", lmc, 45, "rounds");
	}
	check("FT(2;8,30;servers=30;cables=4)", 3, 30, "rounds");
}

/* More slots than path indices: not all servers of a leaf have each way, and T is far above the bound. */
static void check_short(const char *spec, unsigned lmc, const char *down)
{
	struct bed *bed = bed_new(spec, lmc);
	uint64_t flows = (uint64_t)bed->fabric->nservers * bed->fabric->nservers, asks, steps;

	bed_down(bed, down);
	steps = steps_of(bed, "exact", 0, &asks);
	print_message("%s LMC %u exact: %u servers, %.1f million steps\n", spec, lmc, bed->fabric->nservers,
		      (double)steps * 1e-6);
	assert_true(steps > 0 && steps <= MORE * (AT_LEAST + PER_FLOW * flows));
	bed_free(bed);
}

static void test_exact_is_linear(void **unused)
{
	check_short("FT(2;3,3;servers=12;cables=2)", 3, "Leaf00[13] Leaf01[18] Leaf02[18]");
	check("FT(2;3,3;servers=12;cables=2)", 3, 10, "exact");
	check("FT(2;6,9;servers=18;cables=3)", 5, 45, "exact");
	check("FT(2;5,24;servers=24;cables=4)", 5, 30, "exact");
	check("FT(2;20,30;servers=20;cables=2)", 6, 45, "exact");
}

/* Nothing may be spent: there is a plan still, if not a good one. */
static void test_all_is_spent(void **unused)
{
	static const char *const methods[] = {"rounds", "exact"};
	struct bed *bed = bed_with_gaps("FT(2;4,9;servers=8;cables=2)", 3, 40);
	uint64_t most[] = {1, 1000, 30000, 100000, 1000000}, asks;

	for (unsigned i = 0; i < sizeof(most) / sizeof(*most); i++)
		for (unsigned m = 0; m < 2; m++)
			steps_of(bed, methods[m], most[i], &asks);
	bed_free(bed);
}

/* What ends a search must not end in a plan that was stopped half way. */
static void test_stopped_anywhere(void **unused)
{
	struct bed *bed = bed_with_gaps("FT(2;4,6;servers=5;cables=2)", 2, 40);

	assert_true(stop_anywhere(bed, "rounds") > 3);
	bed_free(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds_are_linear),
		cmocka_unit_test(test_exact_is_linear),
		cmocka_unit_test(test_all_is_spent),
		cmocka_unit_test(test_stopped_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
