/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peel.c - a matrix of flows cut into partial permutations.
 *
 * Make all rows and columns sum up to T = nphases with idle flows (the rows' and the columns' slack have the same sum,
 * so they can be dealt out from the first row and the first column on, in at most 2 n - 1 cells). A matrix with
 * equal sums has a perfect matching among its cells above 0 (Koenig), and what is left when each of these cells is
 * lowered by the same number has equal sums again. So: find a perfect matching, take it for as many phases as its
 * smallest cell allows, and go on until T phases are over.
 *
 * To have long runs, and so few, look for matchings among large cells first: those of at least 2^i, and of
 * half of that once there is none. The matching is never begun anew: cells that became too small leave it,
 * and their rows look for others along alternating paths. The columns that a row may take are bits of a word.
 *
 * In a cell real flows come before idle ones.
 */
#include "peel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "match.h"

struct peel {
	uint32_t n;
	uint16_t *real; /* the caller's matrix */
	uint16_t idle[FORS_PEEL_MOST][FORS_PEEL_MOST];
	struct fors_matching matching; /* a row may take columns of cells of at least `least` */
	uint32_t least;
	struct fors_runs *runs;
};

static inline uint16_t *real_at(const struct peel *peel, uint32_t row, uint32_t column)
{
	return &peel->real[row * peel->n + column];
}

static inline uint32_t cell_at(const struct peel *peel, uint32_t row, uint32_t column)
{
	return (uint32_t)*real_at(peel, row, column) + peel->idle[row][column];
}

/* ---- equal sums ---- */

/* slack[0][row], slack[1][column]: what is missing to nphases. False: a row or a column has more. */
static bool find_slack(const struct peel *peel, uint32_t nphases, uint32_t slack[2][FORS_PEEL_MOST])
{
	uint32_t sum[2][FORS_PEEL_MOST] = {{0}};

	for (uint32_t row = 0; row < peel->n; row++) {
		for (uint32_t column = 0; column < peel->n; column++) {
			sum[0][row] += *real_at(peel, row, column);
			sum[1][column] += *real_at(peel, row, column);
		}
	}
	for (int s = 0; s < 2; s++) {
		for (uint32_t i = 0; i < peel->n; i++) {
			if (sum[s][i] > nphases)
				return false;
			slack[s][i] = nphases - sum[s][i];
		}
	}
	return true;
}

/* Deal out idle flows. */
static void add_idle(struct peel *peel, uint32_t slack[2][FORS_PEEL_MOST])
{
	uint32_t row = 0, column = 0;

	while (row < peel->n && column < peel->n) {
		uint32_t n = slack[0][row] < slack[1][column] ? slack[0][row] : slack[1][column];

		peel->idle[row][column] = (uint16_t)(peel->idle[row][column] + n);
		slack[0][row] -= n;
		slack[1][column] -= n;
		if (slack[0][row] == 0)
			row++;
		else
			column++;
	}
}

/* ---- the matching ---- */

/* Make `least` smaller, and see which cells are large enough now. */
static void lower(struct peel *peel, uint32_t least)
{
	peel->least = least;
	for (uint32_t row = 0; row < peel->n; row++) {
		peel->matching.may[row] = 0;
		for (uint32_t column = 0; column < peel->n; column++)
			peel->matching.may[row] |= (uint64_t)(cell_at(peel, row, column) >= least) << column;
	}
}

/*
 * Half of `least`, and again while the row has no cell as large: it would find nothing, and rows behind it wait for it.
 */
static uint32_t lower_for(const struct peel *peel, uint32_t row)
{
	uint32_t largest = 1, least = peel->least / 2;

	for (uint32_t column = 0; column < peel->n; column++) {
		uint32_t cell = cell_at(peel, row, column);

		largest = cell > largest ? cell : largest;
	}
	while (least > largest)
		least /= 2;
	return least;
}

/* Match all rows, among smaller cells if need be. False: impossible, so the sums were not equal. */
static bool match_all(struct peel *peel)
{
	for (uint32_t row = 0; row < peel->n; row++) {
		while (peel->matching.column[row] == FORS_UNMATCHED && !fors_match_augment(&peel->matching, row)) {
			if (peel->least == 1)
				return false;
			lower(peel, lower_for(peel, row));
		}
	}
	return true;
}

/* ---- runs ---- */

/* For how many phases the matching can stay as it is, flows real or idle as they are now. */
static uint32_t length_of(const struct peel *peel, uint32_t most)
{
	for (uint32_t row = 0; row < peel->n; row++) {
		uint32_t column = peel->matching.column[row], real = *real_at(peel, row, column);
		uint32_t length = real ? real : peel->idle[row][column];

		most = length < most ? length : most;
	}
	return most;
}

/* Take `length` phases of the matching off the matrix; cells that become small leave it. */
static void take(struct peel *peel, uint32_t length)
{
	for (uint32_t row = 0; row < peel->n; row++) {
		uint32_t column = peel->matching.column[row];
		uint16_t *real = real_at(peel, row, column), *from = *real ? real : &peel->idle[row][column];

		*from = (uint16_t)(*from - length);
		if (cell_at(peel, row, column) < peel->least) {
			peel->matching.may[row] &= ~(UINT64_C(1) << column);
			fors_unmatch(&peel->matching, row);
		}
	}
}

/* Room for one more run. */
static enum fors_err make_room(struct fors_runs *runs, struct fors_error *error)
{
	uint32_t room = runs->room ? 2 * runs->room : 64;
	uint16_t *end;
	uint8_t *column;

	if (runs->nruns < runs->room)
		return FORS_OK;
	end = realloc(runs->end, room * sizeof(*end));
	runs->end = end ? end : runs->end;
	column = end ? realloc(runs->column, (size_t)room * runs->n) : NULL;
	if (!column)
		return fors_fail_memory(error);
	runs->column = column;
	runs->room = room;
	return FORS_OK;
}

static void write_run(const struct peel *peel, uint32_t end)
{
	struct fors_runs *runs = peel->runs;
	uint8_t *to = runs->column + (size_t)runs->nruns * runs->n;

	for (uint32_t row = 0; row < peel->n; row++)
		to[row] = *real_at(peel, row, peel->matching.column[row]) ? peel->matching.column[row]
									  : FORS_PEEL_NOWHERE;
	runs->end[runs->nruns++] = (uint16_t)end;
}

static enum fors_err too_many(struct fors_error *error)
{
	return fors_fail(error, FORS_ENOPLAN, "a leaf has more flows over a lane than there are phases");
}

static enum fors_err peel_all(struct peel *peel, uint32_t nphases, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t phase = 0; !err && phase < nphases;) {
		uint32_t length;

		if (!match_all(peel))
			return too_many(error);
		err = make_room(peel->runs, error);
		if (err)
			break;
		length = length_of(peel, nphases - phase);
		phase += length;
		write_run(peel, phase);
		take(peel, length);
	}
	return err;
}

enum fors_err fors_peel(uint16_t *matrix, uint32_t n, uint32_t nphases, struct fors_runs *runs,
			struct fors_error *error)
{
	struct fors_runs new = {.n = n};
	struct peel peel = {.n = n, .real = matrix, .runs = &new};
	uint32_t slack[2][FORS_PEEL_MOST], least = 1;
	enum fors_err err;

	if (!find_slack(&peel, nphases, slack))
		return too_many(error);
	add_idle(&peel, slack);
	memset(peel.matching.column, FORS_UNMATCHED, sizeof(peel.matching.column));
	peel.matching.free = fors_match_columns(n);
	while (2 * least <= nphases)
		least *= 2;
	lower(&peel, least);
	err = peel_all(&peel, nphases, error);
	if (err)
		fors_runs_clear(&new);
	else
		*runs = new;
	return err;
}

void fors_runs_clear(struct fors_runs *runs)
{
	free(runs->end);
	free(runs->column);
	memset(runs, 0, sizeof(*runs));
}

uint32_t fors_runs_at(const struct fors_runs *runs, uint32_t phase)
{
	uint32_t low = 0, high = runs->nruns - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (runs->end[middle] > phase)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
