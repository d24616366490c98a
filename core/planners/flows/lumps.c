/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lumps.c - a first packing in lumps of several tokens.
 *
 * Where every receiver is busy in every phase no token can move alone: whoever wants its place needs one of the same
 * length. So first all flows of a unit stay together. Let q divide the numbers of senders of all switches: a lump is q
 * tokens of a unit in q phases in a row, a switch has n_s places for lumps in such a round as it has for tokens in a
 * phase, and the problem of lumps is the problem of tokens with n_s / q of them in a unit (struct fors_flows_problem,
 * lump). It is q times smaller.
 *
 * Coarse: the largest q, in P / q rounds. What that leaves are a few units. Fine: all lumps are cut into those of the
 * least prime p that divides q, and there is one round more, p phases: room enough to move. A search of lumps of two
 * takes half the steps that one of tokens takes, over masks half as long. When something still waits another round is
 * added, once. The caller goes on from there with single tokens.
 */
#include "lumps.h"

#include "core/base/divisor.h"
#include "search.h"

#define HOPELESS 5	  /* per cent of the lumps: when more of them wait, this is not a network for lumps */
#define WORTH 100	  /* P / p at least: one round more is then 1 % at most */
#define COARSE_PER_FLOW 4 /* words of masks that a search may look at, per flow of the exchange */
#define FINE_PER_FLOW 40
#define MOST_ROUNDS_MORE 2

/* The greatest common divisor of the numbers of senders. */
static uint32_t largest_lump(const struct fors_flows_problem *problem)
{
	uint32_t lump = 0;

	for (uint32_t s = 0; s < problem->nswitches; s++)
		lump = fors_divisor(lump, problem->senders[s]);
	return lump;
}

static uint32_t least_prime(uint32_t n)
{
	uint32_t p = 2;

	while (p < n && n % p)
		p++;
	return p;
}

/* Flows of the exchange. */
static uint64_t flows_of(const struct fors_flows_problem *problem)
{
	return (uint64_t)problem->ndests * problem->ndests;
}

static enum fors_err search(const struct fors_flows_asked *asked, uint32_t per_flow, struct fors_flows_packing *packing,
			    struct fors_error *error)
{
	return fors_flows_search(packing, per_flow * flows_of(packing->problem), asked->cancelled, asked->context,
				 error);
}

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

enum fors_err fors_flows_add_round(struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_packing *more;
	enum fors_err err = fors_flows_packing_change(*packing, (*packing)->nphases + 1, &more, error);

	if (err)
		return err;
	fors_flows_packing_free(*packing);
	*packing = more;
	return FORS_OK;
}

/* The largest lumps in P phases; *packing becomes NULL where too many wait. */
static enum fors_err pack_coarse(const struct fors_flows_problem *problem, const uint32_t *way,
				 const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
				 struct fors_error *error)
{
	uint64_t most = flows_of(problem) / problem->lump * HOPELESS / 100;
	enum fors_err err =
		fors_flows_first_fit(problem, way, problem->ndests / problem->lump, FORS_FLOWS_IN_TURN, packing, error);

	if (err)
		return err;
	if ((*packing)->nwaiting > most) {
		fors_flows_packing_free(*packing);
		*packing = NULL;
		return FORS_OK;
	}
	return (*packing)->nwaiting ? search(asked, COARSE_PER_FLOW, *packing, error) : FORS_OK;
}

/* The least lumps, with a round more, or two. */
static enum fors_err pack_fine(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
			       struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err = fors_flows_refine(problem, problem->ndests / problem->lump, packing, error);

	for (uint32_t i = 0; i < MOST_ROUNDS_MORE && !err && (*packing)->nwaiting; i++) {
		err = fors_flows_add_round(packing, error);
		if (!err && (*packing)->nwaiting)
			err = search(asked, FINE_PER_FLOW, *packing, error);
	}
	return err;
}

enum fors_err fors_flows_pack_lumps(const struct fors_flows_problem *problem, const uint32_t *way,
				    const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
				    struct fors_error *error)
{
	struct fors_flows_problem coarse = *problem, fine = *problem;
	struct fors_flows_packing *made = NULL;
	enum fors_err err = FORS_OK;

	coarse.lump = largest_lump(problem);
	fine.lump = least_prime(coarse.lump);
	if (coarse.lump >= 2 && problem->ndests / WORTH >= fine.lump)
		err = pack_coarse(&coarse, way, asked, &made, error);
	if (!err && made && made->nwaiting && fine.lump < coarse.lump)
		err = pack_fine(&fine, asked, &made, error);
	if (!err && made)
		err = fors_flows_refine(problem, made->nphases * made->problem->lump, &made, error);
	if (err)
		fors_flows_packing_free(made);
	else
		*packing = made;
	return err;
}
