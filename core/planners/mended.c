/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mended.c - what a repair would give back.
 *
 * It is not estimated: tables are made for the fabric as it would be, and the exchange is planned and proven over
 * them. Only where that must be in vain it is left out. No plan is below the lower bound, and with one LID for each
 * server none below the lump; as long as another leaf is as badly off as the one that is mended these bounds stay
 * where they are. With thirty dead cables most repairs are of that kind.
 */
#include "mended.h"

#include "bound.h"
#include "core/net/lfts.h"
#include "core/tables/tables.h"
#include "outcome.h"

/* Can there be a plan below the one that there is? */
static enum fors_err is_hopeful(const struct fors_fabric *fabric, uint32_t phases_now, bool *answer,
				struct fors_error *error)
{
	uint32_t bound = 0;
	enum fors_err err;

	*answer = !fabric->unreachable_pairs;
	if (fabric->unreachable_pairs || !phases_now)
		return FORS_OK;
	err = fors_lower_bound(fabric, &bound, error);
	*answer = !err && bound < phases_now && (fabric->lmc || fors_lump_bound(fabric) < phases_now);
	return err;
}

static enum fors_err plan(const struct fors_task *task, const char *method, const struct fors_mended *mended,
			  uint32_t *phases, struct fors_error *error)
{
	struct fors_request request = {.task = *task, .method = method, .net = mended->net};
	struct fors_lfts *lfts = NULL;
	struct fors_outcome outcome;
	enum fors_err err = fors_tables_build(mended->fabric, &lfts, error);

	if (err)
		return err;
	fors_outcome_init(&outcome);
	request.task.fabric = mended->fabric;
	request.task.lanes = NULL;
	request.lfts = lfts;
	err = fors_outcome_make(&request, &outcome, error);
	if (!err)
		*phases = outcome.is_proven ? outcome.plan->nphases : 0;
	fors_outcome_clear(&outcome);
	fors_lfts_free(lfts);
	return err;
}

enum fors_err fors_phases_mended(const struct fors_task *task, const char *method, const struct fors_repair *repair,
				 uint32_t phases_now, uint32_t *phases, struct fors_error *error)
{
	struct fors_mended mended;
	bool hopeful = false;
	uint32_t found = phases_now;
	enum fors_err err = fors_mended_build(task->fabric, repair, &mended, error);

	if (err)
		return err;
	err = is_hopeful(mended.fabric, phases_now, &hopeful, error);
	if (!err && hopeful)
		err = plan(task, method, &mended, &found, error);
	fors_mended_free(&mended);
	if (!err)
		*phases = found;
	return err;
}
