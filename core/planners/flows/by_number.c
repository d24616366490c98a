/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * by_number.c - a plan over tables whose homes are by number (core/planners/pods/number3.h).
 *
 * Where the linear shift is a plan that is all. Else two stages (stages.h) leave few tokens waiting, none at best; another beginning may
 * leave fewer. For those that wait there is ejection, then a phase more at a time.
 */
#include "by_number.h"

#include "lumps.h"
#include "search.h"
#include "shift.h"
#include "stages.h"

#define FEW_DESTS 300		     /* of so many receivers packings in stages are made */
#define MOST_TURNS 4		     /* so many times, while */
#define FEW_LEFT 24		     /* tokens wait, no more */
#define BEGIN_WORK UINT64_C(1000000) /* words of masks, for what waits, */
#define WORK_PER_WAITING 5000	     /* and more for each token where there is a phase more */
#define MORE_PHASES 2		     /* than receivers, and */
#define PART_MORE 50		     /* one part of so many, for what waits */

static void give_up(struct fors_flows_packing **packing)
{
	fors_flows_packing_free(*packing);
	*packing = NULL;
}

/* Do so few wait, but some, that another beginning may leave none? More do where ways have another form. */
static bool is_worth_more(const struct fors_flows_packing *packing)
{
	return !packing || (packing->nwaiting && packing->nwaiting <= FEW_LEFT);
}

/* In two stages, some times until nothing waits; the packing in which fewest do, NULL: there is none. */
static enum fors_err pack_in_stages(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				    struct fors_flows_packing **packing, struct fors_error *error)
{
	uint32_t turns = problem->ndests <= FEW_DESTS ? MOST_TURNS : 1;
	enum fors_err err = FORS_OK;

	*packing = NULL;
	for (uint32_t i = 0; !err && i < turns && is_worth_more(*packing); i++) {
		struct fors_flows_packing *made = NULL;

		err = fors_flows_stages(problem, asked, i * problem->ndests / turns, &made, error);
		if (!err && (!made || (*packing && (*packing)->nwaiting <= made->nwaiting))) {
			fors_flows_packing_free(made);
		} else if (!err) {
			fors_flows_packing_free(*packing);
			*packing = made;
		}
	}
	return err;
}

/* Phases more, one at a time, until nothing waits; *packing becomes a plan, or NULL: it would take too many. */
static enum fors_err climb(const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
			   struct fors_error *error)
{
	uint32_t most = (*packing)->nphases + MORE_PHASES + (*packing)->nphases / PART_MORE;
	enum fors_err err = FORS_OK;

	while (!err && (*packing)->nwaiting && (*packing)->nphases < most) {
		err = fors_flows_add_round(packing, error);
		if (!err)
			err = fors_flows_search(*packing, BEGIN_WORK + WORK_PER_WAITING * (*packing)->nwaiting,
						asked->cancelled, asked->context, error);
	}
	if (!err && (*packing)->nwaiting)
		give_up(packing);
	return err;
}

/* Phases for what waits: *packing becomes a plan, or NULL. */
static enum fors_err finish_stages(const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
				   struct fors_error *error)
{
	enum fors_err err = fors_flows_search(*packing, BEGIN_WORK, asked->cancelled, asked->context, error);

	return !err && (*packing)->nwaiting ? climb(asked, packing, error) : err;
}

enum fors_err fors_flows_by_number(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				   struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err;

	*packing = NULL;
	err = fors_flows_shift(problem, asked->number, problem->ndests, packing, error);
	if (err || !(*packing)->nwaiting)
		return err;
	fors_flows_packing_free(*packing);
	err = pack_in_stages(problem, asked, packing, error);
	if (!err && *packing && (*packing)->nwaiting && !asked->limits.steps)
		err = finish_stages(asked, packing, error);
	if (err || (*packing && (*packing)->nwaiting)) /* whoever said how many steps there are gets no more */
		give_up(packing);
	return err;
}
