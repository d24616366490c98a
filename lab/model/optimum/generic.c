/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * generic.c - the optimum by linear programs, on lp_solve.
 *
 * The generic program of one round (Mollah et al., figure 4): a variable for what each flow sends over each link, and
 * one for the common rate x of all flows that still rise; x is to be as large as possible. Links bound the sums, nodes
 * pass on what they get, a fixed flow keeps its rate and a rising one gets x or more. Which flows are fixed then?
 * Those whose row "x or more" has a dual value: by complementary slackness they get exactly x in every optimal
 * solution. The duals of these rows add up to 1, so every round fixes some flow; one that has no dual value, but
 * cannot rise either, is fixed in a later round at the same rate. So no program has to be solved per flow.
 */
#include "generic.h"

#include <math.h>
#include <stdlib.h>

#include "lp.h"
#include "shares.h"

#ifndef HAVE_LPSOLVE
enum fors_err fors_generic_rates(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst,
				 uint32_t nflows, bool any_path, double *rate, struct fors_error *error)
{
	return fors_fail(error, FORS_ENOTAPPL, "fors was built without lp_solve");
}
#else

/* A dual value of less is rounding. The largest is at least 1 / flows. */
#define DUAL_EPS 1e-7

/* The program of all rounds. Column 1 is x; then flow by flow the links that the flow may use. */
struct program {
	const struct fors_graph *graph;
	const uint32_t *src, *dst;
	uint32_t nflows;
	struct fors_shares may; /* which links each flow may use; no entries: it has no path */
	bool *is_fixed;		/* nflows */
	double *rate;		/* nflows */
	int *column;		/* a row that is being written */
	REAL *value;
	REAL *dual;   /* 1 + rows + columns */
	int *own_row; /* nflows: the row of the flow's rate */
};

/* The rows that say what each link carries. */
static bool add_capacities(struct program *p, lprec *lp)
{
	uint32_t total = (uint32_t)p->may.first[p->nflows];

	for (uint32_t l = 0; l < p->graph->nlinks; l++) {
		int n = 0;

		for (uint32_t i = 0; i < total; i++)
			if (p->may.link[i] == l) {
				p->column[n] = (int)i + 2;
				p->value[n++] = 1;
			}
		if (n && !add_constraintex(lp, n, p->value, p->column, LE, p->graph->capacity[l]))
			return false;
	}
	return true;
}

/* Flow f at one node: what leaves less what comes in; the number of its terms. */
static int balance(struct program *p, uint32_t f, uint32_t node)
{
	int n = 0;

	for (size_t i = p->may.first[f]; i < p->may.first[f + 1]; i++) {
		uint32_t l = p->may.link[i];

		if (p->graph->from[l] != node && p->graph->to[l] != node)
			continue;
		p->column[n] = (int)i + 2;
		p->value[n++] = p->graph->from[l] == node ? 1 : -1;
	}
	return n;
}

/* Nodes between pass on what they get; the source sends the flow's rate, or x or more. */
static bool add_flow(struct program *p, lprec *lp, uint32_t f)
{
	uint32_t source = p->graph->server[p->src[f]], end = p->graph->server[p->dst[f]];
	int n;

	for (uint32_t node = 0; node < p->graph->nnodes; node++) {
		if (node == source || node == end)
			continue;
		n = balance(p, f, node);
		if (n && !add_constraintex(lp, n, p->value, p->column, EQ, 0))
			return false;
	}
	n = balance(p, f, source);
	if (p->is_fixed[f])
		return add_constraintex(lp, n, p->value, p->column, EQ, p->rate[f]);
	p->column[n] = 1;
	p->value[n++] = -1;
	return add_constraintex(lp, n, p->value, p->column, GE, 0);
}

static bool has_path(const struct program *p, uint32_t f)
{
	return p->may.first[f] < p->may.first[f + 1];
}

static bool write_program(struct program *p, lprec *lp)
{
	int column = 1;
	REAL one = 1;

	if (!set_obj_fnex(lp, 1, &one, &column) || !set_add_rowmode(lp, TRUE) || !add_capacities(p, lp))
		return false;
	for (uint32_t f = 0; f < p->nflows; f++)
		if (has_path(p, f)) {
			if (!add_flow(p, lp, f))
				return false;
			p->own_row[f] = get_Nrows(lp);
		}
	set_add_rowmode(lp, FALSE);
	return true;
}

/* Fix at rate x the rising flows whose row has a dual value; how many. */
static uint32_t fix_rates(struct program *p, double x)
{
	uint32_t count = 0;

	for (uint32_t f = 0; f < p->nflows; f++) {
		if (p->is_fixed[f] || !has_path(p, f) || fabs(p->dual[p->own_row[f]]) < DUAL_EPS)
			continue;
		p->is_fixed[f] = true;
		p->rate[f] = x;
		count++;
	}
	return count;
}

static enum fors_err solve_round(struct program *p, uint32_t *fixed, struct fors_error *error)
{
	lprec *lp = make_lp(0, 1 + (int)p->may.first[p->nflows]);
	enum fors_err err = lp && write_program(p, lp) ? FORS_OK : fors_fail_memory(error);

	if (!err) {
		set_presolve(lp, PRESOLVE_SENSDUALS, 0);
		err = fors_lp_solve(lp, error);
	}
	if (!err) {
		double x = get_working_objective(lp);
		REAL *dual = realloc(p->dual, (size_t)(1 + get_Nrows(lp) + get_Ncolumns(lp)) * sizeof(*dual));

		if (dual)
			p->dual = dual;
		if (!dual)
			err = fors_fail_memory(error);
		else if (!get_dual_solution(lp, dual))
			err = fors_fail(error, FORS_ENOPLAN, "lp_solve gives no dual values");
		else
			*fixed = fix_rates(p, x > 0 ? x : 0);
		if (!err && *fixed == 0)
			err = fors_fail(error, FORS_ENOPLAN, "lp_solve's dual values fix no flow at rate %.17g", x);
	}
	if (lp)
		delete_lp(lp);
	return err;
}

static enum fors_err all_rounds(struct program *p, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	uint32_t open = 0;

	for (uint32_t f = 0; f < p->nflows; f++) {
		p->rate[f] = 0;
		open += has_path(p, f);
	}
	while (open && !err) {
		uint32_t fixed = 0;

		err = solve_round(p, &fixed, error);
		open -= fixed;
	}
	return err;
}

static bool is_link_allowed(const struct fors_graph *graph, uint32_t link, uint32_t from, uint32_t to)
{
	return graph->to[link] != from && graph->from[link] != to &&
	       (!graph->is_terminal[graph->from[link]] || graph->from[link] == from) &&
	       (!graph->is_terminal[graph->to[link]] || graph->to[link] == to);
}

/* In place of shortest paths: all links but those into the source, out of the destination, and of other terminals. */
static enum fors_err allow_all(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst,
			       struct fors_shares *may, struct fors_error *error)
{
	uint32_t *link = malloc(((size_t)may->nflows * graph->nlinks + 1) * sizeof(*link));
	size_t n = 0, start = 0;

	if (!link)
		return fors_fail_memory(error);
	for (uint32_t f = 0; f < may->nflows; f++) {
		bool has_path = may->first[f + 1] > start;

		start = may->first[f + 1];
		for (uint32_t l = 0; l < graph->nlinks && has_path; l++)
			if (is_link_allowed(graph, l, graph->server[src[f]], graph->server[dst[f]]))
				link[n++] = l;
		may->first[f + 1] = n;
	}
	free(may->link);
	may->link = link;
	return FORS_OK;
}

enum fors_err fors_generic_rates(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst,
				 uint32_t nflows, bool any_path, double *rate, struct fors_error *error)
{
	struct program p = {.graph = graph, .src = src, .dst = dst, .nflows = nflows, .rate = rate};
	enum fors_err err = fors_shares_of(graph, src, dst, nflows, &p.may, error);

	if (err)
		return err;
	if (any_path)
		err = allow_all(graph, src, dst, &p.may, error);
	if (!err) {
		size_t room = p.may.first[nflows] + 2;

		p.column = malloc(room * sizeof(*p.column));
		p.value = malloc(room * sizeof(*p.value));
		p.is_fixed = calloc(nflows + (size_t)1, sizeof(*p.is_fixed));
		p.own_row = calloc(nflows + (size_t)1, sizeof(*p.own_row));
		err = p.column && p.value && p.is_fixed && p.own_row ? all_rounds(&p, error) : fors_fail_memory(error);
	}
	free(p.column);
	free(p.value);
	free(p.dual);
	free(p.is_fixed);
	free(p.own_row);
	fors_shares_clear(&p.may);
	return err;
}
#endif
