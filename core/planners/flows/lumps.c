/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lumps.c - packings in lumps of several tokens.
 *
 * Let q divide the numbers of senders of all switches: a lump is q tokens of a unit in q phases in a row, a switch has n_s
 * places for lumps in such a round as it has for tokens in a phase, and the problem of lumps is the problem of tokens with
 * n_s / q of them in a unit (struct fors_flows_problem, lump). It is q times smaller.
 */
#include "lumps.h"

#include "search.h"

/* Each lump as so many parts, in a packing where all phases are empty. */
static void take_apart(const struct fors_flows_packing *lumps, uint32_t parts, struct fors_flows_packing *packing)
{
	const struct fors_flows_problem *problem = packing->problem;

	for (uint32_t d = 0; d < problem->ndests; d++)
		for (uint32_t r = 0; r < lumps->nphases; r++) {
			uint32_t way = fors_flows_received(lumps, d, r);

			for (uint32_t i = 0; way != FORS_FLOWS_NONE && i < parts; i++)
				fors_flows_put(packing, way, r * parts + i);
		}
	packing->nwaiting = 0;
	for (uint32_t i = 0; i < lumps->nwaiting; i++)
		for (uint32_t k = 0; k < parts; k++)
			packing->waiting[packing->nwaiting++] = lumps->waiting[i];
}

enum fors_err fors_flows_refine(const struct fors_flows_problem *problem, uint32_t nphases,
				struct fors_flows_packing **packing, struct fors_error *error)
{
	uint32_t parts = (*packing)->problem->lump / (problem->lump ? problem->lump : 1);
	struct fors_flows_packing *made;
	enum fors_err err = fors_flows_packing_new(problem, nphases, &made, error);

	if (err)
		return err;
	take_apart(*packing, parts, made);
	fors_flows_fill(made);
	fors_flows_packing_free(*packing);
	*packing = made;
	return FORS_OK;
}

enum fors_err fors_flows_finish(struct fors_flows_packing **packing, uint32_t most, uint64_t budget,
				const struct fors_flows_asked *asked, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	while (!err && (*packing)->nwaiting) {
		err = fors_flows_search(*packing, budget, asked->cancelled, asked->context, error);
		if (err || !(*packing)->nwaiting || (*packing)->nphases >= most)
			break;
		err = fors_flows_packing_resize(packing, (*packing)->nphases + 1, error);
	}
	if (err || (*packing)->nwaiting) {
		fors_flows_packing_free(*packing);
		*packing = NULL;
	}
	return err;
}
