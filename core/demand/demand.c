/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "demand.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_pair(const void *left, const void *right)
{
	const struct fors_demand_message *a = left, *b = right;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* Equal pairs, which are neighbours, become one. */
static enum fors_err add_up(struct fors_demand *demand, struct fors_error *error)
{
	struct fors_demand_message *list = demand->message;
	uint64_t sum = 0;
	uint32_t used = 0;

	for (uint32_t i = 0; i < demand->count; i++) {
		sum += list[i].bytes;
		if (used && !by_pair(&list[used - 1], &list[i]))
			list[used - 1].bytes += list[i].bytes;
		else
			list[used++] = list[i];
		if (list[used - 1].bytes > FORS_DEMAND_MOST_BYTES)
			return fors_fail(error, FORS_ELIMIT, "a server sends more than %" PRIu64 " bytes to another",
					 FORS_DEMAND_MOST_BYTES);
		if (sum > FORS_DEMAND_MOST_IN_ALL)
			return fors_fail(error, FORS_ELIMIT, "more than %" PRIu64 " bytes in all",
					 FORS_DEMAND_MOST_IN_ALL);
	}
	demand->count = used;
	return FORS_OK;
}

enum fors_err fors_demand_make(struct fors_demand_message *message, uint32_t count, uint32_t nservers, bool is_unit,
			       struct fors_demand *demand, struct fors_error *error)
{
	enum fors_err err;

	*demand = (struct fors_demand){message, count, nservers, is_unit};
	if (count)
		qsort(message, count, sizeof(*message), by_pair);
	err = add_up(demand, error);
	if (err)
		fors_demand_clear(demand);
	return err;
}

void fors_demand_clear(struct fors_demand *demand)
{
	free(demand->message);
	*demand = (struct fors_demand){0};
}

/* The number of a pair's message, FORS_DEMAND_NONE. */
static uint32_t find(const struct fors_demand *demand, uint32_t src, uint32_t dst)
{
	const struct fors_demand_message key = {src, dst, 0};
	const struct fors_demand_message *found =
		demand->count ? bsearch(&key, demand->message, demand->count, sizeof(key), by_pair) : NULL;

	return found ? (uint32_t)(found - demand->message) : FORS_DEMAND_NONE;
}

uint64_t fors_demand_of(const struct fors_demand *demand, uint32_t src, uint32_t dst)
{
	uint32_t message = find(demand, src, dst);

	return message == FORS_DEMAND_NONE ? 0 : demand->message[message].bytes;
}

uint64_t fors_demand_total(const struct fors_demand *demand)
{
	uint64_t sum = 0;

	for (uint32_t m = 0; m < demand->count; m++)
		sum += demand->message[m].bytes;
	return sum;
}

uint64_t fors_demand_size(const struct fors_demand *demand)
{
	for (uint32_t i = 1; i < demand->count; i++)
		if (demand->message[i].bytes != demand->message[0].bytes)
			return 0;
	return demand->count ? demand->message[0].bytes : 0;
}

bool fors_demand_is_uniform(const struct fors_demand *demand)
{
	uint64_t p = demand->nservers;

	return demand->count && demand->count == p * (p - 1) && fors_demand_size(demand);
}
