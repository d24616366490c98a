/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: under OpenSM's lock do only what must be done there - copy the subnet, fill
 * the tables, a millisecond or so - and leave all that may take longer to the worker.
 *
 * When the sweep is complete the fabric is looked at again instead of being remembered
 * from the callback: with use_ucast_cache OpenSM may have put tables together itself,
 * and another engine may have done the routing.
 *
 * When memory runs out another engine routes this sweep, readers are told (a job is kept for that), and
 * OpenSM is asked to make its next sweep a heavy one, so that fors does not wait for the next failure.
 */
#include "engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/tables.h"
#include "log.h"
#include "opensm.h"
#include "snapshot.h"

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* For the worker, from its thread: one byte, written by OpenSM's threads. */
static enum fors_mastership mastership(void *context)
{
	struct osm_opensm *osm = context;

	switch (__atomic_load_n(&osm->subn.sm_state, __ATOMIC_RELAXED)) {
	case IB_SMINFO_STATE_MASTER:
		return FORS_MASTER_YES;
	case IB_SMINFO_STATE_STANDBY:
	case IB_SMINFO_STATE_NOTACTIVE:
		return FORS_MASTER_NO;
	default:
		return FORS_MASTER_UNDECIDED;
	}
}

/* A job, the spare one when there is no memory for another; NULL: that is gone too. */
static struct fors_job *take_job(struct fors_engine *engine, enum fors_job_kind kind)
{
	struct fors_job *job = fors_job_new(kind);

	if (!engine->spare && job)
		engine->spare = fors_job_new(kind);
	if (!job && engine->spare) {
		job = engine->spare;
		job->kind = kind;
		engine->spare = NULL;
		engine->is_short = true;
	}
	return job;
}

/* For the worker, from its thread: a heavy sweep, as SIGHUP starts it. */
static void sweep(void *context)
{
	struct osm_opensm *osm = context;

	osm->subn.force_heavy_sweep = TRUE;
	osm_opensm_sweep(osm);
}

/* Say why, in the log and to the worker, who owns the job (NULL: out of memory) from now on. Returns < 0 for OpenSM. */
static int decline(struct fors_engine *engine, enum fors_code code, const char *reason, struct fors_job *job)
{
	fors_log_error(&engine->osm->log, code, "%s; the next routing engine takes over", reason);
	snprintf(engine->declined, sizeof(engine->declined), "%s", reason);
	if (job) {
		job->kind = FORS_JOB_DECLINED;
		snprintf(job->reason, sizeof(job->reason), "%s", reason);
		fors_worker_submit(engine->worker, job);
	}
	return -1;
}

static enum fors_err build_fabric(const struct fors_engine *engine, const struct fors_places *places,
				  const struct fors_net *net, struct fors_fabric **fabric, struct fors_error *error)
{
	return fors_fabric_build(net, places, fors_settings_participants(engine->settings), fabric, error);
}

/* The fabric that job->net shows, perhaps for the first time; learnt if fors can route it, else only looked at. */
static enum fors_err learn_fabric(struct fors_engine *engine, struct fors_job *job, struct fors_error *error)
{
	const struct fors_settings *settings = engine->settings;
	struct fors_kept *kept = &engine->kept;
	enum fors_err err = fors_kept_learn(kept, job->net, settings->root, settings->nroots, error);

	if (!err)
		err = build_fabric(engine, kept->draft, job->net, &job->fabric, error);
	if (err || fors_fabric_connected(job->fabric, NULL))
		return err;
	if (job->kind == FORS_JOB_ROUTED && fors_kept_forget(kept)) { /* only when the tables follow at once */
		fors_fabric_free(job->fabric);
		job->fabric = NULL;
		err = build_fabric(engine, kept->draft, job->net, &job->fabric, error);
	}
	if (!err)
		fors_kept_accept(kept);
	return err;
}

static bool is_server(const struct fors_fabric *fabric, uint64_t guid)
{
	for (uint32_t s = 0; s < fabric->nservers; s++)
		if (fabric->server[s].guid == guid)
			return true;
	return false;
}

/* A participant may be switched off, or misspelt; nobody can tell, so it is told to operators, and is no error. */
static void remark_absent(const struct fors_settings *settings, const struct fors_fabric *fabric,
			  struct fors_remarks *remarks)
{
	const struct fors_participants *wanted = fors_settings_participants(settings);
	size_t first = 0;

	if (!wanted || wanted->count <= fabric->nservers)
		return; /* every server here is one of them, and no GUID is in the list twice */
	while (is_server(fabric, wanted->guid[first]))
		first++;
	fors_remark(remarks, "%s: %zu of its %zu GUIDs are no living server under a leaf, the first is 0x%016" PRIx64,
		    settings->participants_file ? "participants_file" : "cn_guid_file",
		    wanted->count - fabric->nservers, wanted->count, wanted->guid[first]);
}

/* Make sense of job->net. */
static enum fors_err understand(struct fors_engine *engine, struct fors_job *job, struct fors_error *error)
{
	const struct fors_settings *settings = engine->settings;
	enum fors_err err = learn_fabric(engine, job, error);

	memcpy(job->method, settings->method, sizeof(job->method));
	job->ilp_seconds = settings->ilp_seconds;
	if (!err)
		err = fors_drain_look(&engine->drain, settings, job->fabric, job->kind == FORS_JOB_ROUTED, error);
	if (!err)
		err = fors_drain_apply(&engine->drain, settings, job->fabric, true, &job->remarks, error);
	if (!err)
		fors_drain_tell(&engine->drain, &engine->osm->log, job->fabric, &job->remarks);
	if (!err)
		remark_absent(settings, job->fabric, &job->remarks);
	job->due_ms = engine->drain.due_ms;
	return err;
}

/* The tables for a fabric in which held cables carry traffic, though the plan will not use them. */
static enum fors_err build_tables_first(const struct fors_engine *engine, struct fors_job *job, struct fors_error *error)
{
	struct fors_fabric *fabric;
	enum fors_err err = build_fabric(engine, engine->kept.places, job->net, &fabric, error);

	if (err)
		return err;
	err = fors_drain_apply(&engine->drain, engine->settings, fabric, false, NULL, error);
	if (!err)
		err = fors_tables_build(fabric, &job->lfts, error);
	fors_fabric_free(fabric);
	return err;
}

static enum fors_err fill_tables(struct fors_engine *engine, struct fors_job *job, struct fors_error *error)
{
	enum fors_err err = fors_snapshot_net(&engine->osm->subn, &job->net, error);

	if (!err)
		err = understand(engine, job, error);
	if (!err)
		err = fors_fabric_connected(job->fabric, error);
	if (!err)
		err = engine->drain.due_ms && fors_drain_tables_first(engine->settings, job->fabric) ?
			      build_tables_first(engine, job, error) :
			      fors_tables_build(job->fabric, &job->lfts, error);
	if (!err) {
		fors_snapshot_store(&engine->osm->subn, job->lfts);
		engine->managers = fors_snapshot_managers(&engine->osm->subn);
	}
	return err;
}

/* OpenSM's own hop matrices are needed for multicast and for switch LIDs: > 0 asks for them. */
static int build_lid_matrices(void *context)
{
	return 1;
}

/* Called under OpenSM's exclusive lock. 0: done; < 0: the next engine of the list shall try. */
static int build_tables(void *context)
{
	struct fors_engine *engine = context;
	double start = now_ms();
	struct fors_job *job;
	struct fors_error error;
	enum fors_err err;

	if (engine->settings)
		engine->is_short = false;
	job = take_job(engine, FORS_JOB_ROUTED);
	if (!engine->settings)
		return decline(engine, FORS_F_CONFIG, engine->trouble, job);
	err = engine->is_short || !job ? fors_fail_memory(&error) : fill_tables(engine, job, &error);
	engine->is_short = err == FORS_ENOMEM;
	if (err)
		return decline(engine, fors_code_of(err), error.text, job);
	engine->declined[0] = '\0';
	engine->tables_ms = job->tables_ms = now_ms() - start;
	fors_log_info(&engine->osm->log, "tables of %u switches for %u servers, %u spine lanes filled in %.3f ms",
		      job->lfts->nswitches, job->fabric->nservers, job->fabric->nlanes, engine->tables_ms);
	fors_worker_submit(engine->worker, job);
	return 0;
}

/* OpenSM frees the engines before it deletes the plugin: the worker must not outlive this. */
static void destroy(void *context)
{
	struct fors_engine *engine = context;

	fors_worker_stop(engine->worker);
	engine->worker = NULL;
	fors_outbox_stop(engine->outbox);
	engine->outbox = NULL;
}

int fors_engine_setup(struct osm_routing_engine *routing, struct osm_opensm *osm)
{
	routing->build_lid_matrices = build_lid_matrices;
	routing->ucast_build_fwd_tables = build_tables;
	routing->destroy = destroy;
	return 0;
}

/* Why nothing may be published although the sweep has ended, or NULL. Under OpenSM's lock. */
static const char *unsettled_reason(const struct osm_opensm *osm)
{
	if (osm->subn.sm_state != IB_SMINFO_STATE_MASTER)
		return "this subnet manager is not the master";
	if (osm->subn.subnet_initialization_error)
		return "OpenSM met errors while it set up the fabric; it will sweep again";
	if (fors_snapshot_late_switch(&osm->subn))
		return "a switch does not hold its new tables yet; OpenSM will sweep again";
	return NULL;
}

/* What the switches hold now, in a new job; under OpenSM's lock. */
static enum fors_err look(const struct fors_engine *engine, struct fors_job *job, struct fors_error *error)
{
	const struct osm_subn *subn = &engine->osm->subn;
	const char *reason = unsettled_reason(engine->osm);
	enum fors_err err = fors_snapshot_net(subn, &job->net, error);

	if (!err)
		err = fors_snapshot_tables(subn, job->net, &job->lfts, error);
	if (reason) {
		job->kind = FORS_JOB_UNSETTLED;
		snprintf(job->reason, sizeof(job->reason), "%s", reason);
	}
	job->tables_ms = engine->tables_ms;
	return err;
}

/* Somebody else routes: nothing to look at, but something to say. */
static void look_away(const struct fors_engine *engine, struct fors_job *job)
{
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;

	job->kind = FORS_JOB_DECLINED;
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
	if (fors_kept_news(&engine->kept, &text, &size))
		fors_worker_keep(engine->worker, text, size);
}

/* Are the tables ours, as far as any engine's? Under OpenSM's lock. */
static bool is_routing(const struct fors_engine *engine)
{
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;

	return engine->settings && used && used->context == engine;
}

/* What there is to tell the worker: what the switches hold, or whose tables they are. */
static enum fors_err observe(struct fors_engine *engine, struct fors_job *job, struct fors_error *error)
{
	struct osm_opensm *osm = engine->osm;
	enum fors_err err = FORS_OK;
	bool is_ours;

	cl_plock_acquire(&osm->lock);
	is_ours = is_routing(engine);
	if (is_ours)
		err = look(engine, job, error);
	else
		look_away(engine, job);
	cl_plock_release(&osm->lock);
	return is_ours && !err ? understand(engine, job, error) : err;
}

void fors_engine_settle(struct fors_engine *engine)
{
	struct fors_job *job;
	struct fors_error error;
	enum fors_err err;

	if (!engine->worker)
		return;
	job = take_job(engine, FORS_JOB_SETTLED);
	err = job ? observe(engine, job, &error) : fors_fail_memory(&error);
	if (err)
		fors_log_error(&engine->osm->log, fors_code_of(err), "%s; nothing is published", error.text);
	if (err && job) {
		job->kind = FORS_JOB_DECLINED;
		snprintf(job->reason, sizeof(job->reason), "%s", error.text);
	}
	if (engine->is_short || err == FORS_ENOMEM)
		engine->osm->subn.force_heavy_sweep = TRUE; /* as OpenSM's own threads ask for one: the next sweep */
	engine->is_short = false;
	keep(engine);
	if (job)
		fors_worker_submit(engine->worker, job);
}

/* The state folder stays where it was when opensm started: say so, once, to whom wants it elsewhere. */
static void tell_state_dir(const struct fors_engine *engine, const char *wanted)
{
	const char *before = engine->settings ? engine->settings->state_dir : NULL;

	if (wanted && engine->folder.parent && strcmp(wanted, engine->folder.parent) &&
	    (!before || strcmp(wanted, before)))
		fors_log_error(&engine->osm->log, FORS_F_CONFIG,
			       "state_dir: a change needs a restart of opensm; the state folder stays in %.200s",
			       engine->folder.parent);
}

/* Settings in force stay when the new ones are bad: a slip must not cost the routes of a running fabric. */
static void load_settings(struct fors_engine *engine)
{
	const struct fors_sources sources = { .options = engine->osm->subn.opt.event_plugin_options,
					      .root_guid_file = engine->osm->subn.opt.root_guid_file,
					      .cn_guid_file = engine->osm->subn.opt.cn_guid_file };
	struct fors_settings *settings;
	struct fors_error error;
	enum fors_err err = fors_settings_load(&sources, &settings, &error);

	if (err) {
		engine->is_short = !engine->settings && err == FORS_ENOMEM;
		if (!engine->is_fresh ||
		    strcmp(engine->trouble, error.text)) /* which opensm's start has said already */
			fors_log_error(&engine->osm->log, FORS_F_CONFIG, "%s%s", error.text,
				       engine->settings ? "; the settings of before stay in force" : "");
		memcpy(engine->trouble, error.text, sizeof(engine->trouble));
		return;
	}
	engine->is_short = false;
	engine->trouble[0] = '\0';
	tell_state_dir(engine, settings->state_dir);
	fors_settings_free(engine->settings);
	engine->settings = settings;
}

/*
 * OpenSM's unicast cache would bring back tables that know nothing of cables set aside since, nor of a subnet manager
 * that has started: it looks at cables only, and the spines would never get their ways to that manager.
 */
static void forget_cache(struct fors_engine *engine, bool is_drain_wanted)
{
	struct osm_opensm *osm = engine->osm;

	if (!osm->subn.opt.use_ucast_cache)
		return;
	cl_plock_excl_acquire(&osm->lock);
	if (is_drain_wanted || (is_routing(engine) && fors_snapshot_managers(&osm->subn) != engine->managers))
		osm_ucast_cache_invalidate(&osm->sm.ucast_mgr);
	cl_plock_release(&osm->lock);
}

/* Where copies go now. */
static void address_outbox(struct fors_engine *engine)
{
	const struct fors_settings *settings = engine->settings;
	struct fors_error error;

	if (engine->outbox && settings &&
	    fors_outbox_set(engine->outbox,
			    &(struct fors_outbox_wish){ settings->publish_dir, settings->publish_command,
							settings->publish_seconds },
			    &error))
		fors_log_error(&engine->osm->log, FORS_F_MEMORY, "publish_dir and publish_command stay as they were: %s",
			       error.text);
}

void fors_engine_reload(struct fors_engine *engine)
{
	struct fors_error error;
	bool was_wanted = engine->settings && fors_drain_is_wanted(engine->settings);

	load_settings(engine);
	engine->is_fresh = false;
	if (engine->settings && fors_kept_refer(&engine->kept, engine->settings->reference, &error))
		fors_log_error(&engine->osm->log, FORS_F_MEMORY, "the order stays as it was: %s", error.text);
	fors_kept_begin(&engine->kept);
	address_outbox(engine);
	forget_cache(engine, was_wanted || (engine->settings && fors_drain_is_wanted(engine->settings)));
}

static enum fors_err start(struct fors_engine *engine, struct fors_error *error)
{
	struct fors_worker_setup setup = { .log = &engine->osm->log, .folder = &engine->folder,
					   .mastership = mastership, .sweep = sweep, .context = engine->osm };
	const char *state_dir = engine->settings ? engine->settings->state_dir : NULL;
	enum fors_err err = fors_folder_init(&engine->folder, state_dir, cl_ntoh64(engine->osm->subn.sm_port_guid),
					     error);

	if (!err)
		err = fors_kept_open(&engine->kept, &engine->osm->log, &engine->folder, error);
	if (!err)
		err = fors_outbox_start(&engine->osm->log, &engine->folder, &engine->outbox, error);
	setup.outbox = engine->outbox;
	return err ? err : fors_worker_start(&setup, &engine->worker, error);
}

struct fors_engine *fors_engine_new(struct osm_opensm *osm)
{
	struct fors_engine *engine = calloc(1, sizeof(*engine));
	struct fors_error error;

	if (!engine) {
		fors_log_error(&osm->log, FORS_F_START, "out of memory");
		return NULL;
	}
	engine->osm = osm;
	engine->tables_ms = -1;
	engine->spare = fors_job_new(FORS_JOB_ROUTED);
	engine->is_fresh = true;
	load_settings(engine);
	if (fors_drain_init(&engine->drain, &error) || start(engine, &error)) {
		fors_log_error(&osm->log, FORS_F_START, "%s", error.text);
		fors_engine_free(engine);
		return NULL;
	}
	address_outbox(engine);
	return engine;
}

void fors_engine_free(struct fors_engine *engine)
{
	if (!engine)
		return;
	fors_worker_stop(engine->worker);
	fors_outbox_stop(engine->outbox);
	fors_job_free(engine->spare);
	fors_drain_clear(&engine->drain);
	fors_folder_clear(&engine->folder);
	fors_kept_close(&engine->kept);
	fors_settings_free(engine->settings);
	free(engine);
}
