/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keeper.h - what keeps tables, schedules and files true to a fabric that somebody else looks at.
 *
 * A giver of looks (OpenSM's plugin, a program that reads the fabric itself) sees a net, and tables or none. One call,
 * fors_keeper_look(), makes a look of it: places learnt, cables drained, tables made or judged. The giver hands the look
 * in, and all else follows in the keeper's own threads: plans, proofs, files. The keeper knows no subnet manager; what it
 * needs of the giver comes in struct fors_keeper_setup.
 *
 * Threads: one thread of the giver's calls all functions, but for those that say otherwise.
 */
#ifndef FORS_KEEPER_KEEPER_H
#define FORS_KEEPER_KEEPER_H

#include "keeper/base/log.h"
#include "keeper/look/look.h"
#include "keeper/settings/settings.h"
#include "keeper/worker/worker.h"

struct fors_keeper;

struct fors_keeper_setup {
	struct fors_log log;	     /* copied; its context is borrowed until fors_keeper_free() */
	struct fors_sources sources; /* of the settings, for the start; strings are borrowed during the call */
	uint64_t guid;		     /* names the state folder: the port that the subnet is managed or looked at from */
	enum fors_mastership (*mastership)(void *context); /* asked by the worker's thread, every tick */
	void (*looking)(void *context,
			struct fors_looking *now); /* likewise; NULL: fors_keeper_note_attended() says all */
	void (*sweep)(void *context);		   /* look again, and route: any thread may call it */
	void *context;
	const char *version; /* of the subnet manager, constant; NULL: not known */
	const char *giver;   /* the program that gives looks, as its end is told, constant; NULL: opensm */
	bool is_shared;	     /* several such givers may have one publish_dir: one of them publishes there (holder.h) */
};

/*
 * A keeper at work, in *keeper, owned by the caller (fors_keeper_free()). Bad settings are logged and no error: it makes
 * no looks until fors_keeper_reload() finds them mended. Errors: FORS_ENOMEM, FORS_EIO.
 */
enum fors_err fors_keeper_start(const struct fors_keeper_setup *setup, struct fors_keeper **keeper,
				struct fors_error *error);

/*
 * This manager is about to end. If its settings in this file (NULL: not known) load the plugin no more, the next one does without
 * fors: then the end is another, see fors_worker_note_leaving().
 */
void fors_keeper_note_end(struct fors_keeper *keeper, const char *path);
/* End its threads; fors_keeper_free() may follow at any time. What hangs in a file system is left alone. */
void fors_keeper_stop(struct fors_keeper *keeper);
/* Ends its threads, too, if they go on. NULL is allowed. */
void fors_keeper_free(struct fors_keeper *keeper);

/* --- before a sweep routes ------------------------------------------------ */

/* Read settings, requests to forget places and so on again, as far as they have changed. Not under a lock. */
void fors_keeper_reload(struct fors_keeper *keeper, const struct fors_sources *sources);

/* Must tables that somebody else remembers be made anew, since they know nothing of what the settings ask for? */
bool fors_keeper_wants_fresh(const struct fors_keeper *keeper);

/* The settings in force, borrowed until the next reload; NULL: there were never good ones, see fors_keeper_trouble(). */
const struct fors_settings *fors_keeper_settings(const struct fors_keeper *keeper);
/* Why the settings could not be loaded last time, or "". */
const char *fors_keeper_trouble(const struct fors_keeper *keeper);

/* --- looks ---------------------------------------------------------------- */

/*
 * A look to be filled in with a net and perhaps tables, the giver's until it is handed in; its settings are those in
 * force. A spare one when there is no memory for another; NULL: that is gone too.
 */
struct fors_look *fors_keeper_new_look(struct fors_keeper *keeper, enum fors_look_kind kind);

/* What a giver says of the tables of a look. */
enum fors_tables_of {
	FORS_TABLES_NONE, /* there are none: make them. The look has a net; fors_keeper_made() or _decline() follows */
	FORS_TABLES_OURS, /* the switches hold these, which fors made */
	FORS_TABLES_FOREIGN, /* the switches hold these, which look->tables_by made: plan over them as they are */
};

/*
 * Make a look of what was seen: look->net (indexed), look->lfts unless `of` is NONE, look->tables_by, look->reason of an
 * incomplete sweep. Under a lock of the giver's or without one: it touches no file, and waits for nobody. Of a foreign
 * look service levels may be missing still, see fors_keeper_levels(). Errors: those of fors_fabric_build() and
 * fors_tables_build(), FORS_ETABLES, FORS_ENOMEM; the look is what it was then, as far as it was understood.
 */
enum fors_err fors_keeper_look(struct fors_keeper *keeper, struct fors_look *look, enum fors_tables_of of,
			       struct fors_error *error);

/*
 * The tables of a look that was made are on their way to the switches, and the look is the keeper's. `start`: when its
 * making began, by fors_clock_exact_ms(). The number of these tables.
 */
uint64_t fors_keeper_made(struct fors_keeper *keeper, struct fors_look *look, double start);
/* A look could not be made, for this reason: fors does not route. NULL: there is not even a look to say so. */
void fors_keeper_decline(struct fors_keeper *keeper, struct fors_look *look, enum fors_code code, const char *reason);
/* Why the tables could not be made last time, or "". */
const char *fors_keeper_declined(const struct fors_keeper *keeper);

/*
 * The tables of a foreign look have just been copied: changes count from here. Under the same hold of a lock as the
 * copying, before fors_keeper_look(). Errors: FORS_ENOMEM.
 */
enum fors_err fors_keeper_begin_foreign(struct fors_keeper *keeper, struct fors_look *look, struct fors_error *error);

/*
 * The table for the service levels of a foreign look, look->given's, to be filled in by the giver; NULL in *levels: more paths than are
 * asked for, which is a warning. has_paths: there is one for each path. Without a lock. Errors: FORS_ENOMEM.
 */
enum fors_err fors_keeper_levels(struct fors_keeper *keeper, struct fors_look *look, bool has_paths,
				 struct fors_levels **levels, struct fors_error *error);

/* --- shadow mode ----------------------------------------------------------- */

/* Was fors_mode = shadow set at the start? Then there are no other looks than fors_keeper_glance(). */
bool fors_keeper_is_shadow(const struct fors_keeper *keeper);

/*
 * A sweep has ended, and another engine's tables are in the switches: find out what fors would have made of it. net (indexed) and
 * present become the keeper's; present is NULL where `trouble` says why the sweep is none to look at; tables_by is the
 * engine, "" where it is not known. Without a lock.
 */
void fors_keeper_glance(struct fors_keeper *keeper, struct fors_net *net, struct fors_lfts *present,
			const char *tables_by, const char *trouble);

/* The keeper's from now on. A foreign look is complete: its basis is computed. Any lock may be held. */
void fors_keeper_submit(struct fors_keeper *keeper, struct fors_look *look);
/* A sweep is over, whatever came of it: memory for the next one, and the kept order into its file. Without a lock. */
void fors_keeper_end_sweep(struct fors_keeper *keeper);

/* Did memory run out in this sweep? Then another one has to follow soon. `err` is what the look has come to. */
bool fors_keeper_ran_short(struct fors_keeper *keeper, enum fors_err err);

/* Is publish_dir ours, as far as is known? Not while another giver holds it. */
bool fors_keeper_is_holder(struct fors_keeper *keeper);

/* --- what the giver hears meanwhile; any thread, any lock may be held ------- */

void fors_keeper_note_tables(struct fors_keeper *keeper, uint64_t number);
void fors_keeper_note_step(struct fors_keeper *keeper, enum fors_step step, double at);
void fors_keeper_note_sweep(struct fors_keeper *keeper, enum fors_sweep sweep);
void fors_keeper_note_change(struct fors_keeper *keeper, const char *how);
void fors_keeper_note_attended(struct fors_keeper *keeper, bool is_attended);

#endif
