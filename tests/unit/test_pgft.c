/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_pgft.c - fat-trees of any height: their numbers, their nets, and single paths in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/net/synthetic.h"
#include "model/trees/pgft_net.h"

static struct fors_pgft tree_of(const char *spec)
{
	struct fors_pgft tree;
	struct fors_error error = {0};

	if (fors_pgft_parse(spec, &tree, &error))
		fail_msg("%s: %s", spec, error.text);
	return tree;
}

static void sizes_of_the_papers_trees(void **state)
{
	struct fors_pgft tree = tree_of("XGFT(3;18,18,36;1,18,18)");

	assert_int_equal(tree.servers, 11664);
	assert_int_equal(2 * tree.cables, 2 * (11664 + 11664 + 11664));
	assert_int_equal(fors_pgft_nodes(&tree, 1), 648);
	assert_int_equal(fors_pgft_nodes(&tree, 3), 324);
	assert_int_equal(tree_of("XGFT(3;24,24,36;1,12,12)").servers, 20736);
}

static void text_and_back(void **state)
{
	struct fors_pgft tree = tree_of(" PGFT( 2 ; 20,18 ; 1,20 ; 1,1 ) ");
	char *text;

	assert_int_equal(fors_pgft_format(&tree, &text, NULL), FORS_OK);
	assert_string_equal(text, "XGFT(2;20,18;1,20)");
	free(text);
	tree = tree_of("PGFT(1;4;2;3)");
	assert_int_equal(fors_pgft_format(&tree, &text, NULL), FORS_OK);
	assert_string_equal(text, "PGFT(1;4;2;3)");
	free(text);
}

static void bad_specifications(void **state)
{
	static const char *const bad[] = {"",
					  "XGFT",
					  "XGFT(",
					  "XGFT(0;;)",
					  "XGFT(9;1;1)",
					  "XGFT(2;3;1,1)",
					  "XGFT(2;3,3;1)",
					  "XGFT(2;3,3;1,1",
					  "XGFT(2;3,3;1,1;1,1)",
					  "PGFT(2;3,3;1,1)",
					  "XGFT(1;0;1)",
					  "XGFT(1;-1;1)",
					  "XGFT(1;65536;1)",
					  "XGFT(1;3;1)x",
					  "XGFT(2;3,3,3;1,1)",
					  "FT(2;3,3)"};
	struct fors_pgft tree;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct fors_error error = {0};

		assert_int_equal(fors_pgft_parse(bad[i], &tree, &error), FORS_EINPUT);
		assert_non_null(strstr(error.text, "character"));
	}
	assert_int_equal(fors_pgft_parse("XGFT(3;65535,65535,2;1,1,1)", &tree, NULL), FORS_ELIMIT);
	assert_int_equal(fors_pgft_parse("PGFT(1;65535;65535;65535)", &tree, NULL), FORS_ELIMIT);
}

static void assert_same_net(const struct fors_net *a, const struct fors_net *b)
{
	assert_int_equal(a->nnodes, b->nnodes);
	assert_int_equal(a->nports, b->nports);
	for (uint32_t n = 0; n < a->nnodes; n++) {
		assert_string_equal(a->node[n].id, b->node[n].id);
		assert_true(a->node[n].guid == b->node[n].guid);
	}
	for (uint32_t p = 0; p < a->nports; p++) {
		assert_true(a->port[p].guid == b->port[p].guid);
		assert_int_equal(a->port[p].peer, b->port[p].peer);
		assert_int_equal(a->port[p].peer_port, b->port[p].peer_port);
	}
}

static void two_levels_are_the_fabric_of_ft(void **state)
{
	struct fors_pgft tree = tree_of("PGFT(2;4,5;1,3;1,2)");
	struct fors_spec spec;
	struct fors_net *net, *wanted;

	assert_int_equal(fors_spec_parse("FT(2;3,5;servers=4;cables=2)", &spec, NULL), FORS_OK);
	assert_int_equal(fors_synthetic(&spec, &wanted, NULL), FORS_OK);
	assert_int_equal(fors_pgft_net(&tree, &net, NULL), FORS_OK);
	assert_same_net(net, wanted);
	fors_net_free(net);
	fors_net_free(wanted);
	fors_spec_clear(&spec);
}

static void nets_that_cannot_be(void **state)
{
	struct fors_pgft wide = tree_of("XGFT(2;200,2;1,55)"), tall = tree_of("XGFT(1;255;1)"),
			 multi = tree_of("XGFT(1;2;2)");
	struct fors_net *net;

	assert_int_equal(fors_pgft_net(&wide, &net, NULL), FORS_ELIMIT);
	assert_int_equal(fors_pgft_net(&tall, &net, NULL), FORS_ELIMIT);
	assert_int_equal(fors_pgft_net(&multi, &net, NULL), FORS_ENOTAPPL);
}

/* Every path leads from its source to its destination, over links that are joined. */
static void check_path(const struct fors_pgft *tree, const struct fors_graph *graph, enum fors_pgft_routing routing,
		       uint32_t s, uint32_t d)
{
	uint32_t path[2 * FORS_PGFT_LEVELS], at = graph->server[s];
	unsigned n = fors_pgft_route(tree, routing, 5, s, d, path);

	assert_int_equal(n, 2 * fors_pgft_meet(tree, s, d));
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(graph->from[path[i]], at);
		at = graph->to[path[i]];
	}
	assert_int_equal(at, graph->server[d]);
}

static void every_path_arrives(void **state)
{
	static const char *const specs[] = {"XGFT(1;3;1)", "PGFT(1;3;2;2)", "XGFT(2;4,3;1,2)",
					    "PGFT(3;2,3,2;2,3,2;2,1,3)", "XGFT(4;2,2,2,2;1,2,1,3)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fors_pgft tree = tree_of(specs[i]);
		struct fors_graph *graph;

		assert_int_equal(fors_pgft_graph(&tree, &graph, NULL), FORS_OK);
		for (enum fors_pgft_routing routing = FORS_ROUTE_DMODK; routing <= FORS_ROUTE_HASH; routing++)
			for (uint32_t s = 0; s < tree.servers; s++)
				for (uint32_t d = 0; d < tree.servers; d++)
					check_path(&tree, graph, routing, s, d);
		fors_graph_free(graph);
	}
}

/* D-mod-K on a full tree carries every shift without two flows on a link. */
static void d_mod_k_carries_shifts(void **state)
{
	struct fors_pgft tree = tree_of("XGFT(3;3,3,6;1,3,3)");
	uint8_t *load = calloc(2 * (size_t)tree.cables, 1);

	for (uint32_t by = 1; by < tree.servers; by++) {
		memset(load, 0, 2 * (size_t)tree.cables);
		for (uint32_t s = 0; s < tree.servers; s++) {
			uint32_t path[2 * FORS_PGFT_LEVELS];
			unsigned n = fors_pgft_route(&tree, FORS_ROUTE_DMODK, 0, s, (s + by) % tree.servers, path);

			for (unsigned i = 0; i < n; i++)
				assert_int_equal(++load[path[i]], 1);
		}
	}
	free(load);
}

/* By hand: from server 5 the second level's cable is (5 / 1) mod 2 for S-mod-K, (d / 1) mod 2 for D-mod-K. */
static void paths_by_hand(void **state)
{
	struct fors_pgft tree = tree_of("XGFT(2;2,4;1,2)");
	uint32_t path[4];

	fors_pgft_route(&tree, FORS_ROUTE_SMODK, 0, 5, 2, path);
	assert_int_equal(path[0], 5);
	assert_int_equal(path[1], 8 + 2 * 2 + 1);
	assert_int_equal(path[2], 16 + 8 + 2 * 1 + 1);
	assert_int_equal(path[3], 16 + 2);
	fors_pgft_route(&tree, FORS_ROUTE_DMODK, 0, 5, 2, path);
	assert_int_equal(path[1], 8 + 2 * 2 + 0);
	assert_int_equal(path[2], 16 + 8 + 2 * 1 + 0);
}

static void hashed_paths_depend_on_the_destination_alone(void **state)
{
	struct fors_pgft tree = tree_of("XGFT(2;4,4;1,4)");
	unsigned differ = 0;

	for (uint32_t s = 0; s < 12; s++) {
		uint32_t a[4], b[4], c[4];

		fors_pgft_route(&tree, FORS_ROUTE_HASH, 1, s, 15, a);
		fors_pgft_route(&tree, FORS_ROUTE_HASH, 1, 0, 15, b);
		fors_pgft_route(&tree, FORS_ROUTE_RANDOM, 1, s, 15, c);
		assert_int_equal(a[2], b[2]);
		differ += a[2] != c[2];
	}
	assert_in_range(differ, 1, 12);
}

static void names_of_routings(void **state)
{
	enum fors_pgft_routing routing;
	struct fors_error error = {0};

	for (enum fors_pgft_routing r = FORS_ROUTE_DMODK; r <= FORS_ROUTE_HASH; r++) {
		assert_int_equal(fors_pgft_routing_parse(fors_pgft_routing_name(r), &routing, NULL), FORS_OK);
		assert_int_equal(routing, r);
	}
	assert_int_equal(fors_pgft_routing_parse("ospf", &routing, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "d-mod-k"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_the_papers_trees),
		cmocka_unit_test(text_and_back),
		cmocka_unit_test(bad_specifications),
		cmocka_unit_test(two_levels_are_the_fabric_of_ft),
		cmocka_unit_test(nets_that_cannot_be),
		cmocka_unit_test(every_path_arrives),
		cmocka_unit_test(d_mod_k_carries_shifts),
		cmocka_unit_test(paths_by_hand),
		cmocka_unit_test(hashed_paths_depend_on_the_destination_alone),
		cmocka_unit_test(names_of_routings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
