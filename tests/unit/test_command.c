/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/command.c and child.c: commands that end, fail, take too long, or do not end at all, as those that
 * hang in the kernel: kill() is linked with --wrap, and signals go nowhere while a test says so. The clock is the test's own.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/files/command.h"
#include "fake_clock.h"
#include "unit.h"

#define LOOKS 20000 /* at something that has to come, a millisecond or more apart */
#define HANGS "echo $$ > pid; exec sleep 300"

static bool is_deaf;

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);

/* Whoever hangs in the kernel gets the signal, and does not notice. */
int __wrap_kill(pid_t pid, int signal)
{
	return is_deaf && signal ? 0 : __real_kill(pid, signal);
}

struct bench {
	char directory[64], line[400];
	struct fors_command command;
	unsigned errors, infos;
	char said[800];
	int pid[4];
	size_t npids;
};

static void say(void *context, unsigned code, const char *line)
{
	struct bench *bench = context;

	assert_true(!code || code == FORS_F_COMMAND);
	bench->errors += code != 0;
	bench->infos += !code;
	snprintf(bench->said, sizeof(bench->said), "%s", line);
}

static int open_bench(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	is_deaf = false;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	strcpy(bench->directory, "/tmp/fors-command-XXXXXX");
	bench->command = (struct fors_command){
		.line = bench->line, .state = bench->directory, .seconds = 1, .say = say, .context = bench};
	*state = bench;
	return mkdtemp(bench->directory) ? 0 : -1;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;
	char command[128];

	for (size_t i = 0; i < bench->npids; i++)
		__real_kill(-bench->pid[i], SIGKILL);
	snprintf(command, sizeof(command), "rm -rf %s", bench->directory);
	free(bench);
	return system(command) ? -1 : 0;
}

static void start(struct bench *bench, const char *text)
{
	snprintf(bench->line, sizeof(bench->line), "cd %s; %s", bench->directory, text);
	assert_true(fors_command_may(&bench->command));
	assert_true(fors_command_start(&bench->command, 42, "active"));
}

/* Look at it until it is over; between two looks this much time goes by. */
static void let_run(struct bench *bench, unsigned step_ms)
{
	for (int look = 0; look < LOOKS && bench->command.is_running; look++) {
		fors_command_look(&bench->command);
		fake_clock_advance(step_ms);
		usleep(1000);
	}
	assert_false(bench->command.is_running);
}

static bool text_of(const struct bench *bench, const char *name, char text[256])
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", bench->directory, name);
	file = fopen(path, "r");
	text[0] = '\0';
	if (!file)
		return false;
	text[fread(text, 1, 255, file)] = '\0';
	fclose(file);
	return strchr(text, '\n');
}

static int wait_number(const struct bench *bench, const char *name)
{
	char text[256];

	for (int look = 0; look < LOOKS && !text_of(bench, name, text); look++)
		usleep(1000);
	assert_true(atoi(text) > 0);
	return atoi(text);
}

/* Its environment is its own, and it has none of our files, whatever is not closed on exec. */
static void it_inherits_nothing(void **state)
{
	struct bench *bench = *state;
	char text[256], expected[256];
	int fd = dup(1);

	setenv("SECRET", "x", 1);
	start(bench,
	      "echo $FORS_STATE_DIR,$FORS_EPOCH,$FORS_STATE,$FORS_PUBLISH_DIR,$SECRET > out; ls /proc/self/fd | wc -l > files");
	let_run(bench, 0);
	assert_true(text_of(bench, "out", text));
	snprintf(expected, sizeof(expected), "%s,42,active,,\n", bench->directory);
	assert_string_equal(text, expected);
	assert_int_equal(wait_number(bench, "files"), 4); /* 0, 1, 2, and ls's own */
	bench->command.dir = "/somewhere";
	start(bench, "echo $FORS_PUBLISH_DIR > out");
	let_run(bench, 0);
	assert_true(text_of(bench, "out", text));
	assert_string_equal(text, "/somewhere\n");
	close(fd);
	assert_int_equal(bench->errors + bench->infos, 0);
}

static void failures_are_said(void **state)
{
	static const struct {
		const char *text, *said;
		unsigned errors, infos; /* by then */
	} cases[] = {{"exit 3", "publish_command ended with exit status 3", 1, 0},
		     {"kill -9 $$", "publish_command was ended by signal 9", 2, 0},
		     {"exit 3", "publish_command ended with exit status 3", 3, 0},
		     {"true", "publish_command works again", 3, 1},
		     {"true", "publish_command works again", 3, 1}};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(bench, cases[i].text);
		let_run(bench, 0);
		assert_string_equal(bench->said, cases[i].said);
		assert_int_equal(bench->errors, cases[i].errors);
		assert_int_equal(bench->infos, cases[i].infos);
	}
}

/* Not a millisecond before its time; politely first, and then whoever is left of its group. */
static void late_ones_are_killed_with_their_children(void **state)
{
	struct bench *bench = *state;
	char text[256];
	int pid;

	start(bench,
	      "(trap '' TERM; exec sleep 300) & trap 'echo yes > asked' TERM; echo $! > child; wait; wait; wait");
	pid = wait_number(bench, "child");
	fake_clock_advance(999);
	fors_command_look(&bench->command);
	usleep(20000);
	assert_false(text_of(bench, "asked", text));
	fake_clock_advance(1);
	fors_command_look(&bench->command);
	for (int look = 0; look < LOOKS && !text_of(bench, "asked", text); look++)
		usleep(1000);
	assert_string_equal(text, "yes\n");
	fors_command_look(&bench->command);
	assert_true(bench->command.is_running);
	assert_int_equal(kill(pid, 0), 0); /* it does not end when it is asked to */
	let_run(bench, 100);
	assert_int_equal(bench->errors, 1);
	assert_string_equal(bench->said, "publish_command did not end within 1 s and was killed");
	assert_int_not_equal(kill(pid, 0), 0);
	bench->command.seconds = 3600;
	start(bench, "exec sleep 300");
	fors_command_hurry(&bench->command, fors_clock_ms() + 250);
	let_run(bench, 50);
	assert_string_equal(bench->said, "publish_command was killed, since opensm ends");
}

/* One that nothing ends, its time over. */
static void let_one_hang(struct bench *bench, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/pid", bench->directory);
	unlink(path);
	is_deaf = true;
	start(bench, text);
	bench->pid[bench->npids++] = wait_number(bench, "pid");
	let_run(bench, 100);
}

/* The log names it, and the next one runs; three are enough. One that ends after all makes room, also where its shell ended before. */
static void what_hangs_is_left_behind(void **state)
{
	struct bench *bench = *state;
	char text[64];

	let_one_hang(bench, "echo $$ > pid; sleep 300 & while [ ! -e end ]; do sleep 0.02; done");
	snprintf(text, sizeof(text), "left behind as process group %d: cd ", bench->pid[0]);
	assert_non_null(strstr(bench->said, text));
	start(bench, "touch end");
	let_run(bench, 0);
	assert_int_equal(bench->infos, 1); /* "works again" */
	for (int look = 0; look < 50; look++) {
		usleep(1000);
		fors_command_look(&bench->command);
	}
	assert_int_equal(bench->infos, 1); /* the shell has ended, but not all of its group */
	let_one_hang(bench, HANGS);
	assert_null(strstr(bench->said, "none is started"));
	let_one_hang(bench, HANGS);
	assert_non_null(strstr(bench->said, "none is started until one of those that hang has ended"));
	assert_false(fors_command_may(&bench->command));
	assert_int_equal(bench->errors, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(__real_kill(-bench->pid[i], SIGKILL), 0);
		for (int look = 0; look < LOOKS && bench->infos < 2 + i; look++) {
			usleep(1000);
			fors_command_look(&bench->command);
		}
		assert_int_equal(bench->infos, 2 + i);
		assert_non_null(strstr(bench->said, "has ended after all"));
		assert_true(fors_command_may(&bench->command));
	}
}

/* Signals that this process blocks or ignores, as a daemon may, end a child all the same. */
static void no_signal_is_blocked_or_ignored(void **state)
{
	struct bench *bench = *state;
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
	start(bench, "kill -USR1 $$; exit 3");
	sigprocmask(SIG_SETMASK, &before, NULL);
	let_run(bench, 0);
	assert_string_equal(bench->said, "publish_command was ended by signal 10");
	signal(SIGUSR2, SIG_IGN);
	start(bench, "kill -USR2 $$; exit 3");
	signal(SIGUSR2, SIG_DFL);
	let_run(bench, 0);
	assert_string_equal(bench->said, "publish_command was ended by signal 12");
}

#define ON_A_BENCH(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_BENCH(it_inherits_nothing),
		ON_A_BENCH(failures_are_said),
		ON_A_BENCH(late_ones_are_killed_with_their_children),
		ON_A_BENCH(what_hangs_is_left_behind),
		ON_A_BENCH(no_signal_is_blocked_or_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
