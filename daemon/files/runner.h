/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runner.h - runs a command of the administrator's, with a time limit, beside everything else.
 *
 * The command is a line for /bin/sh, in a process group of its own, with an environment of its own (PATH and
 * what the caller gives), stdin, stdout and stderr on /dev/null, and none of OpenSM's files open. When
 * its time is over the whole group gets SIGTERM, and SIGKILL two seconds later. What does not end two seconds after
 * that hangs in the kernel: it is left behind, with an error that names it, and the next command runs
 * without it; but while three of them hang, no other is started.
 * Threads: any thread may call, nobody ever waits but fors_runner_stop().
 */
#ifndef FORS_DAEMON_FILES_RUNNER_H
#define FORS_DAEMON_FILES_RUNNER_H

#include <stdint.h>

#include "core/base/error.h"

struct fors_runner;
struct fors_log;

#define FORS_RUNNER_VARIABLES 6

/* What to run. */
struct fors_errand {
	const char *command;
	unsigned seconds;			     /* its time limit */
	uint64_t epoch;				     /* of which it tells */
	const char *variable[FORS_RUNNER_VARIABLES]; /* "NAME=value", the first NULL ends them */
};

/* Start the thread. Errors: FORS_ENOMEM. */
enum fors_err fors_runner_start(struct fors_log *log, struct fors_runner **runner, struct fors_error *error);

/*
 * Run a command (copied), as soon as the one that runs has ended; one that still waits is forgotten for this.
 * Errors: FORS_ENOMEM, nothing is run then.
 */
enum fors_err fors_runner_run(struct fors_runner *runner, const struct fors_errand *errand, struct fors_error *error);

/* When a command that tells of this epoch or of a later one began, by fors_clock_exact_ms(); 0: none has, as far as is known. */
double fors_runner_began(struct fors_runner *runner, uint64_t epoch);

/*
 * Give what runs and waits two seconds to end, less what opensm has waited for others already, kill it, end the thread, free
 * it all. Comes back seven seconds after opensm began to wait at most: what does not end is left behind, a thread
 * that hangs too, which then never uses the log. NULL is allowed.
 */
void fors_runner_stop(struct fors_runner *runner, unsigned already_ms);

#endif
