/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of libforsched/mpi/waiting.c: barriers by what they take beside messages, and by measurement between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libforsched/mpi/waiting.h"

#define BETWEEN 0.2 /* of the time of messages: measured */

/* Calls of one size that take so long without and with barriers: how many of them had barriers, seconds of all. */
static uint32_t calls(struct waiting *waiting, uint64_t bytes, uint32_t n, const double seconds[2], double share,
		      double *all)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool has_barrier = forsched_waiting_has_barrier(waiting, bytes, share);

		forsched_waiting_learn(waiting, bytes, has_barrier, seconds[has_barrier]);
		found += has_barrier;
		*all += seconds[has_barrier];
	}
	return found;
}

static void the_table_decides(void **state)
{
	static const double none[2] = {1, 9}, tree[2] = {9, 1};
	struct waiting waiting = {.size[0].trials = 0};
	double all = 0;

	(void)state;
	assert_int_equal(calls(&waiting, 4096, 100, none, WAITING_BARRIERS_BELOW / 100.0 - 0.001, &all), 100);
	assert_int_equal(calls(&waiting, 4096, 100, tree, WAITING_NONE_FROM / 100.0, &all), 0);
	/* Not known, as before the first call: barriers, which is what there would be otherwise. */
	assert_int_equal(calls(&waiting, 4096, 100, none, -1, &all), 100);
}

static void the_quicker_one_stays(void **state)
{
	static const double none[2] = {1, 1.01}, tree[2] = {1.01, 1}, same[2] = {1, 1};
	struct waiting waiting = {.size[0].trials = 0};
	double all = 0;

	(void)state;
	assert_in_range(calls(&waiting, 1 << 16, 1000, none, BETWEEN, &all), 35, 45);
	/* Another size is another matter; up to twice the bytes it is the same. */
	assert_int_equal(calls(&waiting, 1 << 20, 1000, tree, BETWEEN, &all), 1000 - WAITING_TRIALS);
	assert_int_equal(calls(&waiting, (2 << 20) - 1, 100, none, BETWEEN, &all), 100);
	assert_int_equal(calls(&waiting, 1, 1000, same, BETWEEN, &all), 1000 - WAITING_TRIALS);
	assert_in_range(calls(&waiting, UINT64_MAX, 1000, none, BETWEEN, &all), 35, 45);
	assert_int_equal(calls(&waiting, 1 << 16, 100, tree, BETWEEN, &all), 0);
}

/* Whatever calls without barriers take, up to the worst that was seen: at no moment have all calls lost two hundredths. */
static void trials_cost_little(void **state)
{
	(void)state;
	for (double worst = 1; worst <= 1.6; worst += 0.05) {
		const double seconds[2] = {worst, 1};
		struct waiting waiting = {.size[0].trials = 0};
		double all = 0;

		for (uint32_t i = 1; i <= 1000; i++) {
			calls(&waiting, 4096, 1, seconds, BETWEEN, &all);
			assert_true(all <= 1.02 * i);
		}
		assert_true(waiting.size[12].trials > 0);
	}
}

/* A call that was disturbed, of whichever kind, decides nothing. */
static void one_slow_call(void **state)
{
	static const double usual[2] = {1, 1.1};

	(void)state;
	for (uint32_t slow = 0; slow < 400; slow++) {
		struct waiting waiting = {.size[0].trials = 0};
		bool has_barrier = true;

		for (uint32_t i = 0; i < 2000; i++) {
			has_barrier = forsched_waiting_has_barrier(&waiting, 4096, BETWEEN);
			forsched_waiting_learn(&waiting, 4096, has_barrier, i == slow ? 9 : usual[has_barrier]);
		}
		assert_false(has_barrier);
	}
}

static void unequal_messages_have_none(void **state)
{
	static const double tree[2] = {2, 1};
	struct waiting waiting = {.size[0].trials = 0};
	double all = 0;

	(void)state;
	assert_int_equal(calls(&waiting, 0, 100, tree, BETWEEN, &all), 0);
	assert_int_equal(calls(&waiting, 0, 100, tree, 0, &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_decides),	      cmocka_unit_test(the_quicker_one_stays),
		cmocka_unit_test(trials_cost_little),	      cmocka_unit_test(one_slow_call),
		cmocka_unit_test(unequal_messages_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
