/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routing.h - tables of a fat-tree, and rounds if its height has any.
 *
 * There are two makers: of two levels core/tables/tables.h, whose plans are made afterwards; of three
 * core/planners/pods/route.h, which makes rounds with the tables. Who wants tables asks here, and need not know.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_ROUTING_H
#define FORS_CORE_PLANNERS_ROUTING_H

#include "core/base/warnings.h"
#include "core/fabric/fattree.h"
#include "core/net/lfts.h"

struct fors_pods_route;

/*
 * The tables in *lfts, owned by the caller, and what they were made with in *rounds (core/planners/over.h), NULL: nothing
 * that a plan could begin with; to be freed with fors_routing_free(). in_haste: somebody is kept waiting; rounds
 * may be missing then. Errors: FORS_ENOMEM, FORS_ELIMIT.
 */
enum fors_err fors_routing_make(const struct fors_fattree *tree, bool in_haste, struct fors_lfts **lfts,
				struct fors_pods_route **rounds, struct fors_error *error);
/* Both may be NULL. */
void fors_routing_free(struct fors_lfts *lfts, struct fors_pods_route *rounds);

/* Look at tables as core/tables/check.h does. Errors: FORS_ETABLES, FORS_ENOMEM. */
enum fors_err fors_routing_check(const struct fors_fattree *tree, const struct fors_lfts *lfts,
				 struct fors_warnings *warnings, struct fors_error *error);

#endif
