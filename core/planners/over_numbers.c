/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* over_numbers.c - the numbers of homes, for those that take part: see over_numbers.h. */
#include "over_numbers.h"

#include <stdlib.h>
#include <string.h>

/* Numbers without gaps, in the same order. */
static void close_gaps(uint32_t *number, uint32_t n, uint32_t *rank)
{
	uint32_t end = 0;

	for (uint32_t d = 0; d < n; d++)
		end = number[d] >= end ? number[d] + 1 : end;
	memset(rank, 0, end * sizeof(*rank));
	for (uint32_t d = 0; d < n; d++)
		rank[number[d]] = 1;
	for (uint32_t i = 0, next = 0; i < end; i++) {
		next += rank[i];
		rank[i] = next - rank[i];
	}
	for (uint32_t d = 0; d < n; d++)
		number[d] = rank[number[d]];
}

/* Numbers of those that take part, with gaps; false: one of them hangs on a switch above leaves. */
static bool list_numbers(const struct fors_flows_routed *routed, const struct fors_pods_route *route, uint32_t *number)
{
	for (uint32_t d = 0; d < routed->nservers; d++) {
		uint32_t slot = route->slot_of[routed->server[d].lid];

		if (slot == FORS_NONE)
			return false;
		number[d] = route->number[slot];
	}
	return true;
}

enum fors_err fors_over_numbers(const struct fors_flows_routed *routed, const struct fors_pods_route *route,
				uint32_t **numbers, struct fors_error *error)
{
	uint32_t n = routed->nservers, *number, *rank;
	bool good;

	if (!route->number)
		return FORS_OK;
	number = malloc((n + (size_t)1) * sizeof(*number));
	rank = malloc((route->nslots + (size_t)1) * sizeof(*rank));
	good = number && rank;
	if (good && list_numbers(routed, route, number)) {
		close_gaps(number, n, rank);
		*numbers = number;
		number = NULL;
	}
	free(number);
	free(rank);
	return good ? FORS_OK : fors_fail_memory(error);
}
