/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * planner.c - the table of methods, and the choice among them.
 *
 * `auto` asks rounds, exact, the closed form and flows, and takes the plan with the fewest phases. On a tie it takes the one with fewer
 * phases in which anybody sends, and then the smaller file. Asking ends as soon as the lower bound is reached: no other
 * plan can have fewer phases. The simplest method is asked first, with one exception. Rounds can search for long, and in
 * vain where the exact planner reaches the bound anyway. Where there are path indices enough for the latter, rounds are
 * asked for a plan at the bound only, and for any other after the exact planner missed it. Single flows come last, for
 * fewer phases than all others found, and most often say at once that the tables allow none. A method that would take
 * more memory than there may be is not asked, so what is left in large fabrics are whole units. The closed form is asked
 * where there are several path indices, too few for the exact planner: a leaf with more servers than lanes has 2 % fewer
 * phases by it than in rounds. Elsewhere rounds have as few, and files many times smaller. The ILP is for whoever asks for it
 * by name.
 *
 * Where cables carry more than one flow in a phase (core/net/rates.h) single flows are asked: they alone know it. Others
 * give each link one flow, which is right but needs more phases; rounds are asked for fabrics too large for single flows.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "planner.h"
#include "core/schedule/schedule.h"
#include "bound.h"
#include "memory.h"

#include <string.h>

#include "core/tables/home.h"

static const struct fors_method *const methods[] = {
	&fors_method_rounds, &fors_method_exact, &fors_method_flows, &fors_method_closed_form,
#ifdef HAVE_LPSOLVE
	&fors_method_ilp,
#endif
};

#define NMETHODS (sizeof(methods) / sizeof(methods[0]))

const struct fors_method *const *fors_methods(size_t *count)
{
	*count = NMETHODS;
	return methods;
}

/* The choice of `auto` so far. */
struct choice {
	const struct fors_task *task;
	struct fors_schedule *best; /* NULL: none yet */
	struct fors_error reason;   /* why the last one who declined did so */
};

/*
 * Failures after which another method may still succeed. Single flows and the closed form need by far the most memory:
 * that they had too little does not cost the plan that there is.
 */
static bool may_go_on(const struct choice *choice, const struct fors_method *method, enum fors_err err)
{
	if (err == FORS_ENOMEM)
		return choice->best && (method == &fors_method_flows || method == &fors_method_closed_form);
	return err == FORS_ENOTAPPL || err == FORS_ELMC || err == FORS_ENOPLAN || err == FORS_ELIMIT;
}

/* Is this plan better than the best one, if there is one? */
static bool is_better(const struct fors_schedule *plan, const struct fors_schedule *best)
{
	uint32_t busy, best_busy;

	if (!best || plan->nphases != best->nphases)
		return !best || plan->nphases < best->nphases;
	busy = fors_schedule_nbusy(plan);
	best_busy = fors_schedule_nbusy(best);
	return busy != best_busy ? busy < best_busy : fors_schedule_ncells(plan) < fors_schedule_ncells(best);
}

/* Ask a method, unless that is in vain; wanted: as in struct fors_task. Errors: those that end the search. */
static enum fors_err ask(struct choice *choice, const struct fors_method *method, uint32_t wanted,
			 struct fors_error *error)
{
	struct fors_task task = *choice->task;
	struct fors_schedule *plan = NULL;
	enum fors_err err;

	if (choice->best && choice->best->nphases <= choice->task->known_bound)
		return FORS_OK;
	task.wanted_phases = wanted;
	err = fors_plan_fits(&task, method, task.known_bound, NULL, &choice->reason);
	if (!err)
		err = method->plan(&task, &plan, &choice->reason);
	if (err)
		return may_go_on(choice, method, err) ? FORS_OK : fors_fail(error, err, "%s", choice->reason.text);
	if (is_better(plan, choice->best)) {
		fors_schedule_free(choice->best);
		choice->best = plan;
	} else {
		fors_schedule_free(plan);
	}
	return FORS_OK;
}

/* Where cables carry several flows in a phase. */
static enum fors_err ask_by_capacity(struct choice *choice, struct fors_error *error)
{
	enum fors_err err = ask(choice, &fors_method_flows, 0, error);

	return err || choice->best ? err : ask(choice, &fors_method_rounds, 0, error);
}

/* Ask all, the exact planner before rounds have searched for long. */
static enum fors_err ask_all(struct choice *choice, struct fors_error *error)
{
	const struct fors_fabric *fabric = choice->task->fabric;
	bool exact_first = fors_home_has_all(fabric->nlanes, fabric->lmc);
	enum fors_err err = ask(choice, &fors_method_rounds, exact_first ? choice->task->known_bound : 0, error);

	if (!err)
		err = ask(choice, &fors_method_exact, 0, error);
	if (!err && exact_first)
		err = ask(choice, &fors_method_rounds, 0, error);
	if (!err && !exact_first && fabric->lmc)
		err = ask(choice, &fors_method_closed_form, 0, error);
	if (!err && choice->best) /* where there is no other plan there are no ways */
		err = ask(choice, &fors_method_flows, choice->best->nphases - 1, error);
	return err;
}

static enum fors_err plan_auto(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	struct choice choice = {.task = task};
	enum fors_err err =
		fors_fabric_has_capacity(task->fabric) ? ask_by_capacity(&choice, error) : ask_all(&choice, error);

	if (err) {
		fors_schedule_free(choice.best);
		return err;
	}
	if (!choice.best)
		return fors_fail(error, choice.reason.code, "%s", choice.reason.text);
	*schedule = choice.best;
	return FORS_OK;
}

static enum fors_err fail_unknown(const char *name, struct fors_error *error)
{
	char known[128] = "auto";

	for (size_t i = 0; i < NMETHODS; i++) {
		strncat(known, ", ", sizeof(known) - strlen(known) - 1);
		strncat(known, methods[i]->name, sizeof(known) - strlen(known) - 1);
	}
	return fors_fail(error, FORS_EINPUT, "no planning method is called '%.32s'; there are %s", name, known);
}

/* Single flows know what cables carry, and rounds stay right without; all others count links by what servers need. */
static enum fors_err knows_capacity(const struct fors_task *task, const struct fors_method *method,
				    struct fors_error *error)
{
	if (!method || method == &fors_method_flows || method == &fors_method_rounds ||
	    !fors_fabric_has_capacity(task->fabric))
		return FORS_OK;
	return fors_fail(error, FORS_ENOTAPPL,
			 "%s: cables here carry more than one flow in a phase, which only method flows knows",
			 method->name);
}

enum fors_err fors_plan(const struct fors_task *task, const char *name, struct fors_schedule **schedule,
			struct fors_error *error)
{
	const struct fors_method *method = NULL;
	struct fors_task bounded = *task;
	enum fors_err err;

	for (size_t i = 0; i < NMETHODS; i++)
		if (!strcmp(methods[i]->name, name))
			method = methods[i];
	if (!method && strcmp(name, "auto"))
		return fail_unknown(name, error);
	if (!task->fabric->nservers)
		return fors_fail(error, FORS_ENOTAPPL, "no server takes part, so there is nothing to plan");
	err = fors_fabric_connected(task->fabric, error);
	if (!err)
		err = knows_capacity(task, method, error);
	if (!err)
		err = fors_lower_bound(task->fabric, &bounded.known_bound, error);
	if (!err && !method)
		return plan_auto(&bounded, schedule, error);
	if (!err)
		err = fors_plan_fits(task, method, task->fabric->nservers, NULL, error);
	return err ? err : method->plan(&bounded, schedule, error);
}
