/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs_file.h - the jobs file of fors.conf, looked at again and again, in the background.
 *
 * Who writes it should write another file and rename it. Should it be written in place all the same, half of it may be
 * read, and half of a file of jobs is one, too: the missing ones would seem to have ended. So a file that was changed
 * in place, that is empty, or whose last line has no end is believed when it is found unchanged a second time.
 *
 * Threads: one, which looks; another one, its own, goes out to the file system, and may hang there.
 */
#ifndef FORS_DAEMON_SETTINGS_JOBS_FILE_H
#define FORS_DAEMON_SETTINGS_JOBS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct fors_jobs_file;

enum fors_jobs_news {
	FORS_JOBS_SAME, /* nothing new, or not yet for sure */
	FORS_JOBS_NEW,	/* a text, perhaps the same as before, is the caller's (free()) */
	FORS_JOBS_BAD,	/* it cannot be read; the error says why */
	FORS_JOBS_LATE, /* the file system does not answer; the error says since when. When it does a text comes, or FORS_JOBS_BAD */
};

/* Look at the file of this path, shorter than FORS_CONF_LINE_MAX. Waits for a short time only. */
enum fors_jobs_news fors_jobs_file_look(struct fors_jobs_file *file, const char *path, char **text, size_t *size,
					struct fors_error *error);

/* False: it hangs for a file of another path, and would not look at this one. */
bool fors_jobs_file_is_free(struct fors_jobs_file *file, const char *path);

/*
 * *file becomes one that is free for this path: what there is, or a new one, if it is NULL or not free; that one is left alone then, and waited for a
 * second before. Errors: FORS_ENOMEM, with *file NULL.
 */
enum fors_err fors_jobs_file_have(struct fors_jobs_file **file, const char *path, struct fors_error *error);

/* Forget what was seen: what is there is new. */
void fors_jobs_file_forget(struct fors_jobs_file *file);

/* Its thread is to end, and is not waited for as yet (fors_background_dismiss()). NULL is allowed. */
void fors_jobs_file_dismiss(struct fors_jobs_file *file);

/* NULL is allowed. A thread that hangs is left alone. */
void fors_jobs_file_stop(struct fors_jobs_file *file);

#endif
