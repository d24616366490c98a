/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * history.h - the epochs that were published: when, why, how many phases.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_STATUS_HISTORY_H
#define FORS_CORE_STATUS_HISTORY_H

#include "status.h"

#define FORS_HISTORY_MAX 1000	      /* epochs that are kept */
#define FORS_HISTORY_BYTES (1u << 20) /* no history is larger */

/* One epoch. */
struct fors_event {
	uint64_t epoch;
	uint64_t unix_ms; /* when it was published */
	uint32_t phases;  /* 0: a withdrawal */
	char method[16];  /* "-" for a withdrawal */
	char cause[320];
};

/*
 * Why a status comes with a new epoch, in event->cause: the reason of a withdrawal, and what is otherwise than it was
 * at the epoch before (NULL: not known). What the epoch is, is filled in too, but for unix_ms.
 */
void fors_event_tell(const struct fors_status *before, const struct fors_status *now, struct fors_event *event);

/*
 * The history `text` (NULL or empty: none) with one more epoch at its end, and those at the beginning left out that
 * are too many, in *longer, owned by the caller. Errors: FORS_ENOMEM.
 */
enum fors_err fors_history_add(const char *text, const struct fors_event *event, char **longer,
			       struct fors_error *error);

/*
 * The epochs of a history, the oldest first, in *list (owned by the caller) and *count. `path` opens error texts.
 * Errors: FORS_EINPUT (no history, or a damaged one: says in which line), FORS_ENOMEM.
 */
enum fors_err fors_history_parse(const char *text, const char *path, struct fors_event **list, size_t *count,
				 struct fors_error *error);

#endif
