/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pace.h - how long the phases of a schedule take where some cables are slow.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_SCHEDULE_PACE_H
#define FORS_CORE_SCHEDULE_PACE_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "schedule.h"

struct fors_pace {
	double length; /* all phases, one after another, in phases at full speed; nphases where nothing is slow */
	uint32_t slow_phases; /* that take longer than they should */
	uint32_t
		full; /* that speed in Mb/s, fors_rates_full() of who sends; 0: not known, and then nothing counts as slow */
};

/*
 * The pace of `schedule`, which was proven over `net` (indexed) and `lfts`, in *pace. flows: NULL, or a row by ports of
 * the net (zeroed) to which the flows are added that each port sends. Where no cable is slow and flows is NULL no flow
 * is walked. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pace_of(const struct fors_net *net, const struct fors_lfts *lfts,
			   const struct fors_schedule *schedule, uint32_t *flows, struct fors_pace *pace,
			   struct fors_error *error);

#endif
