/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evaluate.h - what a pattern does to the links of a network, and what the network gives it.
 *
 * An evaluation asks a router for the path of every pair of a pattern. Where the paths come from does not matter:
 * forwarding tables (routers/routes.h), or a rule (routers/tree_router.h).
 */
#ifndef FORS_LAB_MODEL_MEASURE_EVALUATE_H
#define FORS_LAB_MODEL_MEASURE_EVALUATE_H

#include "lab/model/graph/graph.h"
#include "lab/model/patterns/pattern.h"
#include "lab/model/routers/router.h"

#define FORS_RATE_BINS 20

struct fors_evaluation {
	uint32_t nservers, nphases, nlinks;
	uint64_t nflows;		    /* all pairs that are not idle */
	uint64_t ways[FORS_NWAYS];	    /* how many of them end how */
	uint64_t nbroken;		    /* of them not good; they load no link and have rate 0 */
	uint64_t ndetours;		    /* good, but not shortest */
	char problem[512];		    /* the first broken flow, in words; empty: none */
	char detour[512];		    /* the first detour */
	uint32_t *phase_load;		    /* nphases: flows on the most loaded link */
	double *phase_time;		    /* nphases: the largest of loads over their links' capacities */
	double *phase_least;		    /* nphases: flows that the busiest server sends, or receives */
	double *phase_rate;		    /* nphases: sum of the max-min fair rates, when they were wanted */
	uint32_t *link_load;		    /* nlinks: flows in the worst phase for that link */
	uint64_t *link_flows;		    /* nlinks: flows of all phases */
	uint64_t rate_bins[FORS_RATE_BINS]; /* flows by rate: bin b above b / 20, up to (b + 1) / 20; rate 0 in bin 0 */
	uint64_t length;		    /* sum over phases of the largest load, at least 1 each */
	double time;			    /* the same, each load over its link's capacity: how long the phases take */
	double least_time;		    /* what the servers' own cables need, were nothing else in the way */
	double sync_throughput;	 /* least_time / time, 0..1; negative: flows do not arrive, so there is none */
	uint32_t max_link_load;	 /* of any link in any phase */
	struct fors_rates rates; /* of all flows; aggregate: the mean over the phases that have flows; 0: not wanted */
};

/*
 * Evaluate `pattern` over `router` on `threads` threads in *evaluation, owned by the caller (fors_evaluation_free());
 * the result does not depend on the number of threads. Without wants_rates the max-min fair rates are left out, which
 * are most of the work. The pattern is for the graph's number of servers. Errors: FORS_ENOMEM.
 */
enum fors_err fors_evaluate(const struct fors_router *router, const struct fors_pattern *pattern, bool wants_rates,
			    unsigned threads, struct fors_evaluation **evaluation, struct fors_error *error);
void fors_evaluation_free(struct fors_evaluation *evaluation);

#endif
