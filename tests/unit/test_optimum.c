/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_optimum.c - the optimum over all routings: cuts, even shares, and two linear programs, against each other.
 *
 * On healthy trees all four are the same. On degraded ones even shares can be had, the generic program is the truth, and
 * the cuts are a bound: sorted upwards, each is not larger than the next in lexicographic order.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/model/optimum/cuts.h"
#include "lab/model/trees/tree_graph.h"
#include "core/base/random.h"
#include "core/net/tree_spec.h"
#include "lab/model/optimum/cuts_find.h"
#include "lab/model/optimum/cuts_reached.h"
#include "lab/model/optimum/generic.h"
#include "lab/model/optimum/shares.h"
#include "unit.h"

FREES(fors_cuts_free, struct fors_cuts *)
FREES(fors_graph_free, struct fors_graph *)

#define MOST 40
#define CLOSE 1e-9

struct flows {
	uint32_t n, src[MOST], dst[MOST];
};

static struct fors_tree tree_of(const char *text)
{
	struct fors_tree_spec spec;
	struct fors_error error = {0};

	if (fors_tree_spec_parse(text, &spec, &error))
		fail_msg("%s: %s", text, error.text);
	assert_int_equal(spec.empty.count, 0); /* nothing to free */
	return spec.tree;
}

/* The graph of a tree without the cables of dead[] (numbers below tree->cables). */
static struct fors_graph *graph_of(const struct fors_tree *tree, const bool *dead)
{
	struct fors_graph *graph;
	uint32_t kept = 0;

	assert_int_equal(fors_tree_graph(tree, &graph, NULL), FORS_OK);
	for (uint32_t l = 0; l < graph->nlinks; l++) {
		if (dead && dead[l % tree->cables])
			continue;
		graph->from[kept] = graph->from[l];
		graph->to[kept++] = graph->to[l];
	}
	graph->nlinks = kept;
	return graph;
}

enum method { CUTS, CUTS_FOUND, EVEN, ONE_LP, GENERIC, GENERIC_ANY, NMETHODS };

static const char *const method_names[] = {"cuts",	 "cuts found",		"even", "one-variable LP",
					   "generic LP", "generic LP, any path"};

/* False where lp_solve is not built in. */
static bool solve(enum method method, const struct fors_tree *tree, const struct fors_graph *graph,
		  const struct flows *flows, double *rate)
{
	struct fors_error error = {0};
	enum fors_err err;

	if (method == CUTS || method == CUTS_FOUND) {
		struct fors_cuts *cuts FREED(fors_cuts_free) = NULL;

		err = method == CUTS ? fors_cuts_of_tree(tree, &cuts, &error)
				     : fors_cuts_of_graph(graph, &cuts, &error);
		assert_int_equal(err, FORS_OK);
		err = fors_cuts_optimum(cuts, flows->src, flows->dst, flows->n, 2, rate, &error);
	} else if (method == GENERIC || method == GENERIC_ANY) {
		err = fors_generic_rates(graph, flows->src, flows->dst, flows->n, method == GENERIC_ANY, rate, &error);
	} else {
		struct fors_shares shares CLEARED(fors_shares_clear);

		assert_int_equal(fors_shares_of(graph, flows->src, flows->dst, flows->n, &shares, &error), FORS_OK);
		err = fors_shares_rates(graph, &shares, method == EVEN ? FORS_STEP_SEARCH : FORS_STEP_LP, rate, &error);
	}
	if (err && err != FORS_ENOTAPPL)
		fail_msg("%s: %s", method_names[method], error.text);
	return !err;
}

static void assert_rates(const double *rate, const double *wanted, uint32_t n, const char *spec, enum method method)
{
	for (uint32_t f = 0; f < n; f++)
		if (fabs(rate[f] - wanted[f]) > CLOSE)
			fail_msg("%s, %s: flow %u gets %.12f, not %.12f", spec, method_names[method], f, rate[f],
				 wanted[f]);
}

/* All methods on a healthy tree give `wanted`, or, when that is NULL, what the cuts give. */
static void assert_all(const char *spec, const struct flows *flows, const double *wanted)
{
	struct fors_tree tree = tree_of(spec);
	struct fors_graph *graph FREED(fors_graph_free) = graph_of(&tree, NULL);
	double first[MOST], rate[MOST];

	for (enum method method = CUTS; method < NMETHODS; method++)
		if (solve(method, &tree, graph, flows, rate)) {
			if (!wanted)
				wanted = memcpy(first, rate, sizeof(first));
			assert_rates(rate, wanted, flows->n, spec, method);
		}
}

TEST(no_flow)
{
	struct flows none = {0};

	assert_all("XGFT(2;2,2;1,2)", &none, NULL);
}

TEST(a_flow_to_itself_gets_nothing_and_takes_nothing)
{
	struct flows flows = {.n = 3, .src = {0, 0, 3}, .dst = {0, 3, 3}};

	assert_all("XGFT(2;2,2;1,2)", &flows, (double[]){0, 1, 0});
}

TEST(the_only_server_of_a_tree)
{
	struct flows flows = {.n = 1};

	assert_all("XGFT(1;1;1)", &flows, (double[]){0});
}

/* One leaf: the servers' links are all there is. Server 0 sends 3, server 4 receives 2. */
TEST(one_leaf)
{
	struct flows flows = {.n = 5, .src = {0, 0, 0, 1, 2}, .dst = {1, 2, 4, 4, 3}};
	double third = 1.0 / 3;

	assert_all("XGFT(1;5;1)", &flows, (double[]){third, third, third, 1 - third, 1});
}

/* Servers with two ports, one cable or three to each of two switches. */
TEST(servers_with_several_cables)
{
	struct flows flows = {.n = 3, .src = {0, 0, 1}, .dst = {1, 2, 2}};

	assert_all("XGFT(1;3;2)", &flows, (double[]){1, 1, 1});
	assert_all("PGFT(1;3;2;3)", &flows, (double[]){3, 3, 3});
}

/* A leaf of 4 servers with 2 uplinks: 4 flows out of it get 1/2, the one inside takes what its ends leave. */
TEST(a_slimmed_tree)
{
	struct flows flows = {.n = 5, .src = {0, 1, 2, 3, 0}, .dst = {4, 5, 6, 7, 1}};

	assert_all("XGFT(2;4,2;1,2)", &flows, (double[]){0.5, 0.5, 0.5, 0.5, 0.5});
}

/* The same with two cables to each of the two spines: full bandwidth; server 0 shares its link between two flows. */
TEST(parallel_cables)
{
	struct flows flows = {.n = 5, .src = {0, 1, 2, 3, 0}, .dst = {4, 5, 6, 7, 1}};

	assert_all("PGFT(2;4,2;1,2;1,2)", &flows, (double[]){0.5, 1, 1, 1, 0.5});
}

/* Pods of 4 servers with 2 uplinks in all, leaves of 2 with 2: the pod limits what leaves it, not what stays. */
TEST(three_levels)
{
	struct flows flows = {.n = 6, .src = {0, 1, 2, 3, 0, 4}, .dst = {4, 5, 6, 7, 2, 6}};

	assert_all("XGFT(3;2,2,2;1,2,1)", &flows, (double[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
}

static struct flows random_flows(struct fors_random *random, uint32_t nservers, uint32_t most)
{
	struct flows flows = {.n = fors_random_below(random, most + 1)};

	for (uint32_t f = 0; f < flows.n; f++) {
		flows.src[f] = fors_random_below(random, nservers);
		flows.dst[f] = fors_random_below(random, nservers);
	}
	return flows;
}

/* Up to three levels, slimmed or not, up to two cables, up to 27 servers. */
static void random_spec(struct fors_random *random, char *spec, size_t room)
{
	unsigned height = 1 + fors_random_below(random, 3), at = (unsigned)snprintf(spec, room, "PGFT(%u", height);
	const unsigned most[3] = {3, 3, 2};

	for (unsigned list = 0; list < 3; list++)
		for (unsigned i = 0; i < height; i++) {
			unsigned number = 1 + fors_random_below(random, list == 1 && i == 0 ? 2 : most[list]);

			at += (unsigned)snprintf(spec + at, room - at, "%c%u", i ? ',' : ';', number);
		}
	snprintf(spec + at, room - at, ")");
}

TEST(all_methods_on_random_trees)
{
	struct fors_random random = {6};
	char spec[80];

	for (unsigned i = 0; i < 300; i++) {
		struct flows flows;

		random_spec(&random, spec, sizeof(spec));
		flows = random_flows(&random, tree_of(spec).servers, 9);
		assert_all(spec, &flows, NULL);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorted upwards, the first difference is in favour of `larger`. */
static void assert_not_larger(const double *smaller, const double *larger, uint32_t n, const char *spec,
			      enum method method)
{
	double x[MOST], y[MOST];

	memcpy(x, smaller, n * sizeof(*x));
	memcpy(y, larger, n * sizeof(*y));
	qsort(x, n, sizeof(*x), compare_doubles);
	qsort(y, n, sizeof(*y), compare_doubles);
	for (uint32_t i = 0; i < n; i++) {
		if (x[i] < y[i] - CLOSE)
			return;
		if (x[i] > y[i] + CLOSE)
			fail_msg("%s: %s is beaten: %.12f, %.12f", spec, method_names[method], x[i], y[i]);
	}
}

/* One degraded tree; counts[0]: the cuts were the truth, [1]: and known to be, [2]: they were not. */
static void check_degraded(struct fors_random *random, const char *spec, unsigned counts[3])
{
	struct fors_tree tree = tree_of(spec);
	struct flows flows = random_flows(random, tree.servers, 8);
	bool *dead = calloc(tree.cables, sizeof(*dead)), fit, always, is_same = true;
	double rate[NMETHODS][MOST];
	struct fors_graph *graph FREED(fors_graph_free) = NULL;

	for (uint32_t i = 1 + fors_random_below(random, 3); i; i--)
		dead[tree.first[tree.height > 1] +
		     fors_random_below(random, tree.cables - tree.first[tree.height > 1])] = true;
	graph = graph_of(&tree, dead);
	for (enum method method = CUTS_FOUND; method < NMETHODS; method++)
		if (!solve(method, &tree, graph, &flows, rate[method]))
			skip();
	assert_rates(rate[ONE_LP], rate[EVEN], flows.n, spec, ONE_LP);
	assert_not_larger(rate[EVEN], rate[GENERIC], flows.n, spec, GENERIC);
	assert_not_larger(rate[GENERIC], rate[GENERIC_ANY], flows.n, spec, GENERIC_ANY);
	assert_not_larger(rate[GENERIC_ANY], rate[CUTS_FOUND], flows.n, spec, CUTS_FOUND);
	for (uint32_t f = 0; f < flows.n; f++)
		is_same &= fabs(rate[GENERIC][f] - rate[CUTS_FOUND][f]) < CLOSE;
	assert_int_equal(fors_shares_fit(graph, flows.src, flows.dst, flows.n, rate[CUTS_FOUND], &fit, NULL), FORS_OK);
	assert_true(!fit || is_same);
	assert_int_equal(fors_cuts_reached(graph, &always, NULL), FORS_OK);
	assert_true(!always || is_same);
	counts[0] += is_same;
	counts[1] += fit;
	counts[2] += !is_same;
	free(dead);
}

TEST(bounds_on_degraded_trees)
{
	struct fors_random random = {8};
	unsigned counts[3] = {0};
	char spec[80];

	for (unsigned i = 0; i < 300; i++) {
		random_spec(&random, spec, sizeof(spec));
		check_degraded(&random, spec, counts);
	}
	assert_in_range(counts[1], 100, counts[0]);
	assert_in_range(counts[2], 1, 300);
}

/* Leaf 0 reaches spine 0 only, leaf 1 spine 1 only: each has an uplink, but no path leads from one to the other. */
TEST(a_bound_that_is_not_reached)
{
	struct fors_tree tree = tree_of("XGFT(2;1,3;1,2)");
	bool dead[9] = {false};
	struct flows flows = {.n = 2, .src = {0, 2}, .dst = {1, 0}};
	struct fors_graph *graph FREED(fors_graph_free) = NULL;
	double rate[MOST];

	dead[fors_tree_up(&tree, 1, 0, 1)] = dead[fors_tree_up(&tree, 1, 1, 0)] = true;
	graph = graph_of(&tree, dead);
	solve(CUTS_FOUND, &tree, graph, &flows, rate);
	assert_rates(rate, (double[]){1, 1}, 2, "degraded", CUTS_FOUND);
	if (solve(GENERIC_ANY, &tree, graph, &flows, rate))
		assert_rates(rate, (double[]){1, 1}, 2, "degraded", GENERIC_ANY); /* through leaf 2 */
}

/* A spine that lost all cables but one is no way: leaf 0 has one useful uplink, not two. */
TEST(a_dead_end_counts_for_nothing)
{
	struct fors_tree tree = tree_of("XGFT(2;2,3;1,2)");
	bool dead[12] = {false};
	struct flows flows = {.n = 2, .src = {0, 1}, .dst = {2, 4}};
	struct fors_graph *graph FREED(fors_graph_free) = NULL;
	double rate[MOST];

	dead[fors_tree_up(&tree, 1, 1, 1)] = dead[fors_tree_up(&tree, 1, 2, 1)] = true;
	graph = graph_of(&tree, dead);
	for (enum method method = CUTS_FOUND; method < NMETHODS; method++)
		if (solve(method, &tree, graph, &flows, rate))
			assert_rates(rate, (double[]){0.5, 0.5}, 2, "dead end", method);
}

static bool is_always_reached(const char *spec, const char *dead_cables)
{
	struct fors_tree tree = tree_of(spec);
	bool *dead = calloc(tree.cables, sizeof(*dead)), always;
	struct fors_graph *graph FREED(fors_graph_free) = NULL;

	for (uint32_t i = 0; dead_cables[i]; i++)
		dead[tree.first[1] + i] = dead_cables[i] == 'x';
	graph = graph_of(&tree, dead);
	assert_int_equal(fors_cuts_reached(graph, &always, NULL), FORS_OK);
	free(dead);
	return always;
}

/* Cables of leaf 0 to spines 0, 1, 2, then of leaf 1, leaf 2. */
TEST(what_the_cables_alone_tell)
{
	assert_true(is_always_reached("XGFT(1;3;1)", ""));
	assert_true(is_always_reached("XGFT(2;2,3;1,3)", ""));
	assert_true(is_always_reached("XGFT(2;2,3;1,3)", "..x..x..x"));	   /* a dead spine */
	assert_true(is_always_reached("XGFT(2;2,3;1,3)", "xxx......"));	   /* a dead leaf */
	assert_false(is_always_reached("XGFT(2;2,3;1,3)", "..x......"));   /* a dead cable */
	assert_true(is_always_reached("PGFT(2;2,2;1,2;1,2)", "x.x.....")); /* one of the two cables to each spine */
	assert_false(is_always_reached("PGFT(2;2,2;1,2;1,2)", "x......."));
	assert_false(is_always_reached("XGFT(3;2,2,2;1,2,2)", "")); /* for two levels only */
	assert_false(is_always_reached("XGFT(1;3;2)", ""));	    /* and servers with one switch */
}

TEST(servers_that_nothing_connects)
{
	struct fors_tree tree = tree_of("XGFT(2;2,2;1,1)");
	bool dead[6] = {false};
	struct flows flows = {.n = 2, .src = {0, 0}, .dst = {2, 1}};
	struct fors_graph *graph FREED(fors_graph_free) = NULL;
	double rate[MOST];

	dead[fors_tree_up(&tree, 1, 0, 0)] = true;
	graph = graph_of(&tree, dead);
	for (enum method method = CUTS_FOUND; method < NMETHODS; method++)
		if (solve(method, &tree, graph, &flows, rate))
			assert_rates(rate, (double[]){0, 1}, 2, "cut in two", method);
}

TEST(the_same_bytes_on_any_number_of_threads)
{
	struct fors_tree tree = tree_of("XGFT(3;12,12,24;1,6,12)");
	uint32_t n = 10 * tree.servers, *src = malloc(n * sizeof(*src)), *dst = malloc(n * sizeof(*dst));
	double *rate[2] = {malloc(n * sizeof(double)), malloc(n * sizeof(double))};
	struct fors_random random = {3};
	struct fors_cuts *cuts;

	for (uint32_t f = 0; f < n; f++) {
		src[f] = f / 10;
		dst[f] = fors_random_below(&random, tree.servers);
	}
	assert_int_equal(fors_cuts_of_tree(&tree, &cuts, NULL), FORS_OK);
	assert_int_equal(fors_cuts_optimum(cuts, src, dst, n, 1, rate[0], NULL), FORS_OK);
	assert_int_equal(fors_cuts_optimum(cuts, src, dst, n, 4, rate[1], NULL), FORS_OK);
	assert_memory_equal(rate[0], rate[1], n * sizeof(double));
	fors_cuts_free(cuts);
	free(src);
	free(dst);
	free(rate[0]);
	free(rate[1]);
}
