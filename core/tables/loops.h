/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loops.h - which links wait for which, and whether any wait in a circle.
 * Thread rules: one thread.
 */
#ifndef FORS_CORE_TABLES_LOOPS_H
#define FORS_CORE_TABLES_LOOPS_H

#include "switches.h"

struct fors_loops;

/* No dependency yet, or NULL: out of memory. Borrows `switches`. */
struct fors_loops *fors_loops_new(const struct fors_switches *switches);
void fors_loops_free(struct fors_loops *loops);

/* A packet comes to switch `at` from its neighbour number `from`, and goes on to number `to`. */
void fors_loops_add(struct fors_loops *loops, uint32_t at, uint8_t from, uint8_t to);

/* FORS_ETABLES, which names the switches of a circle; FORS_ENOMEM; FORS_OK: there is none. */
enum fors_err fors_loops_check(const struct fors_loops *loops, struct fors_error *error);

#endif
