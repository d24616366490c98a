/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "thread.h"

#include <signal.h>
#include <time.h>

int fors_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

void fors_thread_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

void fors_thread_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ms)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
				       .tv_nsec = (long)(until_ms % 1000) * 1000000};

	pthread_cond_timedwait(cond, mutex, &until);
}

uint64_t fors_thread_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
