/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The routing callback, under OpenSM's exclusive lock: copy the subnet, understand it, fill the tables, a
 * millisecond or so, and hand the worker a job. Whatever fors cannot do it declines, and OpenSM asks the next engine of
 * its list.
 */
#include "engine_inside.h"

#include <stdio.h>

#include "core/tables/tables.h"
#include "keeper/base/clock.h"
#include "log.h"
#include "opensm.h"
#include "snapshot.h"

/* Say why, in the log and to the worker, who owns the job (NULL: out of memory) from now on. Returns < 0 for OpenSM. */
static int decline(struct fors_engine *engine, enum fors_code code, const char *reason, struct fors_look *job)
{
	fors_log_error(&engine->osm->log, code, "%s; the next routing engine takes over", reason);
	fors_worker_note_sweep(engine->worker,
			       FORS_SWEEP_BROKEN_OFF); /* with no_fallback it ends here, without a word */
	snprintf(engine->declined, sizeof(engine->declined), "%s", reason);
	if (job) {
		job->kind = FORS_LOOK_DECLINED;
		snprintf(job->reason, sizeof(job->reason), "%s", reason);
		fors_worker_submit(engine->worker, job);
	}
	return -1;
}

/* The tables for a fabric in which held cables carry traffic, though the plan will not use them. */
static enum fors_err build_tables_first(const struct fors_engine *engine, struct fors_look *job,
					struct fors_error *error)
{
	struct fors_fabric *fabric;
	struct fors_slow slow;
	enum fors_err err = fors_engine_build_fabric(engine, engine->kept.places, job->net, &fabric, error);

	if (err)
		return err;
	err = fors_drain_apply(&engine->drain, engine->settings, fabric, false, &slow, NULL, error);
	if (!err)
		err = fors_tables_build(fabric, &job->lfts, error);
	fors_fabric_free(fabric);
	return err;
}

static enum fors_err check_tables(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	double start = fors_clock_exact_ms();
	enum fors_err err = fors_engine_check(engine, job, error);

	engine->check_ms = job->check_ms = fors_clock_exact_ms() - start;
	return err;
}

/* Should entries of jobs make the tables wrong, they go without. */
static enum fors_err check_entries(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	struct fors_lfts *plain;
	enum fors_err err = fors_engine_add_entries(engine, job, &plain, error);

	if (!err)
		err = check_tables(engine, job, error);
	if (err == FORS_ETABLES && plain) {
		fors_engine_drop_entries(engine, job, &plain, error->text);
		err = check_tables(engine, job, error);
	}
	fors_lfts_free(plain);
	return err;
}

static enum fors_err fill_fabric(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	struct fors_error cut;

	if (fors_fabric_connected(job->fabric, &cut))
		return *engine->kept.not_three
			       ? fors_fail(error, cut.code, "%.200s; %.280s", cut.text, engine->kept.not_three)
			       : fors_fail(error, cut.code, "%s", cut.text);
	return engine->drain.due_ms && fors_drain_tables_first(engine->settings, job->fabric)
		       ? build_tables_first(engine, job, error)
		       : fors_tables_build(job->fabric, &job->lfts, error);
}

static void tell(struct fors_engine *engine, const struct fors_look *job)
{
	if (job->pods)
		fors_engine_tell_pods(engine, job, engine->tables_ms);
	else
		fors_log_info(&engine->osm->log,
			      "tables of %u switches for %u servers, %u spine lanes filled in %.3f ms",
			      job->lfts->nswitches, job->fabric->nservers, job->fabric->nlanes, engine->tables_ms);
}

static enum fors_err fill_tables(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	enum fors_err err = fors_snapshot_net(&engine->osm->subn, &job->net, error);

	if (!err)
		err = fors_engine_understand(engine, job, error);
	if (!err)
		err = job->pods ? fors_engine_fill_pods(engine, job, error) : fill_fabric(engine, job, error);
	if (!err)
		err = check_entries(engine, job, error);
	if (!err) {
		fors_snapshot_store(&engine->osm->subn, job->lfts);
		engine->managers = fors_snapshot_managers(&engine->osm->subn);
	}
	return err;
}

int fors_engine_build_tables(void *context)
{
	struct fors_engine *engine = context;
	double start = fors_clock_exact_ms();
	struct fors_look *job;
	struct fors_error error;
	enum fors_err err;

	engine->has_built = true;
	engine->is_cache_old = false;
	if (engine->settings)
		engine->is_short = false;
	engine->awaited = 0;
	job = fors_engine_take_job(engine, FORS_LOOK_ROUTED);
	if (!engine->settings)
		return decline(engine, FORS_F_CONFIG, engine->trouble, job);
	err = engine->is_short || !job ? fors_fail_memory(&error) : fill_tables(engine, job, &error);
	engine->is_short = err == FORS_ENOMEM;
	fors_engine_note_entries(engine, err ? NULL : job);
	if (err)
		return decline(engine, fors_code_of(err), error.text, job);
	engine->declined[0] = '\0';
	snprintf(job->tables_by, sizeof(job->tables_by), "fors");
	if (job->over)
		fors_look_seal(job);
	job->is_active = fors_engine_is_active(engine, job);
	engine->awaited = job->number = ++engine->tables;
	engine->tables_ms = job->tables_ms = fors_clock_exact_ms() - start;
	tell(engine, job);
	fors_worker_submit(engine->worker, job);
	return 0;
}
