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
#include "core/planners/book.h"

#define NOBODY FORS_DEMAND_NOBODY
#define MOST_PHASES 4		       /* in which others are asked to take other ways */
#define TENURE 12		       /* placements for which a message stays away from a phase */
#define STEPS_PER_ITEM UINT64_C(40000) /* before a phase is added */
#define SPARE_ITEMS 1000	       /* more than in proportion: few items take long where all phases are full */
#define MOST_ITEMS (1u << 22)
#define MOST_CELLS (UINT64_C(1) << 27) /* of the table of holders */
#define BYTES_CELL 5		       /* with what finds them, rounded up */
#define BYTES_ITEM 128		       /* and its pieces, in the plan and while that is made */

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
	uint32_t *message_of, *path; /* per item */
	struct fors_book book;	     /* rows are resources, turns are phases: which item is where */
	uint32_t *waiting;	     /* items without a phase */
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

/* ---- places ---- */

static void put(struct units *u, uint32_t item, uint32_t phase, uint32_t path)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, u->item[item].message, path, use);

	u->item[item].phase = phase;
	u->path[item] = path;
	for (uint32_t i = 0; i < n; i++)
		fors_book_write(&u->book, use[i], phase, item);
}

static void take_out(struct units *u, uint32_t item)
{
	struct item *it = &u->item[item];
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, it->message, u->path[item], use);

	for (uint32_t i = 0; i < n; i++)
		fors_book_erase(&u->book, use[i], it->phase, item);
	it->left_phase = it->phase;
	it->left_step = u->step;
	it->phase = NOBODY;
	it->ejections++;
}

/* The first phase of any word of the book, or of the first word where that one has none yet. */
static uint32_t draw_start(struct units *u)
{
	uint32_t word = fors_random_below(&u->random, u->book.nwords);

	return word < fors_book_words(&u->book) ? word * 64 : 0;
}

/* Into the first phase from `start` on in which all is free on a path. */
static bool put_free(struct units *u, uint32_t item, uint32_t start)
{
	uint32_t use[FORS_DEMAND_MOST_USES], seen;

	for (uint32_t path = 0; path < u->problem->npaths; path++) {
		uint32_t n = fors_demand_uses(u->problem, u->item[item].message, path, use);
		uint32_t phase = n ? fors_book_find(&u->book, use, n, start, UINT32_MAX, &seen) : NOBODY;

		fors_effort_spend(u->asked->effort, (uint64_t)u->book.nwords * n);
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

	for (uint32_t i = 0; i < n; i++) {
		uint32_t who = fors_book_at(&u->book, use[i], phase);

		if (who == NOBODY)
			fors_book_erase(&u->book, use[i], phase, item);
		else
			fors_book_write(&u->book, use[i], phase, who);
	}
}

static bool put_rerouted(struct units *u, uint32_t item, uint32_t phase)
{
	const struct fors_demand_board board = {u->problem,    u->book.at, u->book.room,    phase,
						u->message_of, u->path,	   u->asked->effort};
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
	uint32_t from = fors_random_below(&u->random, u->book.nwords);

	if (u->problem->npaths == 1)
		return false;
	for (uint32_t i = 0; i < u->book.nwords && tried < MOST_PHASES; i++) {
		uint32_t w = (from + i) % u->book.nwords;
		uint64_t mask = fors_book_free(&u->book, ports, 2, w);

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
		uint32_t holder = fors_book_at(&u->book, use[i], phase);
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

	for (uint32_t k = 0; n && k < u->book.nturns; k++) {
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
	fors_effort_spend(u->asked->effort, (uint64_t)u->book.nturns * n);
}

static void drive_out(struct units *u, uint32_t item, const struct place *place)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_uses(u->problem, u->item[item].message, place->path, use);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t holder = fors_book_at(&u->book, use[i], place->phase);

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
static void find_room(struct units *u, uint64_t until)
{
	struct fors_effort *effort = u->asked->effort;

	while (u->nwaiting && effort->spent < until && !fors_effort_is_over(effort)) {
		uint32_t at = fors_random_below(&u->random, u->nwaiting), item = u->waiting[at];

		u->waiting[at] = u->waiting[--u->nwaiting];
		u->step++;
		if (!put_free(u, item, draw_start(u)) && !put_among(u, item))
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
	uint64_t share = (effort->budget - effort->spent) / 2,
		 most = STEPS_PER_ITEM * (u->nitems + (uint64_t)SPARE_ITEMS);

	share = most < share ? most : share;
	fors_book_set_turns(&u->book, (uint32_t)u->asked->bound);
	first_fit(u);
	find_room(u, effort->spent + share);
	while (u->nwaiting && u->book.nturns < u->book.room && !fors_effort_is_over(effort)) {
		fors_book_set_turns(&u->book, u->book.nturns + 1);
		share = share / 2 + 1;
		find_room(u, effort->spent + share);
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
	err = fors_demand_plan_make(list, u->nitems, u->book.nturns, u->problem->nservers, "units", plan, error);
	free(list);
	return err;
}

/* May so many items, in a table of so many cells, be planned at all? */
static bool is_small(const struct fors_demand_asked *asked, uint64_t items, uint64_t cells)
{
	uint64_t bytes = BYTES_CELL * cells + BYTES_ITEM * items;

	return cells <= MOST_CELLS && (!asked->most_bytes || bytes <= asked->most_bytes);
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
	fors_book_release(&u->book);
	free(u->waiting);
	free(u->message_of);
	free(u->path);
}

enum fors_err fors_demand_pack_units(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
				     struct fors_error *error)
{
	struct units u = {.asked = asked, .problem = asked->problem, .random = {1}};
	uint32_t room = (uint32_t)(asked->bound + asked->bound / 4 + 4);
	enum fors_err err;

	*plan = NULL;
	u.nitems = count_items(asked->problem->demand);
	if (!u.nitems || asked->bound > MOST_ITEMS ||
	    !is_small(asked, u.nitems, (uint64_t)room * asked->problem->nresources))
		return FORS_OK;
	err = list_items(&u, error);
	if (!err && !fors_book_init(&u.book, asked->problem->nresources, 0, 0, room))
		err = fors_fail_memory(error);
	if (!err)
		pack(&u);
	if (!err && asked->effort->is_cancelled)
		err = fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
	if (!err && !u.nwaiting)
		err = write_plan(&u, plan, error);
	finish(&u);
	return err;
}
