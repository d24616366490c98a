/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_bound.h - a lower bound on the phases of an exchange over all tables that a net of any topology could have.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_OVER_BOUND_H
#define FORS_CORE_PLANNERS_OVER_BOUND_H

#include "core/net/witness.h"
#include "core/planners/flows/routed.h"

/*
 * No conflict-free plan of the exchange of these servers has fewer phases, whatever the tables, in *bound; at least their
 * number. Why, in *why: port, distance, or the cut of one switch, *around. Errors: FORS_ENOMEM.
 */
enum fors_err fors_over_bound(const struct fors_flows_routed *routed, uint32_t *bound, enum fors_argument *why,
			      uint32_t *around, struct fors_error *error);

#endif
