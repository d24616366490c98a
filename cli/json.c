/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* json.c - texts as JSON, and JSON on stdout. */
#include "json.h"

#include <stdlib.h>

#include "cli/cli.h"

json_t *cli_json_text(const char *text)
{
	char plain[512];
	json_t *value = json_string(text);
	size_t n = 0;

	if (value)
		return value;
	for (; text[n] && n + 1 < sizeof(plain); n++)
		plain[n] = (unsigned char)text[n] < 0x80 ? text[n] : '?';
	plain[n] = '\0';
	return json_string(plain);
}

int cli_print_json(json_t *data)
{
	char *text = data ? json_dumps(data, JSON_INDENT(2)) : NULL;

	json_decref(data);
	if (!text) {
		cli_error("out of memory");
		return CLI_BAD;
	}
	puts(text);
	free(text);
	return CLI_GOOD;
}

void cli_print_json_value(json_t *value)
{
	if (!value || json_dumpf(value, stdout, JSON_ENCODE_ANY))
		printf("null");
	json_decref(value);
}
