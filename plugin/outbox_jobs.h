/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outbox_jobs.h - the schedules of jobs on the outbox's desk, and on their way to publish_dir.
 *
 * Each lies in a folder of its own, jobs/NAME, and has an epoch of its own; otherwise the rules are those of the
 * fabric's own (outbox.h): nothing is written over a later schedule of another subnet manager's, and a guest changes
 * only what it wrote itself. Threads: whoever holds the outbox's mutex; fors_outbox_jobs_carry() is for its thread,
 * without it.
 */
#ifndef FORS_PLUGIN_OUTBOX_JOBS_H
#define FORS_PLUGIN_OUTBOX_JOBS_H

#include "publish.h"

struct fors_outbox_job {
	char name[64];
	void *bytes; /* of the schedule, owned; NULL: its folder is to be removed, or nothing is left to do */
	size_t size;
	uint64_t epoch;
	uint64_t own;	   /* epoch of the schedule that was written there from here; 0: none was */
	uint64_t refused;  /* epoch of a later one that lies there, which somebody has to be told; 0: none */
	bool is_guest;	   /* as in fors_outbox_put() */
	bool is_due;	   /* to be written, or removed */
	bool is_found;	   /* there is such a folder, and nobody has said what shall be in it */
	bool is_forgotten; /* removed: nobody will ask for it again */
};

struct fors_outbox_jobs {
	struct fors_outbox_job *job;
	size_t count, room;
	bool wants_list; /* look which folders there are: the folder is a new one */
};

void fors_outbox_jobs_clear(struct fors_outbox_jobs *jobs);

/*
 * Put a schedule there, a copy of the bytes, or (NULL) have the job's folder removed. False: out of memory, nothing is
 * changed.
 */
bool fors_outbox_jobs_put(struct fors_outbox_jobs *jobs, const char *name, const void *bytes, size_t size,
			  uint64_t epoch, bool is_guest);

bool fors_outbox_jobs_due(const struct fors_outbox_jobs *jobs);
/* Another folder is to be served: all is due. */
void fors_outbox_jobs_renew(struct fors_outbox_jobs *jobs);

/*
 * A job that the worker has to hear of: *epoch lies there and is later than its own; or nobody knows it. False: none.
 */
bool fors_outbox_jobs_news(struct fors_outbox_jobs *jobs, char name[64], uint64_t *epoch);

/* Take along what is due, in *load; what memory is too short for stays due. */
void fors_outbox_jobs_take(struct fors_outbox_jobs *jobs, struct fors_outbox_jobs *load);

/* There is no folder: nothing is due. */
void fors_outbox_jobs_rest(struct fors_outbox_jobs *jobs);

/* Write a load. Errors: FORS_EIO; what has been written is not due any more. */
enum fors_err fors_outbox_jobs_carry(struct fors_outbox_jobs *load, const struct fors_folder *folder,
				     struct fors_error *error);

/*
 * The load has come back, and is cleared: what is still due in it is due again; what was seen is noted. False: no
 * memory.
 */
bool fors_outbox_jobs_return(struct fors_outbox_jobs *jobs, struct fors_outbox_jobs *load);

#endif
