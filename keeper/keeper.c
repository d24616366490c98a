/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: in the giver's thread, perhaps under its lock, only what must be done there - understand a net, make the
 * tables, a millisecond or so - and all that may take longer is the worker's.
 *
 * This file starts and ends the keeper, and hands on what its giver hears.
 *
 * When memory runs out somebody else routes this sweep, readers are told (a look is kept for that), and the giver is
 * asked to look again soon, so that fors does not wait for the next failure.
 */
#include "keeper_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keeper/base/digest.h"

/* For the keeper's own threads, which know of no mode: nobody asks for a sweep in a shadow. */
static void ask_sweep(void *context)
{
	const struct fors_keeper *keeper = context;

	if (!keeper->is_shadow)
		keeper->setup.sweep(keeper->setup.context);
}

static enum fors_err start_threads(struct fors_keeper *keeper, struct fors_error *error)
{
	struct fors_worker_setup setup = {.log = &keeper->setup.log,
					  .folder = &keeper->folder,
					  .mastership = keeper->setup.mastership,
					  .looking = keeper->setup.looking,
					  .sweep = keeper->setup.sweep,
					  .context = keeper->setup.context,
					  .opensm = keeper->setup.version,
					  .giver = keeper->setup.giver};
	struct fors_kept_setup kept = {.log = setup.log,
				       .folder = setup.folder,
				       .news = keeper->setup.sweep,
				       .context = keeper->setup.context};
	const char *state_dir = keeper->settings ? keeper->settings->state_dir : NULL;
	enum fors_err err = fors_folder_init(&keeper->folder, state_dir, keeper->setup.guid, error);

	if (!err)
		err = fors_kept_open(&keeper->kept, &kept, error);
	if (!err)
		err = fors_outbox_start(setup.log, &keeper->folder, &keeper->outbox, error);
	if (!err)
		err = fors_advisor_start(setup.log, &keeper->advisor, error);
	setup.outbox = keeper->outbox;
	setup.advisor = keeper->advisor;
	return err ? err : fors_worker_start(&setup, &keeper->worker, error);
}

static enum fors_err start(struct fors_keeper *keeper, struct fors_error *error)
{
	enum fors_err err = fors_loader_start(ask_sweep, keeper, 0, &keeper->loader, error);

	if (err)
		return err;
	fors_keeper_load_settings(keeper, &keeper->setup.sources);
	keeper->has_mode = true;
	err = fors_drain_init(&keeper->drain, error);
	if (!err)
		err = keeper->is_shadow ? fors_keeper_start_shadow(keeper, error) : start_threads(keeper, error);
	if (!err)
		fors_keeper_address_outbox(keeper);
	return err;
}

enum fors_err fors_keeper_start(const struct fors_keeper_setup *setup, struct fors_keeper **keeper,
				struct fors_error *error)
{
	struct fors_keeper *made = calloc(1, sizeof(*made));
	enum fors_err err;

	if (!made)
		return fors_fail_memory(error);
	made->setup = *setup;
	made->tables_ms = made->check_ms = -1;
	made->told_left = FORS_DIGEST_EMPTY;
	made->spare = fors_look_new(FORS_LOOK_ROUTED);
	made->is_fresh = true;
	err = start(made, error);
	if (err)
		fors_keeper_free(made);
	else
		*keeper = made;
	return err;
}

void fors_keeper_stop(struct fors_keeper *keeper)
{
	fors_worker_stop(keeper->worker);
	keeper->worker = NULL;
	fors_shadow_stop(keeper->shadow);
	keeper->shadow = NULL;
	fors_advisor_stop(keeper->advisor);
	keeper->advisor = NULL;
	fors_outbox_stop(keeper->outbox);
	keeper->outbox = NULL;
	fors_loader_stop(keeper->loader);
	keeper->loader = NULL;
	fors_kept_stop(&keeper->kept);
}

void fors_keeper_free(struct fors_keeper *keeper)
{
	if (!keeper)
		return;
	fors_keeper_stop(keeper);
	fors_look_free(keeper->spare);
	fors_claim_drop(keeper->claim);
	fors_drain_clear(&keeper->drain);
	fors_folder_clear(&keeper->folder);
	fors_kept_close(&keeper->kept);
	fors_settings_free(keeper->settings);
	free(keeper);
}

const struct fors_settings *fors_keeper_settings(const struct fors_keeper *keeper)
{
	return keeper->settings;
}

const char *fors_keeper_trouble(const struct fors_keeper *keeper)
{
	return keeper->trouble;
}

const char *fors_keeper_declined(const struct fors_keeper *keeper)
{
	return keeper->declined;
}

/* --- looks, from the first to the last word -------------------------------- */

static void fill_settings(struct fors_look *look, const struct fors_settings *settings)
{
	memcpy(look->fabric_name, settings->fabric_name, sizeof(look->fabric_name));
	snprintf(look->jobs_file, sizeof(look->jobs_file), "%s", settings->jobs_file ? settings->jobs_file : "");
	snprintf(look->demand_dir, sizeof(look->demand_dir), "%s", settings->demand_dir ? settings->demand_dir : "");
	snprintf(look->demand_file, sizeof(look->demand_file), "%s",
		 settings->demand_file ? settings->demand_file : "");
	look->jobs_move = settings->jobs_move;
	look->job_index = settings->job_index;
	look->job_routes = settings->job_routes;
	look->limits = settings->limits;
}

struct fors_look *fors_keeper_new_look(struct fors_keeper *keeper, enum fors_look_kind kind)
{
	struct fors_look *look;

	keeper->has_made |= kind == FORS_LOOK_ROUTED;
	if (kind == FORS_LOOK_ROUTED && keeper->settings)
		keeper->is_short = false;
	look = fors_look_new(kind);
	if (!keeper->spare && look)
		keeper->spare = fors_look_new(kind);
	if (!look && keeper->spare) {
		look = keeper->spare;
		look->kind = kind;
		keeper->spare = NULL;
		keeper->is_short = true;
	}
	if (look && keeper->settings)
		fill_settings(look, keeper->settings);
	return look;
}

void fors_keeper_decline(struct fors_keeper *keeper, struct fors_look *look, enum fors_code code, const char *reason)
{
	fors_log_error(&keeper->setup.log, code, "%s; the next routing engine takes over", reason);
	keeper->is_short |= code == FORS_F_MEMORY;
	fors_keeper_note_entries(keeper, NULL);
	fors_worker_note_sweep(keeper->worker,
			       FORS_SWEEP_BROKEN_OFF); /* with no_fallback it ends here, without a word */
	snprintf(keeper->declined, sizeof(keeper->declined), "%s", reason);
	if (!look)
		return;
	look->kind = FORS_LOOK_DECLINED;
	snprintf(look->reason, sizeof(look->reason), "%s", reason);
	fors_worker_submit(keeper->worker, look);
}

void fors_keeper_submit(struct fors_keeper *keeper, struct fors_look *look)
{
	if (fors_look_is_foreign(look))
		fors_look_seal(look);
	fors_worker_submit(keeper->worker, look);
}

bool fors_keeper_ran_short(struct fors_keeper *keeper, enum fors_err err)
{
	if (keeper->is_short && err != FORS_ENOMEM)
		fors_log_error(&keeper->setup.log, FORS_F_MEMORY, "out of memory: fors has OpenSM sweep once more");
	return keeper->is_short || err == FORS_ENOMEM;
}

/* Whatever became of a sweep: what was learnt is not to be learnt again. */
static void keep(struct fors_keeper *keeper)
{
	char *text;
	size_t size;

	fors_kept_end(&keeper->kept);
	if (!fors_kept_changed(&keeper->kept, &text, &size))
		return;
	if (keeper->is_shadow)
		fors_shadow_keep(keeper->shadow, text, size);
	else
		fors_worker_keep(keeper->worker, text, size);
}

void fors_keeper_end_sweep(struct fors_keeper *keeper)
{
	keeper->is_short = keeper->has_made = false;
	keep(keeper);
}

/* --- what is handed on ------------------------------------------------------ */

void fors_keeper_note_tables(struct fors_keeper *keeper, uint64_t number)
{
	if (keeper->worker)
		fors_worker_note_tables(keeper->worker, number);
}

void fors_keeper_note_step(struct fors_keeper *keeper, enum fors_step step, double at)
{
	if (keeper->worker)
		fors_worker_note_step(keeper->worker, step, at);
}

void fors_keeper_note_sweep(struct fors_keeper *keeper, enum fors_sweep sweep)
{
	if (keeper->worker)
		fors_worker_note_sweep(keeper->worker, sweep);
}

void fors_keeper_note_change(struct fors_keeper *keeper, const char *how)
{
	if (keeper->worker)
		fors_worker_note_change(keeper->worker, how);
}

void fors_keeper_note_attended(struct fors_keeper *keeper, bool is_attended)
{
	if (keeper->worker)
		fors_worker_note_attended(keeper->worker, is_attended);
}
