/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * child.h - a shell or a program of our own in a process group of its own, which may be asked whether it is gone but is
 * never waited for.
 * Threads: one at a time for each child; any thread may start one.
 */
#ifndef FORS_DAEMON_FILES_CHILD_H
#define FORS_DAEMON_FILES_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct fors_child {
	pid_t pid;	/* the shell's or the program's, and that of its process group; 0: no child */
	bool has_ended; /* the shell has been reaped: by us, or by somebody else */
	int status;	/* as waitpid() gives it; 0 when somebody else reaped it */
};

/*
 * Start "/bin/sh -c command" with this environment (ended by NULL) and no other: stdin, stdout and stderr on /dev/null,
 * none of the caller's files open, no signal blocked or ignored. 0, or an errno.
 */
int fors_child_start(const char *command, char *const environment[], struct fors_child *child);

/* The same for the program argv[0], by its path, without a shell; `input` is its stdin, or (-1) /dev/null. */
int fors_child_run(char *const argv[], char *const environment[], int input, struct fors_child *child);

/* Has the shell ended? Never waits. */
bool fors_child_ended(struct fors_child *child);

/* Has all of its process group ended? Never waits. For a process that reaps (PR_SET_CHILD_SUBREAPER). */
bool fors_child_gone(struct fors_child *child);

/* Send a signal to the process group. */
void fors_child_signal(const struct fors_child *child, int signal);

#endif
