/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_clock.h - a clock that stands still until a test moves it.
 *
 * A program links fake_clock.c in place of daemon/base/clock.c. Threads are real and wake each other as ever; only what
 * they wait for "until then" comes when the test says so, at once, and never while it does not.
 */
#ifndef FORS_TESTS_FAKE_CLOCK_H
#define FORS_TESTS_FAKE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Let this much time go by, on both clocks. */
void fake_clock_advance(uint64_t ms);

/* Somebody sets the Unix clock this much forward, or back; the other clock does not notice. */
void fake_clock_set(int64_t ms);

/* From now on time goes by as fast as it really does (true), or stands still, as it does at first. */
void fake_clock_run(bool is_running);

/*
 * From now on who begins to wait goes on only when called (true), not when time has gone by either: a call that is left out
 * is seen, in whatever short a time.
 */
void fake_clock_calls_only(bool calls_only);

/* How many threads wait so. One that holds its mutex until then is called by whoever has it next. */
unsigned fake_clock_deaf(void);

/* The machine crashes, or starts again: it is another boot. */
void fake_clock_reboot(void);

/*
 * How often a thread has begun to wait in fors_clock_wait(). With one thread: a number that grew after something was
 * handed to it says that it is through with that, and waits for more.
 */
uint64_t fake_clock_waits(void);

#endif
