/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_split.c - the split over lanes: every small set of failures, kept hard cases, and the proofs of bounds. */
#include "core/planners/exact/split.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX 16 /* leaves, lanes */

/* Leaves, lanes, servers and what lives. */
struct shape {
	uint32_t nleaves, nlanes, servers[MAX];
	bool live[MAX][MAX];
	uint8_t up[MAX * MAX * MAX], down[MAX * MAX * MAX];
	struct fors_ways ways;
};

/* The ways of a shape with single cables; false: two leaves share no lane. */
static bool find_ways(struct shape *shape)
{
	shape->ways = (struct fors_ways){.nleaves = shape->nleaves,
					 .nlanes = shape->nlanes,
					 .servers = shape->servers,
					 .up = shape->up,
					 .down = shape->down,
					 .is_straight = true};
	for (uint32_t a = 0; a < shape->nleaves; a++) {
		for (uint32_t b = 0; b < shape->nleaves; b++) {
			bool any = a == b;

			for (uint32_t k = 0; k < shape->nlanes; k++) {
				bool both = shape->live[a][k] && shape->live[b][k];

				shape->up[fors_way(&shape->ways, a, b, k)] = both ? (uint8_t)k : FORS_NO_WAY;
				shape->down[fors_way(&shape->ways, a, b, k)] = both ? (uint8_t)k : FORS_NO_WAY;
				any |= both;
			}
			if (!any)
				return false;
		}
	}
	return true;
}

static void check_pair(const struct fors_ways *ways, const uint16_t *split, uint32_t a, uint32_t b, uint32_t *load)
{
	uint32_t sum = 0;

	for (uint32_t k = 0; k < ways->nlanes; k++) {
		size_t way = fors_way(ways, a, b, k);

		if (!split[way])
			continue;
		assert_true(a != b && ways->up[way] != FORS_NO_WAY);
		sum += split[way];
		load[a * ways->nlanes + ways->up[way]] += split[way];
		load[(ways->nleaves + b) * ways->nlanes + ways->down[way]] += split[way];
	}
	assert_int_equal(sum, a == b ? 0 : ways->servers[a] * ways->servers[b]);
}

/* Find a split, check it, and return T. */
static uint32_t split_of(const struct fors_ways *ways, uint32_t at_least, uint32_t *bound)
{
	uint32_t load[2 * MAX * MAX] = {0}, phases = 0;
	struct fors_error error = {.text = ""};
	struct fors_effort effort = {.budget = UINT64_MAX};
	uint16_t *split = NULL;

	assert_int_equal(fors_split_find(ways, at_least, &effort, &split, &phases, bound, &error), FORS_OK);
	for (uint32_t a = 0; a < ways->nleaves; a++)
		for (uint32_t b = 0; b < ways->nleaves; b++)
			check_pair(ways, split, a, b, load);
	for (uint32_t port = 0; port < 2 * ways->nleaves * ways->nlanes; port++)
		assert_true(load[port] <= phases);
	assert_true(phases >= *bound && *bound >= at_least);
	free(split);
	return phases;
}

/* A bound that looks at every set of lanes of every leaf: exponential, and nothing to get wrong. */
static uint32_t slow_bound(const struct shape *shape)
{
	uint32_t best = 0;

	for (uint32_t a = 0; a < shape->nleaves; a++)
		best += shape->servers[a];
	for (uint32_t a = 0; a < shape->nleaves; a++) {
		for (uint32_t set = 1; set < 1u << shape->nlanes; set++) {
			uint32_t flows = 0, cables = 0;

			for (uint32_t k = 0; k < shape->nlanes; k++)
				cables += (set >> k & 1) && shape->live[a][k];
			for (uint32_t b = 0; b < shape->nleaves; b++) {
				bool inside = a != b;

				for (uint32_t k = 0; k < shape->nlanes; k++)
					inside &= !(shape->live[a][k] && shape->live[b][k]) || (set >> k & 1);
				flows += inside ? shape->servers[a] * shape->servers[b] : 0;
			}
			if (cables && (flows + cables - 1) / cables > best)
				best = (flows + cables - 1) / cables;
		}
	}
	return best;
}

static void all_live(struct shape *shape, uint32_t nleaves, uint32_t nlanes, uint32_t servers)
{
	memset(shape, 0, sizeof(*shape));
	shape->nleaves = nleaves;
	shape->nlanes = nlanes;
	for (uint32_t a = 0; a < nleaves; a++) {
		shape->servers[a] = servers;
		for (uint32_t k = 0; k < nlanes; k++)
			shape->live[a][k] = true;
	}
}

/* Every set of up to `most` dead cables, from cable `first` on, added to those that are dead. */
static uint32_t try_failures(struct shape *shape, uint32_t first, uint32_t most)
{
	uint32_t tried = 0, bound;

	if (!find_ways(shape))
		return 0;
	assert_int_equal(split_of(&shape->ways, slow_bound(shape), &bound), slow_bound(shape));
	tried++;
	for (uint32_t i = first; most > 0 && i < shape->nleaves * shape->nlanes; i++) {
		bool *live = &shape->live[i / shape->nlanes][i % shape->nlanes];

		*live = false;
		tried += try_failures(shape, i + 1, most - 1);
		*live = true;
	}
	return tried;
}

/* T = LB for every connected set of up to three failures. */
static void test_small_fabrics(void **unused)
{
	static struct shape shape;

	all_live(&shape, 3, 3, 3);
	assert_true(try_failures(&shape, 0, 3) > 100);
	all_live(&shape, 3, 4, 4);
	assert_true(try_failures(&shape, 0, 3) > 290);
	all_live(&shape, 4, 3, 3);
	assert_true(try_failures(&shape, 0, 3) > 250);
}

/* Four failures of FT(2;4,4): a plain local search misses the bound in 35 of these. */
static void test_four_of_four(void **unused)
{
	static struct shape shape;

	all_live(&shape, 4, 4, 4);
	assert_true(try_failures(&shape, 0, 4) > 2400);
}

/* Only these lanes live at each leaf, as a word of bits. */
static void only(struct shape *shape, const uint32_t *words)
{
	for (uint32_t a = 0; a < shape->nleaves; a++)
		for (uint32_t k = 0; k < shape->nlanes; k++)
			shape->live[a][k] = words[a] >> k & 1;
}

/* The single-leaf bound is 25, the optimum 38, and the prices prove it. */
static void test_above_the_bound(void **unused)
{
	static const uint32_t words[] = {0x07, 0x0B, 0x19, 0x16};
	static struct shape shape;
	uint32_t bound;

	all_live(&shape, 4, 5, 5);
	only(&shape, words);
	assert_true(find_ways(&shape));
	assert_int_equal(slow_bound(&shape), 25);
	assert_int_equal(split_of(&shape.ways, 25, &bound), 38);
	assert_int_equal(bound, 38);
}

/* The first prices prove no more than the T that is tried: only later ones prove that it is too small. */
static void test_proofs_that_take_time(void **unused)
{
	static const struct {
		uint32_t nleaves, nlanes, servers[5], words[5], at_least, phases;
	} hard[] = {
		{4, 5, {6, 5, 3, 7}, {0x1B, 0x16, 0x0F, 0x17}, 21, 27},
		{5, 4, {3, 3, 4, 5, 3}, {0x0A, 0x09, 0x07, 0x0D, 0x0E}, 18, 24},
	};
	static struct shape shape;
	uint32_t bound;

	for (unsigned i = 0; i < sizeof(hard) / sizeof(hard[0]); i++) {
		all_live(&shape, hard[i].nleaves, hard[i].nlanes, 0);
		memcpy(shape.servers, hard[i].servers, sizeof(hard[i].servers));
		only(&shape, hard[i].words);
		assert_true(find_ways(&shape));
		assert_int_equal(split_of(&shape.ways, hard[i].at_least, &bound), hard[i].phases);
		assert_int_equal(bound, hard[i].phases);
	}
}

/* Two parallel cables, one dead at leaf 0: both ways of its spine climb over the other one, and come down over either.
 */
static void test_shared_cable(void **unused)
{
	static struct shape shape;
	uint32_t bound;

	all_live(&shape, 3, 4, 4);
	assert_true(find_ways(&shape));
	for (uint32_t b = 1; b < 3; b++) {
		shape.up[fors_way(&shape.ways, 0, b, 0)] = 1;
		shape.down[fors_way(&shape.ways, b, 0, 0)] = 1;
	}
	shape.ways.is_straight = false;
	/* leaf 0 sends 32 flows over 3 cables */
	assert_int_equal(split_of(&shape.ways, 1, &bound), 11);
}

static void test_nothing_to_do(void **unused)
{
	static struct shape shape;
	uint32_t bound;

	all_live(&shape, 1, 4, 7);
	assert_true(find_ways(&shape));
	assert_int_equal(split_of(&shape.ways, 7, &bound), 7);
	all_live(&shape, 3, 1, 0);
	shape.servers[1] = 2;
	assert_true(find_ways(&shape));
	assert_int_equal(split_of(&shape.ways, 2, &bound), 2);
	all_live(&shape, 1, 0, 2);
	assert_true(find_ways(&shape));
	assert_int_equal(split_of(&shape.ways, 2, &bound), 2);
}

static bool at_once(void *context)
{
	return true;
}

/* It asks before it searches for long. */
static void test_cancelled(void **unused)
{
	static const uint32_t words[] = {0x07, 0x0B, 0x19, 0x16};
	static struct shape shape;
	const struct fors_task task = {.cancelled = at_once};
	struct fors_effort effort = {.task = &task, .budget = UINT64_MAX};
	struct fors_error error = {.text = ""};
	uint32_t phases = 1, bound = 1;
	uint16_t *split = NULL;

	all_live(&shape, 4, 5, 5);
	only(&shape, words);
	assert_true(find_ways(&shape));
	assert_int_equal(fors_split_find(&shape.ways, 25, &effort, &split, &phases, &bound, &error), FORS_ECANCELLED);
	assert_null(split);
	assert_true(error.text[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_fabrics),
		cmocka_unit_test(test_four_of_four),
		cmocka_unit_test(test_above_the_bound),
		cmocka_unit_test(test_shared_cable),
		cmocka_unit_test(test_proofs_that_take_time),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
