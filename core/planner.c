/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * planner.c - the table of methods, and the choice among them (design.md 3.6).
 *
 * `auto` takes the plan with the fewest phases, the simplest method on a tie. The
 * methods are asked from the simplest on, and asking ends as soon as one reaches
 * the lower bound: no other can be better. The ILP is for whoever asks for it by name.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "planner.h"

#include <string.h>

static const struct fors_method *const methods[] = {
	&fors_method_closed_form,
	&fors_method_rounds,
	&fors_method_exact,
#ifdef HAVE_LPSOLVE
	&fors_method_ilp,
#endif
};

#define NMETHODS (sizeof(methods) / sizeof(methods[0]))
#define NAUTO 3 /* the first so many take part in `auto` */

const struct fors_method *const *fors_methods(size_t *count)
{
	*count = NMETHODS;
	return methods;
}

/* Failures after which another method may still succeed. */
static bool may_go_on(enum fors_err err)
{
	return err == FORS_ENOTAPPL || err == FORS_ELMC || err == FORS_ENOPLAN || err == FORS_ELIMIT;
}

/* Keep the better of two plans in *best and free the other. */
static void keep_better(struct fors_schedule **best, struct fors_schedule *plan)
{
	struct fors_schedule *worse = plan;

	if (!*best || plan->nphases < (*best)->nphases) {
		worse = *best;
		*best = plan;
	}
	fors_schedule_free(worse);
}

static enum fors_err plan_auto(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule *best = NULL, *plan;
	struct fors_error reason = {FORS_OK, ""};
	uint32_t bound = 0;
	enum fors_err err = fors_lower_bound(task->fabric, &bound, error);

	for (size_t i = 0; !err && i < NAUTO && !(best && best->nphases <= bound); i++) {
		err = methods[i]->plan(task, &plan, &reason);
		if (!err)
			keep_better(&best, plan);
		else if (may_go_on(err))
			err = FORS_OK;
		else
			fors_fail(error, err, "%s", reason.text);
	}
	if (err) {
		fors_schedule_free(best);
		return err;
	}
	if (!best)
		return fors_fail(error, reason.code, "%s", reason.text);
	*schedule = best;
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

enum fors_err fors_plan(const struct fors_task *task, const char *name, struct fors_schedule **schedule,
			struct fors_error *error)
{
	const struct fors_method *method = NULL;
	enum fors_err err;

	for (size_t i = 0; i < NMETHODS; i++)
		if (!strcmp(methods[i]->name, name))
			method = methods[i];
	if (!method && strcmp(name, "auto"))
		return fail_unknown(name, error);
	if (!task->fabric->nservers)
		return fors_fail(error, FORS_ENOTAPPL, "no server takes part, so there is nothing to plan");
	err = fors_fabric_connected(task->fabric, error);
	if (err)
		return err;
	return method ? method->plan(task, schedule, error) : plan_auto(task, schedule, error);
}
