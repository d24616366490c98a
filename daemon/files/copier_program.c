/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the program fors-outbox is: where `make install` puts it, below the same root as the plugin (DESTDIR); but for a plugin
 * that was loaded from where it was built (the folder .libs of libtool), beside that folder, since an installed one may be
 * of another version. The program fors-watch has one of its own, in the folder `watch` beside it, built or installed.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "copier.h"

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

void fors_copier_program(char path[PATH_MAX])
{
	Dl_info info = {.dli_fname = NULL};
	const char *plugin = dladdr(installed, &info) && info.dli_fname ? info.dli_fname : "";

	if (!try_beside_us(path) && !try_program(plugin, BUILT, PROGRAM, path) &&
	    !try_program(plugin, FORS_LIBDIR "/libfors.so", installed, path))
		snprintf(path, PATH_MAX, "%s", installed);
}
