/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * first_fit.c - units one after another, each token into the first phase that has room for it.
 *
 * Which order is good depends on the network, so several are tried and the one that leaves least waiting is kept:
 *
 *   by distance  short ways first; then by how far the receiver's switch is behind the sender's, going round, then by the
 *                receiver's rank. On a healthy tree with D-mod-K tables each distance takes the next n phases, at all
 *                leaves at once, and T = P comes out without a search.
 *   by xor       short ways first, then by the exclusive or of the two numbers: the same for hypercubes.
 *   by load      the units that use the fullest rows first, as one packs large things before small ones.
 *   by level     the fullest row in steps of 5 %, then as by distance.
 *
 * A unit with several ways takes, token by token, the way whose fullest link has the least on it so far.
 */
#include <stdlib.h>
#include <string.h>

#include "search.h"

/* A unit and what it is ordered by. */
struct item {
	uint64_t key[3];
	uint32_t unit;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	for (unsigned i = 0; i < 3; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

/* Tokens on each link by way 0. */
static void count_loads(const struct fors_flows_problem *p, uint32_t *load)
{
	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++)
		for (uint32_t i = p->begin[unit * p->npaths]; i < p->begin[unit * p->npaths + 1]; i++)
			load[p->link[i]] += fors_flows_tokens(p, unit);
}

static uint32_t length_of(const struct fors_flows_problem *p, uint32_t unit)
{
	return p->begin[unit * p->npaths + 1] - p->begin[unit * p->npaths];
}

/* The fullest link of a unit, the receiver counted as one; in *sum how crowded all are. */
static uint32_t fullest(const struct fors_flows_problem *p, const uint32_t *load, uint32_t unit, uint64_t *sum)
{
	uint32_t most = p->ndests;

	*sum = (uint64_t)most * most * most;
	for (uint32_t i = p->begin[unit * p->npaths]; i < p->begin[unit * p->npaths + 1]; i++) {
		uint64_t n = load[p->link[i]];

		*sum += n * n * n;
		most = n > most ? (uint32_t)n : most;
	}
	return most;
}

static void set_key(const struct fors_flows_problem *p, const uint32_t *load, uint32_t nphases,
		    enum fors_flows_order order, struct item *item)
{
	uint32_t s = fors_flows_switch(p, item->unit), d = fors_flows_dest(p, item->unit), to = p->home[d];
	uint32_t delta = (to + p->nswitches - s) % p->nswitches, length = length_of(p, item->unit);
	uint64_t sum, distance = (uint64_t)length << 32 | delta, rank = d - p->first[to];
	uint32_t most = fullest(p, load, item->unit, &sum);

	switch (order) {
	case FORS_FLOWS_BY_LOAD:
		item->key[0] = UINT32_MAX - most;
		item->key[1] = UINT64_MAX - sum;
		item->key[2] = distance;
		break;
	case FORS_FLOWS_BY_LEVEL:
		item->key[0] = UINT32_MAX - (uint32_t)((uint64_t)most * 20 / nphases);
		item->key[1] = distance;
		item->key[2] = rank;
		break;
	case FORS_FLOWS_BY_XOR:
		distance = (uint64_t)length << 32 | (s ^ to);
		/* fall through */
	default:
		item->key[0] = distance;
		item->key[1] = rank;
		item->key[2] = s;
		break;
	}
}

/* ---- placing ---- */

/* Phases of word w in which a way fits. */
static uint64_t free_word(const struct fors_flows_packing *packing, const uint32_t *row, uint32_t n, uint32_t w)
{
	uint64_t taken = ~fors_flows_valid(packing, w);

	for (uint32_t i = 0; i < n; i++)
		taken |= packing->busy[(size_t)row[i] * packing->nwords + w];
	return ~taken;
}

/* Put up to `most` tokens of a way where they fit, from the first phase on; how many. */
static uint32_t place_way(struct fors_flows_packing *packing, uint32_t way, uint32_t most)
{
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(packing, way, row), done = 0;

	for (uint32_t w = 0; w < fors_flows_words(packing) && done < most; w++) {
		uint64_t free = free_word(packing, row, n, w);

		packing->work += n;
		for (; free && done < most; free &= free - 1, done++)
			fors_flows_put(packing, way, w * 64 + (uint32_t)__builtin_ctzll(free));
	}
	return done;
}

/* Tokens on the fullest link of a way so far, in the phases of the packing. */
static uint32_t crowd(const struct fors_flows_packing *packing, uint32_t way)
{
	const struct fors_flows_problem *p = packing->problem;
	uint32_t most = 0;

	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++) {
		uint32_t n = 0;

		for (uint32_t w = 0; w < fors_flows_words(packing); w++)
			n += (uint32_t)__builtin_popcountll(packing->busy[(size_t)p->link[i] * packing->nwords + w]);
		most = n > most ? n : most;
	}
	return most;
}

/* Which of several ways is to take the next token: the least crowded of those not yet tried in vain. */
static uint32_t best_way(struct fors_flows_packing *packing, uint32_t unit, uint64_t vain[4])
{
	const struct fors_flows_problem *p = packing->problem;
	uint32_t best = FORS_FLOWS_NONE, least = UINT32_MAX;

	for (uint32_t i = 0; i < p->npaths; i++) {
		uint32_t n;

		if (!p->exists[unit * p->npaths + i] || vain[i / 64] >> (i % 64) & 1)
			continue;
		n = crowd(packing, unit * p->npaths + i);
		if (n < least) {
			least = n;
			best = i;
		}
	}
	packing->work += p->npaths * (uint64_t)fors_flows_words(packing);
	return best;
}

static uint32_t place_unit(struct fors_flows_packing *packing, uint32_t unit, uint32_t tokens)
{
	const struct fors_flows_problem *p = packing->problem;
	uint64_t vain[4] = {0};
	uint32_t done = 0, way;

	if (p->npaths == 1)
		return place_way(packing, unit, tokens);
	while (done < tokens && (way = best_way(packing, unit, vain)) != FORS_FLOWS_NONE) {
		uint32_t more = place_way(packing, unit * p->npaths + way, 1);

		if (!more)
			vain[way / 64] |= UINT64_C(1) << (way % 64);
		done += more;
	}
	return done;
}

void fors_flows_fill(struct fors_flows_packing *packing)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < packing->nwaiting; i++)
		if (!place_unit(packing, packing->waiting[i], 1))
			packing->waiting[left++] = packing->waiting[i];
	packing->nwaiting = left;
}

/* ---- all units ---- */

static void place_all(struct fors_flows_packing *packing, const struct item *item, uint32_t nitems)
{
	packing->nwaiting = 0;
	for (uint32_t i = 0; i < nitems; i++) {
		uint32_t tokens = fors_flows_tokens(packing->problem, item[i].unit);

		for (uint32_t n = place_unit(packing, item[i].unit, tokens); n < tokens; n++)
			packing->waiting[packing->nwaiting++] = item[i].unit;
	}
}

static uint32_t list_items(const struct fors_flows_problem *p, const uint32_t *load, uint32_t nphases,
			   enum fors_flows_order order, struct item *item)
{
	uint32_t n = 0;

	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++)
		if (fors_flows_tokens(p, unit)) {
			item[n].unit = unit;
			set_key(p, load, nphases, order, &item[n++]);
		}
	qsort(item, n, sizeof(*item), compare_items);
	return n;
}

enum fors_err fors_flows_first_fit(const struct fors_flows_problem *problem, uint32_t nphases,
				   enum fors_flows_order order, struct fors_flows_packing **packing,
				   struct fors_error *error)
{
	uint32_t *load = calloc(problem->nlinks + (size_t)1, sizeof(*load)), n;
	struct item *item = malloc(((size_t)fors_flows_units(problem) + 1) * sizeof(*item));
	enum fors_err err = load && item ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_flows_packing_new(problem, nphases, packing, error);
	if (!err) {
		count_loads(problem, load);
		n = list_items(problem, load, nphases, order, item);
		place_all(*packing, item, n);
	}
	free(load);
	free(item);
	return err;
}
