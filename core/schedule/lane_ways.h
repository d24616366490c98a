/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lane_ways.h - the lanes of a schedule as ways, for a schedule that is to have a name.
 *
 * A job's schedule says whose it is, and only version 2 of the format has room for that; there a flow is told by the
 * switches that it crosses, not by its lane.
 *
 * Thread rules: wants to be alone with the schedule.
 */
#ifndef FORS_CORE_SCHEDULE_LANE_WAYS_H
#define FORS_CORE_SCHEDULE_LANE_WAYS_H

#include "core/fabric/fabric.h"
#include "core/net/lfts.h"
#include "schedule.h"

/*
 * Give a schedule the name of its job (cut to the room there is), and in place of the lanes of `fabric`, whose leaves
 * it counts, the ways that they are in `lfts`, the tables that it was proven over; one that has ways keeps them, and one
 * over tables of anybody's (fabric NULL, and lfts too) has all that it needs. Errors: FORS_ELIMIT (more ways than the
 * format has room for), FORS_EINPUT (these are not its tables: the text says which entry has no such way),
 * FORS_ENOMEM; the schedule is unchanged then.
 */
enum fors_err fors_schedule_name(struct fors_schedule *schedule, const struct fors_fabric *fabric,
				 const struct fors_lfts *lfts, const char *name, struct fors_error *error);

#endif
