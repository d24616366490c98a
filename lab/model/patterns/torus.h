/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* torus.h - servers as a torus of two or three dimensions. Private to the room. Thread rules: pure. */
#ifndef FORS_LAB_MODEL_PATTERNS_TORUS_H
#define FORS_LAB_MODEL_PATTERNS_TORUS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/random.h"

struct fors_torus {
	uint32_t side[3]; /* side[2] is 1 in two dimensions */
};

/*
 * Sides a x b (x c) = n, all such tori whose shortest side is at least `least` equally likely; false: there is none.
 * (The number of those seen so far is the chance of the next one to replace what was chosen.)
 */
bool fors_torus_draw(struct fors_random *random, uint32_t n, unsigned dimensions, uint32_t least,
		     struct fors_torus *torus);
/* Neighbour of server i in the direction `step` (-1, 0, 1 for each side), round the edges. */
uint32_t fors_torus_neighbour(const struct fors_torus *torus, uint32_t i, const int step[3]);

#endif
