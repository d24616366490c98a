/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outbox_jobs.h - the schedules of jobs on the outbox's desk, and on their way to publish_dir.
 *
 * Each lies in a folder of its own, jobs/NAME, and has an epoch of its own; otherwise the rules are those of the
 * fabric's own (outbox.h): nothing is written over a later schedule of another subnet manager's, and a guest changes
 * only what it wrote itself. Threads: whoever holds the outbox's mutex; fors_outbox_jobs_carry() is for its thread,
 * without it.
 */
#ifndef FORS_DAEMON_FILES_OUTBOX_JOBS_H
#define FORS_DAEMON_FILES_OUTBOX_JOBS_H

#include "helper.h"

#define FORS_OUTBOX_JOBS_LOAD 32 /* that are taken along at once, so that the fabric's own never wait for long */

struct fors_outbox_job {
	char name[64];
	void *bytes; /* of the schedule, owned; NULL: its folder is to be removed, or nothing is left to do */
	size_t size;
	uint64_t epoch;
	uint64_t own;	   /* epoch of the schedule that was written there from here; 0: none was */
	uint64_t refused;  /* epoch of a later one that lies there, which somebody has to be told; 0: none */
	uint64_t again_ms; /* it failed: not before that, by fors_clock_ms(); 0: it did not */
	bool is_guest;	   /* as in fors_outbox_put() */
	bool is_due;	   /* to be written, or removed */
	bool is_forgotten; /* removed: nobody will ask for it again */
	bool has_failed;   /* and the log has its name */
	char *trouble;	   /* of a load: what went wrong with this one, owned; NULL: nothing */
};

struct fors_outbox_jobs {
	struct fors_outbox_job *job; /* by name */
	size_t count, room;
	size_t next;	/* that is looked at when something is taken along */
	size_t failing; /* jobs of which the log has the names */
};

void fors_outbox_jobs_clear(struct fors_outbox_jobs *jobs);

/*
 * Put a schedule there, a copy of the bytes, or (NULL) have the job's folder removed. False: out of memory, nothing is
 * changed.
 */
bool fors_outbox_jobs_put(struct fors_outbox_jobs *jobs, const char *name, const void *bytes, size_t size,
			  uint64_t epoch, bool is_guest);

/* Somebody stands behind what readers have of this job already. False: out of memory. */
bool fors_outbox_jobs_know(struct fors_outbox_jobs *jobs, const char *name);
/* Does anybody? */
bool fors_outbox_jobs_knows(const struct fors_outbox_jobs *jobs, const char *name);

/* Is there something to do at this time? What failed waits. */
bool fors_outbox_jobs_due(const struct fors_outbox_jobs *jobs, uint64_t now_ms);
/* Another folder is to be served, or somebody else wrote there: all is due. */
void fors_outbox_jobs_renew(struct fors_outbox_jobs *jobs);

/* One of this kind that the worker has to hear of: *epoch lies there and is later than its own. False: there is none. */
bool fors_outbox_jobs_news(struct fors_outbox_jobs *jobs, enum fors_jobkind kind, char name[64], uint64_t *epoch);

/* Take along some of what is due, in *load; what memory is too short for stays due. */
void fors_outbox_jobs_take(struct fors_outbox_jobs *jobs, uint64_t now_ms, struct fors_outbox_jobs *load);

/* There is no folder, or another one's: nothing is due. */
void fors_outbox_jobs_rest(struct fors_outbox_jobs *jobs);

/*
 * Write a load, one job after the other: what goes wrong with one is noted there and holds up no other. Errors: FORS_EIO,
 * nobody answers (helper.h), and the rest stays due.
 */
enum fors_err fors_outbox_jobs_carry(struct fors_outbox_jobs *load, const struct fors_folder *folder,
				     struct fors_helper *helper, struct fors_error *error);

/* What there is to say about jobs whose copies failed, or work again (`trouble` NULL). */
typedef void fors_outbox_jobs_say(void *context, const char *name, const char *trouble);

/*
 * The load has come back, and is cleared: what is still due in it is due again, what failed after again_ms; what was seen
 * is noted. How many failed.
 */
uint64_t fors_outbox_jobs_return(struct fors_outbox_jobs *jobs, struct fors_outbox_jobs *load, uint64_t again_ms,
				 fors_outbox_jobs_say *say, void *context);

#endif
