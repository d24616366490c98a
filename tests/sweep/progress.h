/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * progress.h - how far a long sweep has come, on a terminal: how much is done, how long the rest takes if it goes on like
 * this, and how to go on alone with what comes next.
 */
#ifndef FORS_TESTS_SWEEP_PROGRESS_H
#define FORS_TESTS_SWEEP_PROGRESS_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* `done` of `total` things are, beginning with 0; `alone` does what comes next. */
static inline void progress_tell(size_t done, size_t total, const char *things, const char *alone)
{
	static time_t started;
	long left;

	if (!started)
		started = time(NULL);
	left = done ? (long)(time(NULL) - started) * (long)(total - done) / (long)done : 0;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%zu/%zu %s, %ld:%02ld left; what comes next alone: %s\n", done, total, things,
			left / 60, left % 60, alone);
}

#endif
