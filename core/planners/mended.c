/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mended.c - what a repair would give back.
 *
 * It is not estimated: tables are made for the fabric as it would be, and the exchange is planned and proven over
 * them. Only where that must be in vain it is left out. No plan is below the lower bound, and with one LID for each
 * server none below the lump; as long as another leaf is as badly off as the one that is mended these bounds stay
 * where they are. With thirty dead cables most repairs are of that kind.
 */
#include "mended.h"

#include "bound.h"
#include "core/net/lfts.h"
#include "core/planners/pods/route3.h"
#include "core/tables/tables.h"
#include "outcome.h"
#include "over.h"

/* Can there be a plan below the one that there is? */
static enum fors_err is_hopeful(const struct fors_fabric *fabric, uint32_t phases_now, bool *answer,
				struct fors_error *error)
{
	uint32_t bound = 0;
	enum fors_err err;

	*answer = !fabric->unreachable_pairs;
	if (fabric->unreachable_pairs || !phases_now)
		return FORS_OK;
	err = fors_lower_bound(fabric, &bound, error);
	*answer = !err && bound < phases_now && (fabric->lmc || fors_lump_bound(fabric) < phases_now);
	return err;
}

static enum fors_err plan(const struct fors_task *task, const char *method, const struct fors_mended *mended,
			  uint32_t *phases, struct fors_error *error)
{
	struct fors_request request = {.task = *task, .method = method, .net = mended->net};
	struct fors_lfts *lfts = NULL;
	struct fors_outcome outcome;
	enum fors_err err = fors_tables_build(mended->fabric, &lfts, error);

	if (err)
		return err;
	fors_outcome_init(&outcome);
	request.task.fabric = mended->fabric;
	request.task.lanes = NULL;
	request.lfts = lfts;
	err = fors_outcome_make(&request, &outcome, error);
	if (!err)
		*phases = outcome.is_proven ? outcome.plan->nphases : 0;
	fors_outcome_clear(&outcome);
	fors_lfts_free(lfts);
	return err;
}

enum fors_err fors_phases_mended(const struct fors_task *task, const char *method, const struct fors_repair *repair,
				 uint32_t phases_now, uint32_t *phases, struct fors_error *error)
{
	struct fors_mended mended;
	bool hopeful = false;
	uint32_t found = phases_now;
	enum fors_err err = fors_mended_build(fors_fabric_cabling(task->fabric), repair, &mended, error);

	if (err)
		return err;
	err = is_hopeful(mended.fabric, phases_now, &hopeful, error);
	if (!err && hopeful)
		err = plan(task, method, &mended, &found, error);
	fors_mended_free(&mended);
	if (!err)
		*phases = found;
	return err;
}

/* --- of three levels ---------------------------------------------------------------------------------------------- */

/* Can there be a plan below the one that there is? The tree's bound is that of all its servers. */
static bool is_hopeful3(const struct fors_over_task *task, const struct fors_route3 *route, uint32_t phases_now)
{
	bool are_all = !task->participants || task->participants->count == route->nservers;

	return !phases_now || !are_all || route->bound_servers < phases_now;
}

/* Over the tables that fors would make; ways that are missing make no plan, and no error. */
static enum fors_err plan3(const struct fors_over_task *task, const struct fors_mended *mended, uint32_t phases_now,
			   uint32_t *phases, struct fors_error *error)
{
	struct fors_over_task then = *task;
	struct fors_schedule *schedule = NULL;
	struct fors_over_report report;
	struct fors_route3 *route = NULL;
	enum fors_err err = fors_route3_make(mended->pods, fors_route3_little_effort(mended->pods), &route, error);

	if (!err && is_hopeful3(task, route, phases_now)) {
		then.net = mended->net;
		then.lfts = route->lfts;
		then.rounds = route;
		err = fors_plan_over(&then, &schedule, &report, error);
		*phases = err ? 0 : schedule->nphases;
	}
	fors_schedule_free(schedule);
	fors_route3_free(route);
	return err == FORS_ENOMEM || err == FORS_ECANCELLED ? err : FORS_OK;
}

enum fors_err fors_phases_mended3(const struct fors_over_task *task, const struct fors_pods *pods,
				  const struct fors_repair *repair, uint32_t phases_now, uint32_t *phases,
				  struct fors_error *error)
{
	struct fors_mended mended;
	uint32_t found = phases_now;
	enum fors_err err = fors_mended_build(fors_pods_cabling(pods), repair, &mended, error);

	if (err)
		return err;
	err = plan3(task, &mended, phases_now, &found, error);
	fors_mended_free(&mended);
	if (!err)
		*phases = found;
	return err;
}
