/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clock.c - reads the clocks. */
#include "clock.h"

#include <time.h>

static double read_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

double cli_now_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

int64_t cli_unix_ms(void)
{
	return (int64_t)read_ms(CLOCK_REALTIME);
}

double cli_age(uint64_t unix_ms)
{
	double age = (read_ms(CLOCK_REALTIME) - (double)unix_ms) / 1000;

	return age > 0 ? age : 0;
}
