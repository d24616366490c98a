/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_tabu.c - a tabu search for the last units above the cap.
 *
 * What is to be made 0 is the surplus: the load above the cap, over all links. In each step the best move of a unit on
 * a link that is too full is made, even if the surplus does not shrink, and the unit has to stay for a few steps.
 * That leads out of places where each single move makes something else too full, which is where level_repair.c
 * gets stuck when all links of several leaves must be filled to the brim.
 */
#include "leveller.h"

#include <string.h>

#define STEPS 600	  /* without a lower surplus */
#define STAY 6		  /* steps that a moved unit has to stay at least */
#define NO_MOVE INT64_MAX /* a gain that no move has */

struct move {
	uint32_t pair, class;
	uint8_t from, lane;
	int64_t gain;  /* change of the surplus */
	uint32_t full; /* tie-break */
};

struct tabu {
	struct fors_leveller *leveller;
	uint32_t *free_at; /* [pair * nclasses + class]: step from which the unit may move again */
	uint32_t step;
	struct move best;
};

static uint32_t *free_at(const struct tabu *tabu, uint32_t pair, uint32_t class)
{
	return &tabu->free_at[(size_t)pair * tabu->leveller->level->nclasses + class];
}

static uint32_t up_load(const struct fors_leveller *leveller, uint32_t pair, uint32_t lane)
{
	return leveller->up[pair / leveller->fabric->nleaves * leveller->fabric->nlanes + lane];
}

static uint32_t down_load(const struct fors_leveller *leveller, uint32_t pair, uint32_t down)
{
	return leveller->down[pair % leveller->fabric->nleaves * leveller->fabric->nlanes + down];
}

/* What a load has above the cap. */
static int64_t above(int64_t load, int64_t cap)
{
	return load > cap ? load - cap : 0;
}

/* How a move changes the surplus. */
static int64_t gain_of(const struct fors_leveller *leveller, const struct move *move, uint32_t down)
{
	uint32_t down_from = fors_leveller_down(leveller, move->pair, move->class, move->from);
	int64_t cap = leveller->cap, weight = leveller->weight[move->pair / leveller->fabric->nleaves];
	int64_t to = up_load(leveller, move->pair, move->lane), from = up_load(leveller, move->pair, move->from);
	int64_t gain = above(to + weight, cap) - above(to, cap) + above(from - weight, cap) - above(from, cap);

	if (down == down_from)
		return gain;
	to = down_load(leveller, move->pair, down);
	from = down_load(leveller, move->pair, down_from);
	return gain + above(to + weight, cap) - above(to, cap) + above(from - weight, cap) - above(from, cap);
}

/* Keep the best move of this unit, if it is better than what others have. */
static void consider(struct fors_leveller *leveller, uint32_t pair, uint32_t class, void *context)
{
	struct tabu *tabu = context;
	struct move move = {.pair = pair, .class = class, .from = *fors_leveller_entry(leveller, pair, class)};

	if (*free_at(tabu, pair, class) > tabu->step)
		return;
	for (uint32_t lane = 0; lane < leveller->fabric->nlanes; lane++) {
		uint8_t down = fors_leveller_down(leveller, pair, class, lane);

		if (lane == move.from || down == FORS_NO_LANE)
			continue;
		move.lane = (uint8_t)lane;
		move.gain = gain_of(leveller, &move, down);
		move.full = up_load(leveller, pair, lane) + down_load(leveller, pair, down);
		if (move.gain < tabu->best.gain || (move.gain == tabu->best.gain && move.full < tabu->best.full))
			tabu->best = move;
	}
}

/* Look at all links that are too full; what they have too much. */
static uint32_t find_best(struct tabu *tabu)
{
	struct fors_leveller *leveller = tabu->leveller;
	uint32_t surplus = 0, nlanes = leveller->fabric->nlanes;

	tabu->best = (struct move){.gain = NO_MOVE};
	for (uint32_t link = 0; link < leveller->fabric->nleaves * nlanes; link++) {
		uint32_t load[2] = {leveller->up[link], leveller->down[link]};

		for (int is_up = 0; is_up < 2; is_up++) {
			if (load[!is_up] <= leveller->cap)
				continue;
			surplus += load[!is_up] - leveller->cap;
			fors_leveller_units(leveller, link / nlanes, link % nlanes, is_up, consider, tabu);
		}
	}
	return surplus;
}

static void make_best(struct tabu *tabu)
{
	const struct move *best = &tabu->best;

	fors_leveller_move(tabu->leveller, best->pair, best->class, best->lane);
	*free_at(tabu, best->pair, best->class) = tabu->step + STAY + tabu->step % 5;
}

bool fors_leveller_tabu(struct fors_leveller *leveller)
{
	size_t nleaves = leveller->fabric->nleaves;
	struct tabu tabu = {.leveller = leveller, .free_at = leveller->free_at};
	uint32_t least = UINT32_MAX, end = STEPS;

	memset(tabu.free_at, 0, nleaves * nleaves * leveller->level->nclasses * sizeof(*tabu.free_at));
	for (; tabu.step < end && leveller->effort; tabu.step++) {
		uint32_t surplus = find_best(&tabu);

		if (surplus == 0)
			return true;
		if (surplus < least) {
			least = surplus;
			end = tabu.step + STEPS;
		}
		if (tabu.best.gain < NO_MOVE)
			make_best(&tabu);
	}
	return false;
}
