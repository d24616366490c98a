/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.c - the book of a packing: which unit is in which round.
 *
 * In a round every uplink, every downlink and every receiver has room for one
 * unit and every group for `capacity`. The book keeps each fact twice: by
 * name (who is there, for whoever wants to push somebody out) and as
 * bit masks over the rounds, so that "where would this unit fit?" is an OR of
 * four words for every 64 rounds.
 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

static uint64_t *new_masks(size_t rows, const struct fors_rounds_packing *packing)
{
	uint64_t *mask = calloc(rows * packing->nwords + 1, sizeof(*mask));
	uint32_t used = packing->nrounds % 64;

	/* Rounds that do not exist are taken for ever. */
	if (mask && used)
		for (size_t row = 0; row < rows; row++)
			mask[row * packing->nwords + packing->nwords - 1] = ~UINT64_C(0) << used;
	return mask;
}

/* n elements of `size` bytes, all bits set; n may be 0. */
static void *new_unset(size_t n, size_t size)
{
	void *array = malloc(n * size + 1);

	if (array)
		memset(array, 0xff, n * size);
	return array;
}

static bool allocate(struct fors_rounds_packing *packing)
{
	const struct fors_rounds_problem *problem = packing->problem;
	size_t links = (size_t)problem->nleaves * problem->nlanes, servers = problem->nservers;
	size_t groups = fors_rounds_ngroups(problem), rounds = packing->nrounds;

	packing->leaf_of = malloc((groups + 1) * sizeof(*packing->leaf_of));
	packing->round = new_unset(packing->nunits, sizeof(*packing->round));
	packing->path = calloc(packing->nunits + 1, sizeof(*packing->path));
	packing->guard = calloc(packing->nunits + 1, sizeof(*packing->guard));
	packing->up_at = new_unset(links * rounds, sizeof(*packing->up_at));
	packing->down_at = new_unset(links * rounds, sizeof(*packing->down_at));
	packing->receive_at = new_unset(servers * rounds, sizeof(*packing->receive_at));
	packing->count = calloc(groups * rounds + 1, sizeof(*packing->count));
	packing->up_busy = new_masks(links, packing);
	packing->down_busy = new_masks(links, packing);
	packing->receive_busy = new_masks(servers, packing);
	packing->full = new_masks(groups, packing);
	packing->homeless = malloc((packing->nunits + 1) * sizeof(*packing->homeless));
	return packing->leaf_of && packing->round && packing->path && packing->guard && packing->up_at &&
	       packing->down_at && packing->receive_at && packing->count && packing->up_busy && packing->down_busy &&
	       packing->receive_busy && packing->full && packing->homeless;
}

enum fors_err fors_rounds_packing_new(const struct fors_rounds_problem *problem, uint32_t nrounds,
				      struct fors_rounds_packing **packing, struct fors_error *error)
{
	struct fors_rounds_packing *new = calloc(1, sizeof(*new));

	if (!new)
		return fors_fail_memory(error);
	new->problem = problem;
	new->nrounds = nrounds;
	new->nwords = (nrounds + 63) / 64;
	new->nunits = fors_rounds_ngroups(problem) << problem->server_bits;
	new->random.state = UINT64_C(88172645463325252);
	if (!allocate(new)) {
		fors_rounds_packing_free(new);
		return fors_fail_memory(error);
	}
	for (uint32_t group = 0; group < fors_rounds_ngroups(problem); group++)
		new->leaf_of[group] = (uint16_t)(group / problem->parts);
	*packing = new;
	return FORS_OK;
}

void fors_rounds_packing_free(struct fors_rounds_packing *packing)
{
	if (!packing)
		return;
	free(packing->leaf_of);
	free(packing->round);
	free(packing->path);
	free(packing->guard);
	free(packing->up_at);
	free(packing->down_at);
	free(packing->receive_at);
	free(packing->count);
	free(packing->up_busy);
	free(packing->down_busy);
	free(packing->receive_busy);
	free(packing->full);
	free(packing->homeless);
	free(packing);
}

static uint32_t up_link(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path)
{
	return unit->leaf * packing->problem->nlanes + unit->up[path];
}

static uint32_t down_link(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path)
{
	return unit->to * packing->problem->nlanes + unit->down[path];
}

/* Write `id` (a unit or FORS_ROUNDS_NONE) into one row of an *_at array and its mask. */
static void mark(const struct fors_rounds_packing *packing, uint32_t *at, uint64_t *busy, uint32_t row, uint32_t round,
		 uint32_t id)
{
	uint64_t bit = UINT64_C(1) << (round % 64), *word = &busy[(size_t)row * packing->nwords + round / 64];

	at[(size_t)row * packing->nrounds + round] = id;
	*word = id == FORS_ROUNDS_NONE ? *word & ~bit : *word | bit;
}

static void mark_all(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
		     uint32_t round, uint32_t id)
{
	mark(packing, packing->receive_at, packing->receive_busy, unit->server, round, id);
	if (unit->is_local)
		return;
	mark(packing, packing->up_at, packing->up_busy, up_link(packing, unit, path), round, id);
	mark(packing, packing->down_at, packing->down_busy, down_link(packing, unit, path), round, id);
}

void fors_rounds_put(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
		     uint32_t round)
{
	uint16_t *count = &packing->count[(size_t)unit->group * packing->nrounds + round];

	mark_all(packing, unit, path, round, unit->id);
	if (++*count >= packing->problem->capacity)
		packing->full[(size_t)unit->group * packing->nwords + round / 64] |= UINT64_C(1) << (round % 64);
	packing->round[unit->id] = (uint16_t)round;
	packing->path[unit->id] = (uint8_t)path;
}

void fors_rounds_take(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit)
{
	uint32_t round = packing->round[unit->id];

	mark_all(packing, unit, packing->path[unit->id], round, FORS_ROUNDS_NONE);
	packing->count[(size_t)unit->group * packing->nrounds + round]--;
	packing->full[(size_t)unit->group * packing->nwords + round / 64] &= ~(UINT64_C(1) << (round % 64));
	packing->round[unit->id] = FORS_ROUNDS_UNPLACED;
}

/* The rounds of one word where `unit` cannot go, whatever the way: its receiver or its group is taken. */
static uint64_t taken_at_ends(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
			      uint32_t word)
{
	size_t nwords = packing->nwords;

	return packing->receive_busy[unit->server * nwords + word] | packing->full[unit->group * nwords + word];
}

/* The rounds of one word where `unit` cannot go over `path`. */
static uint64_t taken(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
		      uint32_t word)
{
	size_t nwords = packing->nwords;
	uint64_t mask = taken_at_ends(packing, unit, word);

	if (unit->is_local)
		return mask;
	if (unit->up[path] == FORS_NO_LANE)
		return ~UINT64_C(0);
	return mask | packing->up_busy[up_link(packing, unit, path) * nwords + word] |
	       packing->down_busy[down_link(packing, unit, path) * nwords + word];
}

bool fors_rounds_is_free(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
			 uint32_t round)
{
	return !(taken(packing, unit, path, round / 64) >> (round % 64) & 1);
}

/* Is there any round for the ends of `unit`? Most often not, and then no way has to be looked at. */
static bool ends_have_room(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit)
{
	for (uint32_t word = 0; word < packing->nwords; word++)
		if (~taken_at_ends(packing, unit, word))
			return true;
	return false;
}

uint32_t fors_rounds_find_free(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
			       uint32_t start, uint32_t *path)
{
	uint32_t npaths = unit->is_local ? 1 : packing->problem->npaths, nwords = packing->nwords;
	/* The first word comes again at the end, for its rounds before `start`, if there are any. */
	uint32_t visits = start % 64 ? nwords + 1 : nwords;

	if (!ends_have_room(packing, unit))
		return FORS_ROUNDS_NONE;
	for (uint32_t p = 0; p < npaths; p++) {
		uint64_t wanted = ~UINT64_C(0) << (start % 64);

		for (uint32_t i = 0, word = start / 64; i < visits; i++) {
			uint64_t good = wanted & ~taken(packing, unit, p, word);

			if (good) {
				*path = p;
				return word * 64 + (uint32_t)__builtin_ctzll(good);
			}
			wanted = ~UINT64_C(0);
			word = word + 1 < nwords ? word + 1 : 0;
		}
	}
	return FORS_ROUNDS_NONE;
}
