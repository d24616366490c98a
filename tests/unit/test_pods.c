/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Three-level trees: understood or refused, tables that go up and down once, rounds and plans at the bound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pods_world.h"

#include "core/base/random.h"
#include "core/fabric/places.h"
#include "core/planners/outcome.h"
#include "core/schedule/schedule_file.h"
#include "core/tables/check.h"

/* ---- understood ---- */

static void assert_shape(const char *text, uint32_t pods, uint32_t planes, uint32_t leaves, uint32_t mids,
			 uint32_t tops)
{
	struct fors_net *net = net_of(text, 0);
	struct fors_error error = {0};
	struct fors_pods *made;

	must(fors_pods_build(net, net, NULL, 0, &made, &error), &error);
	assert_int_equal(made->npods, pods);
	assert_int_equal(made->nplanes, planes);
	assert_int_equal(made->nleaves, leaves);
	assert_int_equal(made->nmids, mids);
	assert_int_equal(made->ntops, tops);
	fors_pods_free(made);
	fors_net_free(net);
}

TEST(test_trees_are_understood)
{
	assert_shape("XGFT(3;4,4,4;1,4,4)", 4, 4, 16, 16, 16);
	assert_shape("XGFT(3;2,3,5;1,2,4)", 5, 2, 15, 10, 8);
	assert_shape("PGFT(3;4,4,3;1,2,2;1,2,3)", 3, 2, 12, 6, 4);
}

static void assert_refused(struct fors_net *net, const char *why)
{
	struct fors_error error = {0};
	struct fors_pods *made;

	assert_int_equal(fors_pods_build(net, net, NULL, 0, &made, &error), FORS_ENOTREE);
	if (!strstr(error.text, why))
		fail_msg("'%s' does not say '%s'", error.text, why);
	fors_net_free(net);
}

/* Exchange the upper ends of two cables. */
static void cross(struct fors_net *net, const char *one, const char *other)
{
	struct fors_error error = {0};
	uint32_t a, b, pa, pb;
	unsigned port_a, port_b;
	uint8_t far_a, far_b;

	must(fors_net_find(net, one, &a, &port_a, &error), &error);
	must(fors_net_find(net, other, &b, &port_b, &error), &error);
	pa = fors_net_port(net, a, port_a)->peer;
	pb = fors_net_port(net, b, port_b)->peer;
	far_a = fors_net_port(net, a, port_a)->peer_port;
	far_b = fors_net_port(net, b, port_b)->peer_port;
	fors_net_disconnect(net, a, port_a);
	fors_net_disconnect(net, b, port_b);
	must(fors_net_connect(net, a, port_a, pb, far_b, &error), &error);
	must(fors_net_connect(net, b, port_b, pa, far_a, &error), &error);
}

TEST(test_others_are_refused)
{
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);

	cross(net, "Mid2-00[5]", "Mid2-01[5]");
	assert_refused(net, "planes do not line up: Spine");
	assert_refused(net_of("XGFT(4;2,2,2,2;1,2,2,2)", 0), "a fourth level");
	assert_refused(net_of("XGFT(2;4,4;1,4)", 0), "no switch joins several pods");
}

/* The lower end of one cable goes where that of another one, which is pulled, came from; what is at either is unplugged. */
static void plug(struct fors_net *net, const char *low, const char *other)
{
	struct fors_error error = {0};
	uint32_t a, b, high;
	unsigned port_a, port_b;
	uint8_t far;

	must(fors_net_find(net, low, &a, &port_a, &error), &error);
	must(fors_net_find(net, other, &b, &port_b, &error), &error);
	high = fors_net_port(net, b, port_b)->peer;
	far = fors_net_port(net, b, port_b)->peer_port;
	fors_net_disconnect(net, a, port_a);
	fors_net_disconnect(net, b, port_b);
	must(fors_net_connect(net, a, port_a, high, far, &error), &error);
}

/* A cable into another pod makes no pod of two: it is named, whatever else is crossed, surplus or missing. */
TEST(test_crossed_cables_are_named)
{
	static const char *const trees[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;4,4,2;1,4,4)", "PGFT(3;4,4,3;1,4,4;1,2,1)"};
	struct fors_net *net;

	for (unsigned i = 0; i < 3; i++) {
		net = net_of(trees[i], 0);
		cross(net, "Leaf00[5]", "Leaf04[5]");
		assert_refused(net, "a cable joins two pods, Leaf00[5] - Mid2-04[1]: it is crossed, or surplus");
		net = net_of(trees[i], 0);
		cross(net, "Leaf01[6]", "Leaf07[8]");
		assert_refused(net, "a cable joins two pods, Leaf01[6] - Mid2-0");
		net = net_of(trees[i], 0);
		plug(net, "Leaf02[5]", "Leaf05[6]");
		assert_refused(net, "a cable joins two pods, Leaf02[5] - Mid2-0");
	}
	net = net_of("XGFT(3;2,3,3;1,2,2)", 0); /* a leaf that is kin of none */
	cross(net, "Leaf00[3]", "Leaf03[3]");
	assert_refused(net, "a cable joins two pods, Leaf00[");
	net = net_of("XGFT(3;4,4,4;1,4,4)", 0); /* cables that were never seen */
	fors_net_down(net, net, "Leaf01[5]", NULL);
	fors_net_down(net, net, "Leaf05[8]", NULL);
	cross(net, "Leaf00[5]", "Leaf04[5]");
	assert_refused(net, "a cable joins two pods, Leaf00[5] - Mid2-04[1]");
}

/* With a cable of its pod for each of its uplinks, and one server less than others, it is no top with guests either. */
TEST(test_a_crossed_leaf_is_no_top)
{
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);

	plug(net, "Leaf00[2]", "Leaf05[6]");
	assert_refused(net, "a cable joins two pods, Leaf00[2] - Mid2-05[2]");
}

static void assert_accepted(struct fors_net *net, uint32_t npods, uint32_t nplanes)
{
	struct fors_error error = {0};
	struct fors_pods *made;

	must(fors_pods_build(net, net, NULL, 0, &made, &error), &error);
	assert_int_equal(made->npods, npods);
	assert_int_equal(made->nplanes, nplanes);
	fors_pods_free(made);
	fors_net_free(net);
}

/* What was never seen, and what is plugged otherwise within a pod, is no cable into another one. */
TEST(test_missing_cables_cross_nothing)
{
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);
	struct fors_error error = {0};

	cross(net, "Leaf00[5]", "Leaf00[6]");
	cross(net, "Leaf05[5]", "Leaf06[7]");
	assert_accepted(net, 4, 4);
	net = net_of("XGFT(3;2,2,3;1,2,2)", 0);
	must(fors_net_down(net, net, "Leaf00[3]", &error), &error);
	must(fors_net_down(net, net, "Leaf03[4]", &error), &error);
	assert_accepted(net, 3, 2);
	net = net_of("XGFT(3;4,4,4;1,4,4)", 0); /* leaves that have half of their cables, and no other leaf's */
	for (unsigned i = 0; i < 4; i++) {
		char cable[16];

		snprintf(cable, sizeof(cable), "Leaf%02u[%u]", i / 2, 5 + i % 2);
		must(fors_net_down(net, net, cable, &error), &error);
	}
	assert_accepted(net, 4, 4);
}

/* A surplus cable from the first pod to a top of plane 1: at ports of a leaf and a mid of the last pod, never seen. */
static void add_surplus(struct fors_net *net, const char *last_mid)
{
	struct fors_error error = {0};
	uint32_t low, high;
	unsigned port;

	must(fors_net_find(net, "Mid2-00", &low, &port, &error), &error);
	must(fors_net_find(net, last_mid, &high, &port, &error), &error);
	high = fors_net_port(net, high, net->node[high].nports)->peer;
	must(fors_net_down(net, net, "Leaf00", &error), &error);
	must(fors_net_down(net, net, last_mid, &error), &error);
	must(fors_net_connect(net, low, 1, high, net->node[high].nports, &error), &error);
}

/* A cable to a top of another plane makes no director of two planes: it is named, whatever else is missing. */
TEST(test_surplus_cables_are_named)
{
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);

	add_surplus(net, "Mid2-13");
	assert_refused(net, "a cable joins two planes, Mid2-00[1] - Spine13[4]: it is crossed, or surplus");
	net = net_of("XGFT(3;2,3,3;1,3,2)", 0);
	add_surplus(net, "Mid2-07");
	assert_refused(net, "a cable joins two planes, Mid2-00[1] - Spine04[3]: it is crossed, or surplus");
	net = net_of("PGFT(3;4,4,3;1,4,4;1,2,2)", 0); /* parallel cables */
	add_surplus(net, "Mid2-09");
	assert_refused(net, "a cable joins two planes, Mid2-00[1] - Spine13[6]: it is crossed, or surplus");
	net = net_of("XGFT(3;4,4,4;1,4,4)", 0); /* in place of a cable to a leaf, and of one that the top should have */
	plug(net, "Mid2-00[1]", "Mid2-05[5]");
	assert_refused(net, "a cable joins two planes, Mid2-00[1] - Spine01[2]: it is crossed, or surplus");
	net = net_of("XGFT(3;4,4,4;1,4,4)", 0); /* others were never seen */
	must(fors_net_down(net, net, "Mid2-04[6]", NULL), NULL);
	must(fors_net_down(net, net, "Mid2-08[5]", NULL), NULL);
	add_surplus(net, "Mid2-15");
	assert_refused(net, "a cable joins two planes, Mid2-00[1] - Spine15[4]: it is crossed, or surplus");
}

/* Planes that share their tops, though a third of the cables was never seen: none of the others is called surplus. */
TEST(test_directors_have_no_surplus)
{
	struct fors_random random = {7};
	unsigned accepted = 0;

	for (unsigned i = 0; i < 60; i++) {
		struct fors_net *net = net_of(i % 2 ? "XGFT(3;4,4,4;1,4,4)" : "XGFT(3;4,4,2;1,4,4)", 0);
		uint32_t boards = 1 + i % 4, mids = i % 2 ? 16 : 8;
		struct fors_error error = {0};
		struct fors_pods *made;

		make_director(net, mids, 4, boards);
		for (uint32_t m = 0; m < mids; m++)
			for (uint32_t k = 0; k < boards; k++) {
				char cable[16];

				snprintf(cable, sizeof(cable), "Mid2-%02u[%u]", m, 5 + k);
				if (k && fors_random_below(&random, 3) == 0)
					must(fors_net_down(net, net, cable, &error), &error);
			}
		if (!fors_pods_build(net, net, NULL, 0, &made, &error)) {
			assert_int_equal(made->nplanes, 4);
			fors_pods_free(made);
			accepted++;
		} else { /* by chance there is no pod that has both */
			assert_non_null(strstr(error.text, "planes do not line up"));
		}
		fors_net_free(net);
	}
	assert_true(accepted >= 40);
}

/* Planes are counted as people do: those that share tops are one. */
TEST(test_planes_that_share_tops_are_one)
{
	static const struct {
		uint32_t boards, apart;
	} cases[] = {{0, 4}, {2, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);
		struct fors_error error = {0};
		struct fors_pods *made;

		if (cases[i].boards)
			make_director(net, 16, 4, cases[i].boards);
		must(fors_pods_build(net, net, NULL, 0, &made, &error), &error);
		assert_int_equal(made->nplanes, 4);
		assert_int_equal(made->napart, cases[i].apart);
		fors_pods_free(made);
		fors_net_free(net);
	}
}

/* A gateway on a top, and one on a mid, make neither of them a leaf. */
TEST(test_guests_do_not_confuse)
{
	static const char *const at[] = {"Spine03", "Mid2-05"};
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);
	struct fors_error error = {0};
	struct fors_pods *pods;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t node, gateway;
		unsigned port;

		must(fors_net_find(net, at[i], &node, &port, &error), &error);
		must(fors_net_add_node(net, FORS_CA, 1, 0xABC0 + i, "gw", "gw", &gateway, &error), &error);
		for (port = 1; fors_net_port(net, node, port)->peer != FORS_NONE; port++)
			;
		port--;
		fors_net_disconnect(net, node, port);
		must(fors_net_connect(net, node, port, gateway, 1, &error), &error);
	}
	must(fors_net_index(net, &error), &error);
	must(fors_pods_build(net, net, NULL, 0, &pods, &error), &error);
	assert_int_equal(pods->npods, 4);
	assert_int_equal(pods->ntops, 16);
	fors_pods_free(pods);
	fors_net_free(net);
}

/* A switch that is replaced takes over the place of the one before, and what is dead keeps its own. */
TEST(test_learning)
{
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);
	struct fors_places *places = fors_places_new();
	struct fors_error error = {0};
	uint32_t node, place;
	unsigned port;

	must(fors_places_learn_tree(places, net, NULL, 0, NULL, &error), &error);
	must(fors_net_find(net, "Spine05", &node, &port, &error), &error);
	place = fors_net_find_guid(fors_places_known(places), net->node[node].guid);
	net->node[node].guid = 0xFFFF05;
	must(fors_net_index(net, &error), &error);
	must(fors_places_learn_tree(places, net, NULL, 0, NULL, &error), &error);
	assert_int_equal(fors_places_known(places)->nnodes, net->nnodes);
	assert_int_equal(fors_net_find_guid(fors_places_known(places), 0xFFFF05), place);
	fors_net_disconnect(net, node, 1);
	must(fors_places_learn_tree(places, net, NULL, 0, NULL, &error), &error);
	assert_int_not_equal(fors_net_port(fors_places_known(places), place, 1)->peer, FORS_NONE);
	fors_places_free(places);
	fors_net_free(net);
}

/* ---- tables ---- */

/* Route, and plan over the tables; the number of phases. */
static uint32_t plan(struct world *w)
{
	route(w);
	return plan_over(w);
}

TEST(test_healthy)
{
	static const char *const specs[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;2,2,5;1,2,2)", "XGFT(3;3,3,3;1,4,4)",
					    "XGFT(3;6,6,8;1,6,6)", "PGFT(3;4,2,3;1,2,4;1,2,1)"};
	struct world w;

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		world_new(&w, specs[i]);
		route(&w);
		assert_int_equal(w.route->nleft, 0);
		assert_int_equal(plan(&w), w.route->nservers);
		world_free(&w);
	}
}

/* One dead cable or switch of each kind: T at the bound, and the tables of before when it returns. */
TEST(test_single_failures)
{
	static const struct {
		const char *what;
		uint32_t phases;
	} cases[] = {{"Leaf05[6]", 80}, {"Mid2-06[7]", 64}, {"Mid2-09", 80}, {"Spine10", 64}, {"Node03-02[1]", 64}};
	struct fors_lfts *before;
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	route(&w);
	before = w.route->lfts;
	w.route->lfts = NULL;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		take_down(&w, cases[i].what);
		assert_in_range(plan(&w), 63, cases[i].phases);
		mend(&w);
	}
	route(&w);
	assert_memory_equal(w.route->lfts->port, before->port, (size_t)before->nswitches * before->nlids);
	fors_lfts_free(before);
	world_free(&w);
}

/* With tops and their cables dead no unit leaves its round: the formula's repair, without a search. */
TEST(test_tops)
{
	struct world w;

	world_new(&w, "XGFT(3;6,6,8;1,6,6)");
	take_down(&w, "Spine07");
	route(&w);
	assert_int_equal(w.route->nleft, 0);
	assert_int_equal(w.route->nrounds * w.route->length, 288);
	take_down(&w, "Mid2-03[9]");
	assert_int_equal(plan(&w), 288);
	world_free(&w);
}

/* Random failures: always tables that check, or a reason; path indices all arrive. */
TEST(test_random_failures)
{
	struct fors_error error = {0};
	struct fors_random random = {15};
	struct world w;

	for (unsigned round = 0; round < 40; round++) {
		world_new(&w, round % 2 ? "XGFT(3;3,3,4;1,3,3)" : "PGFT(3;4,3,3;1,2,2;1,2,2)");
		for (unsigned i = 0; i < 1 + round / 4; i++) {
			uint32_t node = fors_random_below(&random, w.now->nnodes);

			if (w.now->node[node].type == FORS_SWITCH)
				fors_net_disconnect(w.now, node,
						    1 + fors_random_below(&random, w.now->node[node].nports));
		}
		route(&w);
		must(fors_tables_check_levels(w.now, w.route->level, w.route->lfts, NULL, &error), &error);
		world_free(&w);
	}
}

/* Cut a number of cables between switches, some of them twice. */
static void cut_any_cables(struct world *w, struct fors_random *random, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		uint32_t node = fors_random_below(random, w->now->nnodes);
		unsigned port = 1 + fors_random_below(random, w->now->node[node].nports);
		uint32_t peer = fors_net_port(w->now, node, port)->peer;

		if (w->now->node[node].type == FORS_SWITCH && peer != FORS_NONE &&
		    w->now->node[peer].type == FORS_SWITCH)
			fors_net_disconnect(w->now, node, port);
	}
}

/* More path indices cut whole rounds: the plan ends at the bound, which is no multiple of a round. */
TEST(test_path_indices_reach_the_bound)
{
	/* The last two: single flows find no way there, halves of units do. */
	static const struct {
		uint32_t seed;
		unsigned cables;
	} sets[] = {{4, 100}, {4, 110}, {4, 120}, {4, 130}, {63, 92}, {64, 96}};
	struct fors_error error = {0};
	struct fors_random random = {0};

	for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct world w = {.known = net_of("XGFT(3;6,6,8;1,6,6)", 2)};
		uint32_t phases;

		if (!i || sets[i].seed != sets[i - 1].seed)
			random.state = sets[i].seed;
		must(fors_net_copy(w.known, &w.now, &error), &error);
		cut_any_cables(&w, &random, sets[i].cables);
		phases = plan(&w);
		assert_int_equal(phases, w.route->bound_servers);
		assert_true(w.route->bound_servers % w.route->length);
		world_free(&w);
	}
}

TEST(test_path_indices)
{
	struct fors_error error = {0};
	struct world w = {.known = net_of("XGFT(3;4,4,4;1,4,4)", 2)};

	must(fors_net_copy(w.known, &w.now, &error), &error);
	take_down(&w, "Leaf00[5]");
	take_down(&w, "Mid2-02[6]");
	assert_in_range(plan(&w), 64, 84);
	world_free(&w);
}

/* ---- rounds ---- */

/* Entries of leaves for servers that differ from those before, in thousandths of all. */
static uint32_t moved(const struct world *w, const struct fors_lfts *before)
{
	uint64_t count = 0;

	for (uint32_t a = 0; a < w->pods->nleaves; a++) {
		uint64_t guid = w->known->node[w->pods->leaf[a].node].guid;

		for (uint32_t s = 0; s < w->pods->nslots; s++)
			count += fors_lfts_port(before, fors_lfts_row(before, guid), w->pods->slot[s].lid) !=
				 fors_lfts_port(w->route->lfts, fors_lfts_row(w->route->lfts, guid),
						w->pods->slot[s].lid);
	}
	return (uint32_t)(count * 1000 / ((uint64_t)w->pods->nleaves * w->pods->nslots));
}

/* Every unit has a round of its own, in as few rounds as there can be. */
static void assert_best_rounds(struct world *w)
{
	route(w);
	assert_int_equal(w->route->nleft, 0);
	assert_int_equal(w->route->nrounds, (w->route->bound + w->route->length - 1) / w->route->length);
	judge_rounds(w);
}

/* The tables of the intact tree, the caller's. */
static struct fors_lfts *healthy_tables(struct world *w)
{
	struct fors_lfts *lfts;

	route(w);
	lfts = w->route->lfts;
	w->route->lfts = NULL;
	return lfts;
}

/* Each kind of single failure in larger trees: the fewest rounds there can be, and few entries move. */
TEST(test_best_rounds)
{
	static const struct {
		const char *spec, *what;
		uint32_t moved; /* thousandths, at most */
	} cases[] = {
		{"XGFT(3;6,6,8;1,6,6)", "Leaf07[9]", 15},   {"XGFT(3;6,6,8;1,6,6)", "Mid2-13[8]", 15},
		{"XGFT(3;6,6,8;1,6,6)", "Mid2-13", 200},    {"XGFT(3;6,6,8;1,6,6)", "Spine20", 15},
		{"XGFT(3;8,8,16;1,8,8)", "Leaf62[13]", 15}, {"XGFT(3;8,8,16;1,8,8)", "Mid2-77[12]", 15},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_lfts *before;
		struct world w;

		world_new(&w, cases[i].spec);
		before = healthy_tables(&w);
		take_down(&w, cases[i].what);
		assert_best_rounds(&w);
		assert_in_range(moved(&w, before), 0, cases[i].moved);
		fors_lfts_free(before);
		world_free(&w);
	}
}

/* Two mids dead in a small tree leave no room at all; with tops dead as well, what mids chose may be too much for some. */
TEST(test_mids_and_tops)
{
	/* Two mids, two tops, rounds. */
	static const uint32_t dead[][5] = {{2, 6, 13, 13, 20},	 {2, 14, 1, 1, 20},   {5, 9, 4, 4, 20},
					   {11, 15, 12, 13, 20}, {9, 15, 4, 14, 20},  {1, 12, 10, 11, 20},
					   {1, 10, 0, 3, 20},	 {14, 4, 13, 15, 20}, {0, 2, 7, 11, 32}};

	for (unsigned i = 0; i < sizeof(dead) / sizeof(dead[0]); i++) {
		struct world w;

		world_new(&w, "XGFT(3;4,4,4;1,4,4)");
		route(&w);
		for (unsigned k = 0; k < 4; k++) {
			uint32_t node = k < 2 ? w.pods->mid[dead[i][k]].node : w.pods->top[dead[i][k]].node;

			for (unsigned port = 1; port <= w.now->node[node].nports; port++)
				fors_net_disconnect(w.now, node, port);
		}
		assert_best_rounds(&w);
		assert_int_equal(w.route->nrounds, dead[i][4]);
		world_free(&w);
	}
}

/* Two to five cables between mids and tops cost nothing, and move less than a twentieth of the entries. */
TEST(test_several_top_cables)
{
	static const char *const specs[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;6,6,8;1,6,6)"};
	struct fors_random random = {7};

	for (unsigned i = 0; i < 24; i++) {
		struct fors_lfts *before;
		struct world w;

		world_new(&w, specs[i % 2]);
		before = healthy_tables(&w);
		cut_top_cables(&w, &random, 2 + i / 2 % 4);
		assert_best_rounds(&w);
		assert_int_equal(w.route->nrounds * w.route->length, w.route->nservers);
		assert_in_range(moved(&w, before), 0,
				i % 2 ? 50 : 200); /* in small trees there are few to choose from */
		fors_lfts_free(before);
		world_free(&w);
	}
}

/* A tenth or less of the cables between mids and tops: tables that are right, and plans near what any tables allow. */
TEST(test_many_top_cables)
{
	static const char *const specs[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;6,6,8;1,6,6)"};
	struct fors_random random = {11};

	for (unsigned i = 0; i < 24; i++) {
		struct world w;

		world_new(&w, specs[i % 2]);
		route(&w);
		cut_top_cables(&w, &random, i % 2 ? 8 + i : 2 + i / 6);
		route(&w);
		judge(&w);
		if (w.route->round)
			judge_rounds(&w);
		assert_in_range(plan_over(&w) * 100, 0, w.route->bound_servers * 113);
		world_free(&w);
	}
}

/* A pod that has lost nearly all tops, or all of them: tables for what can be reached, and no endless work. */
TEST(test_pod_cut_off)
{
	struct fors_error error = {0};

	for (unsigned nlive = 0; nlive < 2; nlive++) {
		unsigned nleft = nlive;
		struct world w;

		world_new(&w, "XGFT(3;4,4,4;1,4,4)");
		look(&w);
		for (uint32_t m = 0; m < w.pods->nmids; m++)
			for (unsigned port = 1; w.pods->mid[m].pod == 1 && port <= 8; port++) {
				uint32_t node = w.pods->mid[m].node, peer = fors_pods_peer(w.pods, node, port);

				if (w.pods->level[peer] == FORS_PODS_TOP && (!nleft || !nleft--))
					fors_net_disconnect(w.now, node, port);
			}
		route(&w);
		must(fors_tables_check_levels(w.now, w.route->level, w.route->lfts, NULL, &error), &error);
		assert_int_equal(w.route->bound, nlive ? 16 * 48 : UINT32_MAX);
		if (nlive)
			judge(&w);
		world_free(&w);
	}
}

/* Without a search: rounds where the formula has them, tables that deliver always. */
TEST(test_without_a_search)
{
	struct fors_error error = {0};
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	take_down(&w, "Spine03");
	route_with(&w, 0);
	assert_non_null(w.route->round);
	judge(&w);
	judge_rounds(&w);
	mend(&w);
	take_down(&w, "Leaf05[6]");
	route_with(&w, 0);
	assert_null(w.route->round);
	assert_int_equal(w.route->length, 0);
	judge(&w);
	must(fors_tables_check_levels(w.now, w.route->level, w.route->lfts, NULL, &error), &error);
	world_free(&w);
}

/* ---- trees that are not regular ---- */

/*
 * A third of the places empty: plans within a twentieth of the bound, where lumps of servers on one lane cost up to a
 * half.
 */
TEST(test_uneven)
{
	static const char *const specs[] = {"XGFT(3;4,4,4;1,2,4)", "XGFT(3;4,4,4;1,3,3)", "XGFT(3;5,3,5;1,3,4)",
					    "XGFT(3;6,4,3;1,6,4)", "XGFT(3;8,4,6;1,4,4)", "XGFT(3;6,6,5;1,3,6)"};
	struct fors_random random = {3};
	uint32_t percent = 0, n = 0;

	for (unsigned i = 0; i < 24; i++) {
		struct world w = {.known = net_of(specs[i % 6], 0)};
		struct fors_error error = {0};
		uint32_t phases;

		for (uint32_t node = 0; node < w.known->nnodes; node++)
			if (w.known->node[node].type == FORS_CA && !fors_random_below(&random, 3))
				fors_net_disconnect(w.known, node, 1);
		must(fors_net_copy(w.known, &w.now, &error), &error);
		if (i >= 12)
			take_down(&w, "Spine01");
		phases = plan(&w);
		assert_in_range(phases * 100, 0, w.route->bound * 108);
		percent += phases * 100 / w.route->bound;
		n++;
		world_free(&w);
	}
	assert_in_range(percent / n, 0, 103);
}

/* The last server of every second leaf is not there, or, of any leaves, one place of so many is empty. */
static struct world world_with_gaps(const char *spec, uint32_t empty, uint64_t seed)
{
	struct world w = {.known = net_of(spec, 0)};
	struct fors_random random = {seed};
	struct fors_error error = {0};
	uint32_t before = FORS_NONE, leaf = 0;

	for (uint32_t node = 0; node < w.known->nnodes; node++) {
		if (w.known->node[node].type != FORS_CA)
			continue;
		leaf += before != FORS_NONE && fors_net_port(w.known, node, 1)->peer != before;
		if (empty ? !fors_random_below(&random, empty)
			  : leaf % 2 && fors_net_port(w.known, node, 1)->peer != before) {
			before = fors_net_port(w.known, node, 1)->peer;
			fors_net_disconnect(w.known, node, 1);
			continue;
		}
		before = fors_net_port(w.known, node, 1)->peer;
	}
	must(fors_net_copy(w.known, &w.now, &error), &error);
	return w;
}

/*
 * Where a port is the bound, plans have as many phases as there are servers where the linear shift is one, in plain homes or in blocks,
 * elsewhere some more.
 */
TEST(test_as_many_phases_as_servers)
{
	static const struct {
		const char *spec;
		uint32_t empty;
		uint64_t seed;
		uint32_t more;
	} trees[] = {{"XGFT(3;5,6,6;1,5,6)", 0, 0, 2}, {"XGFT(3;3,6,4;1,3,6)", 0, 0, 0},
		     {"XGFT(3;4,5,6;1,4,5)", 4, 1, 1}, {"XGFT(3;4,5,6;1,4,5)", 4, 2, 1},
		     {"XGFT(3;8,8,8;1,8,8)", 3, 3, 3}, {"XGFT(3;5,6,5;1,5,6)", 3, 1, 1}};

	for (unsigned i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct world w = world_with_gaps(trees[i].spec, trees[i].empty, trees[i].seed);
		uint32_t phases = plan(&w);

		assert_int_equal(w.route->bound, w.pods->nslots);
		if (phases > w.pods->nslots + trees[i].more)
			fail_msg("%s, %u: %u phases for %u servers", trees[i].spec, i, phases, w.pods->nslots);
		world_free(&w);
	}
}

/* What lost its way there costs a phase, or a fiftieth; for a cable to a top leaves change hardly anything. */
TEST(test_few_more_phases_after_failures)
{
	static const char *const trees[] = {"XGFT(3;5,6,5;1,5,6)", "XGFT(3;8,8,8;1,8,8)"};

	for (unsigned i = 0; i < 2; i++) {
		struct world w = world_with_gaps(trees[i], 3, 3);
		struct fors_lfts *before = healthy_tables(&w);

		take_down(&w, "Mid2-08[9]");
		assert_in_range(plan(&w), w.pods->nslots, w.pods->nslots + 1 + w.pods->nslots / 50);
		assert_in_range(moved(&w, before), 0, 5);
		mend(&w);
		take_down(&w, "Spine01");
		assert_in_range(plan(&w), w.pods->nslots, w.pods->nslots + 1 + w.pods->nslots / 50);
		mend(&w);
		route(&w);
		assert_memory_equal(w.route->lfts->port, before->port, (size_t)before->nswitches * before->nlids);
		fors_lfts_free(before);
		world_free(&w);
	}
}

/* A failure moves what it has to, where all of it was moved once to make it level. */
TEST(test_uneven_stays)
{
	struct fors_lfts *before;
	struct world w;

	world_new(&w, "XGFT(3;6,6,8;1,3,3)");
	before = healthy_tables(&w);
	take_down(&w, "Mid2-05[8]");
	route(&w);
	judge(&w);
	assert_in_range(moved(&w, before), 1, 50);
	mend(&w);
	route(&w);
	assert_memory_equal(w.route->lfts->port, before->port, (size_t)before->nswitches * before->nlids);
	fors_lfts_free(before);
	world_free(&w);
}

/* ---- tables that are wrong ---- */

static void assert_wrong(struct world *w, const char *name, uint32_t slot, uint8_t port, const char *why)
{
	struct fors_lfts *lfts = w->route->lfts;
	struct fors_error error = {0};
	uint32_t node;
	unsigned any;
	uint8_t *entry, was;

	must(fors_net_find(w->now, name, &node, &any, &error), &error);
	entry = &lfts->port[(size_t)fors_lfts_row(lfts, w->now->node[node].guid) * lfts->nlids +
			    w->pods->slot[slot].lid];
	was = *entry;
	*entry = port;
	assert_int_equal(fors_tables_check_levels(w->now, w->route->level, lfts, NULL, &error), FORS_ETABLES);
	if (!strstr(error.text, why))
		fail_msg("'%s' does not say '%s'", error.text, why);
	*entry = was;
	must(fors_tables_check_levels(w->now, w->route->level, lfts, NULL, &error), &error);
}

/* The check follows every LID from every switch, though it walks no way twice. */
TEST(test_wrong_tables)
{
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	take_down(&w, "Leaf05[6]");
	route(&w);
	assert_wrong(&w, "Leaf00", 60, FORS_NO_PATH, "has no path");
	assert_wrong(&w, "Leaf05", 60, 6, "ends at a dead port");
	assert_wrong(&w, "Leaf00", 60, 2, "comes out at the wrong place");
	assert_wrong(&w, "Mid2-00", 60, 1, "goes round in circles");
	world_free(&w);
}

/* ---- rounds ---- */

/* Rounds in which units meet, or that leave some out, are no plan: others are looked for, and what comes of it is proven. */
TEST(test_rounds_that_do_not_fit)
{
	struct fors_random random = {3};
	struct fors_error error = {0};
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	for (unsigned i = 0; i < 6; i++) {
		struct fors_request task = {.net = w.now};
		struct fors_outcome report;
		struct fors_schedule *schedule;

		route(&w);
		for (unsigned k = 0; k < i * i; k++) {
			uint16_t *of_leaf = &w.route->round[fors_random_below(&random, 16) * 64],
				 *one = &of_leaf[fors_random_below(&random, 64)],
				 *other = &of_leaf[fors_random_below(&random, 64)], was = *one;

			*one = i % 2 ? *other
				     : FORS_PODS_ROUTE_NONE; /* a leaf has as many in a round as before, or fewer */
			*other = was;
		}
		task.lfts = w.route->lfts;
		task.rounds = w.route;
		must(fors_plan_proven(&task, &schedule, &report, &error), &error);
		assert_true(report.verdict.is_good);
		assert_true(i || schedule->nphases == 64);
		fors_schedule_free(schedule);
	}
	world_free(&w);
}

/* ---- memory ---- */

/* Single flows where there is room for them, else whole units, else nothing; what is left out is told. */
TEST(test_memory)
{
	struct fors_request task = {0};
	struct fors_outcome report;
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {0};
	enum fors_err err = FORS_OK;
	struct world w;

	world_new(&w, "XGFT(3;6,6,8;1,6,6)");
	take_down(&w, "Mid2-09");
	take_down(&w, "Spine07");
	take_down(&w, "Spine14");
	route(&w);
	task.net = w.now;
	task.lfts = w.route->lfts;
	task.rounds = w.route;
	must(fors_plan_proven(&task, &schedule, &report, &error), &error);
	assert_true(report.wanted_bytes == 0);
	fors_schedule_free(schedule);
	for (task.task.limits.bytes = 64 << 20; !err; task.task.limits.bytes /= 2) {
		err = fors_plan_proven(&task, &schedule, &report, &error);
		if (err)
			break;
		assert_true(report.verdict.is_good);
		if (report.wanted_bytes) {
			assert_true(report.wanted_bytes > task.task.limits.bytes &&
				    schedule->nphases > report.tables_bound);
			assert_string_equal(schedule->method, "rounds");
		}
		fors_schedule_free(schedule);
		schedule = NULL;
	}
	assert_int_equal(err, FORS_ELIMIT);
	assert_null(schedule);
	assert_non_null(strstr(error.text, "memory, and the limit is"));
	task.task.limits.bytes = strtoull(strstr(error.text, "may take ") + strlen("may take "), NULL, 10) << 20;
	assert_in_range(task.task.limits.bytes, 1 << 20,
			4 << 20); /* whole units ask for less than single flows, 9 MiB */
	must(fors_plan_proven(&task, &schedule, &report, &error), &error); /* so much is enough */
	assert_string_equal(schedule->method, "rounds");
	fors_schedule_free(schedule);
	world_free(&w);
}

/* The switch above keeps the port of a dead cable for the servers of a leaf below it. */
static void assert_port_kept(const char *dead, const char *leaf)
{
	struct fors_pods_route *before;
	struct fors_error error = {0};
	struct world w;
	uint32_t low, above, below;
	unsigned port, any;
	uint64_t guid;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	route(&w);
	before = w.route;
	w.route = NULL;
	must(fors_net_find(w.known, dead, &low, &port, &error), &error);
	must(fors_net_find(w.known, leaf, &below, &any, &error), &error);
	above = fors_net_port(w.known, low, port)->peer;
	guid = w.known->node[above].guid;
	take_down(&w, dead);
	route(&w);
	for (uint32_t s = 0; s < w.pods->nslots; s++) {
		uint8_t was = fors_lfts_port(before->lfts, fors_lfts_row(before->lfts, guid), w.pods->slot[s].lid);

		if (w.pods->leaf[w.pods->slot[s].leaf].node == below) {
			assert_int_not_equal(was, FORS_NO_PATH);
			assert_int_equal(
				fors_lfts_port(w.route->lfts, fors_lfts_row(w.route->lfts, guid), w.pods->slot[s].lid),
				was);
		}
	}
	fors_pods_route_free(before);
	world_free(&w);
}

/* So that no packet goes round while switches hold a mixture of tables. */
TEST(test_ports_kept)
{
	assert_port_kept("Leaf05[6]", "Leaf05");
	assert_port_kept("Mid2-03[5]", "Leaf00");
}

/* The plan over the tables of a world as bytes; the caller's. */
static void *plan_on(const struct world *w, unsigned threads, size_t *size)
{
	const struct fors_request task = {
		.net = w->now, .lfts = w->route->lfts, .rounds = w->route, .task.threads = threads};
	struct fors_outcome report;
	struct fors_schedule *schedule;
	struct fors_error error = {0};
	void *bytes;

	must(fors_plan_proven(&task, &schedule, &report, &error), &error);
	assert_true(report.verdict.is_good);
	must(fors_schedule_encode(schedule, &bytes, size, &error), &error);
	fors_schedule_free(schedule);
	return bytes;
}

/* Rounds as they are, rounds that are searched for again, and single flows: the same bytes on any number of threads. */
TEST(test_threads)
{
	static const char *const down[] = {"Leaf00[5]", "Mid2-03", "Spine03", "Node00-00", "Leaf07[6]"};
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	for (size_t i = 0; i <= sizeof(down) / sizeof(down[0]); i++) {
		size_t size, other;
		void *bytes, *again;

		route(&w);
		bytes = plan_on(&w, 1, &size);
		for (unsigned threads = 2; threads < 40; threads = threads * 2 + 1) {
			again = plan_on(&w, threads, &other);
			assert_int_equal(other, size);
			assert_memory_equal(again, bytes, size);
			free(again);
		}
		free(bytes);
		if (i < sizeof(down) / sizeof(down[0]))
			take_down(&w, down[i]);
	}
	world_free(&w);
}

/* Without a middle switch, or a cable to a leaf: the plan over tables made in haste, and over those made at leisure. */
static void try_cables_down(const char *spec, const char *dead, uint32_t least, uint32_t most)
{
	struct world w;

	world_new(&w, spec);
	take_down(&w, dead);
	route(&w);
	assert_in_range(plan_over(&w), least, most);
	make_tables(&w, fors_pods_route_little_effort(w.pods));
	assert_in_range(plan_over(&w), least, most + most / 20);
	world_free(&w);
}

/* Parallel cables to leaves: what lost its home comes down by cables that others leave free, not all by the first. */
TEST(test_cables_down)
{
	for (unsigned i = 0; i < 16; i += 3) {
		char mid[16];

		snprintf(mid, sizeof(mid), "Mid2-%02u", i);
		try_cables_down("PGFT(3;4,4,4;1,4,4;1,3,1)", mid, 64, 67);
	}
	try_cables_down("PGFT(3;4,4,6;1,2,4;1,4,2)", "Mid2-01", 160, 160);
	try_cables_down("PGFT(3;4,4,6;1,2,4;1,4,2)", "Leaf01[5]", 96, 96);
	try_cables_down("PGFT(3;5,4,4;1,5,4;1,2,1)", "Mid2-01", 80, 84);
}
