/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_forget.c - `fors forget`: a dead leaf or spine will not come back; drop its place. Or the names of a host are free.
 *
 * The kept order belongs to the running opensm, which holds it in memory and rewrites the file: editing the file
 * would change nothing. So the command looks into it to see whether the request makes sense, and leaves the
 * request in the state folder, where opensm finds it when its next heavy sweep begins. The last word
 * has opensm: what is alive by then is not forgotten.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/guidlist.h"
#include "core/base/text.h"
#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "core/net/namebook.h"

struct request {
	uint64_t guid;
	bool is_dry;
	unsigned found; /* folders that know it */
};

/* A subnet manager that never was the master has no kept order: nothing to forget. */
static bool has_places(const char *folder)
{
	char path[CLI_PATH_ROOM];

	return cli_make_path(folder, "places", path) && cli_is_there(path);
}

/* What is asked of opensm in a folder: a list of GUIDs. */
struct wanted {
	uint64_t guid;
	bool is_listed;		 /* already */
	struct fors_buffer list; /* the new list, with it */
};

static enum fors_err read_wanted(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct wanted *wanted = context;
	uint64_t *known = NULL;
	size_t count = 0;
	enum fors_err err = fors_guidlist_read(text, size, path, &known, &count, error);

	for (size_t i = 0; i < count; i++)
		wanted->is_listed = wanted->is_listed || known[i] == wanted->guid;
	free(known);
	fors_buffer_print(&wanted->list, "%s%s", text, size && text[size - 1] != '\n' ? "\n" : "");
	return err;
}

/* Write the list with the GUID behind its end. */
static int write_wanted(struct wanted *wanted, const char *path)
{
	struct fors_error error = {0};
	char *text = NULL;
	size_t size;
	int code;

	fors_buffer_print(&wanted->list, "0x%016" PRIx64 "\n", wanted->guid);
	if (fors_buffer_finish(&wanted->list, &text, &size, &error))
		return cli_fail(&error);
	code = cli_write_file(path, text, size);
	free(text);
	return code;
}

/* Add the GUID to the requests of a folder. */
static int leave_request(const char *folder, uint64_t guid)
{
	struct wanted wanted = {.guid = guid};
	char path[CLI_PATH_ROOM];
	int code = cli_use_in(folder, "forget", false, read_wanted, &wanted);

	if (!code && !wanted.is_listed && cli_make_path(folder, "forget", path))
		return write_wanted(&wanted, path);
	free(wanted.list.text);
	return code;
}

static void tell(const char *folder, const struct fors_places *places, const struct fors_places_size *before,
		 const struct fors_places_size *after)
{
	bool is_three = fors_places_known(places);

	printf("%s: %u of %u leaves and %u of %u %s stay; nearly every table entry may move\n", folder, after->leaves,
	       before->leaves, is_three ? after->spines : after->lanes, is_three ? before->spines : before->lanes,
	       is_three ? "middle switches and tops" : "spine lanes");
}

/* Would opensm do it, as far as its kept order says? */
static int consider(const char *folder, struct request *request)
{
	struct fors_places *places = NULL;
	struct fors_error error = {0};
	struct fors_places_size before, after;
	int code = cli_use_in(folder, "places", true, cli_places_reader, &places);

	if (!code && fors_places_has(places, request->guid)) {
		request->found++;
		before = fors_places_size(places);
		if (fors_places_forget(places, request->guid, &error))
			code = cli_fail(&error);
		after = fors_places_size(places);
		if (!code)
			tell(folder, places, &before, &after);
	}
	fors_places_free(places);
	return code;
}

static enum fors_err read_names(const char *text, size_t size, const char *path, void *context,
				struct fors_error *error)
{
	return fors_namebook_decode(text, size, path, context, error);
}

/* Does opensm remember names of this end node? */
static int consider_names(const char *folder, struct request *request)
{
	char text[FORS_ERROR_TEXT];
	struct fors_namebook *book = NULL;
	int code = cli_use_in(folder, "names", false, read_names, &book);

	if (!code && book && fors_namebook_names(book, request->guid, text, sizeof(text))) {
		request->found++;
		printf("%s: %s will mean whichever node is called so\n", folder, text);
	}
	fors_namebook_free(book);
	return code;
}

/* All folders have to agree before any is asked. */
static int ask_all(const struct cli_folders *folders, struct request *request)
{
	int code = CLI_GOOD;

	for (size_t i = 0; i < folders->count && !code; i++)
		if (!folders->is_list || has_places(folders->path[i]))
			code = consider(folders->path[i], request);
	for (size_t i = 0; i < folders->count && !code && !request->found; i++)
		if (!folders->is_list || has_places(folders->path[i]))
			code = consider_names(folders->path[i], request);
	if (!code && !request->found) {
		cli_error("no switch with GUID 0x%016" PRIx64 " has a place, and no name of it is known",
			  request->guid);
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
	.summary = "Drop the place of a dead switch that will not come back, or the names of a host",
	.usage = "GUID [DIR] [--dry-run]",
	.details =
		"GUID is the node GUID of the switch, or of a host's adapter, whose names in the jobs file are\n"
		"then those of whichever node has them. DIR is a state folder, or a folder of them; default:\n"
		"${OSM_CACHE_DIR:-/var/cache/opensm}/fors. The exit code is 1 when no such place is known, when the\n"
		"switch is alive, or when a file names it (reference_fabric, root_guid_file).\n",
	.min_operands = 1,
	.max_operands = 2,
	.run = run,
};
