/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * generic.h - the optimum by linear programs over all flows and links: the reference for small cases.
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_GENERIC_H
#define FORS_LAB_MODEL_OPTIMUM_GENERIC_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/model/graph/graph.h"

/*
 * The optimum by the generic linear program (Mollah et al., GEN; Nace et al.): a variable for each flow and link, as
 * many programs as there are different rates or more. `any_path`: over all links; else over those of shortest paths
 * only. For small cases: hundreds of variables are quick, ten thousand are not. Errors: FORS_ENOMEM, FORS_ENOPLAN
 * (lp_solve gave up), FORS_ENOTAPPL (built without lp_solve).
 */
enum fors_err fors_generic_rates(const struct fors_graph *graph, const uint32_t *src, const uint32_t *dst,
				 uint32_t nflows, bool any_path, double *rate, struct fors_error *error);

#endif
