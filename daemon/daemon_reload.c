/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an administrator may change while opensm runs, looked for in each heavy sweep before the fabric is routed:
 * fors.conf and the files that it names, requests to forget.
 */
#include "daemon_inside.h"

#include <string.h>

#include "daemon/base/digest.h"

/* The program that is to be started again for some settings. */
static const char *name_source(const struct fors_daemon *daemon)
{
	return daemon->setup.source.program ? daemon->setup.source.program : "opensm";
}

/* The state folder stays where it was when the program started: say so, once, to whom wants it elsewhere. */
static void tell_state_dir(struct fors_daemon *daemon, const char *wanted)
{
	const char *before = daemon->settings ? daemon->settings->state_dir : NULL;

	if (wanted && daemon->folder.parent && strcmp(wanted, daemon->folder.parent) &&
	    fors_text_changed(before, wanted))
		fors_log_error(&daemon->setup.log, FORS_F_CONFIG,
			       "state_dir: a change needs a restart of %s; the state folder stays in %.200s",
			       name_source(daemon), daemon->folder.parent);
}

/* Say it once when a file begins to hang, and once when all answer. */
static void tell_trouble(struct fors_daemon *daemon)
{
	const char *trouble = fors_loader_trouble(daemon->loader);

	if (trouble && !daemon->is_told)
		fors_log_error(&daemon->setup.log, FORS_F_HANGS, "%s%s", trouble,
			       daemon->settings ? "; the settings of before stay in force" : "");
	if (!trouble && daemon->is_told)
		fors_log_info(&daemon->setup.log, "fors.conf and the files that it names answer again");
	daemon->is_told = trouble;
}

/* A slip in fors.conf must not cost the routes of a running fabric. */
static void refuse(struct fors_daemon *daemon, enum fors_load load, const struct fors_error *error)
{
	daemon->is_short = !daemon->settings && load == FORS_LOAD_BAD && error->code == FORS_ENOMEM;
	if (load == FORS_LOAD_BAD &&
	    (!daemon->is_fresh || strcmp(daemon->trouble, error->text))) /* which is in the log since the start */
		fors_log_error(&daemon->setup.log, FORS_F_CONFIG, "%s%s", error->text,
			       daemon->settings ? "; the settings of before stay in force" : "");
	memcpy(daemon->trouble, error->text, sizeof(daemon->trouble));
}

/*
 * Shadow mode is a matter of the start. A cable that came back is not held in a shadow: nobody sweeps when its time is over.
 */
static void set_mode(struct fors_daemon *daemon, const struct fors_sources *sources, struct fors_settings *settings)
{
	if (!daemon->has_mode)
		daemon->is_shadow = settings ? settings->is_shadow : fors_settings_wants_shadow(sources);
	if (!settings)
		return;
	if (settings->is_shadow != daemon->is_shadow &&
	    (!daemon->settings || daemon->settings->is_shadow != settings->is_shadow))
		fors_log_error(&daemon->setup.log, FORS_F_CONFIG,
			       "fors_mode: a change needs a restart of %s; fors stays %s", name_source(daemon),
			       daemon->is_shadow ? "in shadow mode" : "switched on");
	if (daemon->is_shadow)
		settings->hold_down = 0;
}

void fors_daemon_load_settings(struct fors_daemon *daemon, const struct fors_sources *sources)
{
	struct fors_settings *settings = NULL;
	struct fors_error error;
	enum fors_load load = fors_loader_load(daemon->loader, sources, &settings, &error);

	tell_trouble(daemon);
	if (load == FORS_LOAD_BAD || load == FORS_LOAD_LATE) {
		refuse(daemon, load, &error);
		if (load == FORS_LOAD_BAD)
			set_mode(daemon, sources, NULL);
		return;
	}
	daemon->is_short = false;
	daemon->trouble[0] = '\0';
	if (load == FORS_LOAD_SAME)
		return;
	tell_state_dir(daemon, settings->state_dir);
	set_mode(daemon, sources, settings);
	fors_settings_free(daemon->settings);
	daemon->settings = settings;
}

bool fors_daemon_is_holder(struct fors_daemon *daemon)
{
	struct fors_copier_report report = {.is_held_elsewhere = false};

	if (daemon->copier)
		fors_copier_read(daemon->copier, &report);
	return !report.is_held_elsewhere;
}

void fors_daemon_address_copier(struct fors_daemon *daemon)
{
	const struct fors_settings *settings = daemon->settings;
	struct fors_error error;

	if (daemon->copier && settings &&
	    fors_copier_set(daemon->copier,
			    &(struct fors_copier_request){settings->publish_dir, settings->publish_command,
							  settings->publish_seconds, daemon->setup.is_shared},
			    &error))
		fors_log_error(&daemon->setup.log, FORS_F_MEMORY,
			       "publish_dir and publish_command stay as they were: %s", error.text);
}

/* As often as it may have been read anew. */
static void refer_names(struct fors_daemon *daemon)
{
	struct fors_namebook *names;

	if (fors_namebook_copy(daemon->settings->reference_names, &names, NULL))
		fors_log_error(&daemon->setup.log, FORS_F_MEMORY,
			       "out of memory: the names of the reference fabric are read at the next sweep");
	else
		fors_worker_refer(daemon->worker, names);
}

/* The worker knows whose names are whose: also by the reference fabric, and what an administrator wants forgotten. */
static void tell_of_names(struct fors_daemon *daemon)
{
	const uint64_t *guid;
	size_t count;

	if (daemon->settings->reference_names)
		refer_names(daemon);
	fors_kept_strangers(&daemon->kept, &guid, &count);
	if (count)
		fors_worker_forget_names(daemon->worker, guid, count);
}

/* Do the settings ask for anything that tables depend on, and a memory of tables knows nothing of? */
static bool is_tuned(const struct fors_settings *settings)
{
	return settings && (fors_drain_is_wanted(settings) || settings->job_index || settings->job_routes);
}

bool fors_daemon_wants_fresh(const struct fors_daemon *daemon)
{
	return daemon->rehome.armed || daemon->rehome.is_free || daemon->was_tuned || is_tuned(daemon->settings) ||
	       (daemon->settings && daemon->settings->degraded == FORS_SLOW_AUTO && daemon->drain.has_slow);
}

void fors_daemon_reload(struct fors_daemon *daemon, const struct fors_sources *sources)
{
	struct fors_error error;

	daemon->was_tuned = daemon->settings && fors_drain_is_wanted(daemon->settings);
	if (!daemon->loader)
		return; /* it ends */
	fors_daemon_load_settings(daemon, sources);
	daemon->is_fresh = false;
	fors_kept_begin(&daemon->kept); /* an order that comes late begins with the reference, too */
	if (daemon->settings && fors_kept_refer(&daemon->kept, daemon->settings->reference, &error))
		fors_log_error(&daemon->setup.log, FORS_F_MEMORY, "the order stays as it was: %s", error.text);
	if (daemon->worker && daemon->settings && daemon->settings->jobs_file)
		tell_of_names(daemon);
	fors_daemon_address_copier(daemon);
}
