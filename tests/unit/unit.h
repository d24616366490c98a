/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unit.h - cmocka, after what it wants to be included before it; a program of tests, and what one makes.
 *
 *	TEST(name)			     a function of `void **state`; the program runs all in the order of the file
 *	TEST(name, open_bench, close_bench)  before it open_bench(state), afterwards close_bench(state)
 *
 * What a test makes goes with its block:
 *
 *	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
 *	struct victim victim CLEARED(victim_clear) = victim_of("FT(2;4,4)");
 *
 * FREES(bed_free, struct bed *) says once that bed_free() may be used so.
 */
#ifndef FORS_TESTS_UNIT_H
#define FORS_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct unit_test {
	int line; /* compilers put them into any order */
	struct CMUnitTest test;
};

#define TEST(called, ...)                                                                                              \
	static void called(void **state);                                                                              \
	static const struct unit_test test_of_##called = {                                                             \
		.line = __LINE__, .test = {.name = #called, .test_func = called, ##__VA_ARGS__}};                      \
	static const struct unit_test *const entry_of_##called __attribute__((used, section("unit_tests"))) =          \
		&test_of_##called;                                                                                     \
	static void called(void **state)

#define FREED(function) __attribute__((cleanup(freed_##function)))
#define CLEARED(function) __attribute__((cleanup(function)))
#define FREES(function, type)                                                                                          \
	static inline void freed_##function(type *it)                                                                  \
	{                                                                                                              \
		function(*it);                                                                                         \
	}

/* Of any type. */
static inline void freed_free(void *it)
{
	free(*(void **)it);
}

#endif
