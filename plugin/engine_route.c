/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The routing callback, under OpenSM's exclusive lock: copy the subnet, have the daemon make the tables, a millisecond
 * or so, and hand OpenSM what it sends to the switches. Whatever fors cannot do it declines, and OpenSM asks the next
 * engine of its list.
 */
#include "engine_inside.h"

#include "daemon/base/clock.h"
#include "opensm.h"
#include "snapshot.h"

static enum fors_err fill_tables(struct fors_engine *engine, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_snapshot_net(&engine->osm->subn, &look->net, error);

	if (!err)
		err = fors_daemon_look(engine->daemon, look, FORS_TABLES_NONE, error);
	if (err)
		return err;
	fors_snapshot_store(&engine->osm->subn, look->lfts);
	engine->managers = fors_snapshot_managers(&engine->osm->subn);
	return FORS_OK;
}

int fors_engine_build_tables(void *context)
{
	struct fors_engine *engine = context;
	double start = fors_clock_exact_ms();
	struct fors_look *look;
	struct fors_error error;
	enum fors_err err;

	if (fors_daemon_is_shadow(engine->daemon))
		return fors_engine_decline_shadow(engine);
	look = fors_daemon_new_look(engine->daemon, FORS_LOOK_ROUTED);
	engine->is_cache_old = false;
	engine->awaited = 0;
	if (!fors_daemon_settings(engine->daemon)) {
		fors_daemon_decline(engine->daemon, look, FORS_F_CONFIG, fors_daemon_trouble(engine->daemon));
		return -1;
	}
	err = look ? fill_tables(engine, look, &error) : fors_fail_memory(&error);
	if (err) {
		fors_daemon_decline(engine->daemon, look, fors_code_of(err), error.text);
		return -1;
	}
	look->is_active = fors_engine_is_active(engine, look);
	engine->awaited = fors_daemon_made(engine->daemon, look, start);
	return 0;
}
