/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_tree.c - fat-trees of any height: their numbers, their graphs, and single paths in them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/net/tree_spec.h"
#include "lab/model/routers/tree_route.h"
#include "lab/model/trees/tree_graph.h"
#include "unit.h"

FREES(fors_graph_free, struct fors_graph *)

static struct fors_tree tree_of(const char *text)
{
	struct fors_tree_spec spec;
	struct fors_error error = {0};

	if (fors_tree_spec_parse(text, &spec, &error))
		fail_msg("%s: %s", text, error.text);
	assert_int_equal(spec.empty.count, 0); /* nothing to free */
	return spec.tree;
}

TEST(sizes_of_the_papers_trees)
{
	struct fors_tree tree = tree_of("XGFT(3;18,18,36;1,18,18)");

	assert_int_equal(tree.servers, 11664);
	assert_int_equal(2 * tree.cables, 2 * (11664 + 11664 + 11664));
	assert_int_equal(fors_tree_nodes(&tree, 1), 648);
	assert_int_equal(fors_tree_nodes(&tree, 3), 324);
	assert_int_equal(tree_of("XGFT(3;24,24,36;1,12,12)").servers, 20736);
}

/* What would not fit into memory is refused by its numbers alone; the largest trees are just below. */
TEST(trees_that_are_too_large)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"XGFT(4;30,30,30,30;1,30,30,30)", "the tree has 810000 servers; fors takes trees of at most 262144"},
		{"XGFT(3;65535,65535,2;1,1,1)", "the tree has at least 4294836225 servers"},
		{"XGFT(1;262145;1)", "larger than 65535"},
		{"XGFT(2;64,4097;1,1)", "has 262208 servers"},
		{"PGFT(1;1000;1000;1000)", "the tree has 1000000000 cables; fors takes trees of at most 4194304"},
		{"PGFT(1;65535;65535;65535)", "cables"},
		{"XGFT(3;1,1,1;1,65535,65535)", "at least 4294836225 cables"},
		{"XGFT(8;1,1,1,1,1,1,1,1;65535,65535,65535,65535,65535,65535,65535,65535)", "cables"},
		{"PGFT(8;1,1,1,1,1,1,1,1;1,1,1,1,1,1,1,1;1,1,1,1,1,1,1,65535)", NULL},
		{"XGFT(2;64,4096;1,1)", NULL},
		{"PGFT(2;64,64;8,16;8,512)", "has 4456448 cables"},
		{"XGFT(3;64,64,64;1,7,7)", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fors_tree_spec spec = {0};
		struct fors_error error = {0};

		assert_int_equal(fors_tree_spec_parse(cases[i].text, &spec, &error),
				 cases[i].message ? FORS_ELIMIT : FORS_OK);
		if (cases[i].message && !strstr(error.text, cases[i].message))
			fail_msg("%s: %s", cases[i].text, error.text);
		assert_true(spec.tree.servers <= FORS_TREE_SERVERS && spec.tree.cables <= FORS_TREE_CABLES);
	}
}

TEST(ports)
{
	struct fors_tree wide = tree_of("XGFT(2;200,2;1,55)"), tall = tree_of("XGFT(1;255;1)"),
			 multi = tree_of("XGFT(1;2;2)"), middle = tree_of("XGFT(3;2,200,2;1,2,55)"),
			 good = tree_of("PGFT(3;20,100,127;1,27,54;1,2,1)");
	struct fors_error error;

	assert_int_equal(fors_tree_check_ports(&wide, &error), FORS_ELIMIT);
	assert_string_equal(error.text, "a leaf needs 255 ports, a switch has at most 254");
	assert_int_equal(fors_tree_check_ports(&tall, &error), FORS_ELIMIT);
	assert_int_equal(fors_tree_check_ports(&middle, &error), FORS_ELIMIT);
	assert_string_equal(error.text, "a level-2 switch needs 255 ports, a switch has at most 254");
	assert_int_equal(fors_tree_check_ports(&multi, &error), FORS_ENOTAPPL);
	assert_int_equal(fors_tree_check_ports(&good, &error), FORS_OK);
}

/* Every path leads from its source to its destination, over links that are joined. */
static void check_path(const struct fors_tree *tree, const struct fors_graph *graph, enum fors_tree_routing routing,
		       uint32_t s, uint32_t d)
{
	uint32_t path[2 * FORS_TREE_LEVELS], at = graph->server[s];
	unsigned n = fors_tree_route(tree, routing, 5, s, d, path);

	assert_int_equal(n, 2 * fors_tree_meet(tree, s, d));
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(graph->from[path[i]], at);
		at = graph->to[path[i]];
	}
	assert_int_equal(at, graph->server[d]);
}

TEST(every_path_arrives)
{
	static const char *const specs[] = {"XGFT(1;3;1)", "PGFT(1;3;2;2)", "XGFT(2;4,3;1,2)",
					    "PGFT(3;2,3,2;2,3,2;2,1,3)", "XGFT(4;2,2,2,2;1,2,1,3)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fors_tree tree = tree_of(specs[i]);
		struct fors_graph *graph FREED(fors_graph_free) = NULL;

		assert_int_equal(fors_tree_graph(&tree, &graph, NULL), FORS_OK);
		for (enum fors_tree_routing routing = FORS_ROUTE_DMODK; routing <= FORS_ROUTE_HASH; routing++)
			for (uint32_t s = 0; s < tree.servers; s++)
				for (uint32_t d = 0; d < tree.servers; d++)
					check_path(&tree, graph, routing, s, d);
	}
}

/* D-mod-K on a full tree carries every shift without two flows on a link. */
TEST(d_mod_k_carries_shifts)
{
	struct fors_tree tree = tree_of("XGFT(3;3,3,6;1,3,3)");
	uint8_t *load FREED(free) = calloc(2 * (size_t)tree.cables, 1);

	for (uint32_t by = 1; by < tree.servers; by++) {
		memset(load, 0, 2 * (size_t)tree.cables);
		for (uint32_t s = 0; s < tree.servers; s++) {
			uint32_t path[2 * FORS_TREE_LEVELS];
			unsigned n = fors_tree_route(&tree, FORS_ROUTE_DMODK, 0, s, (s + by) % tree.servers, path);

			for (unsigned i = 0; i < n; i++)
				assert_int_equal(++load[path[i]], 1);
		}
	}
}

/* By hand: from server 5 the second level's cable is (5 / 1) mod 2 for S-mod-K, (d / 1) mod 2 for D-mod-K. */
TEST(paths_by_hand)
{
	struct fors_tree tree = tree_of("XGFT(2;2,4;1,2)");
	uint32_t path[4];

	fors_tree_route(&tree, FORS_ROUTE_SMODK, 0, 5, 2, path);
	assert_int_equal(path[0], 5);
	assert_int_equal(path[1], 8 + 2 * 2 + 1);
	assert_int_equal(path[2], 16 + 8 + 2 * 1 + 1);
	assert_int_equal(path[3], 16 + 2);
	fors_tree_route(&tree, FORS_ROUTE_DMODK, 0, 5, 2, path);
	assert_int_equal(path[1], 8 + 2 * 2 + 0);
	assert_int_equal(path[2], 16 + 8 + 2 * 1 + 0);
}

TEST(hashed_paths_depend_on_the_destination_alone)
{
	struct fors_tree tree = tree_of("XGFT(2;4,4;1,4)");
	unsigned differ = 0;

	for (uint32_t s = 0; s < 12; s++) {
		uint32_t a[4], b[4], c[4];

		fors_tree_route(&tree, FORS_ROUTE_HASH, 1, s, 15, a);
		fors_tree_route(&tree, FORS_ROUTE_HASH, 1, 0, 15, b);
		fors_tree_route(&tree, FORS_ROUTE_RANDOM, 1, s, 15, c);
		assert_int_equal(a[2], b[2]);
		differ += a[2] != c[2];
	}
	assert_in_range(differ, 1, 12);
}

TEST(names_of_routings)
{
	enum fors_tree_routing routing;
	struct fors_error error = {0};

	for (enum fors_tree_routing r = FORS_ROUTE_DMODK; r <= FORS_ROUTE_HASH; r++) {
		assert_int_equal(fors_tree_routing_parse(fors_tree_routing_name(r), &routing, NULL), FORS_OK);
		assert_int_equal(routing, r);
	}
	assert_int_equal(fors_tree_routing_parse("ospf", &routing, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "d-mod-k"));
}
