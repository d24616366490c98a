/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* folders.c - which state folders of the plugin a command is about. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_make_path(const char *folder, const char *file, char *path)
{
	if ((size_t)snprintf(path, CLI_PATH_ROOM, "%s/%s", folder, file) < CLI_PATH_ROOM)
		return true;
	cli_error("%s: the path is too long", folder);
	return false;
}

/* State folders are called after the port GUID of their subnet manager. */
static int is_state_folder(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "0x", 2);
}

static void free_entries(struct dirent **entry, int n)
{
	for (int i = 0; i < n; i++)
		free(entry[i]);
	if (n >= 0)
		free(entry);
}

static bool has_file(const char *folder, const char *file)
{
	char path[CLI_PATH_ROOM];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", folder, file) < sizeof(path) && !access(path, F_OK);
}

static int out_of_memory(void)
{
	cli_error("out of memory");
	return CLI_BAD;
}

static int add_folder(struct cli_folders *folders, const char *path)
{
	folders->path[folders->count] = strdup(path);
	if (!folders->path[folders->count])
		return out_of_memory();
	folders->count++;
	return CLI_GOOD;
}

/* A shadow that runs, or ran last, has a status in a folder of its own; else it is the state folder itself that speaks. */
static int add_speaker(struct cli_folders *folders, const char *dir)
{
	char path[CLI_PATH_ROOM];

	if (!cli_make_path(dir, "shadow", path))
		return CLI_BAD;
	return add_folder(folders, has_file(path, "status.json") ? path : dir);
}

/* n names of state folders in `dir`. */
static int add_entries(struct cli_folders *folders, const char *dir, struct dirent **entry, int n)
{
	folders->path = calloc((size_t)n + 1, sizeof(*folders->path));
	if (!folders->path)
		return out_of_memory();
	for (int i = 0; i < n; i++) {
		char path[CLI_PATH_ROOM];

		if (!cli_make_path(dir, entry[i]->d_name, path) || add_speaker(folders, path))
			return CLI_BAD;
	}
	return CLI_GOOD;
}

/* `dir` is a state folder itself. */
static int add_only(struct cli_folders *folders, const char *dir)
{
	folders->is_list = false;
	folders->path = calloc(1, sizeof(*folders->path));
	return folders->path ? add_speaker(folders, dir) : out_of_memory();
}

int cli_folders_find(const char *dir, struct cli_folders *folders)
{
	const char *cache = getenv("OSM_CACHE_DIR");
	char path[CLI_PATH_ROOM];
	struct dirent **entry;
	int n, code = CLI_BAD;

	*folders = (struct cli_folders){.is_list = true};
	if (dir && (has_file(dir, "status.json") || has_file(dir, "places") || has_file(dir, "shadow/status.json")))
		return add_only(folders, dir);
	if (!dir && !cli_make_path(cache && *cache ? cache : "/var/cache/opensm", "fors", path))
		return CLI_BAD;
	n = scandir(dir ? dir : path, &entry, is_state_folder, alphasort);
	if (n > 0)
		code = add_entries(folders, dir ? dir : path, entry, n);
	else if (n == 0)
		cli_error(
			"%s: no state folder of fors in here (status.json, places); has opensm run with routing_engine fors? Where it can write "
			"nothing, ERR F010 in its log says why (is the disk full?)",
			dir ? dir : path);
	else if (!dir && errno == ENOENT)
		cli_error(
			"%s: cannot be opened, it is not there: opensm has not run with fors on this host, or keeps its files "
			"elsewhere; name the state folder, or set OSM_CACHE_DIR",
			path);
	else
		cli_error("%s: cannot be opened: %s", dir ? dir : path, strerror(errno));
	free_entries(entry, n);
	return code;
}

void cli_folders_clear(struct cli_folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->path[i]);
	free(folders->path);
}
