/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cables.h - the cables that a schedule goes over: a demand of the same servers may be held to them.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_DEMAND_CABLES_H
#define FORS_CORE_DEMAND_CABLES_H

#include "core/planners/flows/routed.h"
#include "core/schedule/schedule.h"

/* For each server of the schedule its number in `routed`, FORS_NONE: it has none; to be freed. NULL: out of memory. */
uint32_t *fors_demand_numbers(const struct fors_flows_routed *routed, const struct fors_schedule *schedule);

/* Per port of the net: does no flow of the schedule leave by it, by the ways of `routed`? To be freed. NULL: out of memory. */
bool *fors_demand_bar_others(const struct fors_flows_routed *routed, const struct fors_schedule *schedule);

#endif
