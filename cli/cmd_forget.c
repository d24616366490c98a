/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_forget.c - `fors forget`: a dead leaf or spine will not come back; drop its place.
 *
 * The kept order belongs to the running opensm, which holds it in memory and rewrites the file: editing the file
 * would change nothing. So the command looks into it to see whether the request makes sense, and leaves the
 * request in the state folder, where opensm finds it when its next heavy sweep begins. The last word
 * has opensm: what is alive by then is not forgotten.
 */
#include "config.h"

#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/guidlist.h"
#include "core/fabric/places.h"
#include "core/fabric/places_file.h"

struct request {
	uint64_t guid;
	bool is_dry;
	unsigned found; /* folders that know it */
};

/* A subnet manager that never was the master has no kept order: nothing to forget. */
static bool has_places(const char *folder)
{
	char path[CLI_PATH_ROOM];

	return cli_make_path(folder, "places", path) && !access(path, F_OK);
}

static int read_places(const char *folder, struct fors_places **places)
{
	struct fors_error error = {0};
	char path[CLI_PATH_ROOM], *text = NULL;
	size_t size;
	int code = CLI_GOOD;

	if (!cli_make_path(folder, "places", path) || cli_read_file(path, &text, &size))
		return CLI_BAD;
	if (fors_places_decode(text, size, path, places, &error))
		code = cli_fail(&error);
	free(text);
	return code;
}

/* What is asked for already, in *list (NULL: nothing); is `guid` among it? */
static int read_request(const char *path, uint64_t guid, char **list, bool *is_there)
{
	struct fors_error error = {0};
	uint64_t *known = NULL;
	size_t size, count = 0;
	int code = CLI_GOOD;

	*list = NULL;
	*is_there = false;
	if (access(path, F_OK))
		return CLI_GOOD;
	if (cli_read_file(path, list, &size))
		return CLI_BAD;
	if (fors_guidlist_read(*list, size, path, &known, &count, &error))
		code = cli_fail(&error);
	for (size_t i = 0; i < count; i++)
		*is_there = *is_there || known[i] == guid;
	free(known);
	return code;
}

/* Add the GUID to the requests of a folder. */
static int leave_request(const char *folder, uint64_t guid)
{
	char path[CLI_PATH_ROOM], *list = NULL, *longer = NULL;
	bool is_there = false;
	int size, code = cli_make_path(folder, "forget", path) ? read_request(path, guid, &list, &is_there) : CLI_BAD;

	if (!code && !is_there) {
		size = asprintf(&longer, "%s0x%016" PRIx64 "\n", list ? list : "", guid);
		code = size < 0 ? CLI_BAD : cli_write_file(path, longer, (size_t)size);
		free(size < 0 ? NULL : longer);
	}
	free(list);
	return code;
}

/* Would opensm do it, as far as its kept order says? */
static int consider(const char *folder, struct request *request)
{
	struct fors_places *places = NULL;
	struct fors_error error = {0};
	struct fors_places_size before, after;
	int code = read_places(folder, &places);

	if (!code && fors_places_has(places, request->guid)) {
		request->found++;
		before = fors_places_size(places);
		if (fors_places_forget(places, request->guid, &error))
			code = cli_fail(&error);
		after = fors_places_size(places);
		if (!code)
			printf("%s: %u of %u leaves and %u of %u spine lanes stay; nearly every table entry may move\n",
			       folder, after.leaves, before.leaves, after.lanes, before.lanes);
	}
	fors_places_free(places);
	return code;
}

/* All folders have to agree before any is asked. */
static int ask_all(const struct cli_folders *folders, struct request *request)
{
	int code = CLI_GOOD;

	for (size_t i = 0; i < folders->count && !code; i++)
		if (!folders->is_list || has_places(folders->path[i]))
			code = consider(folders->path[i], request);
	if (!code && !request->found) {
		cli_error("no leaf or spine with GUID 0x%016" PRIx64 " has a place", request->guid);
		return CLI_NO;
	}
	for (size_t i = 0; i < folders->count && !code && !request->is_dry; i++)
		if (!folders->is_list || has_places(folders->path[i]))
			code = leave_request(folders->path[i], request->guid);
	return code;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct request request = {.is_dry = settings->is_dry};
	struct cli_folders folders;
	int code;

	if (!cli_guid(operand[0], &request.guid))
		return cli_usage_error("'%s' has to be a node GUID like 0x0002c90200001234", operand[0]);
	code = cli_folders_find(operand[1], &folders);
	if (!code)
		code = ask_all(&folders, &request);
	if (!code && !request.is_dry)
		printf("0x%016" PRIx64 " will be forgotten by the next heavy sweep; SIGHUP to opensm starts one\n",
		       request.guid);
	cli_folders_clear(&folders);
	return code;
}

const struct cli_command cli_forget_command = {
	.id = CLI_CMD_FORGET,
	.name = "forget",
	.summary = "Drop the place of a dead leaf or spine that will not come back",
	.usage = "GUID [DIR] [--dry-run]",
	.details =
		"GUID is the node GUID of the switch. DIR is a state folder, or a folder of them; default:\n"
		"${OSM_CACHE_DIR:-/var/cache/opensm}/fors. The exit code is 1 when no such place is known, when the\n"
		"switch is alive, or when a file names it (reference_fabric, root_guid_file).\n",
	.min_operands = 1,
	.max_operands = 2,
	.run = run,
};
