/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level_moves.c - which unit of a link that is too full had best go, and where.
 *
 * A unit that may move stands in two lists, that of its uplink and that of its downlink, so to look at what a link
 * carries takes no longer than it carries. Links above the cap are bits of a map. What both cost to keep is little: a
 * move changes two lists and four links.
 *
 * Units are numbered by (source leaf, destination leaf, class). Of equal moves that of the first unit counts, to its
 * first lane: so what is chosen does not depend on the order of the lists, which depends on the way that led here.
 *
 * Every way looked at costs one of `effort`: time is bounded in steps, not by the clock, and the same on all machines.
 */
#include <string.h>

#include "leveller.h"

static uint32_t link_of(const struct fors_leveller *leveller, uint32_t leaf, uint32_t lane, bool is_up)
{
	return (leaf * leveller->fabric->nlanes + lane) * 2 + !is_up;
}

static uint32_t load_of(const struct fors_leveller *leveller, uint32_t link)
{
	return (link % 2 ? leveller->down : leveller->up)[link / 2];
}

/* Mark a link if it is above the cap. */
static void mark(struct fors_leveller *leveller, uint32_t link)
{
	uint64_t bit = UINT64_C(1) << link % 64;

	if (load_of(leveller, link) > leveller->cap)
		leveller->above[link / 64] |= bit;
	else
		leveller->above[link / 64] &= ~bit;
}

static void enlist(struct fors_leveller *leveller, uint32_t number, uint32_t link)
{
	struct fors_leveller_unit *unit = &leveller->unit[number];
	uint32_t side = link % 2, next = leveller->first[link];

	unit->next[side] = next;
	unit->previous[side] = FORS_NONE;
	if (next != FORS_NONE)
		leveller->unit[next].previous[side] = number;
	leveller->first[link] = number;
}

static void strike(struct fors_leveller *leveller, uint32_t number, uint32_t link)
{
	struct fors_leveller_unit *unit = &leveller->unit[number];
	uint32_t side = link % 2;

	if (unit->previous[side] != FORS_NONE)
		leveller->unit[unit->previous[side]].next[side] = unit->next[side];
	else
		leveller->first[link] = unit->next[side];
	if (unit->next[side] != FORS_NONE)
		leveller->unit[unit->next[side]].previous[side] = unit->previous[side];
}

/* The links that a unit uses: up, down. */
static void find_links(const struct fors_leveller *leveller, const struct fors_leveller_unit *unit, uint32_t link[2])
{
	uint32_t nleaves = leveller->fabric->nleaves;
	uint8_t lane = *fors_leveller_entry(leveller, unit->pair, unit->class);
	uint8_t down = fors_leveller_down(leveller, unit->pair, unit->class, lane);

	link[0] = link_of(leveller, unit->pair / nleaves, lane, true);
	link[1] = link_of(leveller, unit->pair % nleaves, down, false);
}

static void find_units_of(struct fors_leveller *leveller, uint32_t pair, uint32_t word)
{
	uint64_t bits = fors_leveller_displaced(leveller, pair, word);

	for (; bits; bits &= bits - 1) {
		uint32_t class = word * 64 + (uint32_t)__builtin_ctzll(bits), to = pair % leveller->fabric->nleaves;

		if (*fors_leveller_entry(leveller, pair, class) < leveller->fabric->nlanes &&
		    leveller->exists[(size_t)to * leveller->level->nclasses + class])
			leveller->unit[leveller->nunits++] = (struct fors_leveller_unit){.pair = pair, .class = class};
	}
}

void fors_leveller_find_units(struct fors_leveller *leveller)
{
	uint32_t nleaves = leveller->fabric->nleaves;

	leveller->nunits = 0;
	for (uint32_t pair = 0; pair < nleaves * nleaves; pair++)
		for (uint32_t word = 0; leveller->weight[pair / nleaves] && word < leveller->nwords; word++)
			find_units_of(leveller, pair, word);
}

void fors_leveller_list(struct fors_leveller *leveller)
{
	uint32_t nlinks = leveller->fabric->nleaves * leveller->fabric->nlanes * 2;

	memset(leveller->first, 0xff, nlinks * sizeof(*leveller->first));
	for (uint32_t i = 0; i < leveller->nunits; i++) {
		uint32_t link[2];

		leveller->unit[i].free_at = 0;
		find_links(leveller, &leveller->unit[i], link);
		enlist(leveller, i, link[0]);
		enlist(leveller, i, link[1]);
	}
	leveller->surplus = 0;
	for (uint32_t link = 0; link < nlinks; link++) {
		uint32_t load = load_of(leveller, link);

		mark(leveller, link);
		leveller->surplus += load > leveller->cap ? load - leveller->cap : 0;
	}
}

/* What a load has above the cap. */
static int64_t above(int64_t load, int64_t cap)
{
	return load > cap ? load - cap : 0;
}

/* How the surplus changes when `by` comes on top of a load. */
static int64_t change(uint32_t load, int64_t by, int64_t cap)
{
	return above(load + by, cap) - above(load, cap);
}

/* Keep in *best the best way out for one unit, if it is better. */
static void consider(const struct fors_leveller *leveller, uint32_t number, struct fors_leveller_move *best)
{
	const struct fors_fabric *fabric = leveller->fabric;
	const struct fors_leveller_unit *unit = &leveller->unit[number];
	uint32_t leaf = unit->pair / fabric->nleaves, to = unit->pair % fabric->nleaves, class = unit->class;
	const uint32_t *up = leveller->up + leaf * fabric->nlanes, *down = leveller->down + to * fabric->nlanes;
	uint8_t from = *fors_leveller_entry(leveller, unit->pair, class);
	uint8_t down_from = fors_leveller_down(leveller, unit->pair, class, from);
	int64_t cap = leveller->cap, weight = leveller->weight[leaf];
	int64_t off_up = change(up[from], -weight, cap), off_down = change(down[down_from], -weight, cap);

	for (uint32_t lane = 0; lane < fabric->nlanes; lane++) {
		uint8_t onto = fors_leveller_down(leveller, unit->pair, class, lane);
		struct fors_leveller_move move = {.unit = number, .lane = (uint8_t)lane};

		if (onto == FORS_NO_LANE || lane == from)
			continue;
		move.gain = off_up + change(up[lane], weight, cap);
		if (onto != down_from)
			move.gain += off_down + change(down[onto], weight, cap);
		if (move.gain > best->gain)
			continue;
		move.full = (uint64_t)(up[lane] > down[onto] ? up[lane] : down[onto]) << 32;
		move.full += up[lane] + down[onto];
		if (move.gain < best->gain || move.full < best->full ||
		    (move.full == best->full && number < best->unit))
			*best = move;
	}
}

struct fors_leveller_move fors_leveller_best_move(struct fors_leveller *leveller, uint32_t link, int64_t worst,
						  uint32_t step)
{
	struct fors_leveller_move best = {.gain = worst, .full = UINT64_MAX, .unit = FORS_NONE};
	uint32_t cost = leveller->fabric->nlanes;

	for (uint32_t i = leveller->first[link]; i != FORS_NONE; i = leveller->unit[i].next[link % 2]) {
		if (leveller->unit[i].free_at > step)
			continue;
		leveller->effort -= leveller->effort < cost ? leveller->effort : cost;
		consider(leveller, i, &best);
	}
	return best;
}

void fors_leveller_make_move(struct fors_leveller *leveller, const struct fors_leveller_move *move)
{
	const struct fors_leveller_unit *unit = &leveller->unit[move->unit];
	uint32_t from[2], to[2];

	find_links(leveller, unit, from);
	fors_leveller_move(leveller, unit->pair, unit->class, move->lane);
	find_links(leveller, unit, to);
	for (int side = 0; side < 2; side++) {
		strike(leveller, move->unit, from[side]);
		enlist(leveller, move->unit, to[side]);
		mark(leveller, from[side]);
		mark(leveller, to[side]);
	}
	leveller->surplus += (uint64_t)move->gain;
}

uint32_t fors_leveller_next_over(const struct fors_leveller *leveller, uint32_t link)
{
	uint32_t nwords = (leveller->fabric->nleaves * leveller->fabric->nlanes * 2 + 63) / 64, word = link / 64;
	uint64_t bits = word < nwords ? leveller->above[word] >> link % 64 << link % 64 : 0;

	while (!bits && ++word < nwords)
		bits = leveller->above[word];
	return bits ? word * 64 + (uint32_t)__builtin_ctzll(bits) : FORS_NONE;
}
