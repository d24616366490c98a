/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.h - what a plan would take, before anybody plans.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_MEMORY_H
#define FORS_CORE_PLANNERS_MEMORY_H

#include "method.h"

/* Bytes that this method takes at most or little more, to plan for the fabric in so many phases, and to prove the plan. */
uint64_t fors_plan_bytes(const struct fors_fabric *fabric, const struct fors_method *method, uint32_t phases);

/*
 * FORS_ELIMIT where that is more than task->limits.bytes: the text says what it would take. *wanted (NULL: not wanted)
 * is raised to these bytes then.
 */
enum fors_err fors_plan_fits(const struct fors_task *task, const struct fors_method *method, uint32_t phases,
			     uint64_t *wanted, struct fors_error *error);

#endif
