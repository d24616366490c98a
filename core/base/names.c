/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.c - a list of names as an administrator writes it: cut at commas, blanks around each dropped.
 *
 * What a name means is not known here (that takes a net), so blanks inside one stay: node descriptions have them. A
 * list is added as a whole or not at all.
 */
#include "names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void fors_names_clear(struct fors_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct fors_names){NULL, 0};
}

static bool append_name(struct fors_names *names, const char *text, size_t length)
{
	char **larger = realloc(names->name, (names->count + 1) * sizeof(*larger));

	if (!larger)
		return false;
	names->name = larger;
	larger[names->count] = strndup(text, length);
	if (!larger[names->count])
		return false;
	names->count++;
	return true;
}

static void drop_names(struct fors_names *names, size_t from)
{
	while (names->count > from)
		free(names->name[--names->count]);
}

enum fors_err fors_names_add(struct fors_names *names, const char *list, struct fors_error *error)
{
	static const char blanks[] = " \t\r";
	size_t before = names->count;

	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ","), next = length + (at[length] == ',');
		size_t skip = strspn(at, blanks);
		const char *end = at + length;

		while (end > at + skip && strchr(blanks, end[-1]))
			end--;
		if (end > at + skip && !append_name(names, at + skip, (size_t)(end - at - skip))) {
			drop_names(names, before);
			return fors_fail_memory(error);
		}
		at += next;
	}
	return FORS_OK;
}
