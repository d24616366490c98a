/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guidlist.c - lists of GUIDs.
 *
 * OpenSM reads such files with strtoull and ignores what follows on the line, so
 * a site writes "0x0002c903000e0b72 # spine 3" or "0x0002c903000e0b72 spine 3". We read
 * the same files but are stricter where OpenSM would go on with something that nobody
 * meant: what is no number to its end (hexadecimal digits without 0x), zero, a GUID given
 * twice, or two on a line, of which the second would silently not count.
 */
#include "guidlist.h"

#include <inttypes.h>
#include <stdlib.h>

#include "text.h"

static bool is_end_of_word(struct fors_span rest)
{
	return fors_span_is_empty(rest) || strchr(" \t#", *rest.at);
}

/* Does the text begin with a word that is a GUID in hexadecimal notation? */
static bool begins_with_guid(struct fors_span rest)
{
	uint64_t guid;

	fors_skip_blanks(&rest);
	return (fors_starts_with(rest, "0x") || fors_starts_with(rest, "0X")) &&
	       fors_take_any_number(&rest, UINT64_MAX, &guid) && is_end_of_word(rest);
}

/* What follows the GUID of a line: OpenSM ignores it, and so do we unless the list is to be `bare`. */
static enum fors_err check_rest(const struct fors_lines *lines, struct fors_span rest, bool bare,
				struct fors_error *error)
{
	if (begins_with_guid(rest))
		return fors_lines_fail(lines, lines->number, error,
				       "more than one GUID; write each on a line of its own");
	fors_skip_blanks(&rest);
	if (bare && !fors_span_is_empty(rest) && *rest.at != '#')
		return fors_lines_fail(lines, lines->number, error,
				       "\"%.*s\" behind the GUID means nothing here; write # before a comment",
				       fors_span_width(rest), rest.at);
	return FORS_OK;
}

/* The GUID of one line in *guid, 0 when the line has none. */
static enum fors_err read_line(const struct fors_lines *lines, struct fors_span line, bool bare, uint64_t *guid,
			       struct fors_error *error)
{
	struct fors_span rest = line;

	*guid = 0;
	fors_skip_blanks(&rest);
	if (fors_span_is_empty(rest) || *rest.at == '#')
		return FORS_OK;
	if (!fors_take_any_number(&rest, UINT64_MAX, guid) || !is_end_of_word(rest))
		return fors_lines_fail(lines, lines->number, error,
				       "\"%.*s\" is not a GUID; write 0x and up to 16 hexadecimal digits",
				       fors_span_width(line), line.at);
	if (*guid == 0)
		return fors_lines_fail(lines, lines->number, error, "0 is not a GUID");
	return check_rest(lines, rest, bare, error);
}

/* A list of `count` GUIDs grows by one. */
static enum fors_err append(struct fors_keyed **list, size_t count, uint64_t guid, uint32_t line,
			    struct fors_error *error)
{
	if ((count & (count - 1)) == 0) { /* full at every power of two */
		struct fors_keyed *larger = realloc(*list, (count ? 2 * count : 1) * sizeof(**list));

		if (!larger)
			return fors_fail_memory(error);
		*list = larger;
	}
	(*list)[count] = (struct fors_keyed){guid, line, (uint32_t)count};
	return FORS_OK;
}

static enum fors_err read_all(struct fors_lines *lines, bool bare, struct fors_keyed **list, size_t *count,
			      struct fors_error *error)
{
	struct fors_span line;
	uint64_t guid;
	enum fors_err err = FORS_OK;

	while (!err && fors_lines_next(lines, &line)) {
		err = read_line(lines, line, bare, &guid, error);
		if (!err && guid) {
			err = append(list, *count, guid, lines->number, error);
			*count += !err;
		}
	}
	return err;
}

/* The GUIDs of `list` in the order of the text, in *guid; finds repetitions. */
static enum fors_err hand_over(const struct fors_lines *lines, struct fors_keyed *list, size_t count, uint64_t **guid,
			       struct fors_error *error)
{
	struct fors_keyed first, second;
	uint64_t *result;

	if (fors_keyed_sort(list, count, &first, &second))
		return fors_lines_fail(lines, second.line, error, "GUID 0x%016" PRIx64 " stands in line %u already",
				       second.key, first.line);
	result = malloc(count * sizeof(*result));
	if (!result)
		return fors_fail_memory(error);
	for (size_t i = 0; i < count; i++)
		result[list[i].index] = list[i].key;
	*guid = result;
	return FORS_OK;
}

static enum fors_err read_list(const char *text, size_t size, const char *name, bool bare, uint64_t **guid,
			       size_t *count, struct fors_error *error)
{
	struct fors_lines lines = {.name = name};
	struct fors_keyed *list = NULL;
	uint64_t *result = NULL;
	size_t found = 0;
	enum fors_err err = FORS_OK;

	if (size > 0) /* an empty list is a list */
		err = fors_lines_start(&lines, text, size, name, error);
	if (!err)
		err = read_all(&lines, bare, &list, &found, error);
	if (!err && found > 0)
		err = hand_over(&lines, list, found, &result, error);
	free(list);
	if (err)
		return err;
	*guid = result;
	*count = found;
	return FORS_OK;
}

enum fors_err fors_guidlist_read(const char *text, size_t size, const char *name, uint64_t **guid, size_t *count,
				 struct fors_error *error)
{
	return read_list(text, size, name, false, guid, count, error);
}

enum fors_err fors_guidlist_read_bare(const char *text, size_t size, const char *name, uint64_t **guid, size_t *count,
				      struct fors_error *error)
{
	return read_list(text, size, name, true, guid, count, error);
}
