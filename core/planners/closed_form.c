/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_form.c - the schedule and the routing of the FORS paper (sections 4, 5.1 and appendix A), for uniform
 * fabrics.
 *
 * The exchange between leaves. M1 leaves of M0 servers, P in all; each leaf can send B = M0 - f flows in a phase.
 * Each leaf works through numbers n = 0, 1, 2, ...; the sender of rank alpha sends number n in phase
 *
 *      ceil(n M0 / B) - alpha,       n = i + theta(alpha),  theta(alpha) = floor((alpha-1) B / M0) + 1,  i = 0 ..
 * P-M0-1
 *
 * so a number wanders from the last rank of the leaf to the first, one phase each, and ceil(n M0 / B) leaves f of
 * M0 values out: in any phase the leaf sends B (in the last ones fewer) CONSECUTIVE numbers, each from one server.
 * Number n goes to
 *
 *      label n mod M0 of the leaf that is ((n + floor(i / L)) mod (M1-1)) + 1 further on,  L = lcm(M1-1, M0)
 *
 * All leaves do the same at the same time, so what carries number n is a cyclic shift of the leaves: each leaf
 * sends n once and receives n once. B consecutive numbers differ mod M0 and mod B: receivers are distinct, and so
 * are the lanes good[n mod B], upwards and downwards, if each lane in good[] lives at every leaf. (The paper
 * numbers the flows of a phase instead, which conflicts in phases that are not full; its Algorithm 1 is
 * misprinted. See doc/planners.md.)
 *
 * The exchange inside leaves has to fit into the phases in which senders and receivers are left free. In a phase
 * as many senders as receivers of each leaf are free, and by the symmetry above they have the same ranks and
 * labels in all leaves: so one placement serves all. T = max(P, Pf) leaves each server M0 phases at least, for M0
 * - 1 partners.
 * - f = 0: everybody is free in the last M0 phases: a cyclic shift.
 * - f > 0: free places are scattered. We have to give each pair (rank, label) a phase in which both are free, no
 *   phase twice to a rank or a label: an edge colouring of K(M0,M0) with lists. What makes it go is that nothing
 *   says which label belongs to which rank: M0 pairs that form a perfect matching can be declared to be "myself"
 *   and need no place. So we place all M0 x M0 pairs in T phases and one more, in which everybody is free and
 *   which never takes place: who meets there is the same server. A short search does it: fewest free phases first,
 *   a pair pushes out those that it disturbs least. It reached T = max(P, Pf) in every case with M0, M1 <= 14, any
 *   f, and on the paper's fabrics (tests/unit/test_closed_form.c), and in all but 3 of 30,870 with M0 <= 36, M1 <=
 *   50, where it takes one phase more: what it cannot place within its budget of steps, it tries with one phase
 *   more, and with M0 more a shift fits always.
 *
 * Path indices: flow n needs the path index of its receiver d that leads over good[n mod B], by design (good[n mod
 * B] - g(d)) mod S. Number class j = n mod B only meets labels r with r = j mod gcd(M0, B), so good[] is chosen (a
 * bipartite matching) such that the largest path index is small: on a healthy fabric with S = M0, label and home
 * lane coincide, and the plan needs base LIDs only.
 */
#include <stdlib.h>
#include <string.h>

#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "closed_form.h"
#include "method.h"
#include "core/schedule/schedule.h"
#include "core/tables/lanes.h"

/* A step of the closed form: what the sender of one rank does in one phase, in every leaf. */
struct step {
	uint32_t phase;
	uint16_t leaf_shift; /* how many leaves further on, 1..M1-1 */
	uint16_t label;	     /* n mod M0: which server there */
	uint16_t class;	     /* n mod B: which good lane */
};

struct form {
	const struct fors_task *task;
	const struct fors_fabric *fabric;
	uint32_t m0, m1, f, b; /* as in the paper */
	uint32_t nphases;      /* T */
	uint32_t *leaf;	       /* m1: the leaves that take part */
	uint32_t nsteps;       /* per rank: P - M0 */
	struct step *step;     /* m0 x nsteps */
	uint32_t *inside;      /* m0 x m0: phase of (rank, label), or nphases: the two are the same server */
	uint16_t *rank_of;     /* m0: rank of a label */
	uint8_t *good;	       /* b: lane of each class */
	unsigned lmc_needed;   /* for all flows over good[] by home path indices */
	bool is_bare;	       /* who sends to whom and when; no lanes */
};

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool cancelled(const struct fors_task *task)
{
	return task->cancelled && task->cancelled(task->context);
}

/* ---- does it apply? ---- */

static enum fors_err uniform(struct form *form, struct fors_error *error)
{
	const struct fors_fabric *fabric = form->fabric;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		if (!fabric->leaf[a].nservers)
			continue;
		if (fabric->leaf[a].nservers != fabric->max_servers)
			return fors_fail(error, FORS_ENOTAPPL,
					 "closed-form: leaf %s has %u servers, another %u; it needs equal leaves",
					 fabric->leaf[a].name, fabric->leaf[a].nservers, fabric->max_servers);
		form->leaf[form->m1++] = a;
	}
	return FORS_OK;
}

static bool good_everywhere(const struct form *form, uint32_t lane)
{
	for (uint32_t a = 0; a < form->m1; a++)
		if (!fors_live(form->fabric, form->leaf[a], lane))
			return false;
	return true;
}

/* ---- good lanes: classes to lanes, with small path indices ---- */

struct lanes {
	const struct form *form;
	uint32_t nclasses; /* gcd(M0, B): classes that meet the same labels */
	uint32_t ngood;
	uint8_t *lane;	    /* ngood: the good lanes */
	uint8_t *need;	    /* nclasses x ngood: largest home path index */
	uint32_t *class_of; /* ngood: class that has the lane, FORS_NONE */
	bool *visited;	    /* ngood */
	uint32_t allowed;   /* path indices below this */
};

static void find_need(struct lanes *lanes)
{
	const struct form *form = lanes->form;
	const struct fors_fabric *fabric = form->fabric;

	for (uint32_t label = 0; label < form->m0; label++)
		for (uint32_t a = 0; a < form->m1; a++) {
			uint32_t d = fabric->leaf[form->leaf[a]].first_server + form->rank_of[label];
			uint32_t home = fors_home_lane(fabric, form->leaf[a], fabric->server[d].slot, 0);
			uint8_t *need = lanes->need + (size_t)(label % lanes->nclasses) * lanes->ngood;

			for (uint32_t k = 0; k < lanes->ngood; k++) {
				uint32_t lane = lanes->lane[k];
				uint32_t index = fors_home_index(fabric->nlanes, home, lane);

				if (index > need[k])
					need[k] = (uint8_t)index;
			}
		}
}

/* Give `class` a lane, moving others (Kuhn's algorithm; depth at most the number of lanes). */
static bool seat(struct lanes *lanes, uint32_t class)
{
	const uint8_t *need = lanes->need + (size_t)(class % lanes->nclasses) * lanes->ngood;

	for (uint32_t k = 0; k < lanes->ngood; k++) {
		if (need[k] >= lanes->allowed || lanes->visited[k])
			continue;
		lanes->visited[k] = true;
		if (lanes->class_of[k] == FORS_NONE || seat(lanes, lanes->class_of[k])) {
			lanes->class_of[k] = class;
			return true;
		}
	}
	return false;
}

static bool seat_all(struct lanes *lanes)
{
	memset(lanes->class_of, 0xff, lanes->ngood * sizeof(*lanes->class_of));
	for (uint32_t class = 0; class < lanes->form->b; class ++) {
		memset(lanes->visited, 0, lanes->ngood);
		if (!seat(lanes, class))
			return false;
	}
	return true;
}

/* Try LMC 0, 1, ...: at 8 every lane is allowed, so one of them fits. */
static void seat_cheaply(struct lanes *lanes, struct form *form)
{
	form->lmc_needed = 0;
	for (;; form->lmc_needed++) {
		lanes->allowed = fors_home_nindices(form->lmc_needed);
		if (seat_all(lanes))
			break;
	}
	for (uint32_t k = 0; k < lanes->ngood; k++)
		if (lanes->class_of[k] != FORS_NONE)
			form->good[lanes->class_of[k]] = lanes->lane[k];
}

static enum fors_err too_few_lanes(const struct form *form, uint32_t ngood, struct fors_error *error)
{
	return fors_fail(error, FORS_ENOTAPPL,
			 "closed-form: %u lanes live at all leaves with servers, it needs %u (%u servers per leaf, "
			 "bandwidth reduction %u)",
			 ngood, form->b, form->m0, form->f);
}

static enum fors_err choose_lanes(struct form *form, struct fors_error *error)
{
	uint32_t room = form->fabric->nlanes, step = gcd(form->m0, form->b);
	struct lanes lanes = {.form = form, .nclasses = step};
	enum fors_err err;

	lanes.lane = calloc(room + 1, 1);
	lanes.need = calloc((size_t)step * room + 1, 1);
	lanes.class_of = calloc(room + 1, sizeof(*lanes.class_of));
	lanes.visited = calloc(room + 1, sizeof(*lanes.visited));
	if (!lanes.lane || !lanes.need || !lanes.class_of || !lanes.visited) {
		err = fors_fail_memory(error);
		goto out;
	}
	for (uint32_t lane = 0; lane < room; lane++)
		if (good_everywhere(form, lane))
			lanes.lane[lanes.ngood++] = (uint8_t)lane;
	err = lanes.ngood < form->b ? too_few_lanes(form, lanes.ngood, error) : FORS_OK;
	if (!err) {
		find_need(&lanes);
		seat_cheaply(&lanes, form);
	}
out:
	free(lanes.lane);
	free(lanes.need);
	free(lanes.class_of);
	free(lanes.visited);
	return err;
}

/* ---- the formulas ---- */

static void steps_of_rank(struct form *form, uint32_t alpha)
{
	uint32_t m0 = form->m0, b = form->b, shifts = form->m1 - 1;
	uint32_t block = shifts / gcd(shifts, m0) * m0; /* L */
	uint32_t theta = alpha ? (alpha - 1) * b / m0 + 1 : 0;
	struct step *step = form->step + (size_t)alpha * form->nsteps;

	for (uint32_t i = 0; i < form->nsteps; i++) {
		uint64_t n = i + theta;

		step[i].phase = (uint32_t)((n * m0 + b - 1) / b - alpha);
		step[i].leaf_shift = (uint16_t)((n + i / block) % shifts + 1);
		step[i].label = (uint16_t)(n % m0);
		step[i].class = (uint16_t)(n % b);
	}
}

/* All steps, and T = max(P, Pf). */
static enum fors_err make_steps(struct form *form, struct fors_error *error)
{
	uint64_t servers = (uint64_t)form->m0 * form->m1;

	form->nphases = (uint32_t)servers;
	if (form->m1 == 1)
		return FORS_OK;
	form->nsteps = (uint32_t)(servers - form->m0);
	form->nphases = max(form->nphases, (uint32_t)(((uint64_t)form->m0 * form->nsteps + form->b - 1) / form->b));
	form->step = calloc((size_t)form->m0 * form->nsteps, sizeof(*form->step));
	if (!form->step)
		return fors_fail_memory(error);
	for (uint32_t alpha = 0; alpha < form->m0; alpha++)
		steps_of_rank(form, alpha);
	return FORS_OK;
}

/* ---- the exchange inside a leaf, where everybody is free at the end ---- */

static void place_shift(struct form *form)
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
static void find_free(struct search *search, const struct form *form)
{
	uint32_t m0 = search->m0, nwords = search->nwords;

	for (uint32_t t = 0; t < search->nphases; t++)
		search->sender[t / 64] |= 1ull << t % 64;
	for (uint32_t x = 1; x < m0; x++)
		memcpy(search->sender + (size_t)x * nwords, search->sender, nwords * sizeof(uint64_t));
	memcpy(search->receiver, search->sender, (size_t)m0 * nwords * sizeof(uint64_t));
	for (uint32_t alpha = 0; alpha < m0; alpha++)
		for (uint32_t i = 0; i < form->nsteps; i++) {
			const struct step *step = &form->step[(size_t)alpha * form->nsteps + i];
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

		if (now % ASK_STEPS == 0 && cancelled(task))
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

static enum fors_err place_search(struct form *form, uint32_t nphases, bool *found, struct fors_error *error)
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

static void read_labels(struct form *form)
{
	for (uint32_t rank = 0; rank < form->m0; rank++)
		for (uint32_t label = 0; label < form->m0; label++)
			if (form->inside[rank * form->m0 + label] == form->nphases)
				form->rank_of[label] = (uint16_t)rank;
}

/* Place the exchange inside leaves, with as few more phases as it can; this settles T and which label has which rank.
 */
static enum fors_err place_inside(struct form *form, struct fors_error *error)
{
	uint32_t least = form->nphases;
	bool found = form->m1 == 1 || form->f == 0;
	enum fors_err err = FORS_OK;

	if (found)
		place_shift(form);
	for (uint32_t more = 0; !found && more < form->m0; more++) {
		if (cancelled(form->task))
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

/* ---- the plan ---- */

static enum fors_err small_lmc(const struct form *form, uint32_t leaf, uint32_t d, uint32_t lane,
			       struct fors_error *error)
{
	const struct fors_fabric *fabric = form->fabric;
	const struct fors_leaf *to = &fabric->leaf[fabric->server[d].leaf];

	if (form->lmc_needed > FORS_MAX_LMC)
		return fors_fail(error, FORS_ENOTAPPL, "closed-form: %u lanes are more than path indices can reach",
				 fabric->nlanes);
	return fors_fail(
		error, FORS_ELMC,
		"closed-form: no path index of server 0x%016llx (leaf %s, slot %u) leads there from leaf %s over "
		"spine %s at LMC %u; it needs LMC %u",
		(unsigned long long)fabric->server[d].guid, to->name, fabric->server[d].slot, fabric->leaf[leaf].name,
		fabric->spine[fabric->lane[lane].spine].name, fabric->lmc, max(form->lmc_needed, fabric->lmc + 1u));
}

/* The flows of one rank of the leaf number `gamma` (of those that take part) to other leaves. */
static enum fors_err write_row(const struct form *form, uint32_t gamma, uint32_t alpha, struct fors_cell *row,
			       struct fors_error *error)
{
	for (uint32_t i = 0; i < form->nsteps; i++) {
		const struct step *step = &form->step[(size_t)alpha * form->nsteps + i];
		uint32_t to = gamma + step->leaf_shift;
		uint32_t leaf = form->leaf[to < form->m1 ? to : to - form->m1], lane = form->good[step->class];
		uint32_t d = form->fabric->leaf[leaf].first_server + form->rank_of[step->label];
		uint8_t path = 0;

		if (form->is_bare)
			lane = FORS_NO_LANE;
		else
			path = fors_path_index(form->fabric, form->task->lanes, form->leaf[gamma], d, lane, lane);
		if (path == FORS_NO_INDEX)
			return small_lmc(form, form->leaf[gamma], d, lane, error);
		row[step->phase] = (struct fors_cell){.dst = (uint16_t)d, .path = path, .lane = (uint8_t)lane};
	}
	return FORS_OK;
}

static void write_inside(const struct form *form, uint32_t first_server, uint32_t rank, struct fors_cell *row)
{
	for (uint32_t label = 0; label < form->m0; label++) {
		uint32_t phase = form->inside[rank * form->m0 + label];

		if (phase < form->nphases)
			row[phase] = (struct fors_cell){.dst = (uint16_t)(first_server + form->rank_of[label]),
							.lane = FORS_NO_LANE};
	}
}

static enum fors_err write_plan(const struct form *form, struct fors_schedule *schedule, struct fors_error *error)
{
	for (uint32_t gamma = 0; gamma < form->m1; gamma++) {
		uint32_t first = form->fabric->leaf[form->leaf[gamma]].first_server;

		if (cancelled(form->task))
			return fors_fail(error, FORS_ECANCELLED, "closed-form: cancelled");
		for (uint32_t rank = 0; rank < form->m0; rank++) {
			struct fors_cell *row = schedule->cell + (size_t)(first + rank) * form->nphases;
			enum fors_err err = write_row(form, gamma, rank, row, error);

			if (err)
				return err;
			write_inside(form, first, rank, row);
		}
	}
	return FORS_OK;
}

/* Everything up to the cells: does it apply, steps, places, lanes. */
static enum fors_err prepare(struct form *form, struct fors_error *error)
{
	enum fors_err err = uniform(form, error);

	if (err)
		return err;
	if (form->m1 > 1 && form->f >= form->m0)
		return fors_fail(error, FORS_ENOTAPPL, "closed-form: a leaf has no live uplink");
	form->b = form->m1 > 1 ? form->m0 - form->f : 0;
	err = make_steps(form, error);
	if (!err)
		err = place_inside(form, error);
	if (!err && form->m1 > 1 && !form->is_bare)
		err = choose_lanes(form, error);
	return err;
}

static enum fors_err make_plan(struct form *form, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule *made;
	enum fors_err err = prepare(form, error);

	if (err)
		return err;
	err = fors_schedule_new(form->fabric, form->nphases, 0, 0, fors_method_closed_form.name, &made, error);
	if (err)
		return err;
	err = write_plan(form, made, error);
	if (err) {
		fors_schedule_free(made);
		return err;
	}
	*schedule = made;
	return FORS_OK;
}

static enum fors_err plan_form(const struct fors_task *task, bool is_bare, struct fors_schedule **schedule,
			       struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;
	size_t m0 = fabric->max_servers;
	struct form form = {
		.task = task, .fabric = fabric, .m0 = fabric->max_servers, .f = fabric->reduction, .is_bare = is_bare};
	enum fors_err err;

	if (!m0)
		return fors_fail(error, FORS_ENOTAPPL, "closed-form: no server takes part");
	form.leaf = calloc(fabric->nleaves, sizeof(*form.leaf));
	form.inside = calloc(m0 * m0, sizeof(*form.inside));
	form.rank_of = calloc(m0, sizeof(*form.rank_of));
	form.good = calloc(m0, sizeof(*form.good));
	if (form.leaf && form.inside && form.rank_of && form.good)
		err = make_plan(&form, schedule, error);
	else
		err = fors_fail_memory(error);
	free(form.leaf);
	free(form.step);
	free(form.inside);
	free(form.rank_of);
	free(form.good);
	return err;
}

static enum fors_err plan(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	return plan_form(task, false, schedule, error);
}

enum fors_err fors_closed_form_schedule(const struct fors_task *task, struct fors_schedule **schedule,
					struct fors_error *error)
{
	return plan_form(task, true, schedule, error);
}

const struct fors_method fors_method_closed_form = {
	.name = "closed-form",
	.plan = plan,
};
