/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reroute.c - chains of ways, as Koenig and Kempe swap two colours.
 *
 * The item takes a way of which another holds one link. That one takes a way without that link; whoever holds a link of it takes a way with a
 * link that was just given up, and so on. In a two-level tree the links alternate between two spines, and the chain ends where
 * neither is taken.
 */
#include "reroute.h"

#define NOBODY FORS_DEMAND_NOBODY
#define MOST_TRIES 48 /* chains that are begun for an item */

struct chain {
	const struct fors_demand_board *board;
	struct fors_demand_move *move;
	uint32_t nmoves;
};

static uint32_t *holder(const struct fors_demand_board *b, uint32_t x)
{
	return &b->holder[x * b->stride + b->at];
}

/* The links of an item on a path, without its ports. */
static uint32_t links_of(const struct fors_demand_board *b, uint32_t item, uint32_t path, uint32_t *use)
{
	return fors_demand_uses(b->problem, b->message_of ? b->message_of[item] : item, path, use);
}

/* How many others hold links of a path; the last of them in *who. No way at all has more than one. */
static uint32_t blockers(const struct fors_demand_board *b, uint32_t item, uint32_t path, uint32_t *who)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = links_of(b, item, path, use), found = 0;

	for (uint32_t i = 2; i < n; i++) {
		uint32_t other = *holder(b, use[i]);

		if (other == NOBODY || other == item || (found && other == *who))
			continue;
		*who = other;
		found++;
	}
	return n ? found : 2;
}

/* ---- moves ---- */

static void give_up(const struct fors_demand_board *b, uint32_t item, uint32_t path)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = path == NOBODY ? 0 : links_of(b, item, path, use);

	for (uint32_t i = 2; i < n; i++)
		if (*holder(b, use[i]) == item)
			*holder(b, use[i]) = NOBODY;
}

static void take(const struct fors_demand_board *b, uint32_t item, uint32_t path)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = path == NOBODY ? 0 : links_of(b, item, path, use);

	for (uint32_t i = 2; i < n; i++)
		*holder(b, use[i]) = item;
	b->path[item] = path;
}

static void go(struct chain *c, uint32_t item, uint32_t before, uint32_t path)
{
	c->move[c->nmoves++] = (struct fors_demand_move){item, before};
	give_up(c->board, item, before);
	take(c->board, item, path);
}

/* The last one first: each finds its links as it left them. */
static void undo(struct chain *c)
{
	while (c->nmoves) {
		const struct fors_demand_move *move = &c->move[--c->nmoves];

		give_up(c->board, move->item, c->board->path[move->item]);
		take(c->board, move->item, move->before);
	}
}

/* Has the path a link that the other item had on its path before, and that nobody holds? */
static bool has_given_up(const struct fors_demand_board *b, uint32_t item, uint32_t path, uint32_t other,
			 uint32_t before)
{
	uint32_t use[FORS_DEMAND_MOST_USES], old[FORS_DEMAND_MOST_USES];
	uint32_t n = links_of(b, item, path, use), nold = links_of(b, other, before, old);

	for (uint32_t i = 2; i < n; i++)
		for (uint32_t k = 2; k < nold; k++)
			if (use[i] == old[k] && *holder(b, use[i]) == NOBODY)
				return true;
	return false;
}

/* Where an item goes that has lost a link to `other`, which had `before`; NOBODY: nowhere. */
static uint32_t next_path(const struct fors_demand_board *b, uint32_t item, uint32_t other, uint32_t before)
{
	uint32_t who = NOBODY;

	for (uint32_t path = 0; path < b->problem->npaths; path++)
		if (path != b->path[item] && blockers(b, item, path, &who) <= 1 &&
		    has_given_up(b, item, path, other, before))
			return path;
	return NOBODY;
}

/* ---- a chain ---- */

/* The item goes to `path`, which `first` blocks, and that one to `aside`. */
static bool lay(struct chain *c, uint32_t item, uint32_t path, uint32_t first, uint32_t aside)
{
	const struct fors_demand_board *b = c->board;
	uint32_t at = first, next = NOBODY, nblockers;

	go(c, item, NOBODY, path);
	while (aside != NOBODY && c->nmoves < FORS_DEMAND_MOST_MOVES) {
		uint32_t before = b->path[at];

		nblockers = blockers(b, at, aside, &next);
		if (nblockers > 1 || next == item)
			break;
		go(c, at, before, aside);
		if (!nblockers)
			return true;
		aside = next_path(b, next, at, before);
		at = next;
	}
	undo(c);
	take(b, at, b->path[at]); /* it had lost a link, and has not moved */
	return false;
}

uint32_t fors_demand_reroute(const struct fors_demand_board *board, uint32_t item, struct fors_demand_move *move)
{
	struct chain chain = {board, move, 0};
	uint32_t npaths = board->problem->npaths, tries = 0, first = NOBODY, who;

	for (uint32_t path = 0; path < npaths && tries < MOST_TRIES; path++) {
		if (blockers(board, item, path, &first) != 1)
			continue;
		for (uint32_t aside = 0; aside < npaths && tries < MOST_TRIES; aside++) {
			if (aside == board->path[first] || blockers(board, first, aside, &who) > 1)
				continue;
			tries++;
			if (lay(&chain, item, path, first, aside))
				return chain.nmoves;
		}
	}
	fors_effort_spend(board->effort, 8 * (uint64_t)npaths * (tries + 1));
	return 0;
}
