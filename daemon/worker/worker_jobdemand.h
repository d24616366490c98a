/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_jobdemand.h - the demands of jobs (worker_jobs.h): one for each job whose line names it, in jobs/NAME/demand/NAME.
 *
 * It has the servers of the job's schedule, and goes over the cables, or the path index, that this one goes over: so it meets no job that this does
 * not meet. Without a schedule of its own a job has no demand either, and with each new one the demand is planned anew.
 *
 * Everything here runs in the worker's thread.
 */
#ifndef FORS_DAEMON_WORKER_WORKER_JOBDEMAND_H
#define FORS_DAEMON_WORKER_WORKER_JOBDEMAND_H

#include "worker_demand.h"

#define FORS_JOBDEMANDS_MAX 64 /* each has a thread that looks at its file */

struct fors_worker_jobdemands {
	struct fors_jobpublishers publisher;
	struct fors_worker_demand *demand[FORS_JOBDEMANDS_MAX]; /* count of them, owned */
	uint32_t count;
	struct fors_jobs_file *spare[FORS_JOBDEMANDS_MAX]; /* nspare readers of demands that have ended, owned */
	uint32_t nspare;
	uint32_t next;	   /* that is planned first in the next tick */
	uint32_t left_out; /* jobs whose demands are too many */
};

/* At the beginning, with the publisher open; and at the end. */
void fors_worker_jobdemands_open(struct fors_worker *worker);
void fors_worker_jobdemands_close(struct fors_worker *worker);

/* What a look says of the tables, before anything else is done with it: withdraw what is not over these. */
void fors_worker_heed_jobdemands(struct fors_worker *worker, const struct fors_look *look);

/* Jobs have been seen to: withdraw the demands of those whose schedules are others now, or none. */
void fors_worker_check_jobdemands(struct fors_worker *worker);

/* No job has a demand, because of this; what comes after that begins anew. */
void fors_worker_leave_jobdemands(struct fors_worker *worker, const char *reason);

/* Every tick, after the jobs: which there are, their files, what is to be planned; files and folders. */
void fors_worker_watch_jobdemands(struct fors_worker *worker);

/* Fill what there is to say of them into a status. */
void fors_worker_fill_jobdemands(const struct fors_worker *worker, struct fors_status *status);

#endif
