/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command.h - publish_command: a line for /bin/sh, in a process group of its own, with a time limit.
 *
 * Nobody waits: who has the command looks at it now and then. When its time is over the whole group gets SIGTERM, and SIGKILL two
 * seconds later. What does not end two seconds after that hangs in the kernel: it is left behind, with an error that names
 * it, and the next command runs without it; but while three of them hang, no other is started.
 * Threads: one.
 */
#ifndef FORS_DAEMON_FILES_COMMAND_H
#define FORS_DAEMON_FILES_COMMAND_H

#include <stdint.h>

#include "child.h"
#include "daemon/base/errors.h"

#define FORS_COMMAND_HANGING 3
#define FORS_COMMAND_GRACE_MS 2000 /* from SIGTERM to SIGKILL, and from that to being left */

struct fors_command {
	/* its owner's */
	const char *line, *state, *dir; /* the command, and the folders that it is told of; dir NULL: there is none */
	unsigned seconds;
	void (*say)(void *context, unsigned code, const char *line); /* code 0: no error */
	void *context;
	/* its own */
	struct fors_child child;
	bool is_running, is_hurried, has_complained;
	int signals; /* how many it was sent */
	uint64_t until_ms;
	struct fors_child hanging[FORS_COMMAND_HANGING]; /* killed, and not gone */
	unsigned nhanging;
};

/* May it be started now? */
bool fors_command_may(const struct fors_command *command);

/* Start it, for this epoch and status. False: it cannot be, which is said. */
bool fors_command_start(struct fors_command *command, uint64_t epoch, const char *status);

/* Look at it, and do what is due. */
void fors_command_look(struct fors_command *command);

/* No more time than until then: opensm ends. */
void fors_command_hurry(struct fors_command *command, uint64_t until_ms);

#endif
