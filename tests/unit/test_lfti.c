/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_lfti.c - the optimum of patterns, throughput indices, and paths by a rule over a tree and over its net.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/lfts.h"
#include "core/net/tree_net.h"
#include "core/tables/tables.h"
#include "lab/model/optimum/cuts_find.h"
#include "lab/model/optimum/lfti.h"
#include "lab/model/optimum/optimum.h"
#include "lab/model/routers/router.h"
#include "lab/model/trees/tree_graph.h"
#include "lab/model/routers/tree_router.h"
#include "unit.h"

FREES(fors_cuts_free, struct fors_cuts *)
FREES(fors_graph_free, struct fors_graph *)
FREES(fors_optimum_free, struct fors_optimum *)
FREES(fors_pattern_free, struct fors_pattern *)

/* A tree, and its graph and cuts. */
struct world {
	struct fors_tree_spec spec;
	struct fors_tree tree;
	struct fors_graph *graph;
	struct fors_cuts *cuts;
	struct fors_tree_paths paths;
	struct fors_router router;
};

static void world_new(struct world *world, const char *text, enum fors_tree_routing routing)
{
	assert_int_equal(fors_tree_spec_parse(text, &world->spec, NULL), FORS_OK);
	world->tree = world->spec.tree;
	assert_int_equal(fors_tree_graph(&world->tree, &world->graph, NULL), FORS_OK);
	assert_int_equal(fors_cuts_of_tree(&world->tree, &world->cuts, NULL), FORS_OK);
	world->paths = (struct fors_tree_paths){.tree = &world->tree, .graph = world->graph, .routing = routing};
	world->router = fors_tree_router(&world->paths);
}

static void world_free(struct world *world)
{
	fors_graph_free(world->graph);
	fors_cuts_free(world->cuts);
	fors_tree_paths_clear(&world->paths);
	fors_tree_spec_clear(&world->spec);
}

static struct fors_pattern *pattern_of(const char *name, uint32_t nservers)
{
	struct fors_pattern_options options = {.seed = 4};
	struct fors_pattern *pattern;

	assert_int_equal(fors_pattern_new(name, nservers, &options, &pattern, NULL), FORS_OK);
	return pattern;
}

/* 2 leaves of 4 servers, 2 uplinks each. Phase p of the shift sends min(p, 8 - p) flows each way through 2 uplinks. */
TEST(the_linear_shift_by_hand)
{
	struct world world CLEARED(world_free);
	struct fors_pattern *pattern FREED(fors_pattern_free) = pattern_of("linear-shift", 8);
	struct fors_optimum *one, *two;

	world_new(&world, "XGFT(2;4,2;1,2)", FORS_ROUTE_DMODK);
	assert_int_equal(fors_optimum_of(world.cuts, NULL, pattern, 1, &one, NULL), FORS_OK);
	assert_int_equal(fors_optimum_of(world.cuts, world.graph, pattern, 3, &two, NULL), FORS_OK);
	assert_int_equal(one->nphases, 8);
	assert_true(one->phase_rate[0] == 0);
	for (unsigned p = 1; p < 8; p++) {
		double crossing = p < 4 ? p : 8 - p, crossed = fmin(crossing, 2);

		assert_true(fabs(one->phase_rate[p] - (8 - 2 * crossing + 2 * crossed)) < 1e-12);
	}
	assert_true(one->is_exact && two->is_exact);
	assert_memory_equal(one->phase_rate, two->phase_rate, 8 * sizeof(double));
	assert_true(fabs(one->rates.min - 0.5) < 1e-12);
	assert_int_equal(one->rates.nflows, 56);
	assert_true(fabs(one->rates.aggregate * 7 - one->rates.mean * 56) < 1e-9);
	fors_optimum_free(one);
	fors_optimum_free(two);
}

TEST(nothing_to_send)
{
	struct world world CLEARED(world_free);
	struct fors_pattern *pattern FREED(fors_pattern_free) = pattern_of("linear-shift", 1);
	struct fors_optimum *optimum FREED(fors_optimum_free) = NULL;

	world_new(&world, "XGFT(1;1;1)", FORS_ROUTE_DMODK);
	assert_int_equal(fors_optimum_of(world.cuts, world.graph, pattern, 1, &optimum, NULL), FORS_OK);
	assert_true(optimum->is_exact && optimum->rates.aggregate == 0 && optimum->rates.nflows == 0);
}

/* A full tree is as good as a crossbar for the best routing; D-mod-K is for shifts, and never better. */
TEST(indices_of_a_full_tree)
{
	struct world world CLEARED(world_free);
	struct fors_lfti_row row[FORS_LFTI_ROWS], again[FORS_LFTI_ROWS];
	struct fors_lfti_options options = {.samples = 3, .seed = 2, .threads = 1, .is_quick = true};

	world_new(&world, "XGFT(3;3,3,6;1,3,3)", FORS_ROUTE_DMODK);
	assert_int_equal(fors_lfti(&world.router, world.cuts, &options, row, NULL), FORS_OK);
	options.threads = 4;
	assert_int_equal(fors_lfti(&world.router, world.cuts, &options, again, NULL), FORS_OK);
	for (unsigned i = 0; i < FORS_LFTI_ROWS; i++) {
		assert_in_range(row[i].nflows, 100, 10000);
		assert_true(fabs(row[i].optimum - 1) < 1e-9);
		assert_true(row[i].routed > 0.3 && row[i].routed < 1 + 1e-9);
		assert_true(row[i].routed == again[i].routed && row[i].optimum == again[i].optimum);
		if (strcmp(row[i].pattern, "shift") == 0)
			assert_true(row[i].is_random_map ? row[i].routed < 0.99 : row[i].routed > 1 - 1e-9);
	}
}

/* Two servers: no three others to send to, no grid. These rows stay empty. */
TEST(indices_of_two_servers)
{
	struct world world CLEARED(world_free);
	struct fors_lfti_row row[FORS_LFTI_ROWS];
	struct fors_lfti_options options = {.samples = 1, .seed = 2, .threads = 1};

	world_new(&world, "XGFT(1;2;1)", FORS_ROUTE_HASH);
	assert_int_equal(fors_lfti(&world.router, world.cuts, &options, row, NULL), FORS_OK);
	for (unsigned i = 0; i < FORS_LFTI_ROWS; i++) {
		bool is_there = row[i].nflows > 0;

		assert_true(fabs(row[i].routed - is_there) < 1e-12 && fabs(row[i].optimum - is_there) < 1e-12);
		if (strcmp(row[i].pattern, "permutation") == 0)
			assert_true(is_there);
		if (strcmp(row[i].pattern, "RANDN(20)") == 0)
			assert_false(is_there);
	}
}

/* Routes over a net with LIDs and without table entries, for its links. */
struct site {
	struct fors_net *net;
	struct fors_lfts *lfts;
	struct fors_endpoint *server;
	uint32_t nservers;
	struct fors_routes *routes;
};

static void site_new(struct site *site, struct fors_net *net)
{
	site->net = net;
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (net->node[i].type == FORS_CA)
			for (unsigned p = 1; p <= net->node[i].nports; p++)
				fors_net_port(net, i, p)->lid = (uint16_t)(1 + 4 * i + p);
	site->lfts = fors_lfts_new(1, 8);
	assert_non_null(site->lfts);
	assert_int_equal(fors_endpoints(net, NULL, &site->server, &site->nservers, NULL), FORS_OK);
	assert_int_equal(fors_routes_new(net, site->lfts, site->server, site->nservers, &site->routes, NULL), FORS_OK);
}

static void site_free(struct site *site)
{
	fors_routes_free(site->routes);
	free(site->server);
	fors_lfts_free(site->lfts);
	fors_net_free(site->net);
}

TEST(paths_over_a_net)
{
	struct world world CLEARED(world_free);
	struct site site CLEARED(site_free);
	struct fors_net *net;
	struct fors_tree_paths paths;
	struct fors_router router;
	struct fors_evaluation *bare, *over;
	struct fors_pattern *pattern FREED(fors_pattern_free) = NULL;
	uint32_t leaf;
	unsigned port;

	world_new(&world, "PGFT(3;2,3,2;1,2,2;1,2,1)", FORS_ROUTE_DMODK);
	assert_int_equal(fors_tree_net(&world.spec, &net, NULL), FORS_OK);
	site_new(&site, net);
	assert_int_equal(site.nservers, world.tree.servers);
	paths = (struct fors_tree_paths){.tree = &world.tree, .routing = FORS_ROUTE_DMODK};
	assert_int_equal(fors_tree_paths_over(&paths, site.routes, NULL), FORS_OK);
	router = fors_tree_router(&paths);
	pattern = pattern_of("all-to-all", world.tree.servers);
	assert_int_equal(fors_evaluate(&world.router, pattern, true, 1, &bare, NULL), FORS_OK);
	assert_int_equal(fors_evaluate(&router, pattern, true, 1, &over, NULL), FORS_OK);
	assert_int_equal(over->nbroken, 0);
	assert_int_equal(over->max_link_load, bare->max_link_load);
	assert_true(fabs(over->rates.aggregate - bare->rates.aggregate) < 1e-9);
	fors_evaluation_free(over);
	fors_tree_paths_clear(&paths);
	fors_net_find(net, "Leaf00[3]", &leaf, &port, NULL);
	fors_net_disconnect(net, leaf, port);
	fors_routes_free(site.routes);
	assert_int_equal(fors_routes_new(net, site.lfts, site.server, site.nservers, &site.routes, NULL), FORS_OK);
	paths = (struct fors_tree_paths){.tree = &world.tree, .routing = FORS_ROUTE_DMODK};
	assert_int_equal(fors_tree_paths_over(&paths, site.routes, NULL), FORS_OK);
	router = fors_tree_router(&paths);
	assert_int_equal(fors_evaluate(&router, pattern, true, 1, &over, NULL), FORS_OK);
	assert_in_range(over->nbroken, 1, over->nflows / 2);
	assert_int_equal(over->ways[FORS_WAY_DEAD], over->nbroken);
	fors_evaluation_free(over);
	fors_evaluation_free(bare);
	fors_tree_paths_clear(&paths);
}

/*
 * Two levels, three leaves of two servers, two spines. Server 1 is not there: the others move up by one, and are still
 * routed by their own numbers.
 */
static void check_without_server_1(const struct world *world, struct fors_net *net)
{
	struct site site CLEARED(site_free);
	struct fors_tree_paths paths CLEARED(fors_tree_paths_clear);
	struct fors_router router;
	uint32_t link[4], nlinks;

	site_new(&site, net);
	assert_int_equal(site.nservers, 5);
	paths = (struct fors_tree_paths){.tree = &world->tree, .routing = FORS_ROUTE_DMODK};
	assert_int_equal(fors_tree_paths_over(&paths, site.routes, NULL), FORS_OK);
	router = fors_tree_router(&paths);
	for (uint32_t d = 1; d < 5; d++) {
		assert_int_equal(router.route(router.context, (struct fors_pair){.src = 0, .dst = d}, link, &nlinks),
				 FORS_WAY_GOOD);
		assert_int_equal(site.routes->graph->to[link[nlinks - 1]], site.server[d].node);
		assert_int_equal(site.routes->graph->to[link[1]], 3 + (d + 1) % 2); /* spines follow the 3 leaves */
	}
}

TEST(servers_that_are_missing)
{
	struct world world CLEARED(world_free);
	struct fors_net *net;

	world_new(&world, "XGFT(2;2,3;1,2)", FORS_ROUTE_DMODK);
	assert_int_equal(fors_tree_net(&world.spec, &net, NULL), FORS_OK);
	fors_net_disconnect(net, fors_tree_first_node(&world.tree, 0) + 1, 1);
	check_without_server_1(&world, net);
}

TEST(slots_that_are_empty)
{
	struct world world CLEARED(world_free);
	struct fors_net *net;

	world_new(&world, "FT(2;2,3;empty=0/1)", FORS_ROUTE_DMODK);
	assert_int_equal(fors_tree_net(&world.spec, &net, NULL), FORS_OK);
	check_without_server_1(&world, net);
}

/* One switch, an adapter with both its ports on it, and one with one port: three servers, each with its own cable. */
TEST(an_adapter_with_two_ports_is_two_servers)
{
	struct fors_net *net = fors_net_new();
	uint32_t sw, two, one, src[] = {0, 1, 0}, dst[] = {2, 0, 1};
	struct site site CLEARED(site_free);
	struct fors_graph *graph FREED(fors_graph_free) = NULL;
	struct fors_cuts *cuts FREED(fors_cuts_free) = NULL;
	double rate[3];

	fors_net_add_node(net, FORS_SWITCH, 3, 100, "sw", "sw", &sw, NULL);
	fors_net_add_node(net, FORS_CA, 2, 200, "two", "two", &two, NULL);
	fors_net_add_node(net, FORS_CA, 1, 300, "one", "one", &one, NULL);
	fors_net_port(net, two, 1)->guid = 201;
	fors_net_port(net, two, 2)->guid = 202;
	fors_net_port(net, one, 1)->guid = 301;
	fors_net_connect(net, sw, 1, two, 1, NULL);
	fors_net_connect(net, sw, 2, two, 2, NULL);
	fors_net_connect(net, sw, 3, one, 1, NULL);
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	site_new(&site, net);
	assert_int_equal(site.nservers, 3);
	assert_int_equal(fors_graph_of_servers(site.routes, &graph, NULL), FORS_OK);
	assert_int_equal(fors_cuts_of_graph(graph, &cuts, NULL), FORS_OK);
	assert_int_equal(fors_cuts_optimum(cuts, src, dst, 3, 1, rate, NULL), FORS_OK);
	assert_true(fabs(rate[0] - 0.5) < 1e-12 && fabs(rate[1] - 1) < 1e-12 && fabs(rate[2] - 0.5) < 1e-12);
}
