/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow_find.c - what a sweep says of the tables that are there, and of those that fors would have made.
 *
 * The status is that of a fors that is switched on: the same planners over the same tables, so its figures are those that
 * switching on would show. Beside them stands what can be had without: a plan over the tables as they are, and the linear
 * shift of programs that follow no schedule, over both.
 */
#include "shadow_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/lfts_diff.h"
#include "core/planners/outcome.h"
#include "core/schedule/pace.h"
#include "core/schedule/shift.h"
#include "daemon/base/clock.h"
#include "daemon/base/digest.h"

/* A sight while it is worked on. */
struct finding {
	const struct fors_sight *sight;
	bool (*cancelled)(void *context);
	void *context;
	struct fors_outcome own, present; /* over the tables of fors, and over those that are there */
	struct fors_found *found;
};

void fors_found_clear(struct fors_found *found)
{
	fors_status_clear(&found->status);
	free(found->entries);
	*found = (struct fors_found){0};
	fors_status_init(&found->status);
}

/* Those that end a search; any other is an answer. */
static bool is_final(enum fors_err err)
{
	return err == FORS_ENOMEM || err == FORS_ECANCELLED;
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

static struct fors_request request_of(const struct finding *f, const struct fors_lfts *lfts)
{
	const struct fors_look *look = f->sight->look;

	return (struct fors_request){.task = {.cancelled = f->cancelled, .context = f->context, .limits = look->limits},
				     .net = look->net,
				     .lfts = lfts,
				     .clock_ms = fors_clock_exact_ms,
				     .participants = f->sight->has_participants ? &f->sight->participants : NULL};
}

/* Over the tables of fors. */
static enum fors_err plan_own(struct finding *f, struct fors_error *error)
{
	const struct fors_look *look = f->sight->look;
	struct fors_request request = request_of(f, look->lfts);
	enum fors_err err;

	if (!fors_look_has_tables(look) || look->kind == FORS_LOOK_DECLINED)
		return FORS_OK;
	request.task.fabric = look->fabric;
	request.rounds = look->rounds;
	err = fors_outcome_make(&request, &f->own, error);
	if (!err)
		fors_outcome_lump(&look->tree, &f->own);
	return err;
}

/* Over those that are there. */
static enum fors_err plan_present(struct finding *f, struct fors_error *error)
{
	struct fors_request request = request_of(f, f->sight->present);
	struct fors_shadow_facts *facts = &f->found->status.shadow;
	enum fors_err err;

	fors_limit_method(&request.task.limits, "auto"); /* which is the one that there is */
	err = fors_outcome_make(&request, &f->present, error);
	if (err)
		return err;
	if (f->present.error.code) {
		memcpy(facts->trouble, f->present.error.text, sizeof(facts->trouble));
		return FORS_OK;
	}
	facts->present_phases = f->present.plan->nphases;
	facts->present_bound = f->present.tables_bound;
	return FORS_OK;
}

/* --- the linear shift ---------------------------------------------------------------------------------------------- */

/* The order of servers that programs are started in: leaf by leaf, as both plans have it. */
static const struct fors_schedule *any_plan(const struct finding *f)
{
	return f->own.plan ? f->own.plan : f->present.plan;
}

static enum fors_err shift_over(const struct finding *f, const struct fors_lfts *lfts, const uint16_t *lid,
				uint32_t nservers, double *share, struct fors_error *error)
{
	struct fors_shift_length length;
	enum fors_err err = lfts ? fors_shift_length(f->sight->look->net, lfts, lid, nservers, f->cancelled, f->context,
						     &length, error)
				 : FORS_OK;

	if (!err && lfts)
		*share = fors_shift_share(&length);
	return is_final(err) ? err : FORS_OK;
}

static enum fors_err find_shifts(struct finding *f, struct fors_error *error)
{
	const struct fors_schedule *plan = any_plan(f);
	struct fors_shadow_facts *facts = &f->found->status.shadow;
	uint16_t *lid = plan ? calloc(plan->nservers + (size_t)1, sizeof(*lid)) : NULL;
	enum fors_err err = FORS_OK;

	if (!plan)
		return FORS_OK;
	if (!lid)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < plan->nservers; s++)
		lid[s] = plan->server[s].lid;
	err = shift_over(f, f->sight->present, lid, plan->nservers, &facts->present_shift, error);
	if (!err && f->own.plan)
		err = shift_over(f, f->sight->look->lfts, lid, plan->nservers, &facts->own_shift, error);
	free(lid);
	return err;
}

/* --- entries ------------------------------------------------------------------------------------------------------- */

static const char *name_of(void *context, uint64_t guid)
{
	const struct fors_net *net = context;
	uint32_t node = fors_net_find_guid(net, guid);

	return node == FORS_NONE ? "" : net->node[node].desc;
}

static enum fors_err find_entries(struct finding *f, struct fors_error *error)
{
	const struct fors_look *look = f->sight->look;
	struct fors_shadow_facts *facts = &f->found->status.shadow;
	struct fors_lfts_diff diff;
	enum fors_err err;

	if (!look->lfts || look->kind == FORS_LOOK_DECLINED)
		return FORS_OK;
	err = fors_lfts_diff(f->sight->present, look->lfts, &diff, error);
	if (err)
		return err;
	facts->entries = (int64_t)diff.nentries;
	facts->compared = (int64_t)diff.compared;
	facts->switches = (int64_t)diff.ntables;
	err = fors_lfts_diff_text(&diff, name_of, look->net, &f->found->entries, NULL, error);
	fors_lfts_diff_clear(&diff);
	return err;
}

/* --- the status ---------------------------------------------------------------------------------------------------- */

static enum fors_err fill_plan(const struct finding *f, struct fors_status *status, struct fors_error *error)
{
	const struct fors_look *look = f->sight->look;
	const struct fors_outcome *outcome = &f->own;
	struct fors_pace pace;
	enum fors_err err;

	status->plan_ms = outcome->plan_ms;
	status->lower_bound = outcome->lower_bound;
	status->lump_bound = outcome->lump_bound;
	status->tables_bound = outcome->tables_bound;
	status->lmc_needed = outcome->lmc_needed;
	if (!outcome->plan || !outcome->is_proven) {
		snprintf(status->reason, sizeof(status->reason), "fors would route, without a schedule: %.400s",
			 outcome->error.text);
		return FORS_OK;
	}
	err = fors_pace_of(look->net, look->lfts, outcome->plan, NULL, &pace, error);
	if (err)
		return err;
	fors_status_pace(status, &pace);
	fors_status_schedule(status, outcome->plan);
	status->epoch = FORS_UNKNOWN; /* nobody has it */
	return FORS_OK;
}

static enum fors_err fill_status(const struct finding *f, struct fors_error *error)
{
	const struct fors_look *look = f->sight->look;
	struct fors_status *status = &f->found->status;
	enum fors_err err = look->tree.kind ? fors_status_tree(status, &look->tree, error) : FORS_OK;

	snprintf(status->reason, sizeof(status->reason), "%s", look->reason);
	snprintf(status->tables_by, sizeof(status->tables_by), "%s", f->sight->tables_by);
	status->tables_ms = look->tables_ms;
	status->check_ms = look->check_ms;
	status->warnings = look->warnings;
	fors_status_slow(status, &look->slow);
	if (!err && fors_look_has_tables(look) && look->kind != FORS_LOOK_DECLINED && f->sight->present)
		err = fill_plan(f, status, error);
	return err;
}

/* --- a sight --------------------------------------------------------------------------------------------------------- */

/* All that the answer depends on; 0: what a sweep with errors shows is no sight of anything. */
static uint64_t basis_of(const struct fors_sight *sight)
{
	const struct fors_look *look = sight->look;
	const struct fors_lfts *present = sight->present;
	uint64_t digest = fors_digest_text(FORS_DIGEST_EMPTY, look->reason);

	if (!present)
		return 0;
	digest = fors_digest_text(digest, sight->tables_by);
	digest = fors_digest(digest, present->guid, present->nswitches * sizeof(*present->guid));
	digest = fors_digest(digest, present->port, (size_t)present->nswitches * present->nlids);
	for (unsigned i = 0; i < fors_warnings_kept(&look->warnings); i++)
		digest = fors_digest_text(digest, look->warnings.text[i]);
	if (fors_look_has_tables(look)) {
		uint64_t of_look[] = {fors_look_basis(look), fors_look_view(look), fors_look_tree(look)};

		digest = fors_digest(digest, of_look, sizeof(of_look));
	}
	return digest;
}

static enum fors_err find(struct finding *f, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	if (f->sight->present) {
		err = plan_own(f, error);
		if (!err)
			err = plan_present(f, error);
		if (!err)
			err = find_shifts(f, error);
		if (!err)
			err = find_entries(f, error);
	}
	return err ? err : fill_status(f, error);
}

enum fors_err fors_shadow_find(const struct fors_sight *sight, bool (*cancelled)(void *context), void *context,
			       struct fors_found *found, struct fors_error *error)
{
	struct finding f = {.sight = sight, .cancelled = cancelled, .context = context, .found = found};
	uint64_t basis = basis_of(sight);
	enum fors_err err;

	if (basis && basis == found->basis)
		return FORS_OK;
	fors_found_clear(found);
	found->status.state = FORS_SHADOW;
	fors_shadow_facts_init(&found->status.shadow);
	fors_outcome_init(&f.own);
	fors_outcome_init(&f.present);
	memcpy(found->fabric_name, sight->look->fabric_name, sizeof(found->fabric_name));
	err = find(&f, error);
	fors_outcome_clear(&f.own);
	fors_outcome_clear(&f.present);
	if (err)
		fors_found_clear(found);
	else
		found->basis = basis;
	return err;
}
