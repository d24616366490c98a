/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees that lack cables from the beginning: whatever dies later, entries for servers stay in the leaves while their way
 * lives. Where that alone would make the exchange longer they may move, and only there.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fabric/drained.h"
#include "core/tables/lanes.h"
#include "tests/sweep/incomplete.h"
#include "unit.h"

#define TREES                                                                                                          \
	48 /* with some 8 cuts each, of which 1 in 100 may move something, with one LID per port and no parallel cables */

/* Tables of a tree without what `net` lacks, over places that know of it. */
static struct fors_lfts *tables_of(const struct incomplete *tree, const struct fors_net *net, bool *is_whole)
{
	struct fors_fabric *fabric = incomplete_fabric(net, tree->places);
	struct fors_lfts *lfts = incomplete_tables(fabric);

	*is_whole = !fabric->unreachable_pairs;
	fors_fabric_free(fabric);
	return lfts;
}

/* Entries that move, though their way lives, from the tree as it was built to what is left in `net`; 0 if it is torn. */
static uint32_t moved(const struct incomplete *tree, const struct fors_lfts *healthy, const struct fors_net *net,
		      uint32_t *lost)
{
	struct incomplete_moves moves = {0};
	bool is_whole;
	struct fors_lfts *lfts = tables_of(tree, net, &is_whole);

	if (is_whole)
		moves = incomplete_compare(net, healthy, lfts);
	fors_lfts_free(lfts);
	*lost += moves.lost;
	return moves.moved;
}

/* Each `step`th cable of the tree dies alone: how many of these cuts move something. */
static uint32_t moving_singles(const struct incomplete *tree, uint32_t from, uint32_t step, uint32_t *lost)
{
	struct incomplete_cable *cable;
	uint32_t ncables = incomplete_cables(tree, &cable), all = 0;
	bool is_whole;
	struct fors_lfts *healthy = tables_of(tree, tree->net, &is_whole);

	for (uint32_t i = from; i < ncables; i += step) {
		struct fors_net *net = incomplete_copy(tree->net);

		fors_net_disconnect(net, cable[i].leaf, cable[i].port);
		all += moved(tree, healthy, net, lost) > 0;
		fors_net_free(net);
	}
	fors_lfts_free(healthy);
	free(cable);
	return all;
}

/* 12 leaves under 16 spines, with 16 servers each; four of the leaves have no cables to two of the spines. */
static struct incomplete four_without_a_pair(unsigned lmc)
{
	struct incomplete tree = {.plan = {.nleaves = 12, .nspines = 16, .most = 1}};
	struct fors_random random = {1};

	tree.plan.cables = malloc(12 * 16);
	tree.plan.servers = malloc(12);
	assert_true(tree.plan.cables && tree.plan.servers);
	memset(tree.plan.cables, 1, 12 * 16);
	memset(tree.plan.servers, 16, 12);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		memset(tree.plan.cables + leaf * 16 + 2 * leaf, 0, 2);
	assert_true(incomplete_build(&tree, &random, lmc));
	return tree;
}

TEST(leaves_without_a_pair_of_spines)
{
	for (unsigned lmc = 0; lmc <= 5; lmc += 5) {
		struct incomplete tree = four_without_a_pair(lmc);
		uint32_t lost = 0;

		(void)state;
		assert_int_equal(moving_singles(&tree, 0, lmc ? 9 : 2, &lost), 0);
		assert_true(lost > 0);
		incomplete_clear(&tree);
	}
}

/* The trees of a seed one after the other, each with the next LMC of 0 to 5; false: this one is none. */
static bool draw_tree(struct incomplete *tree, struct fors_random *random, uint32_t number)
{
	random->state = fors_random_of(4711) + fors_random_of(number);
	incomplete_draw(tree, random, 90);
	if (incomplete_build(tree, random, number % 6))
		return true;
	incomplete_clear(tree);
	return false;
}

TEST(single_cables)
{
	uint32_t lost = 0, built = 0, moving = 0, moving_parallel = 0;

	for (uint32_t number = 0; built < TREES; number++) {
		struct fors_random random;
		struct incomplete tree;
		uint32_t here;

		if (!draw_tree(&tree, &random, number))
			continue;
		built++;
		here = moving_singles(&tree, number % 7, 7, &lost);
		if (here && number % 6)
			fail_msg("tree %u: entries move whose way lives", number);
		*(tree.plan.most > 1 ? &moving_parallel : &moving) += here;
		incomplete_clear(&tree);
	}
	assert_true(lost > 1000);
	assert_in_range(moving, 0, TREES * 8 / 100);
	assert_in_range(moving_parallel, 0, TREES * 8 / 30); /* shorter exchanges count for more there (level_search) */
}

/* One cable after the other, and none of them returns. */
static uint32_t moved_by_a_series(const struct incomplete *tree, struct fors_random *random, uint32_t *lost)
{
	struct incomplete_cable *cable;
	uint32_t ncables = incomplete_cables(tree, &cable), all = 0;
	struct fors_net *net = incomplete_copy(tree->net);
	bool is_whole;
	struct fors_lfts *healthy = tables_of(tree, tree->net, &is_whole);

	for (int i = 0; i < 5; i++) {
		const struct incomplete_cable *dead = &cable[fors_random_below(random, ncables)];

		fors_net_disconnect(net, dead->leaf, dead->port);
		all += moved(tree, healthy, net, lost);
	}
	fors_lfts_free(healthy);
	fors_net_free(net);
	free(cable);
	return all;
}

TEST(series_and_spines)
{
	uint32_t lost = 0, built = 0, moving = 0;

	for (uint32_t number = 1000; built < TREES; number++) {
		struct fors_random random;
		struct incomplete tree;

		if (!draw_tree(&tree, &random, number))
			continue;
		built++;
		moving += moved_by_a_series(&tree, &random, &lost) > 0;
		incomplete_clear(&tree);
	}
	assert_int_equal(moving, 0);
	assert_true(lost > 1000);
}

/* Flows of the fullest link, with one LID per port, without these cables of the tree (numbers); and entries that move. */
static uint64_t fullest_without(const struct incomplete *tree, const uint32_t *dead, uint32_t ndead, uint32_t *moves)
{
	struct incomplete_cable *cable;
	struct fors_net *net = incomplete_copy(tree->net);
	struct fors_lfts *healthy, *lfts;
	struct fors_fabric *fabric;
	struct fors_lanes *lanes;
	struct fors_error error;
	uint64_t bound = 0;
	bool is_whole;

	incomplete_cables(tree, &cable);
	for (uint32_t i = 0; i < ndead; i++)
		fors_net_disconnect(net, cable[dead[i]].leaf, cable[dead[i]].port);
	healthy = tables_of(tree, tree->net, &is_whole);
	fabric = incomplete_fabric(net, tree->places);
	lfts = incomplete_tables(fabric);
	assert_int_equal(fors_lanes_read(fabric, lfts, &lanes, &error), FORS_OK);
	assert_int_equal(fors_lanes_bound(fabric, lanes, &bound, &error), FORS_OK);
	*moves = incomplete_compare(net, healthy, lfts).moved;
	fors_lanes_free(lanes);
	fors_lfts_free(lfts);
	fors_fabric_free(fabric);
	fors_lfts_free(healthy);
	fors_net_free(net);
	free(cable);
	return bound;
}

/* Leaves of 4, 13 and 16 servers: if all stayed, 39 flows would go over a link, and an exchange has 33 phases at least. */
TEST(phases_win)
{
	static const uint8_t cables[] = {0, 4, 4, 0, 4, 4, 0, 4, 4, 4, 4, 4}, servers[] = {4, 13, 16};
	static const uint32_t dead[] = {0, 2, 6};
	struct incomplete tree = {.plan = {.nleaves = 3, .nspines = 4, .most = 4}};
	struct fors_random random = {1};
	uint32_t moves;

	tree.plan.cables = malloc(sizeof(cables));
	tree.plan.servers = malloc(sizeof(servers));
	assert_true(tree.plan.cables && tree.plan.servers);
	memcpy(tree.plan.cables, cables, sizeof(cables));
	memcpy(tree.plan.servers, servers, sizeof(servers));
	assert_true(incomplete_build(&tree, &random, 0));
	assert_int_equal(fullest_without(&tree, dead, 3, &moves), 33);
	assert_true(moves > 0);
	incomplete_clear(&tree);
}

/* An excluded cable is as good as dead for entries of leaves, and as much a cable that ever was. */
TEST(drained_cables)
{
	struct incomplete tree = four_without_a_pair(0);
	struct fors_lfts *healthy, *lfts;
	bool is_whole;

	healthy = tables_of(&tree, tree.net, &is_whole);
	for (uint32_t lane = 2; lane < 16; lane += 3) {
		struct fors_fabric *fabric = incomplete_fabric(tree.net, tree.places);
		struct fors_net *net = incomplete_copy(tree.net);
		struct incomplete_moves moves;
		struct fors_error error;

		fors_drained_mark_cable(fors_fattree_of_fabric(fabric), lane, FORS_DRAIN_EXCLUDED);
		assert_int_equal(fors_drained_apply(fors_fattree_of_fabric(fabric), NULL, &error), FORS_OK);
		lfts = incomplete_tables(fabric);
		fors_net_disconnect(net, fabric->leaf[0].node, fors_cable(fabric, 0, lane)->leaf_port);
		moves = incomplete_compare(net, healthy, lfts);
		assert_int_equal(moves.moved, 0);
		assert_true(moves.lost > 0);
		fors_lfts_free(lfts);
		fors_net_free(net);
		fors_fabric_free(fabric);
	}
	fors_lfts_free(healthy);
	incomplete_clear(&tree);
}
