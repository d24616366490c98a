/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * random.h - the pseudo-random numbers of the model: the same on every machine, today and in ten years.
 *
 * The generator is splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). No
 * floating point takes part, and no library whose numbers may change.
 * Thread rules: a sequence belongs to one thread.
 */
#ifndef FORS_CORE_BASE_RANDOM_H
#define FORS_CORE_BASE_RANDOM_H

#include <stdint.h>

/* Start with state = seed. */
struct fors_random {
	uint64_t state;
};

/* The next 64 bits. */
static inline uint64_t fors_random_next(struct fors_random *random)
{
	uint64_t z = random->state += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

/* Each of 0..n-1 equally likely; n > 0. What would make the first ones likelier is drawn again. */
static inline uint32_t fors_random_below(struct fors_random *random, uint32_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n;
	uint64_t x;

	do
		x = fors_random_next(random);
	while (x >= limit);
	return (uint32_t)(x % n);
}

/* 0..n-1 in random order (Fisher and Yates), in list[0 .. n-1]. */
static inline void fors_random_order(struct fors_random *random, uint32_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = fors_random_below(random, i + 1);

		list[i] = list[j];
		list[j] = i;
	}
}

#endif
