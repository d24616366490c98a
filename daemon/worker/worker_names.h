/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_names.h - whom the names in a jobs file mean: what is remembered of them from sweep to sweep, and in the state folder.
 *
 * Everything here runs in the worker's thread.
 */
#ifndef FORS_DAEMON_WORKER_WORKER_NAMES_H
#define FORS_DAEMON_WORKER_WORKER_NAMES_H

#include "core/jobs/joblist.h"

struct fors_worker;
struct fors_look;

#define FORS_WORKER_DOUBT (FORS_JOBDOUBT_ROOM + 120) /* with the line of the file and the name */

struct fors_worker_names {
	struct fors_namebook *book;    /* owned; NULL: what an earlier opensm kept was not read yet */
	struct fors_members last;      /* whom the jobs were planned with */
	uint64_t seen;		       /* digest of the end nodes and where they are, as learnt last; 0: never */
	uint64_t written;	       /* digest of the book as it is on disk; 0: it is not */
	bool is_open;		       /* names may mean others than the jobs were planned with */
	bool has_news;		       /* the book has changed since it was compared with that */
	char doubt[FORS_WORKER_DOUBT]; /* what is said of names that several nodes have, or claim; empty: nothing */
};

void fors_worker_close_names(struct fors_worker_names *names);

/*
 * Learn what a look shows of names; before the first look what was kept is read. names.is_open becomes true when there is news.
 * False: no memory, or the state folder cannot be read at present.
 */
bool fors_worker_learn_names(struct fors_worker *worker, const struct fors_look *look);

/* A text of jobs on the servers of a fabric, as fors_joblist_read_known(). */
enum fors_err fors_worker_read_jobs(const struct fors_worker *worker, const char *text, size_t size,
				    const struct fors_fabric *fabric, struct fors_joblist *list,
				    struct fors_error *error);

/* Say in log and status what is to be said of names in a list. */
void fors_worker_tell_names(struct fors_worker *worker, const struct fors_joblist *list);

/* Jobs were planned with these servers. False: no memory. */
bool fors_worker_note_members(struct fors_worker *worker, const struct fors_joblist *list,
			      const struct fors_fabric *fabric);

/* Write what is to be kept, if it has changed. */
void fors_worker_write_names(struct fors_worker *worker);

#endif
