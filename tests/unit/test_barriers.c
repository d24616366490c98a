/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of libforsched/mpi/waiting.c: barriers where they are no slower, for each size of messages by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libforsched/mpi/waiting.h"

/* Calls of one size that take so long without and with barriers; how many of them had barriers. */
static uint32_t calls(struct waiting *waiting, uint64_t bytes, uint32_t n, const double seconds[2], uint32_t *trials)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool is_trial, has_barrier = forsched_waiting_has_barrier(waiting, bytes, &is_trial);

		if (is_trial)
			forsched_waiting_learn(waiting, bytes, has_barrier, seconds[has_barrier]);
		*trials += is_trial;
		found += has_barrier;
	}
	return found;
}

static void the_quicker_one_stays(void **state)
{
	static const double none[2] = {1, 1.01}, tree[2] = {1.01, 1}, same[2] = {1, 1};
	struct waiting waiting = {.is_auto = true};
	uint32_t trials = 0;

	(void)state;
	assert_int_equal(calls(&waiting, 1 << 16, 100, none, &trials), WAITING_TRIALS / 2);
	assert_int_equal(trials, WAITING_TRIALS);
	/* Another size is another matter; up to twice the bytes it is the same. */
	assert_int_equal(calls(&waiting, 1 << 20, 100, tree, &trials), 100 - WAITING_TRIALS / 2);
	assert_int_equal(calls(&waiting, (2 << 20) - 1, 100, none, &trials), 100);
	assert_int_equal(calls(&waiting, 1, 100, same, &trials), 100 - WAITING_TRIALS / 2);
	assert_int_equal(calls(&waiting, UINT64_MAX, 100, none, &trials), WAITING_TRIALS / 2);
	assert_int_equal(trials, 4 * WAITING_TRIALS);
	assert_int_equal(calls(&waiting, 1 << 16, 100, tree, &trials), 0);
}

/* One slow call of each kind, as the first one is, or one that was disturbed, decides nothing. */
static void one_slow_call_of_each_kind(void **state)
{
	(void)state;
	for (uint32_t slow = 0; slow < WAITING_TRIALS; slow++) {
		struct waiting waiting = {.is_auto = true};
		bool is_trial;

		for (uint32_t i = 0; i < WAITING_TRIALS; i++) {
			bool has_barrier = forsched_waiting_has_barrier(&waiting, 4096, &is_trial);

			assert_true(is_trial);
			forsched_waiting_learn(&waiting, 4096, has_barrier, i == slow ? 9 : has_barrier ? 1.1 : 1);
		}
		assert_false(forsched_waiting_has_barrier(&waiting, 4096, &is_trial));
		assert_false(is_trial);
	}
}

static void unequal_messages_have_none(void **state)
{
	static const double tree[2] = {2, 1};
	struct waiting waiting = {.is_auto = true};
	uint32_t trials = 0;

	(void)state;
	assert_int_equal(calls(&waiting, 0, 100, tree, &trials), 0);
	assert_int_equal(trials, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_quicker_one_stays),
		cmocka_unit_test(one_slow_call_of_each_kind),
		cmocka_unit_test(unequal_messages_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
