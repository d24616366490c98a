/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * phase.c - the paper's integer programme for one phase (section 5.2), on lp_solve.
 *
 * A 0/1 variable v(flow, lane) for each flow and each lane that it may take; each flow takes one lane;
 * each lane carries at most one flow up from each leaf and at most one down to each leaf. There is nothing to
 * minimise: the first solution is as good as any.
 *
 * lp_solve does not get far with it as it stands, so most of it is peeled off first. As long as
 * there is a lane that every flow may take, such a lane takes a matching of the flows that covers every leaf
 * with most flows left (one exists: Koenig). We get all these matchings at once: colour
 * the flows with as few colours as there can be (core/colouring/koenig.h), sort the colours by their number of flows,
 * and give the largest ones to the good lanes. The rest is the model. If it has no solution that proves nothing about
 * the phase, and the whole model is tried.
 */
#include "phase.h"

#include <lpsolve/lp_lib.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/colouring/koenig.h"

#define NO_LANE 255

/* A phase being solved. */
struct solver {
	const struct fors_ilp_phase *phase;
	time_t deadline;
	bool (*cancelled)(void *context);
	void *context;
	uint8_t *lane;	  /* of each flow, NO_LANE: none yet */
	uint32_t *colour; /* of each flow */
	uint32_t *column; /* flow * nlanes + lane of each variable of the model */
	bool was_cancelled;
	struct fors_error *error;
};

static inline bool allowed(const struct fors_ilp_phase *phase, size_t flow, uint32_t lane)
{
	return phase->allowed[flow * phase->nlanes + lane];
}

/* ---- peeling ---- */

/* The most flows that any leaf sends or receives. */
static uint32_t largest_degree(const struct fors_ilp_phase *phase, uint32_t *count)
{
	uint32_t most = 0;

	memset(count, 0, 2 * (size_t)phase->nleaves * sizeof(*count));
	for (size_t i = 0; i < phase->nflows; i++) {
		uint32_t out = ++count[phase->from[i]], in = ++count[phase->nleaves + phase->to[i]];

		most = out > most ? out : most;
		most = in > most ? in : most;
	}
	return most;
}

/* The flows as a graph between leaves. */
static bool colour_flows(struct solver *solver, struct fors_koenig *graph, uint32_t ncolours)
{
	const struct fors_ilp_phase *phase = solver->phase;

	fors_koenig_begin(graph, phase->nleaves, phase->nleaves, ncolours);
	for (uint32_t i = 0; i < phase->nflows; i++)
		if (!fors_koenig_add(graph, phase->from[i], (struct fors_koenig_edge){phase->to[i], (uint16_t)i}, 1))
			return false;
	for (uint32_t i = 0; i < phase->nleaves * ncolours; i++)
		if (graph->edge[i].right != FORS_KOENIG_NONE)
			solver->colour[graph->edge[i].tag] = i % ncolours;
	return true;
}

static bool everybody_may(const struct fors_ilp_phase *phase, uint32_t lane)
{
	for (size_t i = 0; i < phase->nflows; i++)
		if (!allowed(phase, i, lane))
			return false;
	return true;
}

/* Give the lanes that all may take to the largest colours. */
static void give_lanes(struct solver *solver, uint32_t *size, uint32_t ncolours)
{
	const struct fors_ilp_phase *phase = solver->phase;

	memset(size, 0, ncolours * sizeof(*size));
	for (size_t i = 0; i < phase->nflows; i++)
		size[solver->colour[i]]++;
	for (uint32_t lane = 0; lane < phase->nlanes; lane++) {
		uint32_t best = 0;

		if (!everybody_may(phase, lane))
			continue;
		for (uint32_t c = 1; c < ncolours; c++)
			best = size[c] > size[best] ? c : best;
		if (!size[best])
			return;
		size[best] = 0;
		for (size_t i = 0; i < phase->nflows; i++)
			if (solver->colour[i] == best)
				solver->lane[i] = (uint8_t)lane;
	}
}

static enum fors_err peel(struct solver *solver)
{
	const struct fors_ilp_phase *phase = solver->phase;
	uint32_t *count = calloc(2 * (size_t)phase->nleaves + phase->nflows + 1, sizeof(*count));
	uint32_t ncolours = count ? largest_degree(phase, count) : 0;
	struct fors_koenig graph;
	enum fors_err err = FORS_OK;

	if (!fors_koenig_alloc(&graph, phase->nleaves, phase->nleaves, ncolours) || !count)
		err = fors_fail_memory(solver->error);
	else if (colour_flows(solver, &graph, ncolours))
		give_lanes(solver, count, ncolours);
	else
		err = fors_fail(solver->error, FORS_ENOPLAN, "a leaf has more flows than colours");
	fors_koenig_free(&graph);
	free(count);
	return err;
}

/* ---- the model ---- */

static int __WINAPI should_stop(lprec *model, void *handle)
{
	struct solver *solver = handle;

	(void)model;
	if (solver->cancelled && solver->cancelled(solver->context))
		solver->was_cancelled = true;
	return solver->was_cancelled;
}

/* Rows of the model, from 1: flows, then (leaf, lane) up, then (leaf, lane) down. */
static int up_row(const struct fors_ilp_phase *phase, size_t flow, uint32_t lane)
{
	return (int)(1 + phase->nflows + phase->from[flow] * phase->nlanes + lane);
}

static int down_row(const struct fors_ilp_phase *phase, size_t flow, uint32_t lane)
{
	return (int)(1 + phase->nflows + (phase->nleaves + phase->to[flow]) * phase->nlanes + lane);
}

static bool add_variable(struct solver *solver, lprec *model, size_t flow, uint32_t lane)
{
	const struct fors_ilp_phase *phase = solver->phase;
	int rows[3] = {(int)flow + 1, up_row(phase, flow, lane), down_row(phase, flow, lane)};
	REAL ones[3] = {1, 1, 1};

	if (!add_columnex(model, 3, ones, rows))
		return false;
	solver->column[get_Ncolumns(model)] = (uint32_t)(flow * phase->nlanes + lane);
	return set_binary(model, get_Ncolumns(model), TRUE);
}

/* Variables and constraints of all flows that have no lane yet. Lanes given out have no flow left that may take them.
 */
static bool fill_model(struct solver *solver, lprec *model, const bool *is_given)
{
	const struct fors_ilp_phase *phase = solver->phase;

	for (size_t i = 0; i < phase->nflows; i++) {
		bool is_open = solver->lane[i] == NO_LANE;

		if (!set_constr_type(model, (int)i + 1, EQ) || !set_rh(model, (int)i + 1, is_open))
			return false;
		for (uint32_t lane = 0; is_open && lane < phase->nlanes; lane++)
			if (allowed(phase, i, lane) && !is_given[lane] && !add_variable(solver, model, i, lane))
				return false;
	}
	for (int row = (int)phase->nflows + 1; row <= get_Nrows(model); row++)
		if (!set_constr_type(model, row, LE) || !set_rh(model, row, 1))
			return false;
	return true;
}

static enum fors_err read_solution(struct solver *solver, lprec *model)
{
	REAL *value;

	if (!get_ptr_variables(model, &value))
		return fors_fail_memory(solver->error);
	for (int c = 1; c <= get_Ncolumns(model); c++)
		if (value[c - 1] > 0.5)
			solver->lane[solver->column[c] / solver->phase->nlanes] =
				(uint8_t)(solver->column[c] % solver->phase->nlanes);
	return FORS_OK;
}

/* lp_solve lost its way in rounding errors: ACCURACYERROR and NUMFAILURE are no answer. */
static bool is_lost(int result)
{
	return result == ACCURACYERROR || result == NUMFAILURE;
}

/* Solve; when lp_solve gets lost, again from the start, unscaled and by the primal simplex, which goes another way. */
static int solve_twice(lprec *model)
{
	int result = solve(model);

	if (!is_lost(result))
		return result;
	default_basis(model);
	set_scaling(model, 0);
	set_simplextype(model, SIMPLEX_PRIMAL_PRIMAL);
	return solve(model);
}

static enum fors_err run_model(struct solver *solver, lprec *model)
{
	time_t now = time(NULL);
	int result;

	if (now >= solver->deadline)
		return fors_fail(solver->error, FORS_ETIMEOUT, "ilp: out of time");
	set_verbose(model, NEUTRAL);
	set_break_at_first(model, TRUE);
	set_timeout(model, (long)(solver->deadline - now));
	put_abortfunc(model, should_stop, solver);
	result = solve_twice(model);
	if (solver->was_cancelled)
		return fors_fail(solver->error, FORS_ECANCELLED, "ilp: cancelled");
	if (result == OPTIMAL || result == SUBOPTIMAL)
		return read_solution(solver, model);
	if (result == INFEASIBLE)
		return fors_fail(solver->error, FORS_ENOPLAN, "ilp: no choice of lanes is free of conflicts");
	if (result == NOMEMORY)
		return fors_fail_memory(solver->error);
	if (is_lost(result))
		return fors_fail(solver->error, FORS_ENOTAPPL,
				 "ilp: lp_solve failed for numerical reasons (its code %d)", result);
	return fors_fail(solver->error, FORS_ETIMEOUT, "ilp: out of time");
}

/* Solve the model of the flows without a lane. */
static enum fors_err solve_rest(struct solver *solver)
{
	const struct fors_ilp_phase *phase = solver->phase;
	bool *is_given = calloc((size_t)phase->nlanes + 1, sizeof(*is_given));
	lprec *model = make_lp((int)(phase->nflows + 2 * phase->nleaves * phase->nlanes), 0);
	enum fors_err err;

	for (size_t i = 0; is_given && i < phase->nflows; i++)
		if (solver->lane[i] != NO_LANE)
			is_given[solver->lane[i]] = true;
	if (!is_given || !model || !fill_model(solver, model, is_given))
		err = fors_fail_memory(solver->error);
	else
		err = get_Ncolumns(model) ? run_model(solver, model) : FORS_OK;
	for (size_t i = 0; !err && i < phase->nflows; i++)
		if (solver->lane[i] == NO_LANE)
			err = fors_fail(solver->error, FORS_ENOPLAN, "ilp: a flow has no lane");
	if (model)
		delete_lp(model);
	free(is_given);
	return err;
}

enum fors_err fors_ilp_solve_phase(const struct fors_ilp_phase *phase, bool is_plain, unsigned seconds,
				   bool (*cancelled)(void *context), void *context, uint8_t *lane,
				   struct fors_error *error)
{
	struct solver solver = {.phase = phase,
				.deadline = time(NULL) + (time_t)seconds,
				.cancelled = cancelled,
				.context = context,
				.lane = lane,
				.error = error};
	enum fors_err err = FORS_ENOPLAN;

	solver.colour = calloc(phase->nflows + 1, sizeof(*solver.colour));
	solver.column = calloc(phase->nflows * phase->nlanes + 2, sizeof(*solver.column));
	if (!solver.colour || !solver.column) {
		err = fors_fail_memory(error);
	} else {
		memset(lane, NO_LANE, phase->nflows);
		if (!is_plain && phase->nflows) {
			err = peel(&solver);
			if (!err)
				err = solve_rest(&solver);
		}
		if (err == FORS_ENOPLAN) {
			memset(lane, NO_LANE, phase->nflows);
			err = solve_rest(&solver);
		}
	}
	free(solver.colour);
	free(solver.column);
	return err;
}
