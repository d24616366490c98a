/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strategy.c - how many phases are tried, when, with how much effort.
 *
 * T begins at the bound of the tables. First fit is tried in a few orders; what it leaves waiting is searched for
 * (search.c). When that does not end well phases are added, as many as what still waits asks for, and the search goes on
 * from the best packing so far; once there is a plan the numbers between it and the last failure are tried, by halves.
 *
 * The effort is counted in work (words of masks), a share of what is left for each search.
 */
#include "strategy.h"

#include "search.h"

#define WORK_PER_FLOW 400 /* words of masks in all, per flow of the exchange */
#define WORK_AT_LEAST UINT64_C(10000000)
#define MOST_PHASES 65535

struct attempt {
	const struct fors_flows_asked *asked;
	const struct fors_flows_problem *problem;
	uint32_t bound;
	uint64_t work;			   /* still to be spent */
	struct fors_flows_packing *failed; /* the best that is no plan, NULL: none */
	struct fors_flows_packing *plan;   /* NULL: none yet */
};

/* More waits than this: phases are missing, and a search would be in vain. */
static uint32_t hopeless(const struct fors_flows_problem *problem)
{
	return problem->ndests * problem->ndests / 10 + 1;
}

/* The best of first fit's orders. */
static enum fors_err begin(struct attempt *a, uint32_t nphases, struct fors_error *error)
{
	struct fors_flows_packing *made;
	enum fors_err err = FORS_OK;

	for (unsigned order = FORS_FLOWS_NORDERS; !err && order-- > 0;) {
		/* by distance first: it is right for healthy trees */
		static const enum fors_flows_order turn[FORS_FLOWS_NORDERS] = {
			FORS_FLOWS_BY_LEVEL, FORS_FLOWS_BY_XOR, FORS_FLOWS_BY_LOAD, FORS_FLOWS_BY_DISTANCE};

		if (a->failed && !a->failed->nwaiting)
			break;
		err = fors_flows_first_fit(a->problem, nphases, turn[order], &made, error);
		if (err)
			break;
		if (!a->failed || made->nwaiting < a->failed->nwaiting) {
			struct fors_flows_packing *worse = a->failed;

			a->failed = made;
			made = worse;
		}
		fors_flows_packing_free(made);
	}
	return err;
}

/* Search in a packing; when nothing waits any more it becomes the plan. */
static enum fors_err search(struct attempt *a, struct fors_flows_packing **packing, struct fors_error *error)
{
	uint64_t before = (*packing)->work, share = a->work / 8;
	enum fors_err err = FORS_OK;

	if ((*packing)->nwaiting)
		err = fors_flows_search(*packing, share, a->asked->cancelled, a->asked->context, error);
	a->work -= (*packing)->work - before < a->work ? (*packing)->work - before : a->work;
	if (!err && !(*packing)->nwaiting) {
		fors_flows_packing_free(a->plan);
		a->plan = *packing;
		*packing = NULL;
	}
	return err;
}

/* With nphases phases, from the last failure on; that becomes the failure when it is one too. */
static enum fors_err go_on(struct attempt *a, uint32_t nphases, struct fors_error *error)
{
	struct fors_flows_packing *packing;
	enum fors_err err = fors_flows_packing_copy(a->failed, nphases, &packing, error);

	if (err)
		return err;
	fors_flows_fill(packing);
	err = search(a, &packing, error);
	if (!packing)
		return err;
	fors_flows_packing_free(a->failed);
	a->failed = packing;
	return err;
}

/* How many phases more: what still waits, spread over the senders, a third of it; at least 1, at most 5 %. */
static uint32_t more_phases(const struct attempt *a)
{
	uint32_t missing = a->failed->nwaiting / (a->problem->ndests + 1) / 3, most = a->failed->nphases / 20;

	if (missing > most)
		missing = most;
	return missing ? missing : 1 + a->failed->nphases / 1000;
}

/* More would be of no use. */
static uint32_t most_phases(const struct attempt *a)
{
	return a->asked->wanted_phases ? a->asked->wanted_phases : MOST_PHASES;
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
	uint32_t nphases = a->bound;
	enum fors_err err = nphases > MOST_PHASES
				    ? fors_fail(error, FORS_ELIMIT, "flows: %u phases are too many", nphases)
				    : begin(a, nphases, error);

	while (!err && a->failed->nwaiting > hopeless(a->problem)) {
		nphases += nphases / 100 + 1;
		if (nphases > most_phases(a))
			return fail_limit(a, error);
		fors_flows_packing_free(a->failed);
		a->failed = NULL;
		err = begin(a, nphases, error);
	}
	if (!err)
		err = search(a, &a->failed, error);
	while (!err && !a->plan) {
		nphases = a->failed->nphases + more_phases(a);
		if (nphases > most_phases(a))
			return fail_limit(a, error);
		err = go_on(a, nphases, error);
	}
	return err;
}

/* Between the last failure and the plan, by halves, while there is work left to spend. */
static enum fors_err halve(struct attempt *a, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	while (!err && a->failed && a->work && a->plan->nphases - a->failed->nphases > 1)
		err = go_on(a, a->failed->nphases + (a->plan->nphases - a->failed->nphases) / 2, error);
	return err;
}

static enum fors_err run(struct attempt *a, struct fors_error *error)
{
	enum fors_err err = fors_flows_bound(a->problem, &a->bound, error);

	if (!err && a->asked->wanted_phases && a->bound > a->asked->wanted_phases)
		return fors_fail(error, FORS_ENOPLAN, "flows: these tables need %u phases", a->bound);
	if (!err)
		err = climb(a, error);
	return err ? err : halve(a, error);
}

enum fors_err fors_flows_pack_problem(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				      struct fors_flows_packing **packing, struct fors_error *error)
{
	struct attempt a = {.asked = asked, .problem = problem};
	enum fors_err err;

	a.work = WORK_AT_LEAST + WORK_PER_FLOW * (uint64_t)problem->ndests * problem->ndests;
	err = run(&a, error);
	fors_flows_packing_free(a.failed);
	if (err)
		fors_flows_packing_free(a.plan);
	else
		*packing = a.plan;
	return err;
}
