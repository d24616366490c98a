/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pseudo-random numbers: plans, patterns and paths hang on them, so these may never change. */

#include "core/base/random.h"
#include "unit.h"

/* As published by the authors of splitmix64. */
TEST(test_splitmix)
{
	struct fors_random random = {0};

	assert_true(fors_random_next(&random) == 0xE220A8397B1DCDAFu);
	assert_true(fors_random_next(&random) == 0x6E789E6AA1B965F4u);
	assert_true(fors_random_of(0) == 0xE220A8397B1DCDAFu);
	assert_true(fors_random_of(0x9E3779B97F4A7C15u) == 0x6E789E6AA1B965F4u);
}

/* From the seed of Marsaglia's paper. */
TEST(test_xorshift)
{
	struct fors_xorshift random = {88172645463325252u};

	assert_true(fors_xorshift_next(&random) == 8748534153485358512u);
	assert_true(fors_xorshift_next(&random) == 3040900993826735515u);
}

/* The two ways to a number below n are two sequences; planners have one or the other. */
TEST(test_xorshift_below)
{
	struct fors_xorshift a = {88172645463325252u}, b = a;

	assert_int_equal(fors_xorshift_below(&a, 1000), (uint32_t)((8748534153485358512u >> 32) * 1000 >> 32));
	assert_int_equal(fors_xorshift_modulo(&b, 1000), (uint32_t)((8748534153485358512u >> 32) % 1000));
	assert_true(a.state == b.state);
	for (uint32_t n = 1; n < 100; n++) {
		assert_in_range(fors_xorshift_below(&a, n), 0, n - 1);
		assert_in_range(fors_xorshift_modulo(&a, n), 0, n - 1);
	}
}

TEST(test_order)
{
	struct fors_random random = {5};
	uint32_t list[100];
	uint8_t seen[100] = {0};

	fors_random_order(&random, list, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(seen[list[i]]++, 0);
}
