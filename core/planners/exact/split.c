/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split.c - step 1 of the exact planner: the split of all flows over the lanes.
 *
 * Find whole numbers x[a][b][k] >= 0 with sum_k x[a][b][k] = n_a n_b, such that no lane
 * carries more than T flows up from any leaf or down to any leaf. "Port" is the end of a lane at a leaf in
 * one direction: (leaf, lane, up or down); load is what it carries; the goal is overflow 0,
 * overflow being what all ports carry above T.
 *
 * The search, each step from where the one before it ended:
 *
 * 1. split_fill.c: fill pair by pair towards level loads, and sweep: re-fill what uses a port with overflow. Nearly
 *    always that is all.
 * 2. split_chains.c: from a port with overflow a chain of moves to where there is room.
 * 3. split_tabu.c: when chains find nothing, moves that do least harm, from several fresh fills.
 *
 * When no split is found, maybe there is none: split_proof.c takes overflows as prices, which prove a bound on T to
 * go on from. It has a search of its own, with flows cut into small pieces.
 *
 * Where path indices are few and leaves lack cables T may be far above the bound, and each T below it costs a search in
 * vain. So all searches together have a budget of steps, linear in the flows. When that is spent T goes up in larger
 * steps until filling alone gives a split.
 */
#include "split.h"

#include <stdlib.h>

#include "split_search.h"

#define STEEP 64	/* price of a flow above T, in flows below it, when looking for a split */
#define CLIFF (1 << 20) /* the same when looking for prices */
#define SWEEPS 30	/* of whole flows */
#define LAST_SWEEPS 4	/* when the work is spent */
#define PIECES 64	/* a flow is cut into, for prices */
#define TRIES 6		/* tabu searches for one T, each from a fresh fill */
#define STEPS 4000	/* of each, at least */
#define WORK_AT_LEAST UINT64_C(20000000)
#define WORK_PER_FLOW 400 /* steps, beside those */
#define SEED UINT64_C(0x2545F4914F6CDD1D)

static void search_free(struct fors_split_search *search)
{
	free(search->x);
	free(search->load);
	free(search->order);
	free(search->tabu);
	free(search->link);
	free(search->queue);
	free(search->room);
}

static bool search_alloc(struct fors_split_search *search, const struct fors_ways *ways)
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

static uint32_t count_ways(const struct fors_split_search *search, uint32_t a, uint32_t b)
{
	size_t first = fors_way(search->ways, a, b, 0);
	uint32_t n = 0;

	for (uint32_t k = 0; k < search->ways->nlanes; k++)
		n += fors_split_is_way(search, first + k);
	return n;
}

/* The pairs that have flows, by number of ways (counting sort). */
static void order_pairs(struct fors_split_search *search)
{
	uint32_t nleaves = search->ways->nleaves;
	uint32_t start[FORS_NO_WAY + 2] = {0};

	for (uint32_t pair = 0; pair < nleaves * nleaves; pair++) {
		uint32_t a = pair / nleaves, b = pair % nleaves;

		if (a != b && fors_split_flows(search, a, b))
			start[count_ways(search, a, b) + 1]++;
	}
	for (uint32_t n = 0; n <= FORS_NO_WAY; n++)
		start[n + 1] += start[n];
	search->npairs = start[FORS_NO_WAY + 1];
	for (uint32_t pair = 0; pair < nleaves * nleaves; pair++) {
		uint32_t a = pair / nleaves, b = pair % nleaves;

		if (a != b && fors_split_flows(search, a, b))
			search->order[start[count_ways(search, a, b)]++] = pair;
	}
}

/* Mix the order of pairs with as many ways; the first try keeps it. */
static void mix_order(struct fors_split_search *search)
{
	for (uint32_t i = 1; i < search->npairs; i++) {
		uint32_t j = i - fors_xorshift_below(&search->random, i < 8 ? i + 1 : 8), t = search->order[i];

		search->order[i] = search->order[j];
		search->order[j] = t;
	}
}

/* A split for T = limit in search->x? */
static bool find_quickly(struct fors_split_search *search)
{
	fors_split_fill_all(search);
	if (fors_split_sweep_down(search, SWEEPS) == 0)
		return true;
	return fors_split_relieve_all(search) == 0;
}

static bool find_patiently(struct fors_split_search *search)
{
	for (int try = 0; try < TRIES; try++) {
		if (try > 0) {
			mix_order(search);
			fors_split_fill_all(search);
			fors_split_sweep_down(search, SWEEPS);
		}
		if (fors_split_relieve_all(search) == 0 || fors_split_tabu_search(search, STEPS) == 0)
			return true;
		if (fors_split_is_over(search))
			return false;
	}
	return false;
}

static enum fors_err finish(const struct fors_split_search *search, uint16_t **split, struct fors_error *error)
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

/* Try T = bound and up, until it works or the effort is over; search is for whole flows, prices for pieces. */
static bool try_phases(struct fors_split_search *search, struct fors_split_search *prices, int64_t *phases,
		       int64_t *bound)
{
	for (;; ++*phases) {
		search->limit = *phases;
		if (find_quickly(search))
			return true;
		if (*bound == *phases) {
			int64_t proven = fors_split_find_proof(prices, *phases);

			if (proven > *phases) {
				*bound = proven;
				*phases = proven - 1;
			}
		}
		if (fors_split_is_over(search))
			return false;
		if (*phases < *bound)
			continue;
		if (find_patiently(search))
			return true;
		if (fors_split_is_over(search))
			return false;
	}
}

/* The work is spent: T in larger and larger steps, until filling gives a split. False: cancelled. */
static bool try_more_phases(struct fors_split_search *search, int64_t *phases)
{
	search->effort->budget = UINT64_MAX;
	for (int64_t more = 1; !fors_split_is_over(search); more += (more + 1) / 2) {
		*phases += more;
		search->limit = *phases;
		fors_split_fill_all(search);
		if (fors_split_sweep_down(search, LAST_SWEEPS) == 0)
			return true;
	}
	return false;
}

/* In *phases and *bound, from what they were on. Errors: FORS_ECANCELLED. */
static enum fors_err find(struct fors_split_search *search, struct fors_split_search *prices, int64_t *phases,
			  int64_t *bound, struct fors_error *error)
{
	order_pairs(search);
	order_pairs(prices);
	if ((try_phases(search, prices, phases, bound) || try_more_phases(search, phases)) &&
	    !search->effort->is_cancelled) /* whoever said so is not asked again */
		return FORS_OK;
	return fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
}

static struct fors_split_search new_search(const struct fors_ways *ways, int64_t pieces, int64_t steep,
					   struct fors_effort *effort)
{
	return (struct fors_split_search){
		.ways = ways, .pieces = pieces, .steep = steep, .random = {SEED}, .effort = effort};
}

/* Nearly all splits take a few steps for each flow. */
uint64_t fors_split_budget(uint32_t nservers)
{
	return WORK_AT_LEAST + WORK_PER_FLOW * (uint64_t)nservers * nservers;
}

enum fors_err fors_split_find(const struct fors_ways *ways, uint32_t at_least, struct fors_effort *effort,
			      uint16_t **split, uint32_t *phases, uint32_t *bound, struct fors_error *error)
{
	struct fors_split_search search = new_search(ways, 1, STEEP, effort);
	struct fors_split_search prices = new_search(ways, PIECES, CLIFF, effort);
	int64_t found = at_least, proven = at_least;
	enum fors_err err = FORS_OK;

	if (!search_alloc(&search, ways) || !search_alloc(&prices, ways))
		err = fors_fail_memory(error);
	if (!err)
		err = find(&search, &prices, &found, &proven, error);
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
