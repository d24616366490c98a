/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one symbol that libfors.so exports. OpenSM finds it with dlsym(), compares the version with
 * its own by strcmp() - its structures change from release to release, so a plugin
 * is good for exactly one - and calls create() before any routing is set up.
 */
#include "config.h"

#include <stdint.h>

#include "engine.h"
#include "opensm.h"
#include "osm_log.h"

#ifndef FORS_OSM_VERSION /* tests build a plugin for another OpenSM */
#define FORS_OSM_VERSION OSM_VERSION
#endif

/*
 * Register the engine. Once it is registered NULL must not be returned: OpenSM would
 * unload this library and keep the engine in its list.
 */
static void *create(struct osm_opensm *osm)
{
	struct fors_engine *engine = fors_engine_new(osm);
	external_routing_engine_module_t module = {.name = "fors", .setup = fors_engine_setup, .context = engine};

	if (!engine)
		return NULL;
	if (osm_register_external_routing_engine(osm, &module, engine) != CL_SUCCESS) {
		fors_log_error(&engine->log, FORS_F_START, "OpenSM did not take the routing engine 'fors'");
		fors_engine_free(engine);
		return NULL;
	}
	fors_log_info(&engine->log, "%s, routing engine for %s", PACKAGE_STRING, osm->osm_version);
	return engine;
}

/* The engines are gone by now; ours has stopped the worker, if it was ever set up. */
static void delete (void *data)
{
	fors_engine_free(data);
}

/* Does OpenSM begin a heavy sweep for this trap? */
static bool is_of_change(const ib_mad_notice_attr_t *notice)
{
	uint16_t number = cl_ntoh16(notice->g_or_v.generic.trap_num);

	return ib_notice_is_generic(notice) &&
	       (number == SM_LINK_STATE_CHANGED_TRAP || number == SM_LOCAL_CHANGES_TRAP);
}

/*
 * Look at the event before anything else: some are reported while OpenSM's lock is held
 * (OSM_EVENT_ID_LFT_CHANGE), and the lock cannot be taken twice. Those of which we do more than take a note are not.
 */
static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	switch (event) {
	case OSM_EVENT_ID_TRAP: /* OpenSM's lock is held, and this is not the sweeper's thread */
		if (is_of_change(event_data))
			fors_engine_note_step(data, FORS_STEP_TRAP);
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		fors_engine_note_step(data, FORS_STEP_SWEEP);
		fors_engine_note_sweep(data, FORS_SWEEP_BEGINS);
		break;
	case OSM_EVENT_ID_STATE_CHANGE: /* the port is down, or another one is the master: the sweep goes no further */
		fors_engine_note_sweep(data, FORS_SWEEP_BROKEN_OFF);
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE: /* discovery is; what was asked for while it lasted, counts */
		fors_engine_note_step(data, FORS_STEP_DISCOVERED);
		fors_engine_reload(data);
		break;
	case OSM_EVENT_ID_SUBNET_UP:
		fors_engine_note_step(data, FORS_STEP_UP);
		fors_engine_observe(data);
		fors_engine_note_sweep(data, FORS_SWEEP_ENDS);
		break;
	case OSM_EVENT_ID_LFT_CHANGE: /* OpenSM's lock is held, and this is not the sweeper's thread */
		fors_engine_note_block(data);
		fors_engine_note_change(data);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE: /* of a sweep: SUBNET_UP will follow, when new links carry traffic too */
		if ((uintptr_t)event_data == UCAST_ROUTING_REROUTE) {
			fors_engine_observe(data);
			break;
		}
		fors_engine_note_step(data, FORS_STEP_CONFIRMED);
		fors_engine_check_tables(data);
		fors_engine_note_tables(data);
		break;
	default:
		break;
	}
}

osm_event_plugin_t osm_event_plugin = {
	.osm_version = FORS_OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
