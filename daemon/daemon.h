/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon.h - what keeps tables, schedules and files true to a fabric that somebody else looks at.
 *
 * A source of looks (OpenSM's plugin, a program that reads the fabric itself) sees a net, and tables or none. One call,
 * fors_daemon_look(), makes a look of it: places learnt, cables drained, tables made or judged. The source hands the look
 * in, and all else follows in the daemon's own threads: plans, proofs, files. The daemon knows no subnet manager; what it
 * needs of the source comes in struct fors_daemon_setup.
 *
 * Threads: one thread of the source's calls all functions, but for those that say otherwise.
 */
#ifndef FORS_DAEMON_DAEMON_H
#define FORS_DAEMON_DAEMON_H

#include "daemon/base/log.h"
#include "daemon/look/look.h"
#include "daemon/settings/settings.h"
#include "daemon/worker/worker.h"

struct fors_daemon;

struct fors_daemon_setup {
	struct fors_log log;	     /* copied; its context is borrowed until fors_daemon_free() */
	struct fors_source source;   /* copied: who gives looks */
	struct fors_sources sources; /* of the settings, for the start; strings are borrowed during the call */
	uint64_t guid;		     /* names the state folder: the port that the subnet is managed or looked at from */
	bool is_shared; /* several such sources may have one publish_dir: one of them publishes there (holder.h) */
};

/*
 * A daemon at work, in *daemon, owned by the caller (fors_daemon_free()). Bad settings are logged and no error: it makes
 * no looks until fors_daemon_reload() finds them mended. Errors: FORS_ENOMEM, FORS_EIO.
 */
enum fors_err fors_daemon_start(const struct fors_daemon_setup *setup, struct fors_daemon **daemon,
				struct fors_error *error);

/*
 * This manager is about to end. If its settings in this file (NULL: not known) load the plugin no more, the next one does without
 * fors: then the end is another, see fors_worker_note_leaving().
 */
void fors_daemon_note_end(struct fors_daemon *daemon, const char *path);
/* End its threads; fors_daemon_free() may follow at any time. What hangs in a file system is left alone. */
void fors_daemon_stop(struct fors_daemon *daemon);
/* Ends its threads, too, if they go on. NULL is allowed. */
void fors_daemon_free(struct fors_daemon *daemon);

/* --- before a sweep routes ------------------------------------------------ */

/* Read settings, requests to forget places and so on again, as far as they have changed. Not under a lock. */
void fors_daemon_reload(struct fors_daemon *daemon, const struct fors_sources *sources);

/* Must tables that somebody else remembers be made anew, since they know nothing of what the settings ask for? */
bool fors_daemon_wants_fresh(const struct fors_daemon *daemon);

/* The settings in force, borrowed until the next reload; NULL: there were never good ones, see fors_daemon_trouble(). */
const struct fors_settings *fors_daemon_settings(const struct fors_daemon *daemon);
/* Why the settings could not be loaded last time, or "". */
const char *fors_daemon_trouble(const struct fors_daemon *daemon);

/* --- looks ---------------------------------------------------------------- */

/*
 * A look to be filled in with a net and perhaps tables, the source's until it is handed in; its settings are those in
 * force. A spare one when there is no memory for another; NULL: that is gone too.
 */
struct fors_look *fors_daemon_new_look(struct fors_daemon *daemon, enum fors_look_kind kind);

/* What a source says of the tables of a look. */
enum fors_tables_of {
	FORS_TABLES_NONE, /* there are none: make them. The look has a net; fors_daemon_made() or _decline() follows */
	FORS_TABLES_OURS, /* the switches hold these, which fors made */
	FORS_TABLES_FOREIGN, /* the switches hold these, which look->tables_by made: plan over them as they are */
};

/*
 * Make a look of what was seen: look->net (indexed), look->lfts unless `of` is NONE, look->tables_by, look->reason of an
 * incomplete sweep. Under a lock of the source's or without one: it touches no file, and waits for nobody. Of a foreign
 * look service levels may be missing still, see fors_daemon_levels(). Errors: those of fors_fabric_build() and
 * fors_tables_build(), FORS_ETABLES, FORS_ENOMEM; the look is what it was then, as far as it was understood.
 */
enum fors_err fors_daemon_look(struct fors_daemon *daemon, struct fors_look *look, enum fors_tables_of of,
			       struct fors_error *error);

/*
 * The tables of a look that was made are on their way to the switches, and the look is the daemon's. `start`: when its
 * making began, by fors_clock_exact_ms(). The number of these tables.
 */
uint64_t fors_daemon_made(struct fors_daemon *daemon, struct fors_look *look, double start);
/* A look could not be made, for this reason: fors does not route. NULL: there is not even a look to say so. */
void fors_daemon_decline(struct fors_daemon *daemon, struct fors_look *look, enum fors_code code, const char *reason);
/* Why the tables could not be made last time, or "". */
const char *fors_daemon_declined(const struct fors_daemon *daemon);

/*
 * The tables of a foreign look have just been copied: changes count from here. Under the same hold of a lock as the
 * copying, before fors_daemon_look(). Errors: FORS_ENOMEM.
 */
enum fors_err fors_daemon_begin_foreign(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error);

/*
 * The table for the service levels of a foreign look, look->given's, to be filled in by the source; NULL in *levels: more paths than are
 * asked for, which is a warning. has_paths: there is one for each path. Without a lock. Errors: FORS_ENOMEM.
 */
enum fors_err fors_daemon_levels(struct fors_daemon *daemon, struct fors_look *look, bool has_paths,
				 struct fors_levels **levels, struct fors_error *error);

/* --- shadow mode ----------------------------------------------------------- */

/* Was fors_mode = shadow set at the start? Then there are no other looks than fors_daemon_glance(). */
bool fors_daemon_is_shadow(const struct fors_daemon *daemon);

/*
 * A sweep has ended, and another engine's tables are in the switches: find out what fors would have made of it. net (indexed) and
 * present become the daemon's; present is NULL where `trouble` says why the sweep is none to look at; tables_by is the
 * engine, "" where it is not known. Without a lock.
 */
void fors_daemon_glance(struct fors_daemon *daemon, struct fors_net *net, struct fors_lfts *present,
			const char *tables_by, const char *trouble);

/* The daemon's from now on. A foreign look is complete: its basis is computed. Any lock may be held. */
void fors_daemon_submit(struct fors_daemon *daemon, struct fors_look *look);
/* A sweep is over, whatever came of it: memory for the next one, and the kept order into its file. Without a lock. */
void fors_daemon_end_sweep(struct fors_daemon *daemon);

/* Did memory run out in this sweep? Then another one has to follow soon. `err` is what the look has come to. */
bool fors_daemon_ran_short(struct fors_daemon *daemon, enum fors_err err);

/* Is publish_dir ours, as far as is known? Not while another source holds it. */
bool fors_daemon_is_holder(struct fors_daemon *daemon);

/* --- what the source hears meanwhile; any thread, any lock may be held ------- */

/* Handed on to the worker, see worker.h; in shadow mode there is none. */

void fors_daemon_note_tables(struct fors_daemon *daemon, uint64_t number);
void fors_daemon_note_step(struct fors_daemon *daemon, enum fors_step step, double at);
void fors_daemon_note_sweep(struct fors_daemon *daemon, enum fors_sweep sweep);
void fors_daemon_note_change(struct fors_daemon *daemon, const char *how);
void fors_daemon_note_attended(struct fors_daemon *daemon, bool is_attended);

#endif
