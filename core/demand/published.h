/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * published.h - a plan for a demand as a schedule, to be published.
 * Thread rules: pure, but for the levels that are asked for.
 */
#ifndef FORS_CORE_DEMAND_PUBLISHED_H
#define FORS_CORE_DEMAND_PUBLISHED_H

#include "core/planners/flows/routed.h"
#include "core/schedule/schedule.h"
#include "demand.h"
#include "plan.h"

/* Where service levels are asked for. */
struct fors_demand_levels {
	uint8_t (*sl)(void *context, uint32_t src_lid, uint32_t dst_lid); /* FORS_NO_SL: not known; NULL: none is */
	void *context;
};

/*
 * The schedule of `plan` in *schedule, owned by the caller (fors_schedule_free()), epoch 0: each phase with its length, each piece with its size, all
 * ways by name. `routed` are the servers and ways that it was planned for. Where the ways of a pair have different service levels none is told. Errors:
 * FORS_ELIMIT (more than 65,535 phases, or more than a file can hold), FORS_ENOMEM.
 */
enum fors_err fors_demand_schedule(const struct fors_flows_routed *routed, const struct fors_demand *demand,
				   const struct fors_demand_plan *plan, const struct fors_demand_levels *levels,
				   struct fors_schedule **schedule, struct fors_error *error);

#endif
