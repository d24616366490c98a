/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split.c - step 1 of the exact planner: the split of all flows over the lanes.
 *
 * Find whole numbers x[a][b][k] >= 0 with sum_k x[a][b][k] = n_a n_b, such that no lane
 * carries more than T flows up from any leaf or down to any leaf. "Port" is the end of a lane at a leaf in
 * one direction: (leaf, lane, up or down); load is what it carries; the goal is overflow 0,
 * overflow being what all ports carry above T.
 *
 * 1. Fill. Pair by pair, those with few ways first, spread the flows of a pair so that the
 *    sum of the squares of the loads grows least (like water in a vessel: to a common
 *    level of up load plus down load). Then sweep: take the pairs that use a port with overflow
 *    off and fill them in again, with a steep price on what is above T. This is coordinate
 *    descent on a convex function, and nearly always ends at overflow 0.
 * 2. Chains. From a port with overflow look breadth-first for a chain of moves: one flow goes
 *    from this port to another way, which puts one flow too many on at most one other port, which
 *    moves one of its own, and so on, until one lands where there is room.
 * 3. Tabu search. Move the flow that does least harm off some port with overflow, do not let its
 *    pair come back to that way for a while, and try chains again whenever overflow is small.
 *
 * When no split is found, maybe there is none. Give every port a price y >= 0, not all 0. A flow of
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
#include "split.h"

#include <stdlib.h>
#include <string.h>

#define STEEP 64	/* price of a flow above T, in flows below it, when looking for a split */
#define CLIFF (1 << 20) /* the same when looking for prices */
#define SWEEPS 30	/* of whole flows */
#define PIECES 64	/* a flow is cut into, for prices */
#define PRICE_SWEEPS 400
#define TRIES 6	   /* tabu searches for one T, each from a fresh fill */
#define STEPS 4000 /* of each, at least */
#define SEED UINT64_C(0x2545F4914F6CDD1D)
#define TENURE 12 /* steps that a move is tabu, and up to as many more */

/* One move of one flow from way k to way `to`. */
struct move {
	uint32_t a, b, k, to;
};

/* A move of the tabu search, and what it costs. */
struct choice {
	struct move move;
	int64_t harm;
	uint32_t equals; /* moves seen that are as good */
};

/* A move of a chain, and the port that it relieves. */
struct link {
	struct move move;
	uint32_t port;
	bool is_seen;
};

struct search {
	const struct fors_ways *ways;
	uint32_t nports; /* 2 x nleaves x nlanes: up ports, then down ports */
	int64_t limit;	 /* T, in pieces when pieces > 1 */
	int64_t pieces;	 /* that each flow is cut into */
	int64_t steep;	 /* STEEP or CLIFF */
	int32_t *x;	 /* [a][b][k], in pieces */
	int64_t *load;	 /* of each port */
	uint32_t *order; /* pairs a * nleaves + b, those with few ways first */
	uint32_t npairs;
	uint32_t *tabu;		/* [a][b][k]: no move to it before this step */
	uint32_t step;		/* of the tabu search */
	struct choice best;	/* move of this step so far */
	struct link *link;	/* per port: how the chain search came here */
	uint32_t *queue;	/* ports of the chain search */
	uint32_t queued, start; /* how many; where the chain begins */
	int64_t *room;		/* per way of the pair in hand: scratch */
	uint64_t random;
	bool (*cancelled)(void *context);
	void *context;
	bool stop; /* it was cancelled */
};

static uint32_t random_below(struct search *search, uint32_t n)
{
	search->random ^= search->random << 13;
	search->random ^= search->random >> 7;
	search->random ^= search->random << 17;
	return (uint32_t)(((search->random >> 32) * n) >> 32);
}

static bool is_cancelled(struct search *search)
{
	if (!search->stop && search->cancelled)
		search->stop = search->cancelled(search->context);
	return search->stop;
}

static inline bool is_way(const struct search *search, size_t way)
{
	return search->ways->up[way] != FORS_NO_WAY;
}

static inline uint32_t up_port(const struct search *search, uint32_t a, size_t way)
{
	return a * search->ways->nlanes + search->ways->up[way];
}

static inline uint32_t down_port(const struct search *search, uint32_t b, size_t way)
{
	return (search->ways->nleaves + b) * search->ways->nlanes + search->ways->down[way];
}

static int64_t flows_of(const struct search *search, uint32_t a, uint32_t b)
{
	return (int64_t)search->ways->servers[a] * search->ways->servers[b] * search->pieces;
}

static int64_t over(const struct search *search, uint32_t port)
{
	int64_t more = search->load[port] - search->limit;

	return more > 0 ? more : 0;
}

static int64_t overflow(const struct search *search)
{
	int64_t sum = 0;

	for (uint32_t port = 0; port < search->nports; port++)
		sum += over(search, port);
	return sum;
}

/* Put n more (or less) flows on a way. */
static inline void put(struct search *search, uint32_t a, uint32_t b, size_t way, int64_t n)
{
	search->x[way] += (int32_t)n;
	search->load[up_port(search, a, way)] += n;
	search->load[down_port(search, b, way)] += n;
}

/* ---- 1. filling ---- */

/*
 * How many flows a way takes before the price of one more exceeds `level`. The price
 * of the flow that comes to load l is l, plus `steep` times what is above the limit, at both ports.
 */
static inline int64_t takes(const struct search *search, int64_t one, int64_t other, int64_t level)
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

static int64_t take_all(const struct search *search, uint32_t a, uint32_t b, int64_t level)
{
	size_t first = fors_way(search->ways, a, b, 0);
	int64_t sum = 0;

	for (uint32_t k = 0; k < search->ways->nlanes; k++) {
		if (is_way(search, first + k))
			sum += takes(search, search->load[up_port(search, a, first + k)],
				     search->load[down_port(search, b, first + k)], level);
	}
	return sum;
}

/* The highest level at which all ways of the pair take no more than n. */
static int64_t level_for(const struct search *search, uint32_t a, uint32_t b, int64_t n)
{
	int64_t low = 0, high = 4 * (search->limit + n) + 4, top = high * search->steep;

	while (take_all(search, a, b, high) <= n && high < top)
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
static void fill(struct search *search, uint32_t a, uint32_t b)
{
	uint32_t nlanes = search->ways->nlanes, turn = (a + b) % nlanes;
	size_t first = fors_way(search->ways, a, b, 0);
	int64_t left = flows_of(search, a, b), level = level_for(search, a, b, left);

	for (uint32_t k = 0; k < nlanes; k++) {
		if (is_way(search, first + k))
			search->room[k] = takes(search, search->load[up_port(search, a, first + k)],
						search->load[down_port(search, b, first + k)], level);
	}
	for (uint32_t k = 0; k < nlanes; k++) {
		if (is_way(search, first + k)) {
			put(search, a, b, first + k, search->room[k]);
			left -= search->room[k];
		}
	}
	for (int pass = 0; left > 0;
	     pass++) { /* the rest, fewer than the ways: one each, to those at the level first */
		for (uint32_t i = 0; i < nlanes && left > 0; i++) {
			size_t way = first + (turn + i) % nlanes;

			if (!is_way(search, way))
				continue;
			if (pass == 0 && takes(search, search->load[up_port(search, a, way)],
					       search->load[down_port(search, b, way)], level + 1) == 0)
				continue;
			put(search, a, b, way, 1);
			left--;
		}
	}
}

static void empty(struct search *search, uint32_t a, uint32_t b)
{
	size_t first = fors_way(search->ways, a, b, 0);

	for (uint32_t k = 0; k < search->ways->nlanes; k++)
		if (is_way(search, first + k))
			put(search, a, b, first + k, -search->x[first + k]);
}

static void fill_all(struct search *search)
{
	memset(search->load, 0, search->nports * sizeof(*search->load));
	memset(search->x, 0, fors_way(search->ways, search->ways->nleaves, 0, 0) * sizeof(*search->x));
	for (uint32_t i = 0; i < search->npairs; i++)
		fill(search, search->order[i] / search->ways->nleaves, search->order[i] % search->ways->nleaves);
}

/* Does the pair put flows on a port with overflow? */
static bool is_over(const struct search *search, uint32_t a, uint32_t b)
{
	size_t first = fors_way(search->ways, a, b, 0);

	for (uint32_t k = 0; k < search->ways->nlanes; k++) {
		if (search->x[first + k] > 0 &&
		    (over(search, up_port(search, a, first + k)) || over(search, down_port(search, b, first + k))))
			return true;
	}
	return false;
}

/* Fill in again the pairs that use ports with overflow. */
static void sweep(struct search *search)
{
	for (uint32_t i = 0; i < search->npairs; i++) {
		uint32_t a = search->order[i] / search->ways->nleaves, b = search->order[i] % search->ways->nleaves;

		if (!is_over(search, a, b))
			continue;
		empty(search, a, b);
		fill(search, a, b);
	}
}

/* Sweep while it helps, at most `sweeps` times; returns the overflow. */
static int64_t sweep_down(struct search *search, uint32_t sweeps)
{
	int64_t now = overflow(search), best = now;
	uint32_t idle = 0;

	for (uint32_t i = 0; now > 0 && i < sweeps && idle < 4 && !is_cancelled(search); i++) {
		sweep(search);
		now = overflow(search);
		idle = now < best ? 0 : idle + 1;
		best = now < best ? now : best;
	}
	return now;
}

/* ---- 2. chains ---- */

/* Visit the flows that use a port: calls see(search, port, a, b, way index k) until it returns true. */
typedef bool (*see_flow)(struct search *search, uint32_t port, uint32_t a, uint32_t b, uint32_t k);

static bool see_pair(struct search *search, uint32_t port, uint32_t a, uint32_t b, see_flow see)
{
	uint32_t nlanes = search->ways->nlanes, lane = port % nlanes;
	const uint8_t *lanes = port < search->nports / 2 ? search->ways->up : search->ways->down;
	size_t first = fors_way(search->ways, a, b, 0);

	if (a == b)
		return false;
	if (search->ways->is_straight)
		return search->x[first + lane] > 0 && see(search, port, a, b, lane);
	for (uint32_t k = 0; k < nlanes; k++)
		if (lanes[first + k] == lane && search->x[first + k] > 0 && see(search, port, a, b, k))
			return true;
	return false;
}

static bool see_port(struct search *search, uint32_t port, see_flow see)
{
	uint32_t nleaves = search->ways->nleaves, leaf = port / search->ways->nlanes;
	uint32_t turn = random_below(search, nleaves);

	for (uint32_t i = 0; i < nleaves; i++) {
		uint32_t other = turn + i < nleaves ? turn + i : turn + i - nleaves;
		bool done = leaf < nleaves ? see_pair(search, port, leaf, other, see)
					   : see_pair(search, port, other, leaf - nleaves, see);

		if (done)
			return true;
	}
	return false;
}

static void make_move(struct search *search, const struct move *move, int sign)
{
	put(search, move->a, move->b, fors_way(search->ways, move->a, move->b, move->k), -sign);
	put(search, move->a, move->b, fors_way(search->ways, move->a, move->b, move->to), sign);
}

/* Make (sign 1) or take back the moves of the chain that ends with *last. */
static void move_chain(struct search *search, const struct link *last, int sign)
{
	for (;; last = &search->link[last->port]) {
		make_move(search, &last->move, sign);
		if (last->port == search->start)
			return;
	}
}

/* Make the moves of the chain that ends with *last; they stay when they help. (Two of them may use the same port.) */
static bool try_chain(struct search *search, const struct link *last)
{
	int64_t before = overflow(search);

	move_chain(search, last, 1);
	if (overflow(search) < before)
		return true;
	move_chain(search, last, -1);
	return false;
}

/* Is the port, where a flow arrives that does not use it now, full? */
static inline bool is_full(const struct search *search, uint32_t port, uint32_t now)
{
	return port != now && search->load[port] >= search->limit;
}

/* Move a flow of (a, b) off `port`, from way k: the end of a chain (true: done), or more ports to go on from. */
static bool extend(struct search *search, uint32_t port, uint32_t a, uint32_t b, uint32_t k)
{
	uint32_t nlanes = search->ways->nlanes, turn = random_below(search, nlanes);
	size_t first = fors_way(search->ways, a, b, 0);
	uint32_t old_up = up_port(search, a, first + k), old_down = down_port(search, b, first + k);

	for (uint32_t i = 0; i < nlanes; i++) {
		uint32_t to = turn + i < nlanes ? turn + i : turn + i - nlanes, up, down;
		struct link link = {.move = {a, b, k, to}, .port = port, .is_seen = true};
		bool up_full, down_full;

		if (to == k || !is_way(search, first + to))
			continue;
		up = up_port(search, a, first + to);
		down = down_port(search, b, first + to);
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
static bool relieve(struct search *search, uint32_t start)
{
	for (uint32_t port = 0; port < search->nports; port++)
		search->link[port].is_seen = false;
	search->link[start].is_seen = true;
	search->start = start;
	search->queue[0] = start;
	search->queued = 1;
	for (uint32_t next = 0; next < search->queued; next++)
		if (see_port(search, search->queue[next], extend))
			return true;
	return false;
}

/* Chains from every port with overflow, while they work; returns the overflow. */
static int64_t relieve_all(struct search *search)
{
	bool helped = true;

	while (helped) {
		helped = false;
		for (uint32_t port = 0; port < search->nports; port++)
			while (over(search, port) && !is_cancelled(search) && relieve(search, port))
				helped = true;
	}
	return overflow(search);
}

/* ---- 3. tabu search ---- */

/* How much overflow a move of one flow from way `from` to way `to` adds; small changes of level break ties. */
static int64_t harm(const struct search *search, uint32_t a, uint32_t b, size_t from, size_t to)
{
	uint32_t off[2] = {up_port(search, a, from), down_port(search, b, from)};
	uint32_t on[2] = {up_port(search, a, to), down_port(search, b, to)};
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
static bool consider(struct search *search, uint32_t port, uint32_t a, uint32_t b, uint32_t k)
{
	size_t first = fors_way(search->ways, a, b, 0);
	struct choice *best = &search->best;

	(void)port;
	for (uint32_t to = 0; to < search->ways->nlanes; to++) {
		int64_t cost;

		if (to == k || !is_way(search, first + to) || search->tabu[first + to] > search->step)
			continue;
		cost = harm(search, a, b, first + k, first + to);
		if (best->equals && cost > best->harm)
			continue;
		if (!best->equals || cost < best->harm)
			best->equals = 0;
		best->harm = cost;
		if (random_below(search, ++best->equals) == 0)
			best->move = (struct move){a, b, k, to};
	}
	return false;
}

/* Some port with overflow, each as likely as the next; there is one. */
static uint32_t pick_over(struct search *search)
{
	uint32_t found = 0, seen = 0;

	for (uint32_t port = 0; port < search->nports; port++)
		if (over(search, port) && random_below(search, ++seen) == 0)
			found = port;
	return found;
}

static void tabu_step(struct search *search)
{
	search->step++;
	search->best.equals = 0;
	see_port(search, pick_over(search), consider);
	if (!search->best.equals)
		return;
	make_move(search, &search->best.move, 1);
	search->tabu[fors_way(search->ways, search->best.move.a, search->best.move.b, search->best.move.k)] =
		search->step + TENURE + random_below(search, TENURE);
}

/* Search from where we are; returns the overflow. */
static int64_t tabu_search(struct search *search, uint32_t steps)
{
	int64_t now = overflow(search), best = now;

	search->step = 0;
	memset(search->tabu, 0, fors_way(search->ways, search->ways->nleaves, 0, 0) * sizeof(*search->tabu));
	for (uint32_t i = 1; now > 0 && i <= steps; i++) {
		if (is_cancelled(search))
			return now;
		tabu_step(search);
		now = overflow(search);
		if (now < best || i % 64 == 0)
			now = relieve_all(search);
		best = now < best ? now : best;
	}
	return now;
}

/* ---- the proof ---- */

/* The bound on T that the overflows prove when they are taken as prices. */
static int64_t proven_bound(const struct search *search)
{
	int64_t paid = 0, prices = 0;

	for (uint32_t i = 0; i < search->npairs; i++) {
		uint32_t a = search->order[i] / search->ways->nleaves, b = search->order[i] % search->ways->nleaves;
		size_t first = fors_way(search->ways, a, b, 0);
		int64_t least = INT64_MAX;

		for (uint32_t k = 0; k < search->ways->nlanes; k++) {
			if (is_way(search, first + k)) {
				int64_t price = over(search, up_port(search, a, first + k)) +
						over(search, down_port(search, b, first + k));

				least = price < least ? price : least;
			}
		}
		paid += flows_of(search, a, b) / search->pieces * least;
	}
	for (uint32_t port = 0; port < search->nports; port++)
		prices += over(search, port);
	return prices ? (paid + prices - 1) / prices : 0;
}

/* ---- the whole ---- */

static void search_free(struct search *search)
{
	free(search->x);
	free(search->load);
	free(search->order);
	free(search->tabu);
	free(search->link);
	free(search->queue);
	free(search->room);
}

static bool search_alloc(struct search *search, const struct fors_ways *ways)
{
	size_t nways = fors_way(ways, ways->nleaves, 0, 0) + 1;

	search->nports = 2 * ways->nleaves * ways->nlanes;
	search->x = calloc(nways, sizeof(*search->x));
	search->load = calloc((size_t)search->nports + 1, sizeof(*search->load));
	search->order = calloc((size_t)ways->nleaves * ways->nleaves + 1, sizeof(*search->order));
	search->tabu = calloc(nways, sizeof(*search->tabu));
	search->link = calloc((size_t)search->nports + 1, sizeof(*search->link));
	search->queue = calloc((size_t)search->nports + 1, sizeof(*search->queue));
	search->room = calloc((size_t)ways->nlanes + 1, sizeof(*search->room));
	return search->x && search->load && search->order && search->tabu && search->link && search->queue &&
	       search->room;
}

static uint32_t count_ways(const struct search *search, uint32_t a, uint32_t b)
{
	size_t first = fors_way(search->ways, a, b, 0);
	uint32_t n = 0;

	for (uint32_t k = 0; k < search->ways->nlanes; k++)
		n += is_way(search, first + k);
	return n;
}

/* The pairs that have flows, by number of ways (counting sort). */
static void order_pairs(struct search *search)
{
	uint32_t nleaves = search->ways->nleaves;
	uint32_t start[FORS_NO_WAY + 2] = {0};

	for (uint32_t pair = 0; pair < nleaves * nleaves; pair++) {
		uint32_t a = pair / nleaves, b = pair % nleaves;

		if (a != b && flows_of(search, a, b))
			start[count_ways(search, a, b) + 1]++;
	}
	for (uint32_t n = 0; n <= FORS_NO_WAY; n++)
		start[n + 1] += start[n];
	search->npairs = start[FORS_NO_WAY + 1];
	for (uint32_t pair = 0; pair < nleaves * nleaves; pair++) {
		uint32_t a = pair / nleaves, b = pair % nleaves;

		if (a != b && flows_of(search, a, b))
			search->order[start[count_ways(search, a, b)]++] = pair;
	}
}

/* Mix the order of pairs with as many ways; the first try keeps it. */
static void mix_order(struct search *search)
{
	for (uint32_t i = 1; i < search->npairs; i++) {
		uint32_t j = i - random_below(search, i < 8 ? i + 1 : 8), t = search->order[i];

		search->order[i] = search->order[j];
		search->order[j] = t;
	}
}

/* A split for T = limit in search->x? */
static bool find_quickly(struct search *search)
{
	fill_all(search);
	if (sweep_down(search, SWEEPS) == 0)
		return true;
	return relieve_all(search) == 0;
}

static bool find_patiently(struct search *search)
{
	for (int try = 0; try < TRIES; try++) {
		if (try > 0) {
			mix_order(search);
			fill_all(search);
			sweep_down(search, SWEEPS);
		}
		if (relieve_all(search) == 0 || tabu_search(search, STEPS) == 0)
			return true;
		if (is_cancelled(search))
			return false;
	}
	return false;
}

/* The largest T that prices prove to be needed, from the search for prices at T = limit; 0: none. */
static int64_t find_proof(struct search *search, int64_t phases)
{
	int64_t best = 0;

	search->limit = phases * search->pieces;
	fill_all(search);
	for (int i = 0; i < PRICE_SWEEPS && overflow(search) > 0 && !is_cancelled(search); i++) {
		sweep(search);
		if (i % 4 == 3 && best <= phases)
			best = proven_bound(search);
	}
	return best;
}

static enum fors_err finish(const struct search *search, uint16_t **split, struct fors_error *error)
{
	size_t nways = fors_way(search->ways, search->ways->nleaves, 0, 0);
	uint16_t *x = malloc((nways + 1) * sizeof(*x));

	if (!x)
		return fors_fail_memory(error);
	for (size_t way = 0; way < nways; way++)
		x[way] = (uint16_t)search->x[way];
	*split = x;
	return FORS_OK;
}

/* Try T = bound and up; search is for whole flows, prices for pieces. */
static enum fors_err try_phases(struct search *search, struct search *prices, int64_t *phases, int64_t *bound)
{
	for (;; ++*phases) {
		search->limit = *phases;
		if (find_quickly(search))
			return FORS_OK;
		if (*bound == *phases) {
			int64_t proven = find_proof(prices, *phases);

			if (prices->stop)
				return FORS_ECANCELLED;
			if (proven > *phases) {
				*bound = proven;
				*phases = proven - 1;
				continue;
			}
		}
		if (find_patiently(search))
			return FORS_OK;
		if (is_cancelled(search))
			return FORS_ECANCELLED;
	}
}

enum fors_err fors_split_find(const struct fors_ways *ways, uint32_t at_least, bool (*cancelled)(void *context),
			      void *context, uint16_t **split, uint32_t *phases, uint32_t *bound,
			      struct fors_error *error)
{
	struct search search = {
		.ways = ways, .pieces = 1, .steep = STEEP, .random = SEED, .cancelled = cancelled, .context = context};
	struct search prices = {.ways = ways,
				.pieces = PIECES,
				.steep = CLIFF,
				.random = SEED,
				.cancelled = cancelled,
				.context = context};
	int64_t found = at_least, proven = at_least;
	enum fors_err err = FORS_OK;

	if (!search_alloc(&search, ways) || !search_alloc(&prices, ways))
		err = fors_fail_memory(error);
	if (!err) {
		order_pairs(&search);
		order_pairs(&prices);
		err = try_phases(&search, &prices, &found, &proven);
		if (err)
			fors_fail(error, err, "planning was cancelled");
	}
	if (!err)
		err = finish(&search, split, error);
	if (!err) {
		*phases = (uint32_t)found;
		*bound = (uint32_t)proven;
	}
	search_free(&search);
	search_free(&prices);
	return err;
}
