/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: opensm keeps a program running, and tells it that there is something new. Nothing is asked, so nothing is waited for: an
 * order that does not fit into the socket now goes with the next tick, and the program, whenever it comes back, finds in
 * the state folder what is newest then. When the socket is closed it ends; also where opensm was killed.
 *
 * A program is started by the worker's thread, out of the mutex: where the folder of the program hangs only that thread does.
 */
#include "config.h"

#include "copier.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "daemon/base/clock.h"
#include "daemon/base/digest.h"
#include "daemon/base/io_thread.h"
#include "daemon/base/log.h"

#define AGAIN_MS 5000	/* from one start to the next */
#define SILENT_MS 15000 /* for its answer; of a folder that hangs it tells sooner */
#define END_MS 6500	/* for a program that was told to end */
#define GONE_MS 300	/* for the kernel to end it, where nothing hangs */
#define LOOK_MS 10
#define MOST_NEWS 64

/* What is asked for. */
struct settings {
	char *dir, *command; /* owned, or NULL */
	unsigned seconds;
	bool is_shared;
};

struct news {
	char job[64];
	uint64_t epoch;
};

struct fors_copier {
	struct fors_log *log;
	char *state;	       /* path of the state folder, owned */
	pthread_mutex_t mutex; /* guards what follows; held for moments */
	struct settings settings;
	bool is_changed; /* the program serves others */
	struct fors_copier_report report;
	uint64_t failures;		   /* of programs before this one, and of starting them */
	char trouble[FORS_COPIER_TROUBLE]; /* there is no program, and why */
	/* the worker's */
	int fd;			 /* the socket; -1: nobody is at its other end */
	struct fors_child child; /* pid 0: there is none */
	bool is_told, is_killed; /* it was told to end, and did not */
	uint64_t begun_ms;	 /* when it was started last, by any luck; 0: never */
	uint64_t end_ms;	 /* since when it is to be gone; 0: it is not */
	uint64_t asked_ms;	 /* since when an order waits for its answer; 0: none does */
	struct fors_copier_order order;
	bool has_order, is_unsent;
	struct news news[MOST_NEWS];
	unsigned nnews;
};

static void clear_settings(struct settings *settings)
{
	free(settings->dir);
	free(settings->command);
}

/* False: out of memory. */
static bool copy_settings(struct settings *to, const char *dir, const char *command, unsigned seconds, bool is_shared)
{
	*to = (struct settings){dir ? strdup(dir) : NULL, command ? strdup(command) : NULL, seconds, is_shared};
	if ((!dir || to->dir) && (!command || to->command))
		return true;
	clear_settings(to);
	return false;
}

enum fors_err fors_copier_start(struct fors_log *log, const struct fors_folder *state, struct fors_copier **copier,
				struct fors_error *error)
{
	struct fors_copier *made = calloc(1, sizeof(*made));

	if (!made || asprintf(&made->state, "%s/%s", state->parent, state->name) < 0) {
		free(made);
		return fors_fail_memory(error);
	}
	made->log = log;
	made->fd = -1;
	pthread_mutex_init(&made->mutex, NULL);
	*copier = made;
	return FORS_OK;
}

enum fors_err fors_copier_set(struct fors_copier *copier, const struct fors_copier_request *request,
			      struct fors_error *error)
{
	struct settings *now = &copier->settings, wanted;

	if (!copy_settings(&wanted, request->dir, request->command, request->seconds, request->is_shared))
		return fors_fail_memory(error);
	pthread_mutex_lock(&copier->mutex);
	copier->is_changed |= fors_text_changed(now->dir, wanted.dir) ||
			      fors_text_changed(now->command, wanted.command) || now->seconds != wanted.seconds ||
			      now->is_shared != wanted.is_shared;
	clear_settings(now);
	*now = wanted;
	pthread_mutex_unlock(&copier->mutex);
	return FORS_OK;
}

/* --- what is heard -------------------------------------------------------- */

/* There is no program (why), or there is one again: said once each. */
static void complain(struct fors_copier *copier, const char *why)
{
	bool is_new = !*copier->trouble != !why;

	if (is_new && why)
		fors_log_error(copier->log, FORS_F_COPY, "%s (the state folder is not affected)", why);
	if (is_new && !why)
		fors_log_info(copier->log, "publish_dir can be written again");
	pthread_mutex_lock(&copier->mutex);
	if (is_new)
		snprintf(copier->trouble, sizeof(copier->trouble), "%s", why ? why : "");
	pthread_mutex_unlock(&copier->mutex);
}

static void note_news(struct fors_copier *copier, const struct fors_copier_message *message)
{
	unsigned at = 0;

	while (at < copier->nnews && strcmp(copier->news[at].job, message->job) != 0)
		at++;
	if (at == MOST_NEWS)
		return; /* it will be said again */
	copier->nnews += at == copier->nnews;
	memcpy(copier->news[at].job, message->job, sizeof(copier->news[at].job));
	copier->news[at].epoch = message->later;
}

static void take(struct fors_copier *copier, struct fors_copier_message *message)
{
	message->line[sizeof(message->line) - 1] = message->job[sizeof(message->job) - 1] = '\0';
	message->report.trouble[sizeof(message->report.trouble) - 1] = '\0';
	pthread_mutex_lock(&copier->mutex);
	copier->report = message->report;
	pthread_mutex_unlock(&copier->mutex);
	copier->asked_ms = 0;
	if (*message->line && message->code)
		fors_log_error(copier->log, (enum fors_code)message->code, "%s", message->line);
	else if (*message->line)
		fors_log_info(copier->log, "%s", message->line);
	if (*message->job)
		note_news(copier, message);
	if (!*message->report.trouble && !copier->end_ms)
		complain(copier, NULL);
}

/* Hear all that it has said. False: it says nothing any more. */
static bool hear(struct fors_copier *copier)
{
	struct fors_copier_message message;
	ssize_t n;

	if (copier->fd < 0)
		return false;
	while ((n = recv(copier->fd, &message, sizeof(message), 0)) == (ssize_t)sizeof(message))
		take(copier, &message);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	close(copier->fd);
	copier->fd = -1;
	return false;
}

/* --- its life ------------------------------------------------------------- */

static void send_order(struct fors_copier *copier)
{
	struct fors_copier_order order = copier->order;

	order.ran = copier->report.ran;
	order.copied = copier->report.copied;
	if (copier->is_unsent && copier->fd >= 0 && !copier->is_told)
		copier->is_unsent = send(copier->fd, &order, sizeof(order), MSG_NOSIGNAL) != (ssize_t)sizeof(order);
}

/* It is told to end, or says nothing any more. */
static void await_end(struct fors_copier *copier, bool is_told)
{
	copier->is_told |= is_told;
	if (!copier->end_ms)
		copier->end_ms = fors_clock_ms();
	if (is_told && copier->fd >= 0)
		shutdown(copier->fd, SHUT_WR);
}

static void count_failure(struct fors_copier *copier, const char *why)
{
	pthread_mutex_lock(&copier->mutex);
	copier->failures++;
	pthread_mutex_unlock(&copier->mutex);
	complain(copier, why);
}

/* It is gone, which nobody asked for. */
static void complain_of_end(struct fors_copier *copier)
{
	const int status = copier->child.status;
	char why[FORS_COPIER_TROUBLE];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		snprintf(
			why, sizeof(why),
			"publish_dir: the helper program is of another version than who calls it; restart opensm, or fors watch");
	else
		snprintf(why, sizeof(why), "publish_dir: the helper program, process %d, has ended",
			 (int)copier->child.pid);
	count_failure(copier, why);
}

/* Is there no program? One that does not end as it was told to is killed. */
static bool is_gone(struct fors_copier *copier)
{
	struct fors_child *child = &copier->child;
	char why[FORS_COPIER_TROUBLE];

	if (!child->pid)
		return true;
	if (!hear(copier))
		await_end(copier, false);
	if (fors_child_ended(child)) {
		hear(copier);
		if (!copier->is_told)
			complain_of_end(copier);
		child->pid = 0;
		return true;
	}
	if (!copier->end_ms || fors_clock_ms() < copier->end_ms + END_MS)
		return false;
	if (!copier->is_killed)
		fors_child_signal(child, SIGKILL);
	copier->is_killed = true;
	snprintf(why, sizeof(why), "publish_dir: waits, since the helper program, process %d, hangs", (int)child->pid);
	complain(copier, why);
	return false;
}

/* 0, or an errno; *path is what was started. A socket has a number of its own at each end, so /proc finds nobody by it. */
static int spawn(struct fors_copier *copier, struct settings *settings, char path[PATH_MAX])
{
	static char variable[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", none[] = "", no[] = "0", yes[] = "1";
	char version[24], seconds[16];
	char *const environment[] = {variable, NULL};
	char *const argv[] = {path,
			      copier->state,
			      settings->dir ? settings->dir : none,
			      version,
			      settings->command ? settings->command : none,
			      seconds,
			      settings->is_shared ? yes : no,
			      NULL};
	int ends[2], failed;

	snprintf(version, sizeof(version), "%zu", FORS_COPIER_VERSION);
	snprintf(seconds, sizeof(seconds), "%u", settings->seconds);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return errno;
	fors_io_begin("the program fors-outbox");
	fors_copier_program(path);
	failed = fors_child_run(argv, environment, ends[1], &copier->child);
	fors_io_end();
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	if (failed)
		close(ends[0]);
	else
		copier->fd = ends[0];
	return failed;
}

static void start_program(struct fors_copier *copier, struct settings *settings)
{
	char path[PATH_MAX], why[FORS_COPIER_TROUBLE];
	int failed = spawn(copier, settings, path);

	copier->begun_ms = fors_clock_ms();
	copier->end_ms = 0;
	copier->is_told = copier->is_killed = false;
	copier->is_unsent = true;
	copier->asked_ms = copier->begun_ms;
	if (!failed)
		return;
	snprintf(why, sizeof(why), "%s%.90s: %s: the helper program %.90s cannot be started: %s%s",
		 settings->dir ? "publish_dir " : "publish_command", settings->dir ? settings->dir : "",
		 settings->dir ? "nothing is copied there" : "is not run", path, strerror(failed),
		 failed == ENOENT || failed == EACCES ? "; is fors installed completely?" : "");
	count_failure(copier, why);
}

/* For what fors.conf asks for now. */
static void start_wanted(struct fors_copier *copier)
{
	const struct settings *now = &copier->settings;
	struct settings wanted;
	bool is_copied;

	pthread_mutex_lock(&copier->mutex);
	is_copied = copy_settings(&wanted, now->dir, now->command, now->seconds, now->is_shared);
	if (is_copied) {
		copier->is_changed = copier->report.is_held_elsewhere = false;
		copier->failures += copier->report.failures;
		copier->report.failures = 0;
		copier->report.trouble[0] = '\0';
		if (!wanted.dir && !wanted.command)
			copier->trouble[0] = '\0';
	}
	pthread_mutex_unlock(&copier->mutex);
	if (is_copied && (wanted.dir || wanted.command))
		start_program(copier, &wanted);
	if (is_copied)
		clear_settings(&wanted);
}

/* A program that is stopped, or waits for its own file, says nothing of that. Each order is answered where there is a folder. */
static void watch_answers(struct fors_copier *copier)
{
	char why[FORS_COPIER_TROUBLE];

	if (copier->fd < 0 || copier->end_ms || !copier->asked_ms || fors_clock_ms() < copier->asked_ms + SILENT_MS ||
	    *copier->report.trouble)
		return;
	snprintf(why, sizeof(why), "publish_dir: the helper program, process %d, has not answered for %d s",
		 (int)copier->child.pid, SILENT_MS / 1000);
	complain(copier, why);
}

void fors_copier_tend(struct fors_copier *copier)
{
	bool is_changed, has_dir;

	pthread_mutex_lock(&copier->mutex);
	is_changed = copier->is_changed;
	has_dir = copier->settings.dir;
	pthread_mutex_unlock(&copier->mutex);
	if (is_changed && copier->child.pid && !copier->is_told)
		await_end(copier, true);
	if (is_gone(copier) && copier->has_order &&
	    (is_changed || !copier->begun_ms || fors_clock_ms() >= copier->begun_ms + AGAIN_MS))
		start_wanted(copier);
	if (has_dir)
		watch_answers(copier);
	send_order(copier);
}

void fors_copier_tell(struct fors_copier *copier, const struct fors_copier_order *order)
{
	copier->order = *order;
	if (!copier->asked_ms)
		copier->asked_ms = fors_clock_ms();
	copier->has_order = copier->is_unsent = true;
	fors_copier_tend(copier);
}

void fors_copier_read(struct fors_copier *copier, struct fors_copier_report *report)
{
	pthread_mutex_lock(&copier->mutex);
	*report = copier->report;
	report->failures += copier->failures;
	report->has_dir = copier->settings.dir;
	report->has_command = copier->settings.command;
	if (*copier->trouble)
		memcpy(report->trouble, copier->trouble, sizeof(report->trouble));
	pthread_mutex_unlock(&copier->mutex);
}

bool fors_copier_news(struct fors_copier *copier, enum fors_jobkind kind, char name[64], uint64_t *epoch)
{
	for (unsigned i = 0; i < copier->nnews; i++) {
		if (fors_jobkind(copier->news[i].job) != kind)
			continue;
		memcpy(name, copier->news[i].job, 64);
		*epoch = copier->news[i].epoch;
		copier->news[i] = copier->news[--copier->nnews];
		return true;
	}
	return false;
}

/* Has it ended within so long? What it says at the end is heard. */
static bool wait_for_end(struct fors_copier *copier, unsigned ms)
{
	const uint64_t until = fors_clock_ms() + ms;
	struct pollfd news = {.events = POLLIN};

	while (hear(copier) && fors_clock_ms() < until) {
		news.fd = copier->fd;
		fors_clock_poll(&news, 1, until);
	}
	for (unsigned looks = GONE_MS / LOOK_MS; !fors_child_ended(&copier->child); looks--) {
		if (!looks)
			return false;
		fors_clock_pause(LOOK_MS);
	}
	return true;
}

void fors_copier_stop(struct fors_copier *copier)
{
	if (!copier)
		return;
	if (copier->child.pid) {
		const bool was_left = copier->is_killed;

		send_order(copier);
		await_end(copier, true);
		if (!wait_for_end(copier, was_left ? 0 : END_MS))
			fors_child_signal(&copier->child, SIGKILL);
		if (!wait_for_end(copier, 0))
			fors_log_error(copier->log, FORS_F_COPY,
				       "publish_dir %s: process %d hangs there, and is left behind at the end",
				       copier->settings.dir ? copier->settings.dir : "", (int)copier->child.pid);
	}
	if (copier->fd >= 0)
		close(copier->fd);
	pthread_mutex_destroy(&copier->mutex);
	clear_settings(&copier->settings);
	free(copier->state);
	free(copier);
}
