/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * concurrent.h - the theory of Teh et al. (TAGO, section III) by linear programs on lp_solve: blocks joined by cables
 * that may be moved, and the most of a traffic matrix that they can carry (maximum concurrent flow).
 *
 * Traffic t_ij from block i to block j is served when a t_ij gets there, for all pairs with one a, the throughput. Ways
 * are the direct cable i - j, or also those by way of one other block (two hops). The cables' capacities x_ij are given,
 * or variables: then each block's cables out, and in, add up to 1, and they may be fractions.
 * Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_CONCURRENT_H
#define FORS_LAB_MODEL_OPTIMUM_CONCURRENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_CONCURRENT_MOST 64 /* blocks */

/* All matrices are n * n, row by row; the diagonal counts for nothing. */
struct fors_concurrent {
	uint32_t n;		/* 2 .. FORS_CONCURRENT_MOST */
	const double *traffic;	/* >= 0, one of them > 0 */
	const double *capacity; /* >= 0; NULL: variables */
	bool is_direct;		/* one hop only */
};

/*
 * The throughput in *throughput; and, when capacities are variables and topology is not NULL, one best choice of them in
 * topology[n * n].
 * Errors: FORS_EINPUT (the numbers of the problem), FORS_ENOPLAN (lp_solve gave up), FORS_ENOTAPPL (built without
 * lp_solve), FORS_ENOMEM.
 */
enum fors_err fors_concurrent_flow(const struct fors_concurrent *problem, double *throughput, double *topology,
				   struct fors_error *error);

#endif
