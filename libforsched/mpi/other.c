/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that runs with another MPI than this library was built for. Handles are pointers in one MPI and numbers in the
 * other, so nothing here can be of use to it, and no call that this library stands in for would arrive as it was meant. Its
 * own functions are bound to ours already when we see it, before main(). So it is started anew without this library in
 * LD_PRELOAD, and then runs as it would without: same process, arguments and open files.
 *
 * Which MPI it is, is asked of each one that was loaded with the program: it says its name before MPI_Init, too. Ours is
 * always there, since this library needs it, and may even come before the program's. MPIs with the binary interface of
 * MPICH (Intel's, Cray's, MVAPICH) count as one.
 */
#define _GNU_SOURCE /* dladdr() */
#include "config.h"

#include "follow.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
#define IS_OPEN_MPI true
#define OURS "Open MPI"
#else
#define IS_OPEN_MPI false
#define OURS "MPICH and its kin"
#endif

typedef int (*name_function)(char *text, int *length);

/* Is it an MPI, and another one? Its name, in one line; else NULL. */
static const char *other_mpi(const struct link_map *map)
{
	static char name[1 << 16]; /* each MPI has its own length of it; MPICH's is 8192 */
	void *library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	name_function function = library ? (name_function)dlsym(library, "PMPI_Get_library_version") : NULL;
	int length = 0;
	Dl_info where;

	if (function && dladdr((void *)function, &where) && where.dli_fbase == (void *)map->l_addr)
		function(name, &length);
	if (library)
		dlclose(library);
	name[strcspn(name, "\n")] = '\0';
	return !length || (strncmp(name, "Open MPI", 8) == 0) == IS_OPEN_MPI ? NULL : name;
}

static const char *find_other(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	struct link_map *map = NULL;
	const char *other = NULL;

	if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map))
		return NULL;
	for (map = map->l_next; map && !other; map = map->l_next)
		other = other_mpi(map);
	dlclose(program);
	return other;
}

/* One rank speaks, as far as whoever started it tells who that is. */
static bool is_speaker(void)
{
	static const char *const rank[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof(rank) / sizeof(rank[0]); i++)
		if (getenv(rank[i]))
			return strcmp(getenv(rank[i]), "0") == 0;
	return true;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Take what is called so out of LD_PRELOAD; false: it is not there, and somebody preloads it otherwise. */
static bool leave_out(const char *name)
{
	char *list = strdup(getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : ""),
	     *kept = calloc(1, strlen(list ? list : "") + 2);
	bool is_there = false;
	char *rest;

	for (char *word = list && kept ? strtok_r(list, ": ", &rest) : NULL; word; word = strtok_r(NULL, ": ", &rest)) {
		if (strcmp(base_of(word), name) == 0) {
			is_there = true;
			continue;
		}
		strcat(kept, *kept ? ":" : "");
		strcat(kept, word);
	}
	if (is_there && *kept)
		is_there = !setenv("LD_PRELOAD", kept, true);
	else if (is_there)
		is_there = !unsetenv("LD_PRELOAD");
	free(list);
	free(kept);
	return is_there;
}

/* The loader gives constructors what main() gets. */
__attribute__((constructor)) static void look(int argc, char **argv, char **envp)
{
	const char *other = find_other();
	Dl_info self;

	(void)argc, (void)envp;
	if (!other || !dladdr((void *)look, &self))
		return;
	if (is_speaker())
		forsched_mpi_say(
			false,
			"the program runs with another MPI (%.80s) than this library was built for (%s), and so "
			"without the library",
			other, OURS);
	if (leave_out(base_of(self.dli_fname)))
		execv("/proc/self/exe", argv);
	forsched_mpi_say(false, "it cannot be started anew: take %.80s out of what is preloaded", self.dli_fname);
}
