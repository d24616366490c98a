/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: one thread that does nothing but start a child and watch it. Signals belong to OpenSM, so no SIGCHLD is waited
 * for: a pidfd tells when the shell has ended (Linux 5.3; before, it is looked at every few milliseconds), an eventfd when
 * opensm ends. What the shell has started is nobody's child here: a group that is told to end is looked at now and then.
 *
 * Nothing ends a process that hangs in the kernel. Such a child is left behind: the log has its number, the next
 * epoch gets a command of its own, and from time to time somebody looks whether it has ended after all. They hold
 * memory and a process each, so HANGING_MAX of them are too many: then the newest errand waits.
 * Even starting a child can hang, where /bin/sh does. Then the thread is left to itself when opensm ends: it owns the
 * runner then, and says nothing any more, as in outbox.c.
 */
#include "runner.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/thread.h"

#define LOOK_MS 20
#define LOOK_GROUP_MS 100    /* at a group that has been told to end */
#define LOOK_HANGING_MS 5000 /* at those that were left behind */
#define GRACE_MS 2000 /* from SIGTERM to SIGKILL, from that to being left, and for the last one when opensm ends */
#define LAST_MS (3 * GRACE_MS + 500)
#define LATE_MS 1750 /* of the time for the last one, that may have gone by before: the rest is enough to begin */
#define HANGING_MAX 3
#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* An errand of our own. */
struct copy {
	char *command;
	char *variable[FORS_RUNNER_VARIABLES + 2]; /* PATH first, NULL last */
	unsigned seconds;
	uint64_t epoch;
};

struct fors_runner {
	struct fors_log *log; /* not the thread's any more when is_orphan */
	pthread_t thread;
	pthread_mutex_t mutex; /* guards what follows, up to is_orphan */
	pthread_cond_t wake, done;
	struct copy *waiting; /* owned, or NULL */
	uint64_t begun_epoch; /* of the command that was begun last; 0: none was */
	double begun_ms;      /* and when */
	uint64_t stop_ms;     /* when all must have been told to end; 0: go on */
	bool has_ended, is_orphan;
	int bell; /* an eventfd, rung when stop_ms is set; -1: there is none, so look now and then */
	/* the thread's own */
	bool has_complained;
	struct fors_child hanging[HANGING_MAX]; /* killed, and not gone */
	size_t n_hanging;
};

static void free_copy(struct copy *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; copy->variable[i]; i++)
		free(copy->variable[i]);
	free(copy->command);
	free(copy);
}

static struct copy *copy_errand(const struct fors_errand *errand)
{
	struct copy *copy = calloc(1, sizeof(*copy));
	bool is_good;

	if (!copy)
		return NULL;
	copy->seconds = errand->seconds;
	copy->epoch = errand->epoch;
	copy->command = strdup(errand->command);
	copy->variable[0] = strdup(PATH);
	is_good = copy->command && copy->variable[0];
	for (size_t i = 0; is_good && i < FORS_RUNNER_VARIABLES && errand->variable[i]; i++) {
		copy->variable[i + 1] = strdup(errand->variable[i]);
		is_good = copy->variable[i + 1];
	}
	if (is_good)
		return copy;
	free_copy(copy);
	return NULL;
}

/* --- what it says ---------------------------------------------------------- */

/* A line for OpenSM's log, which is there as long as somebody owns the runner. */
static void say(struct fors_runner *runner, bool is_error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct fors_runner *runner, bool is_error, const char *format, ...)
{
	char text[800];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&runner->mutex);
	if (!runner->is_orphan && is_error)
		fors_log_error(runner->log, FORS_F_COMMAND, "%s", text);
	else if (!runner->is_orphan)
		fors_log_info(runner->log, "%s", text);
	pthread_mutex_unlock(&runner->mutex);
	runner->has_complained |= is_error;
}

/* Each failure, and once when it works again. */
static void say_end(struct fors_runner *runner, int status)
{
	if (WIFSIGNALED(status))
		say(runner, true, "publish_command was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		say(runner, true, "publish_command ended with exit status %d", WEXITSTATUS(status));
	else if (runner->has_complained) {
		say(runner, false, "publish_command works again");
		runner->has_complained = false;
	}
}

/* --- watching it ---------------------------------------------------------- */

static uint64_t stop_of(struct fors_runner *runner)
{
	uint64_t stop;

	pthread_mutex_lock(&runner->mutex);
	stop = runner->stop_ms;
	pthread_mutex_unlock(&runner->mutex);
	return stop;
}

/* Wait for the child until a time, or until all must end. True: it has ended. */
static bool watch(struct fors_runner *runner, struct fors_child *child, uint64_t until_ms)
{
	while (!fors_child_ended(child)) {
		uint64_t stop = stop_of(runner), now = fors_clock_ms(), look = now + LOOK_MS;
		struct pollfd news[] = {{.fd = child->fd, .events = POLLIN},
					{.fd = stop ? -1 : runner->bell, .events = POLLIN}};

		until_ms = stop && stop < until_ms ? stop : until_ms;
		if (now >= until_ms)
			return false;
		fors_clock_poll(news, 2,
				child->fd >= 0 && runner->bell >= 0 ? until_ms
				: look < until_ms		    ? look
								    : until_ms);
	}
	return true;
}

/* End the group, politely at first. False: it does not end. */
static bool end_group(struct fors_child *child)
{
	static const int signals[] = {SIGTERM, SIGKILL};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		uint64_t until = fors_clock_ms() + GRACE_MS;

		fors_child_signal(child, signals[i]);
		while (!fors_child_gone(child) && fors_clock_ms() < until)
			fors_clock_pause(LOOK_GROUP_MS);
		if (fors_child_gone(child))
			return true;
	}
	return false;
}

/* There is room: none is started while HANGING_MAX hang. */
static void leave_behind(struct fors_runner *runner, const struct copy *copy, const struct fors_child *child)
{
	runner->hanging[runner->n_hanging] = *child;
	runner->hanging[runner->n_hanging++].fd = -1;
	say(runner, true, "publish_command does not end though killed; it is left behind as process group %d%s: %.400s",
	    (int)child->pid,
	    runner->n_hanging < HANGING_MAX ? "" : ", and none is started until one of those that hang has ended",
	    copy->command);
}

/* Those that were left behind and have ended after all make room. */
static void drop_gone(struct fors_runner *runner)
{
	size_t n_left = 0;

	for (size_t i = 0; i < runner->n_hanging; i++) {
		struct fors_child child = runner->hanging[i];

		if (fors_child_gone(&child))
			say(runner, false, "publish_command's process group %d has ended after all", (int)child.pid);
		else
			runner->hanging[n_left++] = child;
	}
	runner->n_hanging = n_left;
}

static void note_begin(struct fors_runner *runner, uint64_t epoch, double at)
{
	pthread_mutex_lock(&runner->mutex);
	runner->begun_epoch = epoch;
	runner->begun_ms = at;
	pthread_mutex_unlock(&runner->mutex);
}

static void run_errand(struct fors_runner *runner, const struct copy *copy)
{
	uint64_t until = fors_clock_ms() + copy->seconds * 1000ull; /* its time begins before it does */
	struct fors_child child;
	int failed = fors_child_start(copy->command, copy->variable, &child);

	if (!failed)
		note_begin(runner, copy->epoch, fors_clock_exact_ms());
	if (failed)
		say(runner, true, "publish_command cannot be started: %s", strerror(failed));
	else if (watch(runner, &child, until))
		say_end(runner, child.status);
	else if (!end_group(&child))
		leave_behind(runner, copy, &child);
	else if (stop_of(runner))
		say(runner, true, "publish_command was killed, since opensm ends");
	else
		say(runner, true, "publish_command did not end within %u s and was killed", copy->seconds);
	if (!failed)
		fors_child_close(&child);
}

/* --- the thread ------------------------------------------------------------ */

static bool may_start(const struct fors_runner *runner)
{
	return runner->waiting && runner->n_hanging < HANGING_MAX;
}

/* Wait for an errand, or for the time to look at those that hang. False: opensm ends. */
static bool wait_for_work(struct fors_runner *runner)
{
	uint64_t look_ms = fors_clock_ms() + LOOK_HANGING_MS;
	bool is_over;

	pthread_mutex_lock(&runner->mutex);
	while (!may_start(runner) && !runner->stop_ms && (!runner->n_hanging || fors_clock_ms() < look_ms))
		if (runner->n_hanging)
			fors_clock_wait(&runner->wake, &runner->mutex, look_ms);
		else
			pthread_cond_wait(&runner->wake, &runner->mutex);
	is_over = runner->stop_ms && (!may_start(runner) || fors_clock_ms() >= runner->stop_ms);
	pthread_mutex_unlock(&runner->mutex);
	return !is_over;
}

/* The next errand, owned by the caller; NULL: none that may be started. */
static struct copy *take_errand(struct fors_runner *runner)
{
	struct copy *copy = NULL;

	pthread_mutex_lock(&runner->mutex);
	if (may_start(runner)) {
		copy = runner->waiting;
		runner->waiting = NULL;
	}
	pthread_mutex_unlock(&runner->mutex);
	return copy;
}

static void free_runner(struct fors_runner *runner)
{
	free_copy(runner->waiting);
	pthread_cond_destroy(&runner->wake);
	pthread_cond_destroy(&runner->done);
	pthread_mutex_destroy(&runner->mutex);
	if (runner->bell >= 0)
		close(runner->bell);
	free(runner);
}

/* Hand the runner to who waits in fors_runner_stop(), or free it when nobody does any more. */
static void finish(struct fors_runner *runner)
{
	bool is_orphan;

	if (runner->waiting)
		say(runner, true, "publish_command is not run for the last publication, since opensm ends");
	pthread_mutex_lock(&runner->mutex);
	runner->has_ended = true;
	is_orphan = runner->is_orphan;
	pthread_cond_signal(&runner->done);
	pthread_mutex_unlock(&runner->mutex);
	if (is_orphan)
		free_runner(runner);
}

static void *run(void *context)
{
	struct fors_runner *runner = context;

	while (wait_for_work(runner)) {
		struct copy *copy;

		drop_gone(runner);
		copy = take_errand(runner);
		if (copy)
			run_errand(runner, copy);
		free_copy(copy);
	}
	finish(runner);
	return NULL;
}

enum fors_err fors_runner_start(struct fors_log *log, struct fors_runner **runner, struct fors_error *error)
{
	struct fors_runner *made = calloc(1, sizeof(*made));
	int failed;

	if (!made)
		return fors_fail_memory(error);
	made->log = log;
	made->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->wake);
	fors_clock_cond(&made->done);
	failed = fors_thread_start(&made->thread, run, made);
	if (failed) {
		free_runner(made);
		return fors_fail(error, FORS_ENOMEM, "no thread for publish_command: %s", strerror(failed));
	}
	*runner = made;
	return FORS_OK;
}

enum fors_err fors_runner_run(struct fors_runner *runner, const struct fors_errand *errand, struct fors_error *error)
{
	struct copy *copy = copy_errand(errand), *old;

	if (!copy)
		return fors_fail_memory(error);
	pthread_mutex_lock(&runner->mutex);
	old = runner->waiting;
	runner->waiting = copy;
	pthread_cond_signal(&runner->wake);
	pthread_mutex_unlock(&runner->mutex);
	free_copy(old);
	return FORS_OK;
}

double fors_runner_began(struct fors_runner *runner, uint64_t epoch)
{
	double at;

	pthread_mutex_lock(&runner->mutex);
	at = runner->begun_epoch >= epoch ? runner->begun_ms : 0;
	pthread_mutex_unlock(&runner->mutex);
	return at;
}

void fors_runner_stop(struct fors_runner *runner, unsigned already_ms)
{
	uint64_t now = fors_clock_ms(), until = now + LAST_MS - (already_ms < LAST_MS / 2 ? already_ms : LAST_MS / 2);
	const unsigned late = already_ms < LATE_MS ? already_ms : LATE_MS;
	pthread_t thread;
	bool has_ended;

	if (!runner)
		return;
	pthread_mutex_lock(&runner->mutex);
	runner->stop_ms = now + GRACE_MS - late;
	if (runner->bell >= 0)
		eventfd_write(runner->bell, 1);
	pthread_cond_signal(&runner->wake);
	while (!runner->has_ended && fors_clock_ms() < until)
		fors_clock_wait(&runner->done, &runner->mutex, until);
	has_ended = runner->has_ended;
	runner->is_orphan = !has_ended;
	thread = runner->thread;
	pthread_mutex_unlock(&runner->mutex);
	if (!has_ended) {
		pthread_detach(thread); /* it may be gone already, with the runner */
		return;
	}
	pthread_join(thread, NULL);
	free_runner(runner);
}
