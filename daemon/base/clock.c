/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "clock.h"

#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

static uint64_t ms_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t fors_clock_ms(void)
{
	return ms_of(CLOCK_MONOTONIC);
}

double fors_clock_exact_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

uint64_t fors_clock_thread_ms(void)
{
	return ms_of(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t fors_clock_unix_ms(void)
{
	return ms_of(CLOCK_REALTIME);
}

void fors_clock_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

void fors_clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ms)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
				       .tv_nsec = (long)(until_ms % 1000) * 1000000};

	pthread_cond_timedwait(cond, mutex, &until);
}

void fors_clock_poll(struct pollfd *news, unsigned count, uint64_t until_ms)
{
	uint64_t now = fors_clock_ms(), left = until_ms > now ? until_ms - now : 0;

	poll(news, count, left < INT_MAX ? (int)left : INT_MAX);
}

void fors_clock_pause(unsigned ms)
{
	usleep(ms * 1000);
}

void fors_clock_boot(char boot[FORS_BOOT_LENGTH + 1])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, boot, FORS_BOOT_LENGTH) != FORS_BOOT_LENGTH)
		boot[0] = '\0';
	boot[FORS_BOOT_LENGTH] = '\0';
	if (fd >= 0)
		close(fd);
}
