/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * levels.c - service levels of paths, from a file.
 *
 * Offline nobody can be asked which service level an engine gives a path. Who knows (from saquery -p, or a program of
 * their own) writes a line for each path: its two base LIDs and the level.
 */
#include "cli/levels.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "core/base/text.h"

static int by_pair(const void *a, const void *b)
{
	const struct cli_level *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static enum fors_err add(struct cli_levels *levels, struct cli_level level, struct fors_error *error)
{
	if (levels->count == levels->room) {
		size_t room = levels->room ? 2 * levels->room : 256;
		struct cli_level *larger = realloc(levels->level, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(error);
		levels->level = larger;
		levels->room = room;
	}
	levels->level[levels->count++] = level;
	return FORS_OK;
}

/* "12 40 3", or nothing. */
static enum fors_err read_line(const struct fors_lines *lines, struct fors_span line, struct cli_levels *levels,
			       struct fors_error *error)
{
	uint64_t src, dst, sl;

	fors_skip_blanks(&line);
	if (fors_span_is_empty(line) || *line.at == '#')
		return FORS_OK;
	if (!fors_take_any_number(&line, FORS_LID_MAX, &src) || !src)
		return fors_lines_fail(lines, lines->number, error, "here a source LID is expected");
	fors_skip_blanks(&line);
	if (!fors_take_any_number(&line, FORS_LID_MAX, &dst) || !dst)
		return fors_lines_fail(lines, lines->number, error, "here a destination LID is expected");
	fors_skip_blanks(&line);
	if (!fors_take_any_number(&line, 15, &sl))
		return fors_lines_fail(lines, lines->number, error, "here a service level from 0 to 15 is expected");
	fors_skip_blanks(&line);
	if (!fors_span_is_empty(line) && *line.at != '#' && *line.at != '\r')
		return fors_lines_fail(lines, lines->number, error, "there is more than SLID DLID SL");
	return add(levels, (struct cli_level){(uint32_t)(src << 16 | dst), lines->number, (uint8_t)sl}, error);
}

/* Sorted; a pair may stand twice when both say the same. */
static enum fors_err sort(const struct fors_lines *lines, struct cli_levels *levels, struct fors_error *error)
{
	if (levels->count)
		qsort(levels->level, levels->count, sizeof(*levels->level), by_pair);
	for (size_t i = 1; i < levels->count; i++)
		if (levels->level[i].pair == levels->level[i - 1].pair &&
		    levels->level[i].sl != levels->level[i - 1].sl)
			return fors_lines_fail(lines, levels->level[i].line, error,
					       "LID %u to %u has another service level in line %u",
					       levels->level[i].pair >> 16, levels->level[i].pair & 0xFFFF,
					       levels->level[i - 1].line);
	return FORS_OK;
}

static enum fors_err read_levels(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct cli_levels *levels = context;
	struct fors_lines lines;
	struct fors_span line;
	enum fors_err err = fors_lines_start(&lines, text, size, path, error);

	while (!err && fors_lines_next(&lines, &line))
		err = read_line(&lines, line, levels, error);
	return err ? err : sort(&lines, levels, error);
}

int cli_levels_read(const char *path, struct cli_levels *levels)
{
	return cli_use_file(path, read_levels, levels);
}

void cli_levels_clear(struct cli_levels *levels)
{
	free(levels->level);
	*levels = (struct cli_levels){0};
}

uint8_t cli_level(const struct cli_levels *levels, uint32_t src, uint32_t dst)
{
	uint32_t pair = src << 16 | dst;
	size_t low = 0, high = levels->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (levels->level[middle].pair < pair)
			low = middle + 1;
		else
			high = middle;
	}
	return low < levels->count && levels->level[low].pair == pair ? levels->level[low].sl : FORS_NO_SL;
}
