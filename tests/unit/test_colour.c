/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_colour.c - the edge colouring: random graphs, tight and loose, with and without groups and copies. */
#include "core/colouring/colour.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_EDGES 20000
#define MAX_NODES 400

struct graph {
	struct fors_multigraph graph;
	uint16_t left[MAX_EDGES], right[MAX_EDGES], mult[MAX_EDGES];
	uint16_t cap[2][MAX_NODES], group[2][MAX_NODES], group_cap[2][MAX_NODES];
	uint32_t given[MAX_EDGES]; /* copies coloured so far */
	uint32_t used[2][MAX_NODES], used_group[2][MAX_NODES];
	bool coloured[4096];
	uint32_t ncoloured;
};

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

static void check_side(struct graph *g, int s, uint32_t node)
{
	const struct fors_colour_side *side = &g->graph.side[s];

	assert_true(++g->used[s][node] <= (side->cap ? side->cap[node] : 1u));
	if (side->ngroups)
		assert_true(++g->used_group[s][side->group[node]] <= side->group_cap[side->group[node]]);
}

static enum fors_err check_colour(void *context, uint32_t colour, const uint32_t *edge, uint32_t count)
{
	struct graph *g = context;

	assert_true(colour >= 7 && colour < 7 + 4096 && !g->coloured[colour - 7]);
	g->coloured[colour - 7] = true;
	g->ncoloured++;
	memset(g->used, 0, sizeof(g->used));
	memset(g->used_group, 0, sizeof(g->used_group));
	for (uint32_t i = 0; i < count; i++) {
		assert_true(edge[i] < g->graph.nedges);
		assert_true(i == 0 || g->graph.left[edge[i]] >= g->graph.left[edge[i - 1]]);
		g->given[edge[i]]++;
		check_side(g, 0, g->graph.left[edge[i]]);
		check_side(g, 1, g->graph.right[edge[i]]);
	}
	return FORS_OK;
}

static void colour_and_check(struct graph *g, uint32_t ncolours)
{
	struct fors_colour_space *space = fors_colour_space_new(g->graph.nedges, MAX_NODES);
	struct fors_error error = {0};

	assert_non_null(space);
	memset(g->given, 0, sizeof(g->given));
	memset(g->coloured, 0, sizeof(g->coloured));
	g->ncoloured = 0;
	assert_int_equal(fors_colour(space, &g->graph, 7, ncolours, check_colour, g, &error), FORS_OK);
	assert_int_equal(g->ncoloured, ncolours);
	for (uint32_t c = 0; c < ncolours; c++)
		assert_true(g->coloured[c]);
	for (uint32_t e = 0; e < g->graph.nedges; e++)
		assert_int_equal(g->given[e], g->graph.mult ? g->graph.mult[e] : 1);
	fors_colour_space_free(space);
}

/* Add `count` copies of an edge to a dense matrix, then list it: left ascending. */
static void list_edges(struct graph *g, const uint16_t *matrix, uint32_t nl, uint32_t nr, bool copies)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nl; i++) {
		for (uint32_t j = 0; j < nr; j++) {
			uint16_t m = matrix[i * nr + j];

			for (uint16_t c = 0; c < (copies ? m > 0 : m); c++) {
				g->left[n] = (uint16_t)i;
				g->right[n] = (uint16_t)j;
				g->mult[n++] = m;
				assert_true(n < MAX_EDGES);
			}
		}
	}
	g->graph.nedges = n;
	g->graph.left = g->left;
	g->graph.right = g->right;
	g->graph.mult = copies ? g->mult : NULL;
	g->graph.side[0].nnodes = nl;
	g->graph.side[1].nnodes = nr;
}

/* The sum of `degree` random permutations: every node has exactly that many edges. */
static void regular(struct graph *g, uint32_t n, uint32_t degree, bool copies)
{
	uint16_t *matrix = calloc((size_t)n * n, sizeof(*matrix));
	uint32_t order[MAX_NODES];

	memset(g, 0, sizeof(*g));
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t d = 0; d < degree; d++) {
		for (uint32_t i = n - 1; i > 0; i--) {
			uint32_t j = below(i + 1), t = order[i];

			order[i] = order[j];
			order[j] = t;
		}
		for (uint32_t i = 0; i < n; i++)
			matrix[i * n + order[i]]++;
	}
	list_edges(g, matrix, n, n, copies);
	free(matrix);
}

static void test_regular(void **unused)
{
	static struct graph g;
	(void)unused;
	for (uint32_t degree = 1; degree <= 40; degree++) {
		for (uint32_t n = 1; n < 40; n += 1 + below(12)) {
			regular(&g, n, degree, false);
			colour_and_check(&g, degree);
			regular(&g, n, degree, true);
			colour_and_check(&g, degree);
			colour_and_check(&g, degree + 1 + below(9));
		}
	}
}

static void test_many_copies(void **unused)
{
	static struct graph g;
	static const uint32_t degrees[] = {63, 64, 65, 255, 360, 401, 850, 1504};
	(void)unused;
	for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
		regular(&g, 18, degrees[i], true);
		colour_and_check(&g, degrees[i]);
		regular(&g, 3, degrees[i], true);
		colour_and_check(&g, degrees[i]);
	}
}

/*
 * ngroups groups of `width` nodes on both sides; in each of ncolours colours a group has at most `group_cap`
 * edges and a node one: the sum of such colours, as many edges each as fit.
 */
static void grouped(struct graph *g, uint32_t ngroups, uint32_t width, uint32_t group_cap, uint32_t ncolours)
{
	uint32_t n = ngroups * width;
	uint16_t *matrix = calloc((size_t)n * n, sizeof(*matrix));

	memset(g, 0, sizeof(*g));
	for (uint32_t c = 0; c < ncolours; c++) {
		memset(g->used, 0, sizeof(g->used));
		memset(g->used_group, 0, sizeof(g->used_group));
		for (uint32_t tries = 0; tries < 20 * n; tries++) {
			uint32_t i = below(n), j = below(n);

			if (g->used[0][i] || g->used[1][j] || g->used_group[0][i / width] >= group_cap ||
			    g->used_group[1][j / width] >= group_cap)
				continue;
			g->used[0][i] = g->used[1][j] = 1;
			g->used_group[0][i / width]++;
			g->used_group[1][j / width]++;
			matrix[i * n + j]++;
		}
	}
	list_edges(g, matrix, n, n, true);
	for (int s = 0; s < 2; s++) {
		for (uint32_t i = 0; i < n; i++)
			g->group[s][i] = (uint16_t)(i / width);
		for (uint32_t i = 0; i < ngroups; i++)
			g->group_cap[s][i] = (uint16_t)group_cap;
		g->graph.side[s].group = g->group[s];
		g->graph.side[s].ngroups = ngroups;
		g->graph.side[s].group_cap = g->group_cap[s];
	}
	free(matrix);
}

static void test_groups(void **unused)
{
	static struct graph g;
	(void)unused;
	for (int round = 0; round < 200; round++) {
		uint32_t width = 1 + below(6), ncolours = 1 + below(70);

		grouped(&g, 1 + below(6), width, 1 + below(width), ncolours);
		colour_and_check(&g, ncolours);
	}
}

/* The senders' graph: right nodes with a cap above 1, all tight. */
static void test_caps(void **unused)
{
	static struct graph g;
	(void)unused;
	for (uint32_t n = 1; n <= 33; n++) {
		uint32_t nleft = 12 * n, nright = 12, caps = 0, edges = 0;
		uint16_t *matrix = calloc((size_t)nleft * nright, sizeof(*matrix));

		memset(&g, 0, sizeof(g));
		for (uint32_t j = 0; j < nright; j++) {
			g.cap[1][j] = (uint16_t)(1 + below(20));
			caps += g.cap[1][j];
		}
		nleft = caps;
		free(matrix);
		matrix = calloc((size_t)nleft * nright, sizeof(*matrix));
		for (uint32_t j = 0; j < nright; j++)
			for (uint32_t c = 0; c < n * g.cap[1][j]; c++)
				matrix[(edges++ % nleft) * nright + j]++;
		list_edges(&g, matrix, nleft, nright, false);
		g.graph.side[1].cap = g.cap[1];
		free(matrix);
		colour_and_check(&g, n);
	}
}

static enum fors_err stop(void *context, uint32_t colour, const uint32_t *edge, uint32_t count)
{
	return ++*(int *)context == 3 ? FORS_ECANCELLED : FORS_OK;
}

static void test_stop(void **unused)
{
	static struct graph g;
	struct fors_colour_space *space = fors_colour_space_new(MAX_EDGES, MAX_NODES);
	int calls = 0;
	(void)unused;
	regular(&g, 10, 20, true);
	assert_int_equal(fors_colour(space, &g.graph, 0, 20, stop, &calls, NULL), FORS_ECANCELLED);
	assert_int_equal(calls, 3);
	fors_colour_space_free(space);
}

/* More edges at a node than colours: an error, not an endless walk. */
static void test_broken_promise(void **unused)
{
	static struct graph g;
	struct fors_colour_space *space = fors_colour_space_new(MAX_EDGES, MAX_NODES);
	struct fors_error error = {0};
	(void)unused;
	regular(&g, 6, 9, true);
	memset(g.given, 0, sizeof(g.given));
	assert_int_equal(fors_colour(space, &g.graph, 0, 5, (fors_colour_emit)stop, &(int){10}, &error), FORS_ENOPLAN);
	assert_true(error.text[0]);
	fors_colour_space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regular), cmocka_unit_test(test_many_copies),
		cmocka_unit_test(test_groups),	cmocka_unit_test(test_caps),
		cmocka_unit_test(test_stop),	cmocka_unit_test(test_broken_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
