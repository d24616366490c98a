/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several programs and a folder: one holds it, until its heartbeat stands still for ten seconds of the readers' clocks. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_clock.h"
#include "daemon/files/holder.h"
#include "unit.h"

static char top[] = "/tmp/fors-holder-XXXXXX";

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *at)
{
	(void)info;
	(void)flag;
	(void)at;
	return remove(path);
}

static int begin(void **state)
{
	strcpy(top, "/tmp/fors-holder-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int end(void **state)
{
	return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct one {
	struct fors_holder holder;
	struct fors_folder folder;
};

static struct one someone(const char *tag)
{
	struct one one = {.folder = {.parent = top}};

	snprintf(one.folder.tag, sizeof(one.folder.tag), "%s", tag);
	return one;
}

static bool holds(struct one *one)
{
	struct fors_error error;
	bool is_ours;

	assert_int_equal(fors_hold(&one->holder, &one->folder, &is_ours, &error), FORS_OK);
	return is_ours;
}

static void beat(unsigned number)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/heartbeat", top);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%u\n", number);
	fclose(file);
}

static bool has(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return !access(path, F_OK);
}

/* The first one holds it, and after a restart; the other one waits, as long as there is a heartbeat. */
TEST(one_holds, begin, end)
{
	struct one a = someone("0xa"), b = someone("0xb"), again = someone("0xa");

	assert_true(holds(&a));
	for (unsigned n = 0; n < 20; n++) {
		beat(n);
		assert_false(holds(&b));
		assert_true(holds(&a) && holds(&again));
		fake_clock_advance(5000);
	}
	assert_true(has("holder.1") && !has("holder.2"));
}

/* The holder falls silent. Of two that wait one gets the next term; the old holder finds that out, and waits as well. */
TEST(taken_over, begin, end)
{
	struct one a = someone("0xa"), b = someone("0xb"), c = someone("0xc");

	assert_true(holds(&a));
	beat(1);
	assert_false(holds(&b) || holds(&c));
	fake_clock_advance(FORS_HOLDER_MS - 1);
	assert_false(holds(&b) || holds(&c));
	fake_clock_advance(1);
	assert_true(holds(&b));
	assert_false(holds(&c));
	assert_false(holds(&a));
	assert_true(!has("holder.1") && has("holder.2"));
	fake_clock_advance(FORS_HOLDER_MS);
	assert_true(holds(&b)); /* it is for others to say that it is silent */
	assert_true(holds(&a));
	assert_false(holds(&b));
	assert_true(has("holder.3"));
}

/* What others do while a link() hangs; NULL: none does. */
static void (*while_hanging)(void);

int __real_linkat(int from, const char *name, int to, const char *other, int flags);
int __wrap_linkat(int from, const char *name, int to, const char *other, int flags);

int __wrap_linkat(int from, const char *name, int to, const char *other, int flags)
{
	void (*act)(void) = while_hanging;

	while_hanging = NULL;
	if (act)
		act();
	return __real_linkat(from, name, to, other, flags);
}

static struct one third, fourth;

static void two_in_turn(void)
{
	assert_true(holds(&third));
	assert_false(holds(&fourth));
	fake_clock_advance(FORS_HOLDER_MS);
	assert_true(holds(&fourth));
}

/* The link() for a term hangs until that term is over, and its name is gone: it says nothing then. */
TEST(a_link_that_hangs, begin, end)
{
	struct one a = someone("0xa"), b = someone("0xb");

	third = someone("0xc");
	fourth = someone("0xd");
	assert_true(holds(&a));
	beat(1);
	assert_false(holds(&b) || holds(&third) || holds(&fourth));
	fake_clock_advance(FORS_HOLDER_MS);
	while_hanging = two_in_turn;
	assert_false(holds(&b));
	assert_null(while_hanging);
	assert_true(has("holder.3") && holds(&fourth));
	assert_false(holds(&b) || holds(&a) || holds(&third));
}

/* Names that are no terms, damaged terms, and a folder that is not there. */
TEST(strange, begin, end)
{
	static const char *const names[] = {"holder.", "holder.0", "holder.x", "holder.1x",
					    "holder.99999999999999999999"};
	struct one a = someone("0xa"), b = someone("0xb");
	struct fors_error error;
	bool is_ours;
	char path[64], gone[] = "/tmp/fors-holder-gone";

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		fclose(fopen(path, "w"));
	}
	assert_true(holds(&a));
	snprintf(path, sizeof(path), "%s/holder.7", top);
	fclose(fopen(path, "w")); /* nobody's */
	assert_false(holds(&a) || holds(&b));
	fake_clock_advance(FORS_HOLDER_MS);
	assert_true(holds(&b) && has("holder.8"));
	snprintf(path, sizeof(path), "%s/holder.9", top);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(fors_hold(&b.holder, &b.folder, &is_ours, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "holder.9"));
	a.folder.parent = gone;
	assert_int_equal(fors_hold(&a.holder, &a.folder, &is_ours, &error), FORS_EIO);
}
