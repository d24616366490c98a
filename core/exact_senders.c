/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exact_senders.c - step 3 of the exact planner, the quick way: turns and swaps.
 *
 * In every phase the places of a leaf are dealt to its servers, place i of phase t to server (i + t) mod n.
 * Each server should have n_b flows to leaf b in all. After dealing, the numbers are off by about the square root of
 * n_b. Now go through the phases again and again: a server with too many flows to b swaps the one of this phase with a
 * neighbour of the same phase, if that makes the sum of all deviations smaller; from the second time on, also if it
 * leaves it as it is, which moves a deviation about until it meets one of the opposite sign. There are so
 * many phases that this takes a few rounds. There is no proof that it ends (a leaf where it does not is coloured, which
 * has one), but it takes half the time of a colouring.
 */
#include <string.h>

#include "exact.h"

#define ROUNDS 8

struct dealing {
	const struct fors_senders *senders;
	uint64_t random;
	uint64_t off; /* sum of what is too much */
};

static uint32_t random_below(struct dealing *dealing, uint32_t n)
{
	dealing->random ^= dealing->random << 13;
	dealing->random ^= dealing->random >> 7;
	dealing->random ^= dealing->random << 17;
	return (uint32_t)(((dealing->random >> 32) * n) >> 32);
}

/* Flows that server `rank` has too many to the leaf of place i of a phase; idle places are all right for everybody. */
static inline int32_t *excess(const struct fors_senders *senders, uint32_t rank, uint16_t to)
{
	return &senders->excess[rank * (senders->nleaves + 1) + (to == FORS_NOBODY ? senders->nleaves : to)];
}

static void deal(const struct fors_senders *senders)
{
	uint32_t n = senders->n;

	for (uint32_t rank = 0; rank < n; rank++) {
		for (uint32_t b = 0; b < senders->nleaves; b++)
			*excess(senders, rank, (uint16_t)b) = -(int32_t)senders->servers[b];
		*excess(senders, rank, FORS_NOBODY) = 0;
	}
	for (uint32_t t = 0, turn = 0; t < senders->nphases; t++, turn = turn + 1 < n ? turn + 1 : 0) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t rank = i + turn < n ? i + turn : i + turn - n;

			senders->sender[t * n + i] = (uint16_t)rank;
			if (senders->to[t * n + i] != FORS_NOBODY)
				++*excess(senders, rank, senders->to[t * n + i]);
		}
	}
}

static uint64_t count_off(const struct fors_senders *senders)
{
	uint64_t off = 0;

	for (uint32_t i = 0; i < senders->n * (senders->nleaves + 1); i++)
		off += senders->excess[i] > 0 ? (uint32_t)senders->excess[i] : 0;
	return off;
}

static inline void give(const struct fors_senders *senders, uint16_t *place, uint32_t rank, uint16_t to, int32_t sign)
{
	*place = (uint16_t)rank;
	if (to != FORS_NOBODY)
		*excess(senders, rank, to) += sign;
}

/*
 * How much smaller the sum of all deviations gets when places i and j swap their servers, that of i having too many.
 * Each of the three other numbers that change gets better or worse by one; those of idle places do not count.
 */
static inline int gain(const struct fors_senders *senders, const uint16_t *to, const uint16_t *sender, uint32_t i,
		       uint32_t j)
{
	const uint32_t width = senders->nleaves + 1;
	const int32_t *mine = senders->excess + sender[i] * width, *other = senders->excess + sender[j] * width;
	int gained = other[to[i]] < 0 ? 2 : 0;

	if (to[j] == FORS_NOBODY)
		return gained;
	gained += (mine[to[j]] < 0 ? 1 : -1) + (other[to[j]] > 0 ? 1 : -1);
	return to[i] == to[j] ? -1 : gained;
}

static void swap(const struct fors_senders *senders, const uint16_t *to, uint16_t *sender, uint32_t i, uint32_t j)
{
	uint32_t mine = sender[i], other = sender[j];

	*excess(senders, mine, to[i]) -= 1;
	if (to[j] != FORS_NOBODY)
		*excess(senders, other, to[j]) -= 1;
	give(senders, &sender[i], other, to[i], 1);
	give(senders, &sender[j], mine, to[j], 1);
}

/* Place i of a phase is one too many for its server: swap it for a gain, or else, if `sideways`, for nothing. */
static void relieve(struct dealing *dealing, const uint16_t *to, uint16_t *sender, uint32_t i, bool sideways)
{
	const struct fors_senders *senders = dealing->senders;
	uint32_t n = senders->n, j = random_below(dealing, n), even = n;

	for (uint32_t tries = n; tries > 0; tries--, j = j + 1 < n ? j + 1 : 0) {
		int gained = gain(senders, to, sender, i, j);

		if (gained > 0) {
			swap(senders, to, sender, i, j);
			return;
		}
		if (gained == 0 && even == n)
			even = j;
	}
	if (sideways && even < n)
		swap(senders, to, sender, i, even);
}

bool fors_senders_find(const struct fors_senders *senders)
{
	struct dealing dealing = {.senders = senders, .random = UINT64_C(0x9E3779B97F4A7C15)};
	uint32_t n = senders->n;

	deal(senders);
	for (uint32_t round = 0; round < ROUNDS && count_off(senders) > 0; round++) {
		for (uint32_t t = 0; t < senders->nphases; t++) {
			const uint16_t *to = senders->to + (size_t)t * n;
			uint16_t *sender = senders->sender + (size_t)t * n;

			for (uint32_t i = 0; i < n; i++)
				if (to[i] != FORS_NOBODY && *excess(senders, sender[i], to[i]) > 0)
					relieve(&dealing, to, sender, i, round > 0);
		}
	}
	return count_off(senders) == 0;
}
