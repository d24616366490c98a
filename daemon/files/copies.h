/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * copies.h - publish_dir has what the state folder has: one pass over both.
 *
 * A file whose inode, size and times are those that were copied last is not read again, unless publish_dir is another folder by now,
 * or its schedule gone or an older one. A schedule, of the fabric or of a
 * job, is not written over a later one of another subnet manager's, nor is anything of the fabric's then; a guest
 * (copier_wire.h) writes over what was copied from here only. A copy has its name first and is synced later; what the
 * folder lacks room for holds up no withdrawal, for that lies ready there (publish.h).
 *
 * What the state folder could not take is not known here. So when a schedule is missing there (is_unwritten), all copies
 * with phases that were made from here are withdrawn, be they right or not, and so is an older schedule of the fabric.
 * Threads: one.
 */
#ifndef FORS_DAEMON_FILES_COPIES_H
#define FORS_DAEMON_FILES_COPIES_H

#include "copier_wire.h"
#include "core/schedule/schedule_header.h"
#include "holder.h"
#include "publish.h"

/* In the order of writing. */
enum fors_copies_file {
	FORS_COPIES_SCHEDULE,
	FORS_COPIES_STATUS,
	FORS_COPIES_METRICS,
	FORS_COPIES_HEARTBEAT,
	FORS_COPIES_FILES
};

/* What a file was when it was copied; all zeros: it was not. */
struct fors_copy_stamp {
	uint64_t dev, ino, size;
	int64_t changed_ns, written_ns; /* ctime, mtime */
};

/* A schedule of a job or a demand. */
struct fors_copy {
	char job[64]; /* as in struct fors_folder */
	struct fors_copy_stamp stamp;
	uint64_t own;	 /* epoch of the one that was copied; 0: none was */
	bool is_there;	 /* in the state folder, by this pass */
	bool has_failed; /* and the log has its name */
};

struct fors_copies {
	/* the owner's */
	struct fors_folder state, dir; /* from, to: which has no name, but the state folder's as tag */
	bool is_shared;		       /* others may publish in `dir`; one of them does */
	void (*say)(void *context, unsigned code, const char *line);  /* for the log; code 0: no error */
	void (*news)(void *context, const char *job, uint64_t epoch); /* a later one of this job lies there */
	bool (*is_overtaken)(
		void *context); /* after each job: has something newer come? Then the rest waits for the next pass; or NULL */
	void *context;
	/* to be read after a pass */
	bool is_held_elsewhere, is_cut;	 /* is_cut: it was overtaken, and another one is due */
	uint64_t seen, copied, failures; /* as in struct fors_copier_report */
	double copied_ms;
	/* its own */
	struct fors_holder holder;
	uint64_t dir_dev, dir_ino; /* of the folder that the copies are in */
	struct fors_copy_stamp file[FORS_COPIES_FILES];
	bool is_loose[FORS_COPIES_FILES]; /* it has its name there, and is not on the disk for sure */
	bool has_doubted;		  /* about the schedule that lies there */
	struct fors_copy *job;		  /* by name, owned */
	size_t count, room;
	size_t next;	  /* of the jobs, where the next pass begins */
	unsigned failing; /* jobs that the log has the names of */
};

/* Copy what is new. Errors: FORS_EIO, FORS_ENOMEM (counted; the rest is copied by the next pass); of single jobs, see `say`. */
enum fors_err fors_copies_pass(struct fors_copies *copies, const struct fors_copier_order *order,
			       struct fors_error *error);

/* Wait for the disk to have what was copied. What cannot be synced is copied once more. Errors: FORS_EIO. */
enum fors_err fors_copies_sync(struct fors_copies *copies, struct fors_error *error);

/*
 * Look what other subnet managers left in `jobs` and `demand` there, of jobs and demands that the state folder has not: a schedule
 * with phases, which readers would take for good since there is a heartbeat, is withdrawn; a day after that the folder
 * is removed. What is no schedule of one, of an epoch that is believed, is somebody else's. may_go_on() is asked before each
 * folder. Says nothing of what fails.
 */
void fors_copies_tidy(struct fors_copies *copies, bool (*may_go_on)(void *context), void *context);

void fors_copies_clear(struct fors_copies *copies);

/* --- what copies.c and copies_jobs.c share --------------------------------- */

/* The bytes of a file that is another one than *stamp, owned by the caller, and its stamp; NULL: it is the same, or none. */
enum fors_err fors_copies_read(const struct fors_folder *folder, const char *name, struct fors_copy_stamp *stamp,
			       void **bytes, size_t *size, struct fors_error *error);

/* The epoch of a whole schedule; 0: it is none. */
uint64_t fors_copies_epoch(const void *bytes, size_t size);

/* Write a withdrawal over what lies there. */
enum fors_err fors_copies_withdraw(const struct fors_folder *folder, uint64_t epoch, const char *why,
				   struct fors_error *error);

/* copies_jobs.c: the part of the pass that is for jobs and demands; each by itself. */
void fors_copies_pass_jobs(struct fors_copies *copies, const struct fors_copier_order *order);

#define FORS_COPIES_UNWRITTEN "withdrawn, since the state folder of the subnet manager cannot be written"

#endif
