/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an administrator may change while opensm runs, looked for in each heavy sweep before the fabric is routed.
 */
#include "engine_inside.h"

#include "opensm.h"
#include "snapshot.h"

struct fors_sources fors_engine_sources(const struct osm_opensm *osm)
{
	return (struct fors_sources){.options = osm->subn.opt.event_plugin_options,
				     .root_guid_file = osm->subn.opt.root_guid_file,
				     .cn_guid_file = osm->subn.opt.cn_guid_file};
}

/*
 * OpenSM's unicast cache would bring back tables that know nothing of cables drained since, of homes ranked, of entries
 * for jobs, nor of a subnet manager that has started: it looks at cables only, and the spines would never get their ways
 * to that manager. Nor of a leaf lost where packets turned.
 */
static void forget_cache(struct fors_engine *engine)
{
	struct osm_opensm *osm = engine->osm;
	bool is_needed = engine->is_cache_old || fors_daemon_wants_fresh(engine->daemon);

	if (!osm->subn.opt.use_ucast_cache || fors_daemon_is_shadow(engine->daemon))
		return;
	cl_plock_excl_acquire(&osm->lock);
	if (is_needed || (fors_engine_is_routing(engine) && fors_snapshot_managers(&osm->subn) != engine->managers))
		osm_ucast_cache_invalidate(&osm->sm.ucast_mgr);
	cl_plock_release(&osm->lock);
}

void fors_engine_reload(struct fors_engine *engine)
{
	struct fors_sources sources = fors_engine_sources(engine->osm);

	if (engine->is_stopped)
		return;
	fors_daemon_reload(engine->daemon, &sources);
	forget_cache(engine);
}
