/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * weighed.c - weights of ports and links.
 *
 * Give each port and each link a weight. A message, or a piece of it, takes at least its bytes times the weights along its lightest way, whichever it goes.
 * In the time T a port or link carries T bytes at most, so all together take at most T times the sum of all weights. Therefore T is at least the sum of
 * what messages take over the sum of weights. With all weight on one port it is the bound of that port, with equal weights on all links of a leaf that
 * of the leaf; with the best weights it is the least load of the fullest link that any division of messages over their ways leaves (the dual of that
 * linear program).
 *
 * Good weights are found as prices are: all messages go their cheapest ways, and what is loaded most becomes dearer. Each round gives a bound, and the largest
 * counts. All numbers are whole, so that the answer is the same on any machine.
 */
#include "weighed.h"

#include <stdlib.h>

#define MOST_ROUNDS 2000
#define FEWEST_ROUNDS 30 /* fewer say nothing */
#define BUDGET UINT64_C(20000000)
#define FIRST (UINT64_C(1) << 12) /* weight */
#define MOST (UINT64_C(1) << 24)  /* then all are divided */
#define UNITS (UINT64_C(1) << 33) /* of bytes, in all: with any weights along a way they stay below 2^64 */
#define STEP 4			  /* a weight grows by this part in the first round, */
#define SLOWER 100		  /* by half of that after so many rounds, a third, ... */

struct weights {
	const struct fors_demand_problem *problem;
	uint32_t count; /* ports and links */
	uint64_t *weight, *load;
	unsigned shift; /* a unit has so many bits less than a byte: what a division drops makes the bound less */
};

/* Weights along a way. */
static uint64_t price_of(const struct weights *w, const uint32_t *use, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += w->weight[use[i]];
	return sum;
}

static uint64_t units_of(const struct weights *w, uint32_t message)
{
	return w->problem->demand->message[message].bytes >> w->shift;
}

/* The message goes its cheapest way; what that costs for a unit. */
static uint64_t send(struct weights *w, uint32_t message)
{
	uint32_t use[2][FORS_DEMAND_MOST_USES], n, nbest = 0, at = 0;
	uint64_t best = UINT64_MAX;

	for (uint32_t path = 0; path < w->problem->npaths; path++) {
		uint64_t price;

		n = fors_demand_uses(w->problem, message, path, use[at]);
		price = n ? price_of(w, use[at], n) : UINT64_MAX;
		if (price >= best)
			continue;
		best = price;
		nbest = n;
		at = !at;
	}
	for (uint32_t i = 0; i < nbest; i++)
		w->load[use[!at][i]] += units_of(w, message);
	return best;
}

/* All messages go; what no plan takes less than by these weights. */
static uint64_t send_all(struct weights *w)
{
	uint64_t cost = 0, sum = 0;

	for (uint32_t x = 0; x < w->count; x++) {
		w->load[x] = 0;
		sum += w->weight[x];
	}
	for (uint32_t m = 0; m < w->problem->demand->count; m++)
		cost += units_of(w, m) * send(w, m);
	if (!sum)
		return 0;
	return w->shift ? cost / sum << w->shift : (cost + sum - 1) / sum;
}

/* What is loaded becomes dearer, in proportion; later by less. */
static void raise_prices(struct weights *w, uint32_t round)
{
	uint64_t most = 1, dearest = 0, part = STEP * (1 + round / SLOWER);

	for (uint32_t x = 0; x < w->count; x++)
		most = w->load[x] > most ? w->load[x] : most;
	for (uint32_t x = 0; x < w->count; x++) {
		w->weight[x] += w->weight[x] * w->load[x] / most / part;
		dearest = w->weight[x] > dearest ? w->weight[x] : dearest;
	}
	for (uint32_t x = 0; dearest > MOST && x < w->count; x++)
		w->weight[x] = w->weight[x] / 1024 + (w->weight[x] > 0);
}

/* What no message can go over weighs nothing. Returns the steps that a round takes, or of too many those that were counted. */
static uint64_t begin(struct weights *w)
{
	uint32_t use[FORS_DEMAND_MOST_USES];
	uint64_t steps = w->count;

	for (uint32_t m = 0; m < w->problem->demand->count && steps * FEWEST_ROUNDS <= BUDGET; m++)
		for (uint32_t path = 0; path < w->problem->npaths; path++) {
			uint32_t n = fors_demand_uses(w->problem, m, path, use);

			for (uint32_t i = 0; i < n; i++)
				w->weight[use[i]] = FIRST;
			steps += n + 1;
		}
	return steps;
}

static uint64_t search(struct weights *w, struct fors_effort *effort)
{
	uint64_t steps = begin(w), best = 0;

	while (fors_demand_total(w->problem->demand) >> w->shift >= UNITS)
		w->shift++;
	for (uint32_t round = 0; round < MOST_ROUNDS && steps * FEWEST_ROUNDS <= BUDGET && steps * round <= BUDGET;
	     round++) {
		uint64_t bound = send_all(w);

		best = bound > best ? bound : best;
		if (!fors_effort_spend(effort, steps))
			break;
		raise_prices(w, round);
	}
	return best;
}

enum fors_err fors_demand_weighed_bound(const struct fors_demand_problem *problem, struct fors_effort *effort,
					uint64_t *bound, struct fors_error *error)
{
	uint32_t count = 2 * problem->nservers + problem->nlinks;
	struct weights w = {problem, count, calloc(count + (size_t)1, sizeof(*w.weight)),
			    calloc(count + (size_t)1, sizeof(*w.load)), 0};
	bool is_good = w.weight && w.load;

	if (is_good)
		*bound = problem->npaths > 1 ? search(&w, effort) : 0;
	free(w.weight);
	free(w.load);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
