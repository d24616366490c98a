/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * senders.h - who of a switch sends which token: from a packing to a schedule. Private to this room.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_SENDERS_H
#define FORS_CORE_PLANNERS_FLOWS_SENDERS_H

#include "pack.h"

struct fors_schedule;

/*
 * The schedule of a packing in which nothing waits, in *schedule, owned by the caller. Errors: FORS_ENOMEM, FORS_ELIMIT
 * (more phases than a schedule has).
 */
enum fors_err fors_flows_schedule(const struct fors_task *task, const struct fors_flows_packing *packing,
				  struct fors_schedule **schedule, struct fors_error *error);

#endif
