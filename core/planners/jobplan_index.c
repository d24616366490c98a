/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan_index.h"

#include <stdlib.h>

#include "core/tables/home.h"
#include "core/tables/tables.h"
#include "routing.h"

bool fors_jobtables_has_all(const struct fors_floors *floors)
{
	uint32_t nlanes = floors->floor[0]->nlanes, most = 1;

	for (uint32_t f = 1; f < floors->count; f++)
		most = floors->floor[f]->nlanes > most ? floors->floor[f]->nlanes : most;
	return fors_home_has_all(nlanes * most, floors->floor[0]->lmc);
}

enum fors_err fors_jobtables_write(const struct fors_fabric *fabric, const struct fors_entries *entries, uint32_t index,
				   struct fors_lfts *lfts, struct fors_error *error)
{
	bool *is_moved = malloc((fabric->nservers + (size_t)1) * sizeof(*is_moved));
	enum fors_err err;

	if (!is_moved)
		return fors_fail_memory(error);
	for (uint32_t d = 0; d < fabric->nservers; d++)
		is_moved[d] = fors_entries_lead(entries, d);
	fors_entries_apply(fabric, entries, index, lfts);
	err = fors_tables_mend(fabric, is_moved, index, lfts, error);
	free(is_moved);
	return err;
}

enum fors_err fors_jobtables_apply(const struct fors_floors *floors, const struct fors_holdings *holdings,
				   uint32_t index, struct fors_lfts *lfts, struct fors_error *error)
{
	if (floors->count == 1)
		return fors_jobtables_write(floors->floor[0], &holdings->entries[0], index, lfts, error);
	fors_holdings_apply(floors, holdings, index, lfts);
	return FORS_OK;
}

static enum fors_err write_all(const struct fors_fattree *tree, const struct fors_floors *floors,
			       struct fors_jobtables *made, struct fors_error *error)
{
	enum fors_err err = fors_jobtables_apply(floors, &made->holdings, made->index, made->lfts, error);

	return err ? err : fors_routing_check(tree, made->lfts, NULL, error);
}

enum fors_err fors_jobtables_make(const struct fors_fattree *tree, const struct fors_floors *floors,
				  const struct fors_joblist *list, const struct fors_lfts *lfts,
				  struct fors_jobtables *tables, struct fors_error *error)
{
	struct fors_jobtables made = {.index = fors_home_nindices(floors->floor[0]->lmc) - 1};
	const struct fors_holdings_task task = {.floors = floors,
						.list = list,
						.is_owners_only = !lfts,
						.has_exclusive = !lfts || !fors_jobtables_has_all(floors),
						.owners_work = FORS_OWNERS_WORK};
	enum fors_err err;

	if (lfts && !made.index)
		return fors_fail(error, FORS_ELMC,
				 "a path index for jobs needs LMC 1 or more; here each server has one LID");
	err = fors_holdings_find(&task, &made.holdings, error);
	if (!err && lfts) {
		made.lfts = fors_lfts_copy(lfts);
		err = made.lfts ? write_all(tree, floors, &made, error) : fors_fail_memory(error);
	}
	if (err)
		fors_jobtables_clear(&made);
	else
		*tables = made;
	return err;
}

void fors_jobtables_clear(struct fors_jobtables *tables)
{
	fors_holdings_clear(&tables->holdings);
	fors_lfts_free(tables->lfts);
	*tables = (struct fors_jobtables){0};
}
