/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of daemon/files/epoch.c: which epochs are believed, which comes next, and what files say of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "daemon/files/epoch.h"
#include "fake_clock.h"
#include "unit.h"

#define NOW 1700000000000
#define DAY 86400000

struct place {
	char directory[64];
	struct fors_folder folder;
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->directory, "/tmp/fors-epoch-XXXXXX");
	*state = place;
	return !mkdtemp(place->directory) || fors_folder_init(&place->folder, place->directory, 0xab, NULL) ? -1 : 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place->directory);
	fors_folder_clear(&place->folder);
	free(place);
	return system(command) ? -1 : 0;
}

static const char *in_folder(const struct place *place, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s/%s", place->directory, place->folder.name, name);
	return path;
}

static void put(const struct place *place, const char *name, const void *bytes, size_t size)
{
	assert_int_equal(fors_publish(&place->folder, name, bytes, size, false, NULL), FORS_OK);
}

static void put_schedule(const struct place *place, uint64_t epoch)
{
	struct fors_schedule *schedule;
	void *bytes;
	size_t size;

	assert_int_equal(fors_schedule_withdrawn(epoch, "test", &schedule, NULL), FORS_OK);
	assert_int_equal(fors_schedule_encode(schedule, &bytes, &size, NULL), FORS_OK);
	put(place, "schedule", bytes, size);
	fors_schedule_free(schedule);
	free(bytes);
}

TEST(next_grows_and_never_wraps)
{
	assert_true(fors_epoch_next(0, NOW) == NOW);
	assert_true(fors_epoch_next(NOW - 2, NOW) == NOW);
	assert_true(fors_epoch_next(NOW - 1, NOW) == NOW + 1); /* NOW is that of the withdrawal that lies ready */
	assert_true(fors_epoch_next(NOW, NOW) == NOW + 2);
	assert_true(fors_epoch_next(NOW + 5, NOW) == NOW + 7);
	assert_true(fors_epoch_next(0, 0) == 1);
	assert_true(fors_epoch_next(5, UINT64_MAX) == 7); /* no such clock */
	assert_true(fors_epoch_next(5, FORS_EPOCH_LIMIT) == 7);
	assert_true(fors_epoch_next(5, FORS_EPOCH_LIMIT - 1) == FORS_EPOCH_LIMIT - 1);
	assert_true(fors_epoch_next(FORS_EPOCH_LIMIT - 1, NOW) == FORS_EPOCH_LIMIT + 1);
}

/* Two minutes, or a thousand when the clock is behind; halves of them are scarce; never at the limit. */
TEST(epochs_are_reserved)
{
	assert_true(fors_epoch_reserve(0, NOW) == NOW + 120000);
	assert_true(fors_epoch_reserve(NOW, 5) == NOW + 1000);
	assert_true(fors_epoch_reserve(NOW, UINT64_MAX) == NOW + 1000);
	assert_true(fors_epoch_reserve(NOW, FORS_EPOCH_LIMIT - 1) == FORS_EPOCH_LIMIT - 1);
	assert_true(fors_epoch_is_scarce(0, NOW, NOW));
	assert_true(fors_epoch_is_scarce(NOW + 59999, NOW, NOW));
	assert_false(fors_epoch_is_scarce(NOW + 60000, NOW, NOW));
	assert_true(fors_epoch_is_scarce(NOW + 499, NOW, 0));
	assert_false(fors_epoch_is_scarce(NOW + 500, NOW, 0));
}

#define IN_A_PLACE(test) TEST(test, make_place, remove_place)

IN_A_PLACE(reserve_has_an_epoch)
{
	static const char *const bad[] = {"",
					  "5",
					  "5\n\n",
					  " 5\n",
					  "-5\n",
					  "5 1\n",
					  "18446744073709551616\n",
					  "x\n",
					  "5 00000000-0000-0000-0000-00000000000\n",
					  "5 00000000-0000-0000-0000-0000000000000\n",
					  "5 00000000-0000-0000-0000-000000000000"};
	const struct place *place = *state;
	struct fors_error error;
	char text[FORS_RESERVE_LENGTH + 1];
	uint64_t epoch = 7;
	bool is_this_boot = true;

	assert_int_equal(fors_epoch_of_reserve(&place->folder, &epoch, &is_this_boot, &error), FORS_OK);
	assert_true(epoch == 0 && !is_this_boot);
	put(place, "epoch", "1700000000000\n", 14);
	assert_int_equal(fors_epoch_of_reserve(&place->folder, &epoch, &is_this_boot, &error), FORS_OK);
	assert_true(epoch == 1700000000000 && !is_this_boot);
	put(place, "epoch", text, fors_epoch_reserve_text(1800000000000, text));
	assert_int_equal(fors_epoch_of_reserve(&place->folder, &epoch, &is_this_boot, &error), FORS_OK);
	assert_true(epoch == 1800000000000 && is_this_boot);
	fake_clock_reboot();
	assert_int_equal(fors_epoch_of_reserve(&place->folder, &epoch, &is_this_boot, &error), FORS_OK);
	assert_true(epoch == 1800000000000 && !is_this_boot);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(place, "epoch", bad[i], strlen(bad[i]));
		if (fors_epoch_of_reserve(&place->folder, &epoch, &is_this_boot, &error) != FORS_EINPUT)
			fail_msg("'%s' is accepted", bad[i]);
		assert_non_null(strstr(error.text, in_folder(place, "epoch")));
	}
}

TEST(belief_has_limits)
{
	assert_true(fors_epoch_is_own(0) && fors_epoch_is_own(FORS_EPOCH_LIMIT - 1));
	assert_false(fors_epoch_is_own(FORS_EPOCH_LIMIT) || fors_epoch_is_own(UINT64_MAX));
	assert_true(fors_epoch_is_near(NOW + DAY, 0, NOW));
	assert_false(fors_epoch_is_near(NOW + DAY + 1, 0, NOW));
	assert_true(fors_epoch_is_near(NOW + DAY + 1, NOW + 1, NOW));
	assert_true(fors_epoch_is_near(NOW, NOW, 0)); /* this host booted in 1970, but knows what it published */
	assert_false(fors_epoch_is_near(NOW, 0, 0));
	assert_false(fors_epoch_is_near(UINT64_MAX, NOW, UINT64_MAX)); /* nor is that a clock */
	assert_false(fors_epoch_is_near(FORS_EPOCH_LIMIT, FORS_EPOCH_LIMIT - 1, NOW));
	assert_true(fors_epoch_is_near(FORS_EPOCH_LIMIT, FORS_EPOCH_LIMIT, NOW));
}

IN_A_PLACE(schedule_has_an_epoch)
{
	const struct place *place = *state;
	struct fors_schedule_header header;
	struct fors_error error;
	bool is_there = true;

	assert_int_equal(fors_epoch_of_schedule(&place->folder, &header, &is_there, &error), FORS_OK);
	assert_false(is_there);
	put_schedule(place, UINT64_MAX);
	assert_int_equal(fors_epoch_of_schedule(&place->folder, &header, &is_there, &error), FORS_OK);
	assert_true(is_there && header.epoch == UINT64_MAX);
	put(place, "schedule", "FORSschd", 8);
	assert_int_equal(fors_epoch_of_schedule(&place->folder, &header, &is_there, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, in_folder(place, "schedule")));
}

/* Peak of this process's memory in kB. */
static long peak(void)
{
	char line[128];
	long kb = 0;
	FILE *file = fopen("/proc/self/status", "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	fclose(file);
	return kb;
}

IN_A_PLACE(large_file_costs_nothing)
{
	const struct place *place = *state;
	struct fors_schedule_header header;
	struct fors_error error;
	bool is_there;
	long before = peak();

	put_schedule(place, NOW);
	assert_int_equal(truncate(in_folder(place, "schedule"), (off_t)1 << 30), 0);
	assert_int_equal(fors_epoch_of_schedule(&place->folder, &header, &is_there, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "bytes after its end"));
	assert_in_range(peak() - before, 0, 65536);
}

/* What is no file of ours stays so; nothing of it is waited for. */
IN_A_PLACE(misfits_are_not_read)
{
	const struct place *place = *state;
	struct fors_head head;
	struct fors_error error;

	put(place, "x", "x", 1);
	assert_int_equal(fors_published_head(&place->folder, "x", &head, &error), FORS_OK);
	assert_true(head.is_there && head.size == 1 && head.file_size == 1 && head.bytes[0] == 'x');
	assert_int_equal(mkdir(in_folder(place, "folder"), 0755), 0);
	assert_int_equal(fors_published_head(&place->folder, "folder", &head, &error), FORS_EINPUT);
	assert_int_equal(mkfifo(in_folder(place, "pipe"), 0644), 0);
	assert_int_equal(fors_published_head(&place->folder, "pipe", &head, &error), FORS_EINPUT);
	assert_int_equal(symlink("x", in_folder(place, "link")), 0);
	assert_int_equal(fors_published_head(&place->folder, "link", &head, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, in_folder(place, "link")));
	assert_int_equal(fors_published_head(&place->folder, "missing", &head, &error), FORS_OK);
	assert_false(head.is_there);
}

static enum fors_err epoch_of_status(const struct fors_folder *folder, uint64_t *epoch, struct fors_error *error)
{
	struct fors_status status;
	enum fors_err err = fors_epoch_read_status(folder, &status, error);

	if (err)
		return err;
	*epoch = status.epoch > 0 ? (uint64_t)status.epoch : 0;
	fors_status_clear(&status);
	return FORS_OK;
}

IN_A_PLACE(status_has_an_epoch)
{
	static const struct {
		const char *text;
		enum fors_err err;
		uint64_t epoch;
	} cases[] = {
		{"{\"state\": \"active\", \"epoch\": 1700000000001}", FORS_OK, NOW + 1},
		{"{\"state\": \"active\", \"epoch\": 9223372036854775807}", FORS_OK, INT64_MAX},
		{"{\"state\": \"active\", \"epoch\": null}", FORS_OK, 0},
		{"{\"state\": \"active\"}", FORS_OK, 0},
		{"{\"state\": \"active\", \"epoch\": -1}", FORS_EINPUT, 0},
		{"{\"state\": \"active\", \"epoch\": 9223372036854775808}", FORS_EINPUT, 0},
		{"{\"state\": \"active\", \"epoch\": 17", FORS_EINPUT, 0},
		{"", FORS_EINPUT, 0},
	};
	const struct place *place = *state;
	struct fors_error error;
	uint64_t epoch = 7;

	assert_int_equal(epoch_of_status(&place->folder, &epoch, &error), FORS_OK);
	assert_true(epoch == 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum fors_err err;

		epoch = 0;
		put(place, "status.json", cases[i].text, strlen(cases[i].text));
		err = epoch_of_status(&place->folder, &epoch, &error);
		if (err != cases[i].err || epoch != cases[i].epoch)
			fail_msg("%s: %d, %llu", cases[i].text, err, (unsigned long long)epoch);
		if (err)
			assert_non_null(strstr(error.text, in_folder(place, "status.json")));
	}
}

IN_A_PLACE(heartbeat_has_an_epoch)
{
	static const char *const bad[] = {
		"",
		"5\n",
		"5 1",
		"5 1\n\n",
		"5  1\n",
		" 5 1\n",
		"-5 1\n",
		"5 -1\n",
		"+5 1\n",
		"5 18446744073709551616\n",
		"5 99999999999999999999999\n",
		"5 1 \n",
		"5 0x1\n",
		"5 \n",
		"x\n",
		"18446744073709551616 1\n",
	};
	const struct place *place = *state;
	struct fors_error error;
	uint64_t epoch = 7;
	char much[400];

	assert_int_equal(fors_epoch_of_heartbeat(&place->folder, &epoch, &error), FORS_OK);
	assert_true(epoch == 0);
	put(place, "heartbeat", "1700000000000 18446744073709551615\n", 35);
	assert_int_equal(fors_epoch_of_heartbeat(&place->folder, &epoch, &error), FORS_OK);
	assert_true(epoch == UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(place, "heartbeat", bad[i], strlen(bad[i]));
		if (fors_epoch_of_heartbeat(&place->folder, &epoch, &error) != FORS_EINPUT)
			fail_msg("'%s' is accepted", bad[i]);
		assert_non_null(strstr(error.text, in_folder(place, "heartbeat")));
	}
	memset(much, '0', sizeof(much));
	memcpy(much + 268, " 5\n", 4); /* ends just where the head ends, but goes on */
	put(place, "heartbeat", much, sizeof(much));
	assert_int_equal(fors_epoch_of_heartbeat(&place->folder, &epoch, &error), FORS_EINPUT);
	assert_true(epoch == UINT64_MAX);
}
