/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * senders.h - who of a switch sends which token: from a packing to a schedule. Private to this module.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_SENDERS_H
#define FORS_CORE_PLANNERS_FLOWS_SENDERS_H

#include "pack.h"

struct fors_schedule;
struct fors_task;

/* The lanes of a schedule of a two-level tree, by the tables of its task. */
void fors_flows_set_lanes(const struct fors_task *task, struct fors_schedule *schedule);

/*
 * Write a packing in which nothing waits to a schedule of its servers and phases, dense layout, all cells idle so far: whom
 * each server sends to, and over which path index. Lanes are not known here. Errors: FORS_ENOMEM, FORS_ENOPLAN (a fault of
 * the packing); the cells mean nothing then.
 */
enum fors_err fors_flows_write(const struct fors_flows_packing *packing, struct fors_schedule *schedule,
			       struct fors_error *error);

#endif
