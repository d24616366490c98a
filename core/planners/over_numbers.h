/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_numbers.h - the numbers of homes, for those that take part in a plan. Private to this module.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_OVER_NUMBERS_H
#define FORS_CORE_PLANNERS_OVER_NUMBERS_H

#include "core/planners/flows/routed.h"
#include "core/planners/pods/route.h"

/*
 * Per server its number without gaps, in *numbers, owned by the caller. *numbers is left alone where homes are not by number, or a
 * server hangs on a switch above leaves. Errors: FORS_ENOMEM.
 */
enum fors_err fors_over_numbers(const struct fors_flows_routed *routed, const struct fors_pods_route *route,
				uint32_t **numbers, struct fors_error *error);

#endif
