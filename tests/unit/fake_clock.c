/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_clock.c - see fake_clock.h. A wait looks at the clock every LOOK_US of real time, so nobody has to know who
 * waits for what when the clock is moved. Of the real clock, running: time since it was let run.
 */
#include "fake_clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"

#define BEGIN_MS 1000000	    /* of the monotonic clock; 0 means "never" to some */
#define BEGIN_UNIX_MS 1700000000000 /* November 2023 */
#define LOOK_US 250
#define MOST_CONDS 4096 /* that are told apart */

static _Atomic uint64_t advanced, waits, running_since;
static _Atomic int64_t set_by;
static _Atomic unsigned boots;
static atomic_bool is_deaf; /* to time */
static atomic_uint ndeaf;

static uint64_t real_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t gone_by(void)
{
	uint64_t since = atomic_load(&running_since);

	return atomic_load(&advanced) + (since ? (real_us() - since) / 1000 : 0);
}

void fake_clock_advance(uint64_t ms)
{
	atomic_fetch_add(&advanced, ms);
}

void fake_clock_set(int64_t ms)
{
	atomic_fetch_add(&set_by, ms);
}

void fake_clock_run(bool is_running)
{
	uint64_t so_far = gone_by();

	atomic_store(&running_since, is_running ? real_us() : 0);
	atomic_store(&advanced, so_far);
}

void fake_clock_calls_only(bool calls_only)
{
	atomic_store(&is_deaf, calls_only);
}

unsigned fake_clock_deaf(void)
{
	return atomic_load(&ndeaf);
}

uint64_t fake_clock_waits(void)
{
	return atomic_load(&waits);
}

uint64_t fors_clock_ms(void)
{
	return BEGIN_MS + gone_by();
}

double fors_clock_exact_ms(void)
{
	return (double)fors_clock_ms();
}

/* No time is too long for what a test has done. */
uint64_t fors_clock_thread_ms(void)
{
	return 0;
}

uint64_t fors_clock_unix_ms(void)
{
	return BEGIN_UNIX_MS + gone_by() + (uint64_t)atomic_load(&set_by);
}

/* Condition variables that were made for this clock. */
static struct {
	pthread_mutex_t mutex;
	const pthread_cond_t *made[MOST_CONDS];
	unsigned n;
} conds = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool is_made(const pthread_cond_t *cond)
{
	for (unsigned i = 0; i < conds.n; i++)
		if (conds.made[i] == cond)
			return true;
	return false;
}

void fors_clock_cond(pthread_cond_t *cond)
{
	pthread_cond_init(cond, NULL);
	pthread_mutex_lock(&conds.mutex);
	if (!is_made(cond) && conds.n < MOST_CONDS)
		conds.made[conds.n++] = cond;
	pthread_mutex_unlock(&conds.mutex);
}

/* Any other would be waited for by another clock. */
static void has_to_be_made(const pthread_cond_t *cond)
{
	pthread_mutex_lock(&conds.mutex);
	if (!is_made(cond) && conds.n < MOST_CONDS) {
		fprintf(stderr, "fake_clock: waiting for a condition that fors_clock_cond() has not made\n");
		abort();
	}
	pthread_mutex_unlock(&conds.mutex);
}

/* A moment of real time at most: who waits asks the clock, and waits again. */
void fors_clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ms)
{
	struct timespec until;

	has_to_be_made(cond);
	atomic_fetch_add(&waits, 1);
	if (atomic_load(&is_deaf)) {
		atomic_fetch_add(&ndeaf, 1);
		pthread_cond_wait(cond, mutex);
		atomic_fetch_sub(&ndeaf, 1);
		return;
	}
	if (fors_clock_ms() >= until_ms)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_US * 1000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(cond, mutex, &until);
}

/* As fors_clock_wait(): who waits asks the clock, and waits again. */
void fors_clock_poll(struct pollfd *news, unsigned count, uint64_t until_ms)
{
	poll(news, count, fors_clock_ms() < until_ms ? 1 : 0);
}

/* What a thread looks at meanwhile, a child process say, needs real time. */
void fors_clock_pause(unsigned ms)
{
	(void)ms;
	usleep(LOOK_US);
}

void fake_clock_reboot(void)
{
	atomic_fetch_add(&boots, 1);
}

void fors_clock_boot(char boot[FORS_BOOT_LENGTH + 1])
{
	snprintf(boot, FORS_BOOT_LENGTH + 1, "00000000-0000-0000-0000-%012x", atomic_load(&boots));
}
