/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* numbers.h - the order of numbers, GUIDs among them, for qsort() and bsearch(). Thread rules: pure. */
#ifndef FORS_CORE_BASE_NUMBERS_H
#define FORS_CORE_BASE_NUMBERS_H

#include <stdint.h>

/* Of two uint64_t: the smaller one comes first. */
static inline int fors_by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

#endif
