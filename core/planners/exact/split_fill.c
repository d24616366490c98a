/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split_fill.c - step 1 of the search for a split: fill, and sweep.
 *
 * Pair by pair, those with few ways first, spread the flows of a pair so that the
 * sum of the squares of the loads grows least (like water in a vessel: to a common
 * level of up load plus down load). Then sweep: take the pairs that use a port with overflow
 * off and fill them in again, with a steep price on what is above T. This is coordinate
 * descent on a convex function, and nearly always ends at overflow 0.
 */
#include "split_search.h"

#include <string.h>

/*
 * How many flows a way takes before the price of one more exceeds `level`. The price
 * of the flow that comes to load l is l, plus `steep` times what is above the limit, at both ports.
 */
static inline int64_t takes(const struct fors_split_search *search, int64_t one, int64_t other, int64_t level)
{
	int64_t high = one > other ? one : other, low = one > other ? other : one;
	int64_t plain = search->limit - high, steep = search->limit - low, n;

	if (plain < 0)
		plain = 0;
	if (steep < 0)
		steep = 0;
	n = (level - one - other) / 2; /* both ports below the limit */
	if (n <= plain)
		return n > 0 ? n : 0;
	n = (level - one - other + search->steep * (search->limit - high)) / (2 + search->steep);
	if (n <= plain)
		return plain;
	if (n <= steep)
		return n;
	n = (level - one - other + search->steep * (2 * search->limit - high - low)) / (2 + 2 * search->steep);
	return n > steep ? n : steep;
}

static int64_t take_all(const struct fors_split_search *search, uint32_t a, uint32_t b, int64_t level)
{
	size_t first = fors_way(search->ways, a, b, 0);
	int64_t sum = 0;

	fors_split_spend(search, search->ways->nlanes);
	for (uint32_t k = 0; k < search->ways->nlanes; k++) {
		if (fors_split_is_way(search, first + k))
			sum += takes(search, search->load[fors_split_up(search, a, first + k)],
				     search->load[fors_split_down(search, b, first + k)], level);
	}
	return sum;
}

/* What the level would be, were no way full and flows no whole numbers. */
static int64_t guess_level(const struct fors_split_search *search, uint32_t a, uint32_t b, int64_t n)
{
	size_t first = fors_way(search->ways, a, b, 0);
	int64_t sum = 2 * n, count = 0;

	for (uint32_t k = 0; k < search->ways->nlanes; k++) {
		if (!fors_split_is_way(search, first + k))
			continue;
		sum += search->load[fors_split_up(search, a, first + k)] +
		       search->load[fors_split_down(search, b, first + k)];
		count++;
	}
	return count ? sum / count : 0;
}

/*
 * The level is in *low..*high - 1. Ways take the more the higher it is; so look round a guess, which mostly is near. True:
 * at *high they are known to take more than n.
 */
static bool narrow(const struct fors_split_search *search, uint32_t a, uint32_t b, int64_t n, int64_t *low,
		   int64_t *high)
{
	int64_t guess = guess_level(search, a, b, n), step = 1;

	if (guess <= *low || guess >= *high)
		return false;
	if (take_all(search, a, b, guess) > n) {
		for (*high = guess; *high - step > *low && take_all(search, a, b, *high - step) > n; step *= 4)
			*high -= step;
		*low = *high - step > *low ? *high - step : *low;
		return true;
	}
	for (*low = guess; *low + step < *high && take_all(search, a, b, *low + step) <= n; step *= 4)
		*low += step;
	if (*low + step >= *high)
		return false;
	*high = *low + step;
	return true;
}

/* The highest level at which all ways of the pair take no more than n. */
static int64_t level_for(const struct fors_split_search *search, uint32_t a, uint32_t b, int64_t n)
{
	int64_t low = 0, high = 4 * (search->limit + n) + 4, top = high * search->steep;
	bool is_bounded = narrow(search, a, b, n, &low, &high);

	while (!is_bounded && take_all(search, a, b, high) <= n && high < top)
		high *= 4;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (take_all(search, a, b, middle) <= n)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Spread all flows of the pair, none of which is placed, over its ways. */
static void fill(struct fors_split_search *search, uint32_t a, uint32_t b)
{
	uint32_t nlanes = search->ways->nlanes, turn = (a + b) % nlanes;
	size_t first = fors_way(search->ways, a, b, 0);
	int64_t left = fors_split_flows(search, a, b), level = level_for(search, a, b, left);

	for (uint32_t k = 0; k < nlanes; k++) {
		if (fors_split_is_way(search, first + k))
			search->room[k] = takes(search, search->load[fors_split_up(search, a, first + k)],
						search->load[fors_split_down(search, b, first + k)], level);
	}
	for (uint32_t k = 0; k < nlanes; k++) {
		if (fors_split_is_way(search, first + k)) {
			fors_split_put(search, a, b, first + k, search->room[k]);
			left -= search->room[k];
		}
	}
	/* the rest, fewer than the ways: one each, to those at the level first */
	for (int pass = 0; left > 0; pass++) {
		for (uint32_t i = 0; i < nlanes && left > 0; i++) {
			size_t way = first + (turn + i) % nlanes;

			if (!fors_split_is_way(search, way))
				continue;
			if (pass == 0 && takes(search, search->load[fors_split_up(search, a, way)],
					       search->load[fors_split_down(search, b, way)], level + 1) == 0)
				continue;
			fors_split_put(search, a, b, way, 1);
			left--;
		}
	}
}

static void empty(struct fors_split_search *search, uint32_t a, uint32_t b)
{
	size_t first = fors_way(search->ways, a, b, 0);

	for (uint32_t k = 0; k < search->ways->nlanes; k++)
		if (fors_split_is_way(search, first + k))
			fors_split_put(search, a, b, first + k, -search->x[first + k]);
}

void fors_split_fill_all(struct fors_split_search *search)
{
	memset(search->load, 0, search->nports * sizeof(*search->load));
	memset(search->x, 0, fors_way(search->ways, search->ways->nleaves, 0, 0) * sizeof(*search->x));
	for (uint32_t i = 0; i < search->npairs; i++)
		fill(search, search->order[i] / search->ways->nleaves, search->order[i] % search->ways->nleaves);
}

/* Does the pair put flows on a port with overflow? */
static bool is_over(const struct fors_split_search *search, uint32_t a, uint32_t b)
{
	size_t first = fors_way(search->ways, a, b, 0);

	fors_split_spend(search, search->ways->nlanes / 4);
	for (uint32_t k = 0; k < search->ways->nlanes; k++) {
		if (search->x[first + k] > 0 && (fors_split_over(search, fors_split_up(search, a, first + k)) ||
						 fors_split_over(search, fors_split_down(search, b, first + k))))
			return true;
	}
	return false;
}

void fors_split_sweep(struct fors_split_search *search)
{
	for (uint32_t i = 0; i < search->npairs && !fors_effort_is_over(search->effort); i++) {
		uint32_t a = search->order[i] / search->ways->nleaves, b = search->order[i] % search->ways->nleaves;

		if (!is_over(search, a, b))
			continue;
		empty(search, a, b);
		fill(search, a, b);
	}
}

int64_t fors_split_sweep_down(struct fors_split_search *search, uint32_t sweeps)
{
	int64_t now = fors_split_overflow(search), best = now;
	uint32_t idle = 0;

	for (uint32_t i = 0; now > 0 && i < sweeps && idle < 4 && !fors_split_is_over(search); i++) {
		fors_split_sweep(search);
		now = fors_split_overflow(search);
		idle = now < best ? 0 : idle + 1;
		best = now < best ? now : best;
	}
	return now;
}
