/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The readers, fed with every beginning of good files and with files in which bytes were
 * changed at random (always the same way). Nothing is expected but that they come
 * back, and what they accept can be written again; this program is always built
 * with the sanitizers, which watch. For longer runs see tests/fuzz/.
 */
#include "data.h"

#include <stdlib.h>

#include "core/base/guidlist.h"
#include "core/net/lftfile.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "core/net/tree_spec.h"

#define ROUNDS 1000 /* mangled copies of each file */

typedef void (*reader)(const char *text, size_t size);

static void use_netfile(const char *text, size_t size)
{
	struct fors_net *net = NULL, *back = NULL;
	struct fors_error error;
	char *written = NULL;
	size_t length;

	if (fors_netfile_read(text, size, "mangled", &net, NULL, &error) != FORS_OK) {
		assert_int_not_equal(error.text[0], '\0');
		return;
	}
	assert_int_equal(fors_netfile_write(net, &written, &length, &error), FORS_OK);
	if (fors_netfile_read(written, length, "written", &back, NULL, &error) != FORS_OK)
		fail_msg("%s\n%s", error.text, written);
	free(written);
	fors_net_free(back);
	fors_net_free(net);
}

static void use_lftfile(const char *text, size_t size)
{
	struct fors_lfts *lfts = NULL;
	struct fors_error error;

	if (fors_lftfile_read(text, size, "mangled", &lfts, &error) == FORS_OK)
		fors_lfts_free(lfts);
	else
		assert_int_not_equal(error.text[0], '\0');
}

static void use_guidlist(const char *text, size_t size)
{
	uint64_t *guid = NULL;
	size_t count;

	if (fors_guidlist_read(text, size, "mangled", &guid, &count, NULL) == FORS_OK)
		free(guid);
}

static void use_spec(const char *text, size_t size)
{
	char *line = strndup(text, size);
	struct fors_tree_spec spec;

	assert_non_null(line);
	if (fors_tree_spec_parse(line, &spec, NULL) == FORS_OK)
		fors_tree_spec_clear(&spec);
	free(line);
}

/* In memory of exactly its size, so that a read behind the end is seen. */
static void use_copy(reader use, const char *text, size_t size)
{
	char *copy = malloc(size + !size);

	assert_non_null(copy);
	memcpy(copy, text, size);
	use(copy, size);
	free(copy);
}

static uint32_t state;

static uint32_t below(size_t n)
{
	state = state * 1664525 + 1013904223;
	return (uint32_t)((state >> 8) % n);
}

/* Change, drop, double or swap some bytes, or copy a piece over another. */
static size_t mangle(char *text, size_t size)
{
	static const char likely[] = "\"[]()#=0919afx \n\t-\xff";
	size_t at = below(size), from = below(size), length = below(12) + 1;

	switch (below(4)) {
	case 0:
		text[at] = likely[below(sizeof(likely) - 1)];
		break;
	case 1:
		text[at] = (char)(text[at] ^ 1 << below(8));
		break;
	case 2:
		if (at + length < size) {
			memmove(text + at, text + at + length, size - at - length);
			size -= length;
		}
		break;
	default:
		if (at + length < size && from + length < size)
			memmove(text + at, text + from, length);
	}
	return size;
}

static void try_text(reader use, const char *text, size_t size)
{
	char *copy = malloc(size + 1);

	assert_non_null(copy);
	for (size_t cut = 0; cut <= size; cut += 1 + cut / 3000) /* further on, in larger steps */
		use_copy(use, text, cut);
	state = 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t now = size;

		memcpy(copy, text, size);
		for (unsigned i = below(4) + 1; i > 0; i--)
			now = mangle(copy, now);
		use_copy(use, copy, now);
	}
	free(copy);
}

static void try_files(reader use, const char *const *names)
{
	for (; *names; names++) {
		size_t size;
		char *text = data_read(*names, &size);

		try_text(use, text, size);
		free(text);
	}
}

static void test_netfile(void **unused)
{
	try_files(use_netfile,
		  (const char *const[]){"small.ibnetdiscover", "chassis.ibnetdiscover", "ibsim.net", NULL});
}

static void test_lftfile(void **unused)
{
	try_files(use_lftfile, (const char *const[]){"small.opensm-lfts", "small-all.dump_fts", NULL});
}

static void test_guidlist(void **unused)
{
	static const char text[] = "# spines\n0x2c903000e0b72 # one\n0x2c903000e0b73\n17\n";

	try_text(use_guidlist, text, sizeof(text) - 1);
}

static void test_spec(void **unused)
{
	static const char text[] = "FT(2;20,18;servers=19;cables=2;empty=0/1,17/18)";

	try_text(use_spec, text, sizeof(text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netfile),
		cmocka_unit_test(test_lftfile),
		cmocka_unit_test(test_guidlist),
		cmocka_unit_test(test_spec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
