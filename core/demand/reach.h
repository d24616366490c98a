/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reach.h - the servers and ways that a demand is planned over, where some are cut off.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_DEMAND_REACH_H
#define FORS_CORE_DEMAND_REACH_H

#include "core/base/warnings.h"
#include "core/planners/flows/routed.h"

/*
 * fors_flows_routed_read() of all servers. Where there is no way between some of them: without those who miss most others. A warning counts who is left
 * out. `tables` names no participants. Errors: those of fors_flows_routed_read().
 */
enum fors_err fors_demand_reach(const struct fors_flows_tables *tables, struct fors_flows_routed **routed,
				struct fors_warnings *warnings, struct fors_error *error);

#endif
