/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an administrator may change while opensm runs, looked for in each heavy sweep before the fabric is routed:
 * fors.conf and the files that it names, requests to forget.
 */
#include "keeper_inside.h"

#include <string.h>

#include "keeper/base/digest.h"

/* The state folder stays where it was when opensm started: say so, once, to whom wants it elsewhere. */
static void tell_state_dir(struct fors_keeper *keeper, const char *wanted)
{
	const char *before = keeper->settings ? keeper->settings->state_dir : NULL;

	if (wanted && keeper->folder.parent && strcmp(wanted, keeper->folder.parent) &&
	    fors_text_changed(before, wanted))
		fors_log_error(&keeper->setup.log, FORS_F_CONFIG,
			       "state_dir: a change needs a restart of opensm; the state folder stays in %.200s",
			       keeper->folder.parent);
}

/* Say it once when a file begins to hang, and once when all answer. */
static void tell_trouble(struct fors_keeper *keeper)
{
	const char *trouble = fors_loader_trouble(keeper->loader);

	if (trouble && !keeper->is_told)
		fors_log_error(&keeper->setup.log, FORS_F_HANGS, "%s%s", trouble,
			       keeper->settings ? "; the settings of before stay in force" : "");
	if (!trouble && keeper->is_told)
		fors_log_info(&keeper->setup.log, "fors.conf and the files that it names answer again");
	keeper->is_told = trouble;
}

/* A slip in fors.conf must not cost the routes of a running fabric. */
static void refuse(struct fors_keeper *keeper, enum fors_load load, const struct fors_error *error)
{
	keeper->is_short = !keeper->settings && load == FORS_LOAD_BAD && error->code == FORS_ENOMEM;
	if (load == FORS_LOAD_BAD &&
	    (!keeper->is_fresh || strcmp(keeper->trouble, error->text))) /* which is in the log since the start */
		fors_log_error(&keeper->setup.log, FORS_F_CONFIG, "%s%s", error->text,
			       keeper->settings ? "; the settings of before stay in force" : "");
	memcpy(keeper->trouble, error->text, sizeof(keeper->trouble));
}

/*
 * Shadow mode is a matter of the start. A cable that came back is not held in a shadow: nobody sweeps when its time is over.
 */
static void set_mode(struct fors_keeper *keeper, const struct fors_sources *sources, struct fors_settings *settings)
{
	if (!keeper->has_mode)
		keeper->is_shadow = settings ? settings->is_shadow : fors_settings_wants_shadow(sources);
	if (!settings)
		return;
	if (settings->is_shadow != keeper->is_shadow &&
	    (!keeper->settings || keeper->settings->is_shadow != settings->is_shadow))
		fors_log_error(&keeper->setup.log, FORS_F_CONFIG,
			       "fors_mode: a change needs a restart of opensm; fors stays %s",
			       keeper->is_shadow ? "in shadow mode" : "switched on");
	if (keeper->is_shadow)
		settings->hold_down = 0;
}

void fors_keeper_load_settings(struct fors_keeper *keeper, const struct fors_sources *sources)
{
	struct fors_settings *settings = NULL;
	struct fors_error error;
	enum fors_load load = fors_loader_load(keeper->loader, sources, &settings, &error);

	tell_trouble(keeper);
	if (load == FORS_LOAD_BAD || load == FORS_LOAD_LATE) {
		refuse(keeper, load, &error);
		if (load == FORS_LOAD_BAD)
			set_mode(keeper, sources, NULL);
		return;
	}
	keeper->is_short = false;
	keeper->trouble[0] = '\0';
	if (load == FORS_LOAD_SAME)
		return;
	tell_state_dir(keeper, settings->state_dir);
	set_mode(keeper, sources, settings);
	fors_settings_free(keeper->settings);
	keeper->settings = settings;
}

bool fors_keeper_is_holder(struct fors_keeper *keeper)
{
	return !keeper->outbox || fors_outbox_is_holder(keeper->outbox);
}

void fors_keeper_address_outbox(struct fors_keeper *keeper)
{
	const struct fors_settings *settings = keeper->settings;
	struct fors_error error;

	if (keeper->outbox && settings &&
	    fors_outbox_set(keeper->outbox,
			    &(struct fors_outbox_request){settings->publish_dir, settings->publish_command,
							  settings->publish_seconds, keeper->setup.is_shared},
			    &error))
		fors_log_error(&keeper->setup.log, FORS_F_MEMORY,
			       "publish_dir and publish_command stay as they were: %s", error.text);
}

/* As often as it may have been read anew. */
static void refer_names(struct fors_keeper *keeper)
{
	struct fors_namebook *names;

	if (fors_namebook_copy(keeper->settings->reference_names, &names, NULL))
		fors_log_error(&keeper->setup.log, FORS_F_MEMORY,
			       "out of memory: the names of the reference fabric are read at the next sweep");
	else
		fors_worker_refer(keeper->worker, names);
}

/* The worker knows whose names are whose: also by the reference fabric, and what an administrator wants forgotten. */
static void tell_of_names(struct fors_keeper *keeper)
{
	const uint64_t *guid;
	size_t count;

	if (keeper->settings->reference_names)
		refer_names(keeper);
	fors_kept_strangers(&keeper->kept, &guid, &count);
	if (count)
		fors_worker_forget_names(keeper->worker, guid, count);
}

/* Do the settings ask for anything that tables depend on, and a memory of tables knows nothing of? */
static bool is_tuned(const struct fors_settings *settings)
{
	return settings && (fors_drain_is_wanted(settings) || settings->job_index || settings->job_routes);
}

bool fors_keeper_wants_fresh(const struct fors_keeper *keeper)
{
	return keeper->rehome.armed || keeper->rehome.is_free || keeper->was_tuned || is_tuned(keeper->settings) ||
	       (keeper->settings && keeper->settings->degraded == FORS_SLOW_AUTO && keeper->drain.has_slow);
}

void fors_keeper_reload(struct fors_keeper *keeper, const struct fors_sources *sources)
{
	struct fors_error error;

	keeper->was_tuned = keeper->settings && fors_drain_is_wanted(keeper->settings);
	if (!keeper->loader)
		return; /* it ends */
	fors_keeper_load_settings(keeper, sources);
	keeper->is_fresh = false;
	fors_kept_begin(&keeper->kept); /* an order that comes late begins with the reference, too */
	if (keeper->settings && fors_kept_refer(&keeper->kept, keeper->settings->reference, &error))
		fors_log_error(&keeper->setup.log, FORS_F_MEMORY, "the order stays as it was: %s", error.text);
	if (keeper->worker && keeper->settings && keeper->settings->jobs_file)
		tell_of_names(keeper);
	fors_keeper_address_outbox(keeper);
}
