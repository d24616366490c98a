/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kept.h - the kept order: from the state folder at the start, through all sweeps, and back to the folder.
 *
 * The file `places` in the state folder is written by the worker. Here it is read, once; at a change of the mode it is brought along. The file `forget`
 * is a request of the command `fors forget`: GUIDs of dead switches whose places shall be dropped. It is looked for
 * in each heavy sweep, and taken away when that sweep has ended.
 *
 * A shadow (fors_mode = shadow) has a kept order of its own, in the folder `shadow` of the state folder. It goes along with
 * the mode: who starts in one mode after the other begins with the order of that one.
 *
 * Threads: the sweeper's only, which never waits for a folder that hangs. Only the functions that say so may be called
 * with OpenSM's lock held; they touch no file.
 */
#ifndef FORS_DAEMON_LOOK_KEPT_H
#define FORS_DAEMON_LOOK_KEPT_H

#include "core/fabric/fabric.h"
#include "daemon/files/publish.h"

struct fors_log;

struct fors_background;
struct fors_kept_errand;

struct fors_kept_setup {
	struct fors_log *log;		  /* borrowed until fors_kept_close() */
	const struct fors_folder *folder; /* copied */
	void (*news)(void *context);	  /* by another thread: the folder did not answer, and does now. Or NULL */
	void *context;
	unsigned patience_ms; /* see background.h */
};

struct fors_kept {
	struct fors_log *log;		    /* borrowed */
	struct fors_background *background; /* works in the state folder */
	struct fors_kept_errand *errand;    /* what it works on */
	bool is_away;			    /* it is the other thread's at the moment */
	bool was_away;			 /* when this sweep began: news of the folder would cause another, and again */
	bool is_read;			 /* the places of an earlier opensm were looked for */
	char trouble[FORS_ERROR_TEXT];	 /* the folder does not answer, or "" */
	struct fors_places *places;	 /* the kept order, never NULL once open */
	struct fors_places *draft;	 /* what a sweep taught, not accepted yet; or NULL */
	struct fors_places *reference;	 /* of the reference fabric, NULL: none; owned */
	struct fors_places *replaced;	 /* of before a new reference, until what that moves is counted; or NULL */
	char not_three[FORS_ERROR_TEXT]; /* why it is no tree of three levels, where it may be none of two; or "" */
	uint32_t nrestarts;		 /* of the places, when it was looked at last */
	uint64_t request;		 /* digest of `forget` as it was read; 0: there was none */
	uint64_t *forget;		 /* the GUIDs in it */
	size_t nforget;
	uint64_t handed; /* digest of the places as handed to the worker last; 0: never */
	uint64_t told;	 /* digest of the differences from the reference that were reported last */
};

/*
 * Read what an earlier opensm kept. A file that cannot be used is logged and renamed, and the order begins
 * anew. A folder that does not answer is logged; what it holds comes into force when it does. Errors: FORS_ENOMEM.
 */
enum fors_err fors_kept_open(struct fors_kept *kept, const struct fors_kept_setup *setup, struct fors_error *error);

/* Never touch the folder again; news() is not called any more. */
void fors_kept_stop(struct fors_kept *kept);

/* The folder does not answer, and since when, the same words as long as it lasts; NULL: it does. */
const char *fors_kept_trouble(const struct fors_kept *kept);

void fors_kept_close(struct fors_kept *kept);

/* Begin with these places from now on (copied; NULL: no reference). Errors: FORS_ENOMEM; all is as before then. */
enum fors_err fors_kept_refer(struct fors_kept *kept, const struct fors_places *reference, struct fors_error *error);

/* A heavy sweep is about to route: look for requests to forget. */
void fors_kept_begin(struct fors_kept *kept);

/*
 * Learn from `net` into the draft, which begins as a copy of the places; errors of fors_places_learn_tree(), and there
 * is no draft then. With or without OpenSM's lock.
 */
enum fors_err fors_kept_learn(struct fors_kept *kept, const struct fors_net *net, const uint64_t *root_guids,
			      size_t nroots, struct fors_error *error);

/* Do in the draft what was requested; what is refused is logged. False: nothing was. With or without OpenSM's lock. */
bool fors_kept_forget(struct fors_kept *kept);

/*
 * Requests about what has no place here: in *guid (borrowed until the next sweep begins) and *count, and no longer
 * in the list. Where no order is known yet there are none.
 */
void fors_kept_strangers(struct fors_kept *kept, const uint64_t **guid, size_t *count);

/* fors routes this fabric: the draft becomes the kept order. With or without OpenSM's lock. */
void fors_kept_accept(struct fors_kept *kept);

/* A sweep has ended: take requests that were dealt with away, say what differs from the reference. */
void fors_kept_end(struct fors_kept *kept);

/*
 * What `places` shall hold now, when that has changed: true, and the text in *text, owned by the caller. False: it has
 * not, or there is no memory to say it; the next call tries again.
 */
bool fors_kept_changed(struct fors_kept *kept, char **text, size_t *size);

#endif
