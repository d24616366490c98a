/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of GUIDs: what OpenSM reads, and what nobody can have meant. */
#include "data.h"

#include <stdlib.h>

#include "core/base/guidlist.h"

TEST(test_good)
{
	static const char text[] = "# spines\n"
				   "0x0002c903000e0b72\n"
				   "  0x2C903000E0B73 spine two\r\n"
				   "\n"
				   "\t0x1# short\n"
				   "0x7 # not 0x8\n"
				   "0x9 0x spine 0x8th\n"
				   "4096 decimal, as strtoull has it\n"
				   "0xffffffffffffffff";
	static const uint64_t expected[] = {0x2c903000e0b72, 0x2c903000e0b73, 1, 7, 9, 4096, UINT64_MAX};
	uint64_t *guid FREED(free) = NULL;
	size_t count = 0;

	assert_int_equal(fors_guidlist_read(text, strlen(text), "list", &guid, &count, NULL), FORS_OK);
	assert_int_equal(count, 7);
	for (size_t i = 0; i < count; i++)
		assert_true(guid[i] == expected[i]);
}

TEST(test_empty)
{
	static const char *const texts[] = {"", "\n", "# nothing\n\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint64_t *guid = (uint64_t *)1;
		size_t count = 7;

		assert_int_equal(fors_guidlist_read(texts[i], strlen(texts[i]), "list", &guid, &count, NULL), FORS_OK);
		assert_int_equal(count, 0);
		assert_null(guid);
	}
}

TEST(test_bad)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"0x1\n0x2\n0x1\n", "list:3: GUID 0x0000000000000001 stands in line 1"},
		{"0x3\n0x2\n0x3\n0x2\n0x1\n", "list:3: GUID 0x0000000000000003 stands in line 1"},
		{"0x0\n", "list:1: 0 is not a GUID"},
		{"0x1\nhello\n", "list:2: \"hello\" is not a GUID"},
		{"0x1\n0x2 0x3\n", "list:2: more than one GUID"},
		{"0x2\t 0X0002c903000e0b72# two", "list:1: more than one GUID"},
		{"0x\n", "is not a GUID"},
		{"0x1g\n", "is not a GUID"},
		{"-1\n", "is not a GUID"},
		{"0002c903000e0b72\n", "is not a GUID"},
		{"0x10000000000000000\n", "is not a GUID"},
		{"\x7f"
		 "ELF\n",
		 "list:1: \"?ELF\" is not a GUID"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t *guid = (uint64_t *)1;
		size_t count = 7;
		struct fors_error error;

		assert_int_equal(
			fors_guidlist_read(cases[i].text, strlen(cases[i].text), "list", &guid, &count, &error),
			FORS_EINPUT);
		data_contains(error.text, cases[i].message);
		assert_ptr_equal(guid, (uint64_t *)1); /* untouched */
		assert_int_equal(count, 7);
	}
	assert_int_equal(fors_guidlist_read("0x1\0", 4, "list", &(uint64_t *){NULL}, &(size_t){0}, NULL), FORS_EINPUT);
}

/* A file of fors alone: what follows a GUID says something, or is a comment. */
TEST(test_bare)
{
	static const char good[] = "0x1\n 0x2 # two words\n0x3#\n0x4\t \r\n\n# five\n";
	static const char *const bad[] = {"0x1 send\n", "0x1\treceive # x\n", "0x1 , 0x2\n", "0x1 \x1b]0;x\n",
					  "0x7 \"# x\"\n"};
	uint64_t *guid = NULL;
	size_t count = 0;
	struct fors_error error;

	assert_int_equal(fors_guidlist_read_bare(good, strlen(good), "list", &guid, &count, &error), FORS_OK);
	assert_int_equal(count, 4);
	free(guid);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		guid = (uint64_t *)1;
		assert_int_equal(fors_guidlist_read_bare(bad[i], strlen(bad[i]), "list", &guid, &count, &error),
				 FORS_EINPUT);
		data_contains(error.text, "list:1: \"");
		data_contains(error.text, "behind the GUID means nothing here");
		assert_ptr_equal(guid, (uint64_t *)1);
		assert_null(strchr(error.text, '\x1b'));
	}
	assert_int_equal(fors_guidlist_read_bare("0x1 0x2", 7, "list", &guid, &count, &error), FORS_EINPUT);
	data_contains(error.text, "more than one GUID");
}
