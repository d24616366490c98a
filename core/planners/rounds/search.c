/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * search.c - rounds for the homeless: a tabu search by ejection.
 *
 * Take the unit that lost its place last. If it fits somewhere, put it there.
 * Else look at every round (and path): who would have to go? Each of them
 * costs, less if it fits elsewhere at once, much more if it was itself
 * placed a moment ago (tabu). Put the unit where that is cheapest, throw the
 * others out, and go on until nobody is homeless. Taking the last one first
 * follows a chain of ejections to its end before the next is begun, as Kempe's
 * alternating paths do.
 *
 * The effort is counted in ejections, not in seconds, and the pseudo random numbers
 * that break ties start from a constant, so the result is the same everywhere.
 */
#include "search.h"

#define TENURE 10    /* steps for which a placed unit is tabu, up to twice that */
#define COST_FITS 2  /* ejecting a unit that fits elsewhere */
#define COST_LOCAL 7 /* one inside its leaf: it needs no link, so it is easier to place */
#define COST_REMOTE 10
#define COST_CAPACITY 8 /* somebody of the group has to go too */
#define COST_TABU 40
#define TIE_BITS 3	     /* room for a random tie-break below the cost */
#define MOST_PATIENCE 4	     /* times the patience, and one for each homeless unit: the most ejections */
#define CANCEL_STEPS 16	     /* ask for cancellation this often */
#define WEIGH_WORK 4	     /* steps of a place looked at, without the prices of those who are in the way */
#define MOST_WEIGHED 1000000 /* places looked at, all in all: large problems with many ways come to that */

/* Who is in the way of a unit in one round. */
struct obstacle {
	uint32_t unit[3]; /* receiver's, uplink's, downlink's occupants, each once */
	uint32_t count;
	bool needs_capacity; /* the group is full, and none of these is of the group */
};

static void add_obstacle(struct obstacle *obstacle, uint32_t id)
{
	if (id == FORS_ROUNDS_NONE)
		return;
	for (uint32_t i = 0; i < obstacle->count; i++)
		if (obstacle->unit[i] == id)
			return;
	obstacle->unit[obstacle->count++] = id;
}

static void find_obstacle(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
			  uint32_t round, struct obstacle *obstacle)
{
	const struct fors_rounds_problem *problem = packing->problem;
	const struct fors_book *book = &packing->book;

	obstacle->count = 0;
	add_obstacle(obstacle, fors_book_at(book, unit->server, round));
	if (!unit->is_local) {
		add_obstacle(obstacle,
			     fors_book_at(book, fors_rounds_up_row(packing, unit->leaf, unit->up[path]), round));
		add_obstacle(obstacle,
			     fors_book_at(book, fors_rounds_down_row(packing, unit->to, unit->down[path]), round));
	}
	obstacle->needs_capacity =
		*fors_book_count(book, fors_rounds_group_row(packing, unit->group), round) >= problem->capacity;
	for (uint32_t i = 0; i < obstacle->count; i++)
		if (fors_rounds_group_of(problem, obstacle->unit[i]) == unit->group)
			obstacle->needs_capacity = false;
}

/* What it costs to eject one placed unit. */
static uint32_t price(const struct fors_rounds_packing *packing, uint32_t id, uint32_t step)
{
	struct fors_rounds_unit unit = fors_rounds_unit(packing, id);
	uint32_t path, cost = unit.is_local ? COST_LOCAL : COST_REMOTE;

	if (fors_rounds_find_free(packing, &unit, 0, &path) != FORS_ROUNDS_NONE)
		cost = COST_FITS;
	return cost + (packing->guard[id] > step ? COST_TABU : 0);
}

static uint32_t obstacle_price(const struct fors_rounds_packing *packing, const struct obstacle *obstacle,
			       uint32_t step)
{
	uint32_t cost = obstacle->needs_capacity ? COST_CAPACITY : 0;

	for (uint32_t i = 0; i < obstacle->count; i++)
		cost += price(packing, obstacle->unit[i], step);
	return cost;
}

/* Where one unit is placed at the least cost. */
struct choice {
	uint32_t path, round, cost;
};

/* Look at one place for a unit; keep it in *best if it is cheaper. */
static void weigh(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
		  uint32_t round, uint32_t step, struct choice *best)
{
	struct obstacle obstacle;
	uint32_t cost;

	packing->weighed++;
	fors_rounds_spend(packing->problem, WEIGH_WORK);
	find_obstacle(packing, unit, path, round, &obstacle);
	/* Nobody is cheaper than COST_FITS: do not ask for prices that cannot matter. */
	if ((COST_FITS * obstacle.count + (obstacle.needs_capacity ? COST_CAPACITY : 0)) << TIE_BITS >= best->cost)
		return;
	cost = obstacle_price(packing, &obstacle, step) << TIE_BITS;
	if (cost > COST_FITS << TIE_BITS)
		cost += fors_xorshift_modulo(&packing->random, 1 << TIE_BITS);
	if (cost < best->cost)
		*best = (struct choice){.path = path, .round = round, .cost = cost};
}

/* The cheapest place; the first one, from a random round on, that makes one unit move which fits elsewhere. */
static struct choice cheapest(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t step)
{
	struct choice best = {.cost = UINT32_MAX};
	uint32_t npaths = unit->is_local ? 1 : packing->problem->npaths;
	uint32_t start = fors_xorshift_modulo(&packing->random, packing->nrounds);

	for (uint32_t i = 0; i < packing->nrounds && best.cost > COST_FITS << TIE_BITS; i++) {
		uint32_t round = start + i < packing->nrounds ? start + i : start + i - packing->nrounds;

		for (uint32_t path = 0; path < npaths; path++)
			if (unit->is_local || unit->up[path] != FORS_NO_LANE)
				weigh(packing, unit, path, round, step, &best);
		if (fors_effort_is_over(packing->problem->effort))
			break;
	}
	return best;
}

/* Keep the cheaper of *victim and `id`, if that is a unit of `group`. */
static void consider(struct fors_rounds_packing *packing, uint32_t id, uint32_t group, uint32_t step, uint32_t *victim,
		     uint32_t *least)
{
	uint32_t cost;

	if (id == FORS_ROUNDS_NONE || fors_rounds_group_of(packing->problem, id) != group)
		return;
	cost = (price(packing, id, step) << TIE_BITS) + fors_xorshift_modulo(&packing->random, 1 << TIE_BITS);
	if (cost < *least) {
		*least = cost;
		*victim = id;
	}
}

/* The cheapest unit of a group in a round. */
static uint32_t find_victim(struct fors_rounds_packing *packing, uint32_t group, uint32_t round, uint32_t step)
{
	const struct fors_rounds_problem *problem = packing->problem;
	uint32_t number = group / problem->parts, victim = FORS_ROUNDS_NONE, least = UINT32_MAX;
	const struct fors_leaf *leaf = &problem->fabric->leaf[number];

	for (uint32_t d = leaf->first_server; d < leaf->first_server + leaf->nservers; d++)
		consider(packing, fors_book_at(&packing->book, d, round), group, step, &victim, &least);
	for (uint32_t lane = 0; lane < problem->nlanes; lane++)
		consider(packing, fors_book_at(&packing->book, fors_rounds_up_row(packing, number, lane), round), group,
			 step, &victim, &least);
	return victim;
}

static void eject(struct fors_rounds_packing *packing, uint32_t id)
{
	struct fors_rounds_unit unit = fors_rounds_unit(packing, id);

	fors_rounds_take(packing, &unit);
	packing->homeless[packing->nhomeless++] = id;
}

/* Put the unit in the chosen round; who is in the way becomes homeless. */
static void force(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, struct choice choice,
		  uint32_t step)
{
	struct obstacle obstacle;

	find_obstacle(packing, unit, choice.path, choice.round, &obstacle);
	if (obstacle.needs_capacity)
		eject(packing, find_victim(packing, unit->group, choice.round, step));
	for (uint32_t i = 0; i < obstacle.count; i++)
		eject(packing, obstacle.unit[i]);
	fors_rounds_put(packing, unit, choice.path, choice.round);
}

enum fors_err fors_rounds_search(struct fors_rounds_packing *packing, uint64_t patience, bool *done,
				 struct fors_error *error)
{
	uint32_t step = 0, fewest = packing->nhomeless;
	uint64_t ejections = 0, last = patience, most = MOST_PATIENCE * patience + packing->nhomeless;

	while (packing->nhomeless) {
		struct fors_rounds_unit unit = fors_rounds_unit(packing, packing->homeless[--packing->nhomeless]);
		uint32_t path, round = fors_rounds_find_free(
				       packing, &unit, fors_xorshift_modulo(&packing->random, packing->nrounds), &path);

		if (++step % CANCEL_STEPS == 0)
			fors_rounds_is_cancelled(packing->problem);
		if (packing->problem->effort->is_cancelled)
			return fors_rounds_cancelled(error);
		if (round != FORS_ROUNDS_NONE) {
			fors_rounds_put(packing, &unit, path, round);
		} else if (ejections++ < last && packing->weighed < MOST_WEIGHED &&
			   !fors_effort_is_over(packing->problem->effort)) {
			force(packing, &unit, cheapest(packing, &unit, step), step);
		} else {
			packing->homeless[packing->nhomeless++] = unit.id;
			break;
		}
		packing->guard[unit.id] = step + TENURE + fors_xorshift_modulo(&packing->random, TENURE);
		if (packing->nhomeless < fewest) {
			fewest = packing->nhomeless;
			last = ejections + patience < most ? ejections + patience : most;
		}
	}
	*done = packing->nhomeless == 0;
	return FORS_OK;
}
