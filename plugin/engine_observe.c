/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a sweep is complete the fabric is looked at again, instead of being remembered from the routing callback: with
 * use_ucast_cache OpenSM may have put tables together itself, and another engine may have done the routing.
 */
#include "engine_inside.h"

#include <stdio.h>

#include "daemon/base/clock.h"
#include "opensm.h"
#include "snapshot.h"

/* What the switches hold now, in a new look; under OpenSM's lock. */
static enum fors_err look_at_switches(const struct fors_engine *engine, struct fors_look *look,
				      struct fors_error *error)
{
	const struct osm_subn *subn = &engine->osm->subn;
	const char *reason = fors_engine_incomplete(engine->osm);
	enum fors_err err = fors_snapshot_net(subn, &look->net, error);

	if (!err)
		err = fors_snapshot_tables(subn, look->net, &look->lfts, error);
	if (reason) {
		look->kind = FORS_LOOK_INCOMPLETE;
		snprintf(look->reason, sizeof(look->reason), "%s", reason);
	}
	return err;
}

/* Somebody else routes: nothing to look at, but something to say. */
static void note_who_routes(const struct fors_engine *engine, struct fors_look *look)
{
	const struct osm_routing_engine *used = engine->osm->routing_engine_used;
	const char *declined = fors_daemon_declined(engine->daemon);

	look->kind = FORS_LOOK_DECLINED;
	if (*declined)
		snprintf(look->reason, sizeof(look->reason), "%s", declined);
	else if (used)
		snprintf(look->reason, sizeof(look->reason), "the fabric is routed by '%.40s'", used->name);
	else
		snprintf(look->reason, sizeof(look->reason), "no routing engine has routed this fabric");
}

/* Old tables that OpenSM's unicast cache brought back, and are wrong: they have to be made anew. */
static enum fors_err finish_ours(struct fors_engine *engine, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_daemon_look(engine->daemon, look, FORS_TABLES_OURS, error);

	if (!err && look->is_wrong && engine->osm->subn.opt.use_ucast_cache && !look->number) {
		engine->is_cache_old = true;
		look->due_ms = fors_clock_ms();
	}
	return err;
}

static enum fors_err finish_over(struct fors_engine *engine, struct fors_look *look, double held,
				 struct fors_error *error)
{
	fors_log_info(&engine->log, "tables of %u switches by '%s' copied, OpenSM's lock held %.2f ms",
		      look->lfts->nswitches, look->tables_by, held);
	return fors_engine_end_over(engine, look, error);
}

/* What there is to tell the daemon: what the switches hold, and whose tables they are. */
static enum fors_err look_again(struct fors_engine *engine, struct fors_look *look, struct fors_error *error)
{
	struct osm_opensm *osm = engine->osm;
	enum fors_err err = FORS_OK;
	bool is_ours, is_foreign;
	double held;

	cl_plock_acquire(&osm->lock);
	held = fors_clock_exact_ms();
	is_ours = fors_engine_is_routing(engine);
	is_foreign = fors_engine_is_foreign(engine);
	if (osm->routing_engine_used)
		snprintf(look->tables_by, sizeof(look->tables_by), "%s", osm->routing_engine_used->name);
	if (is_ours || is_foreign)
		err = look_at_switches(engine, look, error);
	else
		note_who_routes(engine, look);
	if (is_foreign && !err)
		err = fors_engine_begin_over(engine, look, error);
	held = fors_clock_exact_ms() - held;
	cl_plock_release(&osm->lock);
	if (err || (!is_ours && !is_foreign))
		return err;
	return is_ours ? finish_ours(engine, look, error) : finish_over(engine, look, held, error);
}

void fors_engine_note_sweep(struct fors_engine *engine, enum fors_sweep sweep)
{
	engine->awaited = 0;
	fors_daemon_note_sweep(engine->daemon, sweep);
}

void fors_engine_observe(struct fors_engine *engine)
{
	struct fors_look *look;
	struct fors_error error;
	enum fors_err err;

	if (engine->is_stopped)
		return;
	if (fors_daemon_is_shadow(engine->daemon)) {
		fors_engine_glance(engine);
		return;
	}
	look = fors_daemon_new_look(engine->daemon, FORS_LOOK_INSTALLED);
	err = look ? look_again(engine, look, &error) : fors_fail_memory(&error);
	if (err)
		fors_log_error(&engine->log, fors_code_of(err), "%s; nothing is published", error.text);
	if (err && look) {
		look->kind = FORS_LOOK_DECLINED;
		snprintf(look->reason, sizeof(look->reason), "%s", error.text);
	}
	if (fors_daemon_ran_short(engine->daemon, err))
		engine->osm->subn.force_heavy_sweep = TRUE; /* as OpenSM's own threads ask for one: the next sweep */
	fors_daemon_end_sweep(engine->daemon);
	if (look)
		fors_daemon_submit(engine->daemon, look);
}
