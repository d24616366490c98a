/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * random.h - pseudo-random numbers: the same on every machine, today and in ten years. No floating point takes part,
 * and no library whose numbers may change. There are two generators:
 *
 *      fors_random     splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
 *                      The one for new code: any seed will do, and what it draws below n is equally likely.
 *      fors_xorshift   xorshift64 (Marsaglia: Xorshift RNGs, 2003). What the planners have always drawn from. Their
 *                      plans hang on its numbers and stay the same to the byte, so they keep it; nobody else begins.
 *
 * Thread rules: a sequence belongs to one thread.
 */
#ifndef FORS_CORE_BASE_RANDOM_H
#define FORS_CORE_BASE_RANDOM_H

#include <stdint.h>

/* ---- splitmix64 ---- */

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

/* What a sequence from this seed begins with: 64 bits that look random, and depend on the seed alone. */
static inline uint64_t fors_random_of(uint64_t seed)
{
	return fors_random_next(&(struct fors_random){seed});
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

/* ---- xorshift64 ---- */

/* Start with state = seed, any but 0. */
struct fors_xorshift {
	uint64_t state;
};

/* The next 64 bits, never 0; the upper ones are the better ones. */
static inline uint64_t fors_xorshift_next(struct fors_xorshift *random)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state;
}

/* 0..n-1, by the upper 32 bits' place in their range; n > 0. */
static inline uint32_t fors_xorshift_below(struct fors_xorshift *random, uint32_t n)
{
	return (uint32_t)(((fors_xorshift_next(random) >> 32) * n) >> 32);
}

/* 0..n-1, as what is left of the upper 32 bits modulo n: other numbers than those of below; n > 0. */
static inline uint32_t fors_xorshift_modulo(struct fors_xorshift *random, uint32_t n)
{
	return (uint32_t)((fors_xorshift_next(random) >> 32) % n);
}

#endif
