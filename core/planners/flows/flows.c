/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flows.c - method `flows`: single flows packed over the ways that the tables give (doc/planners-flows.md).
 *
 * Forget who sends. A switch with n_s senders has n_s flows to each destination d; call them tokens. Whatever puts all tokens
 * into phases so that a link and a receiver get one in a phase and the switch sends at most n_s is a plan, since who sends
 * follows (senders.c). Nothing of that needs a tree, equal leaves, or a number of phases that something divides.
 *
 * The ways come from the tables (problem.c), the phases from strategy.c.
 */
#include "retry.h"
#include "senders.h"
#include "strategy.h"

#include "core/schedule/schedule.h"

#define MOST_PATHS 8 /* path indices that are looked at: more cost more than they give */

static uint32_t paths_of(const struct fors_fabric *fabric)
{
	return 1u << fabric->lmc < MOST_PATHS ? 1u << fabric->lmc : MOST_PATHS;
}

static enum fors_err write_schedule(const struct fors_task *task, const struct fors_flows_packing *packing,
				    struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule *made = NULL;
	enum fors_err err =
		fors_schedule_new(task->fabric, packing->nphases, 0, 0, fors_method_flows.name, &made, error);

	if (!err)
		err = fors_flows_write(packing, made, error);
	if (err) {
		fors_schedule_free(made);
		return err;
	}
	fors_flows_set_lanes(task, made);
	*schedule = made;
	return FORS_OK;
}

/* Over all paths, or over the first ones alone. A job's plan, one of many, is left as it is then; so is that of very many servers. */
static enum fors_err pack(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked, bool is_job,
			  struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err = fors_flows_pack_problem(problem, asked, packing, error);

	if (problem->ndests > FORS_FLOWS_SERVERS)
		return err;
	if (!is_job && err == FORS_ENOPLAN && problem->npaths > 1 && !asked->limits.steps)
		err = fors_flows_pack_first_paths(problem, asked, packing, error);
	return err ? err : fors_flows_retry(problem, asked, is_job, packing, error);
}

static enum fors_err plan(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	const struct fors_flows_asked asked = {.wanted_phases = task->wanted_phases,
					       .limits = task->limits,
					       .cancelled = task->cancelled,
					       .context = task->context,
					       .known_bound = task->known_bound,
					       .is_quick = task->fabric->nservers > FORS_FLOWS_SERVERS};
	struct fors_flows_problem problem;
	struct fors_flows_packing *packing = NULL;
	uint32_t most = fors_fabric_has_capacity(task->fabric) ? FORS_FLOWS_MOST : FORS_FLOWS_SERVERS;
	enum fors_err err;

	if (task->fabric->nservers > most)
		return fors_fail(error, FORS_ELIMIT, "flows: %u servers are too many, it takes at most %u",
				 task->fabric->nservers, most);
	err = fors_flows_problem_read(task, paths_of(task->fabric), &problem, error);
	if (err)
		return err;
	err = pack(&problem, &asked, task->has_moved, &packing, error);
	if (!err)
		err = write_schedule(task, packing, schedule, error);
	fors_flows_packing_free(packing);
	fors_flows_problem_clear(&problem);
	return err;
}

const struct fors_method fors_method_flows = {
	.name = "flows",
	.plan = plan,
};
