/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pairs.h"

#include <stdlib.h>

static void set(const struct fors_demand_pairs *pairs, uint64_t *bits, uint32_t message, bool is_set)
{
	const struct fors_demand_message *m = &pairs->demand->message[message];
	uint64_t *out = &bits[(size_t)m->src * pairs->nwords + m->dst / 64];
	uint64_t *in = &bits[((size_t)pairs->demand->nservers + m->dst) * pairs->nwords + m->src / 64];
	uint64_t receiver = UINT64_C(1) << m->dst % 64, sender = UINT64_C(1) << m->src % 64;

	*out = is_set ? *out | receiver : *out & ~receiver;
	*in = is_set ? *in | sender : *in & ~sender;
}

static bool allocate(struct fors_demand_pairs *pairs)
{
	size_t cells = 2 * (size_t)pairs->demand->nservers * pairs->nwords + 1;

	pairs->rest = malloc((pairs->demand->count + (size_t)1) * sizeof(*pairs->rest));
	pairs->left = calloc(cells, sizeof(*pairs->left));
	pairs->enough = calloc(cells, sizeof(*pairs->enough));
	return pairs->rest && pairs->left && pairs->enough;
}

bool fors_demand_pairs_make(const struct fors_demand *demand, struct fors_demand_pairs *pairs)
{
	uint64_t most = 0;

	*pairs = (struct fors_demand_pairs){.demand = demand, .nwords = (demand->nservers + 63) / 64};
	if (!fors_demand_index_make(demand, &pairs->index) || !allocate(pairs))
		return false;
	for (uint32_t m = 0; m < demand->count; m++) {
		pairs->rest[m] = demand->message[m].bytes;
		most = pairs->rest[m] > most ? pairs->rest[m] : most;
		set(pairs, pairs->left, m, true);
	}
	pairs->least = most + 1;
	fors_demand_pairs_lower(pairs, most);
	return true;
}

void fors_demand_pairs_clear(struct fors_demand_pairs *pairs)
{
	fors_demand_index_clear(&pairs->index);
	free(pairs->rest);
	free(pairs->left);
	free(pairs->enough);
	*pairs = (struct fors_demand_pairs){0};
}

void fors_demand_pairs_lower(struct fors_demand_pairs *pairs, uint64_t least)
{
	for (uint32_t m = 0; m < pairs->demand->count; m++)
		if (pairs->rest[m] >= least && pairs->rest[m] < pairs->least)
			set(pairs, pairs->enough, m, true);
	pairs->least = least;
}

void fors_demand_pairs_send(struct fors_demand_pairs *pairs, uint32_t message, uint64_t bytes)
{
	uint64_t before = pairs->rest[message], after = before - bytes;

	pairs->rest[message] = after;
	if (before >= pairs->least && after < pairs->least)
		set(pairs, pairs->enough, message, false);
	if (!after)
		set(pairs, pairs->left, message, false);
}
