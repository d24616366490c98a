/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what OpenSM shows (a net) to what fors can reason about (a fabric): places learnt, what is drained marked,
 * and the settings that a plan depends on. Both who fills tables and who looks at what the switches hold begin here.
 */
#include "keeper_inside.h"

#include <string.h>

#include "core/fabric/places_pods.h"
#include "keeper/look/absent.h"

enum fors_err fors_keeper_build_fabric(const struct fors_keeper *keeper, const struct fors_places *places,
				       const struct fors_net *net, struct fors_fabric **fabric,
				       struct fors_error *error)
{
	return fors_fabric_build(net, places, fors_settings_participants(keeper->settings), fabric, error);
}

/* The fabric that look->net shows, perhaps for the first time; learnt if fors can route it, else only looked at. */
static enum fors_err learn_fabric(struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error)
{
	const struct fors_settings *settings = keeper->settings;
	struct fors_kept *kept = &keeper->kept;
	enum fors_err err = fors_kept_learn(kept, look->net, settings->root, settings->nroots, error);

	if (!err && fors_places_known(kept->draft))
		return fors_keeper_understand_pods(keeper, look, error);
	if (!err)
		err = fors_keeper_build_fabric(keeper, kept->draft, look->net, &look->fabric, error);
	if (err || fors_fabric_connected(look->fabric, NULL))
		return err;
	if (look->kind == FORS_LOOK_ROUTED && /* only when the tables follow at once */
	    (fors_kept_forget(kept) || fors_keeper_rank(keeper, look->fabric))) {
		fors_fabric_free(look->fabric);
		look->fabric = NULL;
		err = fors_keeper_build_fabric(keeper, kept->draft, look->net, &look->fabric, error);
	}
	if (!err)
		fors_kept_accept(kept);
	return err;
}

/* What hangs, or is refused, is a warning for as long as it is so. */
static void warn_of_files(const struct fors_keeper *keeper, struct fors_warnings *warnings)
{
	const char *file = keeper->loader ? fors_loader_trouble(keeper->loader) : NULL;
	const char *folder = fors_kept_trouble(&keeper->kept);

	if (file)
		fors_warn(warnings, "%s; the settings of before stay in force", file);
	else if (*keeper->trouble)
		fors_warn(warnings, "%.330s; the settings of before stay in force", keeper->trouble);
	if (folder)
		fors_warn(warnings, "%s; the sweeps go on without the state folder", folder);
}

/* Who of those listed is missing, and what is drained. */
static enum fors_err look_at_fabric(struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error)
{
	const struct fors_settings *settings = keeper->settings;
	struct fors_cabling cabling = fors_fabric_cabling(look->fabric);
	enum fors_err err = fors_drain_look(&keeper->drain, settings, cabling, look->kind == FORS_LOOK_ROUTED,
					    &look->fabric->held_until_ms, error);

	if (!err)
		err = fors_drain_apply(&keeper->drain, settings, look->fabric, true, &look->slow, &look->warnings,
				       error);
	if (err)
		return err;
	if (fors_drain_tables_first(settings, look->fabric))
		fors_drained_route_held(look->fabric);
	fors_drain_tell(&keeper->drain, &keeper->setup.log, cabling, &look->slow, &look->warnings);
	return fors_absent_warn(fors_settings_participants(settings),
				settings->participants_file ? "participants_file" : "cn_guid_file", look->fabric,
				&look->warnings, error);
}

enum fors_err fors_keeper_understand(struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error)
{
	const struct fors_settings *settings = keeper->settings;
	enum fors_err err;

	keeper->drain.is_given = look->kind != FORS_LOOK_ROUTED && !keeper->has_made;
	err = learn_fabric(keeper, look, error);
	memcpy(look->method, settings->method, sizeof(look->method));
	look->ilp_seconds = settings->ilp_seconds;
	if (!err && !look->pods)
		err = look_at_fabric(keeper, look, error);
	keeper->drain.has_slow = look->slow.ncables;
	warn_of_files(keeper, &look->warnings);
	if (fors_settings_participants(settings))
		look->chosen_by = settings->participants_file ? "participants_file" : "cn_guid_file";
	look->due_ms = keeper->drain.due_ms;
	return err;
}
