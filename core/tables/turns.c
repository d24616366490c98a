/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * turns.c - the turns at leaves that can close no credit loop.
 *
 * A packet between two leaves goes up and down, and turns at one spine. Only a packet that meets a spine which has no
 * cable to where it wants to go has to go down, turn at a leaf, and go up again. A ring of links whose packets wait for
 * each other turns at every leaf it touches, and at every spine; the turns at spines are what a fat-tree is for, so
 * those at leaves are chosen such that no ring can be made of them, whatever the turns at spines are:
 *
 *      The spines stand in an order. Each has one leaf, and at it alone it may turn to and from all that come before
 *      it.
 *
 * Why this is enough: take the spine of a ring that comes last in the order. The ring comes to it over a turn at a
 * leaf, from a spine that comes before, and leaves it over another one, to a spine that comes before. Both turns are at
 * this spine's one leaf. So the ring goes up from that leaf to the spine and down again to the same leaf; but no packet
 * is sent back to where it came from. (Channel dependency graphs: Dally and Seitz, 1987. Up-down routing is another
 * such rule, but forbids turns at spines.)
 *
 * The order begins with the spines of the first leaf that has nearly as many as any; they all turn there. Spines that
 * it has no cable to follow, each with the first leaf, in order of their number of spines, that joins it to one in the
 * order already. So all spines of a connected fabric can get to each other. Live cables go before drained ones. Nearly:
 * a few dead cables of a leaf are no reason for all the others' spines to turn elsewhere.
 */
#include "turns.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	struct fors_turns *turns;
	uint32_t *leaf; /* all of them, those with the most spines first */
	uint32_t most;	/* spines of a leaf */
	uint32_t next;	/* the next free rank */
	uint32_t nislands;
};

static bool joins(const struct fors_turns *turns, uint32_t leaf, uint32_t spine, bool only_live)
{
	return only_live ? fors_turns_live(turns, leaf, spine) : fors_turns_lane(turns, leaf, spine) != FORS_NO_LANE;
}

static void find_lanes(const struct fors_fabric *fabric, struct fors_turns *turns)
{
	memset(turns->lane, FORS_NO_LANE, (size_t)turns->nleaves * turns->nspines);
	for (uint32_t a = 0; a < turns->nleaves; a++)
		for (uint32_t k = fabric->nlanes; k-- > 0;) {
			size_t at = (size_t)a * turns->nspines + fabric->lane[k].spine;

			if (!fors_passable(fabric, a, k) || (turns->live[at] && !fors_live(fabric, a, k)))
				continue;
			turns->lane[at] = (uint8_t)k;
			turns->live[at] = fors_live(fabric, a, k);
		}
}

static uint32_t count_spines(const struct fors_turns *turns, uint32_t leaf)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < turns->nspines; k++)
		count += fors_turns_live(turns, leaf, k);
	return count;
}

/* A leaf that lacks up to a quarter of the most is as good as one that has them. */
static uint32_t richness(const struct builder *b, uint32_t leaf)
{
	uint32_t count = count_spines(b->turns, leaf);

	return count >= b->most - b->most / 4 ? b->most : count;
}

/* Insertion, by numbers that are nearly always equal: as good as linear. */
static void sort_leaves(struct builder *b)
{
	for (uint32_t a = 0; a < b->turns->nleaves; a++) {
		uint32_t count = count_spines(b->turns, a);

		b->most = count > b->most ? count : b->most;
	}
	for (uint32_t a = 0; a < b->turns->nleaves; a++) {
		uint32_t rich = richness(b, a), i = a;

		for (; i > 0 && richness(b, b->leaf[i - 1]) < rich; i--)
			b->leaf[i] = b->leaf[i - 1];
		b->leaf[i] = a;
	}
}

static bool is_ranked(const struct fors_turns *turns, uint32_t spine)
{
	return turns->rank[spine] != FORS_NONE;
}

/* All spines of a leaf that are not in the order yet join it here. How many. */
static uint32_t take_spines(struct builder *b, uint32_t leaf, bool only_live)
{
	uint32_t before = b->next;

	for (uint32_t k = 0; k < b->turns->nspines; k++)
		if (!is_ranked(b->turns, k) && joins(b->turns, leaf, k, only_live)) {
			b->turns->rank[k] = b->next++;
			b->turns->leaf[k] = leaf;
		}
	return b->next - before;
}

static bool has_ranked(const struct fors_turns *turns, uint32_t leaf, bool only_live)
{
	for (uint32_t k = 0; k < turns->nspines; k++)
		if (is_ranked(turns, k) && joins(turns, leaf, k, only_live))
			return true;
	return false;
}

/* A leaf is of the island that its spines are of; those that just joined the order are of the last. */
static void mark_leaves(const struct builder *b)
{
	for (uint32_t a = 0; a < b->turns->nleaves; a++)
		if (b->turns->island[a] == FORS_NONE && has_ranked(b->turns, a, false))
			b->turns->island[a] = b->nislands;
}

/* What the first leaf that can adds to the order; `is_first`: it need not know a spine of it, and begins an island. */
static bool take_one(struct builder *b, bool only_live, bool is_first)
{
	for (uint32_t i = 0; i < b->turns->nleaves; i++)
		if ((is_first || has_ranked(b->turns, b->leaf[i], only_live)) &&
		    take_spines(b, b->leaf[i], only_live)) {
			b->nislands += is_first;
			return true;
		}
	return false;
}

/* Grow over live cables as far as they go, then by a drained one; then, if there is more, begin another island. */
static void order_spines(struct builder *b)
{
	while (take_one(b, true, false) || take_one(b, false, false) || take_one(b, true, true) ||
	       take_one(b, false, true))
		mark_leaves(b);
	for (uint32_t k = 0; k < b->turns->nspines; k++)
		if (!is_ranked(b->turns, k))
			b->turns->rank[k] = b->next++;
}

void fors_turns_free(struct fors_turns *turns)
{
	if (!turns)
		return;
	free(turns->lane);
	free(turns->live);
	free(turns->rank);
	free(turns->leaf);
	free(turns->island);
	free(turns);
}

static struct fors_turns *new_turns(const struct fors_fabric *fabric)
{
	struct fors_turns *turns = calloc(1, sizeof(*turns));
	size_t npairs = (size_t)fabric->nleaves * fabric->nspines + 1;

	if (!turns)
		return NULL;
	turns->nleaves = fabric->nleaves;
	turns->nspines = fabric->nspines;
	turns->lane = malloc(npairs);
	turns->live = calloc(npairs, sizeof(*turns->live));
	turns->rank = malloc((fabric->nspines + (size_t)1) * sizeof(*turns->rank));
	turns->leaf = malloc((fabric->nspines + (size_t)1) * sizeof(*turns->leaf));
	turns->island = malloc((fabric->nleaves + (size_t)1) * sizeof(*turns->island));
	if (turns->lane && turns->live && turns->rank && turns->leaf && turns->island)
		return turns;
	fors_turns_free(turns);
	return NULL;
}

enum fors_err fors_turns_build(const struct fors_fabric *fabric, struct fors_turns **turns, struct fors_error *error)
{
	struct builder b = {.turns = new_turns(fabric), .leaf = calloc((size_t)fabric->nleaves + 1, sizeof(*b.leaf))};

	if (!b.turns || !b.leaf) {
		fors_turns_free(b.turns);
		free(b.leaf);
		return fors_fail_memory(error);
	}
	for (uint32_t k = 0; k < fabric->nspines; k++)
		b.turns->rank[k] = b.turns->leaf[k] = FORS_NONE;
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		b.turns->island[a] = FORS_NONE;
	find_lanes(fabric, b.turns);
	sort_leaves(&b);
	order_spines(&b);
	free(b.leaf);
	*turns = b.turns;
	return FORS_OK;
}
