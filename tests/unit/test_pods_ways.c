/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways of three-level trees before any search: where what lost its home goes. Loads are counted here, entry by entry;
 * what relief would mend later is still to be seen.
 */
#include <stdlib.h>

#include "pods_world.h"

#include "core/base/names.h"
#include "core/base/random.h"
#include "core/fabric/drained.h"
#include "core/planners/pods/ways.h"

struct ground {
	struct world w;
	struct fors_pods_lanes *lanes;
	struct fors_pods_ways *ways;
};

/* Homes of what is alive, and, is_level, all else levelled. */
static void find_ways(struct ground *g, bool is_level)
{
	struct fors_error error = {0};

	look(&g->w);
	must(fors_pods_lanes_read(g->w.pods, &g->lanes, &error), &error);
	must(fors_pods_ways_home(g->lanes, 1, &g->ways, &error), &error);
	if (is_level)
		must(fors_pods_ways_level(g->ways, &error), &error);
}

static void ground_clear(struct ground *g)
{
	fors_pods_ways_free(g->ways);
	fors_pods_lanes_free(g->lanes);
	world_free(&g->w);
}

/* ---- boards ---- */

/* How many servers of a leaf (FORS_NONE: of all of a pod) come from a top down over each of its ports; the most. */
static uint32_t most_down(const struct ground *g, uint32_t top, uint32_t pod, uint32_t leaf)
{
	const struct fors_pods *pods = g->w.pods;
	uint32_t count[256] = {0}, most = 0;

	for (uint32_t slot = 0; slot < pods->nslots; slot++) {
		uint32_t to = pods->slot[slot].leaf, port = g->ways->top[(size_t)top * g->ways->ncolumns + slot];

		if (pods->leaf[to].pod != pod || (leaf != FORS_NONE && to != leaf) || !port)
			continue;
		count[port]++;
		most = count[port] > most ? count[port] : most;
	}
	return most;
}

/* What came down over a board's dead cable is spread over the others; also where a card lost its cable to a leaf. */
TEST(test_boards)
{
	static const struct {
		const char *dead;
		uint32_t in_pod, in_leaf; /* servers over one card, at most */
	} cases[] = {{"Mid2-01", 11, 3}, {"Mid2-01[6]", 14, 3}, {"Leaf02[10]", 9, 3}, {"Leaf05[9]", 8, 2}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ground g = {.lanes = NULL};

		g.w = director_new("XGFT(3;8,4,3;1,4,3)", 12, 4, 3);
		take_down(&g.w, cases[i].dead);
		find_ways(&g, false);
		for (uint32_t top = 0; top < 3; top++) {
			assert_in_range(most_down(&g, top, 0, FORS_NONE), 8, cases[i].in_pod);
			assert_in_range(most_down(&g, top, 0, 2), 2, cases[i].in_leaf);
		}
		ground_clear(&g);
	}
}

/* ---- levels ---- */

/* Entries of mids up, at each port and at the top's port that they go on over; the most. */
static uint32_t most_entries(const struct ground *g)
{
	const struct fors_pods *pods = g->w.pods;
	uint32_t *load = calloc(g->ways->nlinks + (size_t)1, sizeof(*load)), most = 0;

	assert_non_null(load);
	for (uint32_t m = 0; m < pods->nmids; m++)
		for (uint32_t slot = 0; slot < pods->nslots; slot++) {
			uint8_t port = g->ways->mid[(size_t)m * g->ways->ncolumns + slot];
			uint32_t link[4], n;

			if (pods->leaf[pods->slot[slot].leaf].pod == pods->mid[m].pod)
				continue;
			n = fors_pods_ways_links(g->ways, pods->mid[m].node, port, slot, link);
			for (uint32_t i = 0; i < n && i < 2; i++)
				most = ++load[link[i]] > most ? load[link[i]] : most;
		}
	free(load);
	return most;
}

/* Flows over each link, all servers to all; the most. */
static uint32_t most_flows(const struct ground *g)
{
	const struct fors_pods *pods = g->w.pods;
	uint32_t *load = calloc(g->ways->nlinks + (size_t)1, sizeof(*load)), most = 0;

	assert_non_null(load);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (uint32_t slot = 0; slot < pods->nslots; slot++) {
			uint32_t link[4], n;

			if (pods->slot[slot].leaf == a)
				continue;
			n = fors_pods_ways_links(g->ways, pods->leaf[a].node,
						 g->ways->leaf[(size_t)a * g->ways->ncolumns + slot], slot, link);
			assert_true(n > 0);
			for (uint32_t i = 0; i < n; i++) {
				load[link[i]] += pods->leaf[a].nslots;
				most = load[link[i]] > most ? load[link[i]] : most;
			}
		}
	free(load);
	return most;
}

/* After a failure the fullest link has hardly more than its share: for mids by entries, for leaves by flows. */
TEST(test_levels)
{
	static const char *const specs[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;4,4,6;1,2,4)", "XGFT(3;6,3,5;1,3,3)",
					    "XGFT(3;8,2,4;1,4,2)"},
				 *const dead[] = {"Spine01", "Mid2-02", "Mid2-03[7]", "Leaf01[9]"};
	struct fors_random random = {5};
	uint32_t entries = 0, flows = 0;

	for (unsigned i = 0; i < 32; i++) {
		struct ground g = {.w = {.known = net_of(specs[i % 4], 0)}};
		struct fors_error error = {0};

		for (uint32_t node = 0; i >= 16 && node < g.w.known->nnodes; node++) /* every other leaf loses most */
			if (g.w.known->node[node].type == FORS_CA && fors_random_below(&random, 4) &&
			    fors_net_port(g.w.known, node, 1)->peer % 2)
				fors_net_disconnect(g.w.known, node, 1);
		must(fors_net_copy(g.w.known, &g.w.now, &error), &error);
		fors_net_down(g.w.known, g.w.now, dead[i / 4 % 4], &error); /* not all have such a cable */
		find_ways(&g, true);
		entries += most_entries(&g);
		flows += most_flows(&g);
		ground_clear(&g);
	}
	assert_in_range(entries, 600, 677);
	assert_in_range(flows, 4000, 4182);
}

/* ---- what is written ---- */

static uint8_t entry_at(const struct world *w, const char *name, uint32_t slot)
{
	struct fors_error error = {0};
	uint32_t node;
	unsigned port;

	must(fors_net_find(w->now, name, &node, &port, &error), &error);
	return fors_lfts_port(w->route->lfts, fors_lfts_row(w->route->lfts, w->now->node[node].guid),
			      w->pods->slot[slot].lid);
}

/* Who lost the cable to what is below keeps its port, and so sends nobody to and fro while tables change. */
TEST(test_dead_ports)
{
	static const struct {
		const char *dead, *name;
		uint32_t slot; /* 20: below Leaf05 */
	} cases[] = {{"Leaf05[6]", "Mid2-05", 20}, {"Leaf05[6]", "Mid2-05", 23}, {"Mid2-05[7]", "Spine06", 20}};
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t before;

		mend(&w);
		route(&w);
		before = entry_at(&w, cases[i].name, cases[i].slot);
		assert_int_not_equal(before, FORS_NO_PATH);
		take_down(&w, cases[i].dead);
		route(&w);
		assert_int_equal(entry_at(&w, cases[i].name, cases[i].slot), before);
	}
	world_free(&w);
}

/* A guest of a line card that lost its cable to a leaf gets there over a board that is not drained, and gets down. */
TEST(test_guests_way)
{
	static const char *const drained[] = {"", "Mid2-00[3]", ""}, *const dead[] = {"", "", "Mid2-01[3]"};

	for (unsigned i = 0; i < 3; i++) {
		struct fors_net *net = net_of("XGFT(3;2,2,2;1,2,3)", 0);
		struct fors_warnings warnings = {0};
		struct fors_names names = {NULL, 0};
		struct world w;

		make_director(net, 4, 2, 3);
		add_gateway(net, "Mid2-00", 5);
		w = world_of(net);
		take_down(&w, "Mid2-00[1]");
		if (*dead[i])
			take_down(&w, dead[i]);
		look(&w);
		assert_int_equal(fors_names_add(&names, drained[i], NULL), FORS_OK);
		fors_drained_links(fors_fattree_of_pods(w.pods), &names, "exclude_links", &warnings);
		assert_int_equal(fors_drained_apply(fors_fattree_of_pods(w.pods), &warnings, NULL), FORS_OK);
		make_tables(&w, FORS_PODS_ROUTE_EFFORT);
		assert_int_equal(entry_at(&w, "Mid2-00", 0), i ? 4 : 3);
		fors_names_clear(&names);
		world_free(&w);
	}
}

/* The closed form's rounds, and its repair, whatever pods and leaves have in common. */
TEST(test_any_number_of_pods)
{
	static const char *const specs[] = {"XGFT(3;4,4,7;1,4,4)", "XGFT(3;3,6,10;1,3,6)", "XGFT(3;4,5,8;1,4,5)"};

	for (unsigned i = 0; i < 6; i++) {
		struct world w;

		world_new(&w, specs[i / 2]);
		if (i % 2)
			take_down(&w, "Spine01");
		route(&w);
		assert_int_equal(w.route->nleft, 0);
		assert_int_equal(w.route->nrounds * w.route->length, w.route->nservers);
		judge_rounds(&w);
		world_free(&w);
	}
}

/* A mid's parallel cables to a top are a rung each: nothing is lost with one top for so many leaves. */
TEST(test_parallel_cables)
{
	static const char *const specs[] = {"PGFT(3;2,2,3;1,2,1;1,1,2)", "PGFT(3;3,4,3;1,3,2;1,1,2)"};

	for (unsigned i = 0; i < 2; i++) {
		struct world w;

		world_new(&w, specs[i]);
		route(&w);
		assert_int_equal(plan_over(&w), w.route->nservers);
		world_free(&w);
	}
}

/* A leaf that is dead takes no part, and all others have the rounds that they had. */
TEST(test_dead_leaf)
{
	uint16_t *before;
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	route(&w);
	before = w.route->round;
	w.route->round = NULL;
	take_down(&w, "Leaf05");
	route(&w);
	assert_non_null(before);
	assert_non_null(w.route->round);
	assert_int_equal(w.route->nrounds, 16);
	for (uint32_t a = 0; a < w.pods->nleaves; a++)
		for (uint32_t s = 0; s < w.pods->nslots; s++)
			if (a != 5 && w.pods->slot[s].leaf != 5)
				assert_int_equal(w.route->round[a * w.pods->nslots + s],
						 before[a * w.pods->nslots + s]);
	free(before);
	world_free(&w);
}
