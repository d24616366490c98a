/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: posix_spawn() and not fork(), since a copy of a daemon with threads may do next to nothing; and
 * waitpid() for our own child only, so that nobody else's is reaped.
 *
 * A process that hangs in the kernel ends at no signal. The shell that does not end is seen by waitpid(); what it had
 * started is not our child, so kill(-group, 0) asks whether anybody is left. Zombies answer that as well, and where
 * process 1 reaps none, as in many containers, they answer for ever: then /proc says who is more than a zombie.
 */
#include "config.h"

#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

/* The child is not reaped yet, so the number is its own. Closed when somebody else is started. */
static int open_pid(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	return -1;
#endif
}

int fors_child_run(char *const argv[], char *const environment[], int input, struct fors_child *child)
{
	pid_t pid = 0;
	int failed = spawn(argv, environment, input, &pid);

	if (!failed)
		*child = (struct fors_child){.pid = pid, .fd = open_pid(pid)};
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

void fors_child_close(struct fors_child *child)
{
	if (child->fd >= 0)
		close(child->fd);
	child->fd = -1;
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

/* Is this process, by the text of its /proc/PID/stat, of the group and no zombie? Its name may have any letters. */
static bool is_alive_in(const char *stat, pid_t group)
{
	const char *end = strrchr(stat, ')');
	char state;
	int its_group;

	return end && sscanf(end + 1, " %c %*d %d", &state, &its_group) == 2 && its_group == group && state != 'Z' &&
	       state != 'X';
}

static bool is_member(const char *pid, pid_t group)
{
	char path[280], text[512];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return is_alive_in(text, group);
}

/* Without /proc nobody is known to be there. */
static bool has_members(pid_t group)
{
	DIR *list = opendir("/proc");
	const struct dirent *entry;
	bool is_found = false;

	while (list && !is_found && (entry = readdir(list)))
		is_found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_member(entry->d_name, group);
	if (list)
		closedir(list);
	return is_found;
}

bool fors_child_gone(struct fors_child *child)
{
	if (!fors_child_ended(child))
		return false;
	return (kill(-child->pid, 0) && errno == ESRCH) || !has_members(child->pid);
}

void fors_child_signal(const struct fors_child *child, int signal)
{
	kill(-child->pid, signal);
}
