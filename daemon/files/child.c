/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: posix_spawn() and not fork(), since a copy of a daemon with threads may do next to nothing; and
 * waitpid() for our own child only, so that nobody else's is reaped.
 *
 * A process that hangs in the kernel ends at no signal. The shell that does not end is seen by waitpid(); what it had
 * started becomes our child when the shell is gone (PR_SET_CHILD_SUBREAPER), is reaped here, and kill(-group, 0) asks whether
 * anybody is left.
 */
#include "config.h"

#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing that OpenSM has open goes to the child: not its log, not the device. 0, or an errno. */
static int close_others(posix_spawn_file_actions_t *actions)
{
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
	return posix_spawn_file_actions_addclosefrom_np(actions, 3);
#else
	DIR *list = opendir("/proc/self/fd");
	const struct dirent *entry;
	int failed = list ? 0 : errno;

	while (!failed && (entry = readdir(list)))
		if (atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(list))
			failed = posix_spawn_file_actions_addclose(actions, atoi(entry->d_name));
	if (list)
		closedir(list);
	return failed;
#endif
}

/* `input` as stdin, or (negative) nothing. */
static int set_files(posix_spawn_file_actions_t *actions, int input)
{
	int failed = input < 0 ? 0 : posix_spawn_file_actions_adddup2(actions, input, 0);

	for (int fd = input < 0 ? 0 : 1; fd < 3 && !failed; fd++)
		failed = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
	return failed ? failed : close_others(actions);
}

static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int failed = posix_spawnattr_setflags(attributes,
					      POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

	sigemptyset(&none);
	sigfillset(&all);
	if (!failed)
		failed = posix_spawnattr_setpgroup(attributes, 0);
	if (!failed)
		failed = posix_spawnattr_setsigmask(attributes, &none);
	return failed ? failed : posix_spawnattr_setsigdefault(attributes, &all);
}

static int spawn(char *const argv[], char *const environment[], int input, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int failed = posix_spawn_file_actions_init(&actions);

	if (failed)
		return failed;
	failed = posix_spawnattr_init(&attributes);
	if (!failed) {
		failed = set_files(&actions, input);
		if (!failed)
			failed = set_signals(&attributes);
		if (!failed)
			failed = posix_spawn(pid, argv[0], &actions, &attributes, argv, environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

int fors_child_run(char *const argv[], char *const environment[], int input, struct fors_child *child)
{
	pid_t pid = 0;
	int failed = spawn(argv, environment, input, &pid);

	if (!failed)
		*child = (struct fors_child){.pid = pid};
	return failed;
}

int fors_child_start(const char *command, char *const environment[], struct fors_child *child)
{
	char shell[] = "/bin/sh", option[] = "-c", *copy = strdup(command);
	char *const argv[] = {shell, option, copy, NULL};
	int failed = copy ? fors_child_run(argv, environment, -1, child) : ENOMEM;

	free(copy);
	return failed;
}

/* --- is it gone? ------------------------------------------------------------ */

bool fors_child_ended(struct fors_child *child)
{
	int status = 0;
	pid_t ended = child->has_ended ? 0 : waitpid(child->pid, &status, WNOHANG);

	if (ended == child->pid || (ended < 0 && errno != EINTR)) {
		child->has_ended = true;
		child->status = ended > 0 ? status : 0;
	}
	return child->has_ended;
}

bool fors_child_gone(struct fors_child *child)
{
	if (!fors_child_ended(child))
		return false;
	while (waitpid(-child->pid, NULL, WNOHANG) > 0)
		;
	return kill(-child->pid, 0) && errno == ESRCH;
}

void fors_child_signal(const struct fors_child *child, int signal)
{
	kill(-child->pid, signal);
}
