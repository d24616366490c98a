/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* beside.c - where another program of fors is. */
#include "beside.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Beside this program where it was built; below the same prefix, wherever that was copied to; else where it was installed. */
static void find(const char *name, char path[CLI_PATH_ROOM])
{
	static const char *const below[] = {"", "../libexec/fors/"};
	ssize_t length = readlink("/proc/self/exe", path, CLI_PATH_ROOM - 1);
	char *end;

	path[length < 0 ? 0 : length] = '\0';
	end = strrchr(path, '/');
	for (size_t i = 0; end && i < 2; i++) {
		snprintf(end + 1, CLI_PATH_ROOM - (size_t)(end + 1 - path), "%s%s", below[i], name);
		if (!access(path, X_OK))
			return;
	}
	snprintf(path, CLI_PATH_ROOM, FORS_LIBEXEC "/%s", name);
}

int cli_become(const char *name, char **word)
{
	char path[CLI_PATH_ROOM];

	find(name, path);
	execv(path, word);
	if (errno == ENOENT)
		cli_error("%s is not there: it is in the package %s", path, name);
	else
		cli_error("%s cannot be started: %s", path, strerror(errno));
	return CLI_BAD;
}

int cli_run_beside(const char *name, char **word)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(cli_become(name, word));
	if (child < 0 || waitpid(child, &status, 0) != child) {
		cli_error("%s cannot be started: %s", name, strerror(errno));
		return CLI_BAD;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_BAD;
}
