/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: in the source's thread, perhaps under its lock, only what must be done there - understand a net, make the
 * tables, a millisecond or so - and all that may take longer is the worker's.
 *
 * This file starts and ends the daemon, and hands on what its source hears.
 *
 * When memory runs out somebody else routes this sweep, readers are told (a look is kept for that), and the source is
 * asked to look again soon, so that fors does not wait for the next failure.
 */
#include "daemon_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/digest.h"

/* For the daemon's own threads, which know of no mode: nobody asks for a sweep in a shadow. */
static void ask_sweep(void *context)
{
	const struct fors_daemon *daemon = context;

	if (!daemon->is_shadow)
		daemon->setup.source.sweep(daemon->setup.source.context);
}

static enum fors_err start_threads(struct fors_daemon *daemon, struct fors_error *error)
{
	struct fors_worker_setup setup = {
		.log = &daemon->setup.log, .folder = &daemon->folder, .source = daemon->setup.source};
	struct fors_kept_setup kept = {.log = setup.log,
				       .folder = setup.folder,
				       .news = daemon->setup.source.sweep,
				       .context = daemon->setup.source.context};
	const char *state_dir = daemon->settings ? daemon->settings->state_dir : NULL;
	enum fors_err err = fors_folder_init(&daemon->folder, state_dir, daemon->setup.guid, error);

	if (!err)
		err = fors_kept_open(&daemon->kept, &kept, error);
	if (!err)
		err = fors_copier_start(setup.log, &daemon->folder, &daemon->copier, error);
	if (!err)
		err = fors_advisor_start(setup.log, &daemon->advisor, error);
	setup.copier = daemon->copier;
	setup.advisor = daemon->advisor;
	return err ? err : fors_worker_start(&setup, &daemon->worker, error);
}

static enum fors_err start(struct fors_daemon *daemon, struct fors_error *error)
{
	enum fors_err err = fors_loader_start(ask_sweep, daemon, 0, &daemon->loader, error);

	if (err)
		return err;
	fors_daemon_load_settings(daemon, &daemon->setup.sources);
	daemon->has_mode = true;
	err = fors_drain_init(&daemon->drain, error);
	if (!err)
		err = daemon->is_shadow ? fors_daemon_start_shadow(daemon, error) : start_threads(daemon, error);
	if (!err)
		fors_daemon_address_copier(daemon);
	return err;
}

enum fors_err fors_daemon_start(const struct fors_daemon_setup *setup, struct fors_daemon **daemon,
				struct fors_error *error)
{
	struct fors_daemon *made = calloc(1, sizeof(*made));
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
		fors_daemon_free(made);
	else
		*daemon = made;
	return err;
}

void fors_daemon_stop(struct fors_daemon *daemon)
{
	fors_worker_stop(daemon->worker);
	daemon->worker = NULL;
	fors_shadow_stop(daemon->shadow);
	daemon->shadow = NULL;
	fors_advisor_stop(daemon->advisor);
	daemon->advisor = NULL;
	fors_copier_stop(daemon->copier);
	daemon->copier = NULL;
	fors_loader_stop(daemon->loader);
	daemon->loader = NULL;
	fors_kept_stop(&daemon->kept);
}

void fors_daemon_free(struct fors_daemon *daemon)
{
	if (!daemon)
		return;
	fors_daemon_stop(daemon);
	fors_look_free(daemon->spare);
	fors_claim_drop(daemon->claim);
	fors_drain_clear(&daemon->drain);
	fors_folder_clear(&daemon->folder);
	fors_kept_close(&daemon->kept);
	fors_settings_free(daemon->settings);
	free(daemon);
}

const struct fors_settings *fors_daemon_settings(const struct fors_daemon *daemon)
{
	return daemon->settings;
}

const char *fors_daemon_trouble(const struct fors_daemon *daemon)
{
	return daemon->trouble;
}

const char *fors_daemon_declined(const struct fors_daemon *daemon)
{
	return daemon->declined;
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

struct fors_look *fors_daemon_new_look(struct fors_daemon *daemon, enum fors_look_kind kind)
{
	struct fors_look *look;

	daemon->has_made |= kind == FORS_LOOK_ROUTED;
	if (kind == FORS_LOOK_ROUTED && daemon->settings)
		daemon->is_short = false;
	look = fors_look_new(kind);
	if (!daemon->spare && look)
		daemon->spare = fors_look_new(kind);
	if (!look && daemon->spare) {
		look = daemon->spare;
		look->kind = kind;
		daemon->spare = NULL;
		daemon->is_short = true;
	}
	if (look && daemon->settings)
		fill_settings(look, daemon->settings);
	return look;
}

void fors_daemon_decline(struct fors_daemon *daemon, struct fors_look *look, enum fors_code code, const char *reason)
{
	fors_log_error(&daemon->setup.log, code, "%s; the next routing engine takes over", reason);
	daemon->is_short |= code == FORS_F_MEMORY;
	fors_daemon_note_entries(daemon, NULL);
	fors_worker_note_sweep(daemon->worker,
			       FORS_SWEEP_BROKEN_OFF); /* with no_fallback it ends here, without a word */
	snprintf(daemon->declined, sizeof(daemon->declined), "%s", reason);
	if (!look)
		return;
	look->kind = FORS_LOOK_DECLINED;
	snprintf(look->reason, sizeof(look->reason), "%s", reason);
	fors_worker_submit(daemon->worker, look);
}

void fors_daemon_submit(struct fors_daemon *daemon, struct fors_look *look)
{
	if (fors_look_is_foreign(look))
		fors_look_seal(look);
	fors_worker_submit(daemon->worker, look);
}

bool fors_daemon_ran_short(struct fors_daemon *daemon, enum fors_err err)
{
	if (daemon->is_short && err != FORS_ENOMEM)
		fors_log_error(&daemon->setup.log, FORS_F_MEMORY, "out of memory: the fabric is looked at once more");
	return daemon->is_short || err == FORS_ENOMEM;
}

/* Whatever became of a sweep: what was learnt is not to be learnt again. */
static void keep(struct fors_daemon *daemon)
{
	char *text;
	size_t size;

	fors_kept_end(&daemon->kept);
	if (!fors_kept_changed(&daemon->kept, &text, &size))
		return;
	if (daemon->is_shadow)
		fors_shadow_keep(daemon->shadow, text, size);
	else
		fors_worker_keep(daemon->worker, text, size);
}

void fors_daemon_end_sweep(struct fors_daemon *daemon)
{
	daemon->is_short = daemon->has_made = false;
	keep(daemon);
}

/* --- what is handed on ------------------------------------------------------ */

void fors_daemon_note_tables(struct fors_daemon *daemon, uint64_t number)
{
	if (daemon->worker)
		fors_worker_note_tables(daemon->worker, number);
}

void fors_daemon_note_step(struct fors_daemon *daemon, enum fors_step step, double at)
{
	if (daemon->worker)
		fors_worker_note_step(daemon->worker, step, at);
}

void fors_daemon_note_sweep(struct fors_daemon *daemon, enum fors_sweep sweep)
{
	if (daemon->worker)
		fors_worker_note_sweep(daemon->worker, sweep);
}

void fors_daemon_note_change(struct fors_daemon *daemon, const char *how)
{
	if (daemon->worker)
		fors_worker_note_change(daemon->worker, how);
}

void fors_daemon_note_attended(struct fors_daemon *daemon, bool is_attended)
{
	if (daemon->worker)
		fors_worker_note_attended(daemon->worker, is_attended);
}
