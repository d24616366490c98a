/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * daemon_inside.h - what the files of the daemon's front share. All in the thread of the source of looks.
 *
 * Files: daemon.c the beginning, the end and what is handed on; daemon_reload.c what the administrator may change;
 * daemon_look.c the one call that makes a look; by daemon_understand.c (from a net to a tree), daemon_shadow.c (shadow
 * mode), daemon_entries.c (entries of jobs), daemon_check.c (no table unchecked) and daemon_rehome.c (homes ranked
 * afresh).
 */
#ifndef FORS_DAEMON_DAEMON_INSIDE_H
#define FORS_DAEMON_DAEMON_INSIDE_H

#include "daemon/look/drain.h"
#include "daemon/look/kept.h"
#include "daemon/look/rehome.h"
#include "daemon/settings/loader.h"
#include "daemon/shadow/shadow.h"
#include "daemon/worker/advisor.h"
#include "daemon.h"

struct fors_daemon {
	struct fors_daemon_setup setup;
	bool is_fresh;			/* the settings have not been read again since the start */
	struct fors_loader *loader;	/* reads them */
	bool is_told;			/* the log knows that one of their files does not answer */
	struct fors_settings *settings; /* in force; NULL: none were ever good, see trouble */
	bool was_tuned;			/* those of before asked for drained cables */
	struct fors_kept kept;		/* the kept order */
	struct fors_drain drain;	/* drained cables */
	struct fors_rehome rehome;	/* when homes are ranked afresh */
	struct fors_folder folder;	/* where the worker publishes */
	struct fors_advisor *advisor;	/* what to mend first */
	struct fors_copier *copier;	/* copies for publish_dir, and publish_command */
	struct fors_worker *worker;	/* NULL: stopped, or a shadow */
	bool has_mode;			/* it has begun: is_shadow stays */
	bool is_shadow;			/* fors_mode = shadow at the start: neither worker, copier nor advisor */
	struct fors_shadow *shadow;	/* its thread; NULL: stopped, or none */
	char trouble[FORS_ERROR_TEXT];	/* why the settings could not be loaded last time, or "" */
	char declined[FORS_ERROR_TEXT]; /* why the tables could not be made last time, or "" */
	struct fors_claim *claim;	/* in the tables that were made last, held; NULL: none */
	uint64_t refused;		/* number of the one that they came without; 0: none */
	struct fors_look *spare;	/* for when there is no memory to say so in; NULL: used up */
	bool is_short;			/* memory ran out in this sweep: the next one has to try again */
	bool has_made;			/* tables were asked for in this sweep */
	uint64_t tables;		/* how often tables have been made: their number */
	double tables_ms;		/* how long making them took last time, negative: unknown */
	double check_ms;		/* of this, checking them; likewise */
	uint64_t told_left;		/* digest of what fors_daemon_check() wrote to the log last */
};

/* --- daemon_understand.c --- */

/* The tree that a net shows, with these places and the participants of the settings. Errors of fors_fattree_build(). */
enum fors_err fors_daemon_build_tree(const struct fors_daemon *daemon, const struct fors_places *places,
				     const struct fors_net *net, struct fors_fattree *tree, struct fors_error *error);

/* Make sense of look->net: its tree, learnt and with drained cables marked, and the settings that a plan needs. */
enum fors_err fors_daemon_understand(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error);

/* --- daemon_check.c --- */

/*
 * Look at look->lfts: both invariants (core/tables/check.h), and where every CA port has gone. What people should know
 * is in look->warnings, and in the log once. Errors: FORS_ETABLES, FORS_ENOMEM.
 */
enum fors_err fors_daemon_check(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error);

/* --- daemon_entries.c --- */

/* Does fors.conf want table entries of jobs? */
bool fors_daemon_wants_entries(const struct fors_daemon *daemon);

/*
 * Write what the worker claims for jobs into look->lfts, if anything; look->claim says so, and *plain are the tables as
 * they were, owned by the caller (NULL: nothing was written). Errors: FORS_ENOMEM.
 */
enum fors_err fors_daemon_add_entries(struct fors_daemon *daemon, struct fors_look *look, struct fors_lfts **plain,
				      struct fors_error *error);
/* These would be wrong: the tables are *plain again, which is the look's then. The log knows why. */
void fors_daemon_drop_entries(struct fors_daemon *daemon, struct fors_look *look, struct fors_lfts **plain,
			      const char *why);
/* The tables of this look (NULL: of nobody) are on their way: what is in them is remembered. */
void fors_daemon_note_entries(struct fors_daemon *daemon, const struct fors_look *look);
/* The look shows what came of them: it says what is in them. */
void fors_daemon_tell_entries(const struct fors_daemon *daemon, struct fors_look *look);

/* --- daemon_rehome.c --- */

/*
 * The switches hold the tables of this look: is a ranking wanted, and when? What the worker has to know comes into the
 * look: withdrawal, due_ms.
 */
void fors_daemon_consider_rehome(struct fors_daemon *daemon, struct fors_look *look);

/*
 * The same look: say, once, how many entries a new reference fabric has moved from where the order before had them.
 * Nothing was kept before: nothing is said.
 */
void fors_daemon_tell_adopted(struct fors_daemon *daemon, const struct fors_look *look);

/* Rank in the draft, if that is due for this tree, of the draft, nothing drained yet. False: it is not. */
bool fors_daemon_rank(struct fors_daemon *daemon, const struct fors_fattree *tree);

/* --- daemon_shadow.c --- */

/* Start what a shadow needs. Errors: FORS_ENOMEM. */
enum fors_err fors_daemon_start_shadow(struct fors_daemon *daemon, struct fors_error *error);

/* --- daemon_reload.c --- */

/* Read the settings; those in force stay when the new ones are bad. */
void fors_daemon_load_settings(struct fors_daemon *daemon, const struct fors_sources *sources);

/* Tell the copier where copies go now. */
void fors_daemon_address_copier(struct fors_daemon *daemon);

#endif
