/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread.h - threads inside a daemon that is not ours.
 */
#ifndef FORS_DAEMON_BASE_THREAD_H
#define FORS_DAEMON_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create(), with all signals blocked in the thread: they are OpenSM's business. 0, or an errno. */
int fors_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif
