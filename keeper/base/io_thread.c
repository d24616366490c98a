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
	struct fors_io_thread *leash = mine = context;

	leash->run(leash->context);
	pthread_mutex_lock(&leash->mutex);
	leash->has_ended = true;
	pthread_cond_signal(&leash->end);
	pthread_mutex_unlock(&leash->mutex);
	return NULL;
}

static void free_leash(struct fors_io_thread *leash)
{
	pthread_cond_destroy(&leash->end);
	pthread_mutex_destroy(&leash->mutex);
	free(leash);
}

int fors_io_thread_start(struct fors_io_thread **leash, void (*work)(void *context), void *context)
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
		free_leash(made);
	else
		*leash = made;
	return failed;
}

/* Is it out for too long, of the time that somebody waits for its end? With the mutex held. */
static bool hangs(const struct fors_io_thread *leash, uint64_t waits_since, unsigned patience_ms)
{
	uint64_t since = leash->since > waits_since ? leash->since : waits_since;

	return leash->since && fors_clock_ms() >= since + patience_ms;
}

bool fors_io_thread_end(struct fors_io_thread *leash, unsigned patience_ms)
{
	uint64_t begin = fors_clock_ms();
	pthread_t thread = leash->thread;
	bool has_ended;

	pthread_mutex_lock(&leash->mutex);
	while (!leash->has_ended && !hangs(leash, begin, patience_ms))
		fors_clock_wait(&leash->end, &leash->mutex, fors_clock_ms() + LOOK_MS);
	has_ended = leash->has_ended;
	leash->is_left = !has_ended;
	if (!has_ended)
		pthread_detach(thread);
	pthread_mutex_unlock(&leash->mutex);
	if (has_ended) {
		pthread_join(thread, NULL);
		free_leash(leash);
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

uint64_t fors_io_thread_since(struct fors_io_thread *leash, char *what, size_t size)
{
	uint64_t since;

	pthread_mutex_lock(&leash->mutex);
	since = leash->since;
	snprintf(what, size, "%s", leash->what);
	pthread_mutex_unlock(&leash->mutex);
	return since;
}
