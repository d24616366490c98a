/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Congestion notifications: who sends less, which way is taken, and that nothing changes where there is no congestion. */
#include "sims.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/tree_spec.h"
#include "lab/model/routers/tree_router.h"
#include "lab/model/trees/tree_graph.h"

FREES(fors_graph_free, struct fors_graph *)
FREES(fors_hops_free, struct fors_hops *)
FREES(fors_program_free, struct fors_program *)
FREES(fors_sim_result_free, struct fors_sim_result *)

static struct fors_error error;

/* ---- servers that send less ---- */

/* Servers 0 and 1 of a star send 2 MB each to server 2, whose cable has a part of the speed; 10 Gbit/s. */
static struct fors_sim_result *run_star(bool has_limiters, double part)
{
	struct hand star;
	struct fors_router router;
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_program *program = sims_text("0 2\n1 2\n", 4);
	struct fors_hops *hops = NULL;
	struct fors_sim_result *r;
	double *gbits;

	hand_star(&star, 4);
	router = hand_router(&star);
	assert_int_equal(fors_hops_new(star.graph, false, &hops, &error), FORS_OK);
	set.gbits = gbits = sims_speeds(star.graph, 10);
	gbits[4 + 2] *= part;
	set.mtu = 1470;
	set.message = 2000000;
	set.buffer = 100000;
	set.hops = hops;
	set.qcn.has_limiters = has_limiters;
	r = sims_run(&router, program, &set);
	free(gbits);
	fors_hops_free(hops);
	fors_program_free(program);
	fors_graph_free(star.graph);
	return r;
}

/* Buffers are full, and their servers wait, until notifications tell them to send less; the slow cable is still busy. */
TEST(limits_empty_buffers)
{
	struct fors_sim_result *without = run_star(false, 0.5), *with = run_star(true, 0.5),
			       *again = run_star(true, 0.5);

	assert_true(without->nnotices == 0 && with->nnotices > 2 && with->nnotices == again->nnotices);
	assert_true(with->time == again->time && with->nevents == again->nevents);
	assert_true(with->link[0].stall + with->link[1].stall < (without->link[0].stall + without->link[1].stall) / 2);
	assert_true(with->time < without->time * 13 / 10);
	fors_sim_result_free(without);
	fors_sim_result_free(with);
	fors_sim_result_free(again);
}

/* A notification cuts to a half at most: with one for each 15 KB at the soonest the link of 1/100 sees thousands of packets, and none is lost. */
TEST(rates_recover)
{
	struct fors_sim_result *slow = run_star(true, 0.01), *fast = run_star(true, 1);

	assert_true(slow->nnotices > fast->nnotices && fast->nnotices > 0);
	assert_true(slow->time < slow->bound * 2 && fast->time < fast->bound * 2);
	fors_sim_result_free(slow);
	fors_sim_result_free(fast);
}

/* ---- switches that listen ---- */

struct way {
	enum fors_policy policy;
	enum fors_ar_level rule;
	uint64_t forget; /* ps */
	double part;	 /* speed of the link that the table takes first from the leaf */
};

static void slow_table_link(const struct fors_router *router, double *gbits, double part)
{
	uint32_t link[HAND_MOST_LINKS], nlinks;

	assert_true(router->max_links <= HAND_MOST_LINKS);
	assert_int_equal(router->route(router->context, (struct fors_pair){0, 4, 0}, link, &nlinks), FORS_WAY_GOOD);
	assert_int_equal(nlinks, 4);
	gbits[link[1]] *= part;
}

/* Server 0 sends 4 MB to server 4, over one of four spines. */
static struct fors_sim_result *run_tree(struct way way)
{
	struct fors_tree_spec tree CLEARED(fors_tree_spec_clear) = {0};
	struct fors_tree_paths paths = {.routing = FORS_ROUTE_DMODK};
	struct fors_graph *graph FREED(fors_graph_free) = NULL;
	struct fors_hops *hops FREED(fors_hops_free) = NULL;
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_program *program FREED(fors_program_free) = sims_text("0 4\n", 8);
	struct fors_router router;
	struct fors_sim_result *r = NULL;
	double *gbits;

	assert_int_equal(fors_tree_spec_parse("XGFT(2;4,2;1,4)", &tree, &error), FORS_OK);
	assert_int_equal(fors_tree_graph(&tree.tree, &graph, &error), FORS_OK);
	assert_int_equal(fors_hops_new(graph, false, &hops, &error), FORS_OK);
	paths.tree = &tree.tree;
	paths.graph = graph;
	router = fors_tree_router(&paths);
	set.gbits = gbits = sims_speeds(graph, 10);
	slow_table_link(&router, gbits, way.part);
	set.mtu = 1470;
	set.message = 4000000;
	set.buffer = 100000;
	set.policy = way.policy;
	set.switch_ar.rule = way.rule;
	set.switch_ar.forget = way.forget;
	set.hops = hops;
	assert_int_equal(fors_simulate(&router, program, &set, &r, &error), FORS_OK);
	assert_true(r->sent == r->arrived && !r->ncycle);
	free(gbits);
	return r;
}

static bool is_same(const struct fors_sim_result *a, const struct fors_sim_result *b)
{
	return a->time == b->time && !memcmp(a->link, b->link, a->nlinks * sizeof(*a->link));
}

/* Round a link of 1/20, whatever the rule; out of order, since the old way drains. */
TEST(switches_leave_a_slow_link)
{
	struct fors_sim_result *tables FREED(fors_sim_result_free) =
		run_tree((struct way){FORS_POLICY_TABLES, 0, 0, 0.05});

	for (enum fors_ar_level rule = FORS_LEVEL_SUM; rule <= FORS_LEVEL_OLDEST; rule++) {
		struct way way = {FORS_POLICY_SWITCH_AR, rule, 250000000000, 0.05};
		struct fors_sim_result *r = run_tree(way), *again = run_tree(way);

		assert_true(r->nnotices > 0 && r->nreordered > 0 && is_same(r, again));
		assert_true(r->time < tables->time / 4);
		fors_sim_result_free(r);
		fors_sim_result_free(again);
	}
}

/* Where nothing is congested, and where all is forgotten at once, the table's way is taken. */
TEST(switches_keep_to_the_tables)
{
	static const double parts[] = {1, 0.05};

	for (size_t i = 0; i < 2; i++) {
		struct fors_sim_result *tables FREED(fors_sim_result_free) =
			run_tree((struct way){FORS_POLICY_TABLES, 0, 0, parts[i]});
		struct fors_sim_result *deaf =
			run_tree((struct way){FORS_POLICY_SWITCH_AR, FORS_LEVEL_SUM, 0, parts[i]});
		struct fors_sim_result *keen =
			run_tree((struct way){FORS_POLICY_SWITCH_AR, FORS_LEVEL_SUM, 250000000000, parts[i]});

		assert_true((deaf->nnotices > 0) == (i == 1) && deaf->nreordered == 0);
		assert_true(i == 1 || is_same(tables, keen));
		assert_true(deaf->time >= tables->time && deaf->time < tables->time + tables->time / 100);
		fors_sim_result_free(deaf);
		fors_sim_result_free(keen);
	}
}

/* The last word, all words together, and how long ago: three ways to go. */
TEST(rules_differ)
{
	struct fors_sim_result *r[3];

	for (enum fors_ar_level rule = FORS_LEVEL_SUM; rule <= FORS_LEVEL_OLDEST; rule++)
		r[rule] = run_tree((struct way){FORS_POLICY_SWITCH_AR, rule, 1000000000, 0.05});
	assert_false(is_same(r[FORS_LEVEL_SUM], r[FORS_LEVEL_LAST]) &&
		     is_same(r[FORS_LEVEL_SUM], r[FORS_LEVEL_OLDEST]));
	for (unsigned i = 0; i < 3; i++)
		fors_sim_result_free(r[i]);
}
