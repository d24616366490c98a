/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfts_diff.c - two sets of tables, entry by entry.
 *
 * Rows of both are sorted by GUID, so both are walked side by side, as lists are merged. A switch that one of both lacks
 * is compared with a table without any port: then every count is a count of entries, and needs no second kind. There
 * are two walks: the first one counts, so that the second one has the room it needs; equal tables, the usual case, cost
 * no memory at all.
 */
#include "lfts_diff.h"

#include <stdlib.h>

/* Two rows that belong together; FORS_NONE: that side has none. */
struct pair {
	uint64_t guid;
	uint32_t a, b;
};

struct walk {
	const struct fors_lfts *a, *b;
	uint32_t next_a, next_b;
};

static bool next_pair(struct walk *walk, struct pair *pair)
{
	bool has_a = walk->next_a < walk->a->nswitches, has_b = walk->next_b < walk->b->nswitches;
	uint64_t a = has_a ? walk->a->guid[walk->next_a] : 0, b = has_b ? walk->b->guid[walk->next_b] : 0;

	if (!has_a && !has_b)
		return false;
	has_a = has_a && (!has_b || a <= b);
	has_b = has_b && (!has_a || a == b);
	pair->guid = has_a ? a : b;
	pair->a = has_a ? walk->next_a++ : FORS_NONE;
	pair->b = has_b ? walk->next_b++ : FORS_NONE;
	return true;
}

static uint8_t port_at(const struct fors_lfts *lfts, uint32_t row, uint32_t lid)
{
	return row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(lfts, row, lid);
}

/* Compare a pair. Its changes go to `entry`, where that is no NULL; the number of them. */
static size_t compare(const struct walk *walk, const struct pair *pair, struct fors_entry_change *entry,
		      uint64_t *compared)
{
	uint32_t end = walk->a->nlids > walk->b->nlids ? walk->a->nlids : walk->b->nlids;
	size_t count = 0;

	for (uint32_t lid = 0; lid < end; lid++) {
		uint8_t was = port_at(walk->a, pair->a, lid), is = port_at(walk->b, pair->b, lid);

		*compared += was != FORS_NO_PATH || is != FORS_NO_PATH;
		if (was == is)
			continue;
		if (entry)
			entry[count] = (struct fors_entry_change){lid, was, is};
		count++;
	}
	return count;
}

static bool is_whole(const struct pair *pair)
{
	return pair->a != FORS_NONE && pair->b != FORS_NONE;
}

static void count_changes(const struct fors_lfts *a, const struct fors_lfts *b, struct fors_lfts_diff *diff)
{
	struct walk walk = {.a = a, .b = b};
	struct pair pair;

	while (next_pair(&walk, &pair)) {
		size_t count = compare(&walk, &pair, NULL, &diff->compared);

		diff->nswitches++;
		diff->nentries += count;
		diff->ntables += count || !is_whole(&pair);
	}
}

static void list_changes(const struct fors_lfts *a, const struct fors_lfts *b, struct fors_lfts_diff *diff)
{
	struct walk walk = {.a = a, .b = b};
	struct fors_table_change *table = diff->table;
	uint64_t unused = 0;
	struct pair pair;
	size_t first = 0;

	while (next_pair(&walk, &pair)) {
		size_t count = compare(&walk, &pair, diff->entry + first, &unused);

		if (count || !is_whole(&pair))
			*table++ = (struct fors_table_change){.guid = pair.guid,
							      .first = first,
							      .count = count,
							      .was = pair.a != FORS_NONE,
							      .is = pair.b != FORS_NONE};
		first += count;
	}
}

enum fors_err fors_lfts_diff(const struct fors_lfts *a, const struct fors_lfts *b, struct fors_lfts_diff *diff,
			     struct fors_error *error)
{
	struct fors_lfts_diff made = {0};

	count_changes(a, b, &made);
	made.table = calloc(made.ntables + 1, sizeof(*made.table));
	made.entry = calloc(made.nentries + 1, sizeof(*made.entry));
	if (!made.table || !made.entry) {
		fors_lfts_diff_clear(&made);
		return fors_fail_memory(error);
	}
	list_changes(a, b, &made);
	*diff = made;
	return FORS_OK;
}

void fors_lfts_diff_clear(struct fors_lfts_diff *diff)
{
	free(diff->table);
	free(diff->entry);
	*diff = (struct fors_lfts_diff){0};
}
