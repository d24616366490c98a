/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shadow mode: another engine routes, and fors finds out what its own tables would be.
 *
 * The look is made by the call that makes tables for switches (daemon_look.c), over a kept order of the shadow's own; it
 * goes to the shadow's thread in place of the worker. What the real mode does in several sweeps is done in one here, because
 * nobody else sees these tables: homes of servers that came late are ranked at once, and no cable is held.
 */
#include "daemon_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "daemon/base/clock.h"

enum fors_err fors_daemon_start_shadow(struct fors_daemon *daemon, struct fors_error *error)
{
	struct fors_shadow_setup setup = {
		.log = &daemon->setup.log, .folder = &daemon->folder, .version = daemon->setup.source.version};
	struct fors_kept_setup kept = {.log = setup.log, .folder = setup.folder};
	const char *state_dir = daemon->settings ? daemon->settings->state_dir : NULL;
	enum fors_err err = fors_folder_init(&daemon->folder, state_dir, daemon->setup.guid, error);

	daemon->folder.is_shadow = true;
	if (!err)
		err = fors_kept_open(&daemon->kept, &kept, error);
	if (!err)
		fors_log_info(setup.log, "fors_mode = shadow: fors looks on and changes nothing");
	return err ? err : fors_shadow_start(&setup, &daemon->shadow, error);
}

bool fors_daemon_is_shadow(const struct fors_daemon *daemon)
{
	return daemon->is_shadow;
}

/* --- one sweep -------------------------------------------------------------------- */

/* What is asked for and a shadow does not look at. */
static void warn_of_jobs(const struct fors_daemon *daemon, struct fors_look *look)
{
	if (daemon->settings->jobs_file)
		fors_warn(&look->warnings,
			  "jobs_file: in shadow mode one exchange of all servers is planned, not each job");
	if (daemon->settings->demand_file)
		fors_warn(&look->warnings,
			  "demand_file: in shadow mode one exchange of all servers is planned, no demand");
}

/* Have the homes of all servers ranked as they would be by now, in the kept order. True: some are others. */
static bool rank(struct fors_daemon *daemon, const struct fors_look *look)
{
	struct fors_kept *kept = &daemon->kept;
	struct fors_places *ranked = NULL;
	struct fors_error error;
	bool is_same = true;

	if (!look->tree.kind || daemon->settings->rehome_never || !fors_rehome_is_healthy(&look->tree))
		return false;
	if (fors_places_ranked(kept->places, fors_settings_participants(daemon->settings), &ranked, &is_same, &error))
		fors_log_error(&daemon->setup.log, FORS_F_MEMORY, "homes are not ranked: %s", error.text);
	if (!ranked || is_same) {
		fors_places_free(ranked);
		return false;
	}
	fors_places_free(kept->places);
	kept->places = ranked;
	return true;
}

/* The look with the tables that fors would make of this net. NULL: out of memory. */
static struct fors_look *make_look(struct fors_daemon *daemon, struct fors_net *net)
{
	struct fors_look *look = fors_daemon_new_look(daemon, FORS_LOOK_ROUTED);
	double start = fors_clock_exact_ms();
	struct fors_error error;

	if (!look) {
		fors_net_free(net);
		return NULL;
	}
	look->net = net;
	if (fors_daemon_look(daemon, look, FORS_TABLES_NONE, &error)) {
		look->kind = FORS_LOOK_DECLINED;
		snprintf(look->reason, sizeof(look->reason), "%s", error.text);
	} else {
		look->tables_ms = fors_clock_exact_ms() - start;
		warn_of_jobs(daemon, look);
	}
	return look;
}

static struct fors_look *look_twice(struct fors_daemon *daemon, struct fors_net *net)
{
	struct fors_look *look = make_look(daemon, net);
	struct fors_net *copy;

	if (!look || look->kind == FORS_LOOK_DECLINED || !rank(daemon, look))
		return look;
	if (fors_net_copy(look->net, &copy, NULL))
		return look; /* the next sweep shows it */
	fors_look_free(look);
	return make_look(daemon, copy);
}

static bool copy_participants(const struct fors_daemon *daemon, struct fors_sight *sight)
{
	const struct fors_participants *them = daemon->settings ? fors_settings_participants(daemon->settings) : NULL;

	sight->has_participants = them;
	if (!them)
		return true;
	sight->participants.guid = calloc(them->count + 1, sizeof(*them->guid));
	if (!sight->participants.guid)
		return false;
	memcpy(sight->participants.guid, them->guid, them->count * sizeof(*them->guid));
	sight->participants.count = them->count;
	return true;
}

static void submit(struct fors_daemon *daemon, struct fors_sight *sight)
{
	if (!daemon->shadow || !sight->look || !copy_participants(daemon, sight)) {
		if (daemon->shadow)
			fors_log_error(&daemon->setup.log, FORS_F_MEMORY,
				       "out of memory: the shadow looks again at the next sweep");
		fors_sight_free(sight);
		return;
	}
	fors_shadow_submit(daemon->shadow, sight);
}

void fors_daemon_glance(struct fors_daemon *daemon, struct fors_net *net, struct fors_lfts *present,
			const char *tables_by, const char *trouble)
{
	struct fors_sight *sight = calloc(1, sizeof(*sight));

	if (!sight) {
		fors_net_free(net);
		fors_lfts_free(present);
		return;
	}
	sight->present = present;
	snprintf(sight->tables_by, sizeof(sight->tables_by), "%s", tables_by);
	sight->look = look_twice(daemon, net);
	if (!present && sight->look) {
		sight->look->kind = FORS_LOOK_DECLINED;
		snprintf(sight->look->reason, sizeof(sight->look->reason), "%s", trouble);
	}
	submit(daemon, sight);
	fors_daemon_end_sweep(daemon);
}
