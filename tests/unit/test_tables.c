/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_tables.c - forwarding tables against what design asks of them, walked hop
 * by hop over the net by code of this file: for random failures and populations.
 */
#include "core/net/lfts.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "core/tables/home.h"
#include "core/tables/turns.h"

/* From `node`, which holds a packet for `lid`: the node where it ends, hops counted, FORS_NONE when lost. */
static uint32_t walk(const struct bed *bed, uint32_t node, uint32_t lid, unsigned *hops)
{
	for (*hops = 0; *hops < 8; ++*hops) {
		uint32_t row = fors_lfts_row(bed->lfts, bed->net->node[node].guid);
		unsigned port = row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(bed->lfts, row, lid);

		if (port == 0)
			return node;
		if (port == FORS_NO_PATH || port > bed->net->node[node].nports)
			return FORS_NONE;
		node = fors_net_port(bed->net, node, port)->peer;
		if (node == FORS_NONE || bed->net->node[node].type != FORS_SWITCH)
			return node;
	}
	return FORS_NONE;
}

/* Every LID of every server from every leaf: over one cable to its own leaf's server, else two more. */
static void assert_all_arrive(const struct bed *bed, const char *what)
{
	const struct fors_fabric *f = bed->fabric;
	unsigned hops;

	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t s = 0; f->leaf[a].nlive && s < f->nservers; s++)
			for (uint32_t i = 0; i < 1u << f->lmc; i++) {
				uint32_t end = walk(bed, f->leaf[a].node, f->server[s].lid + i, &hops);

				if (end != f->server[s].node || hops != (f->server[s].leaf == a ? 0u : 2u))
					fail_msg("%s: from %s, LID %u ends at %d after %u hops", what, f->leaf[a].name,
						 f->server[s].lid + i, (int)end, hops);
			}
}

/* Switch LIDs from every leaf and spine that can reach anything. */
static void assert_switches_arrive(const struct bed *bed, const char *what)
{
	const struct fors_net *net = bed->net;
	unsigned hops;

	for (uint32_t from = 0; from < net->nnodes; from++)
		for (uint32_t to = 0; to < net->nnodes; to++) {
			if (net->node[from].type != FORS_SWITCH || net->node[to].type != FORS_SWITCH)
				continue;
			if (walk(bed, from, fors_net_port(net, to, 0)->lid, &hops) != to || hops > 3)
				fail_msg("%s: %s does not reach %s", what, net->node[from].id, net->node[to].id);
		}
}

/* Home-healthy entries are at home, but those that level_search.c may move: checked from the definition. */
static void assert_at_home(const struct bed *bed, const char *what)
{
	const struct fors_fabric *f = bed->fabric;

	if (!f->lmc && f->nlanes > f->nspines && f->affected_spines)
		return;
	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t s = 0; s < f->nservers; s++)
			for (uint32_t i = 0; i < 1u << f->lmc; i++) {
				const struct fors_server *d = &f->server[s];
				uint32_t home = (fors_slot(f, d->leaf, d->slot)->home + i) % f->nlanes;
				uint32_t row = fors_lfts_row(bed->lfts, f->leaf[a].guid);

				if (fors_slot(f, d->leaf, d->slot)->is_varied && !f->lmc)
					continue;
				if (a == d->leaf || !fors_live(f, a, home) || !fors_live(f, d->leaf, home))
					continue;
				if (fors_lfts_port(bed->lfts, row, d->lid + i) != fors_cable(f, a, home)->leaf_port)
					fail_msg("%s: %s, LID %u is not at home", what, f->leaf[a].name, d->lid + i);
			}
}

static void check(const struct bed *bed, const char *what)
{
	assert_all_arrive(bed, what);
	assert_at_home(bed, what);
}

TEST(healthy_fabrics)
{
	static const char *const specs[] = {"FT(2;20,18)",	   "FT(2;1,5)",
					    "FT(2;4,1)",	   "FT(2;3,7;servers=5)",
					    "FT(2;5,4;servers=2)", "FT(2;3,4;servers=6;cables=2)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (unsigned lmc = 0; lmc <= 5; lmc += 5) {
			struct bed *bed = bed_new(specs[i], lmc);

			check(bed, specs[i]);
			assert_switches_arrive(bed, specs[i]);
			bed_free(bed);
		}
}

TEST(random_failures)
{
	static const char *const specs[] = {"FT(2;4,5)", "FT(2;6,4;servers=3)", "FT(2;3,5;servers=4)",
					    "FT(2;3,4;servers=5;cables=2)", "FT(2;8,6;empty=0/0,0/1,3/4,5/7)"};
	struct rng rng = {.state = 11};
	char what[80];

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (unsigned round = 0; round < 60; round++) {
			struct bed *bed = bed_new(specs[i], round % 4);
			uint32_t cables = bed->fabric->nleaves * bed->fabric->nlanes;

			bed_random_failures(bed, &rng, 1 + rng_below(&rng, cables / 2));
			snprintf(what, sizeof(what), "%s, LMC %u, round %u", specs[i], round % 4, round);
			check(bed, what);
			bed_free(bed);
		}
}

/* Who takes part changes no entry. */
TEST(tables_ignore_participants)
{
	struct bed *all = bed_new("FT(2;5,6)", 3), *some = bed_new("FT(2;5,6)", 3);
	struct rng rng = {.state = 5};

	bed_down(all, "Leaf00[6] Leaf03[8] Spine04");
	bed_down(some, "Leaf00[6] Leaf03[8] Spine04");
	bed_random_participants(some, &rng, 11);
	assert_int_equal(all->lfts->nlids, some->lfts->nlids);
	assert_memory_equal(all->lfts->port, some->lfts->port, (size_t)all->lfts->nswitches * all->lfts->nlids);
	bed_free(all);
	bed_free(some);
}

/* One dead cable moves just the entries whose home lane needed it, and some of the spine's own. */
TEST(few_entries_move)
{
	struct bed *bed = bed_new("FT(2;20,18)", 5), *cut = bed_new("FT(2;20,18)", 5);
	size_t moved = 0, entries = (size_t)bed->lfts->nswitches * bed->lfts->nlids;

	bed_down(cut, "Leaf00[21]");
	for (size_t i = 0; i < entries; i++)
		moved += bed->lfts->port[i] != cut->lfts->port[i];
	assert_in_range(moved, 1000, 2499);
	bed_free(bed);
	bed_free(cut);
}

TEST(spines_that_lost_a_leaf)
{
	struct bed *bed = bed_new("FT(2;4,3)", 2);
	const struct fors_fabric *f = bed->fabric;
	uint32_t row = fors_lfts_row(bed->lfts, f->spine[1].guid), end;
	unsigned hops;

	bed_down(bed, "Spine01[1]");
	f = bed->fabric;
	for (uint32_t s = 0; s < f->leaf[0].nservers; s++)
		for (uint32_t i = 0; i < 4; i++) {
			uint32_t lid = f->server[s].lid + i;

			if (fors_home_lane(f, 0, f->server[s].slot, i) == 1) {
				assert_int_equal(fors_lfts_port(bed->lfts, row, lid), 1); /* the dead port */
				continue;
			}
			end = walk(bed, f->spine[1].node, lid, &hops);
			assert_int_equal(end, f->server[s].node);
			assert_int_equal(hops, 3);
		}
	bed_free(bed);
}

/* The entry of Spine01, which lost Leaf00, for each LID there: the port to the leaf where it turns, or its dead port. */
static void check_turn(const char *down, uint32_t leaf, uint32_t lane_without)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	const struct fors_fabric *f;
	uint32_t row;

	bed_down(bed, down);
	f = bed->fabric;
	row = fors_lfts_row(bed->lfts, f->spine[1].guid);
	for (uint32_t s = 0; s < f->leaf[0].nservers; s++)
		for (uint32_t i = 0; i < 4; i++) {
			uint32_t home = fors_home_lane(f, 0, f->server[s].slot, i);

			assert_int_equal(fors_lfts_port(bed->lfts, row, f->server[s].lid + i),
					 home == 1 || home == lane_without ? 1 : leaf + 1);
		}
	bed_free(bed);
}

/* Detours turn at the first leaf that has nearly all spines: one dead cable of it is no reason to move them. */
TEST(detours_turn_at_one_leaf)
{
	check_turn("Spine01[1] Leaf01[7] Leaf02[8]", 1, 2); /* of lane 1, 2, and 3 */
	check_turn("Spine01[1] Leaf01[7] Leaf01[8]", 2, FORS_NONE);
}

/* Leaves that no cables join are of different islands; one without any is of none. */
TEST(islands_are_told_apart)
{
	struct bed *bed = bed_new("FT(2;4,5)", 0);
	struct fors_turns *turns;

	bed_down(bed, "Leaf00[7] Leaf00[8] Leaf01[7] Leaf01[8] Leaf02[5] Leaf02[6] Leaf03[5] Leaf03[6]");
	bed_down(bed, "Leaf04[5] Leaf04[6] Leaf04[7] Leaf04[8]");
	assert_int_equal(fors_turns_build(bed->fabric, &turns, NULL), FORS_OK);
	assert_int_equal(turns->island[0], turns->island[1]);
	assert_int_equal(turns->island[2], turns->island[3]);
	assert_int_not_equal(turns->island[0], turns->island[2]);
	assert_int_equal(turns->island[4], FORS_NONE);
	fors_turns_free(turns);
	bed_free(bed);
}

/* Leaf01 reaches the spine, but from there no way leads to the subnet manager: the spine has to ask Leaf02. */
TEST(the_sm_is_not_sought_where_no_way_leads)
{
	struct bed *bed = bed_new("FT(2;3,4)", 2);
	unsigned hops;

	fors_net_port(bed->intact, bed->fabric->server[0].node, 1)->is_sm = true;
	bed_restore(bed);
	bed_down(bed, "Leaf00[4] Leaf01[5] Leaf01[6]");
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(walk(bed, bed->fabric->spine[0].node, bed->fabric->server[0].lid + i, &hops),
				 bed->fabric->server[0].node);
	bed_free(bed);
}

/* A CA hangs on a spine that lost Leaf03: it has to reach all LIDs there, also those at home on this spine. */
TEST(spines_with_cas_reach_all)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	uint32_t node = bed->fabric->server[15].node;
	unsigned hops;

	fors_net_disconnect(bed->net, bed->fabric->leaf[3].node, 4);
	fors_net_disconnect(bed->net, bed->fabric->spine[1].node, 4);
	assert_int_equal(fors_net_connect(bed->net, bed->fabric->spine[1].node, 4, node, 1, NULL), FORS_OK);
	bed_rebuild(bed);
	for (uint32_t s = 12; s < 15; s++)
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(walk(bed, bed->fabric->spine[1].node, bed->fabric->server[s].lid + i, &hops),
					 bed->fabric->server[s].node);
	for (uint32_t a = 0; a < 4; a++) /* and is reached on all of its own */
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(
				walk(bed, bed->fabric->leaf[a].node, fors_net_port(bed->net, node, 1)->lid + i, &hops),
				node);
	bed_free(bed);
}

/* Whether an index leads over these lanes, from the tables. */
static bool leads_over(const struct bed *bed, uint32_t a, uint32_t d, uint32_t i, uint32_t up, uint32_t down)
{
	return fors_lane_to(bed->fabric, bed->lanes, a, d, i) == up &&
	       fors_lane_down(bed->fabric, bed->lanes, up, d, i) == down;
}

/* For each pair of lanes an index that leads over them, if there is one. */
TEST(indices_of_lanes)
{
	struct rng rng = {.state = 3};

	for (unsigned round = 0; round < 20; round++) {
		struct bed *bed = bed_new("FT(2;2,4;servers=4;cables=3)", 3);
		uint32_t n = bed->fabric->nlanes;

		bed_random_failures(bed, &rng, 1 + rng_below(&rng, 10));
		for (uint32_t at = 0; at < 4 * bed->fabric->nservers * n * n; at++) {
			uint32_t up = at % n, down = at / n % n, a = at / n / n % 4, d = at / n / n / 4, i = 0;
			uint8_t index = fors_path_index(bed->fabric, bed->lanes, a, d, up, down);

			if (bed->fabric->server[d].leaf == a)
				continue;
			while (i < 8 && !leads_over(bed, a, d, i, up, down))
				i++;
			assert_int_equal(index == FORS_NO_INDEX, i == 8);
			assert_true(i == 8 || leads_over(bed, a, d, index, up, down));
		}
		bed_free(bed);
	}
}

/* The subnet manager is reached from every switch, its home spine's dead cable or not. */
TEST(the_sm_is_always_reached)
{
	static const char *const cuts[] = {"Spine00[1] Leaf00[7]", "Spine00[1] Spine00[2] Leaf00[7]"};
	struct bed *bed = bed_new("FT(2;4,3)", 2);
	unsigned hops;

	fors_net_port(bed->intact, bed->fabric->server[0].node, 1)->is_sm = true;
	for (size_t c = 0; c < 2; c++) {
		bed_restore(bed);
		bed_down(bed, cuts[c]);
		for (uint32_t k = 0; k < 4; k++)
			for (uint32_t i = 0; i < 4; i++)
				assert_int_equal(
					walk(bed, bed->fabric->spine[k].node, bed->fabric->server[0].lid + i, &hops),
					bed->fabric->server[0].node);
	}
	bed_free(bed);
}

/* Spines that have to turn at another leaf than the first, because that lost the cable to one of them. */
TEST(switches_reach_each_other_after_failures)
{
	static const char *const cuts[] = {"Leaf00[4]", "Leaf00[4] Leaf01[5]", "Leaf00[4] Leaf00[5] Leaf01[4]",
					   "Leaf03[6] Leaf02[6] Leaf00[6]"};

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		struct bed *bed = bed_new("FT(2;3,4)", 1);

		bed_down(bed, cuts[i]);
		assert_switches_arrive(bed, cuts[i]);
		bed_free(bed);
	}
}
