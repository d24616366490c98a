/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * index.c - messages are in the order of senders, then receivers, so the place of one is its sender's first and how many receivers of that sender come before.
 */
#include "index.h"

#include <stdlib.h>

/* The messages of a sender, which are `m` and those behind; where those of the next begin. */
static uint32_t add_sender(const struct fors_demand *demand, uint32_t src, uint32_t m, struct fors_demand_index *index)
{
	size_t row = (size_t)src * index->nwords;
	uint32_t sum = 0;

	index->begin[src] = m;
	for (; m < demand->count && demand->message[m].src == src; m++)
		index->has[row + demand->message[m].dst / 64] |= UINT64_C(1) << demand->message[m].dst % 64;
	for (uint32_t w = 0; w < index->nwords; w++) {
		index->before[row + w] = sum;
		sum += (uint32_t)__builtin_popcountll(index->has[row + w]);
	}
	return m;
}

bool fors_demand_index_make(const struct fors_demand *demand, struct fors_demand_index *index)
{
	uint32_t nwords = (demand->nservers + 63) / 64, m = 0;
	size_t cells = (size_t)demand->nservers * nwords + 1;

	*index = (struct fors_demand_index){nwords, malloc((demand->nservers + (size_t)1) * sizeof(*index->begin)),
					    calloc(cells, sizeof(*index->has)), malloc(cells * sizeof(*index->before))};
	if (!index->begin || !index->has || !index->before)
		return false;
	for (uint32_t s = 0; s < demand->nservers; s++)
		m = add_sender(demand, s, m, index);
	return true;
}

void fors_demand_index_clear(struct fors_demand_index *index)
{
	free(index->begin);
	free(index->has);
	free(index->before);
	*index = (struct fors_demand_index){0};
}
