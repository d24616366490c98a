/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of daemon/files/input.c: a file is what it was when all that is known of it is. The clock is the test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/files/input.h"
#include "fake_clock.h"
#include "unit.h"

static char path[] = "/tmp/fors-input-XXXXXX";
static struct fors_stamps stamps;

/* A file of which a stamp was taken, an hour after it was written, as the fake clock has it. */
static int set_up(void **state)
{
	struct stat info;
	char *text FREED(free) = NULL;
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, "text", 4) != 4 || fstat(fd, &info) || close(fd))
		return -1;
	fake_clock_set((int64_t)info.st_ctim.tv_sec * 1000 + 3600000 - (int64_t)fors_clock_unix_ms());
	if (fors_input_read(path, 1, &info, &text, &stamps, NULL))
		return -1;
	return stamps.count == 1 ? 0 : -1;
}

static int tear_down(void **state)
{
	fors_stamps_clear(&stamps);
	return unlink(path);
}

/* What has one number other than before is another file, were all others the same: a file system may reuse any. */
TEST(each_number_counts, set_up, tear_down)
{
	struct fors_stamp *stamp = &stamps.file[0];
	uint64_t *numbers[] = {&stamp->dev, &stamp->ino, &stamp->size};
	int64_t *times[] = {&stamp->changed_ns, &stamp->written_ns};

	assert_true(fors_stamps_hold(&stamps));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		++*numbers[i];
		assert_false(fors_stamps_hold(&stamps));
		--*numbers[i];
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		++*times[i];
		assert_false(fors_stamps_hold(&stamps));
		--*times[i];
	}
	assert_true(fors_stamps_hold(&stamps));
}
