/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of jobs in the tables: what the worker claims (claim.h) and is right for the fabric of this sweep is written
 * over the tables that fors makes anyway, then all of it is judged as any tables are. Under OpenSM's lock, for about
 * what filling the tables costs.
 *
 * The judgement has the last word: should entries of jobs ever make the tables wrong, the tables go without them, the
 * log and the worker are told, and the fabric is routed all the same.
 */
#include "engine_inside.h"

#include "log.h"
#include "opensm.h"

static struct fors_claim *claim_of(const struct fors_engine *engine)
{
	const struct fors_settings *settings = engine->settings;

	return settings->jobs_file && (settings->job_index || settings->job_routes) ? fors_worker_claim(engine->worker)
										    : NULL;
}

enum fors_err fors_engine_add_entries(struct fors_engine *engine, struct fors_look *job, struct fors_lfts **plain,
				      struct fors_error *error)
{
	struct fors_claim *claim = job->fabric ? claim_of(engine) : NULL;
	struct fors_lfts *made = claim ? fors_lfts_copy(job->lfts) : NULL;
	enum fors_err err = FORS_OK;

	*plain = NULL;
	if (!claim)
		return FORS_OK;
	err = made ? fors_claim_write(claim, job->fabric, made, error) : fors_fail_memory(error);
	if (err) {
		fors_lfts_free(made);
		fors_claim_drop(claim);
		return err;
	}
	*plain = job->lfts;
	job->lfts = made;
	job->claim = claim;
	return FORS_OK;
}

void fors_engine_drop_entries(struct fors_engine *engine, struct fors_look *job, struct fors_lfts **plain,
			      const char *why)
{
	fors_log_error(&engine->osm->log, FORS_F_INDEX, "the tables go without entries of jobs: %s", why);
	job->refused = job->claim->number;
	fors_claim_drop(job->claim);
	job->claim = NULL;
	fors_lfts_free(job->lfts);
	job->lfts = *plain;
	*plain = NULL;
}

void fors_engine_note_entries(struct fors_engine *engine, const struct fors_look *job)
{
	fors_claim_drop(engine->claim);
	engine->claim = job ? fors_claim_hold(job->claim) : NULL;
	engine->refused = job ? job->refused : 0;
}

void fors_engine_tell_entries(const struct fors_engine *engine, struct fors_look *job)
{
	job->claim = fors_claim_hold(engine->claim);
	job->refused = engine->refused;
}
