/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_ilp.c - the paper's integer programme: single phases with known answers, and as an oracle for the exact planner.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "support.h"

#ifdef HAVE_LPSOLVE
#include "core/schedule/schedule.h"
#include "ilp/phase.h"

#define MAX_FLOWS 16
#define LANES 3

/* A phase between three leaves. */
struct little {
	struct fors_ilp_phase phase;
	uint16_t from[MAX_FLOWS], to[MAX_FLOWS];
	bool allowed[MAX_FLOWS * LANES];
	uint8_t lane[MAX_FLOWS];
};

/* Flow a -> b over the lanes of `word`. */
static void add(struct little *little, uint16_t a, uint16_t b, unsigned word)
{
	size_t n = little->phase.nflows++;

	little->from[n] = a;
	little->to[n] = b;
	for (uint32_t k = 0; k < LANES; k++)
		little->allowed[n * LANES + k] = word >> k & 1;
}

static void begin(struct little *little)
{
	memset(little, 0, sizeof(*little));
	little->phase = (struct fors_ilp_phase){3, LANES, 0, little->from, little->to, little->allowed};
}

static enum fors_err solve(struct little *little, bool is_plain)
{
	struct fors_error error = {.text = ""};
	enum fors_err err = fors_ilp_solve_phase(&little->phase, is_plain, 60, NULL, NULL, little->lane, &error);

	assert_true(err == FORS_OK || error.text[0]);
	if (err)
		return err;
	for (size_t i = 0; i < little->phase.nflows; i++) {
		assert_true(little->lane[i] < LANES && little->allowed[i * LANES + little->lane[i]]);
		for (size_t j = 0; j < i; j++)
			assert_false(little->lane[i] == little->lane[j] &&
				     (little->from[i] == little->from[j] || little->to[i] == little->to[j]));
	}
	return FORS_OK;
}

static void test_phases(void **unused)
{
	for (int is_plain = 0; is_plain < 2; is_plain++) {
		struct little little;

		begin(&little);
		assert_int_equal(solve(&little, is_plain), FORS_OK); /* nothing to do */
		add(&little, 0, 1, 7);
		add(&little, 0, 2, 7);
		add(&little, 1, 2, 3);
		add(&little, 2, 1, 6);
		add(&little, 1, 0, 1);
		add(&little, 2, 0, 4);
		assert_int_equal(solve(&little, is_plain), FORS_OK);
		begin(&little);
		add(&little, 0, 1, 1);
		add(&little, 0, 2, 1); /* two flows up one lane */
		assert_int_equal(solve(&little, is_plain), FORS_ENOPLAN);
		begin(&little);
		add(&little, 0, 1, 7);
		add(&little, 1, 2, 0); /* no lane at all */
		assert_int_equal(solve(&little, is_plain), FORS_ENOPLAN);
	}
}

/* Peeling gives the good lane 2 to the wrong flows; the whole model finds the solution all the same. */
static void test_second_try(void **unused)
{
	struct little little;

	begin(&little);
	add(&little, 0, 1, 4 | 1);
	add(&little, 0, 1, 4);
	assert_int_equal(solve(&little, false), FORS_OK);
	assert_int_equal(little.lane[0], 0);
	assert_int_equal(little.lane[1], 2);
}

static bool at_once(void *context)
{
	return true;
}

static void test_cancelled(void **unused)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 2);
	struct fors_task task;
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {.text = ""};

	bed_down(bed, "Leaf00[5] Leaf01[6]");
	task = bed_task(bed);
	task.cancelled = at_once;
	assert_int_equal(fors_plan(&task, "ilp", &schedule, &error), FORS_ECANCELLED);
	assert_null(schedule);
}

/* 400 phases of about a second each do not fit into one. */
static void test_out_of_time(void **unused)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;20,18)", 5);
	struct fors_task task;
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {.text = ""};

	bed_down(bed,
		 "Leaf00[21] Leaf00[22] Leaf00[23] Leaf05[24] Leaf05[25] Leaf05[26] Leaf11[27] Leaf11[28] Leaf11[29]");
	task = bed_task(bed);
	task.limits.seconds = 1;
	assert_int_equal(fors_plan(&task, "ilp", &schedule, &error), FORS_ETIMEOUT);
	assert_null(schedule);
	assert_non_null(strstr(error.text, "out of time"));
}

/* Where the programme solves every phase, the exact planner needs no more phases. */
static void test_oracle(void **unused)
{
	static const char *const specs[] = {"FT(2;3,3)", "FT(2;4,3)", "FT(2;3,4)", "FT(2;4,4)", "FT(2;5,4)"};
	struct rng rng = {.state = 11};
	uint32_t solved = 0;

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[i], 3);

		for (int set = 0; set < 12; set++) {
			struct fors_schedule *ilp = NULL, *exact = NULL;
			struct fors_error error;
			struct fors_task task;

			bed_restore(bed);
			bed_random_failures(bed, &rng, 1 + rng_below(&rng, 4));
			task = bed_task(bed);
			assert_int_equal(fors_plan(&task, "exact", &exact, &error), FORS_OK);
			if (fors_plan(&task, "ilp", &ilp, &error) == FORS_OK) {
				assert_plan(bed, ilp, specs[i]);
				assert_true(exact->nphases <= ilp->nphases);
				solved++;
			} else if (error.code != FORS_ENOPLAN && error.code != FORS_ENOTAPPL) {
				fail_msg("%s: %s", specs[i], error.text);
			}
			fors_schedule_free(ilp);
			fors_schedule_free(exact);
		}
	}
	assert_true(solved > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phases),	    cmocka_unit_test(test_second_try), cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_out_of_time), cmocka_unit_test(test_oracle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	return 77; /* skipped: built without lp_solve */
}
#endif
