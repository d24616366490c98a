/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.h - the two clocks of the command, in milliseconds.
 * Thread rules: any thread.
 */
#ifndef FORS_CLI_CLOCK_H
#define FORS_CLI_CLOCK_H

#include <stdint.h>

/* A clock that never jumps, to measure with. */
double cli_now_ms(void);
/* Unix time, to compare with what was written down. */
int64_t cli_unix_ms(void);
/* Seconds since a Unix time in milliseconds; never negative, for the clocks of two hosts may differ. */
double cli_age(uint64_t unix_ms);

#endif
