/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a sweep is complete the fabric is looked at again, instead of being remembered from the routing callback: with
 * use_ucast_cache OpenSM may have put tables together itself, and another engine may have done the routing.
 */
#include "engine_inside.h"

#include <stdio.h>

#include "keeper/base/clock.h"
#include "log.h"
#include "opensm.h"
#include "snapshot.h"

/* What the switches hold now, in a new job; under OpenSM's lock. */
static enum fors_err look_at_switches(const struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	const struct osm_subn *subn = &engine->osm->subn;
	const char *reason = fors_engine_incomplete(engine->osm);
	enum fors_err err = fors_snapshot_net(subn, &job->net, error);

	if (!err)
		err = fors_snapshot_tables(subn, job->net, &job->lfts, error);
	if (reason) {
		job->kind = FORS_LOOK_INCOMPLETE;
		snprintf(job->reason, sizeof(job->reason), "%s", reason);
	}
	job->tables_ms = engine->tables_ms;
	job->check_ms = engine->check_ms;
	return err;
}

/* Somebody else routes: nothing to look at, but something to say. */
static void note_who_routes(const struct fors_engine *engine, struct fors_look *job)
{
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;

	job->kind = FORS_LOOK_DECLINED;
	if (engine->declined[0])
		snprintf(job->reason, sizeof(job->reason), "%s", engine->declined);
	else if (used)
		snprintf(job->reason, sizeof(job->reason), "the fabric is routed by '%.40s'", used->name);
	else
		snprintf(job->reason, sizeof(job->reason), "no routing engine has routed this fabric");
}

/* Whatever became of this sweep: what was learnt is not to be learnt again. */
static void keep(struct fors_engine *engine)
{
	char *text;
	size_t size;

	fors_kept_end(&engine->kept);
	if (fors_kept_changed(&engine->kept, &text, &size))
		fors_worker_keep(engine->worker, text, size);
}

/*
 * The tables were good when they were made. What the switches hold may be older: OpenSM's unicast cache thinks that
 * nothing goes over a leaf but what is for its own servers, while fors lets some packets turn at a leaf. When that one is lost
 * OpenSM has to ask again. What is wrong until then is a warning: nobody can take it back.
 */
static enum fors_err check_installed(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	enum fors_err err = fors_engine_check(engine, job, error);

	if (err != FORS_ETABLES)
		return err;
	fors_warn(&job->warnings, "what the switches hold is not what fors would have them hold: %.240s", error->text);
	if (engine->osm->subn.opt.use_ucast_cache && !engine->has_built) {
		engine->is_cache_old = true;
		job->due_ms = fors_clock_ms();
	}
	return FORS_OK;
}

/* What the switches hold, as a fabric; what is kept, and whether homes are to be ranked, follows from good tables only. */
static enum fors_err finish_ours(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	enum fors_err err = fors_engine_understand(engine, job, error);

	if (!err && job->pods)
		err = fors_engine_end_pods(engine, job, error);
	fors_engine_tell_entries(engine, job);
	if (err || job->kind != FORS_LOOK_INSTALLED)
		return err;
	job->number = engine->has_built ? engine->tables : 0;
	fors_engine_tell_adopted(engine, job);
	if (!job->pods)
		fors_engine_consider_rehome(engine, job);
	return check_installed(engine, job, error);
}

static enum fors_err finish_over(struct fors_engine *engine, struct fors_look *job, double held,
				 struct fors_error *error)
{
	fors_log_info(&engine->osm->log, "tables of %u switches by '%s' copied, OpenSM's lock held %.2f ms",
		      job->lfts->nswitches, job->tables_by, held);
	return fors_engine_end_over(engine, job, error);
}

/* What there is to tell the worker: what the switches hold, and whose tables they are. */
static enum fors_err look(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	struct osm_opensm *osm = engine->osm;
	enum fors_err err = FORS_OK;
	bool is_ours, is_over;
	double held;

	cl_plock_acquire(&osm->lock);
	held = fors_clock_exact_ms();
	is_ours = fors_engine_is_routing(engine);
	is_over = fors_engine_is_over(engine);
	if (osm->routing_engine_used)
		snprintf(job->tables_by, sizeof(job->tables_by), "%s", osm->routing_engine_used->name);
	if (is_ours || is_over)
		err = look_at_switches(engine, job, error);
	else
		note_who_routes(engine, job);
	if (is_over && !err)
		err = fors_engine_begin_over(engine, job, error);
	held = fors_clock_exact_ms() - held;
	cl_plock_release(&osm->lock);
	if (err || (!is_ours && !is_over))
		return err;
	return is_ours ? finish_ours(engine, job, error) : finish_over(engine, job, held, error);
}

void fors_engine_note_sweep(struct fors_engine *engine, enum fors_sweep sweep)
{
	engine->awaited = 0;
	if (engine->worker)
		fors_worker_note_sweep(engine->worker, sweep);
}

void fors_engine_observe(struct fors_engine *engine)
{
	struct fors_look *job;
	struct fors_error error;
	enum fors_err err;

	if (!engine->worker)
		return;
	job = fors_engine_take_job(engine, FORS_LOOK_INSTALLED);
	err = job ? look(engine, job, &error) : fors_fail_memory(&error);
	if (err)
		fors_log_error(&engine->osm->log, fors_code_of(err), "%s; nothing is published", error.text);
	if (err && job) {
		job->kind = FORS_LOOK_DECLINED;
		snprintf(job->reason, sizeof(job->reason), "%s", error.text);
	}
	if (engine->is_short && err != FORS_ENOMEM)
		fors_log_error(&engine->osm->log, FORS_F_MEMORY, "out of memory: fors has OpenSM sweep once more");
	if (engine->is_short || err == FORS_ENOMEM)
		engine->osm->subn.force_heavy_sweep = TRUE; /* as OpenSM's own threads ask for one: the next sweep */
	engine->is_short = false;
	engine->has_built = false;
	keep(engine);
	if (job)
		fors_worker_submit(engine->worker, job);
}
