/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.c - the page that --html writes: one file, no network.
 *
 * page.html is the page without data; the build makes a C string of it, with the colours of routing engines
 * (engine_colours.json), which the pictures of doc/ have too. The data go into it as JSON. What could end the script
 * element that holds them is written as an escape: descriptions of nodes come from whoever runs the nodes.
 */
#include "config.h"

#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/made.h"
#include "core/base/text.h"
#include "lab/options.h"

static const char page[] =
#include "lab/page/page_html.h"
	;

static void print_escaped(struct fors_buffer *out, const char *text)
{
	for (size_t n; *text; text += n) {
		n = strcspn(text, "<>&");
		if (n)
			fors_buffer_print(out, "%.*s", (int)n, text);
		else {
			fors_buffer_print(out, "\\u%04x", (unsigned char)*text);
			n = 1;
		}
	}
}

static void print_title(struct fors_buffer *out, const char *text)
{
	for (; *text; text++)
		if (strchr("<>&\"", *text))
			fors_buffer_print(out, "&#%d;", *text);
		else
			fors_buffer_print(out, "%c", *text);
}

/* The page with @TITLE@, @VERSION@ and @DATA@ filled in. */
static void print_page(struct fors_buffer *out, const char *title, const char *data)
{
	const char *at = page, *mark;

	while ((mark = strchr(at, '@'))) {
		fors_buffer_print(out, "%.*s", (int)(mark - at), at);
		at = mark + 1;
		if (!strncmp(at, "TITLE@", 6)) {
			print_title(out, title);
			at += 6;
		} else if (!strncmp(at, "VERSION@", 8)) {
			fors_buffer_print(out, "%s", PACKAGE_VERSION);
			at += 8;
		} else if (!strncmp(at, "DATA@", 5)) {
			print_escaped(out, data);
			at += 5;
		} else {
			fors_buffer_print(out, "@");
		}
	}
	fors_buffer_print(out, "%s", at);
}

/* Date, command and input, for the foot of the page. New reference; NULL: out of memory. */
static json_t *made_json(const struct cli_settings *settings)
{
	char date[CLI_DATE_ROOM], *command = cli_made_command(settings);
	json_t *made;

	cli_made_date(date);
	made = command ? json_pack("{s:s, s:o, s:o}", "date", date, "command", fors_json_text(command), "input",
				   fors_json_text(cli_made_input(settings)))
		       : NULL;
	free(command);
	return made;
}

int cli_write_page(const struct cli_settings *settings, json_t *data)
{
	struct fors_error error = {0};
	struct fors_buffer out = {0};
	char *json, *text = NULL;
	size_t size = 0;
	int code;

	if (json_object_set_new(data, "made", made_json(settings))) {
		json_decref(data);
		cli_error("out of memory");
		return CLI_BAD;
	}
	json = cli_json_dump(data, JSON_COMPACT);
	if (!json)
		return CLI_BAD;
	print_page(&out, cli_made_input(settings), json);
	free(json);
	if (fors_buffer_finish(&out, &text, &size, &error))
		return cli_fail(&error);
	code = cli_write_file(cli_lab(settings)->html, text, size);
	free(text);
	return code;
}
