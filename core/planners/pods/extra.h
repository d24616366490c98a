/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * extra.h - entries for LIDs that are not those of servers below leaves (private to this module).
 * Thread rules: one thread writes.
 */
#ifndef FORS_CORE_PLANNERS_PODS_EXTRA_H
#define FORS_CORE_PLANNERS_PODS_EXTRA_H

#include "core/fabric/pods.h"
#include "core/net/lfts.h"

/* Write them into the rows of `lfts`, row_of[node of now]; is_server[lid]: it is one. Errors: FORS_ENOMEM. */
enum fors_err fors_pods_extra_fill(const struct fors_pods *pods, const uint32_t *row_of, const bool *is_server,
				   struct fors_lfts *lfts, struct fors_error *error);

#endif
