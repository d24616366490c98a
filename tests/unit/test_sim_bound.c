/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric in time against what is known: queues, and the loads of `fors analyze`. FORS_FABRICS says how many random
 * fabrics.
 */
#include "sims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/net/tree_spec.h"
#include "lab/model/routers/routes.h"
#include "lab/model/routers/tree_router.h"
#include "lab/model/trees/tree_graph.h"
#include "support.h"

FREES(fors_program_free, struct fors_program *)
FREES(fors_routes_free, struct fors_routes *)
FREES(fors_sim_result_free, struct fors_sim_result *)

FREES(fors_graph_free, struct fors_graph *)
FREES(fors_hops_free, struct fors_hops *)
FREES(fors_pattern_free, struct fors_pattern *)

static struct fors_error error;

/* ---- queues ---- */

/*
 * Random packets of many servers to one: M/D/1. Nothing else waits, since packets go through a switch in no time, so
 * they wait as long as in one queue: load / (2 (1 - load)) of a packet's time.
 */
TEST(many_to_one_is_a_known_queue)
{
	static const double loads[] = {0.3, 0.6, 0.8};
	const uint64_t packet = 1000 * 1000; /* ps: 1,000 bytes at 8 Gbit/s */
	struct hand star;
	struct fors_router router;
	struct fors_sim_settings set = sims_plain();

	hand_star(&star, 8);
	router = hand_router(&star);
	set.gbits = sims_speeds(star.graph, 8);
	set.wire = set.switching = 0;
	set.buffer = 1 << 20;
	set.has_barrier = false;
	for (size_t i = 0; i < 3; i++) {
		struct fors_program *program FREED(fors_program_free) = NULL;
		struct fors_sim_result *r FREED(fors_sim_result_free) = NULL;
		uint64_t gap = (uint64_t)(7 * (double)packet / loads[i]);
		double wait, expected = loads[i] / (2 * (1 - loads[i]));

		assert_int_equal(fors_program_load(8, 30000, gap, 0, 5 + i, &program, &error), FORS_OK);
		r = sims_run(&router, program, &set);
		wait = fors_histogram_mean(&r->message_ps) / (double)packet - 1;
		if (fabs(wait - expected) > 0.04 * expected)
			fail_msg("load %g: packets wait %g, expected %g", loads[i], wait, expected);
	}
	free((void *)set.gbits);
	fors_graph_free(star.graph);
}

TEST(lanes_take_turns_by_weight)
{
	struct hand star;
	struct fors_router router;
	struct fors_sim_settings set = sims_plain();
	struct fors_program *program = sims_text("0 2\n1 2\n", 4);
	struct fors_sim_result *r;

	hand_star(&star, 4);
	router = hand_router(&star);
	program->send[1].vl = 1;
	set.message = 300000;
	set.nvls = 2;
	set.weight[0] = 3; /* 3 of 4 packets: done after 400, the other one after 600 */
	r = sims_run(&router, program, &set);
	assert_true(fabs((double)fors_histogram_at(&r->message_ps, 0.5) / US - 400) < 0.04 * 400);
	assert_true(fabs((double)r->time / US - 600) < 2);
	fors_sim_result_free(r);
	fors_program_free(program);
	fors_graph_free(star.graph);
}

/* ---- policies ---- */

/* A permutation over a full tree of three levels under a policy. */
static struct fors_sim_result *run_policy(enum fors_policy policy, uint64_t seed)
{
	struct fors_tree_spec tree CLEARED(fors_tree_spec_clear) = {0};
	struct fors_tree_paths paths = {.routing = FORS_ROUTE_DMODK};
	struct fors_graph *graph FREED(fors_graph_free) = NULL;
	struct fors_hops *hops FREED(fors_hops_free) = NULL;
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_program *program FREED(fors_program_free) = NULL;
	struct fors_router router;
	struct fors_sim_result *r = NULL;

	assert_int_equal(fors_tree_spec_parse("XGFT(3;3,3,3;1,3,3)", &tree, &error), FORS_OK);
	assert_int_equal(fors_tree_graph(&tree.tree, &graph, &error), FORS_OK);
	assert_int_equal(fors_hops_new(graph, false, &hops, &error), FORS_OK);
	assert_int_equal(hops->ngoals, 9);
	paths.tree = &tree.tree;
	paths.graph = graph;
	router = fors_tree_router(&paths);
	program = sims_program("shift(13)", graph->nservers, 0);
	set.gbits = sims_speeds(graph, 200);
	set.message = 1 << 20;
	set.policy = policy;
	set.hops = hops;
	set.seed = seed;
	assert_int_equal(fors_simulate(&router, program, &set, &r, &error), FORS_OK);
	free((void *)set.gbits);
	return r;
}

/* All arrive by ways as short as the tables'; flows by hash keep their order, others do not; at random all links are used. */
TEST(policies_take_shortest_ways)
{
	struct fors_sim_result *tables = run_policy(FORS_POLICY_TABLES, 0), *r, *again;

	for (enum fors_policy policy = FORS_POLICY_RANDOM; policy <= FORS_POLICY_ADAPTIVE; policy++) {
		uint32_t idle = 0;

		r = run_policy(policy, 1);
		again = run_policy(policy, 1);
		assert_true(r->arrived == tables->arrived && r->sent == r->arrived && r->hops == tables->hops);
		assert_true(r->time == again->time && r->nevents == again->nevents && r->time >= tables->time);
		assert_true((r->nreordered == 0) == (policy == FORS_POLICY_HASHED));
		for (uint32_t l = 0; l < r->nlinks; l++)
			idle += r->link[l].busy == 0;
		assert_true((idle > 0) == (policy == FORS_POLICY_HASHED));
		fors_sim_result_free(r);
		fors_sim_result_free(again);
	}
	fors_sim_result_free(tables);
}

/* ---- against the loads ---- */

static unsigned nfabrics(unsigned usual)
{
	const char *text = getenv("FORS_FABRICS");

	return text ? (unsigned)atoi(text) : usual;
}

/*
 * Without conflicts, or where each phase has one kind of them, 4 MiB take as long as their fullest links, and half a
 * per cent.
 */
static void assert_near_bound(const struct fors_router *router, const struct fors_program *program, const char *what)
{
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_sim_result *r FREED(fors_sim_result_free) = NULL;

	set.message = 4 << 20;
	r = sims_run(router, program, &set);
	if ((double)r->time > 1.005 * (double)r->bound)
		fail_msg("%s: %llu ps, the links alone %llu", what, (unsigned long long)r->time,
			 (unsigned long long)r->bound);
}

static struct fors_routes *routes_of(const struct bed *bed)
{
	struct fors_routes *routes = NULL;
	struct fors_endpoint *server FREED(free) = NULL;
	uint32_t n = 0;

	assert_int_equal(fors_endpoints(bed->net, NULL, &server, &n, &error), FORS_OK);
	assert_int_equal(fors_routes_new(bed->net, bed->lfts, server, n, &routes, &error), FORS_OK);
	return routes;
}

static void one_plan(const char *spec, const char *down, unsigned lmc)
{
	struct bed *bed FREED(bed_free) = bed_new(spec, lmc);
	struct fors_task task;
	struct fors_schedule *plan FREED(fors_schedule_free) = NULL;
	struct fors_pattern *pattern FREED(fors_pattern_free) = NULL;
	struct fors_program *program FREED(fors_program_free) = NULL;
	struct fors_routes *routes FREED(fors_routes_free) = NULL;
	struct fors_router router;

	bed_down(bed, down);
	task = (struct fors_task){.fabric = bed->fabric, .lanes = bed->lanes};
	assert_int_equal(fors_plan(&task, "auto", &plan, &error), FORS_OK);
	assert_int_equal(fors_pattern_plan(plan, &pattern, &error), FORS_OK);
	assert_int_equal(fors_program_of(pattern, plan->nservers, &program, &error), FORS_OK);
	routes = routes_of(bed);
	router = fors_routes_router(routes);
	assert_near_bound(&router, program, spec);
}

TEST(plans_reach_the_bound)
{
	struct fors_random random = {11};

	for (unsigned i = 0; i < nfabrics(6); i++) {
		uint32_t spines = 2 + fors_random_below(&random, 3), leaves = 2 + fors_random_below(&random, 3);
		char spec[64], down[64];

		snprintf(spec, sizeof(spec), "FT(2;%u,%u)", spines, leaves);
		snprintf(down, sizeof(down), "Leaf0%u[%u]", fors_random_below(&random, leaves),
			 spines + 1 + fors_random_below(&random, spines));
		one_plan(spec, i % 3 ? down : "", i % 2 ? 2 : 0);
	}
}

/* D-mod-K over a random tree of three levels at most; is_shift: only the linear shift, else a permutation. */
static void one_tree(struct fors_random *random, bool is_shift, struct fors_sim_result **result)
{
	char spec[96];
	struct fors_tree_spec tree CLEARED(fors_tree_spec_clear) = {0};
	struct fors_graph *graph FREED(fors_graph_free) = NULL;
	struct fors_tree_paths paths = {.routing = FORS_ROUTE_DMODK};
	struct fors_program *program FREED(fors_program_free) = NULL;
	struct fors_router router;
	struct fors_sim_settings set = fors_sim_defaults();
	uint32_t a = 2 + fors_random_below(random, 2), b = 2 + fors_random_below(random, 2);

	snprintf(spec, sizeof(spec), "XGFT(3;%u,%u,2;1,%u,%u)", a, b, a, b);
	assert_int_equal(fors_tree_spec_parse(spec, &tree, &error), FORS_OK);
	assert_int_equal(fors_tree_graph(&tree.tree, &graph, &error), FORS_OK);
	paths.tree = &tree.tree;
	paths.graph = graph;
	router = fors_tree_router(&paths);
	program = sims_program(is_shift ? "shift" : "permutation", graph->nservers, fors_random_next(random));
	if (is_shift)
		assert_near_bound(&router, program, spec);
	set.message = 1 << 20;
	*result = sims_run(&router, program, &set);
}

/* Other patterns: flows that share a link share others too, so the fullest link may run dry; never faster. */
TEST(trees_reach_the_bound)
{
	struct fors_random random = {12};
	double sum = 0, worst = 0;
	unsigned n = nfabrics(6);

	for (unsigned i = 0; i < n; i++) {
		struct fors_sim_result *r FREED(fors_sim_result_free) = NULL;
		double ratio;

		one_tree(&random, i % 2 == 0, &r);
		ratio = (double)r->time / (double)r->bound;
		sum += ratio;
		worst = fmax(worst, ratio);
	}
	print_message("D-mod-K: %.3f of the bound on average, %.3f at most\n", n ? sum / n : 0, worst);
}
