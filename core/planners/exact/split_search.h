/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split_search.h - what the steps of the search for a split share (private to split*.c; words: split.c).
 * Thread rules: a search belongs to one call.
 */
#ifndef FORS_CORE_PLANNERS_EXACT_SPLIT_SEARCH_H
#define FORS_CORE_PLANNERS_EXACT_SPLIT_SEARCH_H

#include "core/base/random.h"
#include "split.h"

/* One move of one flow from way k to way `to`. */
struct fors_split_move {
	uint32_t a, b, k, to;
};

/* A move of the tabu search, and what it costs. */
struct fors_split_choice {
	struct fors_split_move move;
	int64_t harm;
	uint32_t equals; /* moves seen that are as good */
};

/* A move of a chain, and the port that it relieves. */
struct fors_split_link {
	struct fors_split_move move;
	uint32_t port;
	bool is_seen;
};

struct fors_split_search {
	const struct fors_ways *ways;
	uint32_t nports; /* 2 x nleaves x nlanes: up ports, then down ports */
	int64_t limit;	 /* T, in pieces when pieces > 1 */
	int64_t pieces;	 /* that each flow is cut into */
	int64_t steep;	 /* price of a flow above T, in flows below it */
	int32_t *x;	 /* [a][b][k], in pieces */
	int64_t *load;	 /* of each port */
	uint32_t *order; /* pairs a * nleaves + b, those with few ways first */
	uint32_t npairs;
	uint32_t *tabu;		       /* [a][b][k]: no move to it before this step */
	uint32_t step;		       /* of the tabu search */
	struct fors_split_choice best; /* move of this step so far */
	struct fors_split_link *link;  /* per port: how the chain search came here */
	uint32_t *queue;	       /* ports of the chain search */
	uint32_t queued, start;	       /* how many; where the chain begins */
	int64_t *room;		       /* per way of the pair in hand: scratch */
	struct fors_xorshift random;
	struct fors_effort *effort; /* borrowed: work of all searches */
};

/* Cancelled (it asks), or out of work? Once true, for ever. */
static inline bool fors_split_is_over(struct fors_split_search *search)
{
	fors_effort_cancelled(search->effort);
	return fors_effort_is_over(search->effort);
}

/* Count work; the search hears of its end where it asks. */
static inline void fors_split_spend(const struct fors_split_search *search, uint64_t steps)
{
	fors_effort_spend(search->effort, steps);
}

/* Does the pair have this way? */
static inline bool fors_split_is_way(const struct fors_split_search *search, size_t way)
{
	return search->ways->up[way] != FORS_NO_WAY;
}

/* Where a way of (a, b) goes up, and where it comes down. */
static inline uint32_t fors_split_up(const struct fors_split_search *search, uint32_t a, size_t way)
{
	return a * search->ways->nlanes + search->ways->up[way];
}

static inline uint32_t fors_split_down(const struct fors_split_search *search, uint32_t b, size_t way)
{
	return (search->ways->nleaves + b) * search->ways->nlanes + search->ways->down[way];
}

/* Of the pair, in pieces. */
static inline int64_t fors_split_flows(const struct fors_split_search *search, uint32_t a, uint32_t b)
{
	return (int64_t)search->ways->servers[a] * search->ways->servers[b] * search->pieces;
}

/* What the port carries above the limit. */
static inline int64_t fors_split_over(const struct fors_split_search *search, uint32_t port)
{
	int64_t more = search->load[port] - search->limit;

	return more > 0 ? more : 0;
}

/* What all ports do; 0: a split. */
static inline int64_t fors_split_overflow(const struct fors_split_search *search)
{
	int64_t sum = 0;

	fors_split_spend(search, search->nports / 4);
	for (uint32_t port = 0; port < search->nports; port++)
		sum += fors_split_over(search, port);
	return sum;
}

/* Put n more (or less) flows on a way. */
static inline void fors_split_put(struct fors_split_search *search, uint32_t a, uint32_t b, size_t way, int64_t n)
{
	search->x[way] += (int32_t)n;
	search->load[fors_split_up(search, a, way)] += n;
	search->load[fors_split_down(search, b, way)] += n;
}

/* split_fill.c: all pairs from nothing. */
void fors_split_fill_all(struct fors_split_search *search);
/* Fill in again the pairs that use ports with overflow. */
void fors_split_sweep(struct fors_split_search *search);
/* Sweep while it helps, at most `sweeps` times; returns the overflow. */
int64_t fors_split_sweep_down(struct fors_split_search *search, uint32_t sweeps);

/* Visit the flows that use a port: called with port, a, b, way index k, until it returns true. */
typedef bool (*fors_split_see)(struct fors_split_search *search, uint32_t port, uint32_t a, uint32_t b, uint32_t k);
/* split_chains.c: flows of all pairs, in an order that chance begins; true: see() was content. */
bool fors_split_see_port(struct fors_split_search *search, uint32_t port, fors_split_see see);
/* Make a move (sign 1), or take it back (-1). */
void fors_split_make_move(struct fors_split_search *search, const struct fors_split_move *move, int sign);
/* Chains from every port with overflow, while they work; returns the overflow. */
int64_t fors_split_relieve_all(struct fors_split_search *search);

/* split_tabu.c: search from where we are, so many steps at most; returns the overflow. */
int64_t fors_split_tabu_search(struct fors_split_search *search, uint32_t steps);

/* split_proof.c: the largest T that prices prove to be needed, from the search for prices at T = phases; 0: none. */
int64_t fors_split_find_proof(struct fors_split_search *search, int64_t phases);

#endif
