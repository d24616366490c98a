/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records.h - jobs that have run, from the records of a scheduler.
 *
 * Two kinds of text are read, told apart by their first line:
 *
 *      sacct -a -X -P -o JobID,Start,End,NNodes,NodeList   columns parted by '|' under their names, in any order
 *      the Standard Workload Format                        18 numbers in a line, ';' opens a comment (Parallel Workloads Archive)
 *
 * Jobs that never began or have no end are left out. Thread rules: plain data; hosts point into the text.
 */
#ifndef FORS_LAB_REPLAY_RECORDS_H
#define FORS_LAB_REPLAY_RECORDS_H

#include "core/base/text.h"

#define FORS_RECORDS_MAX 10000000 /* jobs */

struct fors_record {
	uint64_t id;
	int64_t start, end;	/* seconds; start <= end */
	uint32_t nservers;	/* at least 1 */
	struct fors_span hosts; /* as Slurm lists them (core/base/hostlist.h); empty: not recorded */
};

struct fors_records {
	struct fors_record *job; /* by start, then ID; owned */
	uint32_t count;
};

/*
 * The jobs of `text` in *past, owned by the caller (free(past->job)). cores: processors of a server, at least 1, by which
 * those of the Standard Workload Format are divided. Errors: FORS_EINPUT "name:line: ...", FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_records_read(const char *text, size_t size, const char *name, uint32_t cores,
				struct fors_records *past, struct fors_error *error);

#endif
