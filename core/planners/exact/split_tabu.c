/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split_tabu.c - step 3 of the search for a split: tabu search.
 *
 * Move the flow that does least harm off some port with overflow, do not let its
 * pair come back to that way for a while, and try chains again whenever overflow is small.
 */
#include "split_search.h"

#include <string.h>

#define TENURE 12 /* steps that a move is tabu, and up to as many more */

/* How much overflow a move of one flow from way `from` to way `to` adds; small changes of level break ties. */
static int64_t harm(const struct fors_split_search *search, uint32_t a, uint32_t b, size_t from, size_t to)
{
	uint32_t off[2] = {fors_split_up(search, a, from), fors_split_down(search, b, from)};
	uint32_t on[2] = {fors_split_up(search, a, to), fors_split_down(search, b, to)};
	int64_t sum = 0, level = 0;

	for (int s = 0; s < 2; s++) {
		if (off[s] == on[s])
			continue;
		sum += (search->load[on[s]] >= search->limit) - (search->load[off[s]] > search->limit);
		level += search->load[on[s]] - search->load[off[s]];
	}
	return sum * ((int64_t)1 << 32) + level;
}

/* Look at all moves of a flow of (a, b) off way k for the best that is not tabu. */
static bool consider(struct fors_split_search *search, uint32_t port, uint32_t a, uint32_t b, uint32_t k)
{
	size_t first = fors_way(search->ways, a, b, 0);
	struct fors_split_choice *best = &search->best;

	(void)port;
	fors_split_spend(search, search->ways->nlanes);
	for (uint32_t to = 0; to < search->ways->nlanes; to++) {
		int64_t cost;

		if (to == k || !fors_split_is_way(search, first + to) || search->tabu[first + to] > search->step)
			continue;
		cost = harm(search, a, b, first + k, first + to);
		if (best->equals && cost > best->harm)
			continue;
		if (!best->equals || cost < best->harm)
			best->equals = 0;
		best->harm = cost;
		if (fors_xorshift_below(&search->random, ++best->equals) == 0)
			best->move = (struct fors_split_move){a, b, k, to};
	}
	return false;
}

/* Some port with overflow, each as likely as the next; there is one. */
static uint32_t pick_over(struct fors_split_search *search)
{
	uint32_t found = 0, seen = 0;

	fors_split_spend(search, search->nports / 2);
	for (uint32_t port = 0; port < search->nports; port++)
		if (fors_split_over(search, port) && fors_xorshift_below(&search->random, ++seen) == 0)
			found = port;
	return found;
}

static void tabu_step(struct fors_split_search *search)
{
	search->step++;
	search->best.equals = 0;
	fors_split_see_port(search, pick_over(search), consider);
	if (!search->best.equals)
		return;
	fors_split_make_move(search, &search->best.move, 1);
	search->tabu[fors_way(search->ways, search->best.move.a, search->best.move.b, search->best.move.k)] =
		search->step + TENURE + fors_xorshift_below(&search->random, TENURE);
}

int64_t fors_split_tabu_search(struct fors_split_search *search, uint32_t steps)
{
	int64_t now = fors_split_overflow(search), best = now;

	search->step = 0;
	memset(search->tabu, 0, fors_way(search->ways, search->ways->nleaves, 0, 0) * sizeof(*search->tabu));
	for (uint32_t i = 1; now > 0 && i <= steps; i++) {
		if (fors_split_is_over(search))
			return now;
		tabu_step(search);
		now = fors_split_overflow(search);
		if (now < best || i % 64 == 0)
			now = fors_split_relieve_all(search);
		best = now < best ? now : best;
	}
	return now;
}
