/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_exact.c - the exact planner on known cases: numbers of phases, LMC, parallel cables, threads, cancelling. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/planners/bound.h"
#include "core/schedule/schedule.h"
#include "support.h"

/* Plan with a method and check the plan; returns its phases. */
static uint32_t phases_with(const struct bed *bed, const char *method, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_error error = {.text = ""};
	struct fors_schedule *schedule = NULL;
	uint32_t phases;

	if (fors_plan(&task, method, &schedule, &error))
		fail_msg("%s: %s", what, error.text);
	assert_plan(bed, schedule, what);
	phases = schedule->nphases;
	fors_schedule_free(schedule);
	return phases;
}

static uint32_t phases_of(const struct bed *bed, const char *what)
{
	return phases_with(bed, "exact", what);
}

static uint32_t bound_of(const struct bed *bed)
{
	struct fors_error error;
	uint32_t bound = 0;

	assert_int_equal(fors_lower_bound(bed->fabric, &bound, &error), FORS_OK);
	return bound;
}

/* A spec, what is down, LB, and the number of phases, which is proven to be the least. */
static void expect(const char *spec, unsigned lmc, const char *down, uint32_t bound, uint32_t phases)
{
	struct bed *bed = bed_new(spec, lmc);

	bed_down(bed, down);
	assert_int_equal(bound_of(bed), bound);
	assert_int_equal(phases_of(bed, spec), phases);
	bed_free(bed);
}

static void test_known(void **unused)
{
	static const char three_each[] = "Leaf00[21] Leaf00[22] Leaf00[23] Leaf05[24] Leaf05[25] Leaf05[26] "
					 "Leaf11[27] Leaf11[28] Leaf11[29]";

	expect("FT(2;20,18)", 5, "", 360, 360);
	expect("FT(2;20,18)", 5, "Leaf00[21]", 360, 360);
	expect("FT(2;20,18)", 5, three_each, 400, 400);
	expect("FT(2;20,18)", 5, "Spine00 Spine01 Spine04 Spine05", 425, 425);
	expect("FT(2;3,3;servers=1)", 2, "", 3, 3);
	expect("FT(2;1,2;servers=1)", 0, "", 2, 2);
	expect("FT(2;1,4;servers=3)", 0, "", 27, 27);
	expect("FT(2;4,1;servers=7)", 2, "", 7, 7);
	expect("FT(2;8,3;servers=2)", 3, "Leaf00[3] Leaf01[4] Leaf02[5]", 6, 6);
}

/* Around the 64 bits of a word: leaves of 64 and 70 servers, 64 and 70 leaves. */
static void test_wide(void **unused)
{
	expect("FT(2;8,5;servers=64)", 3, "Leaf01[66]", 2341, 2341);
	expect("FT(2;8,3;servers=70)", 3, "Leaf00[71]", 1400, 1400);
	expect("FT(2;4,64)", 2, "Leaf00[5]", 336, 336);
	expect("FT(2;4,70)", 2, "Leaf00[5]", 368, 368);
}

/* 34 slots empty, one cable dead: the paper's formula says 360. */
static void test_326(void **unused)
{
	struct bed *bed = bed_new("FT(2;20,18)", 5);
	struct rng rng = {.state = 1};

	bed_random_participants(bed, &rng, 326);
	bed_random_failures(bed, &rng, 1);
	assert_int_equal(phases_of(bed, "326 servers"), 326);
	bed_free(bed);
}

/* Live spines {0,1,2}, {0,1,3}, {0,3,4}, {1,2,4}: single-leaf cuts say 25, the optimum is 38. */
static void test_above_the_bound(void **unused)
{
	expect("FT(2;5,4)", 3, "Leaf00[9] Leaf00[10] Leaf01[8] Leaf01[10] Leaf02[7] Leaf02[8] Leaf03[6] Leaf03[9]", 25,
	       38);
}

/* A single spine: where no cable lives at both leaves, one goes up and the other down. */
static void test_one_spine(void **unused)
{
	struct bed *bed = bed_new("FT(2;1,3;servers=2;cables=2)", 2);

	bed_down(bed, "Leaf00[3] Leaf01[4]");
	assert_int_equal(bound_of(bed), phases_of(bed, "one spine"));
	bed_free(bed);
}

/* More slots than lanes and parallel cables: the tables do not offer every pair of cables to all servers of a leaf. */
static void test_what_the_tables_do_not_offer(void **unused)
{
	struct bed *bed = bed_new("FT(2;3,3;servers=12;cables=2)", 3);

	bed_down(bed, "Leaf00[13] Leaf01[18] Leaf02[18]");
	assert_int_equal(bound_of(bed), 58);
	assert_in_range(phases_of(bed, "twelve slots for six lanes"), 58, 72);
	/* rounds choose for each server, and auto finds them */
	assert_in_range(phases_with(bed, "auto", "the same with auto"), 58, 60);
	bed_free(bed);
}

/* Half of the cables dead: of 1,000 such sets of the sweep the one where leaves together are narrower than any alone. */
static void test_half_above_the_bound(void **unused)
{
	static const char half[] =
		"Leaf00[21] Leaf00[23] Leaf00[25] Leaf00[26] Leaf00[29] Leaf00[30] Leaf00[32] Leaf00[33] Leaf00[34] "
		"Leaf00[36] Leaf00[38] Leaf00[39] Leaf01[21] Leaf01[25] Leaf01[26] Leaf01[27] Leaf01[28] Leaf01[31] "
		"Leaf01[32] Leaf01[33] Leaf01[34] Leaf01[35] Leaf01[36] Leaf01[38] Leaf01[39] Leaf02[24] Leaf02[26] "
		"Leaf02[27] Leaf02[28] Leaf02[31] Leaf02[33] Leaf02[34] Leaf02[35] Leaf02[36] Leaf02[40] Leaf03[25] "
		"Leaf03[26] Leaf03[29] Leaf03[30] Leaf03[31] Leaf03[33] Leaf03[35] Leaf03[36] Leaf04[22] Leaf04[23] "
		"Leaf04[24] Leaf04[25] Leaf04[29] Leaf04[33] Leaf04[34] Leaf04[35] Leaf04[36] Leaf04[38] Leaf04[39] "
		"Leaf05[22] Leaf05[23] Leaf05[25] Leaf05[26] Leaf05[27] Leaf05[28] Leaf05[29] Leaf05[30] Leaf05[31] "
		"Leaf05[32] Leaf05[36] Leaf05[39] Leaf06[22] Leaf06[24] Leaf06[25] Leaf06[28] Leaf06[29] Leaf06[30] "
		"Leaf06[32] Leaf06[33] Leaf06[35] Leaf06[37] Leaf06[39] Leaf06[40] Leaf07[22] Leaf07[25] Leaf07[26] "
		"Leaf07[28] Leaf07[30] Leaf07[32] Leaf07[35] Leaf07[36] Leaf08[23] Leaf08[24] Leaf08[25] Leaf08[27] "
		"Leaf08[28] Leaf08[29] Leaf08[30] Leaf08[36] Leaf08[37] Leaf08[38] Leaf08[39] Leaf08[40] Leaf09[21] "
		"Leaf09[26] Leaf09[31] Leaf09[33] Leaf09[38] Leaf09[39] Leaf10[22] Leaf10[24] Leaf10[25] Leaf10[27] "
		"Leaf10[29] Leaf10[30] Leaf10[31] Leaf10[33] Leaf10[36] Leaf10[37] Leaf10[39] Leaf10[40] Leaf11[21] "
		"Leaf11[22] Leaf11[26] Leaf11[29] Leaf11[34] Leaf11[36] Leaf11[37] Leaf11[38] Leaf11[39] Leaf12[21] "
		"Leaf12[22] Leaf12[27] Leaf12[28] Leaf12[29] Leaf12[31] Leaf12[32] Leaf12[35] Leaf12[38] Leaf13[29] "
		"Leaf13[31] Leaf13[32] Leaf13[37] Leaf13[38] Leaf13[39] Leaf13[40] Leaf14[21] Leaf14[23] Leaf14[24] "
		"Leaf14[29] Leaf14[32] Leaf14[34] Leaf14[35] Leaf14[39] Leaf14[40] Leaf15[21] Leaf15[22] Leaf15[24] "
		"Leaf15[26] Leaf15[27] Leaf15[28] Leaf15[29] Leaf15[30] Leaf15[31] Leaf15[32] Leaf15[35] Leaf15[37] "
		"Leaf15[39] Leaf16[22] Leaf16[24] Leaf16[25] Leaf16[26] Leaf16[27] Leaf16[28] Leaf16[32] Leaf16[33] "
		"Leaf16[34] Leaf16[36] Leaf17[24] Leaf17[27] Leaf17[28] Leaf17[30] Leaf17[36] Leaf17[37] Leaf17[39] ";

	expect("FT(2;20,18)", 5, half, 972, 1000);
}

/* Two cables per leaf and spine: dead ones at one end, at both ends, the same and different ones. */
static void test_parallel_cables(void **unused)
{
	expect("FT(2;2,4;servers=4;cables=2)", 2, "", 16, 16);
	expect("FT(2;2,4;servers=4;cables=2)", 2, "Leaf00[5]", 16, 16);
	expect("FT(2;2,4;servers=4;cables=2)", 2, "Leaf00[5] Leaf01[6]", 16, 16);
	expect("FT(2;2,4;servers=4;cables=2)", 2, "Leaf00[5] Leaf00[7] Leaf01[6] Leaf02[5] Leaf02[8]", 24, 24);
	expect("FT(2;2,3;servers=2;cables=2)", 2, "Leaf00[3] Leaf00[4]", 6, 6);
}

/* An LMC that reaches too few lanes: refused, naming the one that is enough. */
static void test_small_lmc(void **unused)
{
	struct bed *bed = bed_new("FT(2;6,4)", 1);
	struct fors_task task = bed_task(bed);
	struct fors_error error = {.text = ""};
	struct fors_schedule *schedule = NULL;

	assert_int_equal(fors_plan(&task, "exact", &schedule, &error), FORS_ELMC);
	assert_null(schedule);
	assert_non_null(strstr(error.text, "LMC 3"));
	bed_free(bed);
	/* one server per leaf: some lane is always common */
	bed = bed_new("FT(2;6,4;servers=1)", 1);
	assert_true(phases_of(bed, "LMC 1") >= 4);
	bed_free(bed);
}

static void test_threads(void **unused)
{
	struct bed *bed = bed_new("FT(2;8,9)", 3);
	struct rng rng = {.state = 5};
	struct fors_schedule *one, *other;
	struct fors_task task;
	struct fors_error error;

	bed_random_participants(bed, &rng, 61);
	bed_random_failures(bed, &rng, 14);
	task = bed_task(bed);
	assert_int_equal(fors_plan(&task, "exact", &one, &error), FORS_OK);
	for (task.threads = 2; task.threads < 40; task.threads = task.threads * 2 + 1) {
		assert_int_equal(fors_plan(&task, "exact", &other, &error), FORS_OK);
		assert_int_equal(one->nphases, other->nphases);
		assert_memory_equal(one->cell, other->cell, fors_schedule_ncells(one) * sizeof(*one->cell));
		fors_schedule_free(other);
	}
	fors_schedule_free(one);
	bed_free(bed);
}

static void test_cancelled_anywhere(void **unused)
{
	struct bed *bed = bed_new("FT(2;4,5)", 2);

	bed_down(bed, "Leaf00[5] Leaf01[6]");
	assert_true(stop_anywhere(bed, "exact") > 15);
	bed_free(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_326),
		cmocka_unit_test(test_above_the_bound),
		cmocka_unit_test(test_half_above_the_bound),
		cmocka_unit_test(test_one_spine),
		cmocka_unit_test(test_parallel_cables),
		cmocka_unit_test(test_what_the_tables_do_not_offer),
		cmocka_unit_test(test_small_lmc),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_cancelled_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
