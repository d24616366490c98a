/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults.h - allocations and threads that fail when a test wants them to.
 *
 * A program that links faults.c has its own malloc(), calloc(), realloc(), free() and pthread_create(): those of
 * the C library, also for what the libraries allocate inside, but that the n-th from now fails, and that
 * the blocks in use are counted. Under the sanitizers, which have their own, only the calls of fors itself can
 * fail (the program is linked with --wrap), and the leak checker looks instead of the count.
 */
#ifndef FORS_TESTS_FAULTS_H
#define FORS_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* The n-th allocation from now fails (n > 0), and with `on` all after it. */
void faults_arm(uint64_t n, bool on);
/* No faults in this thread, and none counted: they are for others. */
void faults_spare_me(void);
/* Whether one happened since faults_arm(). */
bool faults_happened(void);
/* No more faults. faults_happened(). */
bool faults_off(void);

/* The n-th pthread_create() from now fails, and all after it; 0: none. */
void faults_arm_threads(uint64_t n);

/* Blocks in use; a constant under the sanitizers. */
int64_t faults_live(void);
/* From here on: the most bytes in use at a time, beside what is in use now. 0 under the sanitizers. */
void faults_watch_bytes(void);
int64_t faults_most_bytes(void);
/* Is anything lost? Always false without the leak checker. */
bool faults_leaked(void);

#endif
