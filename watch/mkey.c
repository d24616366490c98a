/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.c - one key for all ports. Who a neighbour is shows only in its answer, so a key for each port cannot be chosen before
 * it has answered.
 */
#include "mkey.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

/* The last number of a line; false: it has anything else than one or two numbers. *is_empty: nothing at all. */
static bool parse(const char *line, uint64_t *key, bool *is_empty)
{
	unsigned count = 0;

	for (line += strspn(line, " \t\r\n"); *line && *line != '#'; line += strspn(line, " \t\r\n")) {
		char *end;

		errno = 0;
		*key = strtoull(line, &end, 0);
		if (errno || end == line || !strchr(" \t\r\n#", *end) || *line == '-' || ++count > 2)
			return false;
		line = end;
	}
	*is_empty = !count;
	return true;
}

static enum fors_err read_lines(FILE *file, const char *path, uint64_t *key, struct fors_error *error)
{
	uint64_t found, first = 0;
	char line[256];
	bool is_empty;

	for (unsigned number = 1; fgets(line, sizeof(line), file); number++) {
		if (!parse(line, &found, &is_empty))
			return fors_fail(error, FORS_EINPUT, "%s, line %u: expected an M_Key, or a GUID and its M_Key",
					 path, number);
		if (is_empty)
			continue;
		if (first && found != first)
			return fors_fail(error, FORS_EINPUT,
					 "%s, line %u: another M_Key than before; fabrics with an M_Key for each port "
					 "cannot be read",
					 path, number);
		first = found;
	}
	if (ferror(file))
		return fors_fail(error, FORS_EIO, "%s cannot be read: %s", path, strerror(errno));
	if (!first)
		return fors_fail(error, FORS_EINPUT, "%s has no M_Key", path);
	*key = first;
	return FORS_OK;
}

enum fors_err fors_mkey_read(const char *path, uint64_t *key, struct fors_error *error)
{
	FILE *file = fopen(path, "re");
	enum fors_err err;

	if (!file)
		return fors_fail(error, FORS_EIO, "%s cannot be read: %s", path, strerror(errno));
	err = read_lines(file, path, key, error);
	fclose(file);
	return err;
}
