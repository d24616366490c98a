/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forwarding tables as text: opensm's and dump_fts's, and what can be wrong with them. */
#include "data.h"

#include <stdlib.h>

#include "core/net/lftfile.h"
#include "core/net/lfts.h"

FREES(fors_lfts_free, struct fors_lfts *)
FREES(fors_net_free, struct fors_net *)

static struct fors_lfts *read_file(const char *name)
{
	struct fors_lfts *lfts = NULL;
	struct fors_error error;
	size_t size;
	char *text FREED(free) = data_read(name, &size);

	if (fors_lftfile_read(text, size, name, &lfts, &error) != FORS_OK)
		fail_msg("%s", error.text);
	return lfts;
}

static void same_tables(const struct fors_lfts *a, const struct fors_lfts *b)
{
	assert_int_equal(a->nswitches, b->nswitches);
	assert_int_equal(a->nlids, b->nlids);
	assert_memory_equal(a->guid, b->guid, a->nswitches * sizeof(*a->guid));
	assert_memory_equal(a->port, b->port, (size_t)a->nswitches * a->nlids);
}

TEST(test_opensm)
{
	struct fors_lfts *lfts FREED(fors_lfts_free) = read_file("small.opensm-lfts");

	assert_int_equal(lfts->nswitches, 5);
	assert_int_equal(lfts->nlids, 16);
	for (uint32_t row = 0; row < 5; row++) /* sorted */
		assert_true(lfts->guid[row] == 0x200000 + row);
	assert_int_equal(fors_lfts_port(lfts, 0, 0), FORS_NO_PATH);
	assert_int_equal(fors_lfts_port(lfts, 0, 1), 4);
	assert_int_equal(fors_lfts_port(lfts, 0, 2), 0);
	assert_int_equal(fors_lfts_port(lfts, 0, 0xf), 4);
}

/* The same switches, asked by dump_fts. */
TEST(test_dump_fts)
{
	static const char *const files[] = {"small.dump_fts", "small-all.dump_fts", "small-nodests.dump_fts"};
	struct fors_lfts *lfts FREED(fors_lfts_free) = read_file("small.opensm-lfts");

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct fors_lfts *dump FREED(fors_lfts_free) = read_file(files[i]);

		same_tables(lfts, dump);
	}
}

/* What we write is what opensm wrote. */
TEST(test_write)
{
	struct fors_net *net FREED(fors_net_free) = data_net_file("small.ibnetdiscover");
	struct fors_lfts *lfts FREED(fors_lfts_free) = read_file("small.opensm-lfts");
	char *written = NULL, *recorded;
	size_t size, recorded_size;

	assert_int_equal(fors_lftfile_write(net, lfts, &written, &size, NULL), FORS_OK);
	recorded = data_read("small.opensm-lfts", &recorded_size);
	assert_int_equal(size, recorded_size);
	assert_string_equal(written, recorded);
	free(written);
	free(recorded);
}

#define HEAD "Unicast lids [0-3] of switch Lid 2 guid 0x0000000000000005 ('a'):\n"
#define DUMP "Unicast lids [0x0-0x3] of switch Lid 2 guid 0x0000000000000006 (a):\n"

TEST(test_good)
{
	static const char text[] = "# comment\n" HEAD "3 lids dumped\n\n" DUMP "  Lid  Out   Destination\n"
				   "       Port     Info \n0x0003 007\n1 valid lids dumped \n"
				   "Unicast lids [7-9] of switch x guid 0x1 ():\n0x0009 254 # x\n9 lids dumped\n";
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;

	assert_int_equal(fors_lftfile_read(text, sizeof(text) - 1, "dump", &lfts, NULL), FORS_OK);
	assert_int_equal(lfts->nswitches, 3);
	assert_int_equal(lfts->nlids, 10);
	assert_int_equal(fors_lfts_port(lfts, fors_lfts_row(lfts, 1), 9), 254);
	assert_int_equal(fors_lfts_port(lfts, fors_lfts_row(lfts, 5), 3), FORS_NO_PATH);
	assert_int_equal(fors_lfts_port(lfts, fors_lfts_row(lfts, 6), 3), 7);
}

TEST(test_bad)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "dump: the file is empty"},
		{"\n", "dump: there is no forwarding table"},
		{"hello\n", "dump:1: \"hello\" is no line of opensm-lfts.dump or dump_fts"},
		{HEAD, "dump:1: the table that starts here has no"},
		{HEAD "0x0001 001\n", "dump:1: the table that starts here has no"},
		{HEAD "0x0001 001\n3 lids dum", "dump:3: this is no line of a table"},
		{HEAD "2 lids dumped\n", "dump:2: here 3 lids are expected"},
		{DUMP "0x0001 001\n2 valid lids dumped \n", "dump:3: here 1 lids are expected"},
		{HEAD HEAD, "dump:2: switch 0x0000000000000005 has a table in line 1"},
		{HEAD "3 lids dumped\n" HEAD "3 lids dumped\n", "dump:3: switch 0x0000000000000005"},
		{HEAD "3 lids dumped\n" HEAD "3 lids dumped\nUnicast lids [3-0] of switch Lid 2 guid 0x5 ('a'):\n",
		 "dump:5: the range of LIDs"},
		{HEAD DUMP, "dump:1: the table that starts here has no"},
		{HEAD "0x0004 001\n", "dump:2: LID 0x4 is out of order or out of the range"},
		{HEAD "0x0002 001\n0x0001 001\n", "dump:3: LID 0x1 is out of order"},
		{HEAD "0x0002 001\n0x0002 001\n", "dump:3: LID 0x2 is out of order"},
		{HEAD "0x0002 256\n", "dump:2: port 256 is larger"},
		{HEAD "0x0002\n", "dump:2: no port after the LID"},
		{HEAD "0x0002 1x\n", "dump:2: no port after the LID"},
		{HEAD "0xzz 001\n", "dump:2: no LID"},
		{"0x0001 001\n", "dump:1: an entry outside"},
		{"3 lids dumped\n", "dump:1: the end of a table that did not start"},
		{"Unicast lids [3-0] of switch Lid 2 guid 0x5 ('a'):\n", "dump:1: the range of LIDs"},
		{"Unicast lids [0-49152] of switch Lid 2 guid 0x5 ('a'):\n", "dump:1: the range of LIDs"},
		{"Unicast lids [0-3] of switch Lid 2\n", "dump:1: the GUID of the switch"},
		{"Unicast lids [0-3] of switch Lid 2 guid 0x0 ('a'):\n", "dump:1: the GUID of the switch"},
		{"Multicast mlids [0xc000-0xc3ff] of switch x guid 0x5 (a):\n", "dump:1: these are multicast tables"},
		{"Switch 4 \"a\"\n", "is no line of opensm-lfts.dump"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_lfts *lfts = NULL;
		struct fors_error error;

		if (fors_lftfile_read(cases[i].text, strlen(cases[i].text), "dump", &lfts, &error) != FORS_EINPUT)
			fail_msg("accepted: %s", cases[i].text);
		data_contains(error.text, cases[i].message);
		assert_null(lfts);
	}
}

/* Groups of adaptive routing are called what they are, and only those: a name may say what it likes. */
TEST(test_adaptive)
{
	static const char *const texts[] = {HEAD "0x0001 001,002\n", HEAD "Adaptive Routing Groups\n3 lids dumped\n",
					    "dump_ar: Switch 0x5\n", HEAD "12 AR group 5\n", "ARLFT of switch 0x5\n"};
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;
	struct fors_error error;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(fors_lftfile_read(texts[i], strlen(texts[i]), "dump", &lfts, &error), FORS_ENOTAPPL);
		data_contains(error.text, "groups of ports of adaptive routing");
		assert_null(lfts);
	}
	assert_int_equal(fors_lftfile_read(HEAD "0x0001 001 # 'AR group, adaptive routing'\n3 lids dumped\n",
					   strlen(HEAD "0x0001 001 # 'AR group, adaptive routing'\n3 lids dumped\n"),
					   "dump", &lfts, &error),
			 FORS_OK);
}

/* Cut anywhere: an error, or all of the tables up to there; never a part of one. */
TEST(test_truncated)
{
	static const char *const files[] = {"small.opensm-lfts", "small.dump_fts"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t size, accepted = 0;
		char *text FREED(free) = data_read(files[i], &size);

		for (size_t cut = 0; cut < size; cut++) {
			struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;

			if (fors_lftfile_read(text, cut, "dump", &lfts, NULL) != FORS_OK)
				continue;
			accepted++;
		}
		assert_in_range(accepted, 1, 3 * 5); /* around the end of each of the 5 tables */
	}
}
