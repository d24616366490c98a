/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_inside.h - the worker from inside: its words, its state, and what its files call of each other.
 *
 * The words, each with one meaning in all files of the worker:
 *
 *	look		one look at the fabric, handed in by the source (look.h)
 *	basis		what a plan is made for - fabric, tables, method - as one number: fors_look_basis()
 *	plan		a schedule for a basis that readers do not have yet, or why there is none
 *	proven		found right over the tables of a look by the verifier, flow by flow
 *	published	what readers have: the schedule and the status of the publisher
 *	withdraw	publish that there is no schedule, and why
 *	decided		the basis for which what is published is the last word: a proven plan, or that there is none
 *	view		what the status shows of cables, as one number: fors_look_view()
 *	foreign		over tables that another engine made (schedule_over = any)
 *	early		published when the switches have the tables, and before the sweep has ended
 *	stale		over tables that have changed since they were looked at
 *	duties		what must not wait for a plan: the kept order, mastership, the heartbeat, changed tables
 *
 * Files: worker.c the thread; worker_mail.c its mailbox; worker_look.c what comes of one look; worker_plan.c plans and proofs;
 * worker_publish.c what readers are told; worker_duties.c what is looked after whether or not there are looks;
 * worker_jobs.c, worker_jobplan.c, worker_entries.c several jobs (worker_jobs.h); worker_demand.c the demand; worker_repairs.c what to mend first;
 * worker_over.c what happens when another engine changes its tables; worker_early.c what is
 * published early; worker_failover.c how long that took; worker_blind.c what is said when nobody looks. Everything here runs in the worker's thread.
 */
#ifndef FORS_DAEMON_WORKER_WORKER_INSIDE_H
#define FORS_DAEMON_WORKER_WORKER_INSIDE_H

#include "core/planners/outcome.h"
#include "advisor.h"
#include "daemon/publisher/publisher.h"
#include "daemon/base/io_thread.h"
#include "worker.h"
#include "worker_demand.h"
#include "worker_jobdemand.h"
#include "worker_jobs.h"
#include "worker_mail.h"

/* Why there is no schedule while another engine's tables change. */
#define FORS_WORKER_CHANGED "the tables in the switches change; a schedule follows when they are settled"

/* The plan in hand. */
struct fors_worker_plan {
	uint64_t basis;		     /* 0: there is none */
	struct fors_outcome outcome; /* its schedule, or why there is none */
	struct fors_look *ahead;     /* over whose tables it was proven before the switches had them, or NULL; owned */
	bool is_safe;		     /* these tables were made after losses only, see worker_early.c */
	double proven_ms;	     /* when it was ready, by fors_clock_exact_ms() */
};

/* What the schedule that is published was planned for, and numbers about it for the status. */
struct fors_worker_published {
	uint64_t epoch;			/* of the schedule; 0: it is not ours, or none */
	uint64_t fingerprint;		/* of the fabric */
	struct fors_plan_limits limits; /* of fors.conf */
	struct fors_outcome outcome;	/* without its plan, which is the publisher's */
	bool is_foreign;		/* over tables that another engine made */
	uint64_t changes;		/* fors_worker_changes() when these were looked at */
	char tables_by[48];		/* that engine, or fors */
};

/* How long the last failover took, and the one that runs. Times by fors_clock_exact_ms(). */
struct fors_worker_failover {
	uint64_t
		lost_in; /* number of the tables that were made for losses and have no schedule yet; 0: there are none */
	double lost_ms;	 /* when the first sweep began that saw them */
	uint64_t number;	     /* of the tables of the record */
	double began_ms;	     /* which counts from here */
	struct fors_failover record; /* epoch negative: there is none yet */
	bool is_open;		     /* steps are still to come */
	uint64_t until_ms;	     /* but are not waited for any longer, by fors_clock_ms() */
	struct fors_copier_report out;
};

/* What the advisor was asked last. */
struct fors_worker_advice {
	uint64_t basis;		 /* of the question, 0: none */
	enum fors_state in;	 /* and the state of readers then */
	struct fors_gains gains; /* its answer, not known until there is one */
};

/* Another engine's tables have changed below the published schedule. */
struct fors_worker_outdated {
	double since_ms; /* when the change was noted for which a withdrawal is due; 0: none is */
	const char *how; /* and how that came out */
};

struct fors_worker {
	struct fors_worker_setup setup;
	struct fors_folder folder; /* our own: we may outlive the source, see io_thread.h */
	struct fors_io_thread *io;
	bool is_leaving;	      /* fors will not be loaded again; atomic, any thread */
	bool is_unattended;	      /* nobody repairs failures now; atomic, any thread */
	struct fors_mailbox mail;     /* what other threads hand in; all below is the worker's thread's only */
	const struct fors_look *look; /* in work, or NULL */
	struct fors_publisher publisher;
	struct fors_worker_plan plan;
	struct fors_worker_published published;
	struct fors_worker_failover failover;
	struct fors_worker_jobs jobs;	  /* several, instead of one exchange */
	struct fors_worker_demand demand; /* beside it */
	struct fors_jobpublishers demand_publisher;
	struct fors_worker_jobdemands job_demands; /* those of jobs */
	uint64_t decided;			   /* basis; 0: nothing is */
	struct fors_net *up; /* what a sweep of ours without errors has ended with last, or NULL; owned */
	bool is_early;	     /* what is published was so early, and the end of its sweep has not come */
	uint64_t view;	     /* that the status shows */
	char told_by[48];    /* whose tables the status says that the switches hold */
	struct fors_worker_advice advice;
	struct fors_worker_outdated outdated;
	bool is_proving;	 /* the published schedule is being read, by the verifier or the planner of a demand */
	bool is_idle;		 /* nothing has come for a tick */
	uint64_t incomplete;	 /* fingerprint of the fabric of which the last sweep met errors; 0: it met none */
	uint64_t due_ms;	 /* when a sweep is due, see look.h; 0: none is */
	uint64_t withdrawn;	 /* number of the last withdrawal for a ranking that was published; atomic */
	uint64_t duties_ms;	 /* when duties are due again, during a plan */
	bool is_blind;		 /* nobody looks at the fabric, and that is published */
	uint64_t asked;		 /* of struct fors_looking, when it was asked last */
	uint64_t asked_ms;	 /* and since when it is that, by fors_clock_ms() */
	bool is_master;		 /* as was seen last */
	bool lost_mastership;	 /* while this look was in work */
	bool is_standby;	 /* not the master, and that is published */
	bool is_short;		 /* memory ran out while this look was in work: it has to be tried again */
	bool has_complained;	 /* of that */
	struct fors_look *retry; /* the look to be tried again in a second, for want of memory, or NULL; owned */
};

/* --- worker.c --- */

/* Memory ran out: this look will be tried again. */
void fors_worker_run_short(struct fors_worker *worker);

/*
 * Shall the look in work be broken off? `context` is the worker. For planners and the verifier, which ask every few
 * milliseconds; duties are seen to meanwhile.
 */
bool fors_worker_cancelled(void *context);

/* --- worker_look.c --- */

/* Do what a look asks for. The look may become plan.ahead, which owns it then. */
void fors_worker_do(struct fors_worker *worker, struct fors_look *look);

/* --- worker_plan.c --- */

/* What is asked of planners for a look: its exchange, over its tables. */
struct fors_request fors_worker_request(struct fors_worker *worker, const struct fors_look *look);

/* Have the plan for a look and its basis, or why there is none, in worker->plan. False: cancelled, or no memory. */
bool fors_worker_make_plan(struct fors_worker *worker, const struct fors_look *look, uint64_t basis);

/* Prove the plan over the tables that the switches will hold soon; the look stays with the plan when it is right. */
void fors_worker_prove_ahead(struct fors_worker *worker, struct fors_look *look);

/* Is the plan right over what the switches hold? On FORS_OK outcome.is_proven says. */
enum fors_err fors_worker_prove_installed(struct fors_worker *worker, const struct fors_look *look);

/*
 * Is the published schedule right over the look's tables? On FORS_OK *is_right says. It may have been withdrawn
 * meanwhile, because the tables that it was planned over have changed.
 */
enum fors_err fors_worker_prove_published(struct fors_worker *worker, const struct fors_look *look, bool *is_right);

void fors_worker_forget_plan(struct fors_worker *worker);

/* --- worker_over.c --- */

/* Have the tables of a look changed since they were looked at? Always false for those of fors. */
bool fors_worker_is_stale(struct fors_worker *worker, const struct fors_look *look);

/* Have the tables changed over which the published schedule is? */
bool fors_worker_is_outdated(struct fors_worker *worker);

/* When tables have changed: withdraw what is published over them. */
void fors_worker_heed_tables(struct fors_worker *worker);

/* --- worker_repairs.c --- */

/* If what is published is the last word on this look: have the advisor say what to mend, once. */
void fors_worker_seek_advice(struct fors_worker *worker, const struct fors_look *look);

/* Fill what to mend into a status about this look, where that is known. */
void fors_worker_fill_advice(const struct fors_worker *worker, const struct fors_look *look,
			     struct fors_status *status);

/* Has the advisor answered? Then the status says so. */
void fors_worker_take_advice(struct fors_worker *worker);

/* --- worker_early.c --- */

/* The plan in hand was proven over tables that are on their way: may it be published when they are there? */
void fors_worker_judge_haste(struct fors_worker *worker);

/*
 * May what is proven over the tables of this routed look be published when they are in? *are_any, where that is found
 * out, says whether anything was lost; NULL: not wanted.
 */
bool fors_worker_is_safe(struct fors_worker *worker, const struct fors_look *ahead, bool *are_any);

/* A sweep has ended with this look. Was anything lost since the one before? False, too, where that is not known. */
bool fors_worker_has_lost(struct fors_worker *worker, const struct fors_look *look);

/* Publish the plan in hand, or those of all jobs, when the switches have its tables, if that is safe before the sweep has ended. */
void fors_worker_publish_early(struct fors_worker *worker);

/*
 * A sweep of ours has ended with this look: it is what later losses are told from; NULL: we are not the ones who know.
 */
void fors_worker_note_up(struct fors_worker *worker, const struct fors_look *look);

/* --- worker_failover.c --- */

/* Something was lost: the failover began with the sweep of the tables of this number, or earlier. */
void fors_worker_note_loss(struct fors_worker *worker, uint64_t number);
/* A sweep has ended, and all that was lost is dealt with. */
void fors_worker_forget_loss(struct fors_worker *worker);

/*
 * The plan in hand is about to be published. When it ends a failover, the begin of that, and failover.record is what is
 * known of it up to now; else 0.
 */
double fors_worker_open_failover(struct fors_worker *worker);
/* It was told so. */
void fors_worker_keep_failover(struct fors_worker *worker, const struct fors_failover *told);

/* Are the last steps known? Then the status says so. */
void fors_worker_watch_failover(struct fors_worker *worker);

/* --- worker_publish.c --- */

/* Publish the proven plan, which is the publisher's from now on. */
void fors_worker_publish_plan(struct fors_worker *worker, const struct fors_look *look);

/* Publish a new status; the schedule stays. */
void fors_worker_publish_status(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
				const char *reason);

/* Withdraw what is published, unless it is, and nothing is new. The look may have no fabric. */
void fors_worker_withdraw(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
			  const char *reason);

/*
 * Publish a status that tells of jobs; the fabric's own schedule is withdrawn, under an epoch for each fabric, whatever
 * it was. The look has tables.
 */
void fors_worker_publish_jobs(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
			      const char *reason);

/*
 * Publish that nobody looks at the fabric since a time by fors_clock_ms(), for this reason; or that opensm has ended. The
 * schedule stays: the switches still hold its tables.
 */
void fors_worker_publish_blind(struct fors_worker *worker, uint64_t since, const char *reason);
void fors_worker_publish_end(struct fors_worker *worker);

/* --- worker_blind.c --- */

/* Does nobody look at the fabric? NULL: somebody does; else why not, constant. */
const char *fors_worker_why_blind(struct fors_worker *worker);

/* Say when that changes: to readers, and to the log. */
void fors_worker_watch_looks(struct fors_worker *worker);

/* --- worker_duties.c --- */

/* During a plan, every tick: write the kept order, look whether mastership was lost, let the heart beat. */
void fors_worker_see_to_duties(struct fors_worker *worker);

/* After each look, and every tick: mastership, held cables, epochs, what could not be written, the heartbeat. */
void fors_worker_tend(struct fors_worker *worker);

/* Withdraw all that is published, for this reason: it is no business of this manager's any more. */
void fors_worker_give_up(struct fors_worker *worker, const char *reason);

/* Write the kept order that was handed in last, if any. */
void fors_worker_write_places(struct fors_worker *worker);

#endif
