/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shadow mode: when a sweep is complete the subnet and its tables are copied under OpenSM's lock, shared, and handed to the
 * daemon. That is all: nothing is filled in, no sweep is asked for, no cache dropped. Named as an engine fors declines.
 */
#include "engine_inside.h"

#include <stdio.h>

#include "opensm.h"
#include "snapshot.h"

/* What a sweep left, copied. */
struct sight {
	struct fors_net *net;
	struct fors_lfts *present;
	char tables_by[48];
	const char *trouble;
};

static enum fors_err copy(const struct fors_engine *engine, struct sight *sight, struct fors_error *error)
{
	const struct osm_opensm *osm = engine->osm;
	enum fors_err err = fors_snapshot_net(&osm->subn, &sight->net, error);

	sight->trouble = fors_engine_incomplete(osm);
	if (osm->routing_engine_used)
		snprintf(sight->tables_by, sizeof(sight->tables_by), "%s", osm->routing_engine_used->name);
	if (!err && !sight->trouble)
		err = fors_snapshot_tables(&osm->subn, sight->net, &sight->present, error);
	return err;
}

void fors_engine_glance(struct fors_engine *engine)
{
	struct osm_opensm *osm = engine->osm;
	struct sight sight = {.net = NULL};
	struct fors_error error;
	enum fors_err err;

	if (engine->is_stopped)
		return;
	cl_plock_acquire(&osm->lock);
	err = copy(engine, &sight, &error);
	cl_plock_release(&osm->lock);
	if (!err) {
		fors_daemon_glance(engine->daemon, sight.net, sight.present, sight.tables_by,
				   sight.trouble ? sight.trouble : "");
		return;
	}
	fors_log_error(&engine->log, fors_code_of(err), "shadow: %s; this sweep is not looked at", error.text);
	fors_net_free(sight.net);
}

int fors_engine_decline_shadow(struct fors_engine *engine)
{
	fors_log_error(&engine->log, FORS_F_CONFIG,
		       "fors_mode = shadow: fors does not route; take it out of routing_engine, or set fors_mode = on "
		       "and restart opensm; the next routing engine takes over");
	return -1;
}
