/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unit.c - the program of a file of tests: all that it calls TEST(), in their order. */
#include <string.h>

#include "unit.h"

#define MOST 200

/* The linker gives the first and the end of what is in a section. */
extern const struct unit_test *const __start_unit_tests[] __attribute__((weak));
extern const struct unit_test *const __stop_unit_tests[] __attribute__((weak));

static int by_line(const void *a, const void *b)
{
	return (*(const struct unit_test *const *)a)->line - (*(const struct unit_test *const *)b)->line;
}

int main(void)
{
	static const struct unit_test *in_order[MOST];
	static struct CMUnitTest tests[MOST];
	size_t count = (size_t)(__stop_unit_tests - __start_unit_tests);

	if (!count || count > MOST)
		return 1;
	memcpy(in_order, __start_unit_tests, count * sizeof(in_order[0]));
	qsort(in_order, count, sizeof(in_order[0]), by_line);
	for (size_t i = 0; i < count; i++)
		tests[i] = in_order[i]->test;
	return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
