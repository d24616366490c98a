/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * merge.c - phases that are alike become one: each pair sends there what it sent in all of them, so it takes no longer.
 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

/* A phase, for sorting: its pieces in the order of senders. */
struct alike {
	const struct fors_demand_piece *piece;
	uint32_t npieces, phase;
};

static int by_pieces(const void *left, const void *right)
{
	const struct alike *a = left, *b = right;

	if (a->npieces != b->npieces)
		return a->npieces < b->npieces ? -1 : 1;
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct fors_demand_piece *x = &a->piece[i], *y = &b->piece[i];

		if (x->src != y->src)
			return x->src < y->src ? -1 : 1;
		if (x->dst != y->dst)
			return x->dst < y->dst ? -1 : 1;
		if (x->path != y->path)
			return x->path < y->path ? -1 : 1;
	}
	return 0;
}

static int by_pieces_and_phase(const void *left, const void *right)
{
	const struct alike *a = left, *b = right;
	int order = by_pieces(a, b);

	return order ? order : (a->phase > b->phase) - (a->phase < b->phase);
}

/* Add the pieces of a phase to those of the first one that is like it, or list them. */
static uint32_t add(const struct alike *at, const struct alike *first, uint32_t begin, struct fors_demand_put *put,
		    uint32_t used)
{
	for (uint32_t i = 0; i < at->npieces; i++) {
		if (at == first)
			put[used++] = (struct fors_demand_put){at->piece[i], at->phase};
		else
			put[begin + i].piece.bytes += at->piece[i].bytes;
	}
	return used;
}

static uint32_t merge(const struct alike *list, uint32_t nphases, struct fors_demand_put *put)
{
	const struct alike *first = list;
	uint32_t used = 0, begin = 0;

	for (uint32_t k = 0; k < nphases; k++) {
		if (k && by_pieces(first, &list[k])) {
			first = &list[k];
			begin = used;
		}
		used = add(&list[k], first, begin, put, used);
	}
	return used;
}

enum fors_err fors_demand_merge(struct fors_demand_plan **plan, struct fors_error *error)
{
	const struct fors_demand_plan *old = *plan;
	struct alike *list = malloc((old->nphases + (size_t)1) * sizeof(*list));
	struct fors_demand_put *put = malloc((old->npieces + (size_t)1) * sizeof(*put));
	struct fors_demand_plan *made = NULL;
	enum fors_err err = list && put ? FORS_OK : fors_fail_memory(error);

	for (uint32_t k = 0; !err && k < old->nphases; k++)
		list[k] = (struct alike){old->piece + old->begin[k], old->begin[k + 1] - old->begin[k], k};
	if (!err) {
		uint32_t used;

		qsort(list, old->nphases, sizeof(*list), by_pieces_and_phase);
		used = merge(list, old->nphases, put);
		err = fors_demand_plan_make(put, used, old->nphases, old->nservers, old->method, &made, error);
	}
	free(list);
	free(put);
	if (err)
		return err;
	fors_demand_plan_free(*plan);
	*plan = made;
	return FORS_OK;
}
