/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/copies.c and copies_jobs.c: a state folder, a publish_dir in which others may have put anything, and
 * a pass. The clock is the test's own; no fsync (linked with --wrap).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_format.h"
#include "daemon/base/clock.h"
#include "daemon/base/errors.h"
#include "daemon/files/copies.h"
#include "fake_clock.h"
#include "faults.h"
#include "seal.h"
#include "unit.h"

#define DAY UINT64_C(86400000)

static unsigned synced;
static bool is_sick; /* the disk */

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	(void)fd;
	synced++;
	return is_sick ? -1 : 0;
}

struct bench {
	char directory[64], dir[80];
	struct fors_copies copies;
	struct fors_copier_order order;
	unsigned said[32], infos;
	char line[1000], news[64]; /* the last ones */
	uint64_t later;
};

static void say(void *context, unsigned code, const char *line)
{
	struct bench *bench = context;

	bench->said[code]++;
	bench->infos += !code;
	snprintf(bench->line, sizeof(bench->line), "%s", line);
}

static void note(void *context, const char *job, uint64_t epoch)
{
	struct bench *bench = context;

	snprintf(bench->news, sizeof(bench->news), "%s", job);
	bench->later = epoch;
}

static int open_bench(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	is_sick = false;
	strcpy(bench->directory, "/tmp/fors-copies-XXXXXX");
	if (!mkdtemp(bench->directory) || fors_folder_init(&bench->copies.state, bench->directory, 0x77, NULL))
		return -1;
	snprintf(bench->dir, sizeof(bench->dir), "%s/copies", bench->directory);
	bench->copies.dir.parent = bench->dir;
	memcpy(bench->copies.dir.tag, bench->copies.state.name, sizeof(bench->copies.dir.tag));
	bench->copies.say = say;
	bench->copies.news = note;
	bench->copies.context = bench;
	bench->order.is_reserved = true;
	*state = bench;
	return mkdir(bench->dir, 0755);
}

static int close_bench(void **state)
{
	struct bench *bench = *state;
	char command[128];

	fors_copies_clear(&bench->copies);
	fors_folder_clear(&bench->copies.state);
	snprintf(command, sizeof(command), "rm -rf %s", bench->directory);
	free(bench);
	return system(command) ? -1 : 0;
}

/* --- what lies where ----------------------------------------------------------- */

static struct fors_folder in(const struct fors_folder *folder, const char *job)
{
	struct fors_folder made = *folder;

	snprintf(made.job, sizeof(made.job), "%s", job);
	return made;
}

static void put(const struct fors_folder *folder, const char *name, const char *text)
{
	assert_int_equal(fors_publish(folder, name, text, strlen(text), false, NULL), FORS_OK);
}

static bool has(const struct fors_folder *folder, const char *name, const char *text)
{
	void *bytes = NULL;
	size_t size;
	bool is_it = !fors_published(folder, name, 1 << 20, &bytes, &size, NULL) && bytes && !strcmp(bytes, text);

	free(bytes);
	return is_it;
}

/* Two servers that exchange, or (no phases) a withdrawn one; owned by the caller. */
static void *bytes_of(const char *name, uint64_t epoch, bool has_phases, size_t *size)
{
	const struct fors_schedule_server server[2] = {{.guid = 1, .lid = 1, .rank = 0, .desc = "a"},
						       {.guid = 2, .lid = 2, .rank = 1, .desc = "b"}};
	struct fors_schedule *schedule;
	void *bytes;

	if (has_phases) {
		assert_int_equal(fors_schedule_new_of(server, 2, 1, 2, 0, 0, "test", &schedule, NULL), FORS_OK);
		schedule->cell[1] = (struct fors_cell){.dst = 1, .lane = FORS_NO_LANE}; /* in phase 1 */
		schedule->cell[3] = (struct fors_cell){.dst = 0, .lane = FORS_NO_LANE};
	} else {
		assert_int_equal(fors_schedule_withdrawn(epoch, "test", &schedule, NULL), FORS_OK);
	}
	schedule->epoch = epoch;
	snprintf(schedule->name, sizeof(schedule->name), "%s", name);
	assert_int_equal(fors_schedule_encode(schedule, &bytes, size, NULL), FORS_OK);
	fors_schedule_free(schedule);
	return bytes;
}

/* A schedule of the fabric (job "") or of a job, demand or demand of a job, with its mark. */
static void plant(const struct fors_folder *folder, const char *job, uint64_t epoch, bool has_phases)
{
	const struct fors_folder of = in(folder, job);
	size_t size;
	void *bytes = bytes_of(job + (fors_jobkind(job) != FORS_KIND_JOB), epoch, has_phases, &size);

	assert_int_equal(fors_publish(&of, "schedule", bytes, size, false, NULL), FORS_OK);
	free(bytes);
}

/* What readers have: its epoch in *epoch, 0: nothing, or nothing whole; phases, -1: nothing. */
static int phases_of(const struct bench *bench, const char *job, uint64_t *epoch)
{
	const struct fors_folder of = in(&bench->copies.dir, job);
	struct fors_schedule *schedule = NULL;
	void *bytes = NULL;
	size_t size;
	int phases = -1;

	*epoch = 0;
	if (!fors_published(&of, "schedule", 1 << 20, &bytes, &size, NULL) && bytes &&
	    !fors_schedule_decode(bytes, size, "schedule", &schedule, NULL)) {
		phases = (int)schedule->nphases;
		*epoch = schedule->epoch;
	}
	free(bytes);
	fors_schedule_free(schedule);
	return phases;
}

static uint64_t epoch_of(const struct bench *bench, const char *job)
{
	uint64_t epoch;

	phases_of(bench, job, &epoch);
	return epoch;
}

static enum fors_err pass(struct bench *bench)
{
	struct fors_error error;

	return fors_copies_pass(&bench->copies, &bench->order, &error);
}

/* The worker has published this epoch, as the master or a guest. */
static void publish(struct bench *bench, uint64_t epoch, bool has_phases)
{
	plant(&bench->copies.state, "", epoch, has_phases);
	bench->order.epoch = epoch;
}

/* --- the fabric's files ---------------------------------------------------------- */

static void files_are_copied_once(void **state)
{
	struct bench *bench = *state;
	struct fors_folder *from = &bench->copies.state, *to = &bench->copies.dir;
	struct fors_error error;
	uint64_t epoch;

	publish(bench, 1000, true);
	put(from, "status.json", "status");
	put(from, "metrics.prom", "metrics");
	put(from, "heartbeat", "beat");
	put(from, "places", "places");
	put(from, "history", "history");
	synced = 0;
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(phases_of(bench, "", &epoch), 2);
	assert_int_equal(epoch, 1000);
	assert_int_equal(bench->copies.copied, 1000);
	assert_true(has(to, "status.json", "status") && has(to, "metrics.prom", "metrics") &&
		    has(to, "heartbeat", "beat"));
	assert_false(fors_publish_has(to, "places") || fors_publish_has(to, "history"));
	assert_int_equal(synced, 1); /* the withdrawal that lies ready; names come first */
	assert_int_equal(fors_copies_sync(&bench->copies, &error), FORS_OK);
	assert_true(synced > 1);
	synced = 0;
	assert_int_equal(fors_copies_sync(&bench->copies, &error), FORS_OK);
	assert_int_equal(synced, 0);
	assert_int_equal(fors_publish_remove(to, "status.json", NULL), FORS_OK);
	assert_int_equal(pass(bench), FORS_OK);
	assert_false(fors_publish_has(to, "status.json")); /* the same as before: not read, not written */
	put(from, "status.json", "status");
	assert_int_equal(pass(bench), FORS_OK);
	assert_true(has(to, "status.json", "status"));
	is_sick = true;
	assert_int_equal(fors_copies_sync(&bench->copies, &error), FORS_EIO);
	is_sick = false;
	assert_int_equal(fors_publish_remove(to, "status.json", NULL), FORS_OK);
	assert_int_equal(pass(bench), FORS_OK);
	assert_true(has(to, "status.json", "status")); /* what could not be synced comes again */
	bench->order.is_reserved = false;
	publish(bench, 2000, false);
	synced = 0;
	assert_int_equal(pass(bench), FORS_OK);
	assert_true(synced > 0); /* on the disk before it is seen */
	assert_int_equal(bench->said[FORS_F_COPY] + bench->said[FORS_F_STRANGE], 0);
}

/* The folder may be where a file system is to be mounted: it is never made. */
static void a_missing_folder_is_waited_for(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(rmdir(bench->dir), 0);
	publish(bench, 1000, true);
	plant(&bench->copies.state, "one", 500, true);
	assert_int_equal(pass(bench), FORS_EIO);
	assert_int_equal(access(bench->dir, F_OK), -1);
	assert_int_equal(bench->copies.failures, 1);
	assert_int_equal(bench->said[FORS_F_COPY], 0); /* no word of each job */
	assert_int_equal(mkdir(bench->dir, 0755), 0);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, ""), 1000);
	assert_int_equal(epoch_of(bench, "one"), 500);
}

/* Who may write over whom: 'w' it is written, 's' it is not, and is seen, '.' it is left alone without a word. */
static void epochs_never_fall(void **state)
{
	static const struct {
		uint64_t copied, there, ours; /* 0: nothing */
		bool is_guest, is_shared;
		char comes;
	} cases[] = {
		{0, 0, 1000, false, false, 'w'},      {0, 999, 1000, false, false, 'w'},
		{0, 1000, 1000, false, false, 'w'},   {0, 1001, 1000, false, false, 's'},
		{900, 900, 1000, false, false, 'w'},  {900, 1001, 1000, false, false, 's'},
		{1000, 1000, 1000, false, true, 'w'}, /* one's own once more */
		{900, 1000, 1000, false, true, 's'},  /* another one's that came first */
		{900, 900, 1000, true, false, 'w'},   /* a guest's own */
		{900, 950, 1000, true, false, '.'},   /* an earlier one of the new master's */
		{900, 2000, 1000, true, false, '.'},  {0, 0, 1000, true, false, 'w'},
		{0, 900, 1000, true, false, '.'},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench *bench;
		uint64_t epoch;

		assert_int_equal(open_bench(state), 0);
		bench = *state;
		if (cases[i].there)
			plant(&bench->copies.dir, "", cases[i].there, false);
		if (cases[i].is_shared) {
			put(&bench->copies.dir, "holder.1", bench->copies.dir.tag);
			bench->copies.is_shared = true;
		}
		bench->copies.copied = cases[i].copied;
		bench->order.is_guest = cases[i].is_guest;
		publish(bench, cases[i].ours, true);
		put(&bench->copies.state, "status.json", "status");
		assert_int_equal(pass(bench), FORS_OK);
		phases_of(bench, "", &epoch);
		if (epoch != (cases[i].comes == 'w' ? cases[i].ours : cases[i].there) ||
		    has(&bench->copies.dir, "status.json", "status") != (cases[i].comes == 'w') ||
		    bench->copies.seen != (cases[i].comes == 's' ? cases[i].there : 0))
			fail_msg("case %zu: epoch %lu, seen %lu", i, (unsigned long)epoch,
				 (unsigned long)bench->copies.seen);
		close_bench(state);
	}
	*state = NULL;
}

/* --- what others put there -------------------------------------------------------- */

enum oddity { DAMAGED, ABSURD, WRAPPING, FOREIGN, SPARSE, LINK, FOLDER };

static void put_odd(const struct bench *bench, enum oddity what)
{
	const uint64_t now = fors_clock_unix_ms();
	unsigned char bytes[4096] __attribute__((aligned(8))) = {0};
	struct fors_sf_header *header = (struct fors_sf_header *)bytes;
	size_t size;
	void *made = bytes_of("",
			      what == ABSURD	 ? (UINT64_C(1) << 63) + 16
			      : what == WRAPPING ? UINT64_MAX
						 : now + 5,
			      false, &size);
	char path[128];

	memcpy(bytes, made, size);
	free(made);
	snprintf(path, sizeof(path), "%s/schedule", bench->dir);
	if (what == DAMAGED)
		bytes[200] ^= 1;
	if (what == FOREIGN) {
		header->byte_order = __builtin_bswap32(header->byte_order);
		seal(bytes, size);
	}
	if (what == LINK)
		assert_int_equal(symlink("/nowhere", path), 0);
	else
		assert_int_equal(fors_publish(&bench->copies.dir, "schedule", bytes, size, false, NULL), FORS_OK);
	if (what == SPARSE)
		assert_int_equal(truncate(path, (off_t)1 << 30), 0);
}

/* What lies there is named once, and replaced, and no epoch comes of it; also when it comes later. A guest leaves it. */
static void what_is_strange_is_replaced(void **state)
{
	static const struct {
		enum oddity what;
		const char *why;
	} cases[] = {
		{DAMAGED, "checksum of the header"},
		{ABSURD, "epoch 9223372036854775824 is more than a day past the clock"},
		{WRAPPING, "epoch 18446744073709551615 is more than a day past the clock"},
		{FOREIGN, "other byte order"},
		{SPARSE, "bytes after its end"},
		{LINK, "cannot be opened"},
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t now = fors_clock_unix_ms();
		const bool is_later = i % 2;
		struct bench *bench;

		assert_int_equal(open_bench(state), 0);
		bench = *state;
		publish(bench, now, true);
		if (is_later) {
			assert_int_equal(pass(bench), FORS_OK);
			assert_int_equal(fors_publish_remove(&bench->copies.dir, "schedule", NULL), FORS_OK);
		}
		put_odd(bench, cases[i / 2].what);
		bench->order.is_guest = true;
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(bench->said[FORS_F_STRANGE], 0);
		assert_int_not_equal(epoch_of(bench, ""), now);
		bench->order.is_guest = false;
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(epoch_of(bench, ""), now);
		assert_int_equal(bench->said[FORS_F_STRANGE], 1);
		assert_int_equal(bench->copies.seen, 0);
		if (!strstr(bench->line, cases[i / 2].why) || !strstr(bench->line, "/schedule"))
			fail_msg("\"%s\" is not in \"%s\"", cases[i / 2].why, bench->line);
		close_bench(state);
	}
	*state = NULL;
}

/* A day ahead, of the clock or of what was published here, is another manager whose clock is; a millisecond more is nobody. */
static void a_day_ahead_is_believed(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = fors_clock_unix_ms();

	plant(&bench->copies.dir, "", now + DAY, false);
	publish(bench, now, true);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(bench->copies.seen, now + DAY);
	publish(bench, now + DAY + 2, true); /* as the publisher does then */
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, ""), now + DAY + 2);
	plant(&bench->copies.dir, "", now + 2 * DAY + 2, false);
	publish(bench, now + DAY + 4, true);
	bench->order.epoch = now + DAY + 2;
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(bench->copies.seen, now + 2 * DAY + 2);
	assert_int_equal(bench->said[FORS_F_STRANGE], 0);
	plant(&bench->copies.dir, "", now + 2 * DAY + 3, false);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(bench->said[FORS_F_STRANGE], 1);
	assert_int_equal(epoch_of(bench, ""), now + DAY + 4);
}

/* --- the state folder lacks something ---------------------------------------------- */

/* What was copied from here is withdrawn, under a number that nobody else gets; and comes again under a later one. */
static void what_cannot_be_told_is_withdrawn(void **state)
{
	struct bench *bench = *state;
	uint64_t epoch;

	publish(bench, 1000, true);
	plant(&bench->copies.state, "mine", 500, true);
	plant(&bench->copies.dir, "theirs", 500, true);
	assert_int_equal(pass(bench), FORS_OK);
	plant(&bench->copies.state, "", 2000, true); /* of which nobody has told */
	bench->order.epoch = 1002;
	bench->order.is_unwritten = true;
	for (int times = 0; times < 2; times++) {
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(phases_of(bench, "", &epoch), 0);
		assert_int_equal(epoch, 1001);
		assert_int_equal(phases_of(bench, "mine", &epoch), 0);
		assert_int_equal(epoch, 501);
		assert_int_equal(phases_of(bench, "theirs", &epoch), 2);
	}
	bench->order.is_unwritten = false;
	publish(bench, 1002, true);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, ""), 1002);
	assert_string_equal(bench->news, "mine");
	assert_int_equal(bench->later, 501);
	plant(&bench->copies.state, "mine", 503, true); /* as the publisher does then */
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, "mine"), 503);
}

/* The program, or opensm, has just started: what one before it copied is known by its epoch, and withdrawn too. */
static void what_was_copied_before_is_withdrawn(void **state)
{
	struct bench *bench = *state;
	uint64_t epoch;

	plant(&bench->copies.dir, "", 1000, true);
	plant(&bench->copies.state, "mine", 500, true);
	plant(&bench->copies.dir, "mine", 500, true);
	plant(&bench->copies.state, "new", 600, true);
	plant(&bench->copies.dir, "new", 400, true);
	bench->order.epoch = 2000;
	bench->order.is_unwritten = bench->order.is_guest = true;
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(phases_of(bench, "", &epoch), 2); /* perhaps the new master's */
	bench->order.is_guest = false;
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(phases_of(bench, "", &epoch), 0);
	assert_int_equal(epoch, 1001);
	assert_int_equal(phases_of(bench, "mine", &epoch), 0);
	assert_int_equal(epoch, 501);
	assert_int_equal(phases_of(bench, "new", &epoch), 2);
}

/* Removed, an older one put there, another folder: all is copied again. */
static void what_was_taken_away_comes_again(void **state)
{
	struct bench *bench = *state;
	char other[128];

	publish(bench, 1000, true);
	put(&bench->copies.state, "status.json", "status");
	plant(&bench->copies.state, "job", 500, true);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(fors_publish_remove(&bench->copies.dir, "schedule", NULL), FORS_OK);
	assert_int_equal(fors_publish_remove(&bench->copies.dir, "status.json", NULL), FORS_OK);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, ""), 1000);
	assert_true(has(&bench->copies.dir, "status.json", "status"));
	plant(&bench->copies.dir, "", 900, true);
	bench->order.is_guest = true;
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, ""), 900);
	bench->order.is_guest = false;
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, ""), 1000);
	snprintf(other, sizeof(other), "%s.old", bench->dir);
	assert_int_equal(rename(bench->dir, other), 0);
	assert_int_equal(pass(bench), FORS_EIO);
	assert_int_equal(mkdir(bench->dir, 0755), 0);
	plant(&bench->copies.dir, "", 1000, true);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, "job"), 500);
	assert_true(has(&bench->copies.dir, "status.json", "status"));
}

/* Another manager's is not withdrawn for our trouble. */
static void what_is_not_ours_stays(void **state)
{
	struct bench *bench = *state;
	uint64_t epoch;

	publish(bench, 1000, true);
	assert_int_equal(pass(bench), FORS_OK);
	plant(&bench->copies.dir, "", 1500, true);
	bench->order.is_unwritten = true;
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(phases_of(bench, "", &epoch), 2);
	assert_int_equal(epoch, 1500);
}

/* With each allocation that fails: a pass fails or is whole, and the next one makes up for it. */
static void short_of_memory(void **state)
{
	for (uint64_t n = 1; n < 40; n++) {
		struct bench *bench;
		struct fors_error error;

		assert_int_equal(open_bench(state), 0);
		bench = *state;
		publish(bench, 1000, true);
		put(&bench->copies.state, "status.json", "status");
		plant(&bench->copies.state, "job", 500, true);
		faults_arm(n, true);
		fors_copies_pass(&bench->copies, &bench->order, &error);
		faults_off();
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(epoch_of(bench, ""), 1000);
		assert_int_equal(epoch_of(bench, "job"), 500);
		assert_true(has(&bench->copies.dir, "status.json", "status"));
		close_bench(state);
	}
	*state = NULL;
}

/* --- jobs and demands ----------------------------------------------------------------- */

static void path_in(const struct bench *bench, const char *name, char path[160])
{
	snprintf(path, 160, "%s/jobs/%s", bench->dir, name);
}

/* A file in the place of one job's folder: each other job is copied; that one is named once, and tried again. */
static void jobs_pass_a_bad_entry(void **state)
{
	struct bench *bench = *state;
	char path[160], name[16];
	FILE *file;

	path_in(bench, "", path);
	mkdir(path, 0755);
	path_in(bench, "b", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	for (int n = 0; n < 30; n++) {
		snprintf(name, sizeof(name), "a%02d", n);
		plant(&bench->copies.state, name, 1000, true);
	}
	plant(&bench->copies.state, "b", 1000, true);
	plant(&bench->copies.state, "c", 1000, true);
	publish(bench, 2000, false);
	for (int times = 0; times < 3; times++)
		assert_int_equal(pass(bench), FORS_OK);
	for (int n = 0; n < 30; n++) {
		snprintf(name, sizeof(name), "a%02d", n);
		assert_int_equal(epoch_of(bench, name), 1000);
	}
	assert_int_equal(epoch_of(bench, "c"), 1000);
	assert_int_equal(bench->said[FORS_F_COPY], 1);
	assert_non_null(strstr(bench->line, "(job b; the state folder and other jobs are not affected)"));
	assert_int_equal(bench->copies.failures, 3);
	assert_int_equal(remove(path), 0);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, "b"), 1000);
	assert_int_equal(bench->infos, 1);
}

static bool overtake(void *context)
{
	(void)context;
	return true;
}

/* What is new does not wait for all jobs, and none of these waits for ever. */
static void jobs_are_overtaken(void **state)
{
	static const char *const jobs[] = {"a", "b", "c"};
	struct bench *bench = *state;
	uint64_t epoch;

	for (int i = 0; i < 3; i++)
		plant(&bench->copies.state, jobs[i], 500, true);
	bench->copies.is_overtaken = overtake;
	for (uint64_t i = 0; i < 3; i++) {
		publish(bench, 1000 + 2 * i, false);
		assert_int_equal(pass(bench), FORS_OK);
		assert_true(bench->copies.is_cut);
		assert_int_equal(epoch_of(bench, ""), 1000 + 2 * i);
		for (uint64_t j = 0; j < 3; j++)
			assert_int_equal(phases_of(bench, jobs[j], &epoch), j <= i ? 2 : -1);
	}
	bench->copies.is_overtaken = NULL;
	assert_int_equal(pass(bench), FORS_OK);
	assert_false(bench->copies.is_cut);
}

/* Of each kind: a later one is told of, until ours is later; a guest writes over its own only. */
static void jobs_have_epochs_of_their_own(void **state)
{
	static const char *const jobs[] = {"a", "+a", "=a"}; /* a job, a demand, that of a job */
	struct bench *bench = *state;

	publish(bench, 9000, false);
	for (int i = 0; i < 3; i++) {
		plant(&bench->copies.state, jobs[i], 4000, true);
		plant(&bench->copies.dir, jobs[i], 5000, true);
		bench->news[0] = '\0';
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(epoch_of(bench, jobs[i]), 5000);
		assert_string_equal(bench->news, jobs[i]);
		assert_int_equal(bench->later, 5000);
		plant(&bench->copies.state, jobs[i], 5002, true);
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(epoch_of(bench, jobs[i]), 5002);
		bench->order.is_guest = true;
		plant(&bench->copies.state, jobs[i], 6000, false);
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(epoch_of(bench, jobs[i]), 6000);
		plant(&bench->copies.dir, jobs[i], 5500, true); /* the new master's */
		plant(&bench->copies.state, jobs[i], 7000, false);
		bench->news[0] = '\0';
		assert_int_equal(pass(bench), FORS_OK);
		assert_int_equal(epoch_of(bench, jobs[i]), 5500);
		assert_string_equal(bench->news, "");
		bench->order.is_guest = false;
		assert_int_equal(pass(bench), FORS_OK);
	}
}

static unsigned may; /* folders that may be looked at */

static bool may_go_on(void *context)
{
	(void)context;
	return may && may--;
}

static void tidy(struct bench *bench)
{
	may = 100;
	fors_copies_tidy(&bench->copies, may_go_on, NULL);
}

/*
 * What another opensm left is withdrawn, under a later epoch, and removed a day after that; what is no schedule of a job stays
 * as it is, and so does what the state folder has. Without a state folder nothing is known, and nothing done.
 */
static void what_others_left_is_tidied(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = fors_clock_unix_ms();
	static const char *const theirs[] = {"theirs", "+theirs", "=theirs"};
	uint64_t epoch;
	char path[160];

	for (int i = 0; i < 3; i++)
		plant(&bench->copies.dir, theirs[i], now + 5000, true);
	plant(&bench->copies.dir, "known", now, true);
	plant(&bench->copies.dir, "+known", now, true);
	plant(&bench->copies.dir, "old", now - DAY - 1, false);
	plant(&bench->copies.dir, "=other", now - DAY - 1, false); /* whose job is gone */
	plant(&bench->copies.dir, "young", now - DAY + 60000, false);
	plant(&bench->copies.dir, "absurd", now + 2 * DAY, true);
	path_in(bench, "empty", path);
	mkdir(path, 0755);
	tidy(bench);
	assert_int_equal(phases_of(bench, "theirs", &epoch), 2);
	publish(bench, now, false);
	plant(&bench->copies.state, "known", now, true);
	plant(&bench->copies.state, "+known", now, true);
	may = 0;
	fors_copies_tidy(&bench->copies, may_go_on, NULL);
	assert_int_equal(phases_of(bench, "theirs", &epoch), 2);
	tidy(bench);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(phases_of(bench, theirs[i], &epoch), 0);
		assert_true(epoch > now + 5000);
	}
	assert_int_equal(phases_of(bench, "known", &epoch), 2);
	assert_int_equal(phases_of(bench, "+known", &epoch), 2);
	assert_int_equal(phases_of(bench, "absurd", &epoch), 2);
	assert_int_equal(phases_of(bench, "young", &epoch), 0);
	assert_int_equal(access(path, F_OK), 0);
	path_in(bench, "old", path);
	assert_int_not_equal(access(path, F_OK), 0);
	path_in(bench, "other", path);
	assert_int_not_equal(access(path, F_OK), 0);
	fake_clock_advance(DAY + 10000);
	tidy(bench);
	path_in(bench, "theirs", path);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(bench->said[FORS_F_COPY], 0);
	fake_clock_set(-(int64_t)DAY - 10000);
}

/* While another one holds a shared folder nothing is written; when its heartbeat stops all that is here is copied. */
static void what_another_one_holds_is_left(void **state)
{
	struct bench *bench = *state;

	put(&bench->copies.dir, "holder.1", "another one");
	put(&bench->copies.dir, "heartbeat", "1");
	bench->copies.is_shared = true;
	publish(bench, 1000, true);
	plant(&bench->copies.state, "mine", 500, true);
	assert_int_equal(pass(bench), FORS_OK);
	assert_true(bench->copies.is_held_elsewhere);
	assert_int_equal(epoch_of(bench, "mine") + epoch_of(bench, ""), 0);
	fake_clock_advance(FORS_HOLDER_MS);
	assert_int_equal(pass(bench), FORS_OK);
	assert_false(bench->copies.is_held_elsewhere);
	assert_int_equal(epoch_of(bench, "mine"), 500);
	assert_int_equal(epoch_of(bench, ""), 1000);
	put(&bench->copies.dir, "holder.3", "another one");
	plant(&bench->copies.dir, "", 2000, true);
	assert_int_equal(pass(bench), FORS_OK);
	assert_true(bench->copies.is_held_elsewhere);
	publish(bench, 3000, true);
	put(&bench->copies.dir, "holder.4", bench->copies.dir.tag);
	assert_int_equal(pass(bench), FORS_OK);
	assert_int_equal(epoch_of(bench, ""), 3000);
}

#define ON_A_BENCH(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_BENCH(files_are_copied_once),
		ON_A_BENCH(a_missing_folder_is_waited_for),
		cmocka_unit_test(epochs_never_fall),
		cmocka_unit_test(what_is_strange_is_replaced),
		ON_A_BENCH(a_day_ahead_is_believed),
		ON_A_BENCH(what_cannot_be_told_is_withdrawn),
		ON_A_BENCH(what_was_copied_before_is_withdrawn),
		ON_A_BENCH(what_was_taken_away_comes_again),
		ON_A_BENCH(what_is_not_ours_stays),
		cmocka_unit_test(short_of_memory),
		ON_A_BENCH(jobs_are_overtaken),
		ON_A_BENCH(jobs_pass_a_bad_entry),
		ON_A_BENCH(jobs_have_epochs_of_their_own),
		ON_A_BENCH(what_others_left_is_tidied),
		ON_A_BENCH(what_another_one_holds_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
