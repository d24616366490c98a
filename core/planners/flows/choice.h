/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * choice.h - what tables with several LIDs need, whichever path index each flow takes.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_CHOICE_H
#define FORS_CORE_PLANNERS_FLOWS_CHOICE_H

#include "problem.h"

/*
 * A bound and its certificate: a price for each link. No choice of ways packs all tokens into fewer phases than
 * demand / price, where demand is the sum over all units of their tokens times the price of their cheapest way, and
 * price the sum of all prices. Anyone can count both again.
 */
struct fors_flows_choice {
	uint32_t bound;		/* max(P, demand / price, rounded up) */
	uint64_t demand, price; /* 0, 0: the bound is P, which needs no prices */
	uint32_t *price_of;	/* per link, owned; NULL with 0, 0 */
};

/*
 * The best bound that is found in a limited number of steps, in *choice (fors_flows_choice_clear()). With one path index
 * it is max(P, tokens of the fullest link). Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_choice_find(const struct fors_flows_problem *problem, struct fors_flows_choice *choice,
				     struct fors_error *error);
void fors_flows_choice_clear(struct fors_flows_choice *choice);

/*
 * The path index over which alone the fullest link has least tokens, the smallest of several, in *path, and these
 * tokens in *tokens; only indices that have a way for every unit. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_best_path(const struct fors_flows_problem *problem, uint32_t *path, uint32_t *tokens,
				   struct fors_error *error);

#endif
