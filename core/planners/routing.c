/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* routing.c - who makes tables of which tree: see routing.h. */
#include "routing.h"

#include "core/planners/pods/route.h"
#include "core/tables/check.h"
#include "core/tables/tables.h"

enum fors_err fors_routing_make(const struct fors_fattree *tree, bool in_haste, struct fors_lfts **lfts,
				struct fors_pods_route **rounds, struct fors_error *error)
{
	uint32_t effort;
	enum fors_err err;

	*rounds = NULL;
	if (tree->fabric)
		return fors_tables_build(tree->fabric, lfts, error);
	effort = in_haste ? fors_pods_route_little_effort(tree->pods) : FORS_PODS_ROUTE_EFFORT;
	err = fors_pods_route_make(tree->pods, effort, rounds, error);
	if (!err) {
		*lfts = (*rounds)->lfts;
		(*rounds)->lfts = NULL;
	}
	return err;
}

void fors_routing_free(struct fors_lfts *lfts, struct fors_pods_route *rounds)
{
	fors_pods_route_free(rounds);
	fors_lfts_free(lfts);
}

enum fors_err fors_routing_check(const struct fors_fattree *tree, const struct fors_lfts *lfts,
				 struct fors_warnings *warnings, struct fors_error *error)
{
	if (tree->fabric)
		return fors_tables_check(tree->fabric, lfts, warnings, NULL, error);
	return fors_tables_check_pods(tree->pods, lfts, warnings, error);
}
