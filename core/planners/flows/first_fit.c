/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * first_fit.c - units one after another, each token into the first phase that has room for it.
 *
 * Which order is good depends on the network, so several are tried and the one that leaves least waiting is kept:
 *
 *   by distance  short ways first; then by how far the receiver's switch is behind the sender's, going round, then by the
 *                receiver's rank. On a healthy tree with D-mod-K tables each distance takes the next n phases, at all
 *                leaves at once, and T = P comes out without a search.
 *   by xor       short ways first, then by the exclusive or of the two numbers: the same for hypercubes, whose switches get their
 *                coordinates for numbers here (cube.c).
 *   by load      the units that use the fullest rows first, as one packs large things before small ones.
 *   by level     the fullest row in steps of 5 %, then as by distance.
 *   in turn      as by distance, but each unit begins to look at a phase of its own: the distance's turn, moved on by the receiver's
 *                rank. So on a full tree idle cables are spread over all phases, and units that come in over another link than
 *                most do to their receiver (displaced by a failure) go last and find them (doc/planners-rounds.md, "Why one
 *                lost cable costs nothing").
 *   long first   long ways first, else as by distance, or by xor: short ones fill the gaps that they leave. A hypercube
 *                whose cables are all full is done with that: the way x (bits that differ) finds just the gap of ~x.
 *   snug         long ways first, and of the phases with room the one in which most links next to the way's own are
 *                taken: what is left free stays in one piece. "Next to" a link are those that most ways have after
 *                and before it (straight on, in a torus).
 *
 * Of several ways a unit takes the one chosen for it (ways.c). What does not fit there goes, when all are placed, over any
 * other, token by token the way whose fullest link has the least on it so far.
 */
#include <stdlib.h>
#include <string.h>

#include "cube.h"
#include "search.h"

#define MOST_EDGES 4

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
	uint32_t nphases;
	enum fors_flows_order order;
	uint32_t *load;	  /* per link: phases that its tokens need */
	uint32_t *usual;  /* per destination: the link over which it receives most units */
	uint32_t *corner; /* per switch: its number for the orders by xor */
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
	case FORS_FLOWS_BY_LEVEL:
		put_key(item, UINT32_MAX - (uint32_t)((uint64_t)most * 20 / o->nphases), distance, rank);
		break;
	case FORS_FLOWS_LONG_FIRST:
	case FORS_FLOWS_SNUG:
		put_key(item, (uint64_t)(UINT32_MAX - length) << 32 | delta, rank, s);
		break;
	case FORS_FLOWS_LONG_XOR:
		put_key(item, (uint64_t)(UINT32_MAX - length) << 32 | (o->corner[s] ^ o->corner[to]), rank, s);
		break;
	case FORS_FLOWS_BY_XOR:
		distance = (uint64_t)length << 32 | (o->corner[s] ^ o->corner[to]);
		/* fall through */
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
	uint32_t words = fors_book_words(&packing->book);
	uint64_t before = (UINT64_C(1) << (from % 64)) - 1; /* phases of the first word that come last */

	for (uint32_t i = 0; i <= words && done < most; i++) {
		uint32_t w = (from / 64 + i) % words;
		uint64_t free = fors_book_free(&packing->book, row, n, w) & (i == 0	  ? ~before
									     : i == words ? before
											  : UINT64_MAX);

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

		for (uint32_t w = 0; w < fors_book_words(&packing->book); w++)
			n += (uint32_t)__builtin_popcountll(fors_book_busy(&packing->book, p->link[i], w));
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
	packing->work += p->npaths * (uint64_t)fors_book_words(&packing->book);
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

enum fors_err fors_flows_packing_change(const struct fors_flows_packing *from, uint32_t nphases,
					struct fors_flows_packing **packing, struct fors_error *error)
{
	uint32_t most = nphases > from->nphases ? nphases : from->nphases;
	enum fors_err err = fors_flows_packing_copy(from, most, packing, error);

	if (err)
		return err;
	fors_flows_drop_phases(*packing, nphases);
	fors_flows_fill(*packing);
	return FORS_OK;
}

/* ---- snug ---- */

/* The link that most often comes before or after a link on the ways, FORS_FLOWS_NONE: none does. */
struct chains {
	uint32_t *next, *before; /* per link */
	uint32_t *votes;	 /* per link, of next, then of before */
};

static void vote(uint32_t *choice, uint32_t *votes, uint32_t link, uint32_t other)
{
	if (choice[link] == other) {
		votes[link]++;
	} else if (votes[link] == 0) {
		choice[link] = other;
		votes[link] = 1;
	} else {
		votes[link]--;
	}
}

static void find_chains(const struct fors_flows_problem *p, struct chains *chains)
{
	memset(chains->next, 0xFF, p->nlinks * sizeof(*chains->next));
	memset(chains->before, 0xFF, p->nlinks * sizeof(*chains->before));
	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++)
		for (uint32_t i = p->begin[unit * p->npaths]; i + 1 < p->begin[unit * p->npaths + 1]; i++) {
			vote(chains->next, chains->votes, p->link[i], p->link[i + 1]);
			vote(chains->before, chains->votes + p->nlinks, p->link[i + 1], p->link[i]);
		}
}

/* The links that a way leaves free next to its own, in edge[] (room for MOST_EDGES); how many. */
static uint32_t list_edges(const struct fors_flows_problem *p, const struct chains *chains, uint32_t way,
			   uint32_t *edge)
{
	uint32_t n = 0, first = p->begin[way], end = p->begin[way + 1];

	for (uint32_t i = first; i < end && n + 2 <= MOST_EDGES; i++) {
		uint32_t before = chains->before[p->link[i]], next = chains->next[p->link[i]];

		if (before != FORS_FLOWS_NONE && (i == first || p->link[i - 1] != before))
			edge[n++] = before;
		if (next != FORS_FLOWS_NONE && (i + 1 == end || p->link[i + 1] != next))
			edge[n++] = next;
	}
	return n;
}

/* Where a way fits and most of its edges are taken, for the phases of word w: at least k of them in mask[k]. */
static void edge_masks(const struct fors_flows_packing *packing, const uint32_t *edge, uint32_t nedges, uint32_t w,
		       uint64_t free, uint64_t mask[MOST_EDGES + 1])
{
	memset(mask, 0, (MOST_EDGES + 1) * sizeof(*mask));
	mask[0] = free;
	for (uint32_t i = 0; i < nedges; i++) {
		uint64_t x = fors_book_busy(&packing->book, edge[i], w);

		for (unsigned k = MOST_EDGES; k > 0; k--)
			mask[k] |= mask[k - 1] & x;
	}
}

/* The phase where a way fits and leaves least room beside it, the first of those; FORS_FLOWS_NONE. */
static uint32_t find_snug(struct fors_flows_packing *packing, const uint32_t *row, uint32_t n, const uint32_t *edge,
			  uint32_t nedges)
{
	uint32_t best = FORS_FLOWS_NONE;
	unsigned most = 0; /* edges taken at the best so far, plus 1 */

	for (uint32_t w = 0; w < fors_book_words(&packing->book) && most <= nedges; w++) {
		uint64_t free = fors_book_free(&packing->book, row, n, w), mask[MOST_EDGES + 1];

		packing->work += n;
		if (!free)
			continue;
		edge_masks(packing, edge, nedges, w, free, mask);
		for (unsigned k = nedges + 1; k > most; k--)
			if (mask[k - 1]) {
				best = w * 64 + (uint32_t)__builtin_ctzll(mask[k - 1]);
				most = k;
			}
	}
	return best;
}

static void place_all_snugly(struct fors_flows_packing *packing, const struct item *item, uint32_t nitems,
			     const struct chains *chains)
{
	const struct fors_flows_problem *p = packing->problem;

	packing->nwaiting = 0;
	for (uint32_t i = 0; i < nitems; i++) {
		uint32_t row[FORS_FLOWS_MOST_LINKS + 2], way = item[i].unit * p->npaths, edge[MOST_EDGES];
		uint32_t n = fors_flows_rows(packing, way, row), nedges = list_edges(p, chains, way, edge);
		uint32_t done = 0, tokens = fors_flows_tokens(p, item[i].unit), phase;

		while (done < tokens && (phase = find_snug(packing, row, n, edge, nedges)) != FORS_FLOWS_NONE) {
			fors_flows_put(packing, way, phase);
			done++;
		}
		for (; done < tokens; done++)
			packing->waiting[packing->nwaiting++] = item[i].unit;
	}
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

static bool allocate_chains(const struct fors_flows_problem *p, struct chains *chains)
{
	chains->next = malloc((p->nlinks + (size_t)1) * sizeof(*chains->next));
	chains->before = malloc((p->nlinks + (size_t)1) * sizeof(*chains->before));
	chains->votes = calloc(2 * (size_t)p->nlinks + 1, sizeof(*chains->votes));
	return chains->next && chains->before && chains->votes;
}

static void release_chains(struct chains *chains)
{
	free(chains->next);
	free(chains->before);
	free(chains->votes);
}

static enum fors_err place_in_order(struct fors_flows_packing *packing, const struct orderer *o,
				    const struct item *item, uint32_t nitems, struct fors_error *error)
{
	struct chains chains = {0};
	enum fors_err err = FORS_OK;

	if (o->order != FORS_FLOWS_SNUG) {
		place_all(packing, o, item, nitems);
		return FORS_OK;
	}
	if (allocate_chains(packing->problem, &chains)) {
		find_chains(packing->problem, &chains);
		place_all_snugly(packing, item, nitems, &chains);
	} else {
		err = fors_fail_memory(error);
	}
	release_chains(&chains);
	return err;
}

uint64_t fors_flows_first_fit_bytes(const struct fors_flows_problem *problem)
{
	const struct orderer *o = NULL;
	const struct chains *chains = NULL;

	return (uint64_t)fors_flows_units(problem) * sizeof(struct item) +
	       problem->nlinks * (sizeof(*o->load) + sizeof(*chains->next) + sizeof(*chains->before) +
				  2 * sizeof(*chains->votes)) +
	       problem->ndests * sizeof(*o->usual) + problem->nswitches * sizeof(*o->corner);
}

enum fors_err fors_flows_first_fit(const struct fors_flows_problem *problem, const uint32_t *way, uint32_t nphases,
				   enum fors_flows_order order, struct fors_flows_packing **packing,
				   struct fors_error *error)
{
	struct orderer o = {problem,
			    way,
			    nphases,
			    order,
			    calloc(problem->nlinks + (size_t)1, sizeof(uint32_t)),
			    malloc((problem->ndests + (size_t)1) * sizeof(uint32_t)),
			    malloc((problem->nswitches + (size_t)1) * sizeof(uint32_t))};
	struct item *item = malloc(((size_t)fors_flows_units(problem) + 1) * sizeof(*item));
	struct fors_flows_packing *made = NULL;
	enum fors_err err = o.load && o.usual && o.corner && item ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_flows_packing_new(problem, nphases, &made, error);
	if (!err) {
		count_loads(&o);
		find_usual(&o);
		fors_flows_cube(problem, o.corner);
		err = place_in_order(made, &o, item, list_items(&o, item), error);
	}
	free(o.load);
	free(o.usual);
	free(o.corner);
	free(item);
	if (err)
		fors_flows_packing_free(made);
	else
		*packing = made;
	return err;
}
