/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * search.c - phases for the tokens that wait: a tabu search by ejection over single flows.
 *
 * Take a waiting token, any. If it fits into a phase, put it there. Else somebody has to go: for 64 phases at a time,
 * the masks of its rows are added up in bit-sliced counters (at least 1, 2, 3, 4 rows taken), which gives the phases
 * where one, two or three rows are in the way. A few of each are looked at closely. What a phase costs is the sum over
 * those who would have to go: nothing for one that fits elsewhere at once, else more the more often its unit was left
 * waiting; very much for one that was put a few steps ago (tabu). The cheapest is taken; of one way, any, or, where a
 * search can take its time, of several: where links leave no room at all that finds what else is not found. When
 * everything seen is tabu, any phases are looked at too: two tokens that throw each other out go on for ever otherwise.
 *
 * After a time without progress it gives up and goes back to the best packing that it saw, by a journal of what it has
 * put and taken since. Effort is counted in work, never by the clock; random numbers start from the packing's seed. So the
 * same problem gives the same packing on any machine.
 */
#include "search.h"

#include <stdlib.h>
#include <string.h>

#define TABU_LEAST 3
#define TABU_SPREAD 4
#define TABU_PRICE 1000000u
#define STRANGER_PRICE 4
#define MOST_CANDIDATES (LOOK_ONE + LOOK_TWO + LOOK_THREE)
#define LOOK_ONE 4
#define LOOK_TWO 4
#define LOOK_THREE 2
#define LOOK_ANY 8
#define LOOK_SEATS 4  /* of a full switch; after those the first that fits elsewhere will do */
#define LOOK_WORDS 4  /* for whether somebody fits elsewhere: some phases tell as well as all of them */
#define LOOK_WORK 16  /* of looking at one who would have to go, beside the masks: memory far away */
#define ASK_EVERY 256 /* steps between two questions whether to stop */

/* One thing that was done: a way in a phase, put or taken. */
struct entry {
	uint32_t way, phase;
	bool is_put;
};

struct search {
	struct fors_flows_packing *packing;
	const struct fors_flows_problem *problem;
	struct fors_random random;
	uint32_t *tabu;	 /* destinations x phases: the step until which that token stays */
	uint32_t *fails; /* per unit: how often it found no room */
	uint32_t step, best_step, best_waiting;
	struct entry *journal; /* since the best */
	size_t njournal, room;
	bool is_broken; /* out of memory */
};

/* A token that could go somewhere, at a price. */
struct candidate {
	uint32_t way, phase;
	uint64_t price;
};

/* ---- the journal ---- */

static void note(struct search *s, uint32_t way, uint32_t phase, bool is_put)
{
	if (s->njournal == s->room) {
		size_t room = s->room ? s->room * 2 : 4096;
		struct entry *larger = realloc(s->journal, room * sizeof(*larger));

		if (!larger) {
			s->is_broken = true;
			return;
		}
		s->journal = larger;
		s->room = room;
	}
	s->journal[s->njournal++] = (struct entry){way, phase, is_put};
}

static void put(struct search *s, uint32_t way, uint32_t phase)
{
	uint32_t dest = fors_flows_dest(s->problem, fors_flows_unit(s->problem, way));

	fors_flows_put(s->packing, way, phase);
	s->tabu[(size_t)dest * s->packing->nphases + phase] =
		s->step + TABU_LEAST + fors_random_below(&s->random, TABU_SPREAD);
	note(s, way, phase, true);
}

static void take(struct search *s, uint32_t way, uint32_t phase)
{
	fors_flows_take(s->packing, way, phase);
	s->packing->waiting[s->packing->nwaiting++] = fors_flows_unit(s->problem, way);
	note(s, way, phase, false);
}

static void remember_best(struct search *s)
{
	s->best_waiting = s->packing->nwaiting;
	s->best_step = s->step;
	s->njournal = 0;
}

static void forget_waiting(struct fors_flows_packing *packing, uint32_t unit)
{
	uint32_t i = packing->nwaiting;

	while (packing->waiting[i - 1] != unit)
		i--;
	packing->waiting[i - 1] = packing->waiting[--packing->nwaiting];
}

static void undo_to_best(struct search *s)
{
	while (s->njournal) {
		struct entry last = s->journal[--s->njournal];

		if (last.is_put) {
			fors_flows_take(s->packing, last.way, last.phase);
			s->packing->waiting[s->packing->nwaiting++] = fors_flows_unit(s->problem, last.way);
		} else {
			fors_flows_put(s->packing, last.way, last.phase);
			forget_waiting(s->packing, fors_flows_unit(s->problem, last.way));
		}
	}
}

/* ---- looking ---- */

/* At least 1, 2, 3, 4 of the rows are taken, for 64 phases. */
struct counters {
	uint64_t one, two, three, four;
};

static struct counters count_rows(const struct fors_flows_packing *p, const uint32_t *row, uint32_t n, uint32_t w)
{
	struct counters c = {0, 0, 0, 0};

	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = fors_occupancy_busy(&p->occupancy, row[i], w);

		c.four |= c.three & x;
		c.three |= c.two & x;
		c.two |= c.one & x;
		c.one |= x;
	}
	return c;
}

/*
 * find_room() where all phases are in one word: what receiver and switch leave is the same for all ways, mostly nothing; then
 * ways are only counted.
 */
static uint32_t find_in_word(struct search *s, uint32_t sw, uint32_t dest, uint32_t first, uint32_t *way)
{
	const struct fors_flows_problem *problem = s->problem;
	const struct fors_occupancy *occupancy = &s->packing->occupancy;
	uint64_t left = ~(fors_occupancy_busy(occupancy, problem->nlinks + dest, 0) |
			  fors_occupancy_busy(occupancy, fors_flows_switch_row(s->packing, sw), 0));
	uint32_t npaths = problem->npaths, link[FORS_FLOWS_MOST_LINKS], unit = sw * problem->ndests + dest;

	for (uint32_t i = 0; i < npaths; i++) {
		uint32_t path = first + i < npaths ? first + i : first + i - npaths, n;
		uint64_t good = left;

		if (!problem->links_of && !problem->exists[unit * npaths + path])
			continue;
		n = fors_flows_links(problem, sw, dest, path, link);
		if (n == FORS_FLOWS_NONE)
			continue;
		s->packing->work += n + 2u;
		for (uint32_t k = 0; k < n && good; k++)
			good &= ~fors_occupancy_busy(occupancy, link[k], 0);
		if (!good)
			continue;
		*way = unit * npaths + path;
		return (uint32_t)__builtin_ctzll(good);
	}
	return FORS_FLOWS_NONE;
}

/*
 * A phase in which the unit of a switch and a destination fits over one of its ways, from path index `first` on, in up
 * to `most` words from word `from` on, in *way the way; FORS_FLOWS_NONE.
 */
static uint32_t find_room(struct search *s, uint32_t sw, uint32_t dest, uint32_t first, uint32_t from, uint32_t most,
			  uint32_t *way)
{
	struct fors_flows_packing *p = s->packing;
	uint32_t npaths = s->problem->npaths, row[FORS_FLOWS_MOST_LINKS + 2], seen;

	if (fors_occupancy_words(&p->occupancy) == 1)
		return find_in_word(s, sw, dest, first, way);
	for (uint32_t i = 0; i < npaths; i++) {
		uint32_t path = first + i < npaths ? first + i : first + i - npaths;
		uint32_t n = fors_flows_rows_of(p, sw, dest, path, row), phase;

		if (n == FORS_FLOWS_NONE)
			continue;
		phase = fors_occupancy_find(&p->occupancy, row, n, from * 64, most, &seen);
		p->work += (uint64_t)seen * n;
		*way = (sw * s->problem->ndests + dest) * npaths + path;
		if (phase != FORS_FLOWS_NONE)
			return phase;
	}
	return FORS_FLOWS_NONE;
}

/* Does a unit fit anywhere else that one looks, over any of its ways? */
static bool fits_elsewhere(struct search *s, uint32_t sw, uint32_t dest)
{
	uint32_t from = fors_random_below(&s->random, fors_occupancy_words(&s->packing->occupancy)), way;

	return find_room(s, sw, dest, 0, from, LOOK_WORDS, &way) != FORS_FLOWS_NONE;
}

/* What it costs that this token goes. */
static uint64_t price_of(struct search *s, uint32_t way, uint32_t phase)
{
	uint32_t unit = fors_flows_unit(s->problem, way), sw = fors_flows_switch(s->problem, unit),
		 dest = unit - sw * s->problem->ndests;
	uint64_t price = 1;

	s->packing->work += LOOK_WORK;
	if (s->tabu[(size_t)dest * s->packing->nphases + phase] > s->step)
		price += TABU_PRICE;
	if (!fits_elsewhere(s, sw, dest))
		price += STRANGER_PRICE * (uint64_t)(1 + s->fails[unit]);
	return price;
}

static bool is_among(uint32_t way, const uint32_t *who, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		if (who[k] == way)
			return true;
	return false;
}

/*
 * The token of a row that is in the way in a phase, beside those that go anyway; FORS_FLOWS_NONE: none. Of several on a link that
 * is full one has to go, another one at another step.
 */
static uint32_t in_the_way(const struct search *s, uint32_t row, uint32_t phase, const uint32_t *who, uint32_t count)
{
	const struct fors_occupancy *occupancy = &s->packing->occupancy;
	uint32_t n, *at = fors_occupancy_places(occupancy, row, phase, &n);

	if (!(fors_occupancy_busy(occupancy, row, phase / 64) >> phase % 64 & 1))
		return FORS_FLOWS_NONE;
	for (uint32_t i = 0; i < n; i++)
		if (is_among(at[(size_t)i * occupancy->room], who, count))
			return FORS_FLOWS_NONE;
	return at[n == 1 ? 0 : (size_t)(s->step % n) * occupancy->room];
}

/* The tokens that have to go off the links and the receiver of a way in a phase, each once, in who[]; how many. */
static uint32_t occupants(const struct search *s, const uint32_t *row, uint32_t n, uint32_t phase, uint32_t *who)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i + 1 < n; i++) {
		uint32_t way = in_the_way(s, row[i], phase, who, count);

		if (way != FORS_FLOWS_NONE)
			who[count++] = way;
	}
	return count;
}

/* A full switch: does one of its tokens go anyway? */
static bool frees_seat(const struct search *s, uint32_t own, const uint32_t *who, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		if (fors_flows_switch(s->problem, fors_flows_unit(s->problem, who[k])) == own)
			return true;
	return false;
}

/* The cheapest token of a switch in a phase, its price added to *price. */
static uint32_t cheapest_seat(struct search *s, uint32_t own, uint32_t phase, uint64_t *price)
{
	uint32_t nseats, best = FORS_FLOWS_NONE;
	const uint32_t *seat = fors_flows_seats(s->packing, own, phase, &nseats);
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < nseats; i++) {
		uint64_t cost = price_of(s, seat[i], phase);

		if (cost < least) {
			least = cost;
			best = seat[i];
		}
		if (cost == 1 && i + 1 >= LOOK_SEATS) /* nobody is cheaper */
			break;
	}
	*price += least;
	return best;
}

/* Who has to go so that `way` fits into `phase`, in who[]; how many, and the price of it. */
static uint32_t look_at(struct search *s, uint32_t way, uint32_t phase, uint32_t *who, uint64_t *price)
{
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(s->packing, way, row);
	uint32_t count = occupants(s, row, n, phase, who);
	uint32_t own = fors_flows_switch(s->problem, fors_flows_unit(s->problem, way)), nseats;

	*price = 0;
	for (uint32_t k = 0; k < count; k++) /* a token of the same unit would only change places with it */
		*price += fors_flows_unit(s->problem, who[k]) == fors_flows_unit(s->problem, way)
				  ? TABU_PRICE
				  : price_of(s, who[k], phase);
	fors_flows_seats(s->packing, own, phase, &nseats);
	if (nseats == s->problem->senders[own] && !frees_seat(s, own, who, count))
		who[count++] = cheapest_seat(s, own, phase, price);
	return count;
}

/* Add phases of a mask to the list, up to `most` of them in all. */
static void collect(uint64_t mask, uint32_t w, uint32_t way, uint32_t most, struct candidate *list, uint32_t *count)
{
	for (; mask && *count < most; mask &= mask - 1)
		list[(*count)++] = (struct candidate){way, w * 64 + (uint32_t)__builtin_ctzll(mask), 0};
}

/* The phases worth a look, by how many rows are in the way, from a random word on; how many. */
static uint32_t find_candidates(struct search *s, uint32_t way, struct candidate *list)
{
	struct fors_flows_packing *p = s->packing;
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(p, way, row),
						 words = fors_occupancy_words(&p->occupancy);
	uint32_t from = fors_random_below(&s->random, words), count[3] = {0, 0, 0};
	struct candidate *two = list + LOOK_ONE, *three = two + LOOK_TWO;

	for (uint32_t i = 0; i < words && count[0] + count[1] + count[2] < LOOK_ONE + LOOK_TWO + LOOK_THREE; i++) {
		uint32_t w = (from + i) % words;
		struct counters c = count_rows(p, row, n, w);
		uint64_t valid = fors_occupancy_valid(&p->occupancy, w);

		collect(c.one & ~c.two & valid, w, way, LOOK_ONE, list, &count[0]);
		collect(c.two & ~c.three & valid, w, way, LOOK_TWO, two, &count[1]);
		collect(c.three & ~c.four & valid, w, way, LOOK_THREE, three, &count[2]);
		p->work += n;
	}
	memmove(list + count[0], two, count[1] * sizeof(*list));
	memmove(list + count[0] + count[1], three, count[2] * sizeof(*list));
	return count[0] + count[1] + count[2];
}

/* How many tokens have to go off the links and the receiver of a way in a phase; 4: that many, or more. */
static uint32_t count_tokens(const struct search *s, const uint32_t *row, uint32_t n, uint32_t phase)
{
	uint32_t who[3], count = 0;

	for (uint32_t i = 0; i + 1 < n; i++) {
		uint32_t way = in_the_way(s, row[i], phase, who, count);

		if (way == FORS_FLOWS_NONE)
			continue;
		if (count == 3)
			return 4;
		who[count++] = way;
	}
	return count;
}

/* The phases worth a look, by how many tokens are in the way, from a random one on; how many. */
static uint32_t find_few(struct search *s, uint32_t way, struct candidate *list)
{
	static const uint32_t most[] = {LOOK_ONE, LOOK_TWO, LOOK_THREE};
	struct fors_flows_packing *p = s->packing;
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(p, way, row), count[3] = {0, 0, 0};
	uint32_t from = fors_random_below(&s->random, p->nphases);
	struct candidate *of[] = {list, list + LOOK_ONE, list + LOOK_ONE + LOOK_TWO};

	for (uint32_t i = 0; i < p->nphases; i++) {
		uint32_t phase = from + i < p->nphases ? from + i : from + i - p->nphases,
			 tokens = count_tokens(s, row, n, phase);

		tokens = tokens ? tokens - 1 : 0; /* none on links: the switch is full */
		if (tokens < 3 && count[tokens] < most[tokens])
			of[tokens][count[tokens]++] = (struct candidate){way, phase, 0};
	}
	p->work += (uint64_t)n * p->nphases / 8;
	memmove(list + count[0], of[1], count[1] * sizeof(*list));
	memmove(list + count[0] + count[1], of[2], count[2] * sizeof(*list));
	return count[0] + count[1] + count[2];
}

/* The cheapest of some candidates, better than *best. */
static void choose(struct search *s, struct candidate *list, uint32_t count, struct candidate *best)
{
	uint32_t who[FORS_FLOWS_MOST_LINKS + 3];

	for (uint32_t i = 0; i < count; i++) {
		look_at(s, list[i].way, list[i].phase, who, &list[i].price);
		if (list[i].price < best->price)
			*best = list[i];
	}
}

static void choose_any(struct search *s, uint32_t way, struct candidate *best)
{
	struct candidate list[LOOK_ANY];

	for (uint32_t i = 0; i < LOOK_ANY; i++)
		list[i] = (struct candidate){way, fors_random_below(&s->random, s->packing->nphases), 0};
	choose(s, list, LOOK_ANY, best);
}

/* ---- a step ---- */

/* One of the ways of a unit, any; that of path index 0 exists always. */
static uint32_t any_way(struct search *s, uint32_t unit)
{
	uint32_t npaths = s->problem->npaths;
	uint32_t path = npaths > 1 ? fors_random_below(&s->random, npaths) : 0, row[FORS_FLOWS_MOST_LINKS + 2],
		 sw = fors_flows_switch(s->problem, unit);
	bool exists = fors_flows_rows_of(s->packing, sw, unit - sw * s->problem->ndests, path, row) != FORS_FLOWS_NONE;

	return unit * npaths + (exists ? path : 0);
}

/* Put a token where it fits at once, over any way. */
static bool put_free(struct search *s, uint32_t unit)
{
	uint32_t npaths = s->problem->npaths;
	uint32_t first = npaths > 1 && !s->packing->counts_tokens ? fors_random_below(&s->random, npaths) : 0;
	uint32_t from = fors_random_below(&s->random, fors_occupancy_words(&s->packing->occupancy)),
		 sw = fors_flows_switch(s->problem, unit), way;
	uint32_t phase = find_room(s, sw, unit - sw * s->problem->ndests, first, from, UINT32_MAX, &way);

	if (phase == FORS_FLOWS_NONE)
		return false;
	put(s, way, phase);
	return true;
}

/* The cheapest place of a unit, over one of its ways, or over some. */
static struct candidate choose_place(struct search *s, uint32_t unit)
{
	struct candidate best = {FORS_FLOWS_NONE, 0, UINT64_MAX}, list[MOST_CANDIDATES];
	uint32_t way = any_way(s, unit);

	for (uint32_t i = 0; i == 0 || i < s->packing->nways; i++) {
		uint32_t next = i ? any_way(s, unit) : way;

		if (i && next == way)
			continue;
		choose(s, list, s->packing->counts_tokens ? find_few(s, next, list) : find_candidates(s, next, list),
		       &best);
	}
	if (best.price > TABU_PRICE)
		choose_any(s, way, &best);
	return best;
}

/* Throw others out. */
static void put_by_force(struct search *s, uint32_t unit)
{
	uint32_t who[FORS_FLOWS_MOST_LINKS + 3], count;
	struct candidate best;
	uint64_t price;

	s->fails[unit]++;
	best = choose_place(s, unit);
	count = look_at(s, best.way, best.phase, who, &price);
	for (uint32_t k = 0; k < count; k++)
		take(s, who[k], best.phase);
	put(s, best.way, best.phase);
}

/* Place one token that waits, any of them. */
static void place_one(struct search *s)
{
	struct fors_flows_packing *p = s->packing;
	uint32_t i = fors_random_below(&s->random, p->nwaiting), unit = p->waiting[i];

	s->step++;
	p->waiting[i] = p->waiting[--p->nwaiting];
	if (!put_free(s, unit))
		put_by_force(s, unit);
	if (p->nwaiting < s->best_waiting)
		remember_best(s);
}

static enum fors_err run(struct search *s, uint64_t budget, bool (*cancelled)(void *context), void *context,
			 struct fors_error *error)
{
	struct fors_flows_packing *p = s->packing;
	uint64_t end = p->work + budget, patience = 8 * (uint64_t)(p->patience ? p->patience : 1);

	while (p->nwaiting && p->work < end &&
	       s->step - s->best_step < patience * (200 + 2 * (uint64_t)s->best_waiting)) {
		if (s->step % ASK_EVERY == 0 && cancelled && cancelled(context))
			return fors_fail(error, FORS_ECANCELLED, "flows: planning was cancelled");
		place_one(s);
		if (s->is_broken)
			return fors_fail_memory(error);
	}
	undo_to_best(s);
	return FORS_OK;
}

uint64_t fors_flows_search_bytes(const struct fors_flows_problem *problem, uint32_t nphases)
{
	const struct search *s = NULL;

	return (uint64_t)problem->ndests * nphases * sizeof(*s->tabu) +
	       (uint64_t)fors_flows_units(problem) * sizeof(*s->fails);
}

enum fors_err fors_flows_search(struct fors_flows_packing *packing, uint64_t budget, bool (*cancelled)(void *context),
				void *context, struct fors_error *error)
{
	struct search s = {.packing = packing,
			   .problem = packing->problem,
			   .best_waiting = packing->nwaiting,
			   .random = {packing->seed}};
	enum fors_err err;

	s.tabu = calloc((size_t)packing->problem->ndests * packing->nphases + 1, sizeof(*s.tabu));
	s.fails = calloc((size_t)fors_flows_units(packing->problem) + 1, sizeof(*s.fails));
	if (s.tabu && s.fails)
		err = run(&s, budget, cancelled, context, error);
	else
		err = fors_fail_memory(error);
	free(s.tabu);
	free(s.fails);
	free(s.journal);
	return err;
}
