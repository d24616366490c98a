/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * retry.c - a plan over given tables that stays above their bound, tried in other ways.
 *
 * Far above: in whole units first (lumps.h), in as few rounds as they need, even some more than the plan has; then in parts of
 * them (fors_flows_improve()), with more effort than usual. A unit that moves takes all its flows along, so a search gets
 * through where single flows only push each other about. Example: updn's tables with LMC 1 in FT(2;20,18) without a cable:
 * 380 phases in single flows, 370 in halves of units.
 *
 * With several LIDs: over the first of them alone, for which tables are made balanced. There are fewer ways to get into each other's
 * way, and less to search: 153 phases for 156 in a tree of 80 servers.
 */
#include "retry.h"

#include <stdlib.h>

#include "core/base/divisor.h"
#include "lumps.h"
#include "search.h"
#include "ways.h"

#define FAR 32	      /* a plan is far above its bound by one part of so many */
#define MORE_ROUNDS 2 /* of whole units, than the plan has */
#define PATIENCE 4    /* as when units are cut into parts */
#define EFFORT 2      /* of parts: so many times the usual one */

/* ---- in units ---- */

/* The largest lump: what divides the senders of all switches. */
static uint32_t unit_length(const struct fors_flows_problem *problem)
{
	uint32_t length = 0;

	for (uint32_t s = 0; s < problem->nswitches; s++)
		length = fors_divisor(length, problem->senders[s]);
	return length;
}

/* All units in rounds, in *packing; NULL: not in few enough. */
static enum fors_err pack_units(const struct fors_flows_problem *units, uint32_t plan,
				const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
				struct fors_error *error)
{
	uint32_t length = units->lump, bound = asked->known_bound, *way = NULL;
	enum fors_err err = fors_flows_choose_ways(units, bound, &way, error);

	*packing = NULL;
	if (!err)
		err = fors_flows_first_fit(units, way, (bound + length - 1) / length, FORS_FLOWS_IN_TURN, packing,
					   error);
	if (!err) {
		(*packing)->patience = PATIENCE;
		err = fors_flows_finish(packing, plan / length + MORE_ROUNDS,
					(uint64_t)FORS_FLOWS_LUMP_WORK * fors_flows_units(units), asked, error);
	}
	free(way);
	return err;
}

/* *packing becomes the other one if that is shorter; the longer one is freed. */
static void keep_shorter(struct fors_flows_packing **packing, struct fors_flows_packing *other)
{
	if (other && other->nphases < (*packing)->nphases) {
		fors_flows_packing_free(*packing);
		*packing = other;
	} else {
		fors_flows_packing_free(other);
	}
}

static enum fors_err try_units(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
			       struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_problem units = *problem;
	struct fors_flows_asked more = *asked;
	struct fors_flows_packing *made = NULL;
	enum fors_err err;

	units.lump = unit_length(problem);
	more.effort = EFFORT;
	if (units.lump < 2)
		return FORS_OK;
	err = pack_units(&units, (*packing)->nphases, asked, &made, error);
	if (!err && made)
		err = fors_flows_improve(problem, &more, asked->known_bound, &made, error);
	if (!err)
		keep_shorter(packing, made);
	return err;
}

/* ---- over base LIDs ---- */

/* The problem with the ways of path index 0 alone; what `of` has besides is shared. False: out of memory. */
static bool take_first_paths(const struct fors_flows_problem *of, struct fors_flows_problem *one)
{
	uint32_t nunits = fors_flows_units(of), n = 0;

	*one = *of;
	one->npaths = 1;
	one->begin = malloc((nunits + (size_t)1) * sizeof(*one->begin));
	one->link = malloc(((size_t)nunits * FORS_FLOWS_MOST_LINKS + 1) * sizeof(*one->link));
	one->exists = malloc(nunits + (size_t)1);
	if (!one->begin || !one->link || !one->exists)
		return false;
	for (uint32_t unit = 0; unit < nunits; unit++) {
		one->begin[unit] = n;
		one->exists[unit] = of->exists[unit * of->npaths];
		n += fors_flows_links(of, unit / of->ndests, unit % of->ndests, 0, one->link + n);
	}
	one->begin[nunits] = n;
	return true;
}

/* The same packing, of the problem with all ways. */
static enum fors_err with_all_paths(const struct fors_flows_problem *problem, const struct fors_flows_packing *one,
				    struct fors_flows_packing **made, struct fors_error *error)
{
	enum fors_err err = fors_flows_packing_new(problem, one->nphases, made, error);

	if (err)
		return err;
	for (uint32_t d = 0; d < problem->ndests; d++)
		for (uint32_t t = 0; t < one->nphases; t++) {
			uint32_t way = fors_flows_received(one, d, t);

			if (way != FORS_FLOWS_NONE)
				fors_flows_put(*made, way * problem->npaths, t);
		}
	(*made)->nwaiting = 0;
	return FORS_OK;
}

enum fors_err fors_flows_pack_first_paths(const struct fors_flows_problem *problem,
					  const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
					  struct fors_error *error)
{
	struct fors_flows_problem one;
	struct fors_flows_packing *plan = NULL;
	enum fors_err err = take_first_paths(problem, &one) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_flows_pack_problem(&one, asked, &plan, error);
	if (!err)
		err = with_all_paths(problem, plan, packing, error);
	fors_flows_packing_free(plan);
	free(one.begin);
	free(one.link);
	free(one.exists);
	return err;
}

static enum fors_err try_first_paths(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				     struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_asked shorter = *asked;
	struct fors_flows_packing *made = NULL;
	enum fors_err err;

	shorter.wanted_phases = (*packing)->nphases - 1;
	err = fors_flows_pack_first_paths(problem, &shorter, &made, error);
	if (!err)
		keep_shorter(packing, made);
	return err == FORS_ENOPLAN ? FORS_OK : err;
}

enum fors_err fors_flows_retry(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
			       bool is_job, struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_asked bounded = *asked;
	uint32_t bound;
	enum fors_err err;

	if (asked->limits.steps)
		return FORS_OK;
	err = fors_flows_bound(problem, &bound, error);
	if (err)
		return err;
	if (bounded.known_bound < bound)
		bounded.known_bound = bound;
	bound = bounded.known_bound;
	if ((*packing)->nphases > bound + bound / FAR)
		err = try_units(problem, &bounded, packing, error);
	if (err || is_job || problem->npaths == 1 || (*packing)->nphases <= bound)
		return err;
	return try_first_paths(problem, &bounded, packing, error);
}
