/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.c - the book of a packing: which unit is in which round.
 *
 * In a round every uplink, every downlink and every receiver has room for one unit and every group for `capacity`: rows of the
 * book (../book.h), in which "where would this unit fit?" is an OR of four words for every 64 rounds.
 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

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
	uint32_t links = problem->nleaves * problem->nlanes, groups = fors_rounds_ngroups(problem);

	packing->leaf_of = malloc((groups + (size_t)1) * sizeof(*packing->leaf_of));
	packing->round = new_unset(packing->nunits, sizeof(*packing->round));
	packing->path = calloc(packing->nunits + 1, sizeof(*packing->path));
	packing->guard = calloc(packing->nunits + 1, sizeof(*packing->guard));
	packing->homeless = malloc((packing->nunits + 1) * sizeof(*packing->homeless));
	return fors_book_init(&packing->book, problem->nservers + 2 * links, groups, packing->nrounds,
			      packing->nrounds) &&
	       packing->leaf_of && packing->round && packing->path && packing->guard && packing->homeless;
}

enum fors_err fors_rounds_packing_new(const struct fors_rounds_problem *problem, uint32_t nrounds,
				      struct fors_rounds_packing **packing, struct fors_error *error)
{
	struct fors_rounds_packing *new = calloc(1, sizeof(*new));

	if (!new)
		return fors_fail_memory(error);
	new->problem = problem;
	new->nrounds = nrounds;
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
	fors_book_release(&packing->book);
	free(packing->leaf_of);
	free(packing->round);
	free(packing->path);
	free(packing->guard);
	free(packing->homeless);
	free(packing);
}

/* Put a unit with these n rows into a round; the last row is its group's. */
static inline void put(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
		       uint32_t round, const uint32_t *row, uint32_t n)
{
	for (uint32_t i = 0; i + 1 < n; i++)
		fors_book_write(&packing->book, row[i], round, unit->id);
	fors_book_enter(&packing->book, row[n - 1], round, packing->problem->capacity);
	packing->round[unit->id] = (uint16_t)round;
	packing->path[unit->id] = (uint8_t)path;
}

void fors_rounds_put(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
		     uint32_t round)
{
	uint32_t row[FORS_ROUNDS_MOST_ROWS];

	put(packing, unit, path, round, row, fors_rounds_rows(packing, unit, path, row));
}

void fors_rounds_take(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit)
{
	uint32_t row[FORS_ROUNDS_MOST_ROWS], round = packing->round[unit->id];
	uint32_t n = fors_rounds_rows(packing, unit, packing->path[unit->id], row) - 1;

	for (uint32_t i = 0; i < n; i++)
		fors_book_erase(&packing->book, row[i], round, unit->id);
	fors_book_leave(&packing->book, row[n], round);
	packing->round[unit->id] = FORS_ROUNDS_UNPLACED;
}

/* Do the tables have this way? */
static bool has_way(const struct fors_rounds_unit *unit, uint32_t path)
{
	return unit->is_local || unit->up[path] != FORS_NO_LANE;
}

bool fors_rounds_put_if_free(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t path,
			     uint32_t round)
{
	uint32_t row[FORS_ROUNDS_MOST_ROWS], n;

	if (!has_way(unit, path))
		return false;
	n = fors_rounds_rows(packing, unit, path, row);
	if (!(fors_book_free(&packing->book, row, n, round / 64) >> (round % 64) & 1))
		return false;
	put(packing, unit, path, round, row, n);
	return true;
}

/* The rounds of a word in which the ends of `unit` have room: most often none, and then no way has to be looked at. */
static uint64_t ends_free(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit, uint32_t word)
{
	return ~(fors_book_busy(&packing->book, unit->server, word) |
		 fors_book_busy(&packing->book, fors_rounds_group_row(packing, unit->group), word));
}

static bool ends_have_room(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit)
{
	uint32_t words = fors_book_words(&packing->book), word = 0;

	while (word < words && !ends_free(packing, unit, word))
		word++;
	fors_rounds_spend(packing->problem, word);
	return word < words;
}

/* The same as fors_rounds_find_free() where all rounds fit a word: the ends are looked at once for all paths. */
static uint32_t find_in_word(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
			     uint32_t npaths, uint32_t start, uint32_t *path)
{
	uint64_t ends = ends_free(packing, unit, 0);

	fors_rounds_spend(packing->problem, ends ? 1 + npaths : 1);
	for (uint32_t p = 0; p < npaths && ends; p++) {
		uint64_t good = ends, later;

		if (!has_way(unit, p))
			continue;
		if (!unit->is_local)
			good &= ~(fors_book_busy(&packing->book, fors_rounds_up_row(packing, unit->leaf, unit->up[p]),
						 0) |
				  fors_book_busy(&packing->book, fors_rounds_down_row(packing, unit->to, unit->down[p]),
						 0));
		if (!good)
			continue;
		*path = p;
		later = good >> start << start;
		return (uint32_t)__builtin_ctzll(later ? later : good);
	}
	return FORS_ROUNDS_NONE;
}

uint32_t fors_rounds_find_free(const struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
			       uint32_t start, uint32_t *path)
{
	uint32_t npaths = unit->is_local ? 1 : packing->problem->npaths, row[FORS_ROUNDS_MOST_ROWS], seen;

	if (fors_book_words(&packing->book) == 1)
		return find_in_word(packing, unit, npaths, start, path);
	if (!ends_have_room(packing, unit))
		return FORS_ROUNDS_NONE;
	for (uint32_t p = 0; p < npaths; p++) {
		uint32_t round;

		if (!has_way(unit, p))
			continue;
		round = fors_book_find(&packing->book, row, fors_rounds_rows(packing, unit, p, row), start, UINT32_MAX,
				       &seen);
		fors_rounds_spend(packing->problem, 2 * (uint64_t)seen);
		if (round != FORS_ROUNDS_NONE) {
			*path = p;
			return round;
		}
	}
	return FORS_ROUNDS_NONE;
}
