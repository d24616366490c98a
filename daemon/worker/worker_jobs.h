/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_jobs.h - several jobs, each with a schedule of its own (jobs_file in fors.conf): what the worker keeps of
 * them.
 *
 * Words beside those of worker_inside.h:
 *
 *	look	the look (look.h) that showed last what the switches hold: over it a new jobs file is planned
 *	text	the jobs file as it was good last; in force whatever becomes of the file
 *	wanted	the table entries that jobs shall have (claim.h), where a path index belongs to them; worker_entries.c
 *
 * Everything here runs in the worker's thread.
 */
#ifndef FORS_DAEMON_WORKER_WORKER_JOBS_H
#define FORS_DAEMON_WORKER_WORKER_JOBS_H

#include "core/planners/jobplan.h"
#include "daemon/look/look.h"
#include "daemon/publisher/jobpublisher.h"
#include "core/jobs/holdings.h"
#include "daemon/settings/jobs_file.h"
#include "worker_names.h"

#define FORS_LEISURE_AFTER_MS                                                                                          \
	10000 /* so long nothing has started or ended: time for a search as long as if all were new */

struct fors_worker;
struct fors_worker_planning;
struct fors_status;

/* Who runs over a look, and over which lanes. */
struct fors_worker_jobset {
	struct fors_look *look;	       /* owned; NULL: none */
	uint64_t basis;		       /* of the look */
	struct fors_fabric *seats;     /* owned; who may be in a job, where no lane can be somebody's; else NULL */
	struct fors_floors floors;     /* of the look's tree; empty where there is none */
	struct fors_holdings holdings; /* on these */
	struct fors_joblist list;
	bool is_planned;     /* list and owners are what jobs were planned with; else they are empty */
	bool is_brief;	     /* lanes were shared out in haste */
	uint64_t planned_ms; /* when they were, by fors_clock_ms() */
	uint64_t claimed;    /* number of the claim whose lanes and entries these are; 0: none */
	size_t nwaiting;     /* jobs that have no schedule yet since their entries are on their way */
};

struct fors_worker_jobs {
	struct fors_jobpublishers publisher;
	struct fors_worker_jobset set;
	struct fors_worker_planning *ahead; /* plans over tables that are on their way, or NULL; owned */
	bool is_safe;			    /* these were made after losses only, see worker_early.c */
	struct fors_jobs_file *reader;	    /* NULL: not needed so far */
	char file[FORS_CONF_LINE_MAX];	    /* jobs_file; empty: none */
	char *text;			    /* in force, owned; NULL: there never was one */
	size_t size;
	char *refused;			   /* the text that was found no good, owned; NULL: none */
	char trouble[FORS_ERROR_TEXT / 2]; /* what is wrong with the file; empty: nothing */
	uint64_t trouble_ms;		   /* Unix time since when */
	struct fors_worker_names names;	   /* whom the names in it mean */
	bool is_stuck; /* the text in force could not be planned for (trouble): not before something changes */
	struct fors_claim *wanted; /* held; NULL: none, or not looked for yet */
	uint64_t claims;	   /* how many there were */
	uint64_t asked_ms;	   /* when a sweep was asked for to write one; 0: never */
	uint64_t unsettled_ms;	   /* since when the tables have others than wanted; 0: they do not */
	uint64_t settled_ms;	   /* since when all goes by what is wanted; 0: it does not */
	const char *no_index; /* why none belongs to jobs, though fors.conf wants it; NULL: one does, or it does not */
	bool is_blocked;      /* the tables of the look are not those in the switches, or not for sure */
	bool is_pending;      /* the text in force has not been planned for */
	bool has_spoken;      /* as the master: what others left may be withdrawn */
	bool is_told;	      /* the status knows of all */
	bool is_busy;	      /* schedules are being read, by the verifier: they have to stay */
};

/* Whose the lanes are, and which entries are in the tables, for plans over a look. */
struct fors_worker_grant {
	int64_t index;	  /* the path index that belongs to jobs; negative: none */
	bool *is_held;	  /* per job of the list: all of its entries are in the tables, over lanes of its own */
	uint32_t *was_of; /* likewise: its number in the claim in force, or FORS_NO_JOB */
	bool *waits;	  /* likewise: it gets no schedule yet */
	size_t nwaiting;
	uint64_t claimed; /* number of the claim in force, 0: none */
	bool is_settled;  /* which is the one that is wanted */
	bool is_refused;  /* but the tables would be wrong with it */
};

/* --- worker_jobs.c --- */

/* At the beginning, with the publisher open; and at the end. */
void fors_worker_jobs_open(struct fors_worker *worker);
void fors_worker_jobs_close(struct fors_worker *worker);

/*
 * What comes of a look that has tables while jobs_file is set. It may become jobs.set.look, or that of the plans that are
 * ahead, which owns it then. `was_early`: what is published was so before the sweep had ended that this look tells of.
 */
void fors_worker_do_jobs(struct fors_worker *worker, struct fors_look *look, bool was_early);

/* The plans that are ahead are for what the switches hold now, and may be published. False: no memory. */
bool fors_worker_publish_jobs_early(struct fors_worker *worker);

/* jobs_file is not set: nobody has a schedule as a job, whatever an earlier opensm left. */
void fors_worker_drop_jobs(struct fors_worker *worker);

/* The look is declined: no job has a schedule, and none is planned over the look of before. The status is the caller's. */
void fors_worker_decline_jobs(struct fors_worker *worker, const char *reason);
/* No job has a schedule, because this subnet manager is not the master; what comes after that begins anew. */
void fors_worker_leave_jobs(struct fors_worker *worker);

/* Tables have changed that are another engine's: withdraw what is over them. */
void fors_worker_outdate_jobs(struct fors_worker *worker, uint64_t changes);

/* Every tick: look at the file, plan what it changes; files and folders. */
void fors_worker_watch_jobs(struct fors_worker *worker);

/* Fill what there is to say of jobs into a status. */
void fors_worker_fill_jobs(struct fors_worker *worker, struct fors_status *status);

/* No plans can be made for the text in force over this look: said in log and status; the jobs of before stay. */
void fors_worker_note_stuck(struct fors_worker *worker, const char *why);
/* And now they could be made. */
void fors_worker_note_unstuck(struct fors_worker *worker);

/* Jobs that are not in this list have ended: withdraw them. False: out of memory. */
bool fors_worker_end_jobs(struct fors_worker *worker, const struct fors_joblist *list);

/* --- worker_jobplan.c --- */

/*
 * Plan the text in force over a look, which is adopted on success (else it stays the caller's; NULL: the one that there
 * is). Jobs that nothing has changed for keep what they have. False: cancelled, no memory, or the text is no good
 * (trouble says so).
 */
bool fors_worker_plan_jobs(struct fors_worker *worker, struct fors_look *look);

/*
 * Jobs own lanes that were shared out in haste, some are slower than they would be alone, and nothing has happened for
 * ten seconds: share out lanes once with the whole search, from those that there are. Jobs of which no lane moves keep
 * what they have.
 */
void fors_worker_plan_at_leisure(struct fors_worker *worker);

/*
 * Plan the text in force over tables that are on their way; nothing is published. On success the look is owned by the
 * plans, jobs.ahead. False: cancelled, no memory, or the text is no good there (the end of the sweep will tell).
 */
bool fors_worker_plan_jobs_ahead(struct fors_worker *worker, struct fors_look *look);

/*
 * The switches hold what the plans were made over: publish them. Their look is adopted, or this one (not NULL) in its place,
 * which shows the same. False: there are none, or no memory; it stays the caller's then.
 */
bool fors_worker_take_jobs_ahead(struct fors_worker *worker, struct fors_look *look);

/* The look of the plans that are ahead; NULL: there are none. */
const struct fors_look *fors_worker_jobs_ahead(const struct fors_worker *worker);
void fors_worker_forget_jobs_ahead(struct fors_worker *worker);

/* The jobs of the list have the servers that they were planned with: only what is said of the others may be new. */
void fors_worker_renew_reasons(struct fors_worker *worker, const struct fors_joblist *list);

/*
 * Read the text in force on the servers that may be in a job over the look of the set, which has nothing else yet: fills
 * list, and floors or seats, where it needs them. Errors: of the text, and of floors.h; to be cleared in any case.
 */
enum fors_err fors_worker_read_jobset(const struct fors_worker *worker, struct fors_worker_jobset *set,
				      struct fors_error *error);
/* Frees the look, too. */
void fors_worker_clear_jobset(struct fors_worker_jobset *set);
/* The servers that its list speaks of: the fabric's, those of floor 0, or its own seats. The set has a look. */
const struct fors_fabric *fors_worker_jobset_seats(const struct fors_worker_jobset *set);

/* --- worker_entries.c --- */

/* The path index that belongs to jobs over a look; negative: none does. */
int64_t fors_worker_job_index(const struct fors_look *look);
/* Why that is so, where fors.conf wants one; NULL: it does not, or one does. The look has tables. */
const char *fors_worker_why_no_index(const struct fors_look *look);

/*
 * Every tick, with a look: find the entries that jobs shall have; ask for a sweep when the tables have others; have the
 * jobs planned anew when they have come.
 */
void fors_worker_seek_entries(struct fors_worker *worker);
void fors_worker_want_no_entries(struct fors_worker *worker);
/* The claim is what is wanted from now on; the hold is passed on. */
void fors_worker_want(struct fors_worker *worker, struct fors_claim *claim);

/* --- worker_left.c --- */

/*
 * Nothing is wanted yet, and schedules of an earlier opensm go over the path index of jobs: the entries that they tell are
 * wanted. To be asked before any of them is withdrawn.
 */
void fors_worker_inherit_entries(struct fors_worker *worker, const struct fors_look *look);

/*
 * Whose the lanes are, with the entries over them that are in the tables, in *holdings (bound: 0: that job does not have
 * all), and the rest of it in *grant, for a list over a look where a path index belongs to jobs. Both are the caller's, also
 * on failure (fors_holdings_clear(), fors_worker_clear_grant()). Errors: FORS_ENOMEM.
 */
enum fors_err fors_worker_grant(const struct fors_worker *worker, const struct fors_look *look,
				const struct fors_joblist *list, struct fors_holdings *holdings,
				struct fors_worker_grant *grant, struct fors_error *error);
void fors_worker_clear_grant(struct fors_worker_grant *grant);

#endif
