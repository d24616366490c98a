/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graph_blocks.c - see graph_blocks.h. Pairs stand in a heap, the one with the fewest cables for its weight on top; of
 * equals the one with the lower number, so the same specification is the same fabric anywhere.
 */
#include "graph_blocks.h"

#include <stdlib.h>

#include "net.h"

struct allotment {
	uint32_t groups, npairs;
	uint32_t *cables;	 /* npairs */
	uint64_t *weight;	 /* npairs */
	uint32_t *free;		 /* groups: ports left */
	uint32_t *low, *high;	 /* npairs: the two blocks */
	uint32_t *heap, in_heap; /* pairs */
};

/* ---- weights ---- */

static void add_weight(struct allotment *a, uint32_t i, uint32_t j, uint32_t weight)
{
	a->weight[fors_block_pair(a->groups, i < j ? i : j, i < j ? j : i)] += weight;
}

static void set_weights(struct allotment *a, const struct fors_block_weights *weights)
{
	for (uint32_t p = 0; p < a->npairs && !weights->count; p++)
		a->weight[p] = 1;
	for (size_t k = 0; k < weights->count; k++) {
		const struct fors_block_weight *w = &weights->list[k];

		if (w->from != FORS_NONE)
			add_weight(a, w->from, w->to, w->weight);
		for (uint32_t i = 0; i < a->groups && w->from == FORS_NONE; i++)
			add_weight(a, i, (i + w->to) % a->groups, w->weight);
	}
}

/* ---- the heap ---- */

static bool is_poorer(const struct allotment *a, uint32_t p, uint32_t q)
{
	uint64_t left = a->cables[p] * a->weight[q], right = a->cables[q] * a->weight[p];

	return left < right || (left == right && p < q);
}

static void sink(struct allotment *a, uint32_t at)
{
	uint32_t pair = a->heap[at];

	for (uint32_t child = 2 * at + 1; child < a->in_heap; child = 2 * at + 1) {
		if (child + 1 < a->in_heap && is_poorer(a, a->heap[child + 1], a->heap[child]))
			child++;
		if (!is_poorer(a, a->heap[child], pair))
			break;
		a->heap[at] = a->heap[child];
		at = child;
	}
	a->heap[at] = pair;
}

static void fill_heap(struct allotment *a)
{
	for (uint32_t p = 0; p < a->npairs; p++)
		if (a->weight[p])
			a->heap[a->in_heap++] = p;
	for (uint32_t i = a->in_heap / 2; i-- > 0;)
		sink(a, i);
}

/* ---- cables ---- */

static void share_out(struct allotment *a)
{
	while (a->in_heap) {
		uint32_t p = a->heap[0];

		if (a->free[a->low[p]] && a->free[a->high[p]]) {
			a->cables[p]++;
			a->free[a->low[p]]--;
			a->free[a->high[p]]--;
		} else {
			a->heap[0] = a->heap[--a->in_heap];
		}
		if (a->in_heap)
			sink(a, 0);
	}
}

static bool allocate(struct allotment *a)
{
	a->cables = calloc(a->npairs + (size_t)1, sizeof(*a->cables));
	a->weight = calloc(a->npairs + (size_t)1, sizeof(*a->weight));
	a->low = calloc(a->npairs + (size_t)1, sizeof(*a->low));
	a->high = calloc(a->npairs + (size_t)1, sizeof(*a->high));
	a->heap = calloc(a->npairs + (size_t)1, sizeof(*a->heap));
	a->free = calloc(a->groups + (size_t)1, sizeof(*a->free));
	return a->cables && a->weight && a->low && a->high && a->heap && a->free;
}

enum fors_err fors_blocks_allot(uint32_t groups, uint32_t global, const struct fors_block_weights *weights,
				uint32_t **cables, struct fors_error *error)
{
	struct allotment a = {.groups = groups, .npairs = groups * (groups - 1) / 2};
	bool is_good = allocate(&a);

	for (uint32_t i = 0; i < groups && is_good; i++) {
		a.free[i] = global - (groups - 1);
		for (uint32_t j = i + 1; j < groups; j++) {
			uint32_t p = (uint32_t)fors_block_pair(groups, i, j);

			a.low[p] = i;
			a.high[p] = j;
			a.cables[p] = 1;
		}
	}
	if (is_good) {
		set_weights(&a, weights);
		fill_heap(&a);
		share_out(&a);
		*cables = a.cables;
	} else {
		free(a.cables);
	}
	free(a.weight);
	free(a.low);
	free(a.high);
	free(a.heap);
	free(a.free);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
