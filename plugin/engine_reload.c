/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an administrator may change while opensm runs, looked for in each heavy sweep before the fabric is routed:
 * fors.conf and the files that it names, requests to forget.
 */
#include "engine_inside.h"

#include <string.h>

#include "keeper/base/digest.h"
#include "log.h"
#include "opensm.h"
#include "snapshot.h"

/* The state folder stays where it was when opensm started: say so, once, to whom wants it elsewhere. */
static void tell_state_dir(const struct fors_engine *engine, const char *wanted)
{
	const char *before = engine->settings ? engine->settings->state_dir : NULL;

	if (wanted && engine->folder.parent && strcmp(wanted, engine->folder.parent) &&
	    fors_text_changed(before, wanted))
		fors_log_error(&engine->osm->log, FORS_F_CONFIG,
			       "state_dir: a change needs a restart of opensm; the state folder stays in %.200s",
			       engine->folder.parent);
}

/* Say it once when a file begins to hang, and once when all answer. */
static void tell_trouble(struct fors_engine *engine)
{
	const char *trouble = fors_loader_trouble(engine->loader);

	if (trouble && !engine->is_told)
		fors_log_error(&engine->osm->log, FORS_F_HANGS, "%s%s", trouble,
			       engine->settings ? "; the settings of before stay in force" : "");
	if (!trouble && engine->is_told)
		fors_log_info(&engine->osm->log, "fors.conf and the files that it names answer again");
	engine->is_told = trouble;
}

/* A slip in fors.conf must not cost the routes of a running fabric. */
static void refuse(struct fors_engine *engine, enum fors_load load, const struct fors_error *error)
{
	engine->is_short = !engine->settings && load == FORS_LOAD_BAD && error->code == FORS_ENOMEM;
	if (load == FORS_LOAD_BAD &&
	    (!engine->is_fresh || strcmp(engine->trouble, error->text))) /* which is in the log since the start */
		fors_log_error(&engine->osm->log, FORS_F_CONFIG, "%s%s", error->text,
			       engine->settings ? "; the settings of before stay in force" : "");
	memcpy(engine->trouble, error->text, sizeof(engine->trouble));
}

void fors_engine_load_settings(struct fors_engine *engine)
{
	const struct fors_sources sources = {.options = engine->osm->subn.opt.event_plugin_options,
					     .root_guid_file = engine->osm->subn.opt.root_guid_file,
					     .cn_guid_file = engine->osm->subn.opt.cn_guid_file};
	struct fors_settings *settings = NULL;
	struct fors_error error;
	enum fors_load load = fors_loader_load(engine->loader, &sources, &settings, &error);

	tell_trouble(engine);
	if (load == FORS_LOAD_BAD || load == FORS_LOAD_LATE) {
		refuse(engine, load, &error);
		return;
	}
	engine->is_short = false;
	engine->trouble[0] = '\0';
	if (load == FORS_LOAD_SAME)
		return;
	tell_state_dir(engine, settings->state_dir);
	fors_settings_free(engine->settings);
	engine->settings = settings;
}

/*
 * OpenSM's unicast cache would bring back tables that know nothing of cables drained since, of homes ranked, of entries
 * for jobs, nor of a subnet manager that has started: it looks at cables only, and the spines would never get their ways
 * to that manager. Nor of a leaf lost where packets turned.
 */
static void forget_cache(struct fors_engine *engine, bool is_needed)
{
	struct osm_opensm *osm = engine->osm;

	if (!osm->subn.opt.use_ucast_cache)
		return;
	cl_plock_excl_acquire(&osm->lock);
	if (is_needed || (fors_engine_is_routing(engine) && fors_snapshot_managers(&osm->subn) != engine->managers))
		osm_ucast_cache_invalidate(&osm->sm.ucast_mgr);
	cl_plock_release(&osm->lock);
}

void fors_engine_address_outbox(struct fors_engine *engine)
{
	const struct fors_settings *settings = engine->settings;
	struct fors_error error;

	if (engine->outbox && settings &&
	    fors_outbox_set(engine->outbox,
			    &(struct fors_outbox_request){settings->publish_dir, settings->publish_command,
							  settings->publish_seconds},
			    &error))
		fors_log_error(&engine->osm->log, FORS_F_MEMORY,
			       "publish_dir and publish_command stay as they were: %s", error.text);
}

/* As often as it may have been read anew. */
static void refer_names(struct fors_engine *engine)
{
	struct fors_namebook *names;

	if (fors_namebook_copy(engine->settings->reference_names, &names, NULL))
		fors_log_error(&engine->osm->log, FORS_F_MEMORY,
			       "out of memory: the names of the reference fabric are read at the next sweep");
	else
		fors_worker_refer(engine->worker, names);
}

/* The worker knows whose names are whose: also by the reference fabric, and what an administrator wants forgotten. */
static void tell_of_names(struct fors_engine *engine)
{
	const uint64_t *guid;
	size_t count;

	if (engine->settings->reference_names)
		refer_names(engine);
	fors_kept_strangers(&engine->kept, &guid, &count);
	if (count)
		fors_worker_forget_names(engine->worker, guid, count);
}

void fors_engine_reload(struct fors_engine *engine)
{
	struct fors_error error;
	bool was_wanted = engine->settings && fors_drain_is_wanted(engine->settings);

	if (!engine->loader)
		return; /* opensm ends */
	fors_engine_load_settings(engine);
	engine->is_fresh = false;
	fors_kept_begin(&engine->kept); /* an order that comes late begins with the reference, too */
	if (engine->settings && fors_kept_refer(&engine->kept, engine->settings->reference, &error))
		fors_log_error(&engine->osm->log, FORS_F_MEMORY, "the order stays as it was: %s", error.text);
	if (engine->worker && engine->settings && engine->settings->jobs_file)
		tell_of_names(engine);
	fors_engine_address_outbox(engine);
	forget_cache(
		engine,
		engine->is_cache_old || engine->rehome.armed || engine->rehome.is_free || was_wanted ||
			(engine->settings && fors_drain_is_wanted(engine->settings)) ||
			(engine->settings && engine->settings->degraded == FORS_SLOW_AUTO && engine->drain.has_slow) ||
			(engine->settings && (engine->settings->job_index || engine->settings->job_routes)));
}
