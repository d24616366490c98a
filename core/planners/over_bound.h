/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_bound.h - a lower bound on the phases of an exchange over all tables that a net of any topology could have.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_OVER_BOUND_H
#define FORS_CORE_PLANNERS_OVER_BOUND_H

#include "core/planners/flows/routed.h"
#include "outcome.h"

/*
 * No conflict-free plan of the exchange of these servers has fewer phases than why->bound, whatever the tables; at least their
 * number. Why: port, distance, or the cut of one switch, why->node. Nor does any take less than *length, in phases at full
 * speed. Errors: FORS_ENOMEM.
 */
enum fors_err fors_over_bound(const struct fors_flows_routed *routed, struct fors_over_why *why, double *length,
			      struct fors_error *error);

#endif
