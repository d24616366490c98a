/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * choice.c - what tables with several LIDs need, whichever path index each flow takes.
 *
 * Give every link a price, and let each flow take its cheapest way. In a phase a link carries one flow at most, so a
 * phase sells links for the sum of all prices at most; the exchange buys for demand at least, whatever ways flows take.
 * So T >= demand / price, for any prices: that is a certificate, and linear programming says that the best prices reach
 * what the best mixture of ways needs.
 *
 * They are found by growing: unit after unit takes the way that is cheapest now, and its links become dearer by a share
 * of its tokens; round after round. What is full whatever is chosen becomes dear, what can be gone round stays cheap.
 * Prices are cut to whole numbers before demand is counted, so the bound is exact whatever was rounded on the way. Where
 * a cut is the limit all its links should have one price, and others none; so after the rounds the dearest links are
 * tried so too.
 */
#include "choice.h"

#include <stdlib.h>
#include <string.h>

#define STEPS UINT64_C(60000000) /* links of ways looked at, in all */
#define ROUNDS_LEAST 6
#define ROUNDS_MOST 96
#define GROWTH 0.5	   /* of a price, in a round in which a link has as many tokens as the limit */
#define DEAREST (1u << 16) /* whole prices go up to this */
#define TOO_DEAR 1e150	   /* then all are scaled down */
#define NEAR_ENOUGH 2000   /* the bound may be below what a mixture of ways needs by 1 part in so many */

struct growing {
	const struct fors_flows_problem *p;
	double *price;	  /* per link */
	uint64_t *load;	  /* per link: tokens of all rounds so far */
	uint32_t *whole;  /* per link: prices to be tried as a certificate */
	uint32_t limit;	  /* the fullest link of some mixture of ways */
	uint32_t nrounds; /* so far */
	struct fors_flows_choice best;
};

void fors_flows_choice_clear(struct fors_flows_choice *choice)
{
	free(choice->price_of);
	*choice = (struct fors_flows_choice){0};
}

/* ---- a certificate ---- */

static uint64_t price_of_way(const struct fors_flows_problem *p, const uint32_t *whole, uint32_t way)
{
	uint64_t sum = 0;

	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
		sum += whole[p->link[i]];
	return sum;
}

static uint64_t cheapest(const struct fors_flows_problem *p, const uint32_t *whole, uint32_t unit)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t way = unit * p->npaths; way < (unit + 1) * p->npaths; way++)
		if (p->exists[way]) {
			uint64_t price = price_of_way(p, whole, way);

			least = price < least ? price : least;
		}
	return least == UINT64_MAX ? 0 : least;
}

/* Count what these whole prices prove, and keep them if that is more. */
static void try_prices(struct growing *g)
{
	const struct fors_flows_problem *p = g->p;
	uint64_t demand = 0, price = 0, bound;

	for (uint32_t i = 0; i < p->nlinks; i++)
		price += g->whole[i];
	for (uint32_t unit = 0; price && unit < fors_flows_units(p); unit++)
		if (fors_flows_tokens(p, unit))
			demand += fors_flows_tokens(p, unit) * cheapest(p, g->whole, unit);
	bound = price ? (demand + price - 1) / price : 0;
	if (bound <= g->best.bound || bound > UINT32_MAX)
		return;
	g->best.bound = (uint32_t)bound;
	g->best.demand = demand;
	g->best.price = price;
	memcpy(g->best.price_of, g->whole, p->nlinks * sizeof(*g->whole));
}

static double dearest(const struct growing *g)
{
	double most = 0;

	for (uint32_t i = 0; i < g->p->nlinks; i++)
		most = g->price[i] > most ? g->price[i] : most;
	return most;
}

static void try_grown(struct growing *g)
{
	double most = dearest(g);

	for (uint32_t i = 0; i < g->p->nlinks; i++)
		g->whole[i] = (uint32_t)(g->price[i] / most * DEAREST);
	try_prices(g);
}

/* All links that have at least this share of the dearest price, at one price. */
static void try_cut(struct growing *g, double share)
{
	double least = dearest(g) * share;

	for (uint32_t i = 0; i < g->p->nlinks; i++)
		g->whole[i] = g->price[i] >= least;
	try_prices(g);
}

/* ---- growing ---- */

static uint32_t cheapest_way(const struct growing *g, uint32_t unit)
{
	const struct fors_flows_problem *p = g->p;
	double least = 0;
	uint32_t best = FORS_FLOWS_NONE;

	for (uint32_t way = unit * p->npaths; way < (unit + 1) * p->npaths; way++) {
		double price = 0;

		if (!p->exists[way])
			continue;
		for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
			price += g->price[p->link[i]];
		if (best == FORS_FLOWS_NONE || price < least) {
			least = price;
			best = way;
		}
	}
	return best;
}

static void grow(struct growing *g)
{
	const struct fors_flows_problem *p = g->p;

	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++) {
		uint32_t tokens = fors_flows_tokens(p, unit), way = tokens ? cheapest_way(g, unit) : FORS_FLOWS_NONE;

		for (uint32_t i = way == FORS_FLOWS_NONE ? 0 : p->begin[way];
		     way != FORS_FLOWS_NONE && i < p->begin[way + 1]; i++) {
			g->price[p->link[i]] *= 1 + GROWTH * tokens / g->limit;
			g->load[p->link[i]] += tokens;
		}
	}
	g->nrounds++;
}

static void scale(struct growing *g)
{
	double most = dearest(g);

	for (uint32_t i = 0; most > TOO_DEAR && i < g->p->nlinks; i++)
		g->price[i] = g->price[i] / most + 1 / TOO_DEAR;
}

/* What the mixture of all rounds' ways needs; the bound cannot be above that. */
static uint64_t needed(const struct growing *g)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < g->p->nlinks; i++)
		most = g->load[i] > most ? g->load[i] : most;
	return (most + g->nrounds - 1) / g->nrounds;
}

static void find(struct growing *g)
{
	const struct fors_flows_problem *p = g->p;
	uint64_t links = p->begin[(size_t)fors_flows_units(p) * p->npaths] + (uint64_t)1, rounds = STEPS / 2 / links;

	rounds = rounds < ROUNDS_LEAST ? ROUNDS_LEAST : rounds > ROUNDS_MOST ? ROUNDS_MOST : rounds;
	for (uint32_t i = 0; i < p->nlinks; i++)
		g->price[i] = 1;
	while (g->nrounds < rounds && g->limit > g->best.bound) {
		uint64_t need;

		grow(g);
		scale(g);
		if (g->nrounds % 4 == 0 || g->nrounds == rounds)
			try_grown(g);
		need = needed(g);
		g->limit = need < g->limit ? (uint32_t)need : g->limit;
		if (need <= g->best.bound + g->best.bound / NEAR_ENOUGH)
			break;
	}
	for (double share = 0.5; share > 1e-3 && g->limit > g->best.bound; share /= 4)
		try_cut(g, share);
}

/* ---- one index ---- */

/* Tokens of the fullest link where all take one path index; UINT32_MAX: a unit has no way of it. */
static uint32_t fullest_of_path(const struct fors_flows_problem *p, uint32_t path, uint64_t *load)
{
	uint64_t most = 0;

	memset(load, 0, p->nlinks * sizeof(*load));
	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++) {
		uint32_t way = unit * p->npaths + path, tokens = fors_flows_tokens(p, unit);

		if (tokens && !p->exists[way])
			return UINT32_MAX;
		for (uint32_t i = p->begin[way]; tokens && i < p->begin[way + 1]; i++) {
			load[p->link[i]] += tokens;
			most = load[p->link[i]] > most ? load[p->link[i]] : most;
		}
	}
	return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static void best_path(const struct fors_flows_problem *p, uint64_t *load, uint32_t *path, uint32_t *tokens)
{
	*path = 0;
	*tokens = UINT32_MAX;
	for (uint32_t i = 0; i < p->npaths; i++) {
		uint32_t most = fullest_of_path(p, i, load);

		if (most < *tokens) {
			*tokens = most;
			*path = i;
		}
	}
}

enum fors_err fors_flows_best_path(const struct fors_flows_problem *problem, uint32_t *path, uint32_t *tokens,
				   struct fors_error *error)
{
	uint64_t *load = malloc((problem->nlinks + (size_t)1) * sizeof(*load));

	if (!load)
		return fors_fail_memory(error);
	best_path(problem, load, path, tokens);
	free(load);
	return FORS_OK;
}

/* ---- the whole ---- */

/* One way each: all prices on the fullest link. */
static void price_fullest(struct growing *g)
{
	uint64_t most = 0;
	uint32_t fullest = 0;

	for (uint32_t i = 0; i < g->p->nlinks; i++) {
		if (g->load[i] > most) {
			most = g->load[i];
			fullest = i;
		}
		g->whole[i] = 0;
	}
	if (most)
		g->whole[fullest] = 1;
	try_prices(g);
}

static uint32_t lumps(const struct fors_flows_problem *p)
{
	uint32_t lump = p->lump ? p->lump : 1;

	return p->ndests / lump + (p->ndests % lump > 0);
}

static void look(struct growing *g)
{
	uint32_t path;

	g->best.bound = lumps(g->p);
	best_path(g->p, g->load, &path, &g->limit);
	if (g->p->npaths == 1) {
		price_fullest(g);
		return;
	}
	memset(g->load, 0, g->p->nlinks * sizeof(*g->load));
	find(g);
}

enum fors_err fors_flows_choice_find(const struct fors_flows_problem *problem, struct fors_flows_choice *choice,
				     struct fors_error *error)
{
	struct growing g = {.p = problem};
	size_t n = problem->nlinks + (size_t)1;
	bool good;

	g.price = malloc(n * sizeof(*g.price));
	g.load = calloc(n, sizeof(*g.load));
	g.whole = malloc(n * sizeof(*g.whole));
	g.best.price_of = malloc(n * sizeof(*g.best.price_of));
	good = g.price && g.load && g.whole && g.best.price_of;
	if (good)
		look(&g);
	if (!g.best.price) {
		free(g.best.price_of);
		g.best.price_of = NULL;
	}
	free(g.price);
	free(g.load);
	free(g.whole);
	if (!good)
		return fors_fail_memory(error);
	*choice = g.best;
	return FORS_OK;
}
