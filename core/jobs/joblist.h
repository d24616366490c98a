/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * joblist.h - the jobs that run on a fabric at the same time.
 *
 * A file of jobs has a line each (core/base/joblines.h):
 *
 *      NAME: SERVER, SERVER, ...
 *      NAME [exclusive]: SERVER, ...
 *      NAME [job-index]: SERVER, ...
 *      NAME [exclusive, demand=DEMAND]: SERVER, ...
 *
 * SERVER is what fors_net_find() takes: a description, a node id, a GUID, with [PORT] where a node has several ports. A
 * job that is marked exclusive promises to follow its schedule and nothing else; it gets lanes of its own. One that
 * is marked job-index gets them too, and promises only to send to the one path index that belongs to jobs (entries.h). Any
 * other job shares. DEMAND names the demand of the job (core/demand), of which a schedule of its own is to be planned: a name like that of a job,
 * never a path, so who writes the file cannot choose what root reads. A server works for one job only. Names become names of files: letters, digits, '.', '_', '-', at most 63,
 * no '.' first.
 *
 * While jobs run servers die, and whoever writes the file does not know yet. So there is a second way to read it, which
 * leaves out what is not there and says so with the job: a server that is lost, or misspelt, concerns its own job only.
 * Likewise whatever comes of names: hosts can be given any description. Whom a name means is remembered
 * (core/net/namebook.h), and where two jobs name one server, in other words, it stays with the job that has it, else with
 * the one that names it by GUID, else with the first; the other goes without. So whether a text is good depends on
 * the text alone, and no fabric can make it bad.
 *
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_JOBS_JOBLIST_H
#define FORS_CORE_JOBS_JOBLIST_H

#include "core/base/text.h"
#include "core/fabric/fabric.h"
#include "core/net/namebook.h"
#include "members.h"

#define FORS_JOBNAME_ROOM 64 /* as in struct fors_schedule */
#define FORS_JOBDOUBT_ROOM 168
#define FORS_JOBLIST_MAX 10000	   /* jobs */
#define FORS_JOBDEMAND_NAME_MAX 62 /* characters of a job's name that has a demand */

struct fors_jobentry {
	char name[FORS_JOBNAME_ROOM];
	uint32_t line;			/* in the file */
	bool is_exclusive;		/* wants lanes of its own */
	bool has_index;			/* and sends to the path index of jobs only; is_exclusive too */
	char demand[FORS_JOBNAME_ROOM]; /* the name of its demand; empty: it has none */
	uint32_t *server;		/* into fabric->server, ascending; owned */
	uint32_t count;
	uint32_t nmissing;		 /* members that are no servers at present: fors_joblist_read_known() */
	char missing[FORS_NAME_MAX + 1]; /* the first of them */
	char why[FORS_JOBDOUBT_ROOM];	 /* and why; empty: it is not there, or takes no part */
	uint32_t ndoubts;		 /* members by a description that several nodes have, or claim; likewise */
	char doubtful[FORS_NAME_MAX + 1], doubt[FORS_JOBDOUBT_ROOM]; /* the first of them, and what is so */
	uint32_t nleaves;					     /* that its servers are on */
};

struct fors_joblist {
	struct fors_jobentry *job;
	uint32_t count;
};

/* Letters, digits, '.', '_' and '-', no '.' first, and short enough: it may name a folder, a metric's label, a key. */
bool fors_jobname_is_good(struct fors_span name);

/*
 * The jobs in `text` on the servers of `fabric` (its net indexed), in *list, owned by the caller
 * (fors_joblist_clear()). A text without jobs is an empty list. Errors, with "name:line: ": FORS_EINPUT (also a server
 * in two jobs, both lines named; a name twice), FORS_ELIMIT (too many), FORS_ENOMEM.
 */
enum fors_err fors_joblist_read(const char *text, size_t size, const char *name, const struct fors_fabric *fabric,
				struct fors_joblist *list, struct fors_error *error);

/* What is known besides, borrowed. */
struct fors_jobknown {
	const struct fors_namebook *book; /* whose the names are; NULL: nothing is remembered */
	const struct fors_members *last;  /* which servers worked for which job; NULL: not known */
};

/*
 * The same, but members that are no node of the fabric, or no server that takes part, or that work for another job, are
 * left out and counted; a job may have no server left then. Errors: the same, but for these; a server in two
 * jobs is one only when both lines name it in the same words.
 */
enum fors_err fors_joblist_read_known(const char *text, size_t size, const char *name, const struct fors_fabric *fabric,
				      const struct fors_jobknown *known, struct fors_joblist *list,
				      struct fors_error *error);
void fors_joblist_clear(struct fors_joblist *list);

/* Have the jobs of two lists, each read on a fabric of its own, the same names, and servers of the same GUIDs? */
bool fors_joblist_same(const struct fors_joblist *a, const struct fors_fabric *on_a, const struct fors_joblist *b,
		       const struct fors_fabric *on_b);

#endif
