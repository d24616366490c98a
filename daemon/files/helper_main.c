/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fors-outbox: does all that libfors.so does in publish_dir, in a process of its own. A process that hangs in the kernel
 * ends at no signal, and no process ends before all of its threads: so opensm has no thread there, but this
 * program, which has none of opensm's files and none of its memory.
 *
 *	fors-outbox STATE_FOLDER PUBLISH_DIR		stdin: a socket to opensm
 *
 * It ends when opensm does: its socket is closed, or the kernel kills it. When it hangs even that waits for the file
 * system; then it must not write over what another opensm of the same state folder has written since, nor
 * may each of these leave another process that hangs. So a new one looks for it in /proc, and touches nothing as
 * long as it is there.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "helper_serve.h"

#define NAME "fors-outbox"
#define LOOK_MS 20
#define LOOKS 50 /* what is told to end while it writes has a second for that */

/* The file of /proc/PID in text, ended by a NUL. Its length. */
static size_t read_of(const char *pid, const char *name, char *text, size_t size)
{
	char path[300];
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	file = fopen(path, "re");
	if (file) {
		length = fread(text, 1, size - 1, file);
		fclose(file);
	}
	text[length] = '\0';
	return length;
}

/*
 * Is it another such process of ours for this state folder? Its name is asked first: the command line of a process that
 * hangs elsewhere may hang as well.
 */
static bool is_rival(const char *pid, const char *state)
{
	char path[300], text[5000];
	size_t length, first;
	struct stat info;

	snprintf(path, sizeof(path), "/proc/%s", pid);
	if (atoi(pid) == (int)getpid() || stat(path, &info) || info.st_uid != geteuid())
		return false;
	read_of(pid, "comm", text, sizeof(text));
	if (strcmp(text, NAME "\n") != 0)
		return false;
	length = read_of(pid, "cmdline", text, sizeof(text));
	first = strlen(text) + 1;
	return first < length && !strcmp(text + first, state);
}

static pid_t find_rival(const char *state)
{
	DIR *list = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	while (list && !found && (entry = readdir(list)))
		if (isdigit((unsigned char)entry->d_name[0]) && is_rival(entry->d_name, state))
			found = atoi(entry->d_name);
	if (list)
		closedir(list);
	return found;
}

/* The rival of the beginning, as long as it is there. */
struct past {
	const char *state;
	pid_t pid;
	int looks;
};

static pid_t ask_rival(void *context)
{
	struct past *past = context;
	char pid[16];

	for (; past->pid; past->looks--) {
		snprintf(pid, sizeof(pid), "%d", (int)past->pid);
		if (!is_rival(pid, past->state))
			past->pid = find_rival(past->state);
		if (!past->pid || past->looks <= 0)
			break;
		fors_clock_pause(LOOK_MS);
	}
	return past->pid;
}

/* Whoever ends opensm ends us by that: what is on its way shall still arrive. */
static void ignore_signals(void)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
}

int main(int argc, char **argv)
{
	struct past past = {.looks = LOOKS};
	struct stat info;

	if (argc != 3 || fstat(STDIN_FILENO, &info) || !S_ISSOCK(info.st_mode)) {
		fprintf(stderr, NAME ": is started by libfors.so inside opensm, see opensm-fors(8)\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ignore_signals();
	if (chdir("/"))
		return 1;
	past.state = argv[1];
	past.pid = find_rival(past.state);
	if (!fors_helper_serve(STDIN_FILENO, argv[2], ask_rival, &past))
		return 0;
	return 2;
}
