/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what OpenSM shows (a net) to what fors can reason about (a fabric): places learnt, what is drained marked,
 * and the settings that a plan depends on. Both who fills tables and who looks at what the switches hold begin here.
 */
#include "engine_inside.h"

#include <string.h>

#include "core/fabric/places_pods.h"
#include "keeper/look/absent.h"
#include "opensm.h"

enum fors_err fors_engine_build_fabric(const struct fors_engine *engine, const struct fors_places *places,
				       const struct fors_net *net, struct fors_fabric **fabric,
				       struct fors_error *error)
{
	return fors_fabric_build(net, places, fors_settings_participants(engine->settings), fabric, error);
}

/* The fabric that job->net shows, perhaps for the first time; learnt if fors can route it, else only looked at. */
static enum fors_err learn_fabric(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	const struct fors_settings *settings = engine->settings;
	struct fors_kept *kept = &engine->kept;
	enum fors_err err = fors_kept_learn(kept, job->net, settings->root, settings->nroots, error);

	if (!err && fors_places_known(kept->draft))
		return fors_engine_understand_pods(engine, job, error);
	if (!err)
		err = fors_engine_build_fabric(engine, kept->draft, job->net, &job->fabric, error);
	if (err || fors_fabric_connected(job->fabric, NULL))
		return err;
	if (job->kind == FORS_LOOK_ROUTED && /* only when the tables follow at once */
	    (fors_kept_forget(kept) || fors_engine_rank(engine, job->fabric))) {
		fors_fabric_free(job->fabric);
		job->fabric = NULL;
		err = fors_engine_build_fabric(engine, kept->draft, job->net, &job->fabric, error);
	}
	if (!err)
		fors_kept_accept(kept);
	return err;
}

/* What hangs, or is refused, is a warning for as long as it is so. */
static void warn_of_files(const struct fors_engine *engine, struct fors_warnings *warnings)
{
	const char *file = engine->loader ? fors_loader_trouble(engine->loader) : NULL;
	const char *folder = fors_kept_trouble(&engine->kept);

	if (file)
		fors_warn(warnings, "%s; the settings of before stay in force", file);
	else if (*engine->trouble)
		fors_warn(warnings, "%.330s; the settings of before stay in force", engine->trouble);
	if (folder)
		fors_warn(warnings, "%s; the sweeps go on without the state folder", folder);
}

/* Who of those listed is missing, and what is drained. */
static enum fors_err look_at_fabric(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	const struct fors_settings *settings = engine->settings;
	struct fors_cabling cabling = fors_fabric_cabling(job->fabric);
	enum fors_err err = fors_drain_look(&engine->drain, settings, cabling, job->kind == FORS_LOOK_ROUTED,
					    &job->fabric->held_until_ms, error);

	if (!err)
		err = fors_drain_apply(&engine->drain, settings, job->fabric, true, &job->slow, &job->warnings, error);
	if (err)
		return err;
	if (fors_drain_tables_first(settings, job->fabric))
		fors_drained_route_held(job->fabric);
	fors_drain_tell(&engine->drain, &engine->osm->log, cabling, &job->slow, &job->warnings);
	return fors_absent_warn(fors_settings_participants(settings),
				settings->participants_file ? "participants_file" : "cn_guid_file", job->fabric,
				&job->warnings, error);
}

enum fors_err fors_engine_understand(struct fors_engine *engine, struct fors_look *job, struct fors_error *error)
{
	const struct fors_settings *settings = engine->settings;
	enum fors_err err;

	engine->drain.is_given = job->kind != FORS_LOOK_ROUTED && !engine->has_built;
	err = learn_fabric(engine, job, error);
	memcpy(job->method, settings->method, sizeof(job->method));
	job->ilp_seconds = settings->ilp_seconds;
	if (!err && !job->pods)
		err = look_at_fabric(engine, job, error);
	engine->drain.has_slow = job->slow.ncables;
	warn_of_files(engine, &job->warnings);
	if (fors_settings_participants(settings))
		job->chosen_by = settings->participants_file ? "participants_file" : "cn_guid_file";
	job->due_ms = engine->drain.due_ms;
	return err;
}
