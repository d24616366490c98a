/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_publisher.c - daemon/publisher alone: which files are in the state folder after what, and since when a state holds.
 * What becomes of epochs is in test_worker.c. The log is a stub, the clock is the test's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule_file.h"
#include "core/status/status.h"
#include "core/status/status_json.h"
#include "daemon/publisher/jobpublisher.h"
#include "daemon/publisher/publisher.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "fake_clock.h"
#include "faults.h"
#include "unit.h"

static int told, complained; /* lines of the log */
static char said[512];	     /* the last one */

void fors_log_info(struct fors_log *log, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(said, sizeof(said), format, list);
	va_end(list);
	told++;
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	complained++;
}

/* The copier of a test: what it was told last, and how often. */
static struct {
	struct fors_copier_order order;
	unsigned told;
} desk;

void __wrap_fors_copier_tell(struct fors_copier *copier, const struct fors_copier_order *order);
void __wrap_fors_copier_tend(struct fors_copier *copier);
void __wrap_fors_copier_read(struct fors_copier *copier, struct fors_copier_report *report);

void __wrap_fors_copier_tell(struct fors_copier *copier, const struct fors_copier_order *order)
{
	(void)copier;
	desk.order = *order;
	desk.told++;
}

void __wrap_fors_copier_tend(struct fors_copier *copier)
{
	(void)copier;
}

void __wrap_fors_copier_read(struct fors_copier *copier, struct fors_copier_report *report)
{
	(void)copier;
	memset(report, 0, sizeof(*report));
}

struct place {
	char directory[64];
	struct fors_folder folder;
	struct fors_publisher publisher;
};

static int open_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->directory, "/tmp/fors-publisher-XXXXXX");
	if (!mkdtemp(place->directory) || fors_folder_init(&place->folder, place->directory, 0x123, NULL))
		return -1;
	fors_publisher_open(&place->publisher, NULL, &place->folder, NULL);
	*state = place;
	return 0;
}

static int close_place(void **state)
{
	struct place *place = *state;
	char command[128];

	fors_publisher_close(&place->publisher);
	fors_folder_clear(&place->folder);
	snprintf(command, sizeof(command), "rm -rf %s", place->directory);
	free(place);
	return system(command) ? -1 : 0;
}

/* A file of the state folder as text, owned by the caller; NULL: it is not there. */
static char *file_of(const struct place *place, const char *name)
{
	void *bytes = NULL;
	char *text = NULL;
	size_t size;

	assert_int_equal(fors_published(&place->folder, name, 1 << 20, &bytes, &size, NULL), FORS_OK);
	if (bytes) {
		text = strndup(bytes, size);
		assert_non_null(text);
	}
	free(bytes);
	return text;
}

static void assert_file(const struct place *place, const char *name, const char *word)
{
	char *text = file_of(place, name);

	if (!text || !strstr(text, word))
		fail_msg("%s: \"%s\" is not in \"%s\"", name, word, text ? text : "(no file)");
	free(text);
}

static void withdraw(struct place *place, enum fors_state state, const char *reason)
{
	struct fors_status status;

	fors_status_init(&status);
	status.state = state;
	snprintf(status.reason, sizeof(status.reason), "%s", reason);
	assert_true(fors_publisher_withdraw(&place->publisher, &status));
	fors_status_clear(&status);
}

/* The status that is published, to be cleared. */
static void read_status(const struct place *place, struct fors_status *status)
{
	char *text = file_of(place, "status.json");

	assert_non_null(text);
	assert_int_equal(fors_status_parse(text, "status.json", status, NULL), FORS_OK);
	free(text);
}

/* Since when, by the status that is published. */
static uint64_t since(const struct place *place)
{
	struct fors_status status;
	uint64_t ms;

	read_status(place, &status);
	ms = (uint64_t)status.state_since_ms;
	fors_status_clear(&status);
	return ms;
}

static void all_files_say_the_same(void **state)
{
	struct place *place = *state;

	withdraw(place, FORS_PLANNING, "first");
	assert_file(place, "status.json", "first");
	assert_file(place, "metrics.prom", ",state=\"planning\"} 1");
	withdraw(place, FORS_FAILED, "second");
	assert_file(place, "status.json", "second");
	assert_file(place, "metrics.prom", ",state=\"failed\"} 1");
	assert_file(place, "metrics.prom", ",state=\"planning\"} 0");
	assert_file(place, "schedule", "");
}

/* A state begins when it is another one, not with each status. */
static void states_have_a_beginning(void **state)
{
	struct place *place = *state;
	uint64_t first = fors_clock_unix_ms();

	withdraw(place, FORS_PLANNING, "a");
	assert_true(since(place) == first);
	fake_clock_advance(5000);
	withdraw(place, FORS_PLANNING, "b");
	assert_true(since(place) == first);
	withdraw(place, FORS_FAILED, "c");
	assert_true(since(place) == first + 5000);
	fake_clock_advance(1);
	withdraw(place, FORS_PLANNING, "d");
	assert_true(since(place) == first + 5001);
}

/* The metrics are written with each heartbeat, so that a scraper sees that opensm lives; and before the first they have none. */
static void metrics_have_the_heartbeat(void **state)
{
	struct place *place = *state;
	char line[96], *text;

	withdraw(place, FORS_FAILED, "a");
	text = file_of(place, "metrics.prom");
	assert_null(strstr(text, "heartbeat"));
	free(text);
	for (int i = 0; i < 2; i++) {
		uint64_t now = fors_clock_unix_ms();

		place->publisher.counts.sweeps = (uint64_t)i + 7;
		fors_publisher_beat(&place->publisher);
		snprintf(line, sizeof(line), "fors_heartbeat_timestamp_seconds{fabric=\"%s\"} %llu.%03llu\n",
			 place->folder.name, (unsigned long long)now / 1000, (unsigned long long)now % 1000);
		assert_file(place, "metrics.prom", line);
		assert_file(place, "metrics.prom", "state=\"failed\"} 1");
		snprintf(line, sizeof(line), "fors_sweeps_total{fabric=\"%s\"} %d\n", place->folder.name, i + 7);
		assert_file(place, "metrics.prom", line);
		fake_clock_advance(5000);
	}
	strcpy(place->publisher.fabric_name, "daq");
	withdraw(place, FORS_FAILED, "b");
	assert_file(place, "metrics.prom", "fors_epochs_total{fabric=\"daq\"} 2\n");
}

static void the_kept_order_is_written(void **state)
{
	struct place *place = *state;

	fors_publisher_keep(&place->publisher, strdup("an order"), 8);
	assert_file(place, "places", "an order");
	fors_publisher_keep(&place->publisher, strdup("another"), 7);
	assert_file(place, "places", "another");
}

/* Whatever somebody removed is there again with the next heartbeat; before the first status there is none. */
static void removed_files_come_back(void **state)
{
	static const char *const names[] = {"schedule", "status.json", "metrics.prom", "places", "heartbeat"};
	struct place *place = *state;
	char command[128];

	fors_publisher_beat(&place->publisher);
	assert_null(file_of(place, "heartbeat"));
	withdraw(place, FORS_PLANNING, "gone");
	fors_publisher_keep(&place->publisher, strdup("an order"), 8);
	fors_publisher_beat(&place->publisher);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_file(place, names[i], "");
	snprintf(command, sizeof(command), "rm -f %s/*/*", place->directory);
	assert_int_equal(system(command), 0);
	fake_clock_advance(60000);
	fors_publisher_beat(&place->publisher);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_file(place, names[i], "");
}

/* A folder that cannot be written is told of once, and so is that it can be written again, as soon as it was. */
static void the_end_of_a_fault_is_told(void **state)
{
	struct place *place = *state;
	char path[128];
	int before;

	withdraw(place, FORS_PLANNING, "good");
	assert_int_equal(fors_publish_remove(&place->folder, "status.json", NULL), FORS_OK);
	snprintf(path, sizeof(path), "%s/%s/status.json", place->directory, place->folder.name);
	assert_int_equal(mkdir(path, 0700), 0);
	complained = 0;
	withdraw(place, FORS_INACTIVE, "one");
	withdraw(place, FORS_INACTIVE, "two");
	fors_publisher_retry(&place->publisher);
	assert_int_equal(complained, 1);
	assert_int_equal(rmdir(path), 0);
	before = told;
	fors_publisher_retry(&place->publisher);
	assert_int_equal(told, before + 1);
	fors_publisher_retry(&place->publisher);
	assert_int_equal(told, before + 1);
	assert_int_equal(complained, 1);
	assert_file(place, "status.json", "two");
}

/* The copier hears of what is new, once, and who may be written over; of a schedule that is not in the state folder, too. */
static void the_copier_is_told(void **state)
{
	struct place *place = *state;
	char path[128];

	memset(&desk, 0, sizeof(desk));
	place->publisher.copier = (struct fors_copier *)place; /* which is never looked into */
	fors_publisher_retry(&place->publisher);
	assert_int_equal(desk.told, 0); /* there is nothing to say */
	withdraw(place, FORS_PLANNING, "one");
	assert_true(desk.told > 0);
	assert_int_equal(desk.order.epoch, place->publisher.last_epoch);
	assert_int_equal(desk.order.publication, 1);
	assert_string_equal(desk.order.status, "planning");
	assert_true(desk.order.is_reserved && !desk.order.is_guest && !desk.order.is_unwritten && !desk.order.may_tidy);
	desk.told = 0;
	fors_publisher_retry(&place->publisher);
	assert_int_equal(desk.told, 0);
	place->publisher.may_tidy = true;
	fors_publisher_retry(&place->publisher);
	assert_true(desk.told == 1 && desk.order.may_tidy);
	place->publisher.unwritten_jobs = 2;
	fors_publisher_retry(&place->publisher);
	assert_true(desk.told == 2 && desk.order.is_unwritten);
	place->publisher.unwritten_jobs = 0;
	fake_clock_advance(60000);
	fors_publisher_beat(&place->publisher);
	assert_true(desk.told > 2 && !desk.order.is_unwritten);
	place->publisher.is_guest = true;
	withdraw(place, FORS_INACTIVE, "two");
	assert_true(desk.order.is_guest && desk.order.publication == 2);
	place->publisher.is_guest = false;
	place->publisher.reserved = place->publisher.last_epoch;
	assert_int_equal(fors_publish_remove(&place->folder, "epoch", NULL), FORS_OK);
	snprintf(path, sizeof(path), "%s/%s/epoch", place->directory, place->folder.name);
	assert_int_equal(mkdir(path, 0700), 0);
	withdraw(place, FORS_PLANNING, "three");
	assert_false(desk.order.is_reserved);
	assert_int_equal(rmdir(path), 0);
	place->publisher.copier = NULL;
}

/* Who reads OpenSM's log alone has the phases, and what they are compared with. */
static void the_log_has_phases_and_bound(void **state)
{
	struct place *place = *state;
	struct fors_status status;

	fors_status_init(&status);
	status.state = FORS_ACTIVE;
	status.phases = 380;
	status.lower_bound = 360;
	status.plan_ms = 1;
	assert_true(fors_publisher_publish(&place->publisher, NULL, &status));
	assert_non_null(strstr(said, " 380 phases (lower bound 360)"));
	fors_status_clear(&status);
}

/* A status alone: what schedule there is stays. */
static void say(struct place *place, const char *reason)
{
	struct fors_status status;

	fors_status_init(&status);
	status.state = FORS_PLANNING;
	snprintf(status.reason, sizeof(status.reason), "%s", reason);
	assert_true(fors_publisher_publish(&place->publisher, NULL, &status));
	fors_status_clear(&status);
}

/* Two servers of a leaf. */
static struct fors_schedule *schedule_of(uint64_t fingerprint)
{
	struct fors_schedule_server server[2] = {{.guid = 1, .lid = 1}, {.guid = 2, .lid = 2, .rank = 1}};
	struct fors_schedule *schedule;

	assert_int_equal(fors_schedule_new_of(server, 2, 1, 2, 0, 0, "test", &schedule, NULL), FORS_OK);
	schedule->fingerprint = fingerprint;
	schedule->cell[0].dst = 1;
	schedule->cell[3].dst = 0;
	return schedule;
}

static void assert_schedule(const struct place *place, uint64_t fingerprint)
{
	struct fors_schedule *schedule;
	void *bytes;
	size_t size;

	assert_int_equal(fors_published(&place->folder, "schedule", 1 << 20, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fors_schedule_decode(bytes, size, "schedule", &schedule, NULL), FORS_OK);
	assert_true(schedule->fingerprint == fingerprint);
	assert_true(schedule->epoch == place->publisher.last_epoch);
	fors_schedule_free(schedule);
	free(bytes);
	assert_false(fors_publish_has(&place->folder, ".schedule.new"));
}

static void publish_plan(struct place *place, uint64_t fingerprint)
{
	struct fors_status status;

	fors_status_init(&status);
	status.state = FORS_ACTIVE;
	assert_true(fors_publisher_publish(&place->publisher, schedule_of(fingerprint), &status));
	fors_status_clear(&status);
	assert_schedule(place, fingerprint);
}

static void restart(struct place *place)
{
	fors_publisher_close(&place->publisher);
	fake_clock_advance(60000);
	fors_publisher_open(&place->publisher, NULL, &place->folder, NULL);
}

/* A history that was damaged while nobody ran is told, and begins anew. */
static void a_damaged_history(void **state)
{
	static const char damaged[] = "fors history 1\n5\t6\tseven\trounds\tbefore\n";
	struct place *place = *state;
	struct fors_error error;
	char *text;

	assert_int_equal(fors_publish(&place->folder, "history", damaged, strlen(damaged), false, &error), FORS_OK);
	complained = 0;
	restart(place);
	assert_int_equal(complained, 1);
	publish_plan(place, 1);
	assert_file(place, "history", "fors history 1\n");
	text = file_of(place, "history");
	assert_null(strstr(text, "before"));
	free(text);
}

/* Readers have had schedules since then: an opensm that starts again says so, once it is active; a withdrawal ends it. */
static void a_restart_does_not_make_it_active(void **state)
{
	struct place *place = *state;
	uint64_t first;

	withdraw(place, FORS_FAILED, "before");
	fake_clock_advance(5000);
	first = fors_clock_unix_ms();
	publish_plan(place, 1);
	fake_clock_advance(5000);
	publish_plan(place, 2);
	restart(place);
	say(place, "at the start");
	assert_true(since(place) == fors_clock_unix_ms());
	publish_plan(place, 3);
	assert_true(since(place) == first);
	withdraw(place, FORS_FAILED, "broken");
	restart(place);
	publish_plan(place, 4);
	assert_true(since(place) == fors_clock_unix_ms());
	restart(place);
	withdraw(place, FORS_FAILED, "broken again");
	publish_plan(place, 5);
	assert_true(since(place) == fors_clock_unix_ms());
}

/* A status of one dead cable, as a tree would fill it in; since FORS_UNKNOWN: from the start. */
static void say_dead(struct place *place, const char *leaf, int64_t since_ms)
{
	struct fors_link link = {.b = "Spine01", .a_port = 6, .b_port = 2, .since_ms = since_ms};
	struct fors_status status;

	fors_status_init(&status);
	status.state = FORS_PLANNING;
	status.leaves = 4;
	strcpy(link.a, leaf);
	assert_int_equal(fors_links_add(&status.dead_links, &link, NULL), FORS_OK);
	assert_true(fors_publisher_publish(&place->publisher, NULL, &status));
	fors_status_clear(&status);
}

/* Since when the only dead cable is dead, by the status that is published. */
static int64_t dead_since(const struct place *place)
{
	struct fors_status status;
	int64_t ms;

	read_status(place, &status);
	assert_int_equal(status.dead_links.count, 1);
	ms = status.dead_links.link->since_ms;
	fors_status_clear(&status);
	return ms;
}

/* The last words of an opensm, as the worker says them. */
static void end(struct place *place)
{
	struct fors_status status;

	assert_true(fors_publisher_recall(&place->publisher, &status));
	fors_status_end(&status, (int64_t)fors_clock_unix_ms());
	assert_true(fors_publisher_publish(&place->publisher, NULL, &status));
	fors_status_clear(&status);
}

/* A cable that was dead before opensm ended, or was killed, has been dead since then; one that came back has not. */
static void a_restart_does_not_kill_cables(void **state)
{
	struct place *place = *state;

	say_dead(place, "Leaf01", 1795556348600);
	end(place);
	restart(place);
	say(place, "of no fabric yet");
	say_dead(place, "Leaf01", FORS_UNKNOWN);
	assert_int_equal(dead_since(place), 1795556348600);
	restart(place);
	say_dead(place, "Leaf01", 1795556399999);
	assert_int_equal(dead_since(place), 1795556399999);
	restart(place);
	say_dead(place, "Leaf02", FORS_UNKNOWN);
	assert_int_equal(dead_since(place), FORS_UNKNOWN);
	say_dead(place, "Leaf01", FORS_UNKNOWN); /* it lived in between */
	assert_int_equal(dead_since(place), FORS_UNKNOWN);
}

/* What the last one knew that knew anything, and when that was: one that saw nothing takes nothing away. */
static void an_end_keeps_what_was_known(void **state)
{
	struct place *place = *state;
	struct fors_status status;
	int64_t then = (int64_t)fors_clock_unix_ms();

	assert_false(fors_publisher_recall(&place->publisher, &status));
	say_dead(place, "Leaf01", 1795556348600);
	end(place);
	assert_file(place, "status.json", "\"inactive\"");
	restart(place);
	end(place);
	assert_int_equal(dead_since(place), 1795556348600);
	assert_true(fors_publisher_recall(&place->publisher, &status));
	assert_int_equal(status.known_until_ms, then);
	assert_int_equal(status.state_since_ms, then + 60000);
	fors_status_clear(&status);
	restart(place);
	say_dead(place, "Leaf01", FORS_UNKNOWN);
	assert_file(place, "status.json", "\"known_until_ms\": null");
}

/* What a job's file says, by its reason and epoch. */
static void assert_job(const struct place *place, const char *reason, uint64_t epoch)
{
	struct fors_folder folder = place->folder;
	struct fors_schedule *schedule;
	void *bytes = NULL;
	size_t size;

	strcpy(folder.job, "one");
	assert_int_equal(fors_published(&folder, "schedule", 1 << 20, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fors_schedule_decode(bytes, size, "one", &schedule, NULL), FORS_OK);
	assert_string_equal(schedule->reason, reason);
	assert_true(schedule->epoch == epoch);
	fors_schedule_free(schedule);
	free(bytes);
}

static enum fors_err publish_job(struct fors_jobpublishers *jobs, const char *reason)
{
	struct fors_schedule *schedule;

	assert_int_equal(fors_schedule_withdrawn(0, reason, &schedule, NULL), FORS_OK);
	return fors_jobpublisher_publish(jobs, fors_jobpublisher_have(jobs, "one"), schedule, NULL);
}

/* Whichever allocation fails: a job has the schedule of before, or the new one under an epoch of its own, which is written later. */
static bool publish_short_of_memory(struct place *place, uint64_t n)
{
	struct fors_jobpublishers jobs;
	const struct fors_jobpublisher_item *item;
	struct fors_schedule *schedule;
	uint64_t before;
	bool has_failed, is_new = false;
	enum fors_err err;

	withdraw(place, FORS_PLANNING, "a status, to be read");
	fors_jobpublisher_open(&jobs, &place->publisher);
	assert_int_equal(publish_job(&jobs, "before"), FORS_OK);
	fors_jobpublisher_close(&jobs);
	fors_publisher_close(&place->publisher);
	faults_arm(1, true);
	fors_publisher_open(&place->publisher, NULL, &place->folder, NULL);
	faults_off(); /* what it was to read is read later */
	fors_jobpublisher_open(&jobs, &place->publisher);
	assert_true(fors_jobpublisher_take(&jobs, "one"));
	item = fors_jobpublisher_find(&jobs, "one");
	before = item->epoch;
	assert_int_equal(fors_schedule_withdrawn(0, "after", &schedule, NULL), FORS_OK);
	faults_arm(n, false);
	err = fors_jobpublisher_publish(&jobs, fors_jobpublisher_have(&jobs, "one"), schedule, NULL);
	has_failed = faults_off();
	assert_true(item->schedule->epoch == item->epoch);
	assert_string_equal(item->schedule->reason, err ? "before" : "after");
	assert_true(err ? item->epoch == before : item->epoch > before);
	assert_true(fors_jobpublisher_tend(&jobs, false, &is_new));
	assert_job(place, err ? "before" : "after", item->epoch);
	assert_int_equal(publish_job(&jobs, "after"), FORS_OK);
	assert_job(place, "after", item->epoch);
	fors_jobpublisher_close(&jobs);
	return has_failed;
}

static void jobs_short_of_memory(void **state)
{
	bool has_failed = true;

	for (uint64_t n = 1; has_failed; n++) {
		has_failed = publish_short_of_memory(*state, n);
		assert_int_equal(close_place(state), 0);
		assert_int_equal(open_place(state), 0);
		assert_true(has_failed || n > 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_files_say_the_same, open_place, close_place),
		cmocka_unit_test_setup_teardown(states_have_a_beginning, open_place, close_place),
		cmocka_unit_test_setup_teardown(a_restart_does_not_make_it_active, open_place, close_place),
		cmocka_unit_test_setup_teardown(a_restart_does_not_kill_cables, open_place, close_place),
		cmocka_unit_test_setup_teardown(an_end_keeps_what_was_known, open_place, close_place),
		cmocka_unit_test_setup_teardown(metrics_have_the_heartbeat, open_place, close_place),
		cmocka_unit_test_setup_teardown(a_damaged_history, open_place, close_place),
		cmocka_unit_test_setup_teardown(the_kept_order_is_written, open_place, close_place),
		cmocka_unit_test_setup_teardown(removed_files_come_back, open_place, close_place),
		cmocka_unit_test_setup_teardown(the_end_of_a_fault_is_told, open_place, close_place),
		cmocka_unit_test_setup_teardown(the_copier_is_told, open_place, close_place),
		cmocka_unit_test_setup_teardown(the_log_has_phases_and_bound, open_place, close_place),
		cmocka_unit_test_setup_teardown(jobs_short_of_memory, open_place, close_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
