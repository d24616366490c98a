/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/settings/loader.c, and of background.c and io_thread.c below it: files that are read again only when they changed, and
 * files that hang (fors_read_bytes() is linked with --wrap; the clock is the test's own, and moves when one hangs).
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/settings/loader.h"
#include "fake_clock.h"
#include "unit.h"

FREES(fors_settings_free, struct fors_settings *)

static char directory[64], conf[96], guids[96], options[128];
static struct fors_loader *loader;
static atomic_uint nreads, nnews;
static atomic_bool is_hanging;

void *__real_fors_read_bytes(int fd, size_t size);
void *__wrap_fors_read_bytes(int fd, size_t size);

void *__wrap_fors_read_bytes(int fd, size_t size)
{
	atomic_fetch_add(&nreads, 1);
	if (atomic_load(&is_hanging))
		fake_clock_advance(100000);
	while (atomic_load(&is_hanging))
		usleep(1000);
	return __real_fors_read_bytes(fd, size);
}

static void note_news(void *context)
{
	atomic_fetch_add(&nnews, 1);
}

/* Written long ago, as the fake clock has it; but each time is another one. */
static void put(const char *path, const char *text)
{
	static time_t written = 1000;
	FILE *file = fopen(path, "w");
	struct timespec times[2] = {{.tv_sec = ++written}, {.tv_sec = written}};

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int set_up(void **state)
{
	strcpy(directory, "/tmp/fors-loader-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(conf, sizeof(conf), "%s/fors.conf", directory);
	snprintf(guids, sizeof(guids), "%s/guids", directory);
	snprintf(options, sizeof(options), "fors_config=%s", conf);
	atomic_store(&nreads, 0);
	atomic_store(&nnews, 0);
	put(conf, "hold_down = 1\n");
	put(guids, "0x10\n0x20\n");
	return fors_loader_start(note_news, NULL, 0, &loader, NULL);
}

static int tear_down(void **state)
{
	char command[100];

	fake_clock_run(true); /* should the thread have to be left alone */
	fors_loader_stop(loader);
	fake_clock_run(false);
	atomic_store(&is_hanging, false);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command) ? -1 : 0;
}

static struct fors_error error;

/* Load; the number of files that were read for it. */
static unsigned load(enum fors_load expected, struct fors_settings **settings)
{
	const struct fors_sources sources = {.options = options, .cn_guid_file = guids};
	unsigned before = atomic_load(&nreads);

	*settings = NULL;
	error.text[0] = '\0';
	assert_int_equal(fors_loader_load(loader, &sources, settings, &error), expected);
	assert_int_equal(*settings != NULL, expected == FORS_LOAD_NEW);
	return atomic_load(&nreads) - before;
}

static void expect_new(unsigned nfiles, unsigned hold_down, size_t nparticipants)
{
	struct fors_settings *settings FREED(fors_settings_free) = NULL;

	assert_int_equal(load(FORS_LOAD_NEW, &settings), nfiles);
	assert_int_equal(settings->hold_down, hold_down);
	assert_int_equal(settings->participants.count, nparticipants);
}

/* The kernel's times are far from those of the fake clock: set it to so long after what was written last. */
static void set_clock(int64_t after_ms)
{
	struct stat info;

	assert_int_equal(stat(guids, &info), 0);
	fake_clock_set((int64_t)info.st_ctim.tv_sec * 1000 + after_ms - (int64_t)fors_clock_unix_ms());
}

#define CASE(name) TEST(name, set_up, tear_down)

CASE(read_again_only_when_changed)
{
	struct fors_settings *settings;

	set_clock(3600000);
	expect_new(2, 1, 2);
	assert_int_equal(load(FORS_LOAD_SAME, &settings), 0);
	put(guids, "0x10\n0x30\n"); /* of the same size */
	expect_new(2, 1, 2);
	assert_int_equal(load(FORS_LOAD_SAME, &settings), 0);
	put(conf, "hold_down = x\n");
	load(FORS_LOAD_BAD, &settings);
	assert_non_null(strstr(error.text, "fors.conf:1: hold_down"));
	assert_int_equal(load(FORS_LOAD_BAD, &settings), 0);
	assert_non_null(strstr(error.text, "fors.conf:1: hold_down"));
	put(conf, "hold_down = 2\n");
	expect_new(2, 2, 2);
	snprintf(options, sizeof(options), "none");
	expect_new(1, 0, 2);
}

/* What was written just now may be written once more without a trace. */
CASE(fresh_files_are_read_again)
{
	set_clock(1000);
	expect_new(2, 1, 2);
	expect_new(2, 1, 2);
}

/* 66 MB cost nothing: they are not read. */
CASE(a_limit_for_guids)
{
	struct fors_settings *settings;

	assert_int_equal(truncate(guids, 66 << 20), 0);
	assert_int_equal(load(FORS_LOAD_BAD, &settings), 1);
	assert_non_null(strstr(error.text, "guids: has 69206016 bytes; more than 16 MB are not read"));
}

static void wait_for_news(void)
{
	for (int look = 0; look < 20000 && !atomic_load(&nnews); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&nnews), 1);
}

/* Nobody waits for it twice; what it brings late counts, and is looked at once more. */
CASE(a_file_that_hangs)
{
	struct fors_settings *settings;
	char trouble[FORS_ERROR_TEXT];

	expect_new(2, 1, 2);
	assert_null(fors_loader_trouble(loader));
	atomic_store(&is_hanging, true);
	put(conf, "hold_down = 2\n");
	load(FORS_LOAD_LATE, &settings);
	assert_non_null(strstr(error.text, "fors.conf: has not answered since 2"));
	strcpy(trouble, fors_loader_trouble(loader));
	fake_clock_advance(60000);
	load(FORS_LOAD_LATE, &settings);
	assert_string_equal(fors_loader_trouble(loader), trouble);
	assert_int_equal(atomic_load(&nnews), 0);
	atomic_store(&is_hanging, false);
	wait_for_news();
	put(conf, "hold_down = 3\n");
	load(FORS_LOAD_NEW, &settings);
	assert_int_equal(settings->hold_down, 3);
	fors_settings_free(settings);
	assert_null(fors_loader_trouble(loader));
	assert_int_equal(atomic_load(&nnews), 1);
}

/* From the start on, and until the end: the thread is left alone. */
CASE(a_file_that_never_answers)
{
	struct fors_settings *settings;

	atomic_store(&is_hanging, true);
	load(FORS_LOAD_LATE, &settings);
	load(FORS_LOAD_LATE, &settings);
	assert_int_equal(atomic_load(&nnews), 0);
}

/* What could not be opened is tried again, though no file that was read has changed. */
CASE(what_is_missing_may_come)
{
	struct fors_settings *settings;

	set_clock(3600000);
	assert_int_equal(rename(conf, guids), 0);
	assert_int_equal(load(FORS_LOAD_BAD, &settings), 0);
	assert_non_null(strstr(error.text, "fors.conf: cannot be opened"));
	put(conf, "hold_down = 4\n");
	put(guids, "0x10\n");
	expect_new(2, 4, 1);
}

/* opensm.conf may name other files meanwhile, and those that it named before be as they were. */
CASE(other_names_are_other_files)
{
	struct fors_sources sources = {.options = options, .cn_guid_file = guids};
	struct fors_settings *settings;
	char other[112];

	snprintf(other, sizeof(other), "%s.other", guids);
	put(other, "0x30\n");
	set_clock(3600000);
	expect_new(2, 1, 2);
	assert_int_equal(load(FORS_LOAD_SAME, &settings), 0);
	sources.cn_guid_file = other;
	assert_int_equal(fors_loader_load(loader, &sources, &settings, &error), FORS_LOAD_NEW);
	assert_int_equal(settings->participants.count, 1);
	fors_settings_free(settings);
	sources.root_guid_file = guids;
	assert_int_equal(fors_loader_load(loader, &sources, &settings, &error), FORS_LOAD_NEW);
	assert_int_equal(settings->nroots, 2);
	fors_settings_free(settings);
	assert_int_equal(fors_loader_load(loader, &sources, &settings, &error), FORS_LOAD_SAME);
}

/* What comes late calls for a sweep, which loads again: were that late too, and called again, it would never end. */
CASE(late_again_is_no_news)
{
	struct fors_settings *settings;
	unsigned before;

	atomic_store(&is_hanging, true);
	load(FORS_LOAD_LATE, &settings);
	atomic_store(&is_hanging, false);
	wait_for_news();
	put(conf, "hold_down = 2\n");
	atomic_store(&is_hanging, true);
	before = atomic_load(&nreads);
	load(FORS_LOAD_NEW, &settings); /* what came late; and it is asked for once more */
	fors_settings_free(settings);
	assert_int_equal(atomic_load(&nreads), before + 1);
	assert_non_null(fors_loader_trouble(loader));
	atomic_store(&is_hanging, false);
	for (int look = 0; look < 20000 && fors_loader_trouble(loader); look++) {
		if (fors_loader_load(loader, &(struct fors_sources){.options = options, .cn_guid_file = guids},
				     &settings, &error) == FORS_LOAD_NEW)
			fors_settings_free(settings);
		usleep(1000);
	}
	assert_null(fors_loader_trouble(loader));
	assert_int_equal(atomic_load(&nnews), 1);
}
