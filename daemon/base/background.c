/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See background.h; io_thread.c for how a thread is left alone. */
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
	struct fors_io_thread *io;
	pthread_mutex_t mutex; /* guards all that follows; never held while a task is done */
	pthread_cond_t wake, done;
	void *task; /* to be done, or being done; NULL: none */
	bool is_done, wants_news, is_late, stop;
	uint64_t stop_ms; /* when it was told to */
};

/* The task is done. The mutex is held, so that news() is never called after fors_background_stop(). */
static void finish(struct fors_background *background)
{
	background->task = NULL;
	background->is_done = true;
	pthread_cond_signal(&background->done);
	if (background->is_late && background->wants_news && background->setup.news && !background->stop)
		background->setup.news(background->setup.context);
}

static void run(void *context)
{
	struct fors_background *background = context;

	pthread_mutex_lock(&background->mutex);
	while (!background->stop) {
		if (!background->task) {
			fors_clock_wait(&background->wake, &background->mutex, fors_clock_ms() + 1000);
			continue;
		}
		pthread_mutex_unlock(&background->mutex);
		background->setup.run(background->task);
		pthread_mutex_lock(&background->mutex);
		finish(background);
	}
	pthread_mutex_unlock(&background->mutex);
}

static void free_background(struct fors_background *background)
{
	pthread_cond_destroy(&background->wake);
	pthread_cond_destroy(&background->done);
	pthread_mutex_destroy(&background->mutex);
	free(background);
}

enum fors_err fors_background_start(const struct fors_background_setup *setup, struct fors_background **background,
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
	failed = fors_io_thread_start(&made->io, run, made);
	if (failed) {
		free_background(made);
		return fors_fail(error, FORS_ENOMEM, "no thread to read files: %s", strerror(failed));
	}
	*background = made;
	return FORS_OK;
}

/* Has the thread been out for too long? */
static bool hangs(struct fors_background *background)
{
	char what[4];
	uint64_t since = fors_io_thread_since(background->io, what, sizeof(what));

	return since && fors_clock_ms() >= since + background->setup.patience_ms;
}

bool fors_background_ask(struct fors_background *background, void *task, bool wants_news)
{
	bool is_done;

	pthread_mutex_lock(&background->mutex);
	background->task = task;
	background->wants_news = wants_news;
	background->is_done = background->is_late = false;
	pthread_cond_signal(&background->wake);
	while (!background->is_done && !hangs(background))
		fors_clock_wait(&background->done, &background->mutex, fors_clock_ms() + LOOK_MS);
	is_done = background->is_done;
	background->is_done = false;
	background->is_late = !is_done;
	pthread_mutex_unlock(&background->mutex);
	return is_done;
}

bool fors_background_take(struct fors_background *background)
{
	bool is_done;

	pthread_mutex_lock(&background->mutex);
	is_done = background->is_done;
	background->is_done = false;
	pthread_mutex_unlock(&background->mutex);
	return is_done;
}

bool fors_background_trouble(struct fors_background *background, char *text, size_t size)
{
	char what[320], name[40];
	uint64_t since = fors_io_thread_since(background->io, what, sizeof(what)), now = fors_clock_ms();
	time_t at = (time_t)((fors_clock_unix_ms() - (now > since ? now - since : 0)) / 1000);
	struct tm parts;

	if (!since || !gmtime_r(&at, &parts) || !strftime(name, sizeof(name), "%Y-%m-%d %H:%M:%S UTC", &parts))
		return false;
	snprintf(text, size, "%s: has not answered since %s", what, name);
	return true;
}

void fors_background_dismiss(struct fors_background *background)
{
	if (!background)
		return;
	pthread_mutex_lock(&background->mutex);
	if (!background->stop)
		background->stop_ms = fors_clock_ms();
	background->stop = true;
	pthread_cond_signal(&background->wake);
	pthread_mutex_unlock(&background->mutex);
}

bool fors_background_stop(struct fors_background *background)
{
	uint64_t gone;

	if (!background)
		return true;
	fors_background_dismiss(background);
	gone = fors_clock_ms() - background->stop_ms;
	if (!fors_io_thread_end(background->io, gone < LAST_MS ? (unsigned)(LAST_MS - gone) : 0))
		return false;
	free_background(background);
	return true;
}
