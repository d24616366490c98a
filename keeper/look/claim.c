/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "claim.h"

#include <stdlib.h>

#include "core/planners/jobplan_index.h"

enum fors_err fors_claim_new(const struct fors_fabric *fabric, struct fors_claim **claim, struct fors_error *error)
{
	struct fors_claim *made = calloc(1, sizeof(*made));
	enum fors_err err = made ? fors_fabric_copy(fabric, NULL, &made->fabric, error) : fors_fail_memory(error);

	if (err) {
		free(made);
		return err;
	}
	made->holders = 1;
	*claim = made;
	return FORS_OK;
}

struct fors_claim *fors_claim_hold(struct fors_claim *claim)
{
	if (claim)
		__atomic_add_fetch(&claim->holders, 1, __ATOMIC_RELAXED);
	return claim;
}

void fors_claim_drop(struct fors_claim *claim)
{
	if (!claim || __atomic_sub_fetch(&claim->holders, 1, __ATOMIC_ACQ_REL))
		return;
	fors_entries_clear(&claim->entries);
	fors_owners_clear(&claim->owners);
	fors_joblist_clear(&claim->list);
	fors_fabric_free(claim->fabric);
	free(claim);
}

enum fors_err fors_claim_entries(const struct fors_claim *claim, const struct fors_fabric *fabric,
				 struct fors_entries *now, struct fors_error *error)
{
	*now = (struct fors_entries){0};
	return claim ? fors_entries_again(claim->fabric, &claim->entries, fabric, now, error) : FORS_OK;
}

enum fors_err fors_claim_write(const struct fors_claim *claim, const struct fors_fabric *fabric, struct fors_lfts *lfts,
			       struct fors_error *error)
{
	struct fors_entries now;
	enum fors_err err = fors_claim_entries(claim, fabric, &now, error);

	if (!err && now.up) {
		fors_entries_prune(fabric, &now);
		err = fors_jobtables_write(fabric, &now, claim->index, lfts, error);
	}
	fors_entries_clear(&now);
	return err;
}
