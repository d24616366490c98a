/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow.h - what slow cables cost an exchange, and what draining them would give.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_SLOW_H
#define FORS_CORE_PLANNERS_SLOW_H

#include "core/fabric/fabric.h"
#include "core/fabric/pods.h"

/*
 * The least time of the exchange in phases at full speed, were all cables between leaves and spines drained that are
 * too slow for it, in *length: the lower bound there (with one LID for each server that of any tables), and what slow
 * cables of servers add, which cannot be drained. Negative: none of these cables is slow and in use, or none can be
 * spared. Errors: FORS_ENOMEM.
 */
enum fors_err fors_slow_drained(const struct fors_fabric *fabric, double *length, struct fors_error *error);

/*
 * The same in a tree of three levels, for cables of either stage. plays: who takes part (fors_pods_players()), NULL: all
 * servers with a LID. Errors: FORS_ENOMEM.
 */
enum fors_err fors_slow_drained_pods(const struct fors_pods *pods, const bool *plays, double *length,
				     struct fors_error *error);

#endif
