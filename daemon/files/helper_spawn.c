/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the helper program is: where `make install` puts it, below the same root as the plugin (DESTDIR); but for a plugin
 * that was loaded from where it was built (the folder .libs of libtool), beside that folder, since an installed one may be
 * of another version. The program fors-watch has one of its own, in the folder `watch` beside it, built or installed.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper.h"

#define BUILT "/.libs/libfors.so"
#define WATCH "/fors-watch"
#define PROGRAM "/fors-outbox"

/* A text of this library, by which the loader knows it. */
static const char installed[] = FORS_HELPER;

/* If the plugin's path ends so: what is before that, and the program behind it. False: there is no such program. */
static bool try_program(const char *plugin, const char *tail, const char *program, char path[PATH_MAX])
{
	size_t length = strlen(plugin), ends = strlen(tail);

	if (length < ends || strcmp(plugin + length - ends, tail) != 0)
		return false;
	snprintf(path, PATH_MAX, "%.*s%s", (int)(length - ends), plugin, program);
	return !access(path, X_OK);
}

static bool try_beside_us(char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[length < 0 ? 0 : length] = '\0';
	return try_program(self, WATCH, "/watch" PROGRAM, path);
}

static void find_program(char path[PATH_MAX])
{
	Dl_info info = {.dli_fname = NULL};
	const char *plugin = dladdr(installed, &info) && info.dli_fname ? info.dli_fname : "";

	if (!try_beside_us(path) && !try_program(plugin, BUILT, PROGRAM, path) &&
	    !try_program(plugin, FORS_LIBDIR "/libfors.so", installed, path))
		snprintf(path, PATH_MAX, "%s", installed);
}

/* A socket whose other end is not ours to be found in /proc: each end has a number of its own, unlike those of a pipe. */
enum fors_err fors_helper_spawn(const char *state, const char *dir, int *fd, struct fors_child *child,
				struct fors_error *error)
{
	static char path_variable[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char *const environment[] = {path_variable, NULL};
	char path[PATH_MAX], *state_copy = strdup(state), *dir_copy = strdup(dir);
	char *const argv[] = {path, state_copy, dir_copy, NULL};
	int ends[2] = {-1, -1}, failed = state_copy && dir_copy ? 0 : ENOMEM;

	find_program(path);
	if (!failed && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		failed = errno;
	if (!failed)
		failed = fors_child_run(argv, environment, ends[1], child);
	if (ends[1] >= 0)
		close(ends[1]);
	free(state_copy);
	free(dir_copy);
	if (!failed) {
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		*fd = ends[0];
		return FORS_OK;
	}
	if (ends[0] >= 0)
		close(ends[0]);
	if (failed == ENOMEM)
		return fors_fail_memory(error);
	return fors_fail(error, FORS_EIO,
			 "publish_dir %s: nothing is copied there: the helper program %s cannot be started: %s%s", dir,
			 path, strerror(failed),
			 failed == ENOENT || failed == EACCES ? "; is fors installed completely?" : "");
}

void fors_helper_kill(struct fors_child *child)
{
	fors_child_signal(child, SIGKILL);
}

bool fors_helper_gone(struct fors_child *child)
{
	return fors_child_ended(child);
}
