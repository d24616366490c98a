/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random numbers as functions of where they are used, so that all ranks have the same. */
#ifndef TESTBED_DRAWS_H
#define TESTBED_DRAWS_H

#include <math.h>
#include <stdint.h>

static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static inline double between_0_and_1(uint64_t x)
{
	return ((double)(mix(x) >> 12) + 0.5) / 4503599627370496.0;
}

/* A whole number of at least 1, of a lognormal distribution with this mean. */
static inline int lognormal(uint64_t key, double mean, double sigma)
{
	double normal = sqrt(-2 * log(between_0_and_1(key))) * cos(2 * M_PI * between_0_and_1(key + 1));

	return (int)(mean * exp(sigma * normal - sigma * sigma / 2)) + 1;
}

#endif
