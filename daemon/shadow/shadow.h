/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow.h - fors_mode = shadow: another engine routes, and fors finds out what it would do in its place.
 *
 * After each sweep the source hands in a sight: the look with the tables that fors would make, and the tables that the
 * switches hold. A thread of its own, as nice as can be, plans over both, compares them, and writes what it found into the
 * folder `shadow` of the state folder. Nobody else learns of it: no schedule, no heartbeat, no command.
 */
#ifndef FORS_DAEMON_SHADOW_SHADOW_H
#define FORS_DAEMON_SHADOW_SHADOW_H

#include "daemon/base/log.h"
#include "daemon/files/publish.h"
#include "daemon/look/look.h"

struct fors_shadow;

struct fors_shadow_setup {
	struct fors_log *log;		  /* borrowed until fors_shadow_stop() */
	const struct fors_folder *folder; /* of the shadow; copied */
	const char *version;		  /* of the subnet manager, constant; NULL: not known */
};

/* What one sweep showed. Owns all of it. */
struct fors_sight {
	struct fors_look
		*look; /* with the tables of fors; FORS_LOOK_DECLINED: why fors would not route, in its reason */
	struct fors_lfts *present; /* in the switches; NULL: the sweep met errors (look->reason) */
	char tables_by[48];	   /* routing engine that made these; empty: not known */
	bool has_participants;	   /* false: all servers take part */
	struct fors_participants participants;
};

/* NULL is allowed. */
void fors_sight_free(struct fors_sight *sight);

/* Start the thread. Errors: FORS_ENOMEM. */
enum fors_err fors_shadow_start(const struct fors_shadow_setup *setup, struct fors_shadow **shadow,
				struct fors_error *error);
/* The thread owns the sight then. A few may wait; of more the oldest is left out, and counted. Never blocks for long. */
void fors_shadow_submit(struct fors_shadow *shadow, struct fors_sight *sight);
/* Hand in the kept order, a text that the thread owns then. */
void fors_shadow_keep(struct fors_shadow *shadow, char *text, size_t size);
/* Break off what it does, write that opensm has ended, end the thread; one that hangs in the folder is left alone. NULL is allowed. */
void fors_shadow_stop(struct fors_shadow *shadow);

#endif
