/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which schedule is mine? Where fors is told of jobs, each has one of its own beside the fabric's, in jobs/NAME, and a
 * process knows its job by its environment. What the environment says becomes part of a path, so it has to be a name.
 */
#include "config.h"

#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *forsched_i_setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* As fors has names of jobs: a folder, and no way out of the one above. */
static bool is_name(const char *job)
{
	return *job && *job != '.' && strlen(job) <= 63 && !strchr(job, '/');
}

/* The folder that `path` is, or is in, with a slash behind it; NULL: no memory. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat info;
	char *folder;

	if (!stat(path, &info) && S_ISDIR(info.st_mode))
		return asprintf(&folder, "%s/", path) < 0 ? NULL : folder;
	return strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* The folder of a job's schedule, if there is such a schedule, else a copy of path; NULL: no memory. */
static char *choose(const char *path, const char *job)
{
	char *folder = folder_of(path), *mine = NULL, *file = NULL;
	bool is_there;

	if (!folder || asprintf(&mine, "%sjobs/%s", folder, job) < 0)
		mine = NULL;
	free(folder);
	if (!mine || asprintf(&file, "%s/schedule", mine) < 0) {
		free(mine);
		return NULL;
	}
	is_there = !access(file, F_OK);
	free(file);
	if (is_there)
		return mine;
	free(mine);
	return strdup(path);
}

enum forsched_err forsched_job_path(const char *path, const char *job, char **found, struct forsched_error *error)
{
	char *made;

	if (!path || !*path)
		return forsched_i_fail(error, FORSCHED_ERANGE, "no path of a schedule was given");
	if (!job)
		job = forsched_i_setting("FORSCHED_JOB") ? forsched_i_setting("FORSCHED_JOB")
							 : forsched_i_setting("SLURM_JOB_ID");
	if (job && !is_name(job))
		return forsched_i_fail(error, FORSCHED_ERANGE, "\"%.80s\" is no name of a job", job);
	made = job ? choose(path, job) : strdup(path);
	if (!made)
		return forsched_i_fail_memory(error);
	*found = made;
	return FORSCHED_OK;
}
