/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* divisor.h - the greatest common divisor. Thread rules: pure. */
#ifndef FORS_CORE_BASE_DIVISOR_H
#define FORS_CORE_BASE_DIVISOR_H

#include <stdint.h>

/* Of a number and 0: that number. */
static inline uint64_t fors_divisor64(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static inline uint32_t fors_divisor(uint32_t a, uint32_t b)
{
	return (uint32_t)fors_divisor64(a, b);
}

#endif
