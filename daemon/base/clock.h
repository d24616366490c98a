/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.h - all that the plugin knows of time, in one place.
 *
 * Two clocks: the monotonic one for "how long" and "not before", which nobody can set, and Unix time for what people
 * and other hosts read. Tests link a clock of their own (tests/unit/fake_clock.c) that stands still until it is told
 * to go on, so nothing else in the plugin asks the system for the time, or waits by it.
 * Threads: any.
 */
#ifndef FORS_DAEMON_BASE_CLOCK_H
#define FORS_DAEMON_BASE_CLOCK_H

#include <poll.h>
#include <pthread.h>
#include <stdint.h>

/* Milliseconds by CLOCK_MONOTONIC. */
uint64_t fors_clock_ms(void);

/* The same with its fraction, to measure short times with. */
double fors_clock_exact_ms(void);

/* Processor time that the calling thread has used, in milliseconds. */
uint64_t fors_clock_thread_ms(void);

/* Unix time in milliseconds. */
uint64_t fors_clock_unix_ms(void);

/* A condition variable for fors_clock_wait(). */
void fors_clock_cond(pthread_cond_t *cond);

/* Wait with the mutex held, at most until a time of fors_clock_ms(); may come back early, as all such waits. */
void fors_clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ms);

/* Wait for news of these descriptors (poll(2); negative ones have none), at most until a time of fors_clock_ms(). */
void fors_clock_poll(struct pollfd *news, unsigned count, uint64_t until_ms);

/* Sleep between two looks at something that sends no signal. */
void fors_clock_pause(unsigned ms);

#define FORS_BOOT_LENGTH 36

/*
 * Which boot of the machine this is: FORS_BOOT_LENGTH characters, another one after each crash or restart of the kernel
 * (/proc/sys/kernel/random/boot_id); empty where that is not known.
 */
void fors_clock_boot(char boot[FORS_BOOT_LENGTH + 1]);

#endif
