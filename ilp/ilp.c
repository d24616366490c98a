/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ilp.c - the method of the FORS paper for m > f: its closed-form schedule, the lanes of each phase by an integer
 * programme.
 *
 * It is here as the paper's own method, as an oracle for tests, and for whoever asks for it; the exact planner
 * needs no such thing. The phases are given, so it can fail where the exact planner, which
 * chooses phases and lanes together, cannot.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/planners/method.h"
#include "core/schedule/schedule.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "ilp/closed_form.h"
#include "ilp/phase.h"

#define DEFAULT_SECONDS 600 /* for all phases together */

/* The flows between leaves of the phase in hand. */
struct phase {
	const struct fors_task *task;
	struct fors_schedule *schedule;
	uint32_t number;
	time_t deadline;
	struct fors_ilp_phase model;
	uint16_t *from, *to;
	uint32_t *sender;
	bool *allowed;
	uint8_t *lane;
};

static void phase_free(struct phase *phase)
{
	free(phase->from);
	free(phase->to);
	free(phase->sender);
	free(phase->allowed);
	free(phase->lane);
}

static bool phase_alloc(struct phase *phase)
{
	size_t n = (size_t)phase->task->fabric->nservers + 1;

	phase->from = calloc(n, sizeof(*phase->from));
	phase->to = calloc(n, sizeof(*phase->to));
	phase->sender = calloc(n, sizeof(*phase->sender));
	phase->allowed = calloc(n * (phase->task->fabric->nlanes + 1u), sizeof(*phase->allowed));
	phase->lane = calloc(n, sizeof(*phase->lane));
	return phase->from && phase->to && phase->sender && phase->allowed && phase->lane;
}

static struct fors_cell *cell_of(const struct phase *phase, uint32_t s)
{
	return &phase->schedule->cell[(size_t)s * phase->schedule->nphases + phase->number];
}

static void add_flow(struct phase *phase, uint32_t s, uint32_t d)
{
	const struct fors_fabric *fabric = phase->task->fabric;
	size_t flow = phase->model.nflows++;
	uint32_t a = fabric->server[s].leaf, b = fabric->server[d].leaf;

	phase->from[flow] = (uint16_t)a;
	phase->to[flow] = (uint16_t)b;
	phase->sender[flow] = s;
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		phase->allowed[flow * fabric->nlanes + lane] =
			fors_live(fabric, a, lane) && fors_live(fabric, b, lane) &&
			fors_path_index(fabric, phase->task->lanes, a, d, lane, lane) != FORS_NO_INDEX;
}

static void read_flows(struct phase *phase)
{
	const struct fors_fabric *fabric = phase->task->fabric;

	phase->model = (struct fors_ilp_phase){.nleaves = fabric->nleaves,
					       .nlanes = fabric->nlanes,
					       .from = phase->from,
					       .to = phase->to,
					       .allowed = phase->allowed};
	for (uint32_t s = 0; s < fabric->nservers; s++) {
		uint32_t d = cell_of(phase, s)->dst;

		if (d != FORS_IDLE && fabric->server[s].leaf != fabric->server[d].leaf)
			add_flow(phase, s, d);
	}
}

static void write_lanes(struct phase *phase)
{
	for (size_t i = 0; i < phase->model.nflows; i++) {
		struct fors_cell *cell = cell_of(phase, phase->sender[i]);

		cell->lane = phase->lane[i];
		cell->path = fors_path_index(phase->task->fabric, phase->task->lanes, phase->from[i], cell->dst,
					     cell->lane, cell->lane);
	}
}

/* Say in which phase it failed. */
static enum fors_err explain(const struct phase *phase, enum fors_err err, struct fors_error *error)
{
	const struct fors_fabric *fabric = phase->task->fabric;

	if (err == FORS_ENOPLAN && !fors_home_has_all(fabric->nlanes, fabric->lmc))
		return fors_fail(error, FORS_ELMC, "ilp: no lanes for phase %u with the path indices of LMC %u",
				 phase->number, fabric->lmc);
	if (err == FORS_ENOPLAN)
		return fors_fail(error, err,
				 "ilp: phase %u of %u of the paper's schedule has no choice of lanes without conflict",
				 phase->number, phase->schedule->nphases);
	if (err == FORS_ETIMEOUT)
		return fors_fail(error, err, "ilp: out of time in phase %u of %u; ilp_seconds gives it more",
				 phase->number, phase->schedule->nphases);
	return err;
}

static enum fors_err solve_phase(struct phase *phase, struct fors_error *error)
{
	const struct fors_task *task = phase->task;
	time_t left = phase->deadline - time(NULL);
	enum fors_err err;

	if (task->cancelled && task->cancelled(task->context))
		return fors_fail(error, FORS_ECANCELLED, "ilp: cancelled");
	if (task->progress)
		task->progress(task->context, (double)phase->number / phase->schedule->nphases);
	read_flows(phase);
	if (!phase->model.nflows)
		return FORS_OK;
	if (left < 1)
		return explain(phase, FORS_ETIMEOUT, error);
	err = fors_ilp_solve_phase(&phase->model, false, (unsigned)left, task->cancelled, task->context, phase->lane,
				   error);
	if (err)
		return explain(phase, err, error);
	write_lanes(phase);
	return FORS_OK;
}

static enum fors_err plan_ilp(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	struct phase phase = {.task = task};
	enum fors_err err = fors_closed_form_schedule(task, &phase.schedule, error);

	if (err)
		return err;
	phase.deadline = time(NULL) + (time_t)(task->limits.seconds ? task->limits.seconds : DEFAULT_SECONDS);
	if (!phase_alloc(&phase))
		err = fors_fail_memory(error);
	for (; !err && phase.number < phase.schedule->nphases; phase.number++)
		err = solve_phase(&phase, error);
	phase_free(&phase);
	if (err) {
		fors_schedule_free(phase.schedule);
		return err;
	}
	strncpy(phase.schedule->method, "ilp", sizeof(phase.schedule->method) - 1);
	*schedule = phase.schedule;
	return FORS_OK;
}

const struct fors_method fors_method_ilp = {
	.name = "ilp",
	.plan = plan_ilp,
};
