/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue.h - the jobs that Slurm runs, from what squeue prints: `squeue --json`, in the shape of version 22.05 (job_state is a
 * text) and in that of newer ones (a list of texts), or lines of SLURM_FORMAT.
 *
 * Pure, from texts to data; any thread.
 */
#ifndef FORS_CLI_SLURM_QUEUE_H
#define FORS_CLI_SLURM_QUEUE_H

#include "core/base/hostlist.h"

/*
 * ID, state, partition, nodes, the first 15 bytes of the comment. A comment is whatever a user wrote, also with line ends in
 * it: what 15 bytes can hold is too short to look like another job's line, which begins with a word of its own.
 */
#define SLURM_FORMAT "fors-job %A|%T|%P|%N|%15k"

/* What stands behind a job's name in the file (core/jobs/joblist.h). */
enum slurm_mark { SLURM_SHARED, SLURM_EXCLUSIVE, SLURM_JOB_INDEX };

/* Which mark a job gets whose comment has none of the words fors=exclusive, fors=job-index and fors=shared. */
struct slurm_marking {
	const char *exclusive; /* partitions whose jobs are exclusive, separated by commas; NULL: none */
	enum slurm_mark usual; /* of all others */
};

struct slurm_job {
	uint64_t id;
	enum slurm_mark mark;
	struct fors_hostlist hosts; /* at least one */
	uint32_t order;		    /* in the text */
};

struct slurm_queue {
	struct slurm_job *job; /* ascending by ID, each once; owned */
	uint32_t count;
};

/*
 * The jobs of `text` that run or are about to (RUNNING, CONFIGURING) and have nodes, in *queue, owned by the caller. Errors:
 * FORS_EINPUT when the text is something else, FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err slurm_read_json(const char *text, size_t size, const struct slurm_marking *marking,
			      struct slurm_queue *queue, struct fors_error *error);
enum fors_err slurm_read_lines(const char *text, size_t size, const struct slurm_marking *marking,
			       struct slurm_queue *queue, struct fors_error *error);
void slurm_queue_clear(struct slurm_queue *queue);

#endif
