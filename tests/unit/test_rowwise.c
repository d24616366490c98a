/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_rowwise.c - matchings and rows: who of a switch sends what, on random input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/colouring/match.h"
#include "core/colouring/rowwise.h"

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

/* A random permutation of 0..n-1. */
static void shuffle(uint16_t *item, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = below(i + 1);

		item[i] = item[j];
		item[j] = (uint16_t)i;
	}
}

/* ---- matchings ---- */

/* The most rows that can be matched, by trying everything. */
static uint32_t most_matched(const uint64_t *may, uint32_t nrows, uint64_t free)
{
	uint32_t most = 0;

	if (nrows == 0)
		return 0;
	most = most_matched(may + 1, nrows - 1, free);
	for (uint64_t open = may[0] & free; open; open &= open - 1) {
		uint32_t n = 1 + most_matched(may + 1, nrows - 1, free & ~(open & -open));

		most = n > most ? n : most;
	}
	return most;
}

static void test_match(void **unused)
{
	for (int round = 0; round < 300; round++) {
		struct fors_matching matching;
		uint32_t n = 1 + below(6), matched = 0;

		memset(matching.column, FORS_UNMATCHED, sizeof(matching.column));
		matching.free = fors_match_columns(n);
		for (uint32_t row = 0; row < n; row++)
			matching.may[row] = below(1u << n) & below(1u << n);
		for (uint32_t row = 0; row < n; row++)
			matched += fors_match_augment(&matching, row);
		assert_int_equal(matched, most_matched(matching.may, n, fors_match_columns(n)));
		assert_int_equal(n - matched, (uint32_t)__builtin_popcountll(matching.free));
		for (uint32_t row = 0; row < n; row++)
			assert_true(matching.column[row] == FORS_UNMATCHED ||
				    (matching.may[row] >> matching.column[row] & 1));
	}
	assert_int_equal(fors_match_columns(64), UINT64_MAX);
	assert_int_equal(fors_match_first(0x11, 1), 4);
	assert_int_equal(fors_match_first(0x11, 5), 0);
}

/* ---- rows ---- */

/* No colour twice in a row or at a node. */
static void check_colours(const struct fors_rowwise *graph, const uint8_t *colour)
{
	uint64_t *seen = calloc(graph->nnodes, sizeof(*seen));

	assert_non_null(seen);
	for (uint32_t row = 0; row < graph->nrows; row++) {
		uint64_t here = 0;

		for (uint32_t i = 0; i < graph->width; i++) {
			uint32_t place = row * graph->width + i;
			uint64_t bit;

			if (graph->node[place] == FORS_ROWWISE_NOBODY)
				break;
			assert_true(colour[place] < graph->width);
			bit = UINT64_C(1) << colour[place];
			assert_false((here | seen[graph->node[place]]) & bit);
			here |= bit;
			seen[graph->node[place]] |= bit;
		}
	}
	free(seen);
}

/*
 * nnodes nodes with exactly `width` places each, mixed at random, in rows with up to `idle` empty places at the end.
 * With idle 0 every row is full, and every colour is needed everywhere.
 */
static void one_graph(uint32_t nnodes, uint32_t width, uint32_t idle, uint32_t turn)
{
	uint32_t nrows = idle ? nnodes * width : nnodes, left = nnodes * width;
	uint16_t *bag = malloc(left * sizeof(*bag)), *node = malloc((size_t)nrows * width * sizeof(*node));
	uint8_t *colour = malloc((size_t)nrows * width);
	struct fors_rowwise_space *space = fors_rowwise_space_new(nrows, width, nnodes);
	struct fors_rowwise graph = {.width = width, .nnodes = nnodes, .node = node, .turn = turn};

	assert_true(bag && node && colour && space);
	shuffle(bag, left);
	memset(node, 0xFF, (size_t)nrows * width * sizeof(*node));
	for (; left > 0; graph.nrows++) {
		uint32_t n = width - (idle ? below(idle < width ? idle : width) : 0);

		for (uint32_t i = 0; i < n && left > 0; i++)
			node[graph.nrows * width + i] = (uint16_t)(bag[--left] % nnodes);
	}
	assert_true(fors_rowwise(space, &graph, colour));
	check_colours(&graph, colour);
	fors_rowwise_space_free(space);
	free(bag);
	free(node);
	free(colour);
}

static void test_rows(void **unused)
{
	for (int round = 0; round < 40; round++)
		one_graph(1 + below(60), 1 + below(24), below(6), below(2));
	one_graph(200, FORS_MATCH_MOST, 0, 1);
	one_graph(200, 20, 0, 0);
	one_graph(1, 1, 0, 0);
}

static void test_rows_too_many(void **unused)
{
	const uint16_t node[6] = {0, 1, 0, 1, 0, 1};
	const struct fors_rowwise graph = {.nrows = 3, .width = 2, .nnodes = 2, .node = node};
	struct fors_rowwise_space *space = fors_rowwise_space_new(3, 2, 2);
	uint8_t colour[6];

	assert_non_null(space);
	assert_false(fors_rowwise(space, &graph, colour));
	fors_rowwise_space_free(space);
}

/* ---- several graphs at once ---- */

#define NROWS 60

/* nrows full rows of nodes 0..nrows-1, `width` places each, mixed at random. */
static void fill_rows(uint16_t *node, uint32_t nrows, uint32_t width)
{
	uint16_t *bag = malloc(nrows * width * sizeof(*bag));

	assert_non_null(bag);
	shuffle(bag, nrows * width);
	for (uint32_t i = 0; i < nrows * width; i++)
		node[i] = (uint16_t)(bag[i] % nrows);
	free(bag);
}

/* Graphs of different sizes in spaces for rows as wide as this: each gets the colours that it gets alone. */
static void several(uint32_t width, uint32_t count)
{
	static uint16_t node[FORS_ROWWISE_AT_ONCE][NROWS * FORS_MATCH_MOST];
	static uint8_t colour[NROWS * FORS_MATCH_MOST];
	struct fors_rowwise_space *alone = fors_rowwise_space_new(NROWS, width, NROWS);
	struct fors_rowwise_job job[FORS_ROWWISE_AT_ONCE];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t w = width - i, nrows = NROWS - 7 * i;

		job[i] = (struct fors_rowwise_job){fors_rowwise_space_new(NROWS, width, NROWS), nrows, w, nrows, i % 2};
		fill_rows(node[i], nrows, w);
		for (uint32_t row = 0; row < nrows; row++)
			memcpy(fors_rowwise_nodes(job[i].space, row), &node[i][row * w], w * sizeof(**node));
	}
	assert_int_equal(fors_rowwise_all(job, count), count);
	for (uint32_t i = 0; i < count; i++) {
		const struct fors_rowwise graph = {job[i].nrows, job[i].width, job[i].nnodes, node[i], job[i].turn};

		assert_true(fors_rowwise(alone, &graph, colour));
		check_colours(&graph, colour);
		for (uint32_t row = 0; row < graph.nrows; row++)
			assert_memory_equal(fors_rowwise_colours(job[i].space, row), &colour[row * graph.width],
					    graph.width);
		fors_rowwise_space_free(job[i].space);
	}
	fors_rowwise_space_free(alone);
}

static void test_rows_at_once(void **unused)
{
	for (uint32_t count = 0; count <= FORS_ROWWISE_AT_ONCE; count++) {
		several(18, count);
		several(32, count);
		several(36, count);
		several(FORS_MATCH_MOST, count);
	}
}

/* Which one has too many places. */
static void test_rows_at_once_too_many(void **unused)
{
	struct fors_rowwise_job job[3];

	for (uint32_t i = 0; i < 3; i++) {
		job[i] = (struct fors_rowwise_job){fors_rowwise_space_new(3, 2, 3), 3, 2, 3, 0};
		for (uint32_t row = 0; row < 3; row++) {
			uint16_t *node = fors_rowwise_nodes(job[i].space, row);

			node[0] = i == 1 ? 0 : (uint16_t)row;
			node[1] = 1;
		}
		if (i != 1)
			fors_rowwise_nodes(job[i].space, 2)[1] = FORS_ROWWISE_NOBODY;
	}
	fors_rowwise_nodes(job[0].space, 1)[1] = FORS_ROWWISE_NOBODY;
	fors_rowwise_nodes(job[2].space, 1)[1] = FORS_ROWWISE_NOBODY;
	assert_int_equal(fors_rowwise_all(job, 3), 1);
	assert_int_equal(fors_rowwise_all(job, 1), 1);
	for (uint32_t i = 0; i < 3; i++)
		fors_rowwise_space_free(job[i].space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rows_too_many),
		cmocka_unit_test(test_rows_at_once),
		cmocka_unit_test(test_rows_at_once_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
