/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker.h - the thread that plans, verifies and publishes.
 *
 * OpenSM's thread hands in jobs and goes on at once; the newest job wins, and a
 * plan for a fabric that is no more is broken off. Knows nothing of OpenSM but its log.
 */
#ifndef FORS_PLUGIN_WORKER_H
#define FORS_PLUGIN_WORKER_H

#include "core/base/warnings.h"
#include "core/net/lfts.h"
#include "core/tables/tables.h"
#include "outbox.h"
#include "publish.h"

struct fors_worker;
struct osm_log;

enum fors_job_kind {
	FORS_JOB_ROUTED,    /* fors made these tables; the switches will hold them soon: plan, do not publish */
	FORS_JOB_SETTLED,   /* the switches hold these tables: publish */
	FORS_JOB_UNSETTLED, /* they hold these, but not all is well (reason): publish nothing new */
	FORS_JOB_DECLINED,  /* fors does not route this fabric (reason): withdraw */
};

/* One look at the fabric. */
struct fors_job {
	enum fors_job_kind kind;
	struct fors_net *net; /* owned, as all that follows; of a declined job as far as it was understood, or NULL */
	struct fors_fabric *fabric; /* borrows net */
	struct fors_lfts *lfts;
	double tables_ms; /* time to fill the tables, negative: unknown */
	char method[16];  /* of fors.conf */
	unsigned ilp_seconds;
	char reason[FORS_ERROR_TEXT];
	struct fors_warnings warnings; /* about cables set aside, and absent participants */
	uint64_t due_ms;	       /* when a held cable may return, by CLOCK_MONOTONIC; 0: none is held */
};

/* An empty job, or NULL when out of memory. */
struct fors_job *fors_job_new(enum fors_job_kind kind);
/* Free the job and what it owns; NULL is allowed. */
void fors_job_free(struct fors_job *job);

/* Whether this SM may speak for the fabric. */
enum fors_mastership {
	FORS_MASTER_UNDECIDED, /* still looking for other SMs */
	FORS_MASTER_YES,
	FORS_MASTER_NO,
};

struct fors_worker_setup {
	struct osm_log *log;				   /* borrowed until fors_worker_stop() */
	const struct fors_folder *folder;		   /* borrowed likewise */
	struct fors_outbox *outbox;			   /* borrowed likewise; NULL: no copies, no command */
	enum fors_mastership (*mastership)(void *context); /* asked by the worker's thread, every tick */
	void (*sweep)(void *context); /* start a heavy sweep, by the worker's thread; NULL: cannot */
	void *context;
	unsigned threads; /* for planning; 0: as the machine has, at most 2 */
	unsigned tick_ms; /* how often it looks around when there are no jobs; 0: every second */
};

/* Start the thread. Errors: FORS_ENOMEM. */
enum fors_err fors_worker_start(const struct fors_worker_setup *setup, struct fors_worker **worker,
				struct fors_error *error);

/* Hand in a job, which the worker owns then; replaces one that waits. Never blocks for long. Any thread. */
void fors_worker_submit(struct fors_worker *worker, struct fors_job *job);

/* Hand in the kept order, a text which the worker owns then, to be written into the state folder. As submit(). */
void fors_worker_keep(struct fors_worker *worker, char *text, size_t size);

/* Break off what it does, say in the status that nobody is on watch, end the thread, free it all. NULL is allowed. */
void fors_worker_stop(struct fors_worker *worker);

#endif
