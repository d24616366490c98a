/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * running.h - jobs that run already, seen again: in another text, or on what has become of the fabric.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_JOBS_RUNNING_H
#define FORS_CORE_JOBS_RUNNING_H

#include "owners.h"

/*
 * Which job of the list `was` is each job of the list `is`, by its name: in was_of[is->count], FORS_NO_JOB: none.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_jobs_match(const struct fors_joblist *was, const struct fors_joblist *is, uint32_t *was_of,
			      struct fors_error *error);

/*
 * Whose the lanes were, in the numbers of the new list, for struct fors_owners_task: in *before, owned by the caller
 * (free()); NULL when the fabric has other leaves or lanes than it had. Errors: FORS_ENOMEM.
 */
enum fors_err fors_owners_carried(const struct fors_fabric *then, const struct fors_owners *owners,
				  const struct fors_fabric *now, const uint32_t *was_of, uint32_t count,
				  uint32_t **before, struct fors_error *error);

/*
 * Who may be in a job of a net of any topology: a fabric that has nothing but servers, switch by switch, every CA port
 * with a LID and a cable to a switch (participants NULL) or those of them that take part; for fors_joblist_read(). In
 * *seats, owned by the caller (fors_fabric_free()); it borrows net (indexed). Errors: FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_jobs_seats(const struct fors_net *net, const struct fors_participants *participants,
			      struct fors_fabric **seats, struct fors_error *error);

#endif
