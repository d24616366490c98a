/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The throughput of blocks by linear programs, against what can be said by hand and by a closed form; skipped without lp_solve. */
#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "lab/model/optimum/concurrent.h"
#include "unit.h"

#define MOST 15

static struct fors_error error;

static double solve(uint32_t n, const double *traffic, const double *capacity, bool is_direct, double *topology)
{
	const struct fors_concurrent problem = {n, traffic, capacity, is_direct};
	double value = -1;
	enum fors_err err = fors_concurrent_flow(&problem, &value, topology, &error);

	if (err == FORS_ENOTAPPL)
		skip();
	if (err)
		fail_msg("%s", error.text);
	return value;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-7))
		fail_msg("%.9f is not %.9f", a, b);
}

/* T(d) = d A + (1 - d) U, A all from block 0 to block 1, U all pairs alike; 1 in sum. */
static void skewed(uint32_t n, double d, double *t)
{
	for (uint32_t i = 0; i < n * n; i++)
		t[i] = i / n == i % n ? 0 : (1 - d) / (n * (n - 1));
	t[1] += d;
}

static double largest_sum(uint32_t n, const double *t)
{
	double most = 0;

	for (uint32_t i = 0; i < n; i++) {
		double out = 0, in = 0;

		for (uint32_t j = 0; j < n; j++) {
			out += t[i * n + j];
			in += t[j * n + i];
		}
		most = fmax(most, fmax(out, in));
	}
	return most;
}

TEST(by_hand)
{
	/* 0 sends to 1 over 0.5, and by way of 2 over 0.25 */
	static const double traffic[9] = {0, 1, 0, 0, 0, 0, 0, 0, 0}, cables[9] = {0, 0.5, 0.25, 0, 0, 0, 0, 0.3, 0};
	double topology[9];

	assert_near(solve(3, traffic, cables, true, NULL), 0.5);
	assert_near(solve(3, traffic, cables, false, NULL), 0.75);
	assert_near(solve(3, traffic, NULL, true, topology), 1);
	assert_near(topology[1], 1);
}

/* Cables that may be moved serve any traffic directly, until a block is full: nobody is helped by detours. */
TEST(moved_cables_need_no_detours)
{
	struct fors_random random = {3};

	for (unsigned round = 0; round < 10; round++) {
		double t[36] = {0}, topology[36];

		for (uint32_t i = 0; i < 36; i++)
			t[i] = i / 6 == i % 6 ? 0 : fors_random_below(&random, 100);
		assert_near(solve(6, t, NULL, true, topology), 1 / largest_sum(6, t));
		assert_near(solve(6, t, NULL, false, NULL), 1 / largest_sum(6, t));
		assert_near(solve(6, t, topology, true, NULL), 1 / largest_sum(6, t));
	}
}

/*
 * The paper's figure 2: cables for T(dt), traffic T(dc). Direct ways give the smallest x_ij / t_ij. Detours cannot give
 * more than the fullest block, and give that where the topology is that of uniform traffic and all traffic is one pair's.
 */
TEST(skewed_traffic)
{
	double t[MOST * MOST], cables[MOST * MOST];

	for (unsigned a = 0; a <= 2; a++)
		for (unsigned b = 0; b <= 4; b++) {
			double direct, all, least = INFINITY;

			skewed(MOST, a / 4., cables);
			skewed(MOST, b / 4., t);
			for (uint32_t i = 0; i < MOST * MOST; i++)
				if (t[i] > 0)
					least = fmin(least, cables[i] / t[i]);
			direct = solve(MOST, t, cables, true, NULL);
			all = solve(MOST, t, cables, false, NULL);
			assert_near(direct, least);
			assert_true(all >= direct - 1e-9);
			if (a == b)
				assert_near(direct, 1);
			if (a == 0 && b == 4) /* 14 ways of 1/210: one direct, 13 by way of another */
				assert_near(all, 14 / 210.);
		}
}

TEST(bad_numbers)
{
	static const double none[4] = {1, 0, 0, 1}, below[4] = {0, -1, 1, 0}, good[4] = {0, 1, 1, 0},
			    nan_[4] = {0, NAN, 1, 0};
	const struct fors_concurrent bad[] = {
		{1, good, NULL, false},	 {65, good, NULL, false}, {2, none, NULL, false},
		{2, below, NULL, false}, {2, good, below, false}, {2, nan_, NULL, true},
	};
	double value = -1;

	solve(2, good, NULL, true, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(fors_concurrent_flow(&bad[i], &value, NULL, &error), FORS_EINPUT);
		assert_true(value == -1);
	}
}
