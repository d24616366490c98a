/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack_units.c - whole messages into phases of one message each, by ejection.
 *
 * Each message goes into a phase in which all that it needs is free. Where there is none it goes into the phase in which it drives out the fewest
 * others, and of these rather those that were seldom driven out so far; they look for another phase then. A message does not go back at once
 * to where it was driven out from. When that does not end, a phase is added.
 */
#include "pack.h"
#include "reroute.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define NOBODY FORS_DEMAND_NOBODY
#define MOST_PHASES 4		       /* in which others are asked to take other ways */
#define TENURE 12		       /* placements for which a message stays away from a phase */
#define STEPS_PER_ITEM UINT64_C(40000) /* before a phase is added */
#define MOST_ITEMS (1u << 22)
#define MOST_CELLS (UINT64_C(1) << 27) /* of the table of holders */

struct item {
	uint32_t message, phase;
	uint32_t ejections;
	uint32_t left_phase; /* where it was driven out from */
	uint64_t left_step;
	uint64_t urgency; /* the largest load of what it needs */
};

struct units {
	const struct fors_demand_asked *asked;
	const struct fors_demand_problem *problem;
	struct item *item;
	uint32_t nitems;
	uint32_t *message_of, *path;   /* per item */
	uint32_t nphases, room, words; /* phases in use, and at most; words of a mask */
	uint32_t *holder;	       /* [resource * room + phase] */
	uint64_t *free;		       /* [resource * words + ...]: phases in which nobody has it */
	uint32_t *waiting;	       /* items without a phase, the last one is next */
	uint32_t nwaiting;
	uint64_t step;
	struct fors_random random;
};

/* ---- making ---- */

static uint64_t urgency_of(const struct fors_demand_problem *p, uint32_t message, const uint64_t *load)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_loads(p, message, use);
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t need = load[use[i]] / (p->capacity[use[i]] ? p->capacity[use[i]] : 1);

		most = need > most ? need : most;
	}
	return most;
}

static void sum_loads(const struct fors_demand_problem *p, uint64_t *load)
{
	uint32_t use[FORS_DEMAND_MOST_USES];

	for (uint32_t m = 0; m < p->demand->count; m++) {
		uint32_t n = fors_demand_loads(p, m, use);

		for (uint32_t i = 0; i < n; i++)
			load[use[i]] += p->demand->message[m].bytes;
	}
}

static int by_urgency(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->urgency != b->urgency)
		return a->urgency > b->urgency ? -1 : 1;
	return (a->message > b->message) - (a->message < b->message);
}

/* The most urgent first. */
static enum fors_err list_items(struct units *u, struct fors_error *error)
{
	const struct fors_demand_problem *p = u->problem;
	uint64_t *load = calloc(p->nresources + (size_t)1, sizeof(*load));

	u->item = calloc(u->nitems + (size_t)1, sizeof(*u->item));
	u->waiting = malloc((u->nitems + (size_t)1) * sizeof(*u->waiting));
	u->message_of = malloc((u->nitems + (size_t)1) * sizeof(*u->message_of));
	u->path = calloc(u->nitems + (size_t)1, sizeof(*u->path));
	if (!load || !u->item || !u->waiting || !u->message_of || !u->path) {
		free(load);
		return fors_fail_memory(error);
	}
	sum_loads(p, load);
	u->nitems = 0;
	for (uint32_t m = 0; m < p->demand->count; m++) {
		uint64_t urgency = urgency_of(p, m, load);

		for (uint64_t i = 0; i < p->demand->message[m].bytes; i++)
			u->item[u->nitems++] =
				(struct item){.message = m, .phase = NOBODY, .left_phase = NOBODY, .urgency = urgency};
	}
	qsort(u->item, u->nitems, sizeof(*u->item), by_urgency);
	for (uint32_t i = 0; i < u->nitems; i++)
		u->message_of[i] = u->item[i].message;
	free(load);
	return FORS_OK;
}

static enum fors_err make_table(struct units *u, struct fors_error *error)
{
	size_t cells = (size_t)u->problem->nresources * u->room, words = (size_t)u->problem->nresources * u->words;

	u->holder = malloc((cells + 1) * sizeof(*u->holder));
	u->free = calloc(words + 1, sizeof(*u->free));
	if (!u->holder || !u->free)
		return fors_fail_memory(error);
	memset(u->holder, 0xFF, cells * sizeof(*u->holder));
	return FORS_OK;
}

static void add_phase(struct units *u)
{
	uint32_t k = u->nphases++;

	for (uint32_t x = 0; x < u->problem->nresources; x++)
		u->free[(size_t)x * u->words + k / 64] |= UINT64_C(1) << k % 64;
}

/* ---- places ---- */

static void put(struct units *u, uint32_t item, uint32_t phase, uint32_t path)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, u->item[item].message, path, use);

	u->item[item].phase = phase;
	u->path[item] = path;
	for (uint32_t i = 0; i < n; i++) {
		u->holder[(size_t)use[i] * u->room + phase] = item;
		u->free[(size_t)use[i] * u->words + phase / 64] &= ~(UINT64_C(1) << phase % 64);
	}
}

static void take_out(struct units *u, uint32_t item)
{
	struct item *it = &u->item[item];
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, it->message, u->path[item], use);

	for (uint32_t i = 0; i < n; i++) {
		u->holder[(size_t)use[i] * u->room + it->phase] = NOBODY;
		u->free[(size_t)use[i] * u->words + it->phase / 64] |= UINT64_C(1) << it->phase % 64;
	}
	it->left_phase = it->phase;
	it->left_step = u->step;
	it->phase = NOBODY;
	it->ejections++;
}

/* A phase in which the item is free on a path, from the word `from` on, or NOBODY. */
static uint32_t free_phase(const struct units *u, const uint32_t *use, uint32_t n, uint32_t from)
{
	for (uint32_t i = 0; i < u->words; i++) {
		uint32_t w = (from + i) % u->words;
		uint64_t mask = ~UINT64_C(0);

		for (uint32_t k = 0; k < n && mask; k++)
			mask &= u->free[(size_t)use[k] * u->words + w];
		if (mask)
			return w * 64 + (uint32_t)__builtin_ctzll(mask);
	}
	return NOBODY;
}

static bool put_free(struct units *u, uint32_t item, uint32_t from)
{
	uint32_t use[FORS_DEMAND_MOST_USES];

	for (uint32_t path = 0; path < u->problem->npaths; path++) {
		uint32_t n = fors_demand_uses(u->problem, u->item[item].message, path, use);
		uint32_t phase = n ? free_phase(u, use, n, from) : NOBODY;

		fors_effort_spend(u->asked->effort, (uint64_t)u->words * n);
		if (phase != NOBODY) {
			put(u, item, phase, path);
			return true;
		}
	}
	return false;
}

/* ---- other ways for others ---- */

/* Who has the links of a path in a phase is known again. */
static void note_links(struct units *u, uint32_t item, uint32_t path, uint32_t phase)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, u->message_of[item], path, use);
	uint64_t bit = UINT64_C(1) << phase % 64;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t *word = &u->free[(size_t)use[i] * u->words + phase / 64];

		*word = u->holder[(size_t)use[i] * u->room + phase] == NOBODY ? *word | bit : *word & ~bit;
	}
}

static bool put_rerouted(struct units *u, uint32_t item, uint32_t phase)
{
	const struct fors_demand_board board = {u->problem,    u->holder, u->room,	   phase,
						u->message_of, u->path,	  u->asked->effort};
	struct fors_demand_move move[FORS_DEMAND_MOST_MOVES];
	uint32_t n = fors_demand_reroute(&board, item, move);

	for (uint32_t i = 0; i < n; i++)
		if (move[i].before != NOBODY)
			note_links(u, move[i].item, move[i].before, phase);
	for (uint32_t i = 0; i < n; i++)
		note_links(u, move[i].item, u->path[move[i].item], phase);
	if (n)
		put(u, item, phase, u->path[item]);
	return n;
}

/* Into a phase in which its ports are free, where others give up a link; some phases are tried. */
static bool put_among(struct units *u, uint32_t item)
{
	const struct fors_demand_message *m = &u->problem->demand->message[u->message_of[item]];
	uint32_t ports[2] = {m->src, u->problem->nservers + m->dst}, tried = 0;
	uint32_t from = fors_random_below(&u->random, u->words);

	if (u->problem->npaths == 1)
		return false;
	for (uint32_t i = 0; i < u->words && tried < MOST_PHASES; i++) {
		uint32_t w = (from + i) % u->words;
		uint64_t mask = u->free[(size_t)ports[0] * u->words + w] & u->free[(size_t)ports[1] * u->words + w];

		for (; mask && tried < MOST_PHASES; mask &= mask - 1, tried++)
			if (put_rerouted(u, item, w * 64 + (uint32_t)__builtin_ctzll(mask)))
				return true;
	}
	return false;
}

/* ---- ejection ---- */

/* A place with its price: what those cost that are driven out. */
struct place {
	uint32_t phase, path;
	uint64_t price;
	uint32_t nequal; /* places of this price that were seen */
};

static uint64_t price_of(const struct units *u, const uint32_t *use, uint32_t n, uint32_t phase, uint64_t most)
{
	uint64_t price = 0;
	uint32_t seen[FORS_DEMAND_MOST_USES], nseen = 0;

	for (uint32_t i = 0; i < n && price <= most; i++) {
		uint32_t holder = u->holder[(size_t)use[i] * u->room + phase];
		bool is_new = holder != NOBODY;

		for (uint32_t k = 0; is_new && k < nseen; k++)
			is_new = seen[k] != holder;
		if (!is_new)
			continue;
		seen[nseen++] = holder;
		price += 8 + u->item[holder].ejections;
	}
	return price;
}

/* The best place on a path; of equal ones any. */
static void look_on_path(struct units *u, uint32_t item, uint32_t path, struct place *best)
{
	const struct item *it = &u->item[item];
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, it->message, path, use);

	for (uint32_t k = 0; n && k < u->nphases; k++) {
		uint64_t price;

		if (k == it->left_phase && u->step < it->left_step + TENURE)
			continue;
		price = price_of(u, use, n, k, best->price);
		if (price > best->price)
			continue;
		best->nequal = price < best->price ? 1 : best->nequal + 1;
		if (best->nequal == 1 || !fors_random_below(&u->random, best->nequal))
			*best = (struct place){k, path, price, best->nequal};
	}
	fors_effort_spend(u->asked->effort, (uint64_t)u->nphases * n);
}

static void drive_out(struct units *u, uint32_t item, const struct place *place)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, u->item[item].message, place->path, use);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t holder = u->holder[(size_t)use[i] * u->room + place->phase];

		if (holder == NOBODY)
			continue;
		take_out(u, holder);
		u->waiting[u->nwaiting++] = holder;
	}
}

static void force(struct units *u, uint32_t item)
{
	struct place best = {NOBODY, 0, UINT64_MAX, 0};

	for (uint32_t path = 0; path < u->problem->npaths; path++)
		look_on_path(u, item, path, &best);
	if (best.phase == NOBODY) { /* one phase, and it may not go there so soon */
		u->item[item].left_phase = NOBODY;
		u->waiting[u->nwaiting++] = item;
		return;
	}
	drive_out(u, item, &best);
	put(u, item, best.phase, best.path);
}

/* Until nobody waits, or so much was spent. */
static void settle(struct units *u, uint64_t until)
{
	struct fors_effort *effort = u->asked->effort;

	while (u->nwaiting && effort->spent < until && !fors_effort_is_over(effort)) {
		uint32_t at = fors_random_below(&u->random, u->nwaiting), item = u->waiting[at];

		u->waiting[at] = u->waiting[--u->nwaiting];
		u->step++;
		if (!put_free(u, item, fors_random_below(&u->random, u->words)) && !put_among(u, item))
			force(u, item);
	}
}

/* Into the first phases that have room; who finds none waits. */
static void first_fit(struct units *u)
{
	for (uint32_t i = 0; i < u->nitems; i++)
		if (!put_free(u, i, 0))
			u->waiting[u->nwaiting++] = i;
}

/* Half of the budget is for as many phases as the bound says, the rest for those that are added. */
static void pack(struct units *u)
{
	const struct fors_effort *effort = u->asked->effort;
	uint64_t share = (effort->budget - effort->spent) / 2, most = STEPS_PER_ITEM * u->nitems;

	share = most < share ? most : share;
	while (u->nphases < u->asked->bound)
		add_phase(u);
	first_fit(u);
	settle(u, effort->spent + share);
	while (u->nwaiting && u->nphases < u->room && !fors_effort_is_over(effort)) {
		add_phase(u);
		share = share / 2 + 1;
		settle(u, effort->spent + share);
	}
}

/* ---- the plan ---- */

static enum fors_err write_plan(const struct units *u, struct fors_demand_plan **plan, struct fors_error *error)
{
	struct fors_demand_put *list = malloc((u->nitems + (size_t)1) * sizeof(*list));
	enum fors_err err;

	if (!list)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < u->nitems; i++) {
		const struct fors_demand_message *m = &u->problem->demand->message[u->item[i].message];

		list[i] = (struct fors_demand_put){{1, m->src, m->dst, u->path[i]}, u->item[i].phase};
	}
	err = fors_demand_plan_make(list, u->nitems, u->nphases, u->problem->nservers, "units", plan, error);
	free(list);
	return err;
}

/* Messages in all, or 0: too many for this. */
static uint32_t count_items(const struct fors_demand *demand)
{
	uint64_t sum = fors_demand_total(demand);

	return sum <= MOST_ITEMS ? (uint32_t)sum : 0;
}

static void finish(struct units *u)
{
	free(u->item);
	free(u->holder);
	free(u->free);
	free(u->waiting);
	free(u->message_of);
	free(u->path);
}

enum fors_err fors_demand_pack_units(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
				     struct fors_error *error)
{
	struct units u = {.asked = asked, .problem = asked->problem, .random = {1}};
	enum fors_err err = FORS_OK;

	*plan = NULL;
	u.nitems = count_items(asked->problem->demand);
	u.room = (uint32_t)(asked->bound + asked->bound / 4 + 4);
	u.words = (u.room + 63) / 64;
	if (!u.nitems || asked->bound > MOST_ITEMS || (uint64_t)u.room * asked->problem->nresources > MOST_CELLS)
		return FORS_OK;
	err = list_items(&u, error);
	if (!err)
		err = make_table(&u, error);
	if (!err)
		pack(&u);
	if (!err && asked->effort->is_cancelled)
		err = fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
	if (!err && !u.nwaiting)
		err = write_plan(&u, plan, error);
	finish(&u);
	return err;
}
