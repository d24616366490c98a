/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan_index.h"

#include <stdlib.h>

#include "core/tables/check.h"
#include "core/tables/home.h"
#include "core/tables/tables.h"

static enum fors_err choose(const struct fors_fabric *fabric, const struct fors_joblist *list,
			    struct fors_jobtables *tables, struct fors_error *error)
{
	const struct fors_owners_task lanes = {.fabric = fabric, .list = list, .work = FORS_ENTRIES_OWNERS_WORK};
	const struct fors_entries_task task = {.fabric = fabric,
					       .list = list,
					       .has_exclusive = !fors_home_has_all(fabric->nlanes, fabric->lmc),
					       .work = FORS_ENTRIES_WORK};
	enum fors_err err = fors_owners_find(&lanes, &tables->owners, error);

	return err ? err : fors_entries_find(&task, &tables->owners, &tables->entries, error);
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

enum fors_err fors_jobtables_make(const struct fors_fabric *fabric, const struct fors_joblist *list,
				  const struct fors_lfts *lfts, struct fors_jobtables *tables, struct fors_error *error)
{
	struct fors_jobtables made = {.index = fors_home_nindices(fabric->lmc) - 1};
	enum fors_err err;

	if (!fabric->lmc)
		return fors_fail(error, FORS_ELMC,
				 "a path index for jobs needs LMC 1 or more; here each server has one LID");
	err = choose(fabric, list, &made, error);
	if (!err) {
		made.lfts = fors_lfts_copy(lfts);
		err = made.lfts ? FORS_OK : fors_fail_memory(error);
	}
	if (!err)
		err = fors_jobtables_write(fabric, &made.entries, made.index, made.lfts, error);
	if (!err)
		err = fors_tables_check(fabric, made.lfts, NULL, NULL, error);
	if (err)
		fors_jobtables_clear(&made);
	else
		*tables = made;
	return err;
}

void fors_jobtables_clear(struct fors_jobtables *tables)
{
	fors_owners_clear(&tables->owners);
	fors_entries_clear(&tables->entries);
	fors_lfts_free(tables->lfts);
	*tables = (struct fors_jobtables){0};
}
