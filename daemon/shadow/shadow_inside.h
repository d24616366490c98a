/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow_inside.h - what the files of the shadow share: shadow.c the thread and its mailbox, shadow_find.c what comes of a
 * sight, shadow_files.c what is written. All of it in the shadow's thread.
 */
#ifndef FORS_DAEMON_SHADOW_SHADOW_INSIDE_H
#define FORS_DAEMON_SHADOW_SHADOW_INSIDE_H

#include "core/status/status.h"
#include "core/status/status_metrics.h"
#include "shadow.h"

/* --- shadow_find.c --- */

/* What comes of a sight. */
struct fors_found {
	uint64_t basis;		   /* the digest of what it was found from; 0: nothing is found */
	char fabric_name[64];	   /* of fors.conf; empty: none */
	struct fors_status status; /* but for the counts of sweeps */
	char *entries;		   /* those that differ, as text, owned; NULL: fors would decline */
};

void fors_found_clear(struct fors_found *found);

/*
 * Plan, compare, count: all that a sight says, into *found, which is cleared first; the same sight as that of before leaves
 * it as it is. cancelled() is asked every few milliseconds. Errors: FORS_ECANCELLED, FORS_ENOMEM; nothing is found then.
 */
enum fors_err fors_shadow_find(const struct fors_sight *sight, bool (*cancelled)(void *context), void *context,
			       struct fors_found *found, struct fors_error *error);

/* --- shadow_files.c --- */

/* In the order of writing. */
enum { FORS_SHADOW_PLACES, FORS_SHADOW_ENTRIES, FORS_SHADOW_STATUS, FORS_SHADOW_METRICS, FORS_SHADOW_HISTORY };
#define FORS_SHADOW_NFILES 5

/* The files of the shadow. What cannot be written is kept, and tried again. */
struct fors_shadow_files {
	struct fors_log *log;
	const struct fors_folder *folder;
	struct {
		char *text; /* as it was written last, or shall be; owned, NULL: none */
		size_t size;
		bool is_due;
	} file[FORS_SHADOW_NFILES];
	bool has_complained; /* about a folder that cannot be written */
	bool is_read;	     /* the history of before was looked for */
	struct fors_counts counts;
};

/* This text (owned by the files then) is what a file shall hold. */
void fors_shadow_put(struct fors_shadow_files *files, int which, char *text, size_t size);
/* Status, metrics and entries of what was found, and one line of the history for the sweep. Errors: FORS_ENOMEM. */
enum fors_err fors_shadow_tell_all(struct fors_shadow_files *files, const struct fors_found *found, bool is_sweep,
				   struct fors_error *error);
/* Write what is due; what cannot be written stays so. */
void fors_shadow_write(struct fors_shadow_files *files);
void fors_shadow_files_clear(struct fors_shadow_files *files);

#endif
