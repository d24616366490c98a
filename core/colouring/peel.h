/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peel.h - a square matrix of flows cut into partial permutations, each for several phases in a row.
 *
 * The same as a colouring of a bipartite multigraph, quicker where the graph is small and has many copies of each edge.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_COLOURING_PEEL_H
#define FORS_CORE_COLOURING_PEEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_PEEL_MOST 64     /* rows, columns */
#define FORS_PEEL_NOWHERE 255 /* a row without a flow */

/* Phases 0..T-1, cut into runs of phases that are the same. */
struct fors_runs {
	uint32_t n;	 /* rows, columns */
	uint32_t nruns;	 /* in order of time */
	uint32_t room;	 /* of the arrays, in runs */
	uint16_t *end;	 /* of each run: the first phase after it */
	uint8_t *column; /* nruns x n: column of each row's flow, FORS_PEEL_NOWHERE: none */
};

/*
 * Cut the matrix (n x n, n <= FORS_PEEL_MOST, row by row; it is used up) into runs over nphases phases, so that in each
 * phase each row and each column has at most one flow, and every flow one phase. No row and no column may have more
 * than nphases flows. *runs is to be released with fors_runs_clear(). Same input, same runs.
 * Errors: FORS_ENOMEM, FORS_ENOPLAN (a row or a column has too many); there is nothing to release then.
 */
enum fors_err fors_peel(uint16_t *matrix, uint32_t n, uint32_t nphases, struct fors_runs *runs,
			struct fors_error *error);
void fors_runs_clear(struct fors_runs *runs);

/* The run that a phase (< nphases) is in. */
uint32_t fors_runs_at(const struct fors_runs *runs, uint32_t phase);

#endif
