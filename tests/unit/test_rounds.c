/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rounds planner: how close to the optimum it comes after failures, over few LIDs, and on odd fabrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/planners/method.h"
#include "core/schedule/schedule.h"

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* Lanes that lead from one leaf to the other; meant for single cables. */
static uint32_t common(const struct fors_fabric *fabric, uint32_t a, uint32_t b)
{
	uint32_t n = 0;

	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		n += fors_live(fabric, a, lane) && fors_live(fabric, b, lane);
	return n;
}

/* No plan over any LMC has fewer phases: what leaves a leaf, and what goes from one leaf to another. */
static uint32_t optimum(const struct fors_fabric *fabric)
{
	uint32_t most = fabric->nservers;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		uint32_t n = fabric->leaf[a].nservers, out = n * (fabric->nservers - n);

		if (out && divide_up(out, fabric->leaf[a].nlive) > most)
			most = divide_up(out, fabric->leaf[a].nlive);
		for (uint32_t b = 0; b < fabric->nleaves; b++)
			if (a != b && n && fabric->leaf[b].nservers &&
			    divide_up(n * fabric->leaf[b].nservers, common(fabric, a, b)) > most)
				most = divide_up(n * fabric->leaf[b].nservers, common(fabric, a, b));
	}
	return most;
}

/* Plan, check flow by flow if asked, and say which share of the optimum's throughput that is. */
static double throughput(const struct bed *bed, bool check, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;
	double share;

	if (fors_method_rounds.plan(&task, &schedule, &error))
		fail_msg("%s: %s", what, error.text);
	if (check)
		assert_plan(bed, schedule, what);
	share = (double)optimum(bed->fabric) / schedule->nphases;
	fors_schedule_free(schedule);
	return share;
}

static void assert_phases(const struct bed *bed, uint32_t phases, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;

	if (fors_method_rounds.plan(&task, &schedule, &error))
		fail_msg("%s: %s", what, error.text);
	assert_plan(bed, schedule, what);
	if (schedule->nphases != phases)
		fail_msg("%s: %u phases instead of %u", what, schedule->nphases, phases);
	fors_schedule_free(schedule);
}

TEST(the_model_case)
{
	struct bed *bed = bed_new("FT(2;20,18)", 0);

	(void)state;
	assert_phases(bed, 360, "healthy");
	bed_down(bed, "Leaf00[21]");
	assert_phases(bed, 360, "one cable");
	bed_down(bed, "Leaf09[35]");
	assert_phases(bed, 360, "two cables of two leaves, by an exchange of rounds");
	bed_restore(bed);
	bed_down(bed, "Leaf00[21]");
	bed_down(bed, "Leaf00[22]");
	assert_phases(bed, 380, "two cables of a leaf");
	bed_down(bed, "Leaf00[23]");
	assert_phases(bed, 400, "three cables of a leaf");
	bed_down(bed, "Leaf05[24] Leaf05[25] Leaf05[26] Leaf11[27] Leaf11[28] Leaf11[29]");
	assert_phases(bed, 400, "three cables of three leaves");
	bed_free(bed);
}

/* Whole spines down: the pattern alone is a plan with as many rounds as the fullest link has units. */
TEST(lost_spines)
{
	static const struct {
		const char *spec;
		uint32_t spines, leaves;
	} cases[] = {{"FT(2;20,18)", 20, 18}, {"FT(2;8,16)", 8, 16}, {"FT(2;16,32)", 16, 32}, {"FT(2;32,32)", 32, 32}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed *bed = bed_new(cases[i].spec, 0);

		for (uint32_t lost = 1; lost <= 4; lost++) {
			uint32_t rounds = divide_up(cases[i].spines * (cases[i].leaves - 1), cases[i].spines - lost);
			char what[64];

			snprintf(what, sizeof(what), "Spine%02u", 2 * lost - 1);
			bed_down(bed, what);
			if (rounds < cases[i].leaves)
				rounds = cases[i].leaves;
			snprintf(what, sizeof(what), "%s without %u spines", cases[i].spec, lost);
			assert_phases(bed, rounds * cases[i].spines, what);
		}
		bed_free(bed);
	}
}

/* `tries` sets of up to `cables` random failures: none below `least`, `mean` or more on average. */
static void random_failures(const char *spec, unsigned tries, uint32_t from, uint32_t to, double least, double mean)
{
	struct bed *bed = bed_new(spec, 0);
	struct rng rng = {.state = from * 1000 + to};
	double sum = 0;

	for (unsigned i = 0; i < tries; i++) {
		uint32_t down;
		char what[96];
		double share;

		bed_restore(bed);
		down = bed_random_failures(bed, &rng, from + rng_below(&rng, to - from + 1));
		snprintf(what, sizeof(what), "%s, %u links down, set %u", spec, down, i);
		share = throughput(bed, i % 8 == 0, what);
		if (share < least)
			fail_msg("%s: %.3f of the optimum", what, share);
		sum += share;
	}
	if (sum / tries < mean)
		fail_msg("%s: %.4f on average", spec, sum / tries);
	bed_free(bed);
}

TEST(single_double_triple)
{
	(void)state;
	for (uint32_t n = 1; n <= 3; n++) {
		random_failures("FT(2;20,18)", 40, n, n, n == 1 ? 1.0 : 0.945, 0.97);
		random_failures("FT(2;8,16)", 40, n, n, 0.95, 0.95);
		random_failures("FT(2;16,32)", 8, n, n, 0.97, 0.97);
		random_failures("FT(2;32,32)", 4, n, n, 0.96, 0.97);
	}
}

/* Where two leaves keep a single common spine, entries that may not move can make its links too full. */
TEST(many_failures)
{
	(void)state;
	random_failures("FT(2;20,18)", 40, 4, 144, 0.945, 0.975);
	random_failures("FT(2;8,16)", 60, 2, 51, 0.6, 0.96);
	random_failures("FT(2;16,32)", 12, 5, 204, 0.96, 0.98);
	random_failures("FT(2;32,32)", 6, 10, 409, 0.96, 0.97);
}

TEST(more_lids_are_never_worse)
{
	static const char *const specs[] = {"FT(2;8,6)", "FT(2;6,8)", "FT(2;5,4;servers=7)"};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct bed *bed[4];

		for (unsigned lmc = 0; lmc < 4; lmc++)
			bed[lmc] = bed_new(specs[i], lmc);
		for (unsigned set = 0; set < 12; set++) {
			double before = 0;

			for (unsigned lmc = 0; lmc < 4; lmc++) {
				struct rng rng = {.state = set};
				double share;

				bed_restore(bed[lmc]);
				bed_random_failures(bed[lmc], &rng, 1 + set);
				share = throughput(bed[lmc], true, specs[i]);
				if (share < before)
					fail_msg("%s, set %u: LMC %u is worse", specs[i], set, lmc);
				before = share;
			}
		}
		for (unsigned lmc = 0; lmc < 4; lmc++)
			bed_free(bed[lmc]);
	}
}

TEST(odd_fabrics)
{
	static const struct {
		const char *spec;
		uint32_t phases; /* healthy, LMC 0; 0: whatever */
	} cases[] = {
		{"FT(2;1,1;servers=1)", 1},
		{"FT(2;3,1;servers=5)", 5},
		{"FT(2;2,4;servers=1)", 4},
		{"FT(2;1,2;servers=1)", 2},
		{"FT(2;1,3;servers=4)", 32},
		{"FT(2;6,5;servers=4)", 20},
		{"FT(2;24,10;servers=16)", 160},
		{"FT(2;4,5;servers=8)", 64},
		{"FT(2;4,5;servers=6)", 0},
		{"FT(2;3,5;servers=6;cables=2)", 30},
		{"FT(2;3,4;servers=5;cables=3)", 20},
		{"FT(2;4,4;empty=0/0,1/2,2/1,3/3)", 0},
		{"FT(2;4,4;empty=0/0,0/1,0/2,0/3)", 12},
		{"FT(2;4,4;empty=0/0,0/1,0/2,1/3)", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned lmc = 0; lmc <= 2; lmc++) {
			struct bed *bed = bed_new(cases[i].spec, lmc);
			struct rng rng = {.state = i};

			if (cases[i].phases && lmc == 0)
				assert_phases(bed, cases[i].phases, cases[i].spec);
			throughput(bed, true, cases[i].spec);
			bed_random_failures(bed, &rng, 3);
			throughput(bed, true, cases[i].spec);
			bed_free(bed);
		}
	}
}

TEST(populations)
{
	static const char *const specs[] = {"FT(2;8,6)", "FT(2;4,5;servers=8)", "FT(2;3,4;servers=6;cables=2)"};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct bed *bed = bed_new(specs[i], i % 2);
		struct rng rng = {.state = i + 1};

		for (unsigned set = 0; set < 20; set++) {
			bed_restore(bed);
			bed_random_participants(bed, &rng, 1 + rng_below(&rng, 20));
			bed_random_failures(bed, &rng, rng_below(&rng, 6));
			throughput(bed, true, specs[i]);
		}
		bed_free(bed);
	}
}

TEST(same_task_same_bytes)
{
	struct bed *bed = bed_new("FT(2;8,6)", 1);
	struct rng rng = {.state = 5};
	struct fors_schedule *first, *second;
	struct fors_error error;
	struct fors_task task;

	(void)state;
	bed_random_failures(bed, &rng, 9);
	task = bed_task(bed);
	assert_int_equal(fors_method_rounds.plan(&task, &first, &error), FORS_OK);
	task.threads = 2;
	assert_int_equal(fors_method_rounds.plan(&task, &second, &error), FORS_OK);
	assert_int_equal(first->nphases, second->nphases);
	assert_memory_equal(first->cell, second->cell, fors_schedule_ncells(first) * sizeof(*first->cell));
	fors_schedule_free(first);
	fors_schedule_free(second);
	bed_free(bed);
}

static bool always(void *context)
{
	++*(unsigned *)context;
	return true;
}

TEST(cancelling)
{
	struct bed *bed = bed_new("FT(2;8,16)", 2);
	struct rng rng = {.state = 3};
	struct fors_schedule *schedule = NULL;
	struct fors_error error;
	struct fors_task task;
	unsigned asked = 0;

	(void)state;
	bed_random_failures(bed, &rng, 50);
	task = bed_task(bed);
	task.cancelled = always;
	task.context = &asked;
	assert_int_equal(fors_method_rounds.plan(&task, &schedule, &error), FORS_ECANCELLED);
	assert_null(schedule);
	assert_true(asked > 0);
	bed_free(bed);
}

TEST(cancelling_anywhere)
{
	struct bed *bed = bed_new("FT(2;4,5)", 2);

	(void)state;
	bed_down(bed, "Leaf00[5] Leaf01[6] Leaf03[7]");
	assert_true(stop_anywhere(bed, "rounds") > 20);
	bed_free(bed);
}

static bool count_up(void *context)
{
	++*(unsigned *)context;
	return false;
}

/* How often it asks whether to stop: for every leaf where no search is needed, and all through a search. */
TEST(asking_often)
{
	struct bed *bed = bed_new("FT(2;32,32)", 0);
	struct fors_schedule *schedule;
	struct fors_error error;
	struct rng rng = {.state = 1};
	struct fors_task task;
	unsigned asked = 0;

	(void)state;
	task = bed_task(bed);
	task.cancelled = count_up;
	task.context = &asked;
	assert_int_equal(fors_method_rounds.plan(&task, &schedule, &error), FORS_OK);
	assert_true(asked >= 32);
	fors_schedule_free(schedule);
	bed_free(bed);
	bed = bed_new("FT(2;20,18)", 2);
	bed_random_failures(bed, &rng, 36);
	task = bed_task(bed);
	task.cancelled = count_up;
	task.context = &asked;
	asked = 0;
	assert_int_equal(fors_method_rounds.plan(&task, &schedule, &error), FORS_OK);
	assert_true(asked >= 100);
	fors_schedule_free(schedule);
	bed_free(bed);
}

/* Phases in which anybody sends; with several leaves the first one is empty, if any is. */
static uint32_t busy_phases(const struct bed *bed, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;
	uint32_t busy;

	if (fors_method_rounds.plan(&task, &schedule, &error))
		fail_msg("%s: %s", what, error.text);
	assert_plan(bed, schedule, what);
	assert_int_equal(schedule->nphases, bed->fabric->nservers);
	busy = fors_schedule_nbusy(schedule);
	for (uint32_t s = 0; schedule->nleaves > 1 && s < schedule->nservers; s++)
		if (fors_schedule_flow(schedule, s, 0).dst != FORS_IDLE)
			assert_int_equal(busy, schedule->nphases);
	fors_schedule_free(schedule);
	return busy;
}

#define WITHOUT_LEAF_1 "Node01-00 Node01-01 Node01-02 Node01-03 Node01-04 Node01-05 Node01-06 Node01-07"
#define WITHOUT_LEAF_1 "Node01-00 Node01-01 Node01-02 Node01-03 Node01-04 Node01-05 Node01-06 Node01-07"

/* Everybody meets itself in the last phase, wherever links have room for all others in one round less. */
TEST(an_empty_phase)
{
	static const struct {
		const char *spec, *down;
		unsigned lmc;
		bool is_empty;
	} cases[] = {{"FT(2;2,2)", "", 0, true},
		     {"FT(2;1,1)", "", 0, true},
		     {"FT(2;5,1)", "", 0, true},
		     {"FT(2;20,18)", "", 5, true},
		     {"FT(2;6,7;servers=4)", "Spine01", 1, true}, /* four lanes for four servers are left */
		     {"FT(2;6,7;servers=4;cables=2)", "", 0, true},
		     {"FT(2;3,5;servers=3;cables=2)", "Leaf01[9] Leaf00[6] Leaf03[6]", 5,
		      false},				       /* it would take path indices */
		     {"FT(2;8,13)", WITHOUT_LEAF_1, 0, false}, /* leaves without servers are counted with the others */
		     {"FT(2;20,18)", "Spine04", 0, false},     /* no leaf can do without the last round */
		     {"FT(2;20,18)", "Leaf03[21]", 5, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed *bed = bed_new(cases[i].spec, cases[i].lmc);

		bed_down(bed, cases[i].down);
		assert_int_equal(busy_phases(bed, cases[i].spec), bed->fabric->nservers - cases[i].is_empty);
		bed_free(bed);
	}
}

/* Asked for a number of phases it gives a plan of just so many, or says that it has none; what it found once it finds
 * again. */
TEST(wanted_phases)
{
	struct bed *bed = bed_new("FT(2;6,8)", 2);
	struct rng rng = {.state = 5};

	(void)state;
	for (unsigned set = 0; set < 20; set++) {
		struct fors_schedule *free_choice, *schedule = NULL;
		struct fors_error error = {.text = ""};
		struct fors_task task;

		bed_restore(bed);
		bed_random_failures(bed, &rng, set / 2);
		task = bed_task(bed);
		assert_int_equal(fors_method_rounds.plan(&task, &free_choice, &error), FORS_OK);
		task.wanted_phases = free_choice->nphases;
		if (fors_method_rounds.plan(&task, &schedule, &error))
			fail_msg("set %u, %u phases: %s", set, task.wanted_phases, error.text);
		assert_int_equal(schedule->nphases, free_choice->nphases);
		assert_plan(bed, schedule, "the plan that was wanted");
		fors_schedule_free(schedule);
		fors_schedule_free(free_choice);
		task.wanted_phases = bed->fabric->nservers - 1;
		schedule = NULL;
		assert_int_equal(fors_method_rounds.plan(&task, &schedule, &error), FORS_ENOPLAN);
		assert_null(schedule);
		assert_true(error.text[0]);
	}
	bed_free(bed);
}

/*
 * 47 of 128 links dead. All that leaf 15 sends to leaves without spine 1 goes over two spines, 93 units with those that
 * are at home there: 47 units of 8 phases on one of them, whatever the tables do (oracle_at_home() of the sweep says so
 * too).
 */
TEST(at_the_limit_of_tables)
{
	static const char down[] =
		"Leaf00[10] Leaf00[15] Leaf00[16] Leaf01[10] Leaf01[13] Leaf02[12] Leaf02[13] Leaf02[14] Leaf03[10] "
		"Leaf03[11] Leaf04[10] Leaf04[12] Leaf04[15] Leaf05[10] Leaf05[11] Leaf05[13] Leaf06[10] Leaf06[13] "
		"Leaf06[15] Leaf07[10] Leaf07[14] Leaf08[13] Leaf08[14] Leaf08[15] Leaf08[16] Leaf09[9] Leaf09[10] "
		"Leaf09[13] Leaf09[15] Leaf09[16] Leaf10[9] Leaf10[10] Leaf10[12] Leaf11[10] Leaf11[14] Leaf12[9] "
		"Leaf12[10] Leaf12[12] Leaf12[15] Leaf13[16] Leaf14[12] Leaf14[14] Leaf15[11] Leaf15[12] Leaf15[13] "
		"Leaf15[15] Leaf15[16]";
	struct bed *bed = bed_new("FT(2;8,16)", 0);

	(void)state;
	bed_down(bed, down);
	assert_phases(bed, 47 * 8, "single common spines");
	bed_free(bed);
}
