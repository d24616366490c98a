/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobsfile.h - from the jobs of Slurm to a file of jobs (core/jobs/joblist.h): the ID is the name, and Slurm's names of hosts
 * become servers. Pure; one thread.
 */
#ifndef FORS_CLI_SLURM_JOBSFILE_H
#define FORS_CLI_SLURM_JOBSFILE_H

#include "cli/slurm/queue.h"
#include "core/net/net.h"

/* What a host is called in the fabric, where that is another name. */
struct slurm_name {
	char host[FORS_HOSTNAME_ROOM];
	char *servers; /* "SERVER, SERVER"; owned */
};

struct slurm_names {
	struct slurm_name *name; /* ascending by host; owned */
	uint32_t count;
};

/*
 * A file of names, in the grammar of a file of jobs: lines 'HOST: SERVER, SERVER, ...'. Hosts without a line keep their names.
 * Errors: FORS_EINPUT (also a host twice), FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err slurm_read_names(const char *text, size_t size, const char *path, struct slurm_names *names,
			       struct fors_error *error);
/*
 * The same from a fabric: a host is the first word of the descriptions of its adapters, which it is called by in `fors
 * fabric --format slurm` too; it becomes all their ports with a cable. Errors: FORS_ENOMEM.
 */
enum fors_err slurm_names_of(const struct fors_net *net, struct slurm_names *names, struct fors_error *error);
void slurm_names_clear(struct slurm_names *names);

/* What each file begins with. */
#define SLURM_HEAD "# The jobs that Slurm runs, by their IDs, as fors jobs --slurm has them.\n"

/* What is in the file. */
struct slurm_written {
	char *text; /* owned */
	size_t size;
	uint32_t njobs, nexclusive, nindex; /* all; those of either mark */
	uint32_t nleft_out;		    /* jobs on a host that a job with a lower ID has */
	uint64_t left_out, other;	    /* the first of them, and the job that has its host */
	char host[FORS_HOSTNAME_ROOM];	    /* which one */
};

/*
 * A job whose hosts nobody knows keeps the line that it has in `before`, the file of before, if no other job has a server of it now.
 * Errors: FORS_ELIMIT (more jobs than a file may have), FORS_ENOMEM.
 */
enum fors_err slurm_write_jobs(const struct slurm_queue *queue, const struct slurm_names *names,
			       struct fors_span before, struct slurm_written *written, struct fors_error *error);

/* The line of the job `id` in such a text, with its newline, empty: it has none. */
struct fors_span slurm_line_of(struct fors_span text, uint64_t id);

#endif
