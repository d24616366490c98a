/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_mail.h - what other threads hand in to the worker: the mailbox, as the worker sees it. What hands in is worker.h.
 *
 * All of it is guarded by the mailbox's mutex, which is held for moments only, and which no file but worker_mail.c
 * takes. What is taken out of the mailbox is the worker's.
 */
#ifndef FORS_DAEMON_WORKER_WORKER_MAIL_H
#define FORS_DAEMON_WORKER_WORKER_MAIL_H

#include <pthread.h>

#include "steps.h"
#include "worker.h"

/* The sweeps of the source of looks. */
struct fors_mail_sweeps {
	uint64_t ended, declines; /* how many ended, and how many looks said that fors does not route */
	uint64_t since;		  /* one runs since then, by fors_clock_ms(); 0: none does */
	uint64_t last_ms;	  /* the last one took so long */
	uint64_t ended_ms;	  /* when the last one ended, by fors_clock_ms(); the worker's start, if none has */
	bool is_open;		  /* one has begun since then */
	bool has_failed;	  /* and one more: the first has failed without a word */
};

/* Whose names are whose. */
struct fors_mail_names {
	struct fors_namebook *reference; /* the newest, or NULL */
	uint64_t *forget;		 /* nforget GUIDs whose names shall be forgotten */
	size_t nforget;
};

/* Another engine's tables have changed. */
struct fors_mail_changes {
	uint64_t count;	 /* changes that were noted */
	double noted_ms; /* when the first was that is not acted upon, by fors_clock_exact_ms(); 0: all are */
	const char *how; /* and how that came out */
};

struct fors_mailbox {
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct fors_look *look; /* the newest, or NULL; owned, as is all below */
	char *places;		/* the newest kept order, to be written, or NULL */
	size_t places_size;
	struct fors_mail_names names; /* not taken yet */
	uint64_t confirmed;	      /* number of the routed look whose tables the switches have; 0: no news */
	struct fors_mail_sweeps sweeps;
	struct fors_mail_changes changes;
	struct fors_steps steps;  /* of the source's sweeps */
	struct fors_claim *claim; /* the other way: for the next tables, held; NULL: none */
	bool stop;
};

void fors_mail_open(struct fors_mailbox *box);
void fors_mail_close(struct fors_mailbox *box);

/* The worker shall end. */
void fors_mail_stop(struct fors_mailbox *box);

/*
 * Wait for news, a tick at most; a look among them in *look, or NULL. *is_idle: there was none in a tick. False: the
 * worker shall end.
 */
bool fors_mail_wait(struct fors_mailbox *box, unsigned tick_ms, struct fors_look **look, bool *is_idle);

/* Is there no use in going on with this look: one waits that overtakes it, or the worker shall end? */
bool fors_mail_overtakes(struct fors_mailbox *box, const struct fors_look *look);

/* Does a look wait that shows another fabric than this one, or shall the worker end? */
bool fors_mail_shows_another(struct fors_mailbox *box, const struct fors_look *look);

/* Is there a look, or the word that the switches have tables? */
bool fors_mail_waits(struct fors_mailbox *box);

/* Was it said that the switches have the tables of this look (or NULL), and has nothing come in since? Takes the word. */
bool fors_mail_confirms(struct fors_mailbox *box, const struct fors_look *look);

/* The newest kept order, or NULL. */
char *fors_mail_take_places(struct fors_mailbox *box, size_t *size);

struct fors_mail_names fors_mail_take_names(struct fors_mailbox *box);

/* What was noted; from now on it is acted upon. */
struct fors_mail_changes fors_mail_take_changes(struct fors_mailbox *box);

struct fors_mail_sweeps fors_mail_sweeps(struct fors_mailbox *box);

/* The steps of the sweep of these tables in *copy. False: it is long ago. */
bool fors_mail_steps(struct fors_mailbox *box, uint64_t number, struct fors_steps_of *copy);

/* This is the claim for the next tables, one more hold of it; NULL: none. And one more hold of what is. */
void fors_mail_put_claim(struct fors_mailbox *box, struct fors_claim *claim);
struct fors_claim *fors_mail_claim(struct fors_mailbox *box);

#endif
