/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publisher.h - what the world is told: schedule, status.json, metrics.prom and heartbeat in the state
 * folder.
 *
 * The publisher decides on epochs, and holds what could not be written until it can. Readers do not wait for a disk: a file
 * gets its name first, the schedule before all others, and is synced when there is nothing else to do. What a crash of
 * the machine may not lose is the number, which is why epochs are reserved ahead (epoch.h). Threads: used by the
 * worker's thread only.
 */
#ifndef FORS_DAEMON_PUBLISHER_PUBLISHER_H
#define FORS_DAEMON_PUBLISHER_PUBLISHER_H

#include "core/schedule/schedule.h"
#include "core/status/status.h"
#include "core/status/status_metrics.h"
#include "daemon/files/copier.h"
#include "daemon/files/publish.h"

struct fors_log;

#define FORS_PUBLISHER_LEFT 5 /* files of an earlier opensm: those that have an epoch, and the history */

struct fors_publisher {
	struct fors_log *log;
	const struct fors_folder *folder;
	struct fors_copier *copier;	/* borrowed; NULL: none */
	struct fors_copier_order order; /* what it was told last */
	uint64_t publications;		/* that publish_command runs for */
	unsigned unwritten_jobs;	/* a bit for each enum fors_jobkind of which a schedule could not be written */
	bool may_tidy;			/* copies of jobs that are not in the state folder may go */
	bool is_guest;			/* another subnet manager is the master: its files are not touched */
	char fabric_name[64];		/* what metrics call the fabric; empty: as the folder is called */
	char *facts;			/* the first part of metrics.prom, of the newest status, owned; or NULL */
	struct fors_counts counts;	/* the second part; sweeps and declines are the worker's to fill in */
	char *json;			/* status.json as published last, owned; or NULL */
	struct fors_schedule *schedule; /* the newest one, or NULL when there never was one */
	bool is_inherited;		/* it is that of an earlier opensm */
	uint64_t last_epoch;		/* the highest of all that readers may have seen */
	uint64_t jobs_epoch;		/* the highest that a job of several has got (jobpublisher.h) */
	uint64_t floor;			/* the next one is larger: an opensm before this one may have given it */
	uint64_t reserved;		/* up to here a crash loses no epoch: the file `epoch` on the disk says so */
	uint64_t last_beat;		/* when the heartbeat was written, Unix time in ms */
	bool has_status;		/* one has been published since this opensm started */
	enum fors_state state;		/* of the newest status */
	uint64_t since;			/* when it became so, Unix time in ms */
	struct fors_status
		*left; /* what status.json said before, owned, its dead_links as far as they are dead still; or NULL */
	uint64_t left_since; /* since when readers have had schedules from an earlier opensm; 0: it matters no more */
	char reason[FORS_ERROR_TEXT];
	struct fors_sheet {
		const char *name; /* of the file */
		void *bytes;	  /* as written last or to be written, owned; NULL: none, or can be made anew */
		size_t size;
		bool is_due;   /* still to be written */
		bool is_loose; /* written, and not on the disk for sure */
	} sheet[6];	       /* in the order of writing */
	char *told;	       /* status.json of the newest epoch that the history has, owned; or NULL */
	bool is_numbered;      /* there is an epoch that the history has not */
	double failover_ms; /* the schedule that comes now ends a failover that began then, as seen_ms; 0: it does not */
	double seen_ms; /* when readers could see the newest schedule, by fors_clock_exact_ms(); 0: it could not be written */
	bool has_complained;			/* about a folder that cannot be written */
	char trouble[FORS_COPIER_TROUBLE];	/* that complaint; empty: the state folder can be written */
	char told_trouble[FORS_COPIER_TROUBLE]; /* of that or publish_dir, as the status has it */
	int unread;    /* how many of the files that an earlier opensm left are still to be read, for want of memory */
	bool is_hasty; /* a plan is being made: all but the schedule is written by the next retry */
	bool is_unannounced; /* what was published last is not in the state folder yet, as far as it can be */
	bool is_new;	     /* the copier has not heard of what was written last */
	bool is_untold;	     /* the schedule has another epoch than the status says, for want of memory */
};

/*
 * Take up where an earlier opensm left off: the highest epoch that schedule, status.json and heartbeat have, as far as
 * they are believed (epoch.h), its schedule (checked), when it has that epoch, and the history. A bad old file is
 * logged, no error.
 */
void fors_publisher_open(struct fors_publisher *publisher, struct fors_log *log, const struct fors_folder *folder,
			 struct fors_copier *copier);
void fors_publisher_close(struct fors_publisher *publisher);

/* Whether readers have a schedule with phases in their hands. */
bool fors_publisher_has_plan(const struct fors_publisher *publisher);

/*
 * Publish a schedule (owned by the publisher then; NULL: the schedule stays) together with a status, into
 * which what the schedule says is filled. A schedule gets the next epoch; one that says the same
 * as the published one is dropped and its epoch stays, unless that one was inherited. Failures to write are logged and
 * retried. False when memory ran out: then nothing new is published, and the schedule is gone.
 */
bool fors_publisher_publish(struct fors_publisher *publisher, struct fors_schedule *schedule,
			    struct fors_status *status);

/* Publish a withdrawn schedule and the status, both with the status's reason. False: as fors_publisher_publish(). */
bool fors_publisher_withdraw(struct fors_publisher *publisher, struct fors_status *status);

/* What to mend first is known: the status says so, without a new epoch, and nobody is called. False: out of memory. */
bool fors_publisher_advise(struct fors_publisher *publisher, const struct fors_gains *gains);

/* Whose tables the switches hold is known: likewise. */
bool fors_publisher_route(struct fors_publisher *publisher, const char *tables_by);

/* More is known of how long a failover took: likewise. */
bool fors_publisher_measure(struct fors_publisher *publisher, const struct fors_failover *failover);

/*
 * What this opensm published last in *status, to be cleared; or what one that ended before left, if this one has said
 * nothing yet. False: there is neither, or no memory.
 */
bool fors_publisher_recall(const struct fors_publisher *publisher, struct fors_status *status);

/* Write the kept order, a text that is the publisher's then, into the file `places`. */
void fors_publisher_keep(struct fors_publisher *publisher, char *text, size_t size);

/*
 * Another subnet manager published this epoch in publish_dir: publish again what is published, above it. False: out of
 * memory, try again.
 */
bool fors_publisher_exceed(struct fors_publisher *publisher, uint64_t epoch);

/*
 * The next epoch for a job whose schedule has had `last` (0: none that is known); counted. *is_safe: a crash of the
 * machine cannot make it be given again; else what has it is to be on the disk before readers see it. 0: out of memory.
 */
uint64_t fors_publisher_job_epoch(struct fors_publisher *publisher, uint64_t last, bool *is_safe);

/* Do readers here have the newest schedule? Not while it cannot be written. */
bool fors_publisher_is_seen(const struct fors_publisher *publisher);

/* Try again to write what could not be written; tell the copier, and hear it. */
void fors_publisher_retry(struct fors_publisher *publisher);

/* Wait for the disk to have what was written: when nobody waits for anything else. */
void fors_publisher_sync(struct fors_publisher *publisher);

/*
 * Rewrite the heartbeat, and the metrics with it, when it is a few seconds old: somebody stands behind what is
 * published.
 */
void fors_publisher_beat(struct fors_publisher *publisher);

#endif
