/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay.h - which jobs would have run side by side, and where: a history of jobs on the servers of a fabric.
 *
 * Jobs begin in the order of the history, none before its time and none before the one ahead of it, as soon as enough servers
 * are free; each runs as long as it did. Where depends on the placement:
 *
 *   recorded    on the hosts of the record, at the times of the record; a job whose hosts are not there, or not free, is left out
 *   first-fit   the first servers that are free, leaf by leaf
 *   tree        as Slurm's topology/tree: on the leaf with least free servers that are enough; if there is none, in the pod with
 *               least free servers that are enough, all of its leaf that has most free ones, and so on; if there is no such
 *               pod either, in the one that has most, and then in another
 *   random      any that are free
 *
 * Thread rules: pure; the same on any machine.
 */
#ifndef FORS_LAB_REPLAY_REPLAY_H
#define FORS_LAB_REPLAY_REPLAY_H

#include "core/fabric/fabric.h"
#include "records.h"

enum fors_placement { FORS_RECORDED, FORS_FIRST_FIT, FORS_TREE, FORS_RANDOM, FORS_NPLACEMENTS };

struct fors_replay {
	const struct fors_fabric *fabric;
	const uint32_t *pod; /* per leaf, ascending from 0; NULL: of two levels, all are in one */
	const struct fors_records *past;
	enum fors_placement placement;
	uint64_t seed;	     /* of random placement */
	uint32_t nsnapshots; /* evenly after the first quarter of the jobs, in which the machine fills */
	/* A snapshot as a file of jobs (joblist.h), `text` lent, `busy` servers at work. An error ends the replay. */
	enum fors_err (*take)(void *context, uint32_t number, const char *text, size_t size, uint32_t busy,
			      struct fors_error *error);
	void *context;
};

struct fors_replayed {
	uint32_t nstarted, nleft_out; /* jobs; larger than the fabric, or not where they were recorded */
	uint32_t nsnapshots;
};

/* Errors: FORS_EINPUT (recorded, and no job has hosts of this fabric), FORS_ENOMEM, and what take() returns. */
enum fors_err fors_replay(const struct fors_replay *replay, struct fors_replayed *result, struct fors_error *error);

#endif
