/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several jobs at the same time: what can be said with pencil and paper, and a job alone against its one clock. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/model/measure/evaluate.h"
#include "lab/model/measure/together.h"
#include "lab/model/routers/routes.h"

/* A fabric under the tables of fors, with a router; server s is number s of the fabric. */
struct stage {
	struct bed *bed;
	struct fors_routes *routes;
	struct fors_router router;
};

static struct stage stage_new(const char *spec)
{
	struct stage stage = {.bed = bed_new(spec, 0)};
	struct fors_endpoint *server FREED(free) = NULL;
	uint32_t count;

	assert_int_equal(fors_endpoints(stage.bed->net, NULL, &server, &count, NULL), FORS_OK);
	assert_int_equal(fors_routes_new(stage.bed->net, stage.bed->lfts, server, count, &stage.routes, NULL), FORS_OK);
	stage.router = fors_routes_router(stage.routes);
	return stage;
}

static void stage_end(struct stage *stage)
{
	fors_routes_free(stage->routes);
	bed_free(stage->bed);
}

static struct fors_pattern *shifts(uint32_t count)
{
	const struct fors_pattern_options options = {0};
	struct fors_pattern *pattern;

	assert_int_equal(fors_pattern_new("linear-shift", count, &options, &pattern, NULL), FORS_OK);
	return pattern;
}

static struct fors_together run(const struct stage *stage, const struct fors_running *job, uint32_t njobs,
				const struct fors_together_options *options)
{
	struct fors_together result;

	assert_int_equal(fors_run_together(&stage->router, job, njobs, options, &result, NULL), FORS_OK);
	return result;
}

static void near(double x, double y)
{
	if (fabs(x - y) > 1e-6)
		fail_msg("%.9f is not %.9f", x, y);
}

/* Two leaves, one cable between them and the spine: two jobs that always send through it get half each. */
TEST(half_a_cable)
{
	const uint32_t left[] = {0, 2}, right[] = {1, 3};
	const struct fors_together_options options = {.seed = 3};
	struct stage stage = stage_new("FT(2;1,2;servers=2)");
	struct fors_pattern *two = shifts(2);
	const struct fors_running job[] = {{two, left, 2, 1}, {two, right, 2, 1}};
	struct fors_together one = run(&stage, job, 1, &options), both = run(&stage, job, 2, &options);

	near(one.speed[0], 1);
	assert_true(both.speed[0] >= 0.5 - 1e-9 && both.speed[0] < 0.8); /* until the other begins it has all */
	assert_true(both.speed[1] >= 0.5 - 1e-9 && both.speed[1] < 0.8);
	fors_together_clear(&one);
	fors_together_clear(&both);
	fors_pattern_free(two);
	stage_end(&stage);
}

/* Three jobs in the one cable, for long: a third each; also with more messages under way, which cannot help. */
TEST(thirds)
{
	const uint32_t at[3][2] = {{0, 3}, {1, 4}, {2, 5}};
	struct stage stage = stage_new("FT(2;1,2;servers=3)");
	struct fors_pattern *two = shifts(2);

	for (uint32_t window = 1; window < 4; window++) {
		const struct fors_running job[] = {
			{two, at[0], 2, window}, {two, at[1], 2, window}, {two, at[2], 2, window}};
		const struct fors_together_options options = {.seed = window, .phases = 2};
		struct fors_together result CLEARED(fors_together_clear) = run(&stage, job, 3, &options);

		for (unsigned j = 0; j < 3; j++)
			assert_true(result.speed[j] > 0.25 && result.speed[j] < 0.6);
		assert_int_equal(result.nbroken, 0);
	}
	fors_pattern_free(two);
	stage_end(&stage);
}

/* A job alone: no faster than its fullest links let it, and as fast where no link has two flows. */
TEST(alone)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;3,5;servers=4)", "FT(2;2,6;servers=5)"};

	for (size_t i = 0; i < 3; i++) {
		struct stage stage = stage_new(specs[i]);
		uint32_t n = stage.router.graph->nservers, server[64];
		const struct fors_together_options options = {.seed = i};
		struct fors_pattern *pattern = shifts(n);
		struct fors_evaluation *one_clock;
		struct fors_together result;
		struct fors_running job = {pattern, server, n, 0};

		for (uint32_t s = 0; s < n; s++)
			server[s] = s;
		result = run(&stage, &job, 1, &options);
		assert_int_equal(fors_evaluate(&stage.router, pattern, true, 1, &one_clock, NULL), FORS_OK);
		assert_true(result.speed[0] <= one_clock->sync_throughput + 1e-9);
		assert_true(result.speed[0] > 0.7 * one_clock->sync_throughput);
		if (one_clock->max_link_load == 1)
			near(result.speed[0], 1);
		fors_evaluation_free(one_clock);
		fors_together_clear(&result);
		fors_pattern_free(pattern);
		stage_end(&stage);
	}
}

/* Jobs below different leaves never meet; a job of one server has nothing to wait for; one without a pattern stands still. */
TEST(apart)
{
	const uint32_t a[] = {0, 1, 2}, b[] = {4, 5, 6, 7}, c[] = {8};
	const struct fors_together_options options = {.seed = 1};
	struct stage stage = stage_new("FT(2;4,4)");
	struct fors_pattern *three = shifts(3), *four = shifts(4), *one = shifts(1);
	const struct fors_running job[] = {
		{three, a, 3, 0}, {four, b, 4, 0}, {one, c, 1, 0}, {NULL, c, 1, 0}, {one, c, 1, 8}};
	struct fors_together result = run(&stage, job, 5, &options);
	const double wanted[] = {1, 1, 1, 0, 1};

	for (unsigned j = 0; j < 5; j++)
		near(result.speed[j], wanted[j]);
	fors_together_clear(&result);
	fors_pattern_free(three);
	fors_pattern_free(four);
	fors_pattern_free(one);
	stage_end(&stage);
}

/* Messages that do not arrive: it ends, counts them, and says 0; the others get on. */
TEST(lost)
{
	struct stage stage = stage_new("FT(2;2,2;servers=2)");
	const uint32_t both[] = {0, 2}, here[] = {1, 3};
	struct fors_pattern *two = shifts(2);
	struct fors_lfts *lfts;
	uint32_t row;

	lfts = stage.bed->lfts;
	row = fors_lfts_row(lfts, stage.bed->net->node[stage.routes->server[0].leaf].guid);
	lfts->port[(size_t)row * lfts->nlids + stage.routes->server[2].lid] = FORS_NO_PATH;
	for (uint32_t window = 0; window < 3; window++) {
		const struct fors_running job[] = {{two, both, 2, window}, {two, here, 2, window}};
		const struct fors_together_options options = {.seed = 5};
		struct fors_together result CLEARED(fors_together_clear) = run(&stage, job, 2, &options);

		assert_true(result.nbroken > 0);
		near(result.speed[0], 0);
		assert_true(result.speed[1] > 0.4);
	}
	fors_pattern_free(two);
	stage_end(&stage);
}

/* The same seed, the same answer; and as many phases as were asked for. */
TEST(seeds)
{
	uint32_t a[24], b[24];
	struct stage stage = stage_new("FT(2;6,8)");
	struct fors_pattern *pattern = shifts(24);
	struct fors_running job[] = {{pattern, a, 24, 0}, {pattern, b, 24, 0}};
	struct fors_together_options options = {.seed = 1};
	struct fors_together x, y, z, few;

	for (uint32_t i = 0; i < 24; i++) {
		a[i] = 2 * i - i % 4 / 2; /* in both jobs: neighbours whose homes are on the same spines */
		b[i] = 2 * i + 1 - i % 4 / 2;
	}
	x = run(&stage, job, 2, &options);
	y = run(&stage, job, 2, &options);
	options.seed = 2;
	z = run(&stage, job, 2, &options);
	options.phases = 3;
	few = run(&stage, job, 2, &options);
	assert_memory_equal(x.speed, y.speed, 2 * sizeof(*x.speed));
	assert_true(x.speed[0] != z.speed[0]);
	assert_true(few.time < z.time && few.time >= 3);
	assert_true(x.time >= 24);
	fors_together_clear(&x);
	fors_together_clear(&y);
	fors_together_clear(&z);
	fors_together_clear(&few);
	fors_pattern_free(pattern);
	stage_end(&stage);
}
