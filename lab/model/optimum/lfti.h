/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfti.h - throughput indices: what a network gives typical patterns, as a part of what a crossbar gives them.
 *
 * The LANL-FSU Throughput Indices (Yuan et al., IPDPS 2014; Mollah et al., section 5): for each kind of pattern, the
 * mean aggregate throughput of some random samples, max-min fair, divided by that of a crossbar with the same servers.
 * Here for given single paths and, beside it, for the best of all routings.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_LFTI_H
#define FORS_LAB_MODEL_OPTIMUM_LFTI_H

#include "lab/model/routers/router.h"
#include "cuts.h"
#include "lab/model/measure/evaluate.h"

#define FORS_LFTI_ROWS 18 /* the nine kinds of table 3 of Mollah et al., direct and random map each */

struct fors_lfti_row {
	const char *pattern; /* a name that fors_pattern_new() knows */
	bool is_random_map;
	uint64_t nflows;	    /* of all samples; 0: no such pattern for so many servers, the indices are 0 then */
	uint64_t nbroken;	    /* of nflows, do not arrive over the given paths */
	double routed;		    /* index of the given paths; a flow that does not arrive has rate 0 */
	double optimum;		    /* index of the best routing */
	double routed_s, optimum_s; /* seconds of computing for all samples, patterns not counted */
};

struct fors_lfti_options {
	unsigned samples; /* of each kind, at least 1 */
	uint64_t seed;
	unsigned threads; /* results do not depend on it, but for the seconds */
	bool is_quick;	  /* RANDN(3) and RANDOM(3) in place of 20: for tests */
};

/*
 * The table of `router` against the optimum under `cuts` (with the router's servers) in row[]. Errors: FORS_ENOMEM.
 */
enum fors_err fors_lfti(const struct fors_router *router, const struct fors_cuts *cuts,
			const struct fors_lfti_options *options, struct fors_lfti_row row[FORS_LFTI_ROWS],
			struct fors_error *error);

#endif
