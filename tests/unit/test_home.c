/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_home.c - the arithmetic of homes against counting: round the lanes step by step, with no formula of home.h, for
 * all small shapes and some of the largest.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "core/planners/lmc.h"
#include "core/status/status.h"
#include "core/tables/home.h"

/* S lanes, N slots per leaf. */
struct shape {
	uint32_t nlanes, nslots;
};

#define SMALL 13
static const struct shape large[] = {{16, 24}, {18, 18}, {20, 18}, {36, 12}, {127, 3},
				     {128, 1}, {129, 5}, {253, 7}, {254, 2}, {5, 254}};

/* Shape number i, counted from 0; false: there are no more. */
static bool next_shape(uint32_t i, struct shape *shape)
{
	if (i >= SMALL * SMALL + sizeof(large) / sizeof(large[0]))
		return false;
	if (i < SMALL * SMALL)
		*shape = (struct shape){i / SMALL + 1, i % SMALL + 1};
	else
		*shape = large[i - SMALL * SMALL];
	return true;
}

/* One lane further round the circle. */
static uint32_t further(uint32_t lane, uint32_t nlanes)
{
	return lane + 1 == nlanes ? 0 : lane + 1;
}

/* ---- lanes and path indices ---- */

TEST(places_go_round_the_lanes)
{
	struct shape shape;

	for (uint32_t n = 0; next_shape(n, &shape); n++) {
		uint32_t base = 0;

		for (uint32_t leaf = 0; leaf < 4; leaf++) {
			for (uint32_t slot = 0; slot < shape.nslots; slot++) {
				struct fors_slot at = {.home = (uint8_t)base};
				struct fors_fabric fabric = {.nlanes = shape.nlanes, .nslots = 1, .slot = &at};
				uint32_t lane = base;

				for (uint32_t i = 0; i < 128; i++) {
					assert_int_equal(fors_home(shape.nlanes, base, i), lane);
					assert_int_equal(fors_home_lane(&fabric, 0, 0, i), lane);
					lane = further(lane, shape.nlanes);
				}
				base = further(base, shape.nlanes);
			}
		}
	}
}

TEST(the_index_of_a_lane_is_the_way_to_it)
{
	for (uint32_t nlanes = 1; nlanes <= FORS_MAX_LANES; nlanes += nlanes < 40 ? 1 : 53) {
		for (uint32_t base = 0; base < nlanes; base++) {
			uint32_t lane = base;

			for (uint32_t steps = 0; steps < nlanes; steps++) {
				assert_int_equal(fors_home_index(nlanes, base, lane), steps);
				assert_int_equal(fors_home(nlanes, base, fors_home_index(nlanes, base, lane)), lane);
				lane = further(lane, nlanes);
			}
		}
	}
}

TEST(a_fabric_has_its_homes)
{
	struct bed *bed = bed_new("FT(2;20,18)", 5);
	struct fors_slot slot[3] = {{.home = 0}};
	struct fors_fabric without = {.nslots = 3, .slot = slot};

	assert_int_equal(fors_home_lane(bed->fabric, 3, 7, 15), 2);
	assert_int_equal(fors_home_lane(&without, 0, 2, 1), 0);
	bed_free(bed);
}

/* ---- LMC ---- */

/* How many lanes are home to one of the path indices 0 .. 2^lmc - 1. */
static uint32_t count_reached(uint32_t nlanes, uint32_t base, unsigned lmc)
{
	bool reached[FORS_MAX_LANES] = {false};
	uint32_t count = 0, nindices = 1;

	for (unsigned i = 0; i < lmc; i++)
		nindices += nindices;
	assert_int_equal(fors_home_nindices(lmc), nindices);
	for (uint32_t i = 0; i < nindices; i++) {
		uint32_t lane = fors_home(nlanes, base, i);

		count += !reached[lane];
		reached[lane] = true;
	}
	return count;
}

TEST(the_least_lmc_reaches_all_lanes)
{
	for (uint32_t nlanes = 1; nlanes <= FORS_MAX_LANES; nlanes++) {
		unsigned least = 0;

		while (least <= FORS_MAX_LMC && count_reached(nlanes, nlanes / 2, least) < nlanes)
			least++;
		assert_int_equal(fors_home_lmc(nlanes), least);
		for (unsigned lmc = 0; lmc <= FORS_MAX_LMC; lmc++)
			assert_int_equal(fors_home_has_all(nlanes, lmc), count_reached(nlanes, 0, lmc) == nlanes);
	}
	assert_int_equal(fors_home_lmc(0), 0);
	assert_int_equal(fors_home_lmc(20), 5);
	assert_int_equal(fors_home_lmc(128), 7);
}

/* The status takes it as it is. */
TEST(lmc_needed_only_when_it_helps)
{
	struct bed *bed = bed_new("FT(2;3,2)", 0); /* 3 lanes, 6 servers */
	struct fors_fabric fabric = *bed->fabric;
	struct fors_net net = *bed->net;

	fabric.net = &net;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), 2);
	assert_int_equal(fors_lmc_needed(&fabric, 0, 8), 2);
	assert_int_equal(fors_lmc_needed(&fabric, FORS_UNKNOWN, 8), 2);
	assert_int_equal(fors_lmc_needed(&fabric, 8, 8), FORS_UNKNOWN);
	fabric.lmc = 1;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), 2);
	fabric.lmc = 2;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
	fabric.lmc = 0;
	fabric.nservers = 0;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
	bed_free(bed);
}

TEST(beyond_the_largest_lmc_it_is_that)
{
	struct fors_net net = {.nnodes = 0};
	struct fors_fabric fabric = {.net = &net, .nlanes = 200, .nservers = 6, .lmc = 3};

	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_MAX_LMC);
	fabric.lmc = FORS_MAX_LMC;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
}

TEST(no_lmc_without_lids_for_it)
{
	struct fors_net net = {.nnodes = FORS_LID_MAX + 1 - 4}; /* LIDs 1 to 3 belong to no port at LMC 2 */
	struct fors_fabric fabric = {.net = &net, .nlanes = 3, .nservers = 6};

	net.node = calloc(net.nnodes + 1, sizeof(*net.node));
	assert_non_null(net.node);
	for (uint32_t i = 0; i < net.nnodes; i++)
		net.node[i].type = FORS_SWITCH;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), 2);
	net.node[net.nnodes++].type = FORS_SWITCH;
	assert_int_equal(fors_lmc_needed(&fabric, 9, 8), FORS_UNKNOWN);
	free(net.node);
}

/* ---- classes ---- */

/* Classes of the path index `index` of one leaf's places, whose first place has number `first`. */
static void check_classes(struct shape shape, uint32_t first, uint32_t index)
{
	struct fors_fabric fabric = {.nlanes = shape.nlanes, .ncopies = (shape.nslots - 1) / shape.nlanes + 1};
	uint32_t nclasses = fors_home_nclasses(&fabric), before[FORS_MAX_LANES] = {0};
	bool *is_taken = calloc(nclasses + 1, sizeof(*is_taken));

	assert_non_null(is_taken);
	for (uint32_t slot = 0; slot < shape.nslots; slot++) {
		uint32_t home = fors_home(shape.nlanes, first + slot, index);
		uint32_t class = fors_home_class(shape.nlanes, before[home], home);

		assert_true(class < nclasses && !is_taken[class]);
		is_taken[class] = true;
		assert_int_equal(fors_home_class_lane(shape.nlanes, class), home);
		assert_int_equal(fors_home_class_copy(shape.nlanes, class), before[home]++);
	}
	free(is_taken);
}

TEST(places_of_a_leaf_have_different_classes)
{
	struct shape shape;

	for (uint32_t n = 0; next_shape(n, &shape); n++)
		for (uint32_t leaf = 0; leaf < 3; leaf++)
			for (uint32_t index = 0; index < 128; index += 9)
				check_classes(shape, leaf * shape.nslots, index);
}

/* ---- the pattern's rounds ---- */

/* The shift of lane k counted: how often k steps of R, put together, fill S. */
TEST(shifts_are_spread_evenly)
{
	for (uint32_t nlanes = 1; nlanes <= FORS_MAX_LANES; nlanes += nlanes < 30 ? 1 : 31) {
		for (uint32_t nrounds = 0; nrounds < 70; nrounds++) {
			uint32_t filled = 0, rest = 0;

			for (uint32_t lane = 0; lane < nlanes; lane++) {
				assert_int_equal(fors_home_shift(nlanes, nrounds, lane), filled);
				assert_true(nrounds == 0 || filled < nrounds);
				for (rest += nrounds; rest >= nlanes; rest -= nlanes)
					filled++;
			}
		}
	}
}

TEST(the_idle_lane_is_the_first_whose_shift_came)
{
	for (uint32_t nlanes = 1; nlanes <= FORS_MAX_LANES; nlanes += nlanes < 30 ? 1 : 31) {
		for (uint32_t nrounds = 1; nrounds < 70; nrounds++) {
			for (uint32_t round = 0; round < nrounds; round++) {
				uint32_t lane = 0;

				while (lane < nlanes && fors_home_shift(nlanes, nrounds, lane) < round)
					lane++;
				assert_int_equal(fors_home_idle_lane(nlanes, nrounds, round),
						 lane == nlanes ? 0 : lane);
			}
		}
	}
}

/* What the pattern lives on: a lane's units at home all have rounds of their own, and its shift is the one left over. */
static void check_lane(uint32_t nlanes, uint32_t nleaves, uint32_t copies, uint32_t lane)
{
	uint32_t nrounds = copies * (nleaves - 1) + 1;
	bool *is_busy = calloc(nrounds, sizeof(*is_busy));

	assert_non_null(is_busy);
	for (uint32_t copy = 0; copy < copies; copy++) {
		for (uint32_t delta = 1; delta < nleaves; delta++) {
			uint32_t class = lane + copy * nlanes;
			uint32_t round = fors_home_class_shift(nlanes, nleaves, nrounds, class) + delta;

			assert_false(is_busy[round % nrounds]);
			is_busy[round % nrounds] = true;
		}
	}
	assert_false(is_busy[fors_home_shift(nlanes, nrounds, lane)]);
	free(is_busy);
}

TEST(a_lane_is_busy_but_in_the_round_of_its_shift)
{
	for (uint32_t nlanes = 1; nlanes < 24; nlanes++)
		for (uint32_t nleaves = 1; nleaves < 20; nleaves++)
			for (uint32_t copies = 1; copies <= 3; copies++)
				for (uint32_t lane = 0; lane < nlanes; lane++)
					check_lane(nlanes, nleaves, copies, lane);
}
