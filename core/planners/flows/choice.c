/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * choice.c - a lower bound over the choice of path indices.
 *
 * Tables with several LIDs may lead all of them over a part of the cables: then no link is crossed by all ways of a unit,
 * yet together they are too many for the cables in use. Give each link a weight, none below 0. A token crosses at least the
 * weight of its lightest way, and in T phases links carry at most T times the sum of all weights, each as often as the link
 * carries tokens in a phase. So for any weights
 *
 *	T >= sum over tokens of the weight of their lightest way / sum of all weights times capacities.
 *
 * This is the dual of the linear program "split tokens over ways so that the fullest link has least", so some weights give
 * exactly its value. They are looked for as multiplicative weights are: each turn sends all tokens over their lightest ways
 * and adds up what links carried so far; a link weighs (its load / the greatest, each by capacity)^(2^k). With k = 0 nothing but full links counts
 * little, with a high k nothing else counts at all; k goes round. Whole numbers only. The best bound of all turns is taken, so
 * it is one, however few turns there were. The mean of all turns is a way to split tokens: where no link has more than the bound
 * in it, the bound is the best of its kind, and that is the end.
 */
#include "choice.h"

#include <stdlib.h>
#include <string.h>

#define TURNS 60
#define MOST_WAYS 20000000 /* looked at in all turns, but for the first turns */
#define LEAST_TURNS 8
#define POWERS 7
#define ONE 16 /* bits of a weight of 1 */

struct choice {
	const struct fors_flows_problem *p;
	uint64_t *load;	  /* per link: tokens, of all turns */
	uint64_t *weight; /* per link */
};

/* The tokens of a link, in phases. */
static uint64_t load_of(const struct choice *c, uint32_t link)
{
	return c->load[link] / fors_flows_capacity(c->p, link);
}

static uint64_t weigh(const struct choice *c, uint32_t power)
{
	uint64_t most = 1, sum = 0;

	for (uint32_t i = 0; i < c->p->nlinks; i++)
		most = load_of(c, i) > most ? load_of(c, i) : most;
	for (uint32_t i = 0; i < c->p->nlinks; i++) {
		uint64_t weight = (load_of(c, i) << ONE) / most;

		for (uint32_t k = 0; k < power; k++)
			weight = weight * weight >> ONE;
		c->weight[i] = weight;
		sum += weight * fors_flows_capacity(c->p, i);
	}
	return sum;
}

static uint64_t weight_of(const struct choice *c, uint32_t way)
{
	uint64_t weight = 0;

	for (uint32_t i = c->p->begin[way]; i < c->p->begin[way + 1]; i++)
		weight += c->weight[c->p->link[i]];
	return weight;
}

/* Send a unit over its lightest way, from that of the turn on; its weight. */
static uint64_t send(struct choice *c, uint32_t unit, uint32_t turn, uint64_t tokens)
{
	const struct fors_flows_problem *p = c->p;
	uint64_t least = UINT64_MAX;
	uint32_t best = unit * p->npaths;

	for (uint32_t i = 0; i < p->npaths; i++) {
		uint32_t way = unit * p->npaths + (i + turn) % p->npaths;
		uint64_t weight = p->exists[way] ? weight_of(c, way) : UINT64_MAX;

		if (weight < least) {
			least = weight;
			best = way;
		}
	}
	for (uint32_t i = p->begin[best]; i < p->begin[best + 1]; i++)
		c->load[p->link[i]] += tokens;
	return least == UINT64_MAX ? 0 : least;
}

/* What the weights of now say. */
static uint64_t take_turn(struct choice *c, uint32_t turn)
{
	const struct fors_flows_problem *p = c->p;
	uint64_t sum = weigh(c, turn % POWERS), crossed = 0;

	for (uint32_t s = 0; s < p->nswitches; s++)
		for (uint32_t d = 0; p->senders[s] && d < p->ndests; d++) {
			uint32_t unit = s * p->ndests + d;

			if (p->home[d] != s)
				crossed += fors_flows_tokens(p, unit) * send(c, unit, turn, fors_flows_tokens(p, unit));
		}
	return sum ? crossed / sum + (crossed % sum > 0) : 0;
}

/* Could tokens be split over their ways, as they were in all turns so far, with no link above this? */
static bool is_met(const struct choice *c, uint32_t turns, uint64_t bound)
{
	for (uint32_t i = 0; i < c->p->nlinks; i++)
		if (c->load[i] > bound * turns * fors_flows_capacity(c->p, i))
			return false;
	return true;
}

enum fors_err fors_flows_choice_bound(const struct fors_flows_problem *problem, uint32_t known, uint32_t *bound,
				      uint64_t *price, struct fors_error *error)
{
	struct choice c = {.p = problem};
	uint64_t most = known, ways = (uint64_t)fors_flows_units(problem) * problem->npaths;
	bool good;

	*bound = known;
	if (problem->npaths < 2 || problem->links_of)
		return FORS_OK;
	c.load = calloc(problem->nlinks + (size_t)1, sizeof(*c.load));
	c.weight = calloc(problem->nlinks + (size_t)1, sizeof(*c.weight));
	good = c.load && c.weight;
	for (uint32_t turn = 0; good && turn < TURNS; turn++) {
		uint64_t here = take_turn(&c, turn);

		if (here > most && price)
			memcpy(price, c.weight, problem->nlinks * sizeof(*price));
		most = here > most ? here : most;
		if (is_met(&c, turn + 1, most) || (turn >= LEAST_TURNS && ways * turn > MOST_WAYS))
			break;
	}
	free(c.load);
	free(c.weight);
	if (!good)
		return fors_fail_memory(error);
	*bound = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return FORS_OK;
}
