/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another engine routes, and schedules are wanted over its tables too (schedule_over = any): what the worker has to
 * know for that. Who routes makes no difference, nor whether fors is one of OpenSM's engines at all: events come to
 * every plugin.
 *
 * The tables are copied when a sweep is complete, as those of fors are. Until then two things tell that they are not
 * what they were: OpenSM's report of the first block that a switch confirmed - of which only a note is taken, for
 * OpenSM's lock is held - and a look at all of them when routing is done, for there are no such reports in the first
 * sweep of a master.
 *
 * Service levels. The engine that keeps one for each path is asked as OpenSM's SA asks it for a path record: with the
 * level of the default partition, under the lock. That is a call for each pair of servers, so the lock is given back
 * every millisecond; nothing is routed meanwhile, for that is this thread's work. The lock is held exclusively, because
 * torus-2QoS writes down what it looked up, and dfsssp draws lots among the lanes that it has spread a layer over: it
 * gets the same lots for each server in each sweep, else no two sweeps would show the same levels.
 */
#include "engine_inside.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/schedule/schedule.h"
#include "daemon/base/clock.h"
#include "opensm.h"
#include "snapshot.h"

#define HOLD_MS 1.0 /* OpenSM's lock, at a time */

bool fors_engine_is_foreign(const struct fors_engine *engine)
{
	const struct fors_settings *settings = fors_daemon_settings(engine->daemon);
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;

	return settings && settings->is_over_any && !fors_daemon_is_shadow(engine->daemon) && used &&
	       used->context != engine;
}

/* What is compared: the tables, and who made them. Under OpenSM's lock. */
static uint64_t digest_tables(const struct fors_engine *engine)
{
	return fors_snapshot_digest(&engine->osm->subn, engine->osm->routing_engine_used->name);
}

enum fors_err fors_engine_begin_over(struct fors_engine *engine, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_daemon_begin_foreign(engine->daemon, look, error);

	engine->over_digest = digest_tables(engine);
	if (!err)
		__atomic_store_n(&engine->is_watching, true, __ATOMIC_SEQ_CST);
	return err;
}

void fors_engine_note_change(struct fors_engine *engine)
{
	if (__atomic_exchange_n(&engine->is_watching, false, __ATOMIC_SEQ_CST))
		fors_daemon_note_change(engine->daemon, "reported by a switch");
}

void fors_engine_check_tables(struct fors_engine *engine)
{
	struct osm_opensm *osm = engine->osm;
	bool is_changed;

	if (engine->is_stopped || !fors_engine_is_foreign(engine))
		return;
	cl_plock_acquire(&osm->lock);
	is_changed = engine->over_digest != digest_tables(engine);
	cl_plock_release(&osm->lock);
	if (!is_changed)
		return;
	__atomic_store_n(&engine->is_watching, false, __ATOMIC_SEQ_CST);
	fors_daemon_note_change(engine->daemon, "found when routing was done");
}

/* The level that OpenSM's SA starts from. Under OpenSM's lock. */
static uint8_t default_level(const struct osm_subn *subn)
{
	cl_map_item_t *item = cl_qmap_get(&subn->prtn_pkey_tbl, IB_DEFAULT_PARTIAL_PKEY);

	return item == cl_qmap_end(&subn->prtn_pkey_tbl) ? OSM_DEFAULT_SL : ((osm_prtn_t *)item)->sl;
}

/* The levels from one server to all others. Under OpenSM's lock, exclusively. */
static void ask_for_server(const struct osm_routing_engine *used, struct fors_levels *levels, uint32_t server)
{
	uint8_t *sl = levels->sl + (size_t)server * levels->nlids;

	if (used->type == OSM_ROUTING_ENGINE_TYPE_DFSSSP)
		srand(1 + server);
	for (uint32_t column = 0; column < levels->nlids; column++) {
		uint16_t lid = levels->lid[column];

		if (levels->server_of[lid] == server)
			continue;
		sl[column] = used->path_sl(used->context, levels->all, cl_hton16(levels->base[server]), cl_hton16(lid));
		if (sl[column] > 15)
			sl[column] = FORS_NO_SL;
	}
}

/* All of them, the lock held a millisecond at a time. The longest it was held, in milliseconds. */
static double ask_for_all(struct osm_opensm *osm, struct fors_levels *levels)
{
	const struct osm_routing_engine *used = osm->routing_engine_used;
	double longest = 0;

	for (uint32_t server = 0; server < levels->nservers;) {
		double start, held = 0;

		cl_plock_excl_acquire(&osm->lock);
		start = fors_clock_exact_ms();
		while (server < levels->nservers && held < HOLD_MS) {
			ask_for_server(used, levels, server++);
			held = fors_clock_exact_ms() - start;
		}
		cl_plock_release(&osm->lock);
		longest = held > longest ? held : longest;
		sched_yield();
	}
	if (used->type == OSM_ROUTING_ENGINE_TYPE_DFSSSP)
		srand((unsigned)fors_clock_unix_ms()); /* as it does itself */
	return longest;
}

static enum fors_err ask_levels(struct fors_engine *engine, struct fors_look *look, struct fors_error *error)
{
	struct osm_opensm *osm = engine->osm;
	bool has_paths = osm->routing_engine_used->path_sl;
	double start = fors_clock_exact_ms(), longest;
	struct fors_levels *levels;
	enum fors_err err = fors_daemon_levels(engine->daemon, look, has_paths, &levels, error);

	if (err || !levels)
		return err;
	cl_plock_acquire(&osm->lock);
	levels->all = default_level(&osm->subn);
	cl_plock_release(&osm->lock);
	if (!has_paths)
		return FORS_OK;
	longest = ask_for_all(osm, levels);
	fors_log_info(&engine->log,
		      "service levels of %u x %u paths asked of '%s' in %.1f ms, OpenSM's lock held %.2f ms at a time",
		      levels->nservers, levels->nlids, look->tables_by, fors_clock_exact_ms() - start, longest);
	return FORS_OK;
}

enum fors_err fors_engine_end_over(struct fors_engine *engine, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_daemon_look(engine->daemon, look, FORS_TABLES_FOREIGN, error);

	return err || look->kind != FORS_LOOK_INSTALLED ? err : ask_levels(engine, look, error);
}
