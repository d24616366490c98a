/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "thread.h"

#include <signal.h>

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
