/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * match.c - alternating paths on bits.
 *
 * Breadth-first from a row without a column: a free column ends the search; one that is taken leads on to the row that
 * has it. A row is looked at once, all its columns in a few operations.
 */
#include "match.h"

/* Give `column` to the row that found it, that row's old column to the one before, and so on up to `start`. */
static void turn_path(struct fors_matching *matching, const uint8_t *finder, uint32_t start, uint32_t column)
{
	for (;;) {
		uint32_t row = finder[column], next = matching->column[row];

		fors_match(matching, row, column);
		if (row == start)
			return;
		column = next;
	}
}

static bool search_path(struct fors_matching *matching, uint32_t start)
{
	uint8_t queue[FORS_MATCH_MOST + 1], finder[FORS_MATCH_MOST];
	uint64_t seen = 0;
	uint32_t queued = 1;

	queue[0] = (uint8_t)start;
	for (uint32_t i = 0; i < queued; i++) {
		uint64_t found = matching->may[queue[i]] & ~seen, open = found & matching->free;

		if (open) {
			uint32_t column = (uint32_t)__builtin_ctzll(open);

			finder[column] = queue[i];
			turn_path(matching, finder, start, column);
			return true;
		}
		for (seen |= found; found; found &= found - 1) {
			uint32_t column = (uint32_t)__builtin_ctzll(found);

			finder[column] = queue[i];
			queue[queued++] = matching->row[column];
		}
	}
	return false;
}

bool fors_match_augment(struct fors_matching *matching, uint32_t start)
{
	uint64_t open = matching->may[start] & matching->free;

	if (open)
		fors_match(matching, start, (uint32_t)__builtin_ctzll(open));
	return open || search_path(matching, start);
}
