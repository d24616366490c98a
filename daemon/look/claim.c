/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "claim.h"

#include <stdlib.h>

#include "core/planners/jobplan_index.h"

enum fors_err fors_claim_new(const struct fors_floors *floors, struct fors_claim **claim, struct fors_error *error)
{
	struct fors_claim *made = calloc(1, sizeof(*made));
	enum fors_err err = made ? fors_floors_copy(floors, &made->floors, error) : fors_fail_memory(error);

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
	fors_holdings_clear(&claim->holdings);
	fors_joblist_clear(&claim->list);
	fors_floors_clear(&claim->floors);
	free(claim);
}

enum fors_err fors_claim_entries(const struct fors_claim *claim, const struct fors_floors *floors,
				 struct fors_holdings *now, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	*now = (struct fors_holdings){0};
	if (claim)
		err = fors_holdings_entries_again(&claim->floors, &claim->holdings, floors, now, error);
	if (!err)
		fors_holdings_prune(floors, now);
	return err;
}

enum fors_err fors_claim_write(const struct fors_claim *claim, const struct fors_floors *floors, struct fors_lfts *lfts,
			       struct fors_error *error)
{
	struct fors_holdings now;
	enum fors_err err = fors_claim_entries(claim, floors, &now, error);

	if (!err && now.nfloors)
		err = fors_jobtables_apply(floors, &now, claim->index, lfts, error);
	fors_holdings_clear(&now);
	return err;
}
