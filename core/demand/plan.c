/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fors_demand_plan_free(struct fors_demand_plan *plan)
{
	if (!plan)
		return;
	free(plan->length);
	free(plan->begin);
	free(plan->piece);
	free(plan);
}

static struct fors_demand_plan *allocate(uint32_t count, uint32_t nphases)
{
	struct fors_demand_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->length = calloc(nphases + (size_t)1, sizeof(*plan->length));
	plan->begin = calloc(nphases + (size_t)2, sizeof(*plan->begin));
	plan->piece = malloc((count + (size_t)1) * sizeof(*plan->piece));
	if (plan->length && plan->begin && plan->piece)
		return plan;
	fors_demand_plan_free(plan);
	return NULL;
}

/* Phases with pieces get numbers, in `number`. */
static void number_phases(struct fors_demand_plan *plan, const struct fors_demand_put *put, uint32_t nphases,
			  uint32_t *number)
{
	memset(number, 0, nphases * sizeof(*number));
	for (uint32_t i = 0; i < plan->npieces; i++)
		number[put[i].phase]++;
	for (uint32_t k = 0; k < nphases; k++) {
		uint32_t pieces = number[k];

		number[k] = plan->nphases;
		if (pieces) {
			plan->begin[plan->nphases + 1] = plan->begin[plan->nphases] + pieces;
			plan->nphases++;
		}
	}
}

static int by_src(const void *left, const void *right)
{
	const struct fors_demand_piece *a = left, *b = right;

	return (a->src > b->src) - (a->src < b->src);
}

static void fill(struct fors_demand_plan *plan, const struct fors_demand_put *put, const uint32_t *number)
{
	for (uint32_t i = 0; i < plan->npieces; i++) {
		uint32_t k = number[put[i].phase];

		plan->piece[plan->begin[k]++] = put[i].piece;
		if (put[i].piece.bytes > plan->length[k])
			plan->length[k] = put[i].piece.bytes;
	}
	memmove(plan->begin + 1, plan->begin, plan->nphases * sizeof(*plan->begin));
	plan->begin[0] = 0;
	for (uint32_t k = 0; k < plan->nphases; k++)
		qsort(plan->piece + plan->begin[k], plan->begin[k + 1] - plan->begin[k], sizeof(*plan->piece), by_src);
}

enum fors_err fors_demand_plan_make(const struct fors_demand_put *put, uint32_t count, uint32_t nphases,
				    uint32_t nservers, const char *method, struct fors_demand_plan **plan,
				    struct fors_error *error)
{
	struct fors_demand_plan *made = allocate(count, nphases);
	uint32_t *number = malloc((nphases + (size_t)1) * sizeof(*number));

	if (!made || !number) {
		fors_demand_plan_free(made);
		free(number);
		return fors_fail_memory(error);
	}
	made->nservers = nservers;
	made->npieces = count;
	snprintf(made->method, sizeof(made->method), "%s", method);
	number_phases(made, put, nphases, number);
	fill(made, put, number);
	free(number);
	*plan = made;
	return FORS_OK;
}
