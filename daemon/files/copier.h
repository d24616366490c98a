/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * copier.h - the program fors-outbox, which copies what the state folder has into publish_dir, and runs publish_command.
 *
 * Either may hang for hours, at no signal. So opensm has no thread there, and waits for nothing but the program's end at its
 * own. What the program knows comes from the state folder; it is only told that there is something new (copier_wire.h).
 * A program that ends is started again; while one hangs that was told to end, none is.
 * Threads: fors_copier_set() is called by OpenSM's sweeper, fors_copier_read() by any, the rest by the worker.
 */
#ifndef FORS_DAEMON_FILES_COPIER_H
#define FORS_DAEMON_FILES_COPIER_H

#include <limits.h>

#include "copier_wire.h"
#include "publish.h"

struct fors_copier;
struct fors_log;

/* What fors.conf asks for; strings are borrowed, NULL: nothing. */
struct fors_copier_request {
	const char *dir;
	const char *command;
	unsigned seconds; /* time limit of the command */
	bool is_shared;	  /* others of the same kind may write to the folder: one of them does (holder.h) */
};

/* Nothing is started yet; `state` is the state folder, borrowed until the end. Errors: FORS_ENOMEM. */
enum fors_err fors_copier_start(struct fors_log *log, const struct fors_folder *state, struct fors_copier **copier,
				struct fors_error *error);

/* What fors.conf asks for now: another program does it. Errors: FORS_ENOMEM. */
enum fors_err fors_copier_set(struct fors_copier *copier, const struct fors_copier_request *request,
			      struct fors_error *error);

/* There may be something new. What `ran` and `copied` are in the order is the copier's to say. */
void fors_copier_tell(struct fors_copier *copier, const struct fors_copier_order *order);

/* Every tick: hear what the program says, have its lines in the log, start it again. */
void fors_copier_tend(struct fors_copier *copier);

/* The newest report. */
void fors_copier_read(struct fors_copier *copier, struct fors_copier_report *report);

/*
 * A later schedule of another manager's lies in publish_dir, for one of this kind: its name and epoch. Said again while it
 * lies there. False: there is no more.
 */
bool fors_copier_news(struct fors_copier *copier, enum fors_jobkind kind, char name[64], uint64_t *epoch);

/* Let the program end: seven seconds at most, and what hangs then is killed and left. NULL is allowed. */
void fors_copier_stop(struct fors_copier *copier);

/* copier_program.c, of which tests have their own: where the program is. */
void fors_copier_program(char path[PATH_MAX]);

#endif
