/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of jobs in the tables: what the worker claims (claim.h) and is right for the fabric of this sweep is written
 * over the tables that fors makes anyway, then all of it is judged as any tables are. Under OpenSM's lock, for about
 * what filling the tables costs.
 *
 * The judgement has the last word: should entries of jobs ever make the tables wrong, the tables go without them, the
 * log and the worker are told, and the fabric is routed all the same.
 */
#include "daemon_inside.h"

bool fors_daemon_wants_entries(const struct fors_daemon *daemon)
{
	const struct fors_settings *settings = daemon->settings;

	return settings->jobs_file && (settings->job_index || settings->job_routes);
}

static struct fors_claim *claim_of(const struct fors_daemon *daemon)
{
	return fors_daemon_wants_entries(daemon) && daemon->worker ? fors_worker_claim(daemon->worker) : NULL;
}

enum fors_err fors_daemon_add_entries(struct fors_daemon *daemon, struct fors_look *look, struct fors_lfts **plain,
				      struct fors_error *error)
{
	struct fors_claim *claim = look->floors.count ? claim_of(daemon) : NULL;
	struct fors_lfts *made = claim ? fors_lfts_copy(look->lfts) : NULL;
	enum fors_err err = FORS_OK;

	*plain = NULL;
	if (!claim)
		return FORS_OK;
	err = made ? fors_claim_write(claim, &look->floors, made, error) : fors_fail_memory(error);
	if (err) {
		fors_lfts_free(made);
		fors_claim_drop(claim);
		return err;
	}
	*plain = look->lfts;
	look->lfts = made;
	look->claim = claim;
	return FORS_OK;
}

void fors_daemon_drop_entries(struct fors_daemon *daemon, struct fors_look *look, struct fors_lfts **plain,
			      const char *why)
{
	fors_log_error(&daemon->setup.log, FORS_F_INDEX, "the tables go without entries of jobs: %s", why);
	look->refused = look->claim->number;
	fors_claim_drop(look->claim);
	look->claim = NULL;
	fors_lfts_free(look->lfts);
	look->lfts = *plain;
	*plain = NULL;
}

void fors_daemon_note_entries(struct fors_daemon *daemon, const struct fors_look *look)
{
	fors_claim_drop(daemon->claim);
	daemon->claim = look ? fors_claim_hold(look->claim) : NULL;
	daemon->refused = look ? look->refused : 0;
}

void fors_daemon_tell_entries(const struct fors_daemon *daemon, struct fors_look *look)
{
	look->claim = fors_claim_hold(daemon->claim);
	look->refused = daemon->refused;
}
