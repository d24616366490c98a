/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_form_inside.c - when servers of the same leaf meet in the closed form.
 *
 * The exchange inside leaves has to fit into the phases in which senders and receivers are left free. In a phase as
 * many senders as receivers of each leaf are free, and by the symmetry of the exchange between leaves (closed_form.c)
 * they have the same ranks and labels in all leaves: so one placement serves all. T = max(P, Pf) leaves each server
 * M0 phases at least, for M0 - 1 partners.
 *
 * - f = 0: everybody is free in the last M0 phases: a cyclic shift.
 * - f > 0: free places are scattered. We have to give each pair (rank, label) a phase in which both are free, no
 *   phase twice to a rank or a label: an edge colouring of K(M0,M0) with lists. What makes it go is that nothing says
 *   which label belongs to which rank: M0 pairs that form a perfect matching can be declared to be "myself" and need
 *   no place. So we place all M0 x M0 pairs in T phases and one more, in which everybody is free and which never
 *   takes place: who meets there is the same server. A short search does it: fewest free phases first, a pair pushes
 *   out those that it disturbs least. It reached T = max(P, Pf) in every case with M0, M1 <= 14, any f, and on the
 *   paper's fabrics (tests/unit/test_closed_form.c), and in all but 3 of 30,870 with M0 <= 36, M1 <= 50, where it
 *   takes one phase more: what it cannot place within its budget of steps, it tries with one phase more, and with M0
 *   more a shift fits always.
 */
#include "closed_form_work.h"

#include <stdlib.h>
#include <string.h>

/* ---- the exchange inside a leaf, where everybody is free at the end ---- */

static void place_shift(struct fors_form *form)
{
	uint32_t m0 = form->m0, first = form->nphases - m0;

	for (uint32_t rank = 0; rank < m0; rank++)
		for (uint32_t label = 0; label < m0; label++)
			form->inside[rank * m0 + label] = first + (label + m0 - rank) % m0;
	for (uint32_t rank = 0; rank < m0; rank++)
		form->inside[rank * m0 + rank] = form->nphases;
}

/* ---- the exchange inside a leaf, in scattered free phases ---- */

#define NO_PAIR UINT32_MAX
#define TABU_STEPS 3	   /* so long a pair may not return to where it was pushed out */
#define ASK_STEPS 4096	   /* so often it asks whether to go on */
#define BUDGET_FACTOR 1000 /* search steps allowed, per pair */

/*
 * The search for places: see the head of this file. Pair p = rank * m0 + label; phase T is the one
 * in which everybody is free and which never takes place.
 */
struct search {
	uint32_t m0, nphases;	     /* nphases = T + 1 */
	uint32_t nwords;	     /* 64 phases each */
	uint64_t *sender, *receiver; /* m0 x nwords: bit t: free in phase t */
	uint32_t *sends, *receives;  /* m0 x nphases: the pair placed there, NO_PAIR */
	uint32_t *place;	     /* m0 x m0: phase of a pair, FORS_NONE: none yet */
	uint32_t *weight;	     /* how often a pair was pushed out: the more, the dearer */
	uint32_t *tabu_phase;	     /* where from, last ... */
	uint32_t *tabu_until;	     /* ... and until which step it may not return there */
	uint32_t *todo, ntodo;	     /* stack of pairs without a place */
	uint32_t *options;	     /* number of phases in which both are free */
};

static void search_free(struct search *search)
{
	free(search->sender);
	free(search->receiver);
	free(search->sends);
	free(search->receives);
	free(search->place);
	free(search->weight);
	free(search->tabu_phase);
	free(search->tabu_until);
	free(search->todo);
	free(search->options);
}

static bool search_alloc(struct search *search, uint32_t m0, uint32_t nphases)
{
	size_t pairs = (size_t)m0 * m0, words = (size_t)m0 * (nphases / 64 + 1), cells = (size_t)m0 * nphases;

	*search = (struct search){.m0 = m0, .nphases = nphases, .nwords = nphases / 64 + 1};
	search->sender = calloc(words, sizeof(uint64_t));
	search->receiver = calloc(words, sizeof(uint64_t));
	search->sends = calloc(cells, sizeof(uint32_t));
	search->receives = calloc(cells, sizeof(uint32_t));
	search->place = calloc(pairs, sizeof(uint32_t));
	search->weight = calloc(pairs, sizeof(uint32_t));
	search->tabu_phase = calloc(pairs, sizeof(uint32_t));
	search->tabu_until = calloc(pairs, sizeof(uint32_t));
	search->todo = calloc(pairs, sizeof(uint32_t));
	search->options = calloc(pairs, sizeof(uint32_t));
	return search->sender && search->receiver && search->sends && search->receives && search->place &&
	       search->weight && search->tabu_phase && search->tabu_until && search->todo && search->options;
}

/* Everybody is free but where a step says otherwise. */
static void find_free(struct search *search, const struct fors_form *form)
{
	uint32_t m0 = search->m0, nwords = search->nwords;

	for (uint32_t t = 0; t < search->nphases; t++)
		search->sender[t / 64] |= 1ull << t % 64;
	for (uint32_t x = 1; x < m0; x++)
		memcpy(search->sender + (size_t)x * nwords, search->sender, nwords * sizeof(uint64_t));
	memcpy(search->receiver, search->sender, (size_t)m0 * nwords * sizeof(uint64_t));
	for (uint32_t alpha = 0; alpha < m0; alpha++)
		for (uint32_t i = 0; i < form->nsteps; i++) {
			const struct fors_form_step *step = &form->step[(size_t)alpha * form->nsteps + i];
			uint64_t bit = 1ull << step->phase % 64;

			search->sender[(size_t)alpha * nwords + step->phase / 64] &= ~bit;
			search->receiver[(size_t)step->label * nwords + step->phase / 64] &= ~bit;
		}
}

/* Phases 64 word .. 64 word + 63 in which both ends of `pair` are free. */
static uint64_t both_free(const struct search *search, uint32_t pair, uint32_t word)
{
	return search->sender[(size_t)(pair / search->m0) * search->nwords + word] &
	       search->receiver[(size_t)(pair % search->m0) * search->nwords + word];
}

/* A rank and the label of the same number: the pairs that start out as "myself". */
static bool is_self(const struct search *search, uint32_t pair)
{
	return pair % (search->m0 + 1) == 0;
}

static uint32_t count_options(const struct search *search, uint32_t pair)
{
	uint32_t sum = 0;

	for (uint32_t word = 0; word < search->nwords; word++)
		sum += (uint32_t)__builtin_popcountll(both_free(search, pair, word));
	return sum;
}

/* All but "myself", most options first, so that the stack gives the pair with the fewest: counting sort, stable. */
static enum fors_err stack_pairs(struct search *search, struct fors_error *error)
{
	uint32_t npairs = search->m0 * search->m0, sum = 0;
	uint32_t *start = calloc((size_t)search->nphases + 2, sizeof(*start));

	if (!start)
		return fors_fail_memory(error);
	for (uint32_t pair = 0; pair < npairs; pair++) {
		search->options[pair] = count_options(search, pair);
		if (!is_self(search, pair))
			start[search->options[pair]]++;
	}
	for (uint32_t n = search->nphases + 1; n-- > 0;) {
		uint32_t count = start[n];

		start[n] = sum;
		sum += count;
	}
	for (uint32_t pair = 0; pair < npairs; pair++)
		if (!is_self(search, pair))
			search->todo[start[search->options[pair]]++] = pair;
	search->ntodo = sum;
	free(start);
	return FORS_OK;
}

static uint32_t *sends_at(const struct search *search, uint32_t pair, uint32_t phase)
{
	return &search->sends[(size_t)(pair / search->m0) * search->nphases + phase];
}

static uint32_t *receives_at(const struct search *search, uint32_t pair, uint32_t phase)
{
	return &search->receives[(size_t)(pair % search->m0) * search->nphases + phase];
}

static void put(struct search *search, uint32_t pair, uint32_t phase)
{
	search->place[pair] = phase;
	*sends_at(search, pair, phase) = pair;
	*receives_at(search, pair, phase) = pair;
}

static void take(struct search *search, uint32_t pair)
{
	uint32_t phase = search->place[pair];

	search->place[pair] = FORS_NONE;
	*sends_at(search, pair, phase) = NO_PAIR;
	*receives_at(search, pair, phase) = NO_PAIR;
}

/* What it costs to put `pair` into `phase`: 0 when nobody has to go. */
static uint32_t cost(const struct search *search, uint32_t pair, uint32_t phase, uint32_t now)
{
	uint32_t a = *sends_at(search, pair, phase), b = *receives_at(search, pair, phase), sum = 0;

	if (a != NO_PAIR)
		sum += 1 + search->weight[a];
	if (b != NO_PAIR)
		sum += 1 + search->weight[b];
	if (search->tabu_phase[pair] == phase && search->tabu_until[pair] > now)
		sum += 1000000;
	return sum;
}

/* The cheapest phase for `pair`, the first of equals. The phase that never takes place is always one. */
static uint32_t cheapest(const struct search *search, uint32_t pair, uint32_t now)
{
	uint32_t best = search->nphases - 1, best_cost = cost(search, pair, best, now);

	for (uint32_t word = 0; word < search->nwords && best_cost; word++)
		for (uint64_t bits = both_free(search, pair, word); bits && best_cost; bits &= bits - 1) {
			uint32_t phase = word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t price = cost(search, pair, phase, now);

			if (price < best_cost) {
				best = phase;
				best_cost = price;
			}
		}
	return best;
}

static void push_out(struct search *search, uint32_t pair, uint32_t now)
{
	if (pair == NO_PAIR)
		return;
	search->tabu_phase[pair] = search->place[pair];
	search->tabu_until[pair] = now + TABU_STEPS;
	search->weight[pair]++;
	take(search, pair);
	search->todo[search->ntodo++] = pair;
}

/* Everything unplaced, but "myself" where label and rank are the same number. */
static void search_reset(struct search *search)
{
	size_t pairs = (size_t)search->m0 * search->m0, cells = (size_t)search->m0 * search->nphases;

	memset(search->sends, 0xff, cells * sizeof(uint32_t));
	memset(search->receives, 0xff, cells * sizeof(uint32_t));
	memset(search->place, 0xff, pairs * sizeof(uint32_t));
	for (uint32_t x = 0; x < search->m0; x++)
		put(search, x * search->m0 + x, search->nphases - 1);
}

/* Find places for all; *found is false when the budget is used up. */
static enum fors_err search_run(struct search *search, const struct fors_task *task, bool *found,
				struct fors_error *error)
{
	uint32_t budget = BUDGET_FACTOR * search->m0 * search->m0;

	for (uint32_t now = 1; search->ntodo && now < budget; now++) {
		uint32_t pair = search->todo[--search->ntodo];
		uint32_t phase = cheapest(search, pair, now);

		if (now % ASK_STEPS == 0 && fors_form_cancelled(task))
			return fors_fail(error, FORS_ECANCELLED, "closed-form: cancelled");
		push_out(search, *sends_at(search, pair, phase), now);
		push_out(search, *receives_at(search, pair, phase), now);
		put(search, pair, phase);
	}
	*found = search->ntodo == 0;
	return FORS_OK;
}

/* Whoever found no partner in the phase that never takes place gets one: it is one phase less to fill. */
static void complete_matching(struct search *search)
{
	uint32_t m0 = search->m0, last = search->nphases - 1, label = 0;

	for (uint32_t rank = 0; rank < m0; rank++) {
		if (search->sends[(size_t)rank * search->nphases + last] != NO_PAIR)
			continue;
		while (search->receives[(size_t)label * search->nphases + last] != NO_PAIR)
			label++;
		take(search, rank * m0 + label);
		put(search, rank * m0 + label, last);
	}
}

static enum fors_err place_search(struct fors_form *form, uint32_t nphases, bool *found, struct fors_error *error)
{
	struct search search;
	enum fors_err err;

	if (!search_alloc(&search, form->m0, nphases + 1)) {
		err = fors_fail_memory(error);
		goto out;
	}
	find_free(&search, form);
	err = stack_pairs(&search, error);
	if (err)
		goto out;
	search_reset(&search);
	err = search_run(&search, form->task, found, error);
	if (!err && *found) {
		complete_matching(&search);
		memcpy(form->inside, search.place, (size_t)form->m0 * form->m0 * sizeof(*form->inside));
		form->nphases = nphases;
	}
out:
	search_free(&search);
	return err;
}

static void read_labels(struct fors_form *form)
{
	for (uint32_t rank = 0; rank < form->m0; rank++)
		for (uint32_t label = 0; label < form->m0; label++)
			if (form->inside[rank * form->m0 + label] == form->nphases)
				form->rank_of[label] = (uint16_t)rank;
}

enum fors_err fors_form_place_inside(struct fors_form *form, struct fors_error *error)
{
	uint32_t least = form->nphases;
	bool found = form->m1 == 1 || form->f == 0;
	enum fors_err err = FORS_OK;

	if (found)
		place_shift(form);
	for (uint32_t more = 0; !found && more < form->m0; more++) {
		if (fors_form_cancelled(form->task))
			return fors_fail(error, FORS_ECANCELLED, "closed-form: cancelled");
		err = place_search(form, least + more, &found, error);
		if (err)
			return err;
	}
	if (!found) {
		form->nphases = least + form->m0;
		place_shift(form);
	}
	read_labels(form);
	return FORS_OK;
}
