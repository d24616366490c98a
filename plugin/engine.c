/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: under OpenSM's lock do only what must be done there - copy the subnet, fill
 * the tables, a millisecond or so - and leave all that may take longer to the worker.
 *
 * This file starts and ends the engine, and has what OpenSM and the worker call of it. engine_route.c fills tables,
 * engine_observe.c looks at what became of them, both by engine_understand.c; engine_reload.c reads what the
 * administrator wants.
 *
 * When memory runs out another engine routes this sweep, readers are told (a job is kept for that), and
 * OpenSM is asked to make its next sweep a heavy one, so that fors does not wait for the next failure.
 */
#include "engine_inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "keeper/base/digest.h"
#include "log.h"
#include "opensm.h"

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

struct fors_look *fors_engine_take_job(struct fors_engine *engine, enum fors_look_kind kind)
{
	struct fors_look *job = fors_look_new(kind);

	if (!engine->spare && job)
		engine->spare = fors_look_new(kind);
	if (!job && engine->spare) {
		job = engine->spare;
		job->kind = kind;
		engine->spare = NULL;
		engine->is_short = true;
	}
	if (job && engine->settings) {
		memcpy(job->fabric_name, engine->settings->fabric_name, sizeof(job->fabric_name));
		snprintf(job->jobs_file, sizeof(job->jobs_file), "%s",
			 engine->settings->jobs_file ? engine->settings->jobs_file : "");
		job->jobs_move = engine->settings->jobs_move;
		job->job_index = engine->settings->job_index;
		job->job_routes = engine->settings->job_routes;
		job->most_bytes = (uint64_t)engine->settings->plan_memory << 20;
	}
	return job;
}

bool fors_engine_is_routing(const struct fors_engine *engine)
{
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;

	return engine->settings && used && used->context == engine;
}

/* For the worker, and for those who read files, from their threads: a heavy sweep, as SIGHUP starts it. */
static void sweep(void *context)
{
	struct osm_opensm *osm = context;

	osm->subn.force_heavy_sweep = TRUE;
	osm_opensm_sweep(osm);
}

/*
 * OpenSM's own hop matrices: > 0 asks for them. Its multicast trees are made by them, and its unicast cache keeps them for
 * routes that it makes itself; our tables are not. Without both nobody reads them: they stay empty, which OpenSM takes for
 * "no path", and the next engine of the list builds its own.
 */
static int build_lid_matrices(void *context)
{
	const struct fors_engine *engine = context;
	const osm_subn_opt_t *opt = &engine->osm->subn.opt;

	return !opt->disable_multicast || opt->use_ucast_cache;
}

/* OpenSM frees the engines before it deletes the plugin: the worker must not outlive this. */
static void destroy(void *context)
{
	struct fors_engine *engine = context;

	fors_worker_stop(engine->worker);
	engine->worker = NULL;
	fors_advisor_stop(engine->advisor);
	engine->advisor = NULL;
	fors_outbox_stop(engine->outbox);
	engine->outbox = NULL;
	fors_loader_stop(engine->loader);
	engine->loader = NULL;
	fors_kept_stop(&engine->kept);
}

int fors_engine_setup(struct osm_routing_engine *routing, struct osm_opensm *osm)
{
	routing->build_lid_matrices = build_lid_matrices;
	routing->ucast_build_fwd_tables = fors_engine_build_tables;
	routing->destroy = destroy;
	return 0;
}

static enum fors_err start(struct fors_engine *engine, struct fors_error *error)
{
	struct fors_worker_setup setup = {.log = &engine->osm->log,
					  .folder = &engine->folder,
					  .mastership = mastership,
					  .sweep = sweep,
					  .context = engine->osm,
					  .opensm = OSM_VERSION};
	struct fors_kept_setup kept = {.log = setup.log, .folder = setup.folder, .news = sweep, .context = engine->osm};
	const char *state_dir = engine->settings ? engine->settings->state_dir : NULL;
	enum fors_err err =
		fors_folder_init(&engine->folder, state_dir, cl_ntoh64(engine->osm->subn.sm_port_guid), error);

	if (!err)
		err = fors_kept_open(&engine->kept, &kept, error);
	if (!err)
		err = fors_outbox_start(&engine->osm->log, &engine->folder, &engine->outbox, error);
	if (!err)
		err = fors_advisor_start(&engine->osm->log, &engine->advisor, error);
	setup.outbox = engine->outbox;
	setup.advisor = engine->advisor;
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
	engine->tables_ms = engine->check_ms = -1;
	engine->told_left = FORS_DIGEST_EMPTY;
	engine->spare = fors_look_new(FORS_LOOK_ROUTED);
	engine->is_fresh = true;
	if (fors_loader_start(sweep, osm, 0, &engine->loader, &error)) {
		fors_log_error(&osm->log, FORS_F_START, "%s", error.text);
		fors_engine_free(engine);
		return NULL;
	}
	fors_engine_load_settings(engine);
	if (fors_drain_init(&engine->drain, &error) || start(engine, &error)) {
		fors_log_error(&osm->log, FORS_F_START, "%s", error.text);
		fors_engine_free(engine);
		return NULL;
	}
	fors_engine_address_outbox(engine);
	return engine;
}

void fors_engine_free(struct fors_engine *engine)
{
	if (!engine)
		return;
	fors_worker_stop(engine->worker);
	fors_advisor_stop(engine->advisor);
	fors_outbox_stop(engine->outbox);
	fors_loader_stop(engine->loader);
	fors_look_free(engine->spare);
	fors_claim_drop(engine->claim);
	fors_drain_clear(&engine->drain);
	fors_folder_clear(&engine->folder);
	fors_kept_close(&engine->kept);
	fors_settings_free(engine->settings);
	free(engine);
}
