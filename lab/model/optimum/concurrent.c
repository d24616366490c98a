/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * concurrent.c - see concurrent.h. Columns: the throughput; then, where they are variables, capacities of all pairs; then
 * for each pair what goes over its direct cable, and what goes by way of each other block. Rows: for each pair, that its
 * traffic is served; for each pair, that its cable is not too full; and the sums of variable capacities, out of and into
 * each block.
 */
#include "concurrent.h"

#include "lp.h"

#ifndef HAVE_LPSOLVE
enum fors_err fors_concurrent_flow(const struct fors_concurrent *problem, double *throughput, double *topology,
				   struct fors_error *error)
{
	(void)problem;
	(void)throughput;
	(void)topology;
	return fors_fail(error, FORS_ENOTAPPL, "fors was built without lp_solve");
}
#else

/* ---- rows, from 1 on ---- */

/* Of the pair i, j, without the diagonal. */
static int pair_number(uint32_t n, uint32_t i, uint32_t j)
{
	return (int)(i * (n - 1) + (j < i ? j : j - 1)) + 1;
}

static int served_row(uint32_t n, uint32_t i, uint32_t j)
{
	return pair_number(n, i, j);
}

static int full_row(uint32_t n, uint32_t i, uint32_t j)
{
	return (int)(n * (n - 1)) + pair_number(n, i, j);
}

static int out_row(uint32_t n, uint32_t i)
{
	return (int)(2 * n * (n - 1) + i) + 1;
}

static int in_row(uint32_t n, uint32_t i)
{
	return out_row(n, i) + (int)n;
}

static bool set_rows(const struct fors_concurrent *p, lprec *lp)
{
	bool is_good = true;

	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = 0; j < p->n; j++) {
			if (i == j)
				continue;
			is_good &= set_constr_type(lp, served_row(p->n, i, j), GE) &&
				   set_constr_type(lp, full_row(p->n, i, j), LE) &&
				   set_rh(lp, full_row(p->n, i, j), p->capacity ? p->capacity[i * p->n + j] : 0);
		}
	for (uint32_t i = 0; i < p->n && !p->capacity; i++)
		is_good &= set_constr_type(lp, out_row(p->n, i), LE) && set_constr_type(lp, in_row(p->n, i), LE) &&
			   set_rh(lp, out_row(p->n, i), 1) && set_rh(lp, in_row(p->n, i), 1);
	return is_good;
}

/* ---- columns ---- */

/* The throughput: it is what counts (row 0), and each pair's traffic times it has to be served. */
static bool add_throughput(const struct fors_concurrent *p, lprec *lp)
{
	REAL value[FORS_CONCURRENT_MOST * FORS_CONCURRENT_MOST + 1];
	int row[FORS_CONCURRENT_MOST * FORS_CONCURRENT_MOST + 1], count = 0;

	value[count] = 1;
	row[count++] = 0;
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = 0; j < p->n; j++)
			if (i != j && p->traffic[i * p->n + j] > 0) {
				value[count] = -p->traffic[i * p->n + j];
				row[count++] = served_row(p->n, i, j);
			}
	return add_columnex(lp, count, value, row);
}

static bool add_capacities(const struct fors_concurrent *p, lprec *lp)
{
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = 0; j < p->n; j++) {
			REAL value[] = {-1, 1, 1};
			int row[] = {full_row(p->n, i, j), out_row(p->n, i), in_row(p->n, j)};

			if (i != j && !add_columnex(lp, 3, value, row))
				return false;
		}
	return true;
}

/* All ways of a pair that has something to send. */
static bool add_ways(const struct fors_concurrent *p, lprec *lp, uint32_t i, uint32_t j)
{
	REAL one[] = {1, 1, 1};
	int direct[] = {served_row(p->n, i, j), full_row(p->n, i, j)};

	if (!add_columnex(lp, 2, one, direct))
		return false;
	for (uint32_t k = 0; k < p->n && !p->is_direct; k++) {
		int row[] = {direct[0], 0, 0};

		if (k == i || k == j)
			continue;
		row[1] = full_row(p->n, i, k);
		row[2] = full_row(p->n, k, j);
		if (!add_columnex(lp, 3, one, row))
			return false;
	}
	return true;
}

static bool write_program(const struct fors_concurrent *p, lprec *lp)
{
	bool is_good = set_rows(p, lp) && add_throughput(p, lp) && (p->capacity || add_capacities(p, lp));

	for (uint32_t i = 0; i < p->n && is_good; i++)
		for (uint32_t j = 0; j < p->n && is_good; j++)
			if (i != j && p->traffic[i * p->n + j] > 0)
				is_good = add_ways(p, lp, i, j);
	return is_good;
}

/* ---- all of it ---- */

static enum fors_err check(const struct fors_concurrent *p, struct fors_error *error)
{
	double sum = 0;

	if (p->n < 2 || p->n > FORS_CONCURRENT_MOST)
		return fors_fail(error, FORS_EINPUT, "%u blocks: there can be 2 to %d", p->n, FORS_CONCURRENT_MOST);
	for (uint32_t i = 0; i < p->n * p->n; i++) {
		if (i / p->n == i % p->n)
			continue;
		if (!(p->traffic[i] >= 0 && p->traffic[i] <= 1e9) ||
		    (p->capacity && !(p->capacity[i] >= 0 && p->capacity[i] <= 1e9)))
			return fors_fail(error, FORS_EINPUT, "traffic and capacities are not below 0, nor above 1e9");
		sum += p->traffic[i];
	}
	return sum > 0 ? FORS_OK : fors_fail(error, FORS_EINPUT, "there is no traffic between blocks");
}

static void read_topology(const struct fors_concurrent *p, lprec *lp, double *topology)
{
	int column = get_Norig_rows(lp) + 2; /* behind the throughput */

	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = 0; j < p->n; j++)
			topology[i * p->n + j] = i == j ? 0 : get_var_primalresult(lp, column++);
}

enum fors_err fors_concurrent_flow(const struct fors_concurrent *p, double *throughput, double *topology,
				   struct fors_error *error)
{
	enum fors_err err = check(p, error);
	lprec *lp = err ? NULL : make_lp((int)(2 * p->n * (p->n - 1) + (p->capacity ? 0 : 2 * p->n)), 0);

	if (err)
		return err;
	err = lp && write_program(p, lp) ? fors_lp_solve(lp, error) : fors_fail_memory(error);
	if (!err) {
		*throughput = get_working_objective(lp);
		if (topology && !p->capacity)
			read_topology(p, lp, topology);
	}
	if (lp)
		delete_lp(lp);
	return err;
}
#endif
