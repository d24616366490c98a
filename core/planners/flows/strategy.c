/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strategy.c - how many phases are tried, when, with how much effort.
 *
 * T begins at the bound of the tables. First fit is tried in a few orders; what it leaves waiting is searched for
 * (search.c). When that does not end well phases are added, half of what still waits asks for, and the search goes on from
 * the best packing so far. Once there is a plan it goes down again: from the plan without its emptiest phases, and where that
 * fails from there with some more; and one phase below the plan as long as there is work left, unless a search came to its
 * end there. Large packings take longer to copy than to search in, so only a plan is copied, to the memory of a packing that
 * was put aside.
 *
 * A plan in whole units (fors_flows_improve()) goes down in parts of them first, as large as divide the aim best: what
 * moves takes the flows beside it along, there are fewer to be moved, and few are in the way of many rows. Where links of
 * a leaf are busy in all phases but a few, searches for single flows do not even get over the first phase that is taken
 * away.
 *
 * The caller may know a better bound than the ways tell: then that is where T begins.
 *
 * The effort is counted in work (words of masks), a share of what is left for each search. That the first searches run
 * where no plan will be found is not in vain: they leave denser packings than first fit does with more phases.
 */
#include "strategy.h"

#include <stdlib.h>

#include "lumps.h"
#include "search.h"
#include "ways.h"

#define WORK_PER_FLOW 200 /* words of masks in all, per flow of the exchange */
#define WORK_AT_LEAST UINT64_C(10000000)
#define HOPELESS 10	/* per cent of the tokens: when more of them wait, a search would be in vain */
#define PART_MISSING 50 /* per cent of what is missing: so many phases are added */
#define WORK_PER_SEARCH 1000000
#define UNITS_SHARE                                                                                                    \
	3	/* the same of whole units: what is searched for at the bound in vain leaves work for a round more */
#define SHARE 8 /* of the work that is left, for one search */
#define LUMPED_PER_FLOW 50 /* the same on the way down from a plan that began with lumps */
#define LUMPED_AT_LEAST UINT64_C(6000000)
#define CHOICE_PER_FLOW 1000 /* the same where flows have ways to choose from */
#define CHOICE_AT_MOST UINT64_C(100000000)
#define QUICK_PER_FLOW 300 /* of a plan that is wanted soon */
#define QUICK_AT_LEAST UINT64_C(1500000)
#define MOST_IDLE 8
#define PATIENCE 4   /* of searches for lumps: each that moves takes others along */
#define FEW 200	     /* one token of so many: a search for them goes on though the last one brought little */
#define MANY 1000000 /* of so many tokens first fit's first order leaves least: others take long */
#define MOST_PHASES 65535

struct attempt {
	const struct fors_flows_asked *asked;
	const struct fors_flows_problem *problem;
	uint32_t bound;
	uint32_t *way;			   /* per unit: the way to be taken first */
	uint64_t work;			   /* still to be spent */
	bool is_stuck;			   /* the last search brought little */
	bool is_patient;		   /* few that wait are searched for while searches find anything */
	uint32_t nidle;			   /* searches in a row that found nothing */
	enum fors_flows_order order;	   /* of first fit, the best */
	struct fors_flows_packing *failed; /* the best that is no plan, NULL: none */
	struct fors_flows_packing *plan;   /* NULL: none yet */
	struct fors_flows_packing *spare;  /* memory for the next copy, NULL */
};

/* So many tokens there are. */
static uint64_t tokens_of(const struct fors_flows_problem *problem)
{
	return problem->ndests * fors_flows_received_tokens(problem);
}

/* More would be of no use. */
static uint32_t most_phases(const struct attempt *a)
{
	return a->asked->wanted_phases ? a->asked->wanted_phases : MOST_PHASES;
}

/* Its memory will do for the next copy. */
static void put_aside(struct attempt *a, struct fors_flows_packing *packing)
{
	fors_flows_packing_free(a->spare);
	a->spare = packing;
}

/* What was made in spare memory becomes the failure if fewer wait in it. */
static void keep_better(struct attempt *a)
{
	struct fors_flows_packing *made = a->spare;

	if (a->failed && made->nwaiting >= a->failed->nwaiting)
		return;
	a->spare = a->failed;
	a->failed = made;
}

/* Nothing waits; or receivers are the limit, and so few wait that other orders would hardly leave fewer. */
static bool is_good_begin(const struct attempt *a)
{
	if (!a->failed || !a->failed->nwaiting)
		return a->failed;
	return a->bound == a->problem->ndests && a->failed->nwaiting <= tokens_of(a->problem) / 200;
}

/* The best of first fit's orders. */
static enum fors_err begin(struct attempt *a, uint32_t nphases, struct fors_error *error)
{
	static const enum fors_flows_order turn[] = {FORS_FLOWS_BY_DISTANCE, FORS_FLOWS_BY_LOAD, FORS_FLOWS_IN_TURN};
	const unsigned most = a->asked->is_quick ? 2 : sizeof(turn) / sizeof(turn[0]),
		       norders = tokens_of(a->problem) > MANY ? 1 : most;
	enum fors_err err = FORS_OK;

	if (a->asked->begin)
		return a->asked->begin(a->asked->begin_context, nphases, &a->failed, error);
	for (unsigned i = 0; i < norders && !err && !is_good_begin(a); i++) {
		put_aside(a, NULL);
		err = fors_flows_first_fit(a->problem, a->way, nphases, turn[i], &a->spare, error);
		if (err)
			return err;
		if (!a->failed || a->spare->nwaiting < a->failed->nwaiting)
			a->order = turn[i];
		keep_better(a);
	}
	put_aside(a, NULL);
	return err;
}

/* The same with the order that was best. */
static enum fors_err begin_again(struct attempt *a, uint32_t nphases, struct fors_error *error)
{
	struct fors_flows_packing *made;
	enum fors_err err = a->asked->begin ? a->asked->begin(a->asked->begin_context, nphases, &made, error)
					    : fors_flows_first_fit(a->problem, a->way, nphases, a->order, &made, error);

	if (err)
		return err;
	fors_flows_packing_free(a->failed);
	a->failed = made;
	return FORS_OK;
}

/*
 * What one search may spend: a share of what is left, and no more than so few tokens are worth. In lumps all of it: a
 * search that ends before it found anything was in vain.
 */
static uint64_t share_of(const struct attempt *a, const struct fors_flows_packing *packing)
{
	uint64_t share = a->work / SHARE,
		 worth = WORK_PER_SEARCH + FORS_FLOWS_WORK_PER_WAITING * (uint64_t)packing->nwaiting;

	if (a->asked->begin)
		return a->work / UNITS_SHARE;
	if (a->problem->lump > 1)
		return a->work;
	return share < worth ? share : worth;
}

/* Search in the last failure; when nothing waits any more it becomes the plan. */
static enum fors_err search(struct attempt *a, struct fors_error *error)
{
	struct fors_flows_packing *packing = a->failed;
	uint64_t before = packing->work, share = share_of(a, packing);
	uint32_t waiting = packing->nwaiting;
	enum fors_err err = FORS_OK;

	if (waiting)
		err = fors_flows_search(packing, share, a->asked->cancelled, a->asked->context, error);
	a->is_stuck = packing->nwaiting > waiting - waiting / 8;
	a->nidle = packing->nwaiting < waiting ? 0 : a->nidle + 1;
	a->work -= packing->work - before < a->work ? packing->work - before : a->work;
	if (!err && !packing->nwaiting) {
		put_aside(a, a->plan);
		a->plan = packing;
		a->failed = NULL;
	}
	return err;
}

/* With nphases phases, from the last failure on; from the plan without its emptiest ones, where there was none since. */
static enum fors_err go_on(struct attempt *a, uint32_t nphases, struct fors_error *error)
{
	enum fors_err err;

	if (a->failed)
		err = fors_flows_packing_resize(&a->failed, nphases, error);
	else if (!(err = fors_flows_packing_change(a->plan, nphases, &a->spare, error)))
		keep_better(a);
	return err ? err : search(a, error);
}

/* How many phases more: room for what still waits, a part of it, since a search finds the rest; at least 1, at most 5 %. */
static uint32_t more_phases(const struct attempt *a)
{
	uint64_t missing =
		(uint64_t)a->failed->nwaiting * a->failed->nphases * PART_MISSING / 100 / tokens_of(a->problem);
	uint32_t most = a->failed->nphases / 20;

	if (missing > most)
		missing = most;
	return missing ? (uint32_t)missing : 1 + a->failed->nphases / 1000;
}

static enum fors_err fail_limit(const struct attempt *a, struct fors_error *error)
{
	if (a->asked->wanted_phases)
		return fors_fail(error, FORS_ENOPLAN, "flows: no plan of %u phases was found", a->asked->wanted_phases);
	return fors_fail(error, FORS_ELIMIT, "flows: %u phases do not suffice, and a schedule has no more than %u",
			 a->failed->nphases, MOST_PHASES);
}

/* Up from the bound until there is a plan. */
static enum fors_err climb(struct attempt *a, struct fors_error *error)
{
	enum fors_err err = begin(a, a->bound, error);

	while (!err && a->failed->nwaiting > tokens_of(a->problem) * HOPELESS / 100 + 1) {
		uint32_t nphases = a->failed->nphases + more_phases(a);

		if (nphases > most_phases(a))
			return fail_limit(a, error);
		err = begin_again(a, nphases, error);
	}
	if (!err)
		err = search(a, error);
	while (!err && !a->plan) {
		uint32_t nphases = a->failed->nphases + more_phases(a);

		if (nphases > most_phases(a))
			return fail_limit(a, error);
		err = go_on(a, nphases, error);
	}
	return err;
}

/* How many phases the next attempt has; the plan has more than the bound. */
static uint32_t fewer_phases(const struct attempt *a)
{
	uint32_t room = a->plan->nphases - (a->failed ? a->failed->nphases : a->bound - 1);

	if (room < 2)
		return a->failed->nphases;
	if (!a->failed && room > a->plan->nphases / 128)
		room = a->plan->nphases / 128;
	return a->plan->nphases - (room > 2 ? room / 2 : 1);
}

/* Is another search in as many phases in vain? */
static bool is_hopeless(const struct attempt *a)
{
	return a->is_stuck &&
	       !(a->is_patient && a->nidle < MOST_IDLE && a->failed->nwaiting <= tokens_of(a->problem) / FEW);
}

/*
 * Down from the plan, as long as there is work left to spend and a search has not come to its end one phase below. A
 * share of the last few steps is none: a search that spent nothing would go on for ever.
 */
static enum fors_err go_down(struct attempt *a, uint32_t aim, struct fors_error *error)
{
	uint64_t least = a->work / 20;
	enum fors_err err = FORS_OK;

	while (!err && a->work > least && a->plan->nphases > aim) {
		uint32_t nphases = fewer_phases(a);
		uint64_t before = a->work;

		if (!a->failed || nphases != a->failed->nphases)
			err = go_on(a, nphases, error);
		else if (is_hopeless(a))
			break;
		else {
			a->failed->seed += a->nidle && a->is_patient;
			err = search(a, error);
			if (a->work == before)
				break;
		}
	}
	return err;
}

/* Work is left, but a search brought little: on, with other random numbers, as long as it brings anything. */
static enum fors_err go_on_patiently(struct attempt *a, struct fors_error *error)
{
	a->is_patient = true;
	a->is_stuck = false;
	a->nidle = 0;
	return go_down(a, a->bound, error);
}

static enum fors_err run(struct attempt *a, struct fors_error *error)
{
	enum fors_err err = fors_flows_bound(a->problem, &a->bound, error);

	a->bound = a->bound > a->asked->known_bound ? a->bound : a->asked->known_bound;
	if (!err && a->asked->wanted_phases && a->bound > a->asked->wanted_phases)
		return fors_fail(error, FORS_ENOPLAN, "flows: these tables need %u phases", a->bound);
	if (!err && a->bound > MOST_PHASES)
		return fors_fail(error, FORS_ELIMIT, "flows: %u phases are too many", a->bound);
	if (!err && !a->asked->begin)
		err = fors_flows_choose_ways(a->problem, a->bound, &a->way, error);
	if (!err)
		err = climb(a, error);
	if (!err)
		err = go_down(a, a->bound, error);
	return err || a->problem->npaths == 1 ? err : go_on_patiently(a, error);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* First fit has a packing beside the best; a search up to four: the plan, what failed, what is put aside, and a copy with more phases. */
uint64_t fors_flows_pack_bytes(const struct fors_flows_problem *problem, uint32_t nphases)
{
	uint64_t packing = fors_flows_packing_bytes(problem, nphases);
	uint64_t fitted = 2 * packing + fors_flows_first_fit_bytes(problem);
	uint64_t searched = 4 * packing + fors_flows_search_bytes(problem, nphases);
	uint64_t kept =
		problem->npaths > 1 ? packing : 0; /* the plan, while the first paths alone are tried (retry.c) */

	return kept + (uint64_t)fors_flows_units(problem) * sizeof(uint32_t) + larger(fitted, searched);
}

static uint64_t work_for(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked)
{
	uint64_t flows = (uint64_t)problem->ndests * problem->ndests;

	if (asked->limits.steps)
		return asked->limits.steps;
	return asked->is_quick ? QUICK_AT_LEAST + QUICK_PER_FLOW * flows : WORK_AT_LEAST + WORK_PER_FLOW * flows;
}

enum fors_err fors_flows_pack_problem(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				      struct fors_flows_packing **packing, struct fors_error *error)
{
	struct attempt a = {.asked = asked, .problem = problem};
	enum fors_err err;

	a.work = work_for(problem, asked);
	err = run(&a, error);
	if (asked->steps)
		*asked->steps += work_for(problem, asked) - a.work;
	fors_flows_packing_free(a.failed);
	fors_flows_packing_free(a.spare);
	free(a.way);
	if (err)
		fors_flows_packing_free(a.plan);
	else
		*packing = a.plan;
	return err;
}

/* Work for plans in lumps that are made better. */
static uint64_t work_of(const struct fors_flows_problem *problem)
{
	uint64_t least = larger(LUMPED_PER_FLOW * tokens_of(problem), LUMPED_AT_LEAST),
		 most = CHOICE_PER_FLOW * tokens_of(problem);

	if (problem->npaths == 1)
		return least;
	return larger(least, most < CHOICE_AT_MOST ? most : CHOICE_AT_MOST);
}

/* The same in lumps as they are, `aim` in phases of those. */
static enum fors_err improve(const struct fors_flows_asked *asked, uint32_t aim, struct fors_flows_packing **packing,
			     struct fors_error *error)
{
	struct attempt a = {.asked = asked, .problem = (*packing)->problem, .plan = *packing, .is_patient = true};
	enum fors_err err = fors_flows_bound(a.problem, &a.bound, error);

	a.bound = a.bound > aim ? a.bound : aim;
	a.work = asked->limits.steps ? asked->limits.steps : work_of(a.problem) * (asked->effort ? asked->effort : 1);
	if (!err)
		err = go_down(&a, a.bound, error);
	fors_flows_packing_free(a.failed);
	fors_flows_packing_free(a.spare);
	if (err) {
		fors_flows_packing_free(a.plan);
		a.plan = NULL;
	}
	*packing = a.plan;
	return err;
}

static uint32_t lumps_of(uint32_t nphases, uint32_t lump)
{
	return nphases / lump + (nphases % lump > 0);
}

/* The part of a lump that comes nearest to the aim, of those that come as near the largest. */
static uint32_t part_of(uint32_t lump, uint32_t aim)
{
	uint32_t best = 1;

	for (uint32_t part = 2; part < lump; part++)
		if (lump % part == 0 && lumps_of(aim, part) * part <= lumps_of(aim, best) * best)
			best = part;
	return best;
}

enum fors_err fors_flows_improve(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				 uint32_t aim, struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_problem parts[2]; /* of the packing that there is, and of the next one */
	uint32_t lump = (*packing)->problem->lump;
	enum fors_err err = FORS_OK;

	for (unsigned i = 0; !err && lump > 1; i++) {
		struct fors_flows_problem *smaller = &parts[i % 2];
		uint32_t part = part_of(lump, aim);

		*smaller = *problem;
		smaller->lump = part;
		err = fors_flows_refine(part > 1 ? smaller : problem, (*packing)->nphases * (lump / part), packing,
					error);
		if (!err && part > 1) {
			(*packing)->patience = PATIENCE;
			(*packing)->counts_tokens = true;
			(*packing)->nways = 2;
		}
		if (!err)
			err = improve(asked, lumps_of(aim, part), packing, error);
		lump = part;
	}
	if (err) {
		fors_flows_packing_free(*packing);
		*packing = NULL;
	}
	return err;
}
