/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.h - a plan for a demand: phases of different length, and the pieces of messages that are sent in them.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_DEMAND_PLAN_H
#define FORS_CORE_DEMAND_PLAN_H

#include <stdint.h>

#include "core/base/error.h"

/* What a server sends to another in a phase. */
struct fors_demand_piece {
	uint64_t bytes; /* above 0, at most the length of the phase */
	uint32_t src, dst;
	uint32_t path; /* path index: the destination LID is the receiver's base LID + path */
};

struct fors_demand_plan {
	uint32_t nservers, nphases, npieces;
	uint64_t *length; /* per phase: bytes, above 0 */
	uint32_t *begin;  /* per phase: where its pieces begin, by src; nphases + 1 */
	struct fors_demand_piece *piece;
	char method[16];
};

/* The sum of lengths. */
static inline uint64_t fors_demand_plan_length(const struct fors_demand_plan *plan)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < plan->nphases; k++)
		sum += plan->length[k];
	return sum;
}

/* T: the sum of lengths, and what phases cost, each `cost` bytes. */
static inline uint64_t fors_demand_plan_time(const struct fors_demand_plan *plan, uint64_t cost)
{
	return fors_demand_plan_length(plan) + plan->nphases * cost;
}

/* NULL is allowed. (plan.c) */
void fors_demand_plan_free(struct fors_demand_plan *plan);

/* A piece, and the phase that it is in. */
struct fors_demand_put {
	struct fors_demand_piece piece;
	uint32_t phase;
};

/*
 * The plan of these pieces, in any order, in *plan, owned by the caller: phases that have none are dropped, the others keep their order, and are as
 * long as their longest piece. Errors: FORS_ENOMEM.
 */
enum fors_err fors_demand_plan_make(const struct fors_demand_put *put, uint32_t count, uint32_t nphases,
				    uint32_t nservers, const char *method, struct fors_demand_plan **plan,
				    struct fors_error *error);

#endif
