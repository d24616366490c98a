/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: no line is copied, so none can be cut; the longest that is allowed is a rule, and not the size of a
 * buffer. A comment begins with '#' anywhere in a line, as in opensm.conf, and with ';' only at its start: a command may
 * well have one.
 */
#include "conf.h"

#include <string.h>

static const char blanks[] = " \t\r\v\f";

/* Without the blanks around it. */
static char *strip(char *text)
{
	size_t length;

	text += strspn(text, blanks);
	length = strlen(text);
	while (length && strchr(blanks, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* A line that is neither empty nor a comment. */
static enum fors_err take_line(char *line, const char *path, unsigned number, fors_conf_take take, void *context,
			       struct fors_error *error)
{
	char *equals = strpbrk(line, "=:");

	if (*line == '[')
		return fors_fail(error, FORS_EINPUT, "%s:%u: fors.conf has no sections, remove %.40s", path, number,
				 line);
	if (!equals)
		return fors_fail(error, FORS_EINPUT, "%s:%u: expected 'key = value'", path, number);
	*equals = '\0';
	return take(context, number, strip(line), strip(equals + 1));
}

enum fors_err fors_conf_read(char *text, const char *path, fors_conf_take take, void *context, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	unsigned number = 0;

	if (!strncmp(text, "\xef\xbb\xbf", 3)) /* some editors begin UTF-8 so */
		text += 3;
	while (!err && *text) {
		size_t length = strcspn(text, "\n");
		char *next = text + length + (text[length] == '\n');

		number++;
		if (length > FORS_CONF_LINE_MAX)
			return fors_fail(error, FORS_EINPUT, "%s:%u: line longer than %u bytes", path, number,
					 FORS_CONF_LINE_MAX);
		text[length] = '\0';
		text[strcspn(text, "#")] = '\0';
		text = strip(text);
		if (*text && *text != ';')
			err = take_line(text, path, number, take, context, error);
		text = next;
	}
	return err;
}
