/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of jobs in the tables: what the worker wishes (wish.h) and is right for the fabric of this sweep is written
 * over the tables that fors makes anyway, then all of it is judged as any tables are. Under OpenSM's lock, for about
 * what filling the tables costs.
 *
 * The judgement has the last word: should entries of jobs ever make the tables wrong, the tables go without them, the
 * log and the worker are told, and the fabric is routed all the same.
 */
#include "engine_inside.h"

#include "log.h"
#include "opensm.h"

static struct fors_wish *wish_of(const struct fors_engine *engine)
{
	const struct fors_settings *settings = engine->settings;

	return settings->jobs_file && (settings->job_index || settings->job_routes) ? fors_worker_wish(engine->worker)
										    : NULL;
}

enum fors_err fors_engine_add_entries(struct fors_engine *engine, struct fors_job *job, struct fors_lfts **plain,
				      struct fors_error *error)
{
	struct fors_wish *wish = job->fabric ? wish_of(engine) : NULL;
	struct fors_lfts *made = wish ? fors_lfts_copy(job->lfts) : NULL;
	enum fors_err err = FORS_OK;

	*plain = NULL;
	if (!wish)
		return FORS_OK;
	err = made ? fors_wish_write(wish, job->fabric, made, error) : fors_fail_memory(error);
	if (err) {
		fors_lfts_free(made);
		fors_wish_drop(wish);
		return err;
	}
	*plain = job->lfts;
	job->lfts = made;
	job->wish = wish;
	return FORS_OK;
}

void fors_engine_drop_entries(struct fors_engine *engine, struct fors_job *job, struct fors_lfts **plain,
			      const char *why)
{
	fors_log_error(&engine->osm->log, FORS_F_INDEX, "the tables go without entries of jobs: %s", why);
	job->refused = job->wish->number;
	fors_wish_drop(job->wish);
	job->wish = NULL;
	fors_lfts_free(job->lfts);
	job->lfts = *plain;
	*plain = NULL;
}

void fors_engine_note_entries(struct fors_engine *engine, const struct fors_job *job)
{
	fors_wish_drop(engine->wish);
	engine->wish = job ? fors_wish_hold(job->wish) : NULL;
	engine->refused = job ? job->refused : 0;
}

void fors_engine_tell_entries(const struct fors_engine *engine, struct fors_job *job)
{
	job->wish = fors_wish_hold(engine->wish);
	job->refused = engine->refused;
}
