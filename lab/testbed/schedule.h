/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule.h - the plan out of a published schedule, by libforsched.
 */
#ifndef FORS_LAB_TESTBED_SCHEDULE_H
#define FORS_LAB_TESTBED_SCHEDULE_H

#include "plan.h"

struct schedule;

/* A reader of the schedule in FILE for the given places (borrowed); NULL: printed why. */
struct schedule *schedule_new(const char *file, const struct place *place, uint32_t nranks);

/*
 * Put the newest schedule into *plan if it is newer than what is there, and say whether it was. A schedule
 * that is withdrawn, or not of these places, changes nothing: the old plan still delivers, if slower.
 */
bool schedule_refresh(struct schedule *schedule, struct plan *plan);

/* NULL is allowed. */
void schedule_free(struct schedule *schedule);

#endif
