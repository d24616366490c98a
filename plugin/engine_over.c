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
#include "keeper/base/clock.h"
#include "log.h"
#include "opensm.h"
#include "snapshot.h"

#define HOLD_MS 1.0 /* OpenSM's lock, at a time */

bool fors_engine_is_over(const struct fors_engine *engine)
{
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;

	return engine->settings && engine->settings->is_over_any && used && used->context != engine;
}

/* What is compared: the tables, and who made them. Under OpenSM's lock. */
static uint64_t digest_tables(const struct fors_engine *engine)
{
	return fors_snapshot_digest(&engine->osm->subn, engine->osm->routing_engine_used->name);
}

enum fors_err fors_engine_begin_over(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	job->tables_ms = -1; /* of the last ones that fors made */
	engine->over_digest = digest_tables(engine);
	if (fors_look_be_over(job, fors_settings_participants(engine->settings), error))
		return FORS_ENOMEM;
	job->over->changes = fors_worker_changes(engine->worker);
	__atomic_store_n(&engine->is_watching, true, __ATOMIC_SEQ_CST);
	return FORS_OK;
}

void fors_engine_note_change(struct fors_engine *engine)
{
	if (__atomic_exchange_n(&engine->is_watching, false, __ATOMIC_SEQ_CST))
		fors_worker_note_change(engine->worker, "reported by a switch");
}

void fors_engine_check_tables(struct fors_engine *engine)
{
	struct osm_opensm *osm = engine->osm;
	bool is_changed;

	if (!engine->worker || !fors_engine_is_over(engine))
		return;
	cl_plock_acquire(&osm->lock);
	is_changed = engine->over_digest != digest_tables(engine);
	cl_plock_release(&osm->lock);
	if (!is_changed)
		return;
	__atomic_store_n(&engine->is_watching, false, __ATOMIC_SEQ_CST);
	fors_worker_note_change(engine->worker, "found when routing was done");
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

/* More paths than can be asked for are no reason to have no plan: their levels are not known then. */
static enum fors_err ask_levels(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	struct osm_opensm *osm = engine->osm;
	const struct fors_participants *participants = fors_settings_participants(engine->settings);
	bool has_paths = osm->routing_engine_used->path_sl;
	double start = fors_clock_exact_ms(), longest;
	struct fors_levels *levels;
	enum fors_err err = fors_levels_new(job->net, participants, has_paths, &levels, error);

	if (err == FORS_ELIMIT) {
		fors_warn(&job->warnings, "service levels are not asked of '%s': %s", job->tables_by, error->text);
		return FORS_OK;
	}
	if (err)
		return err;
	if (participants && levels->nservers < participants->count)
		fors_warn(&job->warnings, "%zu of the %zu participants are no living server",
			  participants->count - levels->nservers, participants->count);
	cl_plock_acquire(&osm->lock);
	levels->all = default_level(&osm->subn);
	cl_plock_release(&osm->lock);
	job->over->levels = levels;
	if (!has_paths)
		return FORS_OK;
	longest = ask_for_all(osm, levels);
	fors_log_info(&osm->log,
		      "service levels of %u x %u paths asked of '%s' in %.1f ms, OpenSM's lock held %.2f ms at a time",
		      levels->nservers, levels->nlids, job->tables_by, fors_clock_exact_ms() - start, longest);
	return FORS_OK;
}

/* What fors.conf asks for, and fors can do with tables of its own only. */
static void warn_of_settings(const struct fors_engine *engine, struct fors_look *job)
{
	const struct fors_settings *settings = engine->settings;

	if (engine->declined[0])
		fors_warn(&job->warnings, "fors does not route: %s", engine->declined);
	if (fors_drain_is_wanted(settings) || settings->hold_down)
		fors_warn(&job->warnings, "'%s' routes: nothing is drained, excluded or held down", job->tables_by);
}

/*
 * Entries for LIDs that no port has are left out: tables that OpenSM's unicast cache brought back have some of servers
 * that are gone, and whoever reads tables would think them those of another fabric.
 */
enum fors_err fors_engine_forget_strangers(struct fors_look *job, struct fors_error *error)
{
	struct fors_lfts *lfts = job->lfts;
	bool *is_known = calloc(lfts->nlids + (size_t)1, sizeof(*is_known));

	if (!is_known)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < job->net->nports; i++) {
		const struct fors_port *port = &job->net->port[i];

		for (uint32_t lid = port->lid; port->lid && lid < lfts->nlids && lid < port->lid + (1u << port->lmc);
		     lid++)
			is_known[lid] = true;
	}
	for (size_t at = 0; at < (size_t)lfts->nswitches * lfts->nlids; at++)
		if (!is_known[at % lfts->nlids])
			lfts->port[at] = FORS_NO_PATH;
	free(is_known);
	return FORS_OK;
}

enum fors_err fors_engine_end_over(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	enum fors_err err = fors_engine_forget_strangers(job, error);

	warn_of_settings(engine, job);
	if (!err && job->kind == FORS_LOOK_INSTALLED)
		err = ask_levels(engine, job, error);
	if (!err)
		fors_look_seal(job);
	return err;
}
