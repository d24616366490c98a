/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * json.c - texts as JSON, and JSON on stdout.
 *
 * A member that finds no memory is left out by whoever packs an object, or it takes the rest along: what is missing
 * is not seen in what is left. So jansson asks for memory here, where it is noted that there was none, and nothing is
 * printed then.
 */
#include "json.h"

#include <stdlib.h>

#include "cli/cli.h"

static bool is_short; /* of memory, once */

static void *allocate(size_t size)
{
	void *block = malloc(size);

	is_short |= !block;
	return block;
}

void cli_json_watch(void)
{
	json_set_alloc_funcs(allocate, free);
}

char *cli_json_dump(json_t *data, size_t flags)
{
	char *text = data ? json_dumps(data, flags) : NULL;

	json_decref(data);
	if (text && !is_short)
		return text;
	free(text);
	cli_error("out of memory");
	return NULL;
}

static int print(json_t *data, size_t flags)
{
	char *text = cli_json_dump(data, flags);

	if (!text)
		return CLI_BAD;
	puts(text);
	free(text);
	return CLI_GOOD;
}

int cli_print_json(json_t *data)
{
	return print(data, JSON_INDENT(2));
}

int cli_print_status_keys(json_t *data)
{
	return print(data, FORS_STATUS_JSON);
}

void cli_print_json_value(json_t *value)
{
	if (!value || json_dumpf(value, stdout, JSON_ENCODE_ANY))
		printf("null");
	json_decref(value);
}
