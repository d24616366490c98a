/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * optimum.h - what the best of all routings gives a pattern, phase by phase; beside measure/evaluate.h, what given
 * paths give it.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_OPTIMUM_H
#define FORS_LAB_MODEL_OPTIMUM_OPTIMUM_H

#include "cuts.h"
#include "lab/model/measure/evaluate.h"
#include "lab/model/patterns/pattern.h"
#include "lab/model/routers/routes.h"

struct fors_optimum {
	uint32_t nphases;
	double *phase_rate;	 /* sum of the rates of each phase */
	struct fors_rates rates; /* of all flows, as in struct fors_evaluation */
	bool is_exact; /* a routing is known that reaches this; else it is a bound (cuts.h says in which sense) */
};

/*
 * The optimum of `pattern` under `cuts` in *optimum, owned by the caller. `graph` is what to route over when it has to
 * be found out whether the bound is reached: by fors_cuts_reached(), else by spreading each phase evenly over all
 * shortest paths, which is left out (is_exact false) where it would take minutes. NULL: the cuts are those of a
 * fat-tree without failures, always reached. Up to `threads` threads, the same bytes for any number. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_optimum_of(const struct fors_cuts *cuts, const struct fors_graph *graph,
			      const struct fors_pattern *pattern, unsigned threads, struct fors_optimum **optimum,
			      struct fors_error *error);
void fors_optimum_free(struct fors_optimum *optimum);

/*
 * The network of `routes` with a node of its own for each server, in *graph, owned by the caller: a CA with two ports
 * is two servers, and nothing passes through it. What fors_cuts_of_graph() and fors_optimum_of() want. Links keep
 * their numbers.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_graph_of_servers(const struct fors_routes *routes, struct fors_graph **graph,
				    struct fors_error *error);

#endif
