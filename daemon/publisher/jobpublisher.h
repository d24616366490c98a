/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobpublisher.h - what readers have of several jobs: for each a folder jobs/NAME with a schedule, beside those of the publisher.
 *
 * A job's schedule has an epoch of its own, which only grows: above the one that was there, in the state folder and in
 * publish_dir, and at least the clock. Heartbeat and status are the publisher's, one for all jobs. A job that has ended is
 * withdrawn, which is a schedule too, and its folder is removed a day later.
 *
 * Threads: used by the worker's thread only.
 */
#ifndef FORS_DAEMON_PUBLISHER_JOBPUBLISHER_H
#define FORS_DAEMON_PUBLISHER_JOBPUBLISHER_H

#include "core/planners/jobplan.h"
#include "core/status/jobstat.h"
#include "publisher.h"

struct fors_jobpublisher_item {
	struct fors_jobstat told; /* the status of it */
	struct fors_schedule
		*schedule; /* that readers have, owned; NULL: never was one, or it is withdrawn since before */
	enum fors_jobplan_lanes whose; /* which lanes that goes over */
	const char *shared;	       /* why it goes over those of others, constant, said in the reason; "": nothing */
	uint64_t epoch;		       /* of what readers have, 0: nothing */
	uint64_t ended_ms;	       /* Unix time when it was found to have ended; 0: it has not */
	bool is_listed;		       /* in the jobs file */
	bool is_inherited;	       /* readers have it from an earlier opensm */
	bool is_due, is_loose;	       /* as those of the publisher's sheets */
};

struct fors_jobpublishers {
	struct fors_publisher *publisher;
	struct fors_jobpublisher_item **item; /* by name */
	size_t count, room;
	enum fors_jobkind kind; /* names of demands are marked (publish.h) */
	bool has_loaded;	/* what an earlier opensm left is known */
	bool has_complained;	/* about a folder that cannot be written */
	size_t next_look;	/* item whose file is looked for next */
};

/* Nothing is read yet; the publisher is open, and borrowed. */
void fors_jobpublisher_open(struct fors_jobpublishers *jobs, struct fors_publisher *publisher);
void fors_jobpublisher_close(struct fors_jobpublishers *jobs);

/* Take up what an earlier opensm left, unless that was done. False: out of memory. */
bool fors_jobpublisher_load(struct fors_jobpublishers *jobs);

/* The same of one item. */
bool fors_jobpublisher_take(struct fors_jobpublishers *jobs, const char *name);

/* The item of this name; NULL: there is none. */
struct fors_jobpublisher_item *fors_jobpublisher_find(const struct fors_jobpublishers *jobs, const char *name);

/* The item of this name, a new one if need be; NULL: out of memory. */
struct fors_jobpublisher_item *fors_jobpublisher_have(struct fors_jobpublishers *jobs, const char *name);

/* Have readers a schedule with phases of it? */
static inline bool fors_jobpublisher_has_plan(const struct fors_jobpublisher_item *item)
{
	return item->schedule && item->schedule->nphases > 0;
}

/*
 * Publish a schedule, which is taken in any case, under the next epoch; one that says what readers have already is
 * dropped, and the epoch stays. Failures to write are logged and tried again. Errors: FORS_ELIMIT (too large for a
 * file), FORS_ENOMEM.
 */
enum fors_err fors_jobpublisher_publish(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item,
					struct fors_schedule *schedule, struct fors_error *error);

/* Withdraw what readers have of it, if anything; told.state and told.reason say why. False: out of memory. */
bool fors_jobpublisher_withdraw(struct fors_jobpublishers *jobs, struct fors_jobpublisher_item *item,
				enum fors_jobstate state, const char *reason);

/* The same for all jobs that have a schedule. */
bool fors_jobpublisher_withdraw_all(struct fors_jobpublishers *jobs, enum fors_jobstate state, const char *reason);

/*
 * Every tick: write what could not be written. As the master, who knows the fabric: make up for epochs of others in
 * publish_dir, have the copier withdraw what they left there, remove folders of jobs that have ended a day ago. *is_new
 * becomes true when the status has something else to say. False: out of memory.
 */
bool fors_jobpublisher_tend(struct fors_jobpublishers *jobs, bool is_master, bool *is_new);

/* Wait for the disk to have what was written. */
void fors_jobpublisher_sync(struct fors_jobpublishers *jobs);

/* What is told of all, a copy in *stats (owned by the caller). False: out of memory. */
bool fors_jobpublisher_tell(const struct fors_jobpublishers *jobs, struct fors_jobstats *stats);

#endif
