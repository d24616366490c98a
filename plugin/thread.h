/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread.h - threads inside a daemon that is not ours.
 */
#ifndef FORS_PLUGIN_THREAD_H
#define FORS_PLUGIN_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* As pthread_create(), with all signals blocked in the thread: they are OpenSM's business. 0, or an errno. */
int fors_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* A condition variable that waits by CLOCK_MONOTONIC. */
void fors_thread_cond(pthread_cond_t *cond);

/* Wait with the mutex held, at most until a time of fors_thread_ms(). */
void fors_thread_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ms);

/* Milliseconds by CLOCK_MONOTONIC. */
uint64_t fors_thread_ms(void);

#endif
