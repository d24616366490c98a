/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * members.h - which servers worked for which job last.
 *
 * A jobs file says who works for a job by names; what it was planned with says who that was.
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_JOBS_MEMBERS_H
#define FORS_CORE_JOBS_MEMBERS_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORS_MEMBER_ROOM 64 /* FORS_JOBNAME_ROOM */

struct fors_member {
	char job[FORS_MEMBER_ROOM];
	uint64_t guid; /* port GUID */
};

struct fors_members {
	struct fors_member *member; /* by job, then GUID, after fors_members_sort(); owned */
	size_t count, room;
};

/* Add one; sort when all are there. Errors: FORS_ENOMEM. */
enum fors_err fors_members_add(struct fors_members *members, const char *job, uint64_t guid, struct fors_error *error);
void fors_members_sort(struct fors_members *members);
void fors_members_clear(struct fors_members *members);

/* Did the server with this port GUID work for the job? */
bool fors_members_have(const struct fors_members *members, const char *job, uint64_t guid);

#endif
