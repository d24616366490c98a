/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See aside.h; leash.c for how a thread is left alone. */
#include "background.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "io_thread.h"
#include "thread.h"

#define LOOK_MS 20
#define LAST_MS 1000

struct fors_background {
	struct fors_background_setup setup;
	struct fors_io_thread *leash;
	pthread_mutex_t mutex; /* guards all that follows; never held while a task is done */
	pthread_cond_t wake, done;
	void *task; /* to be done, or being done; NULL: none */
	bool is_done, wants_news, is_late, stop;
};

/* The task is done. The mutex is held, so that news() is never called after fors_background_stop(). */
static void finish(struct fors_background *aside)
{
	aside->task = NULL;
	aside->is_done = true;
	pthread_cond_signal(&aside->done);
	if (aside->is_late && aside->wants_news && aside->setup.news && !aside->stop)
		aside->setup.news(aside->setup.context);
}

static void run(void *context)
{
	struct fors_background *aside = context;

	pthread_mutex_lock(&aside->mutex);
	while (!aside->stop) {
		if (!aside->task) {
			fors_clock_wait(&aside->wake, &aside->mutex, fors_clock_ms() + 1000);
			continue;
		}
		pthread_mutex_unlock(&aside->mutex);
		aside->setup.run(aside->task);
		pthread_mutex_lock(&aside->mutex);
		finish(aside);
	}
	pthread_mutex_unlock(&aside->mutex);
}

static void free_aside(struct fors_background *aside)
{
	pthread_cond_destroy(&aside->wake);
	pthread_cond_destroy(&aside->done);
	pthread_mutex_destroy(&aside->mutex);
	free(aside);
}

enum fors_err fors_background_start(const struct fors_background_setup *setup, struct fors_background **aside,
				    struct fors_error *error)
{
	struct fors_background *made = calloc(1, sizeof(*made));
	int failed;

	if (!made)
		return fors_fail_memory(error);
	made->setup = *setup;
	if (!made->setup.patience_ms)
		made->setup.patience_ms = FORS_BACKGROUND_PATIENCE_MS;
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->wake);
	fors_clock_cond(&made->done);
	failed = fors_io_thread_start(&made->leash, run, made);
	if (failed) {
		free_aside(made);
		return fors_fail(error, FORS_ENOMEM, "no thread to read files: %s", strerror(failed));
	}
	*aside = made;
	return FORS_OK;
}

/* Has the thread been out for too long? */
static bool hangs(struct fors_background *aside)
{
	char what[4];
	uint64_t since = fors_io_thread_since(aside->leash, what, sizeof(what));

	return since && fors_clock_ms() >= since + aside->setup.patience_ms;
}

bool fors_background_ask(struct fors_background *aside, void *task, bool wants_news)
{
	bool is_done;

	pthread_mutex_lock(&aside->mutex);
	aside->task = task;
	aside->wants_news = wants_news;
	aside->is_done = aside->is_late = false;
	pthread_cond_signal(&aside->wake);
	while (!aside->is_done && !hangs(aside))
		fors_clock_wait(&aside->done, &aside->mutex, fors_clock_ms() + LOOK_MS);
	is_done = aside->is_done;
	aside->is_done = false;
	aside->is_late = !is_done;
	pthread_mutex_unlock(&aside->mutex);
	return is_done;
}

bool fors_background_take(struct fors_background *aside)
{
	bool is_done;

	pthread_mutex_lock(&aside->mutex);
	is_done = aside->is_done;
	aside->is_done = false;
	pthread_mutex_unlock(&aside->mutex);
	return is_done;
}

bool fors_background_trouble(struct fors_background *aside, char *text, size_t size)
{
	char what[320], name[40];
	uint64_t since = fors_io_thread_since(aside->leash, what, sizeof(what)), now = fors_clock_ms();
	time_t at = (time_t)((fors_clock_unix_ms() - (now > since ? now - since : 0)) / 1000);
	struct tm parts;

	if (!since || !gmtime_r(&at, &parts) || !strftime(name, sizeof(name), "%Y-%m-%d %H:%M:%S UTC", &parts))
		return false;
	snprintf(text, size, "%s: has not answered since %s", what, name);
	return true;
}

bool fors_background_stop(struct fors_background *aside)
{
	if (!aside)
		return true;
	pthread_mutex_lock(&aside->mutex);
	aside->stop = true;
	pthread_cond_signal(&aside->wake);
	pthread_mutex_unlock(&aside->mutex);
	if (!fors_io_thread_end(aside->leash, LAST_MS))
		return false;
	free_aside(aside);
	return true;
}
