/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/copier.c and copier_main.c together: the program itself, built beside the tests, by the real clock;
 * one that is missing, ends, or is another one. What it does in folders is in test_copies.c; folders that hang: tests/e2e/test_helper.py.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/files/copier.h"
#include "unit.h"

#define LOOKS 3000 /* 10 ms apart */

static char program[PATH_MAX];
static unsigned errors[32], infos;
static char error_text[1000];

void fors_copier_program(char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s", program);
}

void fors_log_info(struct fors_log *log, const char *format, ...)
{
	(void)log;
	(void)format;
	infos++;
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	va_list arguments;

	(void)log;
	va_start(arguments, format);
	vsnprintf(error_text, sizeof(error_text), format, arguments);
	va_end(arguments);
	errors[code]++;
}

struct bench {
	char directory[64], dir[80];
	struct fors_folder state, copies;
	struct fors_copier *copier;
	struct fors_copier_order order;
};

static int open_bench(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	memset(errors, 0, sizeof(errors));
	infos = 0;
	strcpy(bench->directory, "/tmp/fors-copier-XXXXXX");
	if (!realpath("fors-outbox", program) || !mkdtemp(bench->directory) ||
	    fors_folder_init(&bench->state, bench->directory, 0x77, NULL) ||
	    fors_copier_start(NULL, &bench->state, &bench->copier, NULL))
		return -1;
	snprintf(bench->dir, sizeof(bench->dir), "%s/copies", bench->directory);
	bench->copies.parent = bench->dir;
	*state = bench;
	return mkdir(bench->dir, 0755);
}

static int close_bench(void **state)
{
	struct bench *bench = *state;
	char command[128];

	fors_copier_stop(bench->copier);
	fors_folder_clear(&bench->state);
	snprintf(command, sizeof(command), "rm -rf %s", bench->directory);
	free(bench);
	return system(command) ? -1 : 0;
}

static void set(struct bench *bench, const char *dir, const char *command)
{
	const struct fors_copier_request request = {.dir = dir, .command = command, .seconds = 20};

	assert_int_equal(fors_copier_set(bench->copier, &request, NULL), FORS_OK);
}

static void plant(const struct fors_folder *folder, const char *job, uint64_t epoch)
{
	struct fors_folder of = *folder;
	struct fors_schedule *schedule;
	size_t size;
	void *bytes;

	snprintf(of.job, sizeof(of.job), "%s", job);
	assert_int_equal(fors_schedule_withdrawn(epoch, "test", &schedule, NULL), FORS_OK);
	snprintf(schedule->name, sizeof(schedule->name), "%s", job);
	assert_int_equal(fors_schedule_encode(schedule, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fors_publish(&of, "schedule", bytes, size, false, NULL), FORS_OK);
	fors_schedule_free(schedule);
	free(bytes);
}

/* A publication of the worker's. */
static void publish(struct bench *bench, uint64_t epoch)
{
	plant(&bench->state, "", epoch);
	bench->order.epoch = epoch;
	bench->order.is_reserved = true;
	bench->order.publication++;
	strcpy(bench->order.status, "active");
	fors_copier_tell(bench->copier, &bench->order);
}

/* Let the ticks go by until this comes about. */
#define WAIT_FOR(what)                                                                                                 \
	do {                                                                                                           \
		int look = 0;                                                                                          \
                                                                                                                       \
		while (!(what) && look++ < LOOKS) {                                                                    \
			usleep(10000);                                                                                 \
			fors_copier_tend(bench->copier);                                                               \
		}                                                                                                      \
		if (look > LOOKS)                                                                                      \
			fail_msg("never: %s; %s", #what, error_text);                                                  \
	} while (0)

static struct fors_copier_report report_of(struct bench *bench)
{
	struct fors_copier_report report;

	fors_copier_read(bench->copier, &report);
	return report;
}

static void say_command(const struct bench *bench, const char *text, char command[256])
{
	snprintf(command, 256, "cd %s; %s", bench->directory, text);
}

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

/* The copy is there when the command runs; publications while one runs lead to one more run, with the newest epoch. */
static void copies_then_commands(void **state)
{
	struct bench *bench = *state;
	char command[256];

	say_command(
		bench,
		"cmp 0x*/schedule copies/schedule; echo $FORS_EPOCH $? >> out; while [ ! -e go ]; do sleep 0.02; done",
		command);
	set(bench, bench->dir, command);
	publish(bench, 1000);
	WAIT_FOR(report_of(bench).copied == 1000);
	WAIT_FOR(report_of(bench).ran_epoch == 1000);
	assert_true(report_of(bench).copied_ms > 0 && report_of(bench).ran_ms >= report_of(bench).copied_ms);
	assert_true(report_of(bench).has_dir && report_of(bench).has_command);
	WAIT_FOR(holds(bench, "out", "1000 0\n"));
	for (uint64_t epoch = 1001; epoch < 1010; epoch++)
		publish(bench, epoch);
	WAIT_FOR(report_of(bench).copied == 1009);
	say_command(bench, "touch go", command);
	assert_int_equal(system(command), 0);
	WAIT_FOR(holds(bench, "out", "1000 0\n1009 0\n"));
	assert_int_equal(errors[FORS_F_COPY] + errors[FORS_F_COMMAND], 0);
	publish(bench, 2000); /* and what is told at last is done at last */
	fors_copier_stop(bench->copier);
	bench->copier = NULL;
	assert_true(holds(bench, "out", "1000 0\n1009 0\n2000 0\n"));
}

/* What the program says is logged, and news are told by kind. */
static void it_is_heard(void **state)
{
	struct bench *bench = *state;
	char name[64];
	uint64_t epoch;

	assert_int_equal(fors_publish(&bench->copies, "schedule", "FORSschd", 8, false, NULL), FORS_OK);
	plant(&bench->copies, "a", fors_clock_unix_ms());
	plant(&bench->state, "a", 4000);
	set(bench, bench->dir, "exit 3");
	publish(bench, 1000);
	WAIT_FOR(errors[FORS_F_STRANGE] == 1 && errors[FORS_F_COMMAND] == 1);
	WAIT_FOR(fors_copier_news(bench->copier, FORS_KIND_JOB, name, &epoch));
	assert_string_equal(name, "a");
	assert_false(fors_copier_news(bench->copier, FORS_KIND_DEMAND, name, &epoch));
}

/* A folder that is not there: said once, and once when it is; and another one. */
static void folders_come_and_go(void **state)
{
	struct bench *bench = *state;
	char other[100];

	snprintf(other, sizeof(other), "%s/other", bench->directory);
	set(bench, other, NULL);
	publish(bench, 1000);
	WAIT_FOR(*report_of(bench).trouble);
	assert_int_equal(errors[FORS_F_COPY], 1);
	assert_true(report_of(bench).failures > 0);
	assert_int_equal(mkdir(other, 0755), 0);
	publish(bench, 1002);
	WAIT_FOR(report_of(bench).copied == 1002);
	WAIT_FOR(!*report_of(bench).trouble);
	assert_int_equal(errors[FORS_F_COPY], 1);
	assert_int_equal(infos, 1);
	assert_false(fors_publish_has(&bench->copies, "schedule"));
	set(bench, bench->dir, NULL);
	WAIT_FOR(fors_publish_has(&bench->copies, "schedule"));
	assert_true(report_of(bench).failures > 0);
	set(bench, NULL, NULL);
	WAIT_FOR(!report_of(bench).has_dir);
}

/* A program that cannot be started, or ends at once, costs one line. */
static void a_program_that_is_none(void **state)
{
	static const struct {
		const char *text; /* of a script; NULL: there is none */
		const char *said;
	} cases[] = {{NULL, "cannot be started: No such file or directory; is fors installed completely?"},
		     {"exit 2", "the helper program is of another version than who calls it"},
		     {"exit 1", "has ended"}};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *file;

		snprintf(program, sizeof(program), "%s/program%zu", bench->directory, i);
		file = cases[i].text ? fopen(program, "w") : NULL;
		if (file) {
			fprintf(file, "#!/bin/sh\n%s\n", cases[i].text);
			fclose(file);
			chmod(program, 0755);
		}
		set(bench, bench->dir, i % 2 ? "true" : NULL);
		publish(bench, 1000 + i);
		if (i) {
			fors_copier_stop(bench->copier);
			assert_int_equal(fors_copier_start(NULL, &bench->state, &bench->copier, NULL), FORS_OK);
			set(bench, bench->dir, NULL);
			publish(bench, 1000 + i);
		}
		WAIT_FOR(strstr(report_of(bench).trouble, cases[i].said));
		assert_non_null(strstr(error_text, cases[i].said));
	}
	assert_true(realpath("fors-outbox", program));
	WAIT_FOR(report_of(bench).copied == 1002); /* the next start, five seconds after the last one */
	WAIT_FOR(!*report_of(bench).trouble);
	assert_int_equal(infos, 1);
}

#define ON_A_BENCH(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_BENCH(copies_then_commands),
		ON_A_BENCH(it_is_heard),
		ON_A_BENCH(folders_come_and_go),
		ON_A_BENCH(a_program_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
