/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * parallel.h - a loop whose rounds do not depend on each other, on several threads.
 */
#ifndef FORS_CORE_BASE_PARALLEL_H
#define FORS_CORE_BASE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

#define FORS_MAX_THREADS 16

/*
 * Round `item` of the loop, by worker 0..threads-1 (each a thread; 0 is the caller's). Two rounds with
 * one worker never run at once. *error is the worker's own.
 */
typedef enum fors_err (*fors_work)(void *context, uint32_t worker, uint32_t item, struct fors_error *error);

/*
 * Run the rounds 0..nitems-1 on `threads` threads (0 and 1: only the caller's; at most FORS_MAX_THREADS).
 * After a round fails no new ones start; of several failures the one with the
 * smallest item is returned. A thread that cannot be started is done without.
 */
enum fors_err fors_parallel(unsigned threads, uint32_t nitems, fors_work work, void *context, struct fors_error *error);

#endif
