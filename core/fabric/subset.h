/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subset.h - a fabric as one of several jobs has it: some of its servers, and some of its lanes.
 *
 * Tables belong to the whole fabric and do not change; what a job may not use is to its planner as if it were dead.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_SUBSET_H
#define FORS_CORE_FABRIC_SUBSET_H

#include "fabric.h"

/*
 * A copy of `fabric` in which only the `count` servers in server[] (ascending, of fabric->server) take part, and in which the
 * live cables of (leaf, lane) with is_allowed[leaf * nlanes + lane] false are drained (NULL: all are allowed). In *subset,
 * owned by the caller (fors_fabric_free()); it borrows fabric->net. Errors: FORS_ENOMEM.
 */
enum fors_err fors_fabric_subset(const struct fors_fabric *fabric, const uint32_t *server, uint32_t count,
				 const bool *is_allowed, struct fors_fabric **subset, struct fors_error *error);

#endif
