/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/outbox.c and daemon/files/runner.c: copies to a folder that works, fails or hangs (fors_publish() is
 * linked with --wrap), and a command that ends, fails, or does not end. The clock is the test's own: nothing that waits
 * for it comes before the test says so.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_format.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/files/holder.h"
#include "daemon/files/outbox.h"
#include "daemon/files/runner.h"
#include "fake_clock.h"
#include "faults.h"
#include "seal.h"
#include "unit.h"

#define LOOKS 20000 /* at something that has to come, a millisecond or more apart */

static atomic_int errors_logged[32], infos_logged, is_hanging, is_inside;
static char doubted[512]; /* text of the newest FORS_F_STRANGE; read when it is counted */

void fors_log_info(struct fors_log *log, const char *format, ...)
{
	atomic_fetch_add(&infos_logged, 1);
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (code == FORS_F_STRANGE)
		vsnprintf(doubted, sizeof(doubted), format, arguments);
	va_end(arguments);
	atomic_fetch_add(&errors_logged[code], 1);
}

static atomic_int durable, synced; /* files that were on the disk before they had a name, and since */
static atomic_bool is_sick;	   /* the disk */

enum fors_err __wrap_fors_publish_sync(const struct fors_folder *folder, const char *name, struct fors_error *error);

enum fors_err __wrap_fors_publish_sync(const struct fors_folder *folder, const char *name, struct fors_error *error)
{
	atomic_fetch_add(&synced, 1);
	return atomic_load(&is_sick) ? fors_fail(error, FORS_EIO, "%s: sick", name) : FORS_OK;
}

enum fors_err __real_fors_publish(const struct fors_folder *folder, const char *name, const void *bytes, size_t size,
				  bool is_durable, struct fors_error *error);
enum fors_err __wrap_fors_publish(const struct fors_folder *folder, const char *name, const void *bytes, size_t size,
				  bool is_durable, struct fors_error *error);

enum fors_err __wrap_fors_publish(const struct fors_folder *folder, const char *name, const void *bytes, size_t size,
				  bool is_durable, struct fors_error *error)
{
	enum fors_err err;

	atomic_store(&is_inside, 1);
	while (atomic_load(&is_hanging))
		usleep(1000);
	atomic_fetch_add(&durable, is_durable);
	err = __real_fors_publish(folder, name, bytes, size, is_durable, error);
	atomic_store(&is_inside, 0);
	return err;
}

struct bench {
	char directory[64], dir[80];
	struct fors_folder state;
	struct fors_outbox *box;
};

static int open_bench(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	memset(errors_logged, 0, sizeof(errors_logged));
	atomic_store(&infos_logged, 0);
	atomic_store(&is_hanging, 0);
	strcpy(bench->directory, "/tmp/fors-outbox-XXXXXX");
	if (!mkdtemp(bench->directory) || fors_folder_init(&bench->state, bench->directory, 0x77, NULL) ||
	    fors_outbox_start(NULL, &bench->state, &bench->box, NULL))
		return -1;
	snprintf(bench->dir, sizeof(bench->dir), "%s/copies", bench->directory);
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;
	char command[128];

	atomic_store(&is_hanging, 0);
	fake_clock_run(true); /* should anything still have to be waited for */
	fors_outbox_stop(bench->box);
	fake_clock_run(false);
	fors_folder_clear(&bench->state);
	snprintf(command, sizeof(command), "rm -rf %s", bench->directory);
	free(bench);
	return system(command) ? -1 : 0;
}

static void set(struct bench *bench, bool has_dir, const char *command, unsigned seconds)
{
	const struct fors_outbox_request request = {
		.dir = has_dir ? bench->dir : NULL, .command = command, .seconds = seconds};

	assert_int_equal(fors_outbox_set(bench->box, &request, NULL), FORS_OK);
}

static void set_shared(struct bench *bench)
{
	const struct fors_outbox_request request = {.dir = bench->dir, .is_shared = true};

	assert_int_equal(fors_outbox_set(bench->box, &request, NULL), FORS_OK);
}

/* Does a file of the bench hold this text? */
static bool holds(const struct bench *bench, const char *name, const char *text)
{
	char path[160], found[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", bench->directory, name);
	file = fopen(path, "r");
	if (!file)
		return false;
	found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
	fclose(file);
	return !strcmp(found, text);
}

static void wait_for(const struct bench *bench, const char *name, const char *text)
{
	for (int look = 0; look < LOOKS; look++) {
		if (holds(bench, name, text))
			return;
		usleep(1000);
	}
	fail_msg("%s does not become '%s'", name, text);
}

/* Until the outbox's thread has found nothing to do. */
static void wait_round(void)
{
	uint64_t before = fake_clock_waits();

	for (int look = 0; look < LOOKS && fake_clock_waits() < before + 2; look++)
		usleep(1000);
	assert_true(fake_clock_waits() >= before + 2);
}

/* Until the outbox's thread waits for a call. */
static void wait_deaf(void)
{
	for (int look = 0; look < LOOKS && !fake_clock_deaf(); look++)
		usleep(1000);
	assert_int_equal(fake_clock_deaf(), 1);
}

static void wait_error(enum fors_code code)
{
	for (int look = 0; look < LOOKS && !atomic_load(&errors_logged[code]); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&errors_logged[code]), 1);
}

/* A withdrawn schedule of this epoch. */
static void put_schedule(struct bench *bench, uint64_t epoch, bool is_guest)
{
	struct fors_schedule *schedule;
	void *bytes;
	size_t size;

	assert_int_equal(fors_schedule_withdrawn(epoch, "test", &schedule, NULL), FORS_OK);
	assert_int_equal(fors_schedule_encode(schedule, &bytes, &size, NULL), FORS_OK);
	fors_outbox_put(bench->box, FORS_OUT_SCHEDULE, bytes, size, is_guest ? FORS_OUT_GUEST : 0);
	fors_schedule_free(schedule);
	free(bytes);
}

static uint64_t epoch_there(const struct bench *bench)
{
	const struct fors_folder folder = {.parent = (char *)bench->dir};
	struct fors_schedule *schedule = NULL;
	void *bytes = NULL;
	size_t size;
	uint64_t epoch = 0;

	if (!fors_published(&folder, "schedule", 1 << 20, &bytes, &size, NULL) && bytes &&
	    !fors_schedule_decode(bytes, size, "schedule", &schedule, NULL))
		epoch = schedule->epoch;
	fors_schedule_free(schedule);
	free(bytes);
	return epoch;
}

static void put(struct bench *bench, enum fors_outbox_file file, const char *text)
{
	fors_outbox_put(bench->box, file, text, strlen(text), 0);
}

static void clear_copies(const struct bench *bench)
{
	const struct fors_folder folder = {.parent = (char *)bench->dir};

	assert_int_equal(fors_publish_remove(&folder, "status.json", NULL), FORS_OK);
	assert_int_equal(fors_publish_remove(&folder, "metrics.prom", NULL), FORS_OK);
}

/* All that is due or nothing, once it is said, and again a second later: for the folder, for a file, for the next one. */
static void short_of_memory(void **state)
{
	struct bench *bench = *state;

	faults_spare_me();
	mkdir(bench->dir, 0755);
	put(bench, FORS_OUT_STATUS, "status");
	put(bench, FORS_OUT_METRICS, "metrics");
	for (int n = 1; n <= 3; n++) {
		faults_arm((uint64_t)n, true);
		set(bench, true, NULL, 1);
		wait_error(FORS_F_COPY);
		wait_round();
		assert_true(faults_off());
		assert_false(holds(bench, "copies/status.json", "status"));
		assert_false(holds(bench, "copies/metrics.prom", "metrics"));
		assert_int_equal(atomic_load(&infos_logged), n - 1);
		fake_clock_advance(2000);
		wait_for(bench, "copies/status.json", "status");
		wait_for(bench, "copies/metrics.prom", "metrics");
		for (int look = 0; look < LOOKS && atomic_load(&infos_logged) < n; look++)
			usleep(1000);
		assert_int_equal(atomic_load(&infos_logged), n);
		set(bench, false, NULL, 1);
		wait_round();
		clear_copies(bench);
		atomic_store(&errors_logged[FORS_F_COPY], 0);
	}
}

/* What cannot be synced for want of memory is tried again a while later; until then the thread waits, and holds nobody up. */
static void no_memory_to_sync(void **state)
{
	struct bench *bench = *state;
	uint64_t before;

	faults_spare_me();
	mkdir(bench->dir, 0755);
	put(bench, FORS_OUT_STATUS, "status");
	set(bench, true, NULL, 1);
	wait_for(bench, "copies/status.json", "status");
	wait_round();
	atomic_store(&synced, 0);
	faults_arm(1, true);
	fake_clock_advance(2000);
	for (int look = 0; look < LOOKS && !faults_happened(); look++)
		usleep(1000);
	before = fake_clock_waits();
	for (int look = 0; look < 2000 && fake_clock_waits() < before + 2; look++)
		usleep(1000);
	assert_true(faults_off());
	assert_true(fake_clock_waits() >= before + 2);
	assert_int_equal(atomic_load(&synced), 0);
	fake_clock_advance(2000);
	for (int look = 0; look < LOOKS && !atomic_load(&synced); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&synced), 1);
}

static void files_are_copied(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	put(bench, FORS_OUT_STATUS, "early"); /* before there is a folder */
	set(bench, true, NULL, 1);
	wait_for(bench, "copies/status.json", "early");
	put(bench, FORS_OUT_STATUS, "status");
	put(bench, FORS_OUT_METRICS, "metrics");
	put(bench, FORS_OUT_HEARTBEAT, "beat");
	put_schedule(bench, 1000, false);
	wait_for(bench, "copies/heartbeat", "beat");
	wait_for(bench, "copies/metrics.prom", "metrics");
	wait_for(bench, "copies/status.json", "status");
	for (int look = 0; look < LOOKS && epoch_there(bench) != 1000; look++)
		usleep(1000);
	assert_int_equal(epoch_there(bench), 1000);
}

/* A name first, the disk when it is quiet; what cannot be synced is copied again. The heartbeat is never. */
static void copies_are_synced_when_it_is_quiet(void **state)
{
	struct bench *bench = *state;

	atomic_store(&durable, 0);
	atomic_store(&synced, 0);
	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	put_schedule(bench, 1000, false);
	put(bench, FORS_OUT_STATUS, "status");
	put(bench, FORS_OUT_HEARTBEAT, "beat");
	wait_for(bench, "copies/heartbeat", "beat");
	wait_round(); /* it has noted when that was */
	fake_clock_advance(999);
	wait_round();
	assert_int_equal(atomic_load(&synced), 0);
	atomic_store(&is_sick, true);
	fake_clock_advance(1);
	wait_error(FORS_F_COPY);
	atomic_store(&is_sick, false);
	wait_round();
	fake_clock_advance(1000);
	wait_round();
	assert_int_equal(atomic_load(&synced), 3); /* the schedule twice, the status */
	fake_clock_advance(1000);
	wait_round();
	assert_int_equal(atomic_load(&synced), 3);
	assert_int_equal(atomic_load(&durable), 0);
	fors_outbox_put(bench->box, FORS_OUT_STATUS, "number", 6, FORS_OUT_DURABLE);
	wait_for(bench, "copies/status.json", "number");
	assert_int_equal(atomic_load(&durable), 1);
}

/* The folder may be where a file system is to be mounted: it is never made. */
static void missing_folder_is_waited_for(void **state)
{
	struct bench *bench = *state;

	set(bench, true, NULL, 1);
	put(bench, FORS_OUT_STATUS, "one");
	wait_error(FORS_F_COPY);
	put(bench, FORS_OUT_STATUS, "two");
	for (int i = 0; i < 3; i++) {
		wait_round();
		fake_clock_advance(5000);
	}
	wait_round();
	assert_int_equal(atomic_load(&errors_logged[FORS_F_COPY]), 1); /* logged once */
	assert_int_not_equal(access(bench->dir, F_OK), 0);
	mkdir(bench->dir, 0755);
	fake_clock_advance(4999);
	wait_round();
	assert_false(holds(bench, "copies/status.json", "two")); /* not before its time */
	fake_clock_advance(1);
	wait_for(bench, "copies/status.json", "two");
	for (int look = 0; look < LOOKS && !atomic_load(&infos_logged); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&infos_logged), 1);
}

static void hanging_folder_blocks_nobody(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	atomic_store(&is_hanging, 1);
	set(bench, true, "true", 1);
	for (int i = 0; i < 1000; i++) { /* while it hangs: this comes to its end only when nobody waits */
		put(bench, FORS_OUT_STATUS, "x");
		put(bench, FORS_OUT_HEARTBEAT, "y");
		fors_outbox_announce(bench->box, 1, "active");
	}
	put(bench, FORS_OUT_STATUS, "newest");
	atomic_store(&is_hanging, 0);
	wait_for(bench, "copies/status.json", "newest");
}

/* The command does not wait for copies for ever, and says what it says without them. */
static void hanging_folder_holds_the_command_for_a_while(void **state)
{
	struct bench *bench = *state;
	char command[256];

	mkdir(bench->dir, 0755);
	atomic_store(&is_hanging, 1);
	snprintf(command, sizeof(command), "echo ran > %s/out", bench->directory);
	set(bench, true, command, 5);
	put(bench, FORS_OUT_STATUS, "x");
	fors_outbox_announce(bench->box, 1, "active");
	fake_clock_advance(10000);
	put(bench, FORS_OUT_HEARTBEAT, "y");
	usleep(20000);
	assert_false(holds(bench, "out", "ran\n"));
	fake_clock_advance(1);
	put(bench, FORS_OUT_HEARTBEAT, "y");
	wait_for(bench, "out", "ran\n");
}

static atomic_int has_stopped;

static void *stop_box(void *box)
{
	fors_outbox_stop(box);
	atomic_store(&has_stopped, 1);
	return NULL;
}

/* Stopping waits two seconds, and leaves the thread to itself. */
static void hanging_folder_does_not_hold_opensm(void **state)
{
	struct bench *bench = *state;
	pthread_t thread;
	uint64_t before;

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	atomic_store(&is_hanging, 1);
	put(bench, FORS_OUT_STATUS, "x");
	while (!atomic_load(&is_inside))
		usleep(1000);
	atomic_store(&has_stopped, 0);
	before = fake_clock_waits();
	assert_int_equal(pthread_create(&thread, NULL, stop_box, bench->box), 0);
	bench->box = NULL;
	while (fake_clock_waits() == before) /* only who stops it can be waiting */
		usleep(1000);
	fake_clock_advance(1999);
	usleep(20000);
	assert_int_equal(atomic_load(&has_stopped), 0);
	fake_clock_advance(1);
	for (int look = 0; look < LOOKS && !atomic_load(&has_stopped); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&has_stopped), 1);
	pthread_join(thread, NULL);
	atomic_store(&is_hanging, 0);
	wait_for(bench, "copies/status.json", "x");
	while (atomic_load(&is_inside)) /* the thread ends by itself, and frees what it has */
		usleep(1000);
	usleep(50000);
}

static void what_lies_there_at_the_end_is_copied(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	set(bench, true, "echo \"$FORS_STATE\" > \"$FORS_PUBLISH_DIR/ran\"", 5);
	put(bench, FORS_OUT_STATUS, "last words");
	fors_outbox_announce(bench->box, 7, "inactive");
	fors_outbox_stop(bench->box);
	bench->box = NULL;
	assert_true(holds(bench, "copies/status.json", "last words"));
	assert_true(holds(bench, "copies/ran", "inactive\n"));
}

/* A subnet manager that is not the master any more leaves the new one's files alone. */
static void guests_touch_only_what_is_theirs(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	put_schedule(bench, 1000, false);
	for (int look = 0; look < LOOKS && epoch_there(bench) != 1000; look++)
		usleep(1000);
	put_schedule(bench, 1001, true); /* nobody else wrote: withdrawn */
	for (int look = 0; look < LOOKS && epoch_there(bench) != 1001; look++)
		usleep(1000);
	assert_int_equal(epoch_there(bench), 1001);
	{
		const struct fors_folder folder = {.parent = bench->dir};
		struct fors_schedule *schedule;
		void *bytes;
		size_t size;

		fors_schedule_withdrawn(1500, "the new master's", &schedule, NULL);
		fors_schedule_encode(schedule, &bytes, &size, NULL);
		assert_int_equal(__real_fors_publish(&folder, "schedule", bytes, size, false, NULL), FORS_OK);
		fors_schedule_free(schedule);
		free(bytes);
	}
	put_schedule(bench, 2000, true);
	for (int look = 0; look < LOOKS && !holds(bench, "copies/heartbeat", "after"); look++) {
		put(bench, FORS_OUT_HEARTBEAT, "after"); /* left out too while it goes along with that schedule */
		usleep(1000);
	}
	assert_int_equal(epoch_there(bench), 1500);
}

static void later_epoch_is_not_overwritten(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	put_schedule(bench, 5000, false);
	for (int look = 0; look < LOOKS && epoch_there(bench) != 5000; look++)
		usleep(1000);
	assert_int_equal(fors_outbox_seen(bench->box), 0);
	put_schedule(bench, 4000, false); /* this one's clock is behind */
	for (int look = 0; look < LOOKS && !fors_outbox_seen(bench->box); look++)
		usleep(1000);
	assert_int_equal(fors_outbox_seen(bench->box), 5000);
	assert_int_equal(epoch_there(bench), 5000);
	put_schedule(bench, 5001, false);
	for (int look = 0; look < LOOKS && epoch_there(bench) != 5001; look++)
		usleep(1000);
	assert_int_equal(epoch_there(bench), 5001);
}

/* --- what others put there ------------------------------------------------ */

#define DAY 86400000

/* A withdrawn schedule of this epoch as bytes, with room behind them. */
static size_t encode(uint64_t epoch, unsigned char bytes[4096])
{
	struct fors_schedule *schedule;
	void *made;
	size_t size;

	assert_int_equal(fors_schedule_withdrawn(epoch, "theirs", &schedule, NULL), FORS_OK);
	assert_int_equal(fors_schedule_encode(schedule, &made, &size, NULL), FORS_OK);
	memcpy(bytes, made, size);
	fors_schedule_free(schedule);
	free(made);
	return size;
}

static void plant(const struct bench *bench, const void *bytes, size_t size)
{
	const struct fors_folder folder = {.parent = (char *)bench->dir};

	assert_int_equal(__real_fors_publish(&folder, "schedule", bytes, size, false, NULL), FORS_OK);
}

/* The outbox begins to serve a folder in which this lies, and has a schedule for it. */
static void serve(struct bench *bench, const void *bytes, size_t size)
{
	mkdir(bench->dir, 0755);
	plant(bench, bytes, size);
	set(bench, true, NULL, 1);
	put_schedule(bench, fors_clock_unix_ms(), false);
}

static void wait_epoch(const struct bench *bench, uint64_t epoch)
{
	for (int look = 0; look < LOOKS && epoch_there(bench) != epoch; look++)
		usleep(1000);
	assert_int_equal(epoch_there(bench), epoch);
}

/* What lay there is named once, and replaced, and no epoch comes of it. */
static void assert_replaced(struct bench *bench, const char *why)
{
	wait_epoch(bench, fors_clock_unix_ms());
	wait_error(FORS_F_STRANGE);
	assert_int_equal(fors_outbox_seen(bench->box), 0);
	if (!strstr(doubted, why) || !strstr(doubted, bench->dir) || !strstr(doubted, "/schedule"))
		fail_msg("\"%s\" is not in \"%s\"", why, doubted);
}

static void damaged_epochs_are_replaced(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096];
	size_t size = encode(UINT64_MAX, bytes);

	bytes[200] ^= 1;
	serve(bench, bytes, size);
	assert_replaced(bench, "checksum of the header");
}

static void absurd_epochs_are_replaced(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096];
	size_t size = encode(((uint64_t)1 << 63) + 16, bytes);

	serve(bench, bytes, size);
	assert_replaced(bench, "epoch 9223372036854775824 is more than a day past the clock");
}

static void wrapping_epochs_are_replaced(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096];
	size_t size = encode(UINT64_MAX, bytes);

	serve(bench, bytes, size);
	assert_replaced(bench, "epoch 18446744073709551615 is more than a day past the clock");
}

static void foreign_epochs_are_replaced(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096] __attribute__((aligned(8)));
	size_t size = encode(fors_clock_unix_ms() + 5, bytes);
	struct fors_sf_header *header = (struct fors_sf_header *)bytes;

	header->byte_order = __builtin_bswap32(header->byte_order);
	seal(bytes, size);
	serve(bench, bytes, size);
	assert_replaced(bench, "other byte order");
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

static void sparse_files_are_replaced(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096] = {0};
	char path[128];
	long before = peak();

	encode(fors_clock_unix_ms() + 5, bytes);
	mkdir(bench->dir, 0755);
	plant(bench, bytes, sizeof(bytes));
	snprintf(path, sizeof(path), "%s/schedule", bench->dir);
	assert_int_equal(truncate(path, (off_t)1 << 30), 0);
	set(bench, true, NULL, 1);
	put_schedule(bench, fors_clock_unix_ms(), false);
	assert_replaced(bench, "bytes after its end");
	assert_in_range(peak() - before, 0, 65536);
}

static void a_link_is_replaced(void **state)
{
	struct bench *bench = *state;
	char path[128], target[128];

	mkdir(bench->dir, 0755);
	snprintf(path, sizeof(path), "%s/schedule", bench->dir);
	snprintf(target, sizeof(target), "%s/elsewhere", bench->directory);
	assert_int_equal(symlink(target, path), 0);
	set(bench, true, NULL, 1);
	put_schedule(bench, fors_clock_unix_ms(), false);
	assert_replaced(bench, "cannot be opened");
	assert_int_not_equal(access(target, F_OK), 0);
}

/* A day ahead is another subnet manager whose clock is; a millisecond more is nobody. */
static void a_day_ahead_is_believed(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = fors_clock_unix_ms();
	unsigned char bytes[4096];
	size_t size = encode(now + DAY, bytes);

	serve(bench, bytes, size);
	for (int look = 0; look < LOOKS && !fors_outbox_seen(bench->box); look++)
		usleep(1000);
	assert_int_equal(fors_outbox_seen(bench->box), now + DAY);
	assert_int_equal(epoch_there(bench), now + DAY);
	put_schedule(bench, now + DAY + 1, false); /* as the publisher does then */
	wait_epoch(bench, now + DAY + 1);
	size = encode(now + 2 * DAY + 1, bytes); /* a day past our own */
	plant(bench, bytes, size);
	put_schedule(bench, now + DAY + 2, false);
	for (int look = 0; look < LOOKS && fors_outbox_seen(bench->box) == now + DAY; look++)
		usleep(1000);
	assert_int_equal(fors_outbox_seen(bench->box), now + 2 * DAY + 1);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_STRANGE]), 0);
	size = encode(now + 2 * DAY + 3, bytes);
	plant(bench, bytes, size);
	put_schedule(bench, now + DAY + 2, false);
	wait_epoch(bench, now + DAY + 2);
	wait_error(FORS_F_STRANGE);
	assert_int_equal(fors_outbox_seen(bench->box), now + 2 * DAY + 1);
}

/* The clock of a machine that has just booted is no measure: what was published here is. */
static void clock_of_1970_doubts_nothing_of_ours(void **state)
{
	struct bench *bench = *state;
	const uint64_t epoch = fors_clock_unix_ms();
	unsigned char bytes[4096];

	mkdir(bench->dir, 0755);
	plant(bench, bytes, encode(epoch, bytes));
	fake_clock_set(-(int64_t)epoch);
	set(bench, true, NULL, 1);
	put(bench, FORS_OUT_STATUS, "planning"); /* before there is a schedule to compare with */
	wait_for(bench, "copies/status.json", "planning");
	put_schedule(bench, epoch + 1, false);
	wait_epoch(bench, epoch + 1);
	fake_clock_set((int64_t)epoch);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_STRANGE]), 0);
}

/* Somebody damages it later: the next heartbeat that goes there brings ours back. */
static void damage_is_mended_later(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096];
	const uint64_t now = fors_clock_unix_ms();

	serve(bench, bytes, encode(now, bytes));
	wait_epoch(bench, now);
	wait_round();
	for (int times = 1; times < 3; times++) { /* said again, since it was right in between */
		plant(bench, "FORSschd", 8);
		put(bench, FORS_OUT_HEARTBEAT, times == 1 ? "one" : "two");
		wait_epoch(bench, now);
		wait_round();
		put(bench, FORS_OUT_HEARTBEAT, "good");
		wait_for(bench, "copies/heartbeat", "good");
		wait_round();
		assert_int_equal(atomic_load(&errors_logged[FORS_F_STRANGE]), times);
	}
}

/* Who is not the master leaves even that alone. */
static void guests_replace_nothing_strange(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	plant(bench, "nonsense", 8);
	set(bench, true, NULL, 1);
	put_schedule(bench, fors_clock_unix_ms(), true);
	wait_round();
	assert_true(holds(bench, "copies/schedule", "nonsense"));
	assert_int_equal(atomic_load(&errors_logged[FORS_F_STRANGE]), 0);
}

/* A guest's own schedule is the only one that it writes over: not an earlier one of the new master's either. */
static void guests_leave_earlier_ones_alone(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096];
	const uint64_t now = fors_clock_unix_ms();

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	put_schedule(bench, now, false);
	wait_epoch(bench, now);
	wait_round();
	plant(bench, bytes, encode(now - 5, bytes));
	put_schedule(bench, now + 1, true);
	wait_round();
	assert_int_equal(epoch_there(bench), now - 5);
}

/* One's own schedule once more is nobody else's that came first. */
static void the_same_epoch_is_written_again(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = fors_clock_unix_ms();

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	put_schedule(bench, now, false);
	wait_epoch(bench, now);
	wait_round();
	put_schedule(bench, now, false);
	wait_round();
	assert_int_equal(fors_outbox_seen(bench->box), 0);
}

/* All that was published lately goes to a folder that is named later, though it was carried to another one. */
static void another_folder_gets_all(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	put(bench, FORS_OUT_STATUS, "status");
	put(bench, FORS_OUT_METRICS, "metrics");
	wait_for(bench, "copies/metrics.prom", "metrics");
	wait_round();
	snprintf(bench->dir, sizeof(bench->dir), "%s/others", bench->directory);
	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	wait_for(bench, "others/status.json", "status");
	wait_for(bench, "others/metrics.prom", "metrics");
}

/* Other files have no epoch, and do not lower the one by which an absurd one is known. */
static void a_status_lowers_no_epoch(void **state)
{
	struct bench *bench = *state;
	unsigned char bytes[4096];
	const uint64_t now = fors_clock_unix_ms();

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	put_schedule(bench, now, false);
	wait_epoch(bench, now);
	put(bench, FORS_OUT_STATUS, "status");
	wait_for(bench, "copies/status.json", "status");
	wait_round();
	plant(bench, bytes, encode(now + 3 * (uint64_t)DAY, bytes));
	put(bench, FORS_OUT_HEARTBEAT, "beat");
	wait_error(FORS_F_STRANGE);
	wait_epoch(bench, now);
}

static int count_threads(void)
{
	char line[128];
	int n = 0;
	FILE *file = fopen("/proc/self/status", "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Threads: %d", &n) == 1)
			break;
	fclose(file);
	return n;
}

/* The helper that hangs when opensm ends is left, with a word in the log, and no thread of opensm's stays with it. */
static void a_helper_that_hangs_is_left(void **state)
{
	struct bench *bench = *state;
	const int others = count_threads() - 2; /* the outbox's, and the runner's */
	pthread_t thread;

	set(bench, true, NULL, 1);
	mkdir(bench->dir, 0755);
	atomic_store(&is_hanging, 1);
	put(bench, FORS_OUT_STATUS, "x");
	while (!atomic_load(&is_inside))
		usleep(1000);
	atomic_store(&has_stopped, 0);
	assert_int_equal(pthread_create(&thread, NULL, stop_box, bench->box), 0);
	bench->box = NULL;
	usleep(20000); /* until it waits */
	fake_clock_advance(2000);
	pthread_join(thread, NULL);
	for (int look = 0; look < LOOKS && count_threads() > others + 1; look++)
		usleep(1000);
	assert_int_equal(count_threads(), others + 1);		       /* which is the helper, here */
	assert_int_equal(atomic_load(&errors_logged[FORS_F_COPY]), 2); /* it does not answer; it is left */
	assert_int_equal(rmdir(bench->dir), 0);
	atomic_store(&is_hanging, 0);
	for (int look = 0; look < LOOKS && count_threads() > others; look++)
		usleep(1000);
	assert_int_equal(count_threads(), others);
}

/* A folder that has not answered for a while when opensm ends is not waited for once more. */
static void what_hangs_already_is_not_waited_for(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	atomic_store(&is_hanging, 1);
	set(bench, true, NULL, 1);
	put(bench, FORS_OUT_STATUS, "x");
	while (!atomic_load(&is_inside))
		usleep(1000);
	fake_clock_advance(2000);
	fors_outbox_stop(bench->box); /* comes back, though the clock stands still */
	bench->box = NULL;
	atomic_store(&is_hanging, 0);
	wait_for(bench, "copies/status.json", "x");
}

/* After ten seconds it is said, once; and that it answers. */
static void a_folder_that_hangs_is_named(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	atomic_store(&is_hanging, 1);
	set(bench, true, NULL, 1);
	put(bench, FORS_OUT_STATUS, "x");
	while (!atomic_load(&is_inside))
		usleep(1000);
	fake_clock_advance(9000);
	usleep(20000);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_COPY]), 0);
	for (int times = 0; times < 30; times++) {
		fake_clock_advance(1000);
		usleep(2000);
	}
	wait_error(FORS_F_COPY);
	assert_int_equal(fors_outbox_failures(bench->box), 1);
	atomic_store(&is_hanging, 0);
	for (int look = 0; look < LOOKS && !atomic_load(&infos_logged); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&infos_logged), 1);
	wait_error(FORS_F_COPY);
}

/* --- folders of jobs ------------------------------------------------------ */

/* The folder of a job. */
static struct fors_folder job_folder(const struct bench *bench, const char *name)
{
	struct fors_folder folder = {.parent = (char *)bench->dir};

	snprintf(folder.job, sizeof(folder.job), "%s", name);
	return folder;
}

/* Two servers that exchange, or (no phases) a withdrawn one; owned by the caller. */
static struct fors_schedule *job_schedule(const char *name, uint64_t epoch, bool has_phases)
{
	const struct fors_schedule_server server[2] = {{.guid = 1, .lid = 1, .rank = 0, .desc = "a"},
						       {.guid = 2, .lid = 2, .rank = 1, .desc = "b"}};
	struct fors_schedule *schedule;

	if (has_phases) {
		assert_int_equal(fors_schedule_new_of(server, 2, 1, 2, 0, 0, "test", &schedule, NULL), FORS_OK);
		schedule->cell[1] = (struct fors_cell){.dst = 1, .lane = FORS_NO_LANE}; /* in phase 1 */
		schedule->cell[3] = (struct fors_cell){.dst = 0, .lane = FORS_NO_LANE};
	} else {
		assert_int_equal(fors_schedule_withdrawn(epoch, "theirs", &schedule, NULL), FORS_OK);
	}
	schedule->epoch = epoch;
	snprintf(schedule->name, sizeof(schedule->name), "%s", name);
	return schedule;
}

static void *job_bytes(const char *name, uint64_t epoch, bool has_phases, size_t *size)
{
	struct fors_schedule *schedule = job_schedule(name, epoch, has_phases);
	void *bytes;

	assert_int_equal(fors_schedule_encode(schedule, &bytes, size, NULL), FORS_OK);
	fors_schedule_free(schedule);
	return bytes;
}

static void plant_job(const struct bench *bench, const char *name, uint64_t epoch, bool has_phases)
{
	const struct fors_folder folder = job_folder(bench, name);
	size_t size;
	void *bytes = job_bytes(name, epoch, has_phases, &size);

	assert_int_equal(__real_fors_publish(&folder, "schedule", bytes, size, false, NULL), FORS_OK);
	free(bytes);
}

static void put_job(struct bench *bench, const char *name, uint64_t epoch)
{
	size_t size;
	void *bytes = job_bytes(name, epoch, true, &size);

	assert_true(fors_outbox_put_job(bench->box, name, bytes, size, epoch, false));
	free(bytes);
}

/* What lies there: its epoch in *epoch, and phases; -1: nothing. */
static int job_there(const struct bench *bench, const char *name, uint64_t *epoch)
{
	const struct fors_folder folder = job_folder(bench, name);
	struct fors_schedule *schedule = NULL;
	void *bytes = NULL;
	size_t size;
	int phases;

	if (!fors_published(&folder, "schedule", 1 << 20, &bytes, &size, NULL) && bytes)
		assert_int_equal(fors_schedule_decode(bytes, size, "schedule", &schedule, NULL), FORS_OK);
	free(bytes);
	phases = schedule ? (int)schedule->nphases : -1;
	*epoch = schedule ? schedule->epoch : 0;
	fors_schedule_free(schedule);
	return phases;
}

static uint64_t wait_phases(const struct bench *bench, const char *name, int phases)
{
	uint64_t epoch;

	for (int look = 0; look < LOOKS; look++) {
		if (job_there(bench, name, &epoch) == phases)
			return epoch;
		usleep(1000);
	}
	fail_msg("job %s never had %d phases", name, phases);
	return 0;
}

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

	mkdir(bench->dir, 0755);
	path_in(bench, "", path);
	mkdir(path, 0755);
	path_in(bench, "b", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	set(bench, true, NULL, 1);
	for (int n = 0; n < 100; n++) { /* more than are taken along at once */
		snprintf(name, sizeof(name), "a%02d", n);
		put_job(bench, name, 1000);
	}
	put_job(bench, "b", 1000);
	put_job(bench, "c", 1000);
	put(bench, FORS_OUT_STATUS, "status");
	for (int n = 0; n < 100; n++) {
		snprintf(name, sizeof(name), "a%02d", n);
		wait_phases(bench, name, 2);
	}
	wait_phases(bench, "c", 2);
	wait_for(bench, "copies/status.json", "status");
	wait_error(FORS_F_COPY);
	for (int times = 0; times < 3; times++) {
		fake_clock_advance(5000);
		wait_round();
	}
	wait_error(FORS_F_COPY);
	assert_true(fors_outbox_failures(bench->box) >= 3);
	assert_int_equal(remove(path), 0);
	fake_clock_advance(5000);
	wait_phases(bench, "b", 2);
	for (int look = 0; look < LOOKS && !atomic_load(&infos_logged); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&infos_logged), 1);
}

/* Later schedules lie there of a job and of demands: who asks for one kind hears of that, and the others stay to be heard of. */
static void later_epochs_are_told_by_kind(void **state)
{
	static const char *const names[] = {"a", "+a", "=a"}; /* a job, a demand, that of a job */
	struct bench *bench = *state;
	char name[64];
	uint64_t epoch;

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	for (enum fors_jobkind kind = FORS_KIND_JOB; kind <= FORS_KIND_JOBDEMAND; kind++) {
		plant_job(bench, names[kind], 5000, true);
		put_job(bench, names[kind], 4000);
	}
	for (enum fors_jobkind kind = FORS_KIND_JOB; kind <= FORS_KIND_JOBDEMAND; kind++) {
		bool is_told = false;

		for (int look = 0; look < LOOKS && !is_told; look++) {
			is_told = fors_outbox_job_news(bench->box, kind, name, &epoch);
			usleep(1000);
		}
		assert_true(is_told);
		assert_string_equal(name, names[kind]);
		assert_int_equal(epoch, 5000);
		assert_false(fors_outbox_job_news(bench->box, kind, name, &epoch));
	}
}

/* Let it look through the folder once, whose slices are a moment apart. */
static void let_it_tidy(void)
{
	for (int slice = 0; slice < 6; slice++) {
		wait_round();
		fake_clock_advance(50);
	}
	wait_round();
}

/*
 * What another opensm left is withdrawn, under a later epoch, and removed a day after that; what is no schedule of a job stays
 * as it is, and so does what somebody stands behind. Nothing happens before this opensm is the master.
 */
static void what_others_left_is_tidied(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = fors_clock_unix_ms();
	uint64_t epoch;
	char path[160];

	mkdir(bench->dir, 0755);
	plant_job(bench, "theirs", now + 5000, true);
	plant_job(bench, "known", now, true);
	plant_job(bench, "old", now - DAY - 1, false);
	plant_job(bench, "young", now - DAY + 60000, false);
	plant_job(bench, "absurd", now + 2 * (uint64_t)DAY, true);
	path_in(bench, "empty", path);
	mkdir(path, 0755);
	assert_true(fors_outbox_know_job(bench->box, "known"));
	set(bench, true, NULL, 1);
	let_it_tidy();
	assert_int_equal(job_there(bench, "theirs", &epoch), 2);
	fors_outbox_tend_jobs(bench->box, true);
	assert_true(wait_phases(bench, "theirs", 0) > now + 5000);
	let_it_tidy();
	assert_int_equal(job_there(bench, "known", &epoch), 2);
	assert_int_equal(job_there(bench, "absurd", &epoch), 2);
	assert_int_equal(job_there(bench, "young", &epoch), 0);
	assert_int_equal(access(path, F_OK), 0);
	path_in(bench, "old", path);
	assert_int_not_equal(access(path, F_OK), 0);
	fake_clock_advance(DAY + 10000); /* and it is looked at each hour */
	path_in(bench, "theirs", path);
	for (int look = 0; look < LOOKS && !access(path, F_OK); look++) {
		wait_round(); /* time goes on while nobody waits for the helper, else it would seem to hang */
		fake_clock_advance(50);
	}
	assert_int_not_equal(access(path, F_OK), 0);
	put_job(bench, "theirs", fors_clock_unix_ms()); /* such a job begins: it is this one's */
	wait_phases(bench, "theirs", 2);
	wait_round();
	fake_clock_advance(3600000);
	let_it_tidy();
	assert_int_equal(job_there(bench, "theirs", &epoch), 2);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_COPY]), 0);
}

/* So are demands, of the fabric and of jobs; and where there is no folder of jobs at all. */
static void demands_that_others_left_are_tidied(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = fors_clock_unix_ms();
	uint64_t epoch;
	char path[160];

	mkdir(bench->dir, 0755);
	plant_job(bench, "+theirs", now + 5000, true);
	plant_job(bench, "+known", now, true);
	assert_true(fors_outbox_know_job(bench->box, "+known"));
	set(bench, true, NULL, 1);
	let_it_tidy();
	assert_int_equal(job_there(bench, "+theirs", &epoch), 2);
	fors_outbox_tend_jobs(bench->box, true);
	assert_true(wait_phases(bench, "+theirs", 0) > now + 5000);
	let_it_tidy();
	plant_job(bench, "run", now, true);
	plant_job(bench, "=run", now, true);
	plant_job(bench, "=other", now - DAY - 1, false); /* whose job is gone */
	assert_true(fors_outbox_know_job(bench->box, "run"));
	fake_clock_advance(3600000);
	path_in(bench, "other", path);
	for (int look = 0; look < LOOKS && (!access(path, F_OK) || job_there(bench, "=run", &epoch)); look++) {
		wait_round();
		fake_clock_advance(50);
	}
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(job_there(bench, "=run", &epoch), 0);
	assert_int_equal(job_there(bench, "run", &epoch), 2);
	assert_int_equal(job_there(bench, "+known", &epoch), 2);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_COPY]), 0);
}

/* A thousand folders: what is put meanwhile is copied before the rest is looked at. */
static void tidying_goes_in_slices(void **state)
{
	struct bench *bench = *state;
	const uint64_t now = fors_clock_unix_ms();
	char name[16];
	uint64_t epoch;
	int left = 0;

	mkdir(bench->dir, 0755);
	for (int n = 0; n < 200; n++) {
		snprintf(name, sizeof(name), "n%03d", n);
		plant_job(bench, name, now, true);
	}
	fors_outbox_tend_jobs(bench->box, true);
	set(bench, true, NULL, 1);
	wait_round(); /* the clock stands still: no more than two slices */
	wait_round();
	for (int n = 0; n < 200; n++) {
		snprintf(name, sizeof(name), "n%03d", n);
		left += job_there(bench, name, &epoch) == 2;
	}
	assert_in_range(left, 200 - 2 * 32, 199);
	put(bench, FORS_OUT_STATUS, "status");
	wait_for(bench, "copies/status.json", "status");
	for (int n = 0; n < 200; n++) {
		snprintf(name, sizeof(name), "n%03d", n);
		for (int look = 0; look < LOOKS && job_there(bench, name, &epoch); look++) {
			wait_round();
			fake_clock_advance(50);
		}
		assert_int_equal(job_there(bench, name, &epoch), 0);
	}
}

/* --- a folder that several write to ------------------------------------------ */

static void plant_text(const struct bench *bench, const char *name, const char *text)
{
	const struct fors_folder folder = {.parent = (char *)bench->dir};

	assert_int_equal(__real_fors_publish(&folder, name, text, strlen(text), false, NULL), FORS_OK);
}

/*
 * While another one holds it nothing is written, nothing of the holder's tidied, and nobody tries over and over. When its
 * heartbeat stops all that was put is due.
 */
static void what_another_one_holds_is_left(void **state)
{
	struct bench *bench = *state;
	uint64_t epoch;

	mkdir(bench->dir, 0755);
	plant_text(bench, "holder.1", "another one");
	plant_text(bench, "heartbeat", "1");
	plant_job(bench, "theirs", fors_clock_unix_ms(), true);
	set_shared(bench);
	for (int look = 0; look < LOOKS && fors_outbox_is_holder(bench->box); look++)
		usleep(1000);
	assert_false(fors_outbox_is_holder(bench->box));
	fors_outbox_tend_jobs(bench->box, true);
	put(bench, FORS_OUT_STATUS, "status");
	put_job(bench, "mine", 1000);
	let_it_tidy();
	assert_int_equal(job_there(bench, "mine", &epoch), -1);
	assert_int_equal(job_there(bench, "theirs", &epoch), 2);
	assert_true(holds(bench, "copies/heartbeat", "1") && !holds(bench, "copies/status.json", "status"));
	fake_clock_advance(FORS_HOLDER_MS);
	wait_phases(bench, "mine", 2);
	wait_phases(bench, "theirs", 0);
	wait_for(bench, "copies/status.json", "status");
	assert_true(fors_outbox_is_holder(bench->box));
}

/* What is put is copied at once, and who stops the outbox does not wait for the next time that it looks. */
static void nobody_waits_for_the_clock(void **state)
{
	struct bench *bench = *state;

	mkdir(bench->dir, 0755);
	set(bench, true, NULL, 1);
	wait_round();
	fake_clock_calls_only(true);
	wait_deaf();
	put_job(bench, "mine", 1000);
	wait_phases(bench, "mine", 2);
	wait_deaf();
	put(bench, FORS_OUT_STATUS, "status");
	wait_for(bench, "copies/status.json", "status");
	wait_deaf();
	fors_outbox_stop(bench->box);
	fake_clock_calls_only(false);
	bench->box = NULL;
}

/* --- the command ---------------------------------------------------------- */

static void command_runs_with_an_environment_of_its_own(void **state)
{
	struct bench *bench = *state;
	char command[256], expected[256];

	setenv("SECRET", "x", 1);
	setenv("LD_PRELOAD", "", 1);
	snprintf(command, sizeof(command),
		 "cd %s; echo $FORS_STATE_DIR,$FORS_EPOCH,$FORS_STATE,$FORS_PUBLISH_DIR,$SECRET > out",
		 bench->directory);
	set(bench, false, command, 5);
	fors_outbox_announce(bench->box, 42, "active");
	snprintf(expected, sizeof(expected), "%s/0x0000000000000077,42,active,,\n", bench->directory);
	wait_for(bench, "out", expected);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_COMMAND]), 0);
}

static void command_inherits_no_file(void **state)
{
	struct bench *bench = *state;
	char command[256];
	int fd = dup(1); /* as OpenSM's own, not closed on exec */

	snprintf(command, sizeof(command), "ls /proc/self/fd | wc -l > %s/out", bench->directory);
	set(bench, false, command, 5);
	fors_outbox_announce(bench->box, 1, "active");
	wait_for(bench, "out", "4\n"); /* 0, 1, 2, and ls's own */
	close(fd);
}

static void failing_command_is_reported(void **state)
{
	struct bench *bench = *state;

	set(bench, false, "exit 3", 5);
	fors_outbox_announce(bench->box, 1, "active");
	wait_error(FORS_F_COMMAND);
	set(bench, false, "true", 5);
	fors_outbox_announce(bench->box, 2, "active");
	for (int look = 0; look < LOOKS && !atomic_load(&infos_logged); look++)
		usleep(1000);
	assert_int_equal(atomic_load(&infos_logged), 1);
}

/* The number in a file that a command writes. */
static int wait_pid(const char *path)
{
	int pid = 0;

	for (int look = 0; look < LOOKS && !pid; look++) {
		FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%d", &pid) != 1)
			pid = 0;
		if (file)
			fclose(file);
		usleep(1000);
	}
	assert_true(pid > 0);
	return pid;
}

static void late_command_is_killed_with_its_children(void **state)
{
	struct bench *bench = *state;
	char command[256], path[160];
	FILE *file;
	int pid = 0;

	snprintf(
		command, sizeof(command),
		"cd %s; (trap '' TERM; exec sleep 300) & trap 'echo yes > asked' TERM; echo $! > child; wait; wait; wait",
		bench->directory);
	snprintf(path, sizeof(path), "%s/child", bench->directory);
	set(bench, false, command, 1);
	fors_outbox_announce(bench->box, 1, "active");
	pid = wait_pid(path);
	fake_clock_advance(999);
	usleep(20000);
	assert_false(holds(bench, "asked", "yes\n")); /* its time is not over */
	fake_clock_advance(1);
	wait_for(bench, "asked", "yes\n");
	usleep(20000);
	assert_int_equal(kill(pid, 0), 0); /* but it does not end when it is asked to */
	for (int look = 0; look < LOOKS && !atomic_load(&errors_logged[FORS_F_COMMAND]); look++) {
		fake_clock_advance(500);
		usleep(1000);
	}
	wait_error(FORS_F_COMMAND);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	for (int look = 0; look < LOOKS; look++) {
		char line[16] = "";

		file = fopen(path, "r"); /* gone, or a zombie without a command line */
		if (!file || !fgets(line, sizeof(line), file) || strncmp(line, "sleep", 5))
			look = LOOKS + 1;
		if (file)
			fclose(file);
		usleep(1000);
		assert_true(look < LOOKS - 1 || look > LOOKS);
	}
}

/* What is announced while a command runs is announced to the next one, once, with the newest epoch. */
static void commands_do_not_queue_up(void **state)
{
	struct bench *bench = *state;
	char command[256];

	snprintf(command, sizeof(command), "cd %s; echo $FORS_EPOCH >> out; while [ ! -e go ]; do sleep 0.02; done",
		 bench->directory);
	set(bench, false, command, 20);
	fors_outbox_announce(bench->box, 1, "active");
	wait_for(bench, "out", "1\n");
	for (uint64_t epoch = 2; epoch < 9; epoch++) {
		fors_outbox_announce(bench->box, epoch, "active");
		usleep(5000);
	}
	snprintf(command, sizeof(command), "touch %s/go", bench->directory);
	assert_int_equal(system(command), 0);
	wait_for(bench, "out", "1\n8\n");
}

#define ON_A_BENCH(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_BENCH(short_of_memory),
		ON_A_BENCH(no_memory_to_sync),
		ON_A_BENCH(files_are_copied),
		ON_A_BENCH(copies_are_synced_when_it_is_quiet),
		ON_A_BENCH(missing_folder_is_waited_for),
		ON_A_BENCH(hanging_folder_blocks_nobody),
		ON_A_BENCH(hanging_folder_holds_the_command_for_a_while),
		ON_A_BENCH(hanging_folder_does_not_hold_opensm),
		ON_A_BENCH(what_lies_there_at_the_end_is_copied),
		ON_A_BENCH(guests_touch_only_what_is_theirs),
		ON_A_BENCH(later_epoch_is_not_overwritten),
		ON_A_BENCH(damaged_epochs_are_replaced),
		ON_A_BENCH(absurd_epochs_are_replaced),
		ON_A_BENCH(wrapping_epochs_are_replaced),
		ON_A_BENCH(foreign_epochs_are_replaced),
		ON_A_BENCH(sparse_files_are_replaced),
		ON_A_BENCH(a_link_is_replaced),
		ON_A_BENCH(a_day_ahead_is_believed),
		ON_A_BENCH(clock_of_1970_doubts_nothing_of_ours),
		ON_A_BENCH(damage_is_mended_later),
		ON_A_BENCH(guests_replace_nothing_strange),
		ON_A_BENCH(guests_leave_earlier_ones_alone),
		ON_A_BENCH(the_same_epoch_is_written_again),
		ON_A_BENCH(another_folder_gets_all),
		ON_A_BENCH(a_status_lowers_no_epoch),
		ON_A_BENCH(a_helper_that_hangs_is_left),
		ON_A_BENCH(what_hangs_already_is_not_waited_for),
		ON_A_BENCH(a_folder_that_hangs_is_named),
		ON_A_BENCH(jobs_pass_a_bad_entry),
		ON_A_BENCH(later_epochs_are_told_by_kind),
		ON_A_BENCH(what_others_left_is_tidied),
		ON_A_BENCH(demands_that_others_left_are_tidied),
		ON_A_BENCH(tidying_goes_in_slices),
		ON_A_BENCH(what_another_one_holds_is_left),
		ON_A_BENCH(nobody_waits_for_the_clock),
		ON_A_BENCH(command_runs_with_an_environment_of_its_own),
		ON_A_BENCH(command_inherits_no_file),
		ON_A_BENCH(failing_command_is_reported),
		ON_A_BENCH(late_command_is_killed_with_its_children),
		ON_A_BENCH(commands_do_not_queue_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
