/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker.h - the thread that plans, verifies and publishes.
 *
 * OpenSM's thread hands in looks and goes on at once; the newest look wins, and a
 * plan for a fabric that is no more is broken off. Knows nothing of OpenSM but its log.
 */
#ifndef FORS_DAEMON_WORKER_WORKER_H
#define FORS_DAEMON_WORKER_WORKER_H

#include "daemon/look/look.h"
#include "daemon/files/copier.h"
#include "daemon/files/publish.h"
#include "core/status/failover.h"

struct fors_worker;
struct fors_log;

/* Whether this SM may speak for the fabric. */
enum fors_mastership {
	FORS_MASTER_UNDECIDED, /* still looking for other SMs */
	FORS_MASTER_YES,
	FORS_MASTER_NO,
};

struct fors_namebook;

/* When the source of looks looks at the fabric by itself. */
struct fors_looking {
	bool is_off;	      /* never, whatever happens there */
	uint64_t interval_ms; /* so long after it has looked; 0: only when it hears of a change */
	uint64_t asked;	      /* grows whenever it asks the fabric, also where it tells nobody */
};

/* Who gives looks: OpenSM with the plugin, or a program that reads the fabric itself. */
struct fors_source {
	const char *program;					  /* whose end is told, constant; NULL: opensm */
	const char *version;					  /* of the subnet manager, constant; NULL: not known */
	enum fors_mastership (*mastership)(void *context);	  /* asked by the worker's thread, every tick */
	void (*looking)(void *context, struct fors_looking *now); /* likewise; NULL: note_attended() says all */
	void (*sweep)(void *context); /* look again, and route: any thread may call it; NULL: cannot */
	void *context;		      /* of the three */
};

struct fors_worker_setup {
	struct fors_log *log;		  /* borrowed until fors_worker_stop() */
	const struct fors_folder *folder; /* copied */
	struct fors_copier *copier;	  /* borrowed likewise; NULL: no copies, no command */
	struct fors_advisor *advisor;	  /* borrowed likewise; NULL: nobody says what to mend */
	struct fors_source source;	  /* copied */
	unsigned threads;		  /* for planning; 0: as the machine has, at most 2 */
	unsigned tick_ms;		  /* how often it looks around when there are no looks; 0: every second */
};

/* Start the thread. Errors: FORS_ENOMEM. */
enum fors_err fors_worker_start(const struct fors_worker_setup *setup, struct fors_worker **worker,
				struct fors_error *error);

/* Hand in a look, which the worker owns then; replaces one that waits. Never blocks for long. Any thread. */
void fors_worker_submit(struct fors_worker *worker, struct fors_look *look);

/* Hand in the kept order, a text which the worker owns then, to be written into the state folder. As submit(). */
void fors_worker_keep(struct fors_worker *worker, char *text, size_t size);

/*
 * Whose names are whose by the reference fabric: a book that the worker owns then. And GUIDs of end nodes that an
 * administrator wants forgotten, `count` of them, copied: their names are anybody's again. As submit().
 */
void fors_worker_refer(struct fors_worker *worker, struct fors_namebook *names);
void fors_worker_forget_names(struct fors_worker *worker, const uint64_t *guid, size_t count);

/*
 * The switches have confirmed all tables of the routed look of this number, and OpenSM has met no error up to now; the sweep
 * goes on. As submit().
 */
void fors_worker_note_tables(struct fors_worker *worker, uint64_t number);

/* A step of the sweep that runs came at this time, by fors_clock_exact_ms(). Any thread, any lock may be held. */
void fors_worker_note_step(struct fors_worker *worker, enum fors_step step, double at);

/* The number of the last withdrawal that a look asked for and readers know of; 0: none. Any thread. */
uint64_t fors_worker_withdrawn(const struct fors_worker *worker);

/*
 * The entries that jobs shall get in the next tables, one more hold of it (fors_claim_drop()); NULL: none. Any thread.
 */
struct fors_claim *fors_worker_claim(struct fors_worker *worker);

/* What OpenSM's sweeper does. */
enum fors_sweep {
	FORS_SWEEP_BEGINS,     /* a heavy sweep; the one before, if any, has ended */
	FORS_SWEEP_ENDS,       /* the subnet is up */
	FORS_SWEEP_BROKEN_OFF, /* it will not come to that, or not by fors */
};

/*
 * The tables that another engine made change in the switches, or are others than those last looked at: what is
 * published over them is to be withdrawn at once. `how` that came out is for the log, and stays where it is. Never blocks
 * for long. Any thread, any lock may be held.
 */
void fors_worker_note_change(struct fors_worker *worker, const char *how);
/* How often that was noted: a look over such tables says how often it was when they were looked at. Any thread. */
uint64_t fors_worker_changes(struct fors_worker *worker);

/*
 * A sweep that has begun and does not end, or fails, means that failures are not repaired: then the heartbeat stops and
 * the status says so, see worker_blind.c. Never blocks for long. Any thread.
 */
void fors_worker_note_sweep(struct fors_worker *worker, enum fors_sweep sweep);

/*
 * Does anybody repair failures now? While nobody does the heartbeat stops; at the start somebody does. Any thread, any lock
 * may be held.
 */
void fors_worker_note_attended(struct fors_worker *worker, bool is_attended);

/* The next manager here will do without fors: at the end all is withdrawn, and no alert is to miss a heartbeat. Any thread. */
void fors_worker_note_leaving(struct fors_worker *worker);

/*
 * Break off what it does, publish that nobody repairs failures any more, end the thread. NULL is allowed.
 * A thread that hangs in the state folder is left alone after a few seconds.
 */
void fors_worker_stop(struct fors_worker *worker);

#endif
