/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_form.c - the schedule and the routing of the FORS paper (sections 4, 5.1 and appendix A), for uniform
 * fabrics.
 *
 * The exchange between leaves. M1 leaves of M0 servers, P in all; each leaf can send B = M0 - f flows in a phase.
 * Each leaf works through numbers n = 0, 1, 2, ...; the sender of rank alpha sends number n in phase
 *
 *	ceil(n M0 / B) - alpha,   n = i + theta(alpha),   i = 0 .. P-M0-1,   theta(alpha) = floor((alpha-1) B / M0) + 1
 *
 * so a number wanders from the last rank of the leaf to the first, one phase each, and ceil(n M0 / B) leaves f of
 * M0 values out: in any phase the leaf sends B (in the last ones fewer) CONSECUTIVE numbers, each from one server.
 * Number n goes to
 *
 *	label n mod M0 of the leaf that is ((n + floor(i / L)) mod (M1-1)) + 1 further on,   L = lcm(M1-1, M0)
 *
 * All leaves do the same at the same time, so what carries number n is a cyclic shift of the leaves: each leaf
 * sends n once and receives n once. B consecutive numbers differ mod M0 and mod B: receivers are distinct, and so
 * are the lanes good[n mod B], upwards and downwards, if each lane in good[] lives at every leaf. (The paper
 * numbers the flows of a phase instead, which conflicts in phases that are not full; its Algorithm 1 is
 * misprinted. See doc/planners.md.)
 *
 * What is left: which lanes good[] has, and in which order (closed_form_lanes.c); and when servers of the same leaf
 * meet (closed_form_inside.c), which decides T and which rank a label is.
 */
#include "closed_form.h"

#include <stdlib.h>

#include "core/base/divisor.h"
#include "core/schedule/schedule.h"
#include "core/tables/lanes.h"
#include "closed_form_work.h"

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* ---- does it apply? ---- */

static enum fors_err uniform(struct fors_form *form, struct fors_error *error)
{
	const struct fors_fabric *fabric = form->fabric;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		if (!fabric->leaf[a].nservers)
			continue;
		if (fabric->leaf[a].nservers != fabric->max_servers)
			return fors_fail(error, FORS_ENOTAPPL,
					 "closed-form: leaf %s has %u servers, another %u; it needs equal leaves",
					 fabric->leaf[a].name, fabric->leaf[a].nservers, fabric->max_servers);
		form->leaf[form->m1++] = a;
	}
	return FORS_OK;
}

/* ---- the formulas ---- */

static void steps_of_rank(struct fors_form *form, uint32_t alpha)
{
	uint32_t m0 = form->m0, b = form->b, shifts = form->m1 - 1;
	uint32_t block = shifts / fors_divisor(shifts, m0) * m0; /* L */
	uint32_t theta = alpha ? (alpha - 1) * b / m0 + 1 : 0;
	struct fors_form_step *step = form->step + (size_t)alpha * form->nsteps;

	for (uint32_t i = 0; i < form->nsteps; i++) {
		uint64_t n = i + theta;

		step[i].phase = (uint32_t)((n * m0 + b - 1) / b - alpha);
		step[i].leaf_shift = (uint16_t)((n + i / block) % shifts + 1);
		step[i].label = (uint16_t)(n % m0);
		step[i].class = (uint16_t)(n % b);
	}
}

/* All steps, and T = max(P, Pf). */
static enum fors_err make_steps(struct fors_form *form, struct fors_error *error)
{
	uint64_t servers = (uint64_t)form->m0 * form->m1;

	form->nphases = (uint32_t)servers;
	if (form->m1 == 1)
		return FORS_OK;
	form->nsteps = (uint32_t)(servers - form->m0);
	form->nphases = max(form->nphases, (uint32_t)(((uint64_t)form->m0 * form->nsteps + form->b - 1) / form->b));
	form->step = calloc((size_t)form->m0 * form->nsteps, sizeof(*form->step));
	if (!form->step)
		return fors_fail_memory(error);
	for (uint32_t alpha = 0; alpha < form->m0; alpha++)
		steps_of_rank(form, alpha);
	return FORS_OK;
}

/* ---- the plan ---- */

static enum fors_err small_lmc(const struct fors_form *form, uint32_t leaf, uint32_t d, uint32_t lane,
			       struct fors_error *error)
{
	const struct fors_fabric *fabric = form->fabric;
	const struct fors_leaf *to = &fabric->leaf[fabric->server[d].leaf];

	if (form->lmc_needed > FORS_MAX_LMC)
		return fors_fail(error, FORS_ENOTAPPL, "closed-form: %u lanes are more than path indices can reach",
				 fabric->nlanes);
	return fors_fail(
		error, FORS_ELMC,
		"closed-form: no path index of server 0x%016llx (leaf %s, slot %u) leads there from leaf %s over "
		"spine %s at LMC %u; it needs LMC %u",
		(unsigned long long)fabric->server[d].guid, to->name, fabric->server[d].slot, fabric->leaf[leaf].name,
		fabric->spine[fabric->lane[lane].spine].name, fabric->lmc, max(form->lmc_needed, fabric->lmc + 1u));
}

/* The flows of one rank of the leaf number `gamma` (of those that take part) to other leaves. */
static enum fors_err write_row(const struct fors_form *form, uint32_t gamma, uint32_t alpha, struct fors_cell *row,
			       struct fors_error *error)
{
	for (uint32_t i = 0; i < form->nsteps; i++) {
		const struct fors_form_step *step = &form->step[(size_t)alpha * form->nsteps + i];
		uint32_t to = gamma + step->leaf_shift;
		uint32_t leaf = form->leaf[to < form->m1 ? to : to - form->m1], lane = form->good[step->class];
		uint32_t d = form->fabric->leaf[leaf].first_server + form->rank_of[step->label];
		uint8_t path = 0;

		if (form->is_bare)
			lane = FORS_NO_LANE;
		else
			path = fors_path_index(form->fabric, form->task->lanes, form->leaf[gamma], d, lane, lane);
		if (path == FORS_NO_INDEX)
			return small_lmc(form, form->leaf[gamma], d, lane, error);
		row[step->phase] = (struct fors_cell){.dst = (uint16_t)d, .path = path, .lane = (uint8_t)lane};
	}
	return FORS_OK;
}

static void write_inside(const struct fors_form *form, uint32_t first_server, uint32_t rank, struct fors_cell *row)
{
	for (uint32_t label = 0; label < form->m0; label++) {
		uint32_t phase = form->inside[rank * form->m0 + label];

		if (phase < form->nphases)
			row[phase] = (struct fors_cell){.dst = (uint16_t)(first_server + form->rank_of[label]),
							.lane = FORS_NO_LANE};
	}
}

static enum fors_err write_plan(const struct fors_form *form, struct fors_schedule *schedule, struct fors_error *error)
{
	for (uint32_t gamma = 0; gamma < form->m1; gamma++) {
		uint32_t first = form->fabric->leaf[form->leaf[gamma]].first_server;

		if (fors_form_cancelled(form->task))
			return fors_fail(error, FORS_ECANCELLED, "closed-form: cancelled");
		for (uint32_t rank = 0; rank < form->m0; rank++) {
			struct fors_cell *row = schedule->cell + (size_t)(first + rank) * form->nphases;
			enum fors_err err = write_row(form, gamma, rank, row, error);

			if (err)
				return err;
			write_inside(form, first, rank, row);
		}
	}
	return FORS_OK;
}

/* Everything up to the cells: does it apply, steps, places, lanes. */
static enum fors_err prepare(struct fors_form *form, struct fors_error *error)
{
	enum fors_err err = uniform(form, error);

	if (err)
		return err;
	if (form->m1 > 1 && form->f >= form->m0)
		return fors_fail(error, FORS_ENOTAPPL, "closed-form: a leaf has no live uplink");
	form->b = form->m1 > 1 ? form->m0 - form->f : 0;
	err = make_steps(form, error);
	if (!err)
		err = fors_form_place_inside(form, error);
	if (!err && form->m1 > 1 && !form->is_bare)
		err = fors_form_choose_lanes(form, error);
	return err;
}

static enum fors_err make_plan(struct fors_form *form, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule *made;
	enum fors_err err = prepare(form, error);

	if (err)
		return err;
	err = fors_schedule_new(form->fabric, form->nphases, 0, 0, fors_method_closed_form.name, &made, error);
	if (err)
		return err;
	err = write_plan(form, made, error);
	if (err) {
		fors_schedule_free(made);
		return err;
	}
	*schedule = made;
	return FORS_OK;
}

static enum fors_err plan_form(const struct fors_task *task, bool is_bare, struct fors_schedule **schedule,
			       struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;
	size_t m0 = fabric->max_servers;
	struct fors_form form = {
		.task = task, .fabric = fabric, .m0 = fabric->max_servers, .f = fabric->reduction, .is_bare = is_bare};
	enum fors_err err;

	if (!m0)
		return fors_fail(error, FORS_ENOTAPPL, "closed-form: no server takes part");
	form.leaf = calloc(fabric->nleaves, sizeof(*form.leaf));
	form.inside = calloc(m0 * m0, sizeof(*form.inside));
	form.rank_of = calloc(m0, sizeof(*form.rank_of));
	form.good = calloc(m0, sizeof(*form.good));
	if (form.leaf && form.inside && form.rank_of && form.good)
		err = make_plan(&form, schedule, error);
	else
		err = fors_fail_memory(error);
	free(form.leaf);
	free(form.step);
	free(form.inside);
	free(form.rank_of);
	free(form.good);
	return err;
}

static enum fors_err plan(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	return plan_form(task, false, schedule, error);
}

enum fors_err fors_closed_form_schedule(const struct fors_task *task, struct fors_schedule **schedule,
					struct fors_error *error)
{
	return plan_form(task, true, schedule, error);
}

const struct fors_method fors_method_closed_form = {
	.name = "closed-form",
	.plan = plan,
};
