/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_fault.h - is a schedule an exchange between servers that can be told apart?
 * Thread rules: pure.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_FAULT_H
#define FORS_CORE_SCHEDULE_SCHEDULE_FAULT_H

#include "schedule.h"

/*
 * What is wrong with the servers and the flows of `schedule`, in *fault: a constant text, NULL when nothing is. Its
 * cells have to name servers that are there, and each server's LIDs have to be 1 to FORS_LID_MAX. That flows cross no
 * link twice is not asked here: that is for the verifier, which has the tables. O(P log P + P T), memory O(P).
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_schedule_find_fault(const struct fors_schedule *schedule, const char **fault,
				       struct fors_error *error);

#endif
