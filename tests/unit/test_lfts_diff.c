/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which entries differ between tables: against a plain look at each entry, and the names that dumps give to switches. */
#include "support.h"

#include <stdlib.h>

#include "core/net/lftfile.h"
#include "core/net/lfts_diff.h"
#include "data.h"

/* Tables of some of `most` switches, of `nlids` LIDs each, the ports few so that many are equal by chance. */
static struct fors_lfts *random_lfts(unsigned most, unsigned nlids, unsigned *seed)
{
	struct fors_lfts *lfts = fors_lfts_new(most, nlids);
	uint32_t n = 0;

	assert_non_null(lfts);
	for (unsigned guid = 1; guid <= most; guid++)
		if (rand_r(seed) % 4)
			lfts->guid[n++] = guid;
	lfts->nswitches = n;
	for (size_t i = 0; i < (size_t)n * nlids; i++)
		lfts->port[i] = rand_r(seed) % 3 ? (uint8_t)(rand_r(seed) % 3) : FORS_NO_PATH;
	return lfts;
}

static uint8_t port_of(const struct fors_lfts *lfts, uint64_t guid, uint32_t lid)
{
	uint32_t row = fors_lfts_row(lfts, guid);

	return row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(lfts, row, lid);
}

/* Every entry of every switch, asked one by one, is in the list exactly when it differs, in order. */
static void judge(const struct fors_lfts *a, const struct fors_lfts *b, unsigned most, unsigned nlids,
		  const struct fors_lfts_diff *diff)
{
	size_t table = 0, entry = 0, compared = 0, nswitches = 0;

	for (uint64_t guid = 1; guid <= most; guid++) {
		bool was = fors_lfts_row(a, guid) != FORS_NONE, is = fors_lfts_row(b, guid) != FORS_NONE;
		size_t first = entry;

		nswitches += was || is;
		for (uint32_t lid = 0; lid < nlids; lid++) {
			uint8_t from = port_of(a, guid, lid), to = port_of(b, guid, lid);

			compared += from != FORS_NO_PATH || to != FORS_NO_PATH;
			if (from == to)
				continue;
			assert_true(entry < diff->nentries);
			assert_int_equal(diff->entry[entry].lid, lid);
			assert_int_equal(diff->entry[entry].was, from);
			assert_int_equal(diff->entry[entry].is, to);
			entry++;
		}
		if (entry == first && was == is)
			continue;
		assert_true(table < diff->ntables);
		assert_int_equal(diff->table[table].guid, guid);
		assert_int_equal(diff->table[table].first, first);
		assert_int_equal(diff->table[table].count, entry - first);
		assert_int_equal(diff->table[table].was, was);
		assert_int_equal(diff->table[table].is, is);
		table++;
	}
	assert_int_equal(diff->ntables, table);
	assert_int_equal(diff->nentries, entry);
	assert_int_equal(diff->compared, compared);
	assert_int_equal(diff->nswitches, nswitches);
}

TEST(test_random)
{
	unsigned seed = 1;

	for (unsigned i = 0; i < 500; i++) {
		unsigned most = rand_r(&seed) % 6, nlids = 1 + rand_r(&seed) % 5, more = 1 + rand_r(&seed) % 5;
		struct fors_lfts *a = random_lfts(most, nlids, &seed), *b = random_lfts(most, more, &seed);
		struct fors_lfts_diff diff;

		assert_int_equal(fors_lfts_diff(a, b, &diff, NULL), FORS_OK);
		judge(a, b, most, nlids > more ? nlids : more, &diff);
		fors_lfts_diff_clear(&diff);
		assert_int_equal(fors_lfts_diff(a, a, &diff, NULL), FORS_OK);
		assert_int_equal(diff.ntables + diff.nentries, 0);
		fors_lfts_diff_clear(&diff);
		fors_lfts_free(a);
		fors_lfts_free(b);
	}
}

static void check_names(const char *file)
{
	static const char *const wanted[] = {"Leaf00", "Leaf01", "Leaf02", "Spine00", "Spine01"};
	char name[5][FORS_NAME_MAX + 1];
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;
	size_t size;
	char *text FREED(free) = data_read(file, &size);

	assert_int_equal(fors_lftfile_read(text, size, file, &lfts, NULL), FORS_OK);
	assert_int_equal(lfts->nswitches, 5);
	fors_lftfile_names(text, size, lfts, name);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(name[i], wanted[i]);
}

TEST(test_names)
{
	check_names("small.opensm-lfts");
	check_names("small.dump_fts");
}

/* Brackets and quotes of a description are its own; what nobody can read becomes '?'; too long is cut. */
TEST(test_odd_names)
{
#define LONG "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const char text[] = "Unicast lids [0-1] of switch Lid 2 guid 0x1 ('it's (1)'):\n1 lids dumped\n"
				   "Unicast lids [0x0-0x1] of switch x guid 0x2 (rack (2)):\n0 valid lids dumped\n"
				   "Unicast lids [0-1] of switch Lid 2 guid 0x3 ('a\033b'):\n1 lids dumped\n"
				   "Unicast lids [0-1] of switch Lid 2 guid 0x4 ('" LONG "more'):\n1 lids dumped\n"
				   "Unicast lids [0-1] of switch Lid 2 guid 0x5 ():\n1 lids dumped\n"
				   "Unicast lids [0-1] of switch Lid 2 guid 0x6 \n1 lids dumped\n";
	static const char *const wanted[] = {"it's (1)", "rack (2)", "a?b", LONG, "", ""};
	char name[6][FORS_NAME_MAX + 1];
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;

	assert_int_equal(fors_lftfile_read(text, sizeof(text) - 1, "dump", &lfts, NULL), FORS_OK);
	assert_int_equal(lfts->nswitches, 6);
	fors_lftfile_names(text, sizeof(text) - 1, lfts, name);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(name[i], wanted[i]);
}
