/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Three-level trees whose planes share their tops: director switches of line cards (middle switches) and fabric boards (tops). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pods_world.h"

#include "core/base/names.h"
#include "core/base/random.h"
#include "core/fabric/drained.h"
#include "core/fabric/lids.h"
#include "core/tables/check.h"

/* In a director switch a mid whose cable to a leaf is dead gets there over a board and another mid: its guest does, too. */
TEST(test_guest_of_a_director)
{
	static const char *const dead[] = {"Mid2-00[1]", "Leaf01[3]", "Mid2-02[2]", "Mid2-01"};
	struct fors_error error = {0};

	for (unsigned i = 0; i < 4; i++) {
		struct fors_net *net = net_of("XGFT(3;2,2,2;1,2,2)", 0);
		struct world w;

		make_director(net, 4, 2, 2);
		add_gateway(net, "Mid2-00", 4);
		w = world_of(net);
		take_down(&w, dead[i]);
		route(&w);
		assert_int_equal(w.pods->ntops, 2);
		must(fors_tables_check_levels(w.now, w.route->level, w.route->lfts, NULL, &error), &error);
		world_free(&w);
	}
}

/* Two leaves of a pod that have no line card in common any more turn at a board. */
TEST(test_leaves_of_a_director)
{
	struct fors_net *net = net_of("XGFT(3;2,2,2;1,2,2)", 0);
	struct world w;

	make_director(net, 4, 2, 2);
	w = world_of(net);
	take_down(&w, "Leaf00[3]");
	take_down(&w, "Leaf01[4]");
	route(&w);
	assert_in_range(plan_over(&w), 8, 16);
	world_free(&w);
}

/* What came down over a line card that is dead is spread over the others, not all put on the next. */
TEST(test_card_of_a_director)
{
	struct fors_net *net = net_of("XGFT(3;4,8,3;1,4,5)", 0);
	struct world w;

	make_director(net, 12, 8, 5);
	w = world_of(net);
	take_down(&w, "Mid2-04");
	route(&w);
	assert_in_range(plan_over(&w) * 100, 100, w.route->bound * 104);
	world_free(&w);
}

/* Servers that are there but for a third of them, by chance. */
static void empty_places(struct fors_net *net)
{
	struct fors_random random = {3};

	for (uint32_t node = 0; node < net->nnodes; node++)
		if (net->node[node].type == FORS_CA && !fors_random_below(&random, 3))
			fors_net_disconnect(net, node, 1);
}

/* The boards' entries for servers, as they are in the tables now; the caller's. */
static uint8_t *board_entries(const struct world *w)
{
	uint32_t nslots = w->pods->nslots;
	uint8_t *entry = calloc((size_t)w->pods->ntops * nslots, 1);

	assert_non_null(entry);
	for (uint32_t t = 0; t < w->pods->ntops; t++)
		for (uint32_t s = 0; s < nslots; s++)
			entry[t * nslots + s] =
				fors_lfts_port(w->route->lfts,
					       fors_lfts_row(w->route->lfts, w->known->node[w->pods->top[t].node].guid),
					       w->pods->slot[s].lid);
	return entry;
}

/*
 * Where pods are not filled evenly, boards choose other line cards than those of home planes; all of them stay where
 * they live when a cable fails, and are back with it.
 */
static void try_boards(const char *spec, uint32_t nmids)
{
	struct fors_net *net = net_of(spec, 0);
	uint8_t *before, *after;
	uint32_t moved = 0, size;
	struct world w;

	make_director(net, nmids, 4, 3);
	empty_places(net);
	w = world_of(net);
	route(&w);
	assert_in_range(plan_over(&w) * 100, 100, w.route->bound * 103);
	before = board_entries(&w);
	size = w.pods->ntops * w.pods->nslots;
	take_down(&w, "Mid2-05[5]"); /* to the first board */
	route(&w);
	assert_in_range(plan_over(&w) * 100, 100, w.route->bound * 110);
	after = board_entries(&w);
	for (uint32_t i = 0; i < size; i++)
		moved += before[i] != after[i];
	assert_in_range(moved, 1, size / 10);
	free(after);
	mend(&w);
	route(&w);
	after = board_entries(&w);
	assert_memory_equal(before, after, size);
	free(before);
	free(after);
	world_free(&w);
}

TEST(test_boards_choose)
{
	try_boards("XGFT(3;8,4,6;1,4,3)", 24);
	try_boards("XGFT(3;8,4,6;1,2,3)", 12);
}

/* Relief sends nothing from a board to a card that turns it up again, where two leaves of a pod have none in common. */
TEST(test_boards_beside_turns)
{
	for (uint32_t seed = 0; seed < 30; seed++) {
		struct fors_net *net = net_of("XGFT(3;4,3,3;1,2,3)", 0);
		struct fors_random random = {seed};
		struct world w;

		make_director(net, 6, 3, 3);
		for (uint32_t node = 0; node < net->nnodes; node++)
			if (net->node[node].type == FORS_CA && !fors_random_below(&random, 3))
				fors_net_disconnect(net, node, 1);
		w = world_of(net);
		take_down(&w, "Leaf00[5]");
		take_down(&w, "Leaf01[6]");
		route(&w);
		judge(&w);
		world_free(&w);
	}
}

/* What two leaves of a pod can only meet over is called back, if it is excluded: a board, there. */
TEST(test_needed_board_cable)
{
	static const char *const dead[] = {"Leaf07[3]", "Leaf08[4]", "Mid2-05[4]"};
	struct fors_net *net = net_of("XGFT(3;2,3,3;1,2,2)", 0);
	struct fors_warnings warnings = {0};
	struct fors_names names = {NULL, 0};
	struct world w;

	make_director(net, 6, 3, 2);
	w = world_of(net);
	for (unsigned i = 0; i < 3; i++)
		take_down(&w, dead[i]);
	look(&w);
	assert_int_equal(fors_names_add(&names, "Mid2-04[5], Mid2-00[5]", NULL), FORS_OK);
	fors_drained_links(fors_fattree_of_pods(w.pods), &names, "exclude_links", &warnings);
	assert_int_equal(fors_drained_apply(fors_fattree_of_pods(w.pods), &warnings, NULL), FORS_OK);
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.text[0], "Mid2-04[5] - Board1[5] stays in use"));
	make_tables(&w, FORS_PODS_ROUTE_EFFORT);
	judge(&w);
	fors_names_clear(&names);
	world_free(&w);
}

/* Phases of a plan over tables with little effort, or with all. */
static uint32_t phases_with(struct world *w, uint32_t effort)
{
	route_with(w, effort);
	return plan_over(w);
}

/*
 * A dead cable from a line card to a board costs nothing where pods and boards are many enough: pods send what lost its
 * board over others, each over another one, and these send it down to its home. All is as before with the cable.
 */
static void try_board_cable(const char *spec, uint32_t mids, unsigned leaves, uint32_t boards, uint32_t most)
{
	struct world w = director_new(spec, mids, leaves, boards);
	uint8_t *before, *after;

	route(&w);
	before = board_entries(&w);
	for (uint32_t port = leaves + 1; port <= leaves + boards; port++) {
		char cable[32];

		snprintf(cable, sizeof(cable), "Mid2-%02u[%u]", (port - leaves) % mids, port);
		take_down(&w, cable);
		assert_in_range(phases_with(&w, FORS_PODS_ROUTE_EFFORT), most, most);
		assert_in_range(phases_with(&w, fors_pods_route_little_effort(w.pods)), most, most);
		mend(&w);
		route(&w);
		after = board_entries(&w);
		assert_memory_equal(before, after, (size_t)w.pods->ntops * w.pods->nslots);
		free(after);
	}
	free(before);
	world_free(&w);
}

TEST(test_board_cable)
{
	try_board_cable("XGFT(3;5,5,4;1,5,5)", 20, 5, 5, 100);
	try_board_cable("XGFT(3;5,4,5;1,5,4)", 25, 4, 4, 100);
	try_board_cable("XGFT(3;2,4,6;1,2,4)", 12, 4, 4, 48);
}

/* What comes to servers that lost their line card is spread over boards, and by them over the other cards. */
TEST(test_leaf_cable_of_a_director)
{
	struct world w = director_new("XGFT(3;5,3,8;1,5,3)", 40, 3, 3);

	take_down(&w, "Leaf12[9]");
	assert_in_range(phases_with(&w, FORS_PODS_ROUTE_EFFORT), 144, 145);
	assert_in_range(phases_with(&w, fors_pods_route_little_effort(w.pods)), 144, 145);
	world_free(&w);
}

/* Who is kept waiting gets tables that allow as short a plan, if not as many rounds: every middle switch, at 64 servers. */
TEST(test_card_in_haste)
{
	struct world w = director_new("XGFT(3;4,4,4;1,4,4)", 16, 4, 4);

	for (uint32_t i = 0; i < 16; i++) {
		char mid[16];

		snprintf(mid, sizeof(mid), "Mid2-%02u", i);
		take_down(&w, mid);
		look(&w);
		assert_in_range(phases_with(&w, fors_pods_route_little_effort(w.pods)), 80, 80);
		mend(&w);
	}
	world_free(&w);
}

/* The same where the search finds no rounds, and entries move until single flows do: at 288 servers. */
TEST(test_no_rounds_in_haste)
{
	static const char *const dead[] = {"Mid2-08", "Board0", "Board5"};
	struct world w = director_new("XGFT(3;6,6,8;1,6,6)", 48, 6, 6);

	for (unsigned i = 0; i < 3; i++) {
		take_down(&w, dead[i]);
		look(&w);
		make_tables(&w, fors_pods_route_little_effort(w.pods));
		assert_in_range(plan_over(&w), i ? 303 : 339, i ? 320 : 342);
		assert_true(!i || !w.route->round);
		mend(&w);
	}
	world_free(&w);
}

/* Entries whose flows come back to the fullest link, further on, do not keep the others from moving: dead cables at 288 servers, and at 64. */
TEST(test_stuck_in_haste)
{
	static const char *const large[] = {"Mid2-31[12]", "Mid2-24[10]", "Leaf37[9]",	 "Leaf38[10]", "Mid2-03[9]",
					    "Leaf00[12]",  "Leaf09[11]",  "Leaf14[9]",	 "Mid2-29[8]", "Leaf18[11]",
					    "Mid2-14[7]",  "Mid2-35[7]",  "Mid2-28[12]", "Leaf01[11]"};
	static const char *const small[] = {"Leaf00[7]", "Leaf08[8]", "Leaf05[8]",
					    "Leaf12[7]", "Leaf02[6]", "Leaf09[5]"};
	struct world w = director_new("XGFT(3;6,6,8;1,6,6)", 48, 6, 6);

	for (unsigned i = 0; i < sizeof(large) / sizeof(*large); i++)
		take_down(&w, large[i]);
	look(&w);
	assert_in_range(phases_with(&w, fors_pods_route_little_effort(w.pods)), 339, 342);
	world_free(&w);
	w = director_new("XGFT(3;4,4,4;1,4,4)", 16, 4, 4);
	for (unsigned i = 0; i < sizeof(small) / sizeof(*small); i++)
		take_down(&w, small[i]);
	look(&w);
	assert_in_range(phases_with(&w, fors_pods_route_little_effort(w.pods)), 80, 80);
	world_free(&w);
}
