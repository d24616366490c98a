/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what OpenSM shows (a net) to what fors can reason about (a tree): places learnt, what is drained marked,
 * and the settings that a plan depends on. Both who fills tables and who looks at what the switches hold begin here.
 */
#include "daemon_inside.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/look/absent.h"

enum fors_err fors_daemon_build_tree(const struct fors_daemon *daemon, const struct fors_places *places,
				     const struct fors_net *net, struct fors_fattree *tree, struct fors_error *error)
{
	return fors_fattree_build(net, places, fors_settings_participants(daemon->settings), tree, error);
}

static enum fors_err be_tree(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	return fors_look_be_tree(look, daemon->kept.draft, fors_settings_participants(daemon->settings), error);
}

/* The tree that look->net shows, perhaps for the first time; learnt if fors can route it, else only looked at. */
static enum fors_err learn_tree(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	const struct fors_settings *settings = daemon->settings;
	struct fors_kept *kept = &daemon->kept;
	enum fors_err err = fors_kept_learn(kept, look->net, settings->root, settings->nroots, error);

	if (!err)
		err = be_tree(daemon, look, error);
	if (err || fors_fattree_connected(&look->tree, NULL))
		return err;
	if (look->kind == FORS_LOOK_ROUTED && /* only when the tables follow at once */
	    (fors_kept_forget(kept) || fors_daemon_rank(daemon, &look->tree)))
		err = be_tree(daemon, look, error);
	if (!err)
		fors_kept_accept(kept);
	return err;
}

/* What hangs, or is refused, is a warning for as long as it is so. */
static void warn_of_files(const struct fors_daemon *daemon, struct fors_warnings *warnings)
{
	const char *file = daemon->loader ? fors_loader_trouble(daemon->loader) : NULL;
	const char *folder = fors_kept_trouble(&daemon->kept);

	if (file)
		fors_warn(warnings, "%s; the settings of before stay in force", file);
	else if (*daemon->trouble)
		fors_warn(warnings, "%.330s; the settings of before stay in force", daemon->trouble);
	if (folder)
		fors_warn(warnings, "%s; the sweeps go on without the state folder", folder);
}

/* What died and came back. */
static enum fors_err watch_cables(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	return fors_drain_look(&daemon->drain, daemon->settings, look->tree, look->kind == FORS_LOOK_ROUTED,
			       &look->tree.held_until_ms, error);
}

/* Hosts that came back a short time ago are reached, and take no part yet: the tree without them among the servers. */
static enum fors_err hold_hosts(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	const struct fors_places *places = daemon->kept.draft ? daemon->kept.draft : daemon->kept.places;
	const struct fors_warnings told = look->warnings;
	struct fors_participants others = {.guid = NULL};
	enum fors_err err = fors_drain_flaps(&daemon->drain, look->tree, &look->flap, &look->nflaps, error);

	if (!err)
		err = fors_drain_others(look->tree, look->flap, look->nflaps, &others, error);
	if (err || !others.guid)
		return err;
	err = fors_look_be_tree(look, places, &others, error);
	free(others.guid);
	look->warnings = told;
	return err ? err : watch_cables(daemon, look, error);
}

/* Who of those listed is missing, and what is drained. */
static enum fors_err look_at_tree(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	const struct fors_settings *settings = daemon->settings;
	enum fors_err err = watch_cables(daemon, look, error);

	if (!err)
		err = hold_hosts(daemon, look, error);
	if (!err)
		err = fors_drain_apply(&daemon->drain, settings, look->tree, &look->slow, &look->warnings, error);
	if (err)
		return err;
	fors_drain_tell(&daemon->drain, &daemon->setup.log, look->tree, &look->slow, &look->warnings);
	return fors_absent_warn(fors_settings_participants(settings),
				settings->participants_file ? "participants_file" : "cn_guid_file", &look->tree,
				&look->warnings, error);
}

enum fors_err fors_daemon_understand(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	const struct fors_settings *settings = daemon->settings;
	enum fors_err err;

	daemon->drain.is_given = look->kind != FORS_LOOK_ROUTED && !daemon->has_made;
	err = learn_tree(daemon, look, error);
	if (!err)
		err = look_at_tree(daemon, look, error);
	daemon->drain.has_slow = look->slow.ncables;
	warn_of_files(daemon, &look->warnings);
	if (fors_settings_participants(settings))
		look->chosen_by = settings->participants_file ? "participants_file" : "cn_guid_file";
	look->due_ms = daemon->drain.due_ms;
	if (!err && fors_daemon_wants_entries(daemon))
		err = fors_look_be_shared(look, error);
	return err;
}
