/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inside.h - what the files of the module with the plugin's tests share, see test_engine.c.
 */
#ifndef FORS_TESTS_INSIDE_H
#define FORS_TESTS_INSIDE_H

/* The module's only door. How many tests failed. */
int fors_test_engine(void);

/* Each the number of failed tests. */
int run_snapshot_tests(void);
int run_engine_tests(void);

#endif
