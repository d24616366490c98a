/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfts_diff.c - two sets of tables, entry by entry.
 *
 * Rows of both are sorted by GUID, so both are walked side by side, as lists are merged. A switch that one of both lacks
 * is compared with a table without any port: then every count is a count of entries, and needs no second kind.
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

/* Room for one more behind `count`: where that is a power of two the array is full. False: out of memory. */
static bool make_room(void **array, size_t count, size_t size)
{
	void *more = count & (count - 1) ? *array : realloc(*array, (count ? 2 * count : 1) * size);

	*array = more ? more : *array;
	return more;
}

/* The entries of a pair that differ, behind those that there are. False: out of memory. */
static bool compare(const struct walk *walk, const struct pair *pair, struct fors_lfts_diff *diff)
{
	uint32_t end = walk->a->nlids > walk->b->nlids ? walk->a->nlids : walk->b->nlids;

	for (uint32_t lid = 0; lid < end; lid++) {
		uint8_t was = port_at(walk->a, pair->a, lid), is = port_at(walk->b, pair->b, lid);

		diff->compared += was != FORS_NO_PATH || is != FORS_NO_PATH;
		if (was == is)
			continue;
		if (!make_room((void **)&diff->entry, diff->nentries, sizeof(*diff->entry)))
			return false;
		diff->entry[diff->nentries++] = (struct fors_entry_change){lid, was, is};
	}
	return true;
}

static bool compare_all(const struct fors_lfts *a, const struct fors_lfts *b, struct fors_lfts_diff *diff)
{
	struct walk walk = {.a = a, .b = b};
	struct pair pair;

	for (; next_pair(&walk, &pair); diff->nswitches++) {
		struct fors_table_change table = {.guid = pair.guid,
						  .first = diff->nentries,
						  .was = pair.a != FORS_NONE,
						  .is = pair.b != FORS_NONE};

		if (!compare(&walk, &pair, diff) ||
		    !make_room((void **)&diff->table, diff->ntables, sizeof(*diff->table)))
			return false;
		table.count = diff->nentries - table.first;
		if (table.count || !table.was || !table.is)
			diff->table[diff->ntables++] = table;
	}
	return true;
}

enum fors_err fors_lfts_diff(const struct fors_lfts *a, const struct fors_lfts *b, struct fors_lfts_diff *diff,
			     struct fors_error *error)
{
	struct fors_lfts_diff made = {0};

	if (!compare_all(a, b, &made)) {
		fors_lfts_diff_clear(&made);
		return fors_fail_memory(error);
	}
	*diff = made;
	return FORS_OK;
}

void fors_lfts_diff_clear(struct fors_lfts_diff *diff)
{
	free(diff->table);
	free(diff->entry);
	*diff = (struct fors_lfts_diff){0};
}
