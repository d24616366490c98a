/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_koenig.c - colouring edge by edge: random multigraphs with as many edges at each node as there are colours. */
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/colouring/koenig.h"
#include "unit.h"

static struct fors_random random_state = {1};

static uint32_t below(uint32_t n)
{
	return (uint32_t)(fors_random_next(&random_state) % n);
}

static void shuffle(uint32_t *item, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = below(i + 1);

		item[i] = item[j];
		item[j] = i;
	}
}

/* Copies of each edge, n x n: in all so many permutations, each several times, and with some of their edges missing. */
static uint16_t *random_graph(uint32_t n, uint32_t ncolours, uint32_t repeats, uint32_t missing)
{
	uint16_t *copies = calloc((size_t)n * n, sizeof(*copies));
	uint32_t *right = malloc(n * sizeof(*right));

	assert_true(copies && right);
	for (uint32_t colour = 0; colour < ncolours; colour++) {
		if (colour % repeats == 0)
			shuffle(right, n);
		for (uint32_t left = 0; left < n; left++)
			copies[left * n + right[left]] += below(10) >= missing;
	}
	free(right);
	return copies;
}

static uint16_t tag_of(uint32_t left, uint32_t right)
{
	return (uint16_t)(left * 31 + right * 7);
}

/* Add all edges, in some order; some of them in two goes. */
static void add_all(struct fors_koenig *graph, const uint16_t *copies, uint32_t n)
{
	uint32_t *order = malloc((size_t)n * n * sizeof(*order));

	assert_non_null(order);
	shuffle(order, n * n);
	for (uint32_t i = 0; i < n * n; i++) {
		uint32_t left = order[i] / n, right = order[i] % n, first = below(copies[order[i]] + 1u);
		const struct fors_koenig_edge edge = {(uint16_t)right, tag_of(left, right)};

		assert_true(fors_koenig_add(graph, left, edge, first));
		assert_true(fors_koenig_add(graph, left, edge, copies[order[i]] - first));
	}
	free(order);
}

/* Both sides say the same, edges have their tags, and none is missing. */
static void check(const struct fors_koenig *graph, uint16_t *copies, uint32_t n, uint32_t ncolours)
{
	for (uint32_t left = 0; left < n; left++) {
		for (uint32_t colour = 0; colour < ncolours; colour++) {
			const struct fors_koenig_edge edge = graph->edge[left * ncolours + colour];

			if (edge.right == FORS_KOENIG_NONE)
				continue;
			assert_int_equal(graph->left[edge.right * ncolours + colour], left);
			assert_int_equal(edge.tag, tag_of(left, edge.right));
			assert_true(copies[left * n + edge.right]-- > 0);
		}
	}
	for (uint32_t i = 0; i < n * n; i++)
		assert_int_equal(copies[i], 0);
	for (uint32_t right = 0; right < n; right++)
		for (uint32_t colour = 0; colour < ncolours; colour++)
			if (graph->left[right * ncolours + colour] != FORS_KOENIG_NONE)
				assert_int_equal(
					graph->edge[graph->left[right * ncolours + colour] * ncolours + colour].right,
					right);
}

static void one_graph(uint32_t n, uint32_t ncolours, uint32_t repeats, uint32_t missing)
{
	uint16_t *copies = random_graph(n, ncolours, repeats, missing);
	struct fors_koenig graph;

	assert_true(fors_koenig_alloc(&graph, n, n, ncolours));
	for (uint32_t again = 0; again < 2; again++) { /* the second time in what the first has left behind */
		uint16_t *left = malloc((size_t)n * n * sizeof(*left));

		assert_non_null(left);
		memcpy(left, copies, (size_t)n * n * sizeof(*left));
		fors_koenig_begin(&graph, n, n, ncolours);
		add_all(&graph, left, n);
		check(&graph, left, n, ncolours);
		free(left);
	}
	fors_koenig_free(&graph);
	free(copies);
}

static void test_random(void **unused)
{
	for (int round = 0; round < 200; round++)
		one_graph(1 + below(30), 1 + below(200), 1 + below(20), below(4));
	one_graph(1, 1, 1, 0);
	one_graph(3, 64, 1, 0);
	one_graph(3, 65, 1, 0);
	one_graph(100, 128, 3, 0);
	one_graph(40, 1000, 30, 1);
}

/* One edge more than colours, at the left or at the right: no, and what is there stays. */
static void test_too_many(void **unused)
{
	struct fors_koenig graph;

	assert_true(fors_koenig_alloc(&graph, 2, 2, 3));
	fors_koenig_begin(&graph, 2, 2, 3);
	assert_true(fors_koenig_add(&graph, 0, (struct fors_koenig_edge){0, 5}, 2));
	assert_true(fors_koenig_add(&graph, 0, (struct fors_koenig_edge){1, 6}, 1));
	assert_false(fors_koenig_add(&graph, 0, (struct fors_koenig_edge){1, 7}, 1));
	assert_true(fors_koenig_add(&graph, 1, (struct fors_koenig_edge){1, 8}, 2));
	assert_false(fors_koenig_add(&graph, 1, (struct fors_koenig_edge){1, 9}, 1));
	for (uint32_t colour = 0; colour < 3; colour++)
		assert_int_equal(graph.edge[colour].tag, graph.edge[colour].right ? 6 : 5);
	fors_koenig_free(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
