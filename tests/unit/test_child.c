/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/child.c: signals, and a process group of which a zombie is left that nobody reaps. This process adopts
 * what its children leave behind, as process 1 of a container does that reaps nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/files/child.h"
#include "unit.h"

#define LOOKS 20000 /* at something that has to come, a millisecond or more apart */

static void wait_for(bool (*has_come)(struct fors_child *child), struct fors_child *child)
{
	for (int look = 0; look < LOOKS && !has_come(child); look++)
		usleep(1000);
	assert_true(has_come(child));
}

static void zombies_are_gone(void **state)
{
	char directory[] = "/tmp/fors-child-XXXXXX", fifo[64], command[160];
	char *const environment[] = {NULL};
	struct fors_child child;
	int fd = -1;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_non_null(mkdtemp(directory));
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	snprintf(command, sizeof(command), "read line < %s & exit 3", fifo);
	assert_int_equal(fors_child_start(command, environment, &child), 0);
	if (child.fd >= 0) { /* which tells of the end, also when that was long ago */
		struct pollfd news = {.fd = child.fd, .events = POLLIN};

		assert_int_equal(poll(&news, 1, 20000), 1);
		assert_true(fors_child_ended(&child));
	}
	wait_for(fors_child_ended, &child);
	fors_child_close(&child);
	assert_int_equal(child.fd, -1);
	assert_int_equal(WEXITSTATUS(child.status), 3);
	assert_false(fors_child_gone(&child)); /* what it started waits for somebody to write */
	for (int look = 0; look < LOOKS && fd < 0; look++) {
		fd = open(fifo, O_WRONLY | O_NONBLOCK);
		usleep(fd < 0 ? 1000 : 0);
	}
	assert_true(fd >= 0);
	close(fd);
	wait_for(fors_child_gone, &child);
	assert_int_equal(kill(-child.pid, 0), 0); /* though its number is still there */
	assert_true(waitpid(-child.pid, NULL, 0) > 0);
	assert_true(kill(-child.pid, 0) && errno == ESRCH);
	assert_true(fors_child_gone(&child));
	unlink(fifo);
	rmdir(directory);
}

/* Signals that this process blocks or ignores, as a daemon may, end a child all the same. */
static void no_signal_is_blocked_or_ignored(void **state)
{
	char *const environment[] = {NULL};
	struct fors_child child;
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
	assert_int_equal(fors_child_start("kill -USR1 $$; exit 3", environment, &child), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	wait_for(fors_child_ended, &child);
	assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGUSR1);

	signal(SIGUSR2, SIG_IGN);
	assert_int_equal(fors_child_start("kill -USR2 $$; exit 3", environment, &child), 0);
	signal(SIGUSR2, SIG_DFL);
	wait_for(fors_child_ended, &child);
	assert_true(WIFSIGNALED(child.status) && WTERMSIG(child.status) == SIGUSR2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zombies_are_gone),
		cmocka_unit_test(no_signal_is_blocked_or_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
