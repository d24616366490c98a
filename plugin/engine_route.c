/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The routing callback, under OpenSM's exclusive lock: copy the subnet, have the keeper make the tables, a millisecond
 * or so, and hand OpenSM what it sends to the switches. Whatever fors cannot do it declines, and OpenSM asks the next
 * engine of its list.
 */
#include "engine_inside.h"

#include "keeper/base/clock.h"
#include "opensm.h"
#include "snapshot.h"

static enum fors_err fill_tables(struct fors_engine *engine, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_snapshot_net(&engine->osm->subn, &look->net, error);

	if (!err)
		err = fors_keeper_look(engine->keeper, look, FORS_TABLES_NONE, error);
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

	if (fors_keeper_is_shadow(engine->keeper))
		return fors_engine_decline_shadow(engine);
	look = fors_keeper_new_look(engine->keeper, FORS_LOOK_ROUTED);
	engine->is_cache_old = false;
	engine->awaited = 0;
	if (!fors_keeper_settings(engine->keeper)) {
		fors_keeper_decline(engine->keeper, look, FORS_F_CONFIG, fors_keeper_trouble(engine->keeper));
		return -1;
	}
	err = look ? fill_tables(engine, look, &error) : fors_fail_memory(&error);
	if (err) {
		fors_keeper_decline(engine->keeper, look, fors_code_of(err), error.text);
		return -1;
	}
	look->is_active = fors_engine_is_active(engine, look);
	engine->awaited = fors_keeper_made(engine->keeper, look, start);
	return 0;
}
