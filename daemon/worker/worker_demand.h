/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_demand.h - the demand of fors.conf (demand_file): a schedule of its own, beside the fabric's. A job may have one, too (worker_jobdemand.h).
 *
 * Words beside those of worker_inside.h:
 *
 *	look	the look that showed last what the switches hold: over it a demand is planned
 *	text	the file as a schedule was planned for it last; in force whatever becomes of the file
 *	next	a newer text, not planned for yet
 *	blocked	tables are on their way, so nothing is planned before they are in the switches
 *
 * Everything here runs in the worker's thread.
 */
#ifndef FORS_DAEMON_WORKER_WORKER_DEMAND_H
#define FORS_DAEMON_WORKER_WORKER_DEMAND_H

#include "core/demand/steps.h"
#include "daemon/publisher/jobpublisher.h"
#include "daemon/look/look.h"
#include "daemon/settings/jobs_file.h"

struct fors_worker;
struct fors_status;

struct fors_worker_text {
	char *at; /* owned; NULL: none */
	size_t size;
};

struct fors_worker_demand {
	struct fors_jobpublishers *publisher; /* borrowed: of the demand, and what is left of others */
	char file[FORS_CONF_LINE_MAX];	      /* empty: none */
	char name[FORS_DEMANDNAME_ROOM];      /* its name on the publisher, marked; empty: none */
	struct fors_look *look;		      /* owned, the fabric's demand only; NULL: none */
	uint64_t basis;			      /* of what it is planned for: of the look, of a job with its schedule */
	uint64_t planned;		      /* basis of what is published; 0: nothing is */
	uint64_t tried;			      /* basis for which what there is is the last word on the text; 0: none */
	struct fors_jobs_file *reader;	      /* NULL: not needed so far */
	struct fors_worker_text text, next, refused; /* refused: found no good */
	char trouble[FORS_ERROR_TEXT / 2];	     /* what is wrong with the file; empty: nothing */
	char remark[FORS_ERROR_TEXT / 2];	     /* about the plan; empty: nothing */
	char reason[FORS_ERROR_TEXT / 2];	     /* why there is no schedule; empty: there is one */
	double over_bound;			     /* of the schedule */
	bool is_blocked, is_pending, is_told;
	bool is_named; /* a look has said which demand there is: other ones have ended */
};

/* Over what a demand is planned, beside worker->look. Borrowed. */
struct fors_worker_site {
	const struct fors_schedule *uniform; /* the plan of all with all, or NULL; of a part it is the job's own */
	struct fors_demand_part part;
};

#define FORS_DEMAND_PLANNING "a schedule is being planned"

/* --- worker_demand_one.c: any demand --- */

/* Readers get none from now on, because of this. */
void fors_worker_withdraw_demand(struct fors_worker *worker, struct fors_worker_demand *demand, const char *reason);

/* Have readers a schedule, perhaps one that an earlier opensm left? */
bool fors_worker_demand_has_plan(struct fors_worker_demand *demand);

/* Forget file, name, texts and look. What is published stays. */
void fors_worker_forget_demand(struct fors_worker_demand *demand);

/* Look at the file: a text that is new comes in `next`. What is wrong is said. */
void fors_worker_look_at_demand(struct fors_worker *worker, struct fors_worker_demand *demand);

/* A text that was refused may be good by now. */
void fors_worker_renew_demand(struct fors_worker_demand *demand);

/*
 * Plan the newest text over worker->look, and publish, or say why not; one that is no good leaves that of before, which is planned if it is pending.
 * Returns what the last plan came to: FORS_ECANCELLED, FORS_ENOMEM: to be tried again.
 */
enum fors_err fors_worker_plan_demand(struct fors_worker *worker, struct fors_worker_demand *demand,
				      const struct fors_worker_site *site);

/* --- worker_demand.c: the fabric's --- */

/* At the beginning, with the publisher open; and at the end. */
void fors_worker_demand_open(struct fors_worker *worker);
void fors_worker_demand_close(struct fors_worker *worker);

/* What a look says of the tables, before anything else is done with it: withdraw what is not over these. */
void fors_worker_heed_demand(struct fors_worker *worker, const struct fors_look *look);

/* The switches hold what the look shows, and readers know of the fabric's schedule: it is planned over. The look may become demand.look. */
void fors_worker_adopt_demand(struct fors_worker *worker, struct fors_look *look);

/* Tables have changed that are another engine's. */
void fors_worker_outdate_demand(struct fors_worker *worker, uint64_t changes);

/* This subnet manager is not the master. */
void fors_worker_leave_demand(struct fors_worker *worker);

/* Every tick: look at the file, plan what is new; files and folders. */
void fors_worker_watch_demand(struct fors_worker *worker);

/* Fill what there is to say of it into a status. */
void fors_worker_fill_demand(const struct fors_worker *worker, struct fors_status *status);

#endif
