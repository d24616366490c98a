/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/trust.c: whose folders are trusted, and how many links are followed; geteuid() is linked with --wrap.
 * What others could change is in test_publish.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/files/trust.h"
#include "unit.h"

#define NOBODY 54321
#define LINKS_MAX 40 /* that the kernel follows */

static bool is_nobody;

uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

uid_t __wrap_geteuid(void)
{
	return is_nobody ? NOBODY : __real_geteuid();
}

/* The root of all folders is root's, and good enough for an opensm that is not. */
TEST(roots_folders_are_trusted)
{
	struct stat info;
	int fd;

	if (stat("/", &info) || info.st_uid || (info.st_mode & 022))
		skip(); /* it is not, here */
	is_nobody = true;
	fd = fors_trust_open("/", false, NULL);
	is_nobody = false;
	assert_true(fd >= 0);
	close(fd);
}

/* link-N leads to link-(N-1), and link-0 is a folder. */
static void make_chain(const char *directory)
{
	char name[96], target[32];

	snprintf(name, sizeof(name), "%s/link-0", directory);
	assert_int_equal(mkdir(name, 0700), 0);
	for (int i = 1; i <= LINKS_MAX + 1; i++) {
		snprintf(name, sizeof(name), "%s/link-%d", directory, i);
		snprintf(target, sizeof(target), "link-%d", i - 1);
		assert_int_equal(symlink(target, name), 0);
	}
}

/* A folder below link-N: 0, or why not. */
static int open_below(const char *directory, int n)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/link-%d/.", directory, n);
	fd = fors_trust_open(path, false, NULL);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

TEST(links_are_followed_as_by_the_kernel)
{
	char directory[] = "/tmp/fors-trust-XXXXXX", command[64];
	int last, one_more;

	assert_non_null(mkdtemp(directory));
	make_chain(directory);
	last = open_below(directory, LINKS_MAX);
	one_more = open_below(directory, LINKS_MAX + 1);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(last, 0);
	assert_int_equal(one_more, ELOOP);
}
