/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/runner.c and daemon/files/child.c with processes that do not end, as those that hang in the kernel: kill()
 * is linked with --wrap, and signals go nowhere while a test says so; or posix_spawn() itself does not come back; or
 * strdup() has no memory.
 * Commands that behave are in test_outbox.c. The clock is the test's own.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/files/runner.h"
#include "fake_clock.h"
#include "unit.h"

#define LOOKS 20000 /* at something that has to come, a millisecond or more apart */
#define HANGS "echo $$ > pid; exec sleep 300"

static atomic_int n_errors, n_infos, is_deaf, is_hanging, is_inside, has_stopped;
static pthread_mutex_t text_mutex = PTHREAD_MUTEX_INITIALIZER;
static char last_error[1000];

void fors_log_info(struct fors_log *log, const char *format, ...)
{
	atomic_fetch_add(&n_infos, 1);
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	pthread_mutex_lock(&text_mutex);
	vsnprintf(last_error, sizeof(last_error), format, arguments);
	pthread_mutex_unlock(&text_mutex);
	va_end(arguments);
	if (code == FORS_F_COMMAND)
		atomic_fetch_add(&n_errors, 1);
}

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);

/* Whoever hangs in the kernel gets the signal, and does not notice. */
int __wrap_kill(pid_t pid, int signal)
{
	return atomic_load(&is_deaf) && signal ? 0 : __real_kill(pid, signal);
}

int __real_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);

int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	atomic_store(&is_inside, 1);
	while (atomic_load(&is_hanging))
		usleep(1000);
	return __real_posix_spawn(pid, path, actions, attributes, argv, envp);
}

static const char *_Atomic no_memory_for; /* this text, or NULL */

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
	const char *refused = atomic_load(&no_memory_for);

	return refused && !strcmp(text, refused) ? NULL : __real_strdup(text);
}

struct bench {
	char directory[64];
	struct fors_runner *runner;
	int pid[4];
	size_t n_pids;
};

static void *stop_runner(void *runner)
{
	fors_runner_stop(runner, 0);
	atomic_store(&has_stopped, 1);
	return NULL;
}

/* Stop it, however long that takes by its clock; but it has to come back at some time. */
static void stop(struct bench *bench)
{
	pthread_t thread;

	atomic_store(&has_stopped, 0);
	assert_int_equal(pthread_create(&thread, NULL, stop_runner, bench->runner), 0);
	bench->runner = NULL;
	for (int look = 0; look < LOOKS && !atomic_load(&has_stopped); look++) {
		fake_clock_advance(5);
		usleep(1000);
	}
	if (!atomic_load(&has_stopped))
		fail_msg("fors_runner_stop() does not come back");
	pthread_join(thread, NULL);
}

static int open_bench(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	atomic_store(&n_errors, 0);
	atomic_store(&n_infos, 0);
	atomic_store(&is_deaf, 0);
	atomic_store(&is_hanging, 0);
	atomic_store(&is_inside, 0);
	strcpy(bench->directory, "/tmp/fors-runner-XXXXXX");
	if (!mkdtemp(bench->directory) || fors_runner_start(NULL, &bench->runner, NULL))
		return -1;
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;
	char command[128];

	for (size_t i = 0; i < bench->n_pids; i++)
		__real_kill(-bench->pid[i], SIGKILL);
	atomic_store(&is_deaf, 0);
	atomic_store(&is_hanging, 0);
	if (bench->runner)
		stop(bench);
	snprintf(command, sizeof(command), "rm -rf %s", bench->directory);
	free(bench);
	return system(command) ? -1 : 0;
}

static void run_for(struct bench *bench, unsigned seconds, const char *text)
{
	char command[256];
	struct fors_errand errand = {.command = command, .seconds = seconds};

	snprintf(command, sizeof(command), "cd %s; %s", bench->directory, text);
	assert_int_equal(fors_runner_run(bench->runner, &errand, NULL), FORS_OK);
}

static void run(struct bench *bench, const char *text)
{
	run_for(bench, 1, text);
}

/* The number in a file of the bench; 0: none. */
static int number_in(const struct bench *bench, const char *name)
{
	char path[160];
	int number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", bench->directory, name);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

static int wait_number(const struct bench *bench, const char *name)
{
	for (int look = 0; look < LOOKS; look++) {
		if (number_in(bench, name))
			return number_in(bench, name);
		usleep(1000);
	}
	fail_msg("%s is not written", name);
	return 0;
}

/* Wait until a counter has this value at least; between two looks this much time goes by: a command has one second. */
static void wait_count(atomic_int *counter, int value, unsigned step_ms)
{
	for (int look = 0; look < LOOKS && atomic_load(counter) < value; look++) {
		fake_clock_advance(step_ms);
		usleep(1000);
	}
	assert_true(atomic_load(counter) >= value);
}

/* A command that nothing ends, its time over: the pid is remembered, and left to close_bench(). */
static int let_one_hang(struct bench *bench, const char *command)
{
	int pid, before = atomic_load(&n_errors);
	char path[160];

	snprintf(path, sizeof(path), "%s/pid", bench->directory);
	unlink(path);
	atomic_store(&is_deaf, 1);
	run(bench, command);
	pid = wait_number(bench, "pid");
	bench->pid[bench->n_pids++] = pid;
	wait_count(&n_errors, before + 1, 100);
	return pid;
}

static bool was_logged(const char *text)
{
	bool was;

	pthread_mutex_lock(&text_mutex);
	was = strstr(last_error, text);
	pthread_mutex_unlock(&text_mutex);
	return was;
}

/* The log names it, and the next epoch has a command of its own. */
static void hanging_command_is_left_behind(void **state)
{
	struct bench *bench = *state;
	char text[64];

	snprintf(text, sizeof(text), "left behind as process group %d: cd ", let_one_hang(bench, HANGS));
	assert_true(was_logged(text));
	assert_true(was_logged("exec sleep 300"));
	run(bench, "echo 2 > next");
	assert_int_equal(wait_number(bench, "next"), 2);
}

/* The shell has ended, and what it had started has not. */
static void hanging_child_is_left_behind(void **state)
{
	struct bench *bench = *state;

	let_one_hang(bench, "echo $$ > pid; sleep 300 & while [ ! -e end ]; do sleep 0.02; done");
	assert_true(was_logged("left behind"));
	run(bench, "touch end; echo 2 > next");
	assert_int_equal(wait_number(bench, "next"), 2);
	wait_count(&n_infos, 1, 0); /* "works again" */
	run(bench, "echo 3 > again");
	assert_int_equal(wait_number(bench, "again"), 3); /* which is said once */
	for (int i = 0; i < 20; i++) {
		fake_clock_advance(1000); /* now the shell has ended, and is looked at */
		usleep(5000);
	}
	assert_int_equal(atomic_load(&n_infos), 1);
	assert_int_equal(__real_kill(-bench->pid[0], SIGKILL), 0);
	wait_count(&n_infos, 2, 100);
}

/* Three of them are enough; when one ends after all, the newest errand that waits is run. */
static void three_hang_and_no_more_are_started(void **state)
{
	struct bench *bench = *state;

	let_one_hang(bench, HANGS);
	let_one_hang(bench, HANGS);
	assert_false(was_logged("none is started"));
	let_one_hang(bench, HANGS);
	assert_true(was_logged("none is started until one of those that hang has ended"));
	run(bench, "echo 4 > next");
	run(bench, "echo 5 > next");
	for (int i = 0; i < 20; i++) {
		fake_clock_advance(1000);
		usleep(5000);
	}
	assert_int_equal(number_in(bench, "next"), 0);
	assert_int_equal(__real_kill(-bench->pid[1], SIGKILL), 0);
	wait_count(&n_infos, 1, 100); /* "has ended after all" */
	assert_int_equal(wait_number(bench, "next"), 5);
	wait_count(&n_infos, 2, 0); /* "works again" */
	assert_int_equal(atomic_load(&n_errors), 3);
}

/* What hangs when OpenSM ends, or has hung before, does not keep it. */
static void hanging_command_does_not_hold_opensm(void **state)
{
	struct bench *bench = *state;

	let_one_hang(bench, HANGS);
	run(bench, "echo $$ > second; exec sleep 300");
	bench->pid[bench->n_pids++] = wait_number(bench, "second");
	stop(bench);
	assert_int_equal(atomic_load(&n_errors), 2);
	assert_true(was_logged("left behind"));
}

/* One that would go on for long is ended with OpenSM, and that is why. */
static void a_command_at_the_end_is_killed(void **state)
{
	struct bench *bench = *state;

	run_for(bench, 3600, "echo $$ > pid; exec sleep 300");
	bench->pid[bench->n_pids++] = wait_number(bench, "pid");
	stop(bench);
	assert_int_equal(atomic_load(&n_errors), 1);
	assert_true(was_logged("was killed, since opensm ends"));
}

/* What waits while a command hangs and OpenSM ends is not run any more, which is an error too. */
static void what_waits_at_the_end_does_not_hold_opensm(void **state)
{
	struct bench *bench = *state;

	atomic_store(&is_deaf, 1);
	run(bench, HANGS);
	bench->pid[bench->n_pids++] = wait_number(bench, "pid");
	run(bench, "echo 2 > next");
	stop(bench);
	assert_int_equal(atomic_load(&n_errors), 2);
	assert_true(was_logged("not run for the last publication"));
	assert_int_equal(number_in(bench, "next"), 0);
}

/* posix_spawn() does not come back: stopping leaves the thread, which ends later, without a word. */
static void hanging_start_does_not_hold_opensm(void **state)
{
	struct bench *bench = *state;

	atomic_store(&is_hanging, 1);
	run(bench, "exit 3");
	while (!atomic_load(&is_inside))
		usleep(1000);
	stop(bench);
	atomic_store(&is_hanging, 0);
	usleep(100000); /* it ends its child, and frees what it has */
	assert_int_equal(atomic_load(&n_errors), 0);
}

/* An errand is taken whole, or not at all. */
static void no_errand_without_memory(void **state)
{
	static const char *const parts[] = {"true", "A=1", "B=2"};
	const struct fors_errand errand = {.command = "true", .seconds = 1, .variable = {"A=1", "B=2"}};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		enum fors_err err;

		atomic_store(&no_memory_for, parts[i]);
		err = fors_runner_run(bench->runner, &errand, NULL);
		atomic_store(&no_memory_for, NULL);
		assert_int_equal(err, FORS_ENOMEM);
	}
	run(bench, "echo 5 > ran");
	assert_int_equal(wait_number(bench, "ran"), 5);
}

#define ON_A_BENCH(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_BENCH(hanging_command_is_left_behind),	ON_A_BENCH(hanging_child_is_left_behind),
		ON_A_BENCH(three_hang_and_no_more_are_started), ON_A_BENCH(hanging_command_does_not_hold_opensm),
		ON_A_BENCH(a_command_at_the_end_is_killed),	ON_A_BENCH(what_waits_at_the_end_does_not_hold_opensm),
		ON_A_BENCH(hanging_start_does_not_hold_opensm), ON_A_BENCH(no_errand_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
