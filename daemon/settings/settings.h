/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * settings.h - what the administrator asked for: fors.conf and the files with GUIDs.
 *
 * Knows nothing of OpenSM. Settings are loaded as a whole, so that a mistake in
 * one file leaves the settings of before in force.
 * Threads: loaded settings are read only; whoever loads them hands them on or frees them.
 */
#ifndef FORS_DAEMON_SETTINGS_SETTINGS_H
#define FORS_DAEMON_SETTINGS_SETTINGS_H

#include "core/base/names.h"
#include "core/fabric/drained.h"
#include "core/fabric/fabric.h"
#include "core/net/namebook.h"
#include "core/planners/method.h"

struct fors_stamps;

#define FORS_NOT_DECLARED 16u /* no service level is declared to be static */

struct fors_settings {
	struct fors_plan_limits limits; /* method, ilp_seconds, plan_steps, plan_memory */
	bool is_shadow;			/* fors only looks on: see daemon/shadow/shadow.h */
	bool is_over_any;		/* schedules over the tables of other engines too */
	unsigned
		static_sl; /* without adaptive routing, as the operator declares to fors watch; FORS_NOT_DECLARED: none */
	bool is_not_adaptive;		       /* likewise: there is no adaptive routing at all */
	char fabric_name[64];		       /* what metrics call the fabric; empty: by the SM's port */
	char *state_dir;		       /* parent of the state folder; NULL: the default */
	char *reference_fabric;		       /* ibnetdiscover text of the intact fabric; NULL: none */
	struct fors_places *reference;	       /* the places learnt from it; NULL: none */
	struct fors_namebook *reference_names; /* and the names of its end nodes; likewise */
	char *participants_file;	       /* NULL: none */
	bool has_participants;		       /* false: all servers take part */
	struct fors_participants participants;
	char *jobs_file;  /* each job in it gets a schedule of its own; NULL: one for the fabric */
	char *demand_dir; /* where the demands are that jobs name; NULL: jobs have none */
	char *demand_file; /* who sends how much to whom: it gets a schedule of its own beside the fabric's; NULL: none */
	bool jobs_move; /* lanes are shared out anew at each change; else running jobs keep theirs if that costs little */
	bool job_index;		     /* the last path index belongs to jobs, where there are two or more */
	bool job_routes;	     /* and the base LIDs do, where they are all there is */
	enum fors_slow_how degraded; /* what is done about cables below full width or speed */
	struct fors_names excluded_links, excluded_spines;
	struct fors_names not_hosts; /* patterns of adapters that are none (core/net/others.h) */
	bool rehome_never;	     /* homes are never ranked afresh */
	unsigned hold_down;	     /* seconds before a cable that came back returns to the plan */
	char *publish_dir;	     /* where copies go; NULL: nowhere */
	char *publish_command;	     /* run after each publication; NULL: none */
	unsigned publish_seconds;    /* its time limit */
	uint64_t *root;		     /* node GUIDs of the spines, nroots of them */
	size_t nroots;
};

/* Where the settings come from; strings are borrowed and may be NULL. */
struct fors_sources {
	const char *options;	    /* event_plugin_options of opensm.conf: "fors_config=PATH" among others */
	const char *root_guid_file; /* of opensm.conf */
	const char *cn_guid_file;   /* of opensm.conf; participants_file overrides it */
	struct fors_stamps *stamps; /* to which those of all files that are read are added; NULL: not wanted */
};

/*
 * Load everything into *settings, owned by the caller. Without "fors_config=" in the
 * options all keys have their defaults.
 * Errors, with "file:line: " where there is one: FORS_EIO (unreadable), FORS_EINPUT (unknown key,
 * bad value, malformed line or GUID, a reference that is no fat-tree of two or three levels), FORS_ENOMEM.
 */
enum fors_err fors_settings_load(const struct fors_sources *sources, struct fors_settings **settings,
				 struct fors_error *error);
void fors_settings_free(struct fors_settings *settings);

/*
 * Does fors.conf ask for shadow mode, whatever else is wrong with it or with the files that it names? So that a slip in it
 * does not make a shadow speak. False too where it cannot be read.
 */
bool fors_settings_wants_shadow(const struct fors_sources *sources);

/* The participants, as fors_fabric_build() wants them: NULL for all servers. */
static inline const struct fors_participants *fors_settings_participants(const struct fors_settings *settings)
{
	return settings->has_participants ? &settings->participants : NULL;
}

#endif
