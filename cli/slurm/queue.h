/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue.h - the jobs that Slurm runs, from what squeue prints: lines of SLURM_FORMAT, which every version knows.
 *
 * Pure, from texts to data; any thread.
 */
#ifndef FORS_CLI_SLURM_QUEUE_H
#define FORS_CLI_SLURM_QUEUE_H

#include "core/base/hostlist.h"
#include "core/jobs/joblist.h"

/*
 * Two formats of lines. The first has nothing that a user writes: ID, state, partition, nodes. The second is the one text of users that
 * is asked for, the comment, by a call of its own: a comment may have line ends in it, and look like any line. It is cut off at
 * 60 bytes, and what each line of ours begins with is longer than that: so no comment holds the beginning of a line.
 */
#define SLURM_FORMAT "fors-job %A|%T|%P|%N|"
#define SLURM_COMMENT_HEAD "fors-job-comment-----------------------------------------------"
#define SLURM_COMMENT_FORMAT SLURM_COMMENT_HEAD "%A|%60k"

/* What stands behind a job's name in the file (core/jobs/joblist.h). */
enum slurm_mark { SLURM_SHARED, SLURM_EXCLUSIVE, SLURM_JOB_INDEX };

/* Which mark a job gets whose comment has none of the words fors=exclusive, fors=job-index and fors=shared. */
struct slurm_marking {
	const char *exclusive; /* partitions whose jobs are exclusive, separated by commas; NULL: none */
	enum slurm_mark usual; /* of all others */
	bool has_demands;      /* a comment may name a demand, fors-demand=NAME: a name, never a path */
};

struct slurm_job {
	uint64_t id;
	enum slurm_mark mark;
	char demand[FORS_JOBNAME_ROOM]; /* its name; empty: none */
	struct fors_hostlist hosts;	/* empty: nobody knows, what squeue says of it is not understood */
	uint32_t order;			/* in the text */
};

struct slurm_queue {
	struct slurm_job *job; /* ascending by ID, each once; owned */
	uint32_t count;
	uint32_t nbad;		 /* jobs whose text is not understood, also those that are not in job[], */
	struct fors_error error; /* and this is what is wrong with the first of them */
};

/* What a call of squeue printed. */
struct slurm_text {
	char *text; /* owned; NULL: nothing */
	size_t size;
};

/*
 * The jobs of a text of SLURM_FORMAT that run or are about to (RUNNING, CONFIGURING) and have nodes, in *queue, owned by the caller.
 * comments: of SLURM_COMMENT_FORMAT; NULL: they are not known. A job that is not understood costs no other one: only where no job at all is
 * understood, the text is something else. Zero bytes of the texts are replaced. Errors: FORS_EINPUT when the text is something else, FORS_ENOMEM.
 */
enum fors_err slurm_read_lines(struct slurm_text text, const struct slurm_text *comments,
			       const struct slurm_marking *marking, struct slurm_queue *queue,
			       struct fors_error *error);
void slurm_queue_clear(struct slurm_queue *queue);

#endif
