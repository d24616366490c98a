/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_rounds.h - a plan in whole units to begin with, over tables that were made together with rounds.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_OVER_ROUNDS_H
#define FORS_CORE_PLANNERS_OVER_ROUNDS_H

#include "core/planners/flows/routed.h"
#include "core/planners/flows/strategy.h"
#include "core/planners/pods/route.h"
#include "core/schedule/schedule.h"

/* Do leaves have as many participants as the rounds of `route` are long, where there are any? */
bool fors_over_rounds_may_be(const struct fors_flows_routed *routed, const struct fors_pods_route *route);

/*
 * Pack the problem of `routed` into the rounds of `route`, in *packing, owned by the caller: a token is a unit, a phase a
 * round. *units, which it borrows and which borrows of `routed`, is the problem of that. *packing becomes NULL where that
 * is no way to plan: leaves with other numbers of participants, or units left over. Errors: FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_over_rounds(const struct fors_flows_routed *routed, const struct fors_pods_route *route,
			       const struct fors_flows_asked *asked, struct fors_flows_problem *units,
			       struct fors_flows_packing **packing, struct fors_error *error);

#endif
