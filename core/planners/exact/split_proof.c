/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split_proof.c - is there no split for this T? Prices can prove it.
 *
 * Give every port a price y >= 0, not all 0. A flow of
 * (a, b) pays at least the cheapest way's price, a port earns at most T times its own, so
 *
 *	T >= sum over (a, b) of n_a n_b min_k (y[up port] + y[down port]) / sum of y
 *
 * for any prices: the dual of the linear programme, whose optimum is LP. When the squares of the overflows
 * are least (in fractions), the overflows themselves are prices that prove T too small (at the
 * optimum all ways in use of a pair have the same, least price y, so that the numerator is the sum of load times y,
 * which is more than T times y at every port with y > 0). So the same descent, with
 * flows cut into small pieces, either ends without overflow or gives a proof, and a bound to go on from.
 */
#include "split_search.h"

#define PRICE_SWEEPS 400

/* The bound on T that the overflows prove when they are taken as prices. */
static int64_t proven_bound(const struct fors_split_search *search)
{
	int64_t paid = 0, prices = 0;

	for (uint32_t i = 0; i < search->npairs; i++) {
		uint32_t a = search->order[i] / search->ways->nleaves, b = search->order[i] % search->ways->nleaves;
		size_t first = fors_way(search->ways, a, b, 0);
		int64_t least = INT64_MAX;

		for (uint32_t k = 0; k < search->ways->nlanes; k++) {
			if (fors_split_is_way(search, first + k)) {
				int64_t price = fors_split_over(search, fors_split_up(search, a, first + k)) +
						fors_split_over(search, fors_split_down(search, b, first + k));

				least = price < least ? price : least;
			}
		}
		paid += fors_split_flows(search, a, b) / search->pieces * least;
	}
	for (uint32_t port = 0; port < search->nports; port++)
		prices += fors_split_over(search, port);
	return prices ? (paid + prices - 1) / prices : 0;
}

int64_t fors_split_find_proof(struct fors_split_search *search, int64_t phases)
{
	int64_t best = 0;

	search->limit = phases * search->pieces;
	fors_split_fill_all(search);
	for (int i = 0; i < PRICE_SWEEPS && fors_split_overflow(search) > 0 && !fors_split_is_over(search); i++) {
		fors_split_sweep(search);
		if (i % 4 == 3 && best <= phases)
			best = proven_bound(search);
	}
	return best;
}
