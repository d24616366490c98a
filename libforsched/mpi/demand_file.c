/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The schedule of a demand, as rank 0 of a communicator finds it. fors publishes it in demand/NAME beside the schedule of all
 * with all. FORSCHED_DEMAND names it, or another file; without that it is the only one that is there. It comes, changes and is
 * withdrawn by itself. One that is withdrawn, or cannot be read, is followed no more: calls go the other ways, which need
 * nothing of it. A withdrawn one stays a day in its folder, so beside another it does not count.
 */
#include "config.h"

#include "follow.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- where it is ---- */

/* The path of a demand's schedule in `folder`; NULL: no memory. */
static char *path_in(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s/schedule", folder, name) < 0 ? NULL : path;
}

/* Does this entry of `folder` have a schedule? */
static bool is_there(const char *folder, const char *name)
{
	char *path = *name == '.' ? NULL : path_in(folder, name);
	bool is_file = path && !access(path, F_OK);

	free(path);
	return is_file;
}

static bool is_withdrawn(const char *path)
{
	struct forsched *file = NULL;
	struct forsched_info info = {.nphases = 1};

	if (!forsched_open(path, &file, NULL))
		forsched_info(file, &info);
	forsched_close(file);
	return !info.nphases;
}

/* What a folder has: the first that is not withdrawn, of how many, and the first that is; NULL: there is none. */
struct found {
	char *path, *withdrawn;
	unsigned n;
};

static void add_found(struct found *found, char *path)
{
	char **place = path && is_withdrawn(path) ? &found->withdrawn : &found->path;

	if (place == &found->path)
		found->n++;
	if (*place)
		free(path);
	else
		*place = path;
}

/* The path of the only schedule in the folder, a withdrawn one where all are; NULL: there is none, or there are several, *n. */
static char *only_one(const char *folder, unsigned *n)
{
	struct found found = {0};
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char *only;

	while (dir && (entry = readdir(dir)))
		if (is_there(folder, entry->d_name))
			add_found(&found, path_in(folder, entry->d_name));
	if (dir)
		closedir(dir);
	*n = found.n;
	only = found.n == 1 ? found.path : found.n ? NULL : found.withdrawn;
	if (only != found.path)
		free(found.path);
	if (only != found.withdrawn)
		free(found.withdrawn);
	return only;
}

/* demand/ beside a schedule; NULL: no memory. */
static char *folder_beside(const struct forsched *schedule)
{
	struct forsched_info info;
	const char *slash;
	char *folder;

	forsched_info(schedule, &info);
	slash = strrchr(info.name, '/');
	return asprintf(&folder, "%.*sdemand/", slash ? (int)(slash - info.name + 1) : 0, info.name) < 0 ? NULL
													 : folder;
}

/* The one that is in use, as long as it is in this folder; else the only one. */
static char *find_in(struct demand_file *demand, const char *folder)
{
	struct forsched_info info;
	unsigned n = 0;
	char *path;

	if (demand->file) {
		forsched_info(demand->file, &info);
		if (demand->is_fit && !strncmp(info.name, folder, strlen(folder)) && !access(info.name, F_OK))
			return strdup(info.name);
	}
	path = only_one(folder, &n);
	if (n > 1 && !demand->has_said)
		forsched_mpi_say(true, "%s has %u schedules of demands, and FORSCHED_DEMAND names none: not followed",
				 folder, n);
	demand->has_said = n > 1;
	return path;
}

/* NULL: there is none. The caller's. */
static char *find(struct demand_file *demand, const struct forsched *schedule)
{
	const char *setting = forsched_mpi_setting("FORSCHED_DEMAND");
	char *folder, *path;

	if (setting && strcmp(setting, "none") == 0)
		return NULL;
	if (setting && strchr(setting, '/'))
		return strdup(setting);
	folder = folder_beside(schedule);
	if (!folder)
		return NULL;
	path = setting ? path_in(folder, setting) : find_in(demand, folder);
	free(folder);
	return path;
}

/* ---- what is in it ---- */

/* A handle of which no row was asked for takes the place of the one whose rows were all checked. */
void forsched_mpi_forget_rows(struct demand_file *demand)
{
	struct forsched *anew = NULL;
	struct forsched_info info;

	forsched_info(demand->file, &info);
	if (forsched_open(info.name, &anew, NULL))
		return;
	if (forsched_epoch(anew) == info.epoch) {
		forsched_close(demand->file);
		demand->file = anew;
	} else {
		forsched_close(anew);
	}
}

static bool is_same_file(const struct forsched *file, const char *path)
{
	struct forsched_info info;

	forsched_info(file, &info);
	return strncmp(info.name, path, strlen(path)) == 0;
}

/* It is no more, or another one. */
static void replace(struct demand_file *demand, struct forsched *file)
{
	if (demand->file || file)
		demand->is_untold = true;
	forsched_close(demand->file);
	demand->file = file;
	demand->is_unusable = false;
}

/* Is it for a call at all? A person is told why not. */
static bool is_for_calls(const struct forsched *file)
{
	struct forsched_sizes sizes;
	struct forsched_info info;

	forsched_info(file, &info);
	forsched_sizes(file, &sizes);
	if (!info.nphases)
		forsched_mpi_say(true, "%s: withdrawn: %s: the demand is not followed", info.name, info.reason);
	else if (!sizes.has_demand)
		forsched_mpi_say(false, "%s: no schedule of a demand: not followed as one", info.name);
	return info.nphases && sizes.has_demand;
}

static void look_at(struct demand_file *demand, const char *path)
{
	struct forsched *newer = NULL;
	struct forsched_error error;
	enum forsched_err err;

	if (demand->file && is_same_file(demand->file, path))
		err = forsched_open_newer(demand->file, &newer, &error);
	else
		err = forsched_open(path, &newer, &error);
	if (!err && !newer)
		return;
	if (!err)
		err = forsched_check(newer, &error);
	if (err) {
		forsched_mpi_say(false, "%s: the demand is not followed", error.text);
		forsched_close(newer);
		newer = NULL;
	}
	demand->is_fit = newer && is_for_calls(newer);
	replace(demand, newer);
}

void forsched_mpi_look_for_demand(struct demand_file *demand, const struct forsched *schedule)
{
	char *path = find(demand, schedule);

	if (path)
		look_at(demand, path);
	else
		replace(demand, NULL);
	free(path);
}
