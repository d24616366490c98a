/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of hosts as Slurm writes them. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/hostlist.h"
#include "unit.h"

static struct fors_span span_of(const char *text)
{
	return (struct fors_span){text, text + strlen(text)};
}

/* The names with blanks between them. */
static void expect(const char *text, const char *wanted)
{
	struct fors_hostlist list;
	char all[512] = "";
	size_t n = 0;

	assert_int_equal(fors_hostlist_read(span_of(text), &list, NULL), FORS_OK);
	for (uint32_t i = 0; i < list.count; i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? " " : "", list.name[i]);
	assert_string_equal(all, wanted);
	fors_hostlist_clear(&list);
	assert_null(list.name);
}

TEST(test_good)
{
	expect("", "");
	expect("a", "a");
	expect("b,a,b", "a b");
	expect("n[1-3]", "n1 n2 n3");
	expect("n[08-11]", "n08 n09 n10 n11");
	expect("n[8-11]", "n10 n11 n8 n9");
	expect("n[1,3-4,7]x", "n1x n3x n4x n7x");
	expect("r[0-1]n[1-2],gpu.x_1-y", "gpu.x_1-y r0n1 r0n2 r1n1 r1n2");
	expect("Node00-[00-01],Node01-00", "Node00-00 Node00-01 Node01-00");
	expect("n[2-3,3]", "n2 n3");
}

static void refuse(const char *text, enum fors_err code, const char *why)
{
	struct fors_hostlist list = {NULL, 77};
	struct fors_error error = {0};

	assert_int_equal(fors_hostlist_read(span_of(text), &list, &error), code);
	assert_int_equal(list.count, 77);
	assert_non_null(strstr(error.text, why));
}

TEST(test_bad)
{
	char text[600];

	refuse("(null)", FORS_EINPUT, "letters, digits");
	refuse("a b", FORS_EINPUT, "letters, digits");
	refuse("a/../b", FORS_EINPUT, "letters, digits");
	refuse("a,,b", FORS_EINPUT, "without a name");
	refuse("n[1-", FORS_EINPUT, "without its ]");
	refuse("n[]", FORS_EINPUT, "numbers and ranges");
	refuse("n[3-1]", FORS_EINPUT, "numbers and ranges");
	refuse("a\x1b[31m", FORS_EINPUT, "\"a?[31m\"");
	refuse("a\xc2\x9b"
	       "1\n\x07",
	       FORS_EINPUT, "\"a??1??\"");
	refuse("n[1-2:2]", FORS_EINPUT, "numbers and ranges");
	refuse("n[a]", FORS_EINPUT, "numbers and ranges");
	refuse("n[1,]", FORS_EINPUT, "numbers and ranges");
	refuse("n[1]]", FORS_EINPUT, "letters, digits");
	refuse("n[0-65536]", FORS_ELIMIT, "65,536");
	refuse("n[0-999999999]", FORS_ELIMIT, "65,536");
	refuse("n[0-99999999999999999999]", FORS_EINPUT, "numbers and ranges");
	refuse("[0-255][0-255][0-1]", FORS_ELIMIT, "65,536");
	refuse("[1][1][1][1][1][1][1][1][1]", FORS_EINPUT, "too many of them");
	memset(text, 'a', sizeof(text));
	memcpy(text + sizeof(text) - 4, "[1]", 4);
	refuse(text, FORS_ELIMIT, "too long");
	memcpy(text + FORS_HOSTNAME_ROOM - 1, "[1]", 4);
	refuse(text, FORS_ELIMIT, "too long");
	memcpy(text + FORS_HOSTNAME_ROOM - 2, "[1]", 4);
	expect(text + 200, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1");
}
