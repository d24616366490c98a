/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routed_schedule.h - an empty schedule for the servers of any net and any tables.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_ROUTED_SCHEDULE_H
#define FORS_CORE_PLANNERS_FLOWS_ROUTED_SCHEDULE_H

#include "core/schedule/schedule.h"
#include "routed.h"

/*
 * In *schedule, owned by the caller (fors_schedule_free()): all cells idle, servers in the order of `routed`, without ways. length: phases of a round; 0: a
 * row for each server. Errors: FORS_ELIMIT (more than 65,535 phases), FORS_ENOMEM.
 */
enum fors_err fors_flows_schedule(const struct fors_flows_routed *routed, uint32_t nphases, uint32_t length,
				  const char *method, struct fors_schedule **schedule, struct fors_error *error);

/* Equal for equal servers on equal switches with equal ways. */
uint64_t fors_flows_fingerprint(const struct fors_flows_routed *routed);

#endif
