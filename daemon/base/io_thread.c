/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: in and out are one flag under a mutex, so a thread is left alone only while it is out, and what it does
 * after that is known: it takes this mutex, and sees that it was left.
 */
#include "io_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "thread.h"

#define LOOK_MS 50

struct fors_io_thread {
	pthread_t thread;
	pthread_mutex_t mutex; /* guards all that follows; held for moments */
	pthread_cond_t end;
	void (*run)(void *context);
	void *context;
	uint64_t since; /* when it went out; 0: it is in */
	char what[320];
	bool has_ended, is_left;
};

static __thread struct fors_io_thread *mine;

static void *run(void *context)
{
	struct fors_io_thread *io = mine = context;

	io->run(io->context);
	pthread_mutex_lock(&io->mutex);
	io->has_ended = true;
	pthread_cond_signal(&io->end);
	pthread_mutex_unlock(&io->mutex);
	return NULL;
}

static void free_io(struct fors_io_thread *io)
{
	pthread_cond_destroy(&io->end);
	pthread_mutex_destroy(&io->mutex);
	free(io);
}

int fors_io_thread_start(struct fors_io_thread **io, void (*work)(void *context), void *context)
{
	struct fors_io_thread *made = calloc(1, sizeof(*made));
	int failed;

	if (!made)
		return ENOMEM;
	made->run = work;
	made->context = context;
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->end);
	failed = fors_thread_start(&made->thread, run, made);
	if (failed)
		free_io(made);
	else
		*io = made;
	return failed;
}

/* Is it out for too long, of the time that somebody waits for its end? With the mutex held. */
static bool hangs(const struct fors_io_thread *io, uint64_t waits_since, unsigned patience_ms)
{
	uint64_t since = io->since > waits_since ? io->since : waits_since;

	return io->since && fors_clock_ms() >= since + patience_ms;
}

bool fors_io_thread_end(struct fors_io_thread *io, unsigned patience_ms)
{
	uint64_t begin = fors_clock_ms();
	pthread_t thread = io->thread;
	bool has_ended;

	pthread_mutex_lock(&io->mutex);
	while (!io->has_ended && !hangs(io, begin, patience_ms))
		fors_clock_wait(&io->end, &io->mutex, fors_clock_ms() + LOOK_MS);
	has_ended = io->has_ended;
	io->is_left = !has_ended;
	if (!has_ended)
		pthread_detach(thread);
	pthread_mutex_unlock(&io->mutex);
	if (has_ended) {
		pthread_join(thread, NULL);
		free_io(io);
	}
	return has_ended;
}

void fors_io_begin(const char *what)
{
	if (!mine)
		return;
	pthread_mutex_lock(&mine->mutex);
	mine->since = fors_clock_ms();
	snprintf(mine->what, sizeof(mine->what), "%s", what);
	pthread_mutex_unlock(&mine->mutex);
}

void fors_io_end(void)
{
	bool is_left;

	if (!mine)
		return;
	pthread_mutex_lock(&mine->mutex);
	mine->since = 0;
	is_left = mine->is_left;
	pthread_mutex_unlock(&mine->mutex);
	while (is_left)
		pause();
}

uint64_t fors_io_thread_since(struct fors_io_thread *io, char *what, size_t size)
{
	uint64_t since;

	pthread_mutex_lock(&io->mutex);
	since = io->since;
	snprintf(what, size, "%s", io->what);
	pthread_mutex_unlock(&io->mutex);
	return since;
}
