/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outbox.h - copies of what is published for publish_dir, and publish_command after each publication.
 *
 * publish_dir may be a network file system that is slow, full, or gone for hours. So a program of its own
 * writes there (helper.h), by order of a thread that nobody waits for; what is not written yet is replaced by what is newer.
 * The command is run by another one (runner.h).
 * Threads: fors_outbox_set() is called by OpenSM's sweeper, the rest by the worker.
 */
#ifndef FORS_DAEMON_FILES_OUTBOX_H
#define FORS_DAEMON_FILES_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "publish.h"

struct fors_outbox;
struct fors_log;

/* The files that go there, in the order of writing. */
enum fors_outbox_file { FORS_OUT_SCHEDULE, FORS_OUT_STATUS, FORS_OUT_METRICS, FORS_OUT_HEARTBEAT, FORS_OUT_FILES };

/* What fors.conf asks for; strings are borrowed, NULL: nothing. */
struct fors_outbox_request {
	const char *dir;
	const char *command;
	unsigned seconds; /* time limit of the command */
	bool is_shared;	  /* others of the same kind may write to the folder: one of them does (holder.h) */
};

/* Start the threads; `state` is the state folder, borrowed until the end. Errors: FORS_ENOMEM. */
enum fors_err fors_outbox_start(struct fors_log *log, const struct fors_folder *state, struct fors_outbox **outbox,
				struct fors_error *error);

/* What fors.conf asks for now. A folder that was not served before gets all files at once. Errors: FORS_ENOMEM. */
enum fors_err fors_outbox_set(struct fors_outbox *outbox, const struct fors_outbox_request *request,
			      struct fors_error *error);

/* What a copy is. */
enum fors_outbox_how {
	FORS_OUT_GUEST = 1,   /* this subnet manager is not the master any more: nothing is written unless the schedule
				 in the folder is the one that it wrote itself */
	FORS_OUT_DURABLE = 2, /* on the disk before readers see it: its epoch is reserved nowhere */
};

/*
 * Copy these bytes to the file, soon; `how` is a sum of enum fors_outbox_how. Copies get their names at once, and are synced
 * when none has come for a second. False: out of memory, and what was put before stays.
 */
bool fors_outbox_put(struct fors_outbox *outbox, enum fors_outbox_file file, const void *bytes, size_t size,
		     unsigned how);

/*
 * Copy the schedule of a job, of this epoch, into jobs/NAME; bytes NULL: remove that folder. False: out of memory, and
 * what was put before stays.
 */
bool fors_outbox_put_job(struct fors_outbox *outbox, const char *name, const void *bytes, size_t size, uint64_t epoch,
			 bool is_guest);

/* The same schedule lies there already, from an earlier opensm, and holds as yet. False: out of memory. */
bool fors_outbox_know_job(struct fors_outbox *outbox, const char *name);

/*
 * Every tick: is this subnet manager the master, and has it told which jobs and demands there are? As long as it is, what other opensms left
 * in jobs/ and demand/ is withdrawn, and removed a day later; slowly, when there is nothing else to do, and with no word to anybody.
 */
void fors_outbox_tend_jobs(struct fors_outbox *outbox, bool is_master);

/*
 * The epoch of another subnet manager's schedule, later than the one that was put for one of this kind; each
 * once, and what is of another kind waits for whoever asks for that. False: there is no more.
 */
bool fors_outbox_job_news(struct fors_outbox *outbox, enum fors_jobkind kind, char name[64], uint64_t *epoch);

/* All files of a publication have been put: run the command when they are copied, or cannot be. */
void fors_outbox_announce(struct fors_outbox *outbox, uint64_t epoch, const char *state);

/*
 * The largest epoch that was found in the folder, of another subnet manager's schedule; 0: none. A schedule is
 * not written over one with a larger epoch: readers would take it for an old one.
 */
uint64_t fors_outbox_seen(struct fors_outbox *outbox);

/* When an epoch, or a later one, got out; by fors_clock_exact_ms(), 0: it has not yet, or there is nowhere to go. */
struct fors_outbox_times {
	bool has_dir, has_command; /* what is asked for now */
	double copied_ms;	   /* the schedule got its name in publish_dir */
	double command_ms;	   /* the command began */
};

struct fors_outbox_times fors_outbox_times(struct fors_outbox *outbox, uint64_t epoch);

/* Is the folder ours to write to, as far as is known? Not while another one holds it. Any thread. */
bool fors_outbox_is_holder(struct fors_outbox *outbox);

/* How many ways to the folder have failed. */
uint64_t fors_outbox_failures(struct fors_outbox *outbox);

#define FORS_OUTBOX_TROUBLE 256

/* Why the folder cannot be written, in text[]; empty: it can, as far as is known. */
void fors_outbox_trouble(struct fors_outbox *outbox, char text[FORS_OUTBOX_TROUBLE]);

/*
 * Write what is left, and end; a folder that does not answer within two seconds is left alone, at once if it has not
 * answered for as long before. NULL is allowed.
 */
void fors_outbox_stop(struct fors_outbox *outbox);

#endif
