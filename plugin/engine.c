/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: under OpenSM's lock do only what must be done there - copy the subnet, fill
 * the tables, a millisecond or so - and leave all that may take longer to the worker.
 *
 * This file starts and ends the engine, and has what OpenSM and the daemon call of it. engine_route.c has tables filled,
 * engine_observe.c looks at what became of them, engine_reload.c has settings read again.
 */
#include "engine_inside.h"

#include <stdlib.h>

#include "opensm.h"
#include "osm_log.h"

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

/*
 * Likewise. A light sweep reports nothing, but it asks all switches: what is sent and waits for an answer is counted. What
 * answers others' requests - a standby asks every few seconds - does not.
 */
static void looking(void *context, struct fors_looking *now)
{
	const struct osm_opensm *osm = context;

	now->is_off = !__atomic_load_n(&osm->subn.sweeping_enabled, __ATOMIC_RELAXED);
	now->interval_ms = 1000ULL * __atomic_load_n(&osm->subn.opt.sweep_interval, __ATOMIC_RELAXED);
	now->asked = (uint32_t)__atomic_load_n(&osm->stats.qp0_mads_sent, __ATOMIC_RELAXED) -
		     (uint32_t)__atomic_load_n(&osm->stats.qp0_unicasts_sent, __ATOMIC_RELAXED);
}

bool fors_engine_is_routing(const struct fors_engine *engine)
{
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;

	return fors_daemon_settings(engine->daemon) && used && used->context == engine;
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

	engine->is_stopped = true;
	fors_daemon_note_end(engine->daemon, engine->osm->subn.opt.config_file);
	fors_daemon_stop(engine->daemon);
}

int fors_engine_setup(struct osm_routing_engine *routing, struct osm_opensm *osm)
{
	routing->build_lid_matrices = build_lid_matrices;
	routing->ucast_build_fwd_tables = fors_engine_build_tables;
	routing->destroy = destroy;
	return 0;
}

struct fors_engine *fors_engine_new(struct osm_opensm *osm)
{
	struct fors_log log = fors_osm_log(&osm->log);
	struct fors_engine *engine = calloc(1, sizeof(*engine));
	struct fors_daemon_setup setup = {.log = log,
					  .sources = fors_engine_sources(osm),
					  .guid = cl_ntoh64(osm->subn.sm_port_guid),
					  .source = {.version = OSM_VERSION,
						     .mastership = mastership,
						     .looking = looking,
						     .sweep = sweep,
						     .context = osm}};
	struct fors_error error;

	if (!engine || fors_daemon_start(&setup, &engine->daemon, &error)) {
		fors_log_error(&log, FORS_F_START, "%s", engine ? error.text : "out of memory");
		free(engine);
		return NULL;
	}
	engine->osm = osm;
	engine->log = log;
	return engine;
}

void fors_engine_free(struct fors_engine *engine)
{
	if (engine)
		fors_daemon_free(engine->daemon);
	free(engine);
}
