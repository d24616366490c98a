/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * first_fit.c - units one after another, each token into the first phase that has room for it.
 *
 * Which order is good depends on the network, so several are tried and the one that leaves least waiting is kept:
 *
 *   by distance  short ways first; then by how far the receiver's switch is behind the sender's, going round, then by the
 *                receiver's rank. On a healthy tree with D-mod-K tables each distance takes the next n phases, at all
 *                leaves at once, and T = P comes out without a search.
 *   by load      the units that use the fullest rows first, as one packs large things before small ones.
 *   in turn      as by distance, but each unit begins to look at a phase of its own: the distance's turn, moved on by the receiver's
 *                rank. So on a full tree idle cables are spread over all phases, and units that come in over another link than
 *                most do to their receiver (displaced by a failure) go last and find them (doc/planners-rounds.md, "Why one
 *                lost cable costs nothing").
 *
 * Of several ways a unit takes the one chosen for it (ways.c). What does not fit there goes, when all are placed, over any
 * other, token by token the way whose fullest link has the least on it so far.
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

/* What is ordered: units, each over the way that it takes first. */
struct orderer {
	const struct fors_flows_problem *problem;
	const uint32_t *way; /* per unit */
	enum fors_flows_order order;
	uint32_t *load;	 /* per link: phases that its tokens need */
	uint32_t *usual; /* per destination: the link over which it receives most units */
};

static void count_loads(const struct orderer *o)
{
	const struct fors_flows_problem *p = o->problem;

	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++)
		for (uint32_t i = p->begin[o->way[unit]]; i < p->begin[o->way[unit] + 1]; i++)
			o->load[p->link[i]] += fors_flows_tokens(p, unit);
	for (uint32_t i = 0; p->capacity && i < p->nlinks; i++)
		o->load[i] = fors_flows_phases(p, i, o->load[i]);
}

static uint32_t length_of(const struct orderer *o, uint32_t unit)
{
	return o->problem->begin[o->way[unit] + 1] - o->problem->begin[o->way[unit]];
}

/* The link by which a unit comes in; it has one. */
static uint32_t last_link(const struct orderer *o, uint32_t unit)
{
	return o->problem->link[o->problem->begin[o->way[unit] + 1] - 1];
}

/* The fullest link of a unit, the receiver counted as one; in *sum how crowded all are. */
static uint32_t fullest(const struct orderer *o, uint32_t unit, uint64_t *sum)
{
	const struct fors_flows_problem *p = o->problem;
	uint32_t most = p->ndests;

	*sum = (uint64_t)most * most * most;
	for (uint32_t i = p->begin[o->way[unit]]; i < p->begin[o->way[unit] + 1]; i++) {
		uint64_t n = o->load[p->link[i]];

		*sum += n * n * n;
		most = n > most ? (uint32_t)n : most;
	}
	return most;
}

/* The link over which a destination receives most units, by destination: the majority, or any where there is none. */
static void find_usual(const struct orderer *o)
{
	for (uint32_t d = 0; d < o->problem->ndests; d++) {
		uint32_t votes = 0;

		o->usual[d] = FORS_FLOWS_NONE;
		for (uint32_t s = 0; s < o->problem->nswitches; s++) {
			uint32_t unit = s * o->problem->ndests + d;

			if (!length_of(o, unit))
				continue;
			if (votes == 0)
				o->usual[d] = last_link(o, unit);
			votes += last_link(o, unit) == o->usual[d] ? 1 : -1;
		}
	}
}

/* Does a unit come in over another link than most? */
static bool is_odd(const struct orderer *o, uint32_t unit)
{
	return length_of(o, unit) && last_link(o, unit) != o->usual[fors_flows_dest(o->problem, unit)];
}

static void put_key(struct item *item, uint64_t first, uint64_t second, uint64_t third)
{
	item->key[0] = first;
	item->key[1] = second;
	item->key[2] = third;
}

static void set_key(const struct orderer *o, struct item *item)
{
	const struct fors_flows_problem *p = o->problem;
	uint32_t s = fors_flows_switch(p, item->unit), d = fors_flows_dest(p, item->unit), to = p->home[d];
	uint32_t delta = (to + p->nswitches - s) % p->nswitches, length = length_of(o, item->unit);
	uint64_t sum, distance = (uint64_t)length << 32 | delta, rank = d - p->first[to];
	uint32_t most = fullest(o, item->unit, &sum);

	switch (o->order) {
	case FORS_FLOWS_BY_LOAD:
		put_key(item, UINT32_MAX - most, UINT64_MAX - sum, distance);
		break;
	case FORS_FLOWS_IN_TURN:
		put_key(item, is_odd(o, item->unit), distance, rank);
		break;
	default:
		put_key(item, distance, rank, s);
		break;
	}
}

/* ---- placing ---- */

/* Put up to `most` tokens of a way where they fit, from phase `from` on and round; how many. */
static uint32_t place_way(struct fors_flows_packing *packing, uint32_t way, uint32_t most, uint32_t from)
{
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(packing, way, row), done = 0;
	uint32_t words = fors_occupancy_words(&packing->occupancy);
	uint64_t before = (UINT64_C(1) << (from % 64)) - 1; /* phases of the first word that come last */

	for (uint32_t i = 0; i <= words && done < most; i++) {
		uint32_t w = (from / 64 + i) % words;
		uint64_t free = fors_occupancy_free(&packing->occupancy, row, n, w) & (i == 0	    ? ~before
										       : i == words ? before
												    : UINT64_MAX);

		packing->work += n;
		for (; free && done < most; free &= free - 1, done++)
			fors_flows_put_rows(packing, way, w * 64 + (uint32_t)__builtin_ctzll(free), row, n);
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

		for (uint32_t w = 0; w < fors_occupancy_words(&packing->occupancy); w++)
			n += (uint32_t)__builtin_popcountll(fors_occupancy_busy(&packing->occupancy, p->link[i], w));
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
	packing->work += p->npaths * (uint64_t)fors_occupancy_words(&packing->occupancy);
	return best;
}

/* Put up to `tokens` tokens of a unit over any of its ways; how many. */
static uint32_t place_unit(struct fors_flows_packing *packing, uint32_t unit, uint32_t tokens, uint32_t from)
{
	const struct fors_flows_problem *p = packing->problem;
	uint64_t vain[4] = {0};
	uint32_t done = 0, way;

	if (p->npaths == 1)
		return place_way(packing, unit, tokens, from);
	while (done < tokens && (way = best_way(packing, unit, vain)) != FORS_FLOWS_NONE) {
		uint32_t more = place_way(packing, unit * p->npaths + way, 1, from);

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
		if (!place_unit(packing, packing->waiting[i], 1, 0))
			packing->waiting[left++] = packing->waiting[i];
	packing->nwaiting = left;
}

enum fors_err fors_flows_packing_resize(struct fors_flows_packing **packing, uint32_t nphases, struct fors_error *error)
{
	enum fors_err err = nphases > (*packing)->nphases ? fors_flows_packing_add(packing, nphases, error) : FORS_OK;

	if (err)
		return err;
	fors_flows_drop_phases(*packing, nphases);
	fors_flows_fill(*packing);
	return FORS_OK;
}

enum fors_err fors_flows_packing_change(const struct fors_flows_packing *from, uint32_t nphases,
					struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err = fors_flows_packing_copy(from, from->nphases, packing, error);

	return err ? err : fors_flows_packing_resize(packing, nphases, error);
}

/* ---- all units ---- */

/*
 * Where a unit begins to look: at the turn of its distance, moved on by the receiver's rank, so that what stays
 * inside the switches is spread over all phases.
 */
static uint32_t turn_of(const struct fors_flows_packing *packing, uint32_t unit)
{
	const struct fors_flows_problem *p = packing->problem;
	uint32_t s = fors_flows_switch(p, unit), d = fors_flows_dest(p, unit), to = p->home[d], n = p->nswitches;
	uint32_t turn = (to + n - s + (uint32_t)((uint64_t)(d - p->first[to]) * n / p->senders[to])) % n;

	return (uint32_t)((uint64_t)packing->nphases * turn / n);
}

static void place_all(struct fors_flows_packing *packing, const struct orderer *o, const struct item *item,
		      uint32_t nitems)
{
	packing->nwaiting = 0;
	for (uint32_t i = 0; i < nitems; i++) {
		uint32_t unit = item[i].unit, tokens = fors_flows_tokens(o->problem, unit);
		uint32_t from = o->order == FORS_FLOWS_IN_TURN ? turn_of(packing, unit) : 0;

		for (uint32_t n = place_way(packing, o->way[unit], tokens, from); n < tokens; n++)
			packing->waiting[packing->nwaiting++] = unit;
	}
	if (o->problem->npaths >
	    1) /* the other ways are for what is left: they take the room of those that come later */
		fors_flows_fill(packing);
}

static uint32_t list_items(const struct orderer *o, struct item *item)
{
	uint32_t n = 0;

	for (uint32_t unit = 0; unit < fors_flows_units(o->problem); unit++)
		if (fors_flows_tokens(o->problem, unit)) {
			item[n].unit = unit;
			set_key(o, &item[n++]);
		}
	qsort(item, n, sizeof(*item), compare_items);
	return n;
}

uint64_t fors_flows_first_fit_bytes(const struct fors_flows_problem *problem)
{
	const struct orderer *o = NULL;

	return (uint64_t)fors_flows_units(problem) * sizeof(struct item) + problem->nlinks * sizeof(*o->load) +
	       problem->ndests * sizeof(*o->usual);
}

enum fors_err fors_flows_first_fit(const struct fors_flows_problem *problem, const uint32_t *way, uint32_t nphases,
				   enum fors_flows_order order, struct fors_flows_packing **packing,
				   struct fors_error *error)
{
	struct orderer o = {.problem = problem,
			    .way = way,
			    .order = order,
			    .load = calloc(problem->nlinks + (size_t)1, sizeof(uint32_t)),
			    .usual = malloc((problem->ndests + (size_t)1) * sizeof(uint32_t))};
	struct item *item = malloc(((size_t)fors_flows_units(problem) + 1) * sizeof(*item));
	struct fors_flows_packing *made = NULL;
	enum fors_err err = o.load && o.usual && item ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_flows_packing_new(problem, nphases, &made, error);
	if (!err) {
		count_loads(&o);
		find_usual(&o);
		place_all(made, &o, item, list_items(&o, item));
	}
	free(o.load);
	free(o.usual);
	free(item);
	if (err)
		fors_flows_packing_free(made);
	else
		*packing = made;
	return err;
}
