/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads of packets that go by chance: against tables where there is one way, by hand, and by what has to add up. */
#include <math.h>
#include <stdlib.h>

#include "core/net/tree_spec.h"
#include "lab/model/measure/evaluate.h"
#include "lab/model/measure/spread.h"
#include "lab/model/routers/tree_router.h"
#include "lab/model/trees/tree_graph.h"
#include "unit.h"

FREES(fors_pattern_free, struct fors_pattern *)
FREES(fors_spread_free, struct fors_spread *)

FREES(fors_evaluation_free, struct fors_evaluation *)

static struct fors_error error;

struct world {
	struct fors_tree_spec spec;
	struct fors_graph *graph;
	struct fors_tree_paths paths;
	struct fors_router router;
	struct fors_hops *hops;
};

static void world_new(struct world *w, const char *text, bool to_all)
{
	*w = (struct world){.paths = {.routing = FORS_ROUTE_DMODK}};
	assert_int_equal(fors_tree_spec_parse(text, &w->spec, &error), FORS_OK);
	assert_int_equal(fors_tree_graph(&w->spec.tree, &w->graph, &error), FORS_OK);
	assert_int_equal(fors_hops_new(w->graph, to_all, &w->hops, &error), FORS_OK);
	w->paths.tree = &w->spec.tree;
	w->paths.graph = w->graph;
	w->router = fors_tree_router(&w->paths);
}

static void world_free(struct world *w)
{
	fors_hops_free(w->hops);
	fors_graph_free(w->graph);
	fors_tree_spec_clear(&w->spec);
}

static struct fors_pattern *pattern_of(const struct world *w, const char *name)
{
	struct fors_pattern_options options = {.seed = 5};
	struct fors_pattern *p = NULL;

	assert_int_equal(fors_pattern_new(name, w->graph->nservers, &options, &p, &error), FORS_OK);
	return p;
}

static struct fors_spread *spread_of(const struct world *w, const char *name, enum fors_spread_kind kind,
				     const struct fors_blocks *blocks)
{
	struct fors_pattern *p FREED(fors_pattern_free) = pattern_of(w, name);
	struct fors_spread *s = NULL;

	assert_int_equal(fors_spread_loads(&w->router, w->hops, blocks, kind, p, &s, &error), FORS_OK);
	assert_int_equal(s->nbroken, 0);
	return s;
}

/* One root: the loads are the tables'. */
TEST(one_way_is_the_tables)
{
	static const char *const names[] = {"linear-shift", "all-to-all", "permutation", "incast"};
	struct world w CLEARED(world_free);

	world_new(&w, "XGFT(3;3,2,4;1,1,1)", false);
	for (size_t i = 0; i < 4; i++) {
		struct fors_pattern *p FREED(fors_pattern_free) = pattern_of(&w, names[i]);
		struct fors_spread *s FREED(fors_spread_free) = spread_of(&w, names[i], FORS_SPREAD_ANY, NULL);
		struct fors_evaluation *e FREED(fors_evaluation_free) = NULL;

		assert_int_equal(fors_evaluate(&w.router, p, false, 1, &e, &error), FORS_OK);
		for (uint32_t l = 0; l < e->nlinks; l++)
			assert_true(fabs(s->link_load[l] - e->link_load[l]) < 1e-9);
		for (uint32_t phase = 0; phase < e->nphases; phase++)
			assert_true(fabs(s->phase_load[phase] - e->phase_load[phase]) < 1e-9);
		assert_true(fabs(s->time - e->time) < 1e-9 && fabs(s->max_load - e->max_link_load) < 1e-9);
	}
}

/* Four servers and four roots a leaf: whatever crosses is a quarter on each of them; over detours twice the way. */
TEST(parts_are_even)
{
	struct world w CLEARED(world_free);
	struct fors_spread *any, *vlb;

	world_new(&w, "XGFT(2;4,5;1,4)", false);
	any = spread_of(&w, "shift(6)", FORS_SPREAD_ANY,
			NULL); /* four of each leaf, two of them over each of two leaves */
	vlb = spread_of(&w, "shift(6)", FORS_SPREAD_VLB, NULL);
	for (uint32_t l = 0; l < w.graph->nlinks; l++) {
		assert_true(fabs(any->link_load[l] - 1) < 1e-9);
		if (w.graph->is_terminal[w.graph->from[l]] || w.graph->is_terminal[w.graph->to[l]])
			assert_true(fabs(vlb->link_load[l] - 1) < 1e-9);
		else
			assert_true(fabs(vlb->link_load[l] - 2) < 1e-9);
	}
	assert_true(fabs(any->max_load - 1) < 1e-9 && fabs(vlb->max_load - 2) < 1e-9 && fabs(vlb->time - 2) < 1e-9);
	fors_spread_free(any);
	fors_spread_free(vlb);
}

/* Each flow loads as many links as a shortest way has, in parts or not. */
TEST(lengths_add_up)
{
	static const char *const specs[] = {"XGFT(3;3,3,3;1,3,3)", "XGFT(3;2,4,3;1,3,2)", "PGFT(2;3,4;1,2;1,2)"};

	for (size_t i = 0; i < 3; i++) {
		struct world w CLEARED(world_free);
		struct fors_spread *s FREED(fors_spread_free) = NULL;
		struct fors_pattern *p FREED(fors_pattern_free) = NULL;
		double sum = 0, expected = 0;
		uint32_t path[16], n;

		world_new(&w, specs[i], false);
		s = spread_of(&w, "permutation", FORS_SPREAD_ANY, NULL);
		p = pattern_of(&w, "permutation");
		for (size_t k = 0; k < fors_pattern_npairs(p, 0); k++) {
			assert_true(w.router.max_links <= 16);
			w.router.route(w.router.context, fors_pattern_pair(p, 0, k), path, &n);
			expected += n;
		}
		for (uint32_t l = 0; l < w.graph->nlinks; l++)
			sum += s->link_load[l];
		assert_true(fabs(sum - expected) < 1e-6);
	}
}

/* Two blocks of leaves of a tree have no link: all goes as ECMP; a block's link in between carries what goes by TAGO. */
TEST(tago_takes_global_links)
{
	struct world w CLEARED(world_free);
	struct fors_blocks *blocks = NULL;
	struct fors_spread *tago, *any;
	uint32_t block_of[64], count, nglobal = 0;

	world_new(&w, "XGFT(2;2,3;1,2)", true);
	assert_true(w.graph->nnodes <= 64 && w.hops->ngoals == 5);
	for (uint32_t i = 0; i < w.graph->nnodes; i++) /* each switch is a block */
		block_of[i] = w.hops->goal_of[i];
	assert_int_equal(fors_blocks_new(w.graph, block_of, 5, &blocks, &error), FORS_OK);
	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t j = 0; j < 5; j++) {
			fors_blocks_links(blocks, i, j, &count);
			assert_int_equal(count, i / 3 != j / 3); /* leaves are goals 0 to 2, roots 3 and 4 */
			nglobal += count;
		}
	assert_int_equal(nglobal, 12);
	tago = spread_of(&w, "shift(2)", FORS_SPREAD_TAGO, blocks);
	any = spread_of(&w, "shift(2)", FORS_SPREAD_ANY, NULL);
	for (uint32_t l = 0; l < w.graph->nlinks; l++)
		assert_true(fabs(tago->link_load[l] - any->link_load[l]) < 1e-9);
	fors_spread_free(tago);
	fors_spread_free(any);
	fors_blocks_free(blocks);
	assert_int_equal(fors_blocks_new(w.graph, block_of, 5000, &blocks, &error), FORS_ELIMIT);
}
