/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shares.h - flows spread evenly over all their shortest paths, and rates under that.
 *
 * Uniform all-shortest-paths routing (Mollah et al., UAPR): each of the X shortest paths of a flow, parallel cables
 * counted apart, carries 1/X of it. In a fat-tree without failures it can carry whatever any routing can
 * (doc/model.md), so the rates here are the optimum, by a way that shares nothing with cuts.h: all links are looked at
 * one by one. With failures they are what this routing gives, no more than the optimum in lexicographic order.
 *
 * These are references for tests and benchmarks: slow on purpose where slowness is simple.
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_SHARES_H
#define FORS_LAB_MODEL_OPTIMUM_SHARES_H

#include "lab/model/graph/graph.h"

/* A flow without a path, to itself or because nothing connects its servers, has no entry. */
struct fors_shares {
	uint32_t nflows;
	size_t *first;	/* nflows + 1: flow f has entries first[f] .. first[f + 1] - 1 */
	uint32_t *link; /* a link on a shortest path of the flow */
	double *share;	/* which part of the flow it carries */
	size_t room;	/* allocated entries; private */
};

/*
 * The shares of flows src[f] -> dst[f] (server numbers) in *shares; paths do not pass through terminals.
 * fors_shares_clear() frees what it owns. Errors: FORS_ENOMEM.
 */
enum fors_err fors_shares_of(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst, uint32_t nflows,
			     struct fors_shares *shares, struct fors_error *error);
void fors_shares_clear(struct fors_shares *shares);

/* How the next common rate of all rising flows is found, of the links' room and weight (shares of the rising flows). */
enum fors_fill_step {
	FORS_STEP_SEARCH, /* MMF_PGFT_PF: the smallest of room / weight */
	FORS_STEP_LP,	  /* MMF_PGFT_LP: a linear program with one variable and a row for each link; needs lp_solve */
};

/*
 * The max-min fair rates of the flows under these shares, in rate[0 .. nflows-1], by the textbook's rounds over all
 * links. A flow without entries gets 0. Errors: FORS_ENOMEM, FORS_ENOPLAN (lp_solve gave up), FORS_ENOTAPPL (built
 * without lp_solve).
 */
enum fors_err fors_shares_rates(const struct fors_graph *graph, const struct fors_shares *shares,
				enum fors_fill_step step, double *rate, struct fors_error *error);

/*
 * Do these rates of flows src[f] -> dst[f] overload no link when each is spread evenly over its shortest paths? Rates
 * that hold under the cuts (cuts.h) and do not are the optimum itself. A rate above 0 of a flow without a path does
 * not fit. Errors: FORS_ENOMEM.
 */
enum fors_err fors_shares_fit(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst, uint32_t nflows,
			      const double *rate, bool *fit, struct fors_error *error);

#endif
