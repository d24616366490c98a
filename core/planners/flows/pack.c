/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.c - the book of a packing of single flows.
 *
 * Each fact is kept twice, by name (who is there, for whoever wants to push somebody out) and as a bit. A receiver takes
 * one token in a phase, so (destination, phase) names a token; that is how searches remember things about tokens.
 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#define SPARE 8 /* room for a part of the phases more: a copy with some more phases is then a copy of memory */

void fors_flows_packing_free(struct fors_flows_packing *packing)
{
	if (!packing)
		return;
	free(packing->busy);
	free(packing->at);
	free(packing->seat);
	free(packing->nseats);
	free(packing->seat_row);
	free(packing->waiting);
	free(packing);
}

static bool allocate(struct fors_flows_packing *p)
{
	const struct fors_flows_problem *problem = p->problem;
	size_t phases = (size_t)p->nwords * 64, named = problem->nlinks + (size_t)problem->ndests;
	size_t tokens = (size_t)problem->ndests * problem->ndests;

	p->busy = calloc(p->nrows * (size_t)p->nwords + 1, sizeof(*p->busy));
	p->at = malloc((named * phases + 1) * sizeof(*p->at));
	p->seat = malloc((problem->ndests * phases + 1) * sizeof(*p->seat));
	p->nseats = calloc(problem->nswitches * phases + 1, sizeof(*p->nseats));
	p->seat_row = calloc(problem->nswitches + (size_t)1, sizeof(*p->seat_row));
	p->waiting = malloc((tokens + 1) * sizeof(*p->waiting));
	return p->busy && p->at && p->seat && p->nseats && p->seat_row && p->waiting;
}

/* An empty packing with room for at least `room` phases. */
static enum fors_err make(const struct fors_flows_problem *problem, uint32_t nphases, uint32_t room,
			  struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_packing *p = calloc(1, sizeof(*p));

	if (!p)
		return fors_fail_memory(error);
	p->problem = problem;
	p->nphases = nphases;
	p->nwords = (room + 63) / 64;
	p->nrows = problem->nlinks + problem->ndests + problem->nswitches;
	if (!allocate(p)) {
		fors_flows_packing_free(p);
		return fors_fail_memory(error);
	}
	memset(p->at, 0xFF, (problem->nlinks + (size_t)problem->ndests) * p->nwords * 64 * sizeof(*p->at));
	for (uint32_t s = 0; s < problem->nswitches; s++)
		p->seat_row[s] = (size_t)problem->first[s] * p->nwords * 64;
	*packing = p;
	return FORS_OK;
}

enum fors_err fors_flows_packing_new(const struct fors_flows_problem *problem, uint32_t nphases,
				     struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err = make(problem, nphases, nphases + nphases / SPARE, packing, error);

	for (uint32_t unit = 0; !err && unit < fors_flows_units(problem); unit++)
		for (uint32_t i = 0; i < fors_flows_tokens(problem, unit); i++)
			(*packing)->waiting[(*packing)->nwaiting++] = unit;
	return err;
}

static void copy_memory(const struct fors_flows_packing *from, struct fors_flows_packing *to)
{
	const struct fors_flows_problem *problem = from->problem;
	size_t phases = (size_t)from->nwords * 64, named = problem->nlinks + (size_t)problem->ndests;

	memcpy(to->busy, from->busy, from->nrows * (size_t)from->nwords * sizeof(*from->busy));
	memcpy(to->at, from->at, named * phases * sizeof(*from->at));
	memcpy(to->seat, from->seat, problem->ndests * phases * sizeof(*from->seat));
	memcpy(to->nseats, from->nseats, problem->nswitches * phases * sizeof(*from->nseats));
	to->work += from->nrows * (uint64_t)from->nwords;
}

static void copy_tokens(const struct fors_flows_packing *from, struct fors_flows_packing *to)
{
	for (uint32_t d = 0; d < from->problem->ndests; d++)
		for (uint32_t t = 0; t < from->nphases; t++)
			if (fors_flows_received(from, d, t) != FORS_FLOWS_NONE)
				fors_flows_put(to, fors_flows_received(from, d, t), t);
}

enum fors_err fors_flows_packing_copy(const struct fors_flows_packing *from, uint32_t nphases,
				      struct fors_flows_packing **packing, struct fors_error *error)
{
	bool has_room = nphases <= from->nwords * 64;
	struct fors_flows_packing *to;
	enum fors_err err =
		make(from->problem, nphases, has_room ? from->nwords * 64 : nphases + nphases / SPARE, &to, error);

	if (err)
		return err;
	to->work = from->work;
	if (has_room)
		copy_memory(from, to);
	else
		copy_tokens(from, to);
	to->nwaiting = from->nwaiting;
	memcpy(to->waiting, from->waiting, from->nwaiting * sizeof(*from->waiting));
	*packing = to;
	return FORS_OK;
}

uint64_t fors_flows_packing_bytes(const struct fors_flows_problem *problem, uint32_t nphases)
{
	uint64_t phases = ((uint64_t)nphases + nphases / SPARE + 63) / 64 * 64, p = problem->ndests,
		 s = problem->nswitches;

	/* bits, ways at links, receivers and seats, numbers of seats, what waits */
	return (problem->nlinks + p + s) * phases / 8 + (problem->nlinks + 2 * p + s) * phases * 4 + 4 * p * p;
}

/* ---- fewer phases ---- */

static uint32_t count_tokens(const struct fors_flows_packing *packing, uint32_t phase)
{
	uint32_t count = 0;

	for (uint32_t d = 0; d < packing->problem->ndests; d++)
		count += fors_flows_received(packing, d, phase) != FORS_FLOWS_NONE;
	return count;
}

/* All tokens of a phase into another, empty one; or out, to = FORS_FLOWS_NONE. */
static void move_phase(struct fors_flows_packing *packing, uint32_t phase, uint32_t to)
{
	for (uint32_t d = 0; d < packing->problem->ndests; d++) {
		uint32_t way = fors_flows_received(packing, d, phase);

		if (way == FORS_FLOWS_NONE)
			continue;
		fors_flows_take(packing, way, phase);
		if (to == FORS_FLOWS_NONE)
			packing->waiting[packing->nwaiting++] = way / packing->problem->npaths;
		else
			fors_flows_put(packing, way, to);
	}
}

void fors_flows_drop_phases(struct fors_flows_packing *packing, uint32_t nphases)
{
	while (packing->nphases > nphases) {
		uint32_t least = UINT32_MAX, emptiest = 0;

		for (uint32_t t = 0; t < packing->nphases; t++) {
			uint32_t count = count_tokens(packing, t);

			if (count < least) {
				least = count;
				emptiest = t;
			}
		}
		move_phase(packing, emptiest, FORS_FLOWS_NONE);
		packing->nphases--;
		if (emptiest < packing->nphases)
			move_phase(packing, packing->nphases, emptiest);
	}
}

uint32_t fors_flows_rows(const struct fors_flows_packing *packing, uint32_t way, uint32_t *row)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t unit = way / problem->npaths, n = 0;

	for (uint32_t i = problem->begin[way]; i < problem->begin[way + 1]; i++)
		row[n++] = problem->link[i];
	row[n++] = problem->nlinks + fors_flows_dest(problem, unit);
	row[n++] = problem->nlinks + problem->ndests + fors_flows_switch(problem, unit);
	return n;
}

/* Write `way` (or FORS_FLOWS_NONE) at all links and the receiver of a way. */
static void mark(struct fors_flows_packing *packing, const uint32_t *row, uint32_t n, uint32_t phase, uint32_t way)
{
	uint64_t bit = UINT64_C(1) << (phase % 64);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t *word = &packing->busy[(size_t)row[i] * packing->nwords + phase / 64];

		packing->at[(size_t)row[i] * packing->nwords * 64 + phase] = way;
		*word = way == FORS_FLOWS_NONE ? *word & ~bit : *word | bit;
	}
	packing->work += n + 1;
}

static uint64_t *full_word(struct fors_flows_packing *packing, uint32_t s, uint32_t phase)
{
	const struct fors_flows_problem *problem = packing->problem;

	return &packing->busy[(size_t)(problem->nlinks + problem->ndests + s) * packing->nwords + phase / 64];
}

void fors_flows_put(struct fors_flows_packing *packing, uint32_t way, uint32_t phase)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(packing, way, row);
	uint32_t s = fors_flows_switch(problem, way / problem->npaths);
	uint32_t *nseats = &packing->nseats[(size_t)s * packing->nwords * 64 + phase];

	mark(packing, row, n - 1, phase, way);
	packing->seat[packing->seat_row[s] + (size_t)phase * problem->senders[s] + (*nseats)++] = way;
	if (*nseats == problem->senders[s])
		*full_word(packing, s, phase) |= UINT64_C(1) << (phase % 64);
}

void fors_flows_take(struct fors_flows_packing *packing, uint32_t way, uint32_t phase)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(packing, way, row);
	uint32_t s = fors_flows_switch(problem, way / problem->npaths);
	uint32_t *nseats = &packing->nseats[(size_t)s * packing->nwords * 64 + phase];
	uint32_t *seat = packing->seat + packing->seat_row[s] + (size_t)phase * problem->senders[s], i = 0;

	mark(packing, row, n - 1, phase, FORS_FLOWS_NONE);
	while (seat[i] != way)
		i++;
	seat[i] = seat[--*nseats];
	*full_word(packing, s, phase) &= ~(UINT64_C(1) << (phase % 64));
}
