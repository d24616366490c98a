/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split_chains.c - step 2 of the search for a split: chains of moves.
 *
 * From a port with overflow look breadth-first for a chain of moves: one flow goes
 * from this port to another way, which puts one flow too many on at most one other port, which
 * moves one of its own, and so on, until one lands where there is room.
 */
#include "split_search.h"

static bool see_pair(struct fors_split_search *search, uint32_t port, uint32_t a, uint32_t b, fors_split_see see)
{
	uint32_t nlanes = search->ways->nlanes, lane = port % nlanes;
	const uint8_t *lanes = port < search->nports / 2 ? search->ways->up : search->ways->down;
	size_t first = fors_way(search->ways, a, b, 0);

	if (a == b)
		return false;
	if (search->ways->is_straight)
		return search->x[first + lane] > 0 && see(search, port, a, b, lane);
	fors_split_spend(search, nlanes / 2);
	for (uint32_t k = 0; k < nlanes; k++)
		if (lanes[first + k] == lane && search->x[first + k] > 0 && see(search, port, a, b, k))
			return true;
	return false;
}

bool fors_split_see_port(struct fors_split_search *search, uint32_t port, fors_split_see see)
{
	uint32_t nleaves = search->ways->nleaves, leaf = port / search->ways->nlanes;
	uint32_t turn = fors_xorshift_below(&search->random, nleaves);

	fors_split_spend(search, nleaves);
	for (uint32_t i = 0; i < nleaves; i++) {
		uint32_t other = turn + i < nleaves ? turn + i : turn + i - nleaves;
		bool done = leaf < nleaves ? see_pair(search, port, leaf, other, see)
					   : see_pair(search, port, other, leaf - nleaves, see);

		if (done)
			return true;
	}
	return false;
}

void fors_split_make_move(struct fors_split_search *search, const struct fors_split_move *move, int sign)
{
	fors_split_put(search, move->a, move->b, fors_way(search->ways, move->a, move->b, move->k), -sign);
	fors_split_put(search, move->a, move->b, fors_way(search->ways, move->a, move->b, move->to), sign);
}

/* Make (sign 1) or take back the moves of the chain that ends with *last. */
static void move_chain(struct fors_split_search *search, const struct fors_split_link *last, int sign)
{
	for (;; last = &search->link[last->port]) {
		fors_split_make_move(search, &last->move, sign);
		if (last->port == search->start)
			return;
	}
}

/* Make the moves of the chain that ends with *last; they stay when they help. (Two of them may use the same port.) */
static bool try_chain(struct fors_split_search *search, const struct fors_split_link *last)
{
	int64_t before = fors_split_overflow(search);

	move_chain(search, last, 1);
	if (fors_split_overflow(search) < before)
		return true;
	move_chain(search, last, -1);
	return false;
}

/* Is the port, where a flow arrives that does not use it now, full? */
static inline bool is_full(const struct fors_split_search *search, uint32_t port, uint32_t now)
{
	return port != now && search->load[port] >= search->limit;
}

/* Move a flow of (a, b) off `port`, from way k: the end of a chain (true: done), or more ports to go on from. */
static bool extend(struct fors_split_search *search, uint32_t port, uint32_t a, uint32_t b, uint32_t k)
{
	uint32_t nlanes = search->ways->nlanes, turn = fors_xorshift_below(&search->random, nlanes);
	size_t first = fors_way(search->ways, a, b, 0);
	uint32_t old_up = fors_split_up(search, a, first + k), old_down = fors_split_down(search, b, first + k);

	fors_split_spend(search, nlanes);
	for (uint32_t i = 0; i < nlanes; i++) {
		uint32_t to = turn + i < nlanes ? turn + i : turn + i - nlanes, up, down;
		struct fors_split_link link = {.move = {a, b, k, to}, .port = port, .is_seen = true};
		bool up_full, down_full;

		if (to == k || !fors_split_is_way(search, first + to))
			continue;
		up = fors_split_up(search, a, first + to);
		down = fors_split_down(search, b, first + to);
		up_full = is_full(search, up, old_up);
		down_full = is_full(search, down, old_down);
		if (up == port || down == port || (up_full && down_full))
			continue;
		if (!up_full && !down_full) {
			if (try_chain(search, &link))
				return true;
		} else if (!search->link[up_full ? up : down].is_seen) {
			search->link[up_full ? up : down] = link;
			search->queue[search->queued++] = up_full ? up : down;
		}
	}
	return false;
}

/* Take one flow off `start`, which has overflow, by a chain of moves. */
static bool relieve(struct fors_split_search *search, uint32_t start)
{
	fors_split_spend(search, search->nports / 2);
	for (uint32_t port = 0; port < search->nports; port++)
		search->link[port].is_seen = false;
	search->link[start].is_seen = true;
	search->start = start;
	search->queue[0] = start;
	search->queued = 1;
	for (uint32_t next = 0; next < search->queued && !fors_effort_is_over(search->effort); next++)
		if (fors_split_see_port(search, search->queue[next], extend))
			return true;
	return false;
}

int64_t fors_split_relieve_all(struct fors_split_search *search)
{
	bool helped = true;

	while (helped) {
		helped = false;
		for (uint32_t port = 0; port < search->nports; port++)
			while (fors_split_over(search, port) && !fors_split_is_over(search) && relieve(search, port))
				helped = true;
	}
	return fors_split_overflow(search);
}
