/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* torus.c - see torus.h. */
#include "torus.h"

static uint32_t shortest_side(const struct fors_torus *torus, unsigned dimensions)
{
	uint32_t least = torus->side[0];

	for (unsigned i = 1; i < dimensions; i++)
		if (torus->side[i] < least)
			least = torus->side[i];
	return least;
}

bool fors_torus_draw(struct fors_random *random, uint32_t n, unsigned dimensions, uint32_t least,
		     struct fors_torus *torus)
{
	uint32_t seen = 0;

	for (uint32_t a = 1; a <= n; a++) {
		if (n % a)
			continue;
		for (uint32_t b = dimensions == 2 ? n / a : 1; b <= n / a; b++) {
			struct fors_torus one = {{a, b, n / a / b}};

			if (n / a % b || shortest_side(&one, dimensions) < least)
				continue;
			if (fors_random_below(random, ++seen) == 0)
				*torus = one;
		}
	}
	return seen > 0;
}

uint32_t fors_torus_neighbour(const struct fors_torus *torus, uint32_t i, const int step[3])
{
	uint32_t result = 0, unit = 1;

	for (unsigned d = 0; d < 3; d++) {
		uint32_t side = torus->side[d], at = i / unit % side;

		result += (at + side + (uint32_t)step[d]) % side * unit;
		unit *= side;
	}
	return result;
}
