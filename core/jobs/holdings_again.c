/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* holdings_again.c - lanes and entries of jobs that run, on what has become of the tree. */
#include <stdlib.h>

#include "holdings.h"
#include "running.h"

/* One floor; *is_alike: it has the same switches and lanes. */
static enum fors_err carry(const struct fors_fabric *then, const struct fors_owners *owners,
			   const struct fors_entries *entries, const struct fors_fabric *now, const uint32_t *was_of,
			   uint32_t count, struct fors_owners *owned, struct fors_entries *again, bool *is_alike,
			   struct fors_error *error)
{
	enum fors_err err = fors_entries_again(then, entries, now, again, error);

	if (!err)
		err = fors_owners_carried(then, owners, now, was_of, count, &owned->job, error);
	*owned = (struct fors_owners){now->nleaves, now->nlanes, owned->job};
	*is_alike = again->up && owned->job;
	return err;
}

enum fors_err fors_holdings_again(const struct fors_floors *then, const struct fors_holdings *holdings,
				  const struct fors_floors *now, const uint32_t *was_of, uint32_t count,
				  struct fors_holdings *before, struct fors_error *error)
{
	struct fors_holdings made = {.nfloors = now->count,
				     .owners = calloc(now->count, sizeof(*made.owners)),
				     .entries = calloc(now->count, sizeof(*made.entries))};
	bool is_alike = then->count == now->count && holdings->nfloors == now->count;
	enum fors_err err = made.owners && made.entries ? FORS_OK : fors_fail_memory(error);

	for (uint32_t f = 0; !err && is_alike && f < now->count; f++)
		err = carry(then->floor[f], &holdings->owners[f], &holdings->entries[f], now->floor[f], was_of, count,
			    &made.owners[f], &made.entries[f], &is_alike, error);
	*before = (struct fors_holdings){0};
	if (err || !is_alike)
		fors_holdings_clear(&made);
	else
		*before = made;
	return err;
}
