/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.c - the occupancy of a packing of single flows.
 *
 * A receiver takes one token in a phase, so (destination, phase) names a token; that is how searches remember things about
 * tokens.
 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#define SPARE 8 /* room for a part of the phases more: a copy with some more phases is then a copy of memory */

void fors_flows_packing_free(struct fors_flows_packing *packing)
{
	if (!packing)
		return;
	fors_occupancy_release(&packing->occupancy);
	free(packing->seat);
	free(packing->seat_row);
	free(packing->waiting);
	free(packing);
}

/* Room for at least `room` phases, whole words. */
static bool allocate(struct fors_flows_packing *p, uint32_t room)
{
	const struct fors_flows_problem *problem = p->problem;
	size_t phases = ((size_t)room + 63) / 64 * 64;
	size_t tokens = problem->ndests * fors_flows_received_tokens(problem), senders = 0;

	if (!fors_occupancy_init_wide(&p->occupancy, problem->capacity, problem->nlinks,
				      problem->nlinks + problem->ndests, problem->nswitches, p->nphases,
				      (uint32_t)phases))
		return false;
	p->seat_row = calloc(problem->nswitches + (size_t)1, sizeof(*p->seat_row));
	for (uint32_t s = 0; p->seat_row && s < problem->nswitches; s++) {
		p->seat_row[s] = senders * p->occupancy.room;
		senders += problem->senders[s];
	}
	p->nseats = senders * phases;
	p->seat = malloc((p->nseats + 1) * sizeof(*p->seat));
	p->waiting = malloc((tokens + 1) * sizeof(*p->waiting));
	return p->seat && p->seat_row && p->waiting;
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
	if (!allocate(p, room)) {
		fors_flows_packing_free(p);
		return fors_fail_memory(error);
	}
	*packing = p;
	return FORS_OK;
}

enum fors_err fors_flows_packing_new(const struct fors_flows_problem *problem, uint32_t nphases,
				     struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err = make(problem, nphases, nphases + nphases / SPARE, packing, error);

	for (uint32_t s = 0; !err && s < problem->nswitches; s++) {
		uint32_t tokens = fors_flows_tokens(problem, s * problem->ndests);

		for (uint32_t d = 0; d < problem->ndests; d++)
			for (uint32_t i = 0; i < tokens; i++)
				(*packing)->waiting[(*packing)->nwaiting++] = s * problem->ndests + d;
	}
	return err;
}

static void copy_memory(const struct fors_flows_packing *from, struct fors_flows_packing *to)
{
	const struct fors_flows_problem *problem = from->problem;
	uint64_t rows = problem->nlinks + (uint64_t)problem->ndests + problem->nswitches;

	fors_occupancy_copy(&to->occupancy, &from->occupancy);
	fors_occupancy_set_turns(&to->occupancy, to->nphases);
	memcpy(to->seat, from->seat, from->nseats * sizeof(*from->seat));
	to->work += rows * from->occupancy.nwords;
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
	bool has_room = nphases <= from->occupancy.room;
	struct fors_flows_packing *to = *packing;
	enum fors_err err = FORS_OK;

	if (!to || !has_room || to->occupancy.room != from->occupancy.room) {
		fors_flows_packing_free(to);
		*packing = NULL;
		err = make(from->problem, nphases, has_room ? from->occupancy.room : nphases + nphases / SPARE, &to,
			   error);
	}
	if (err)
		return err;
	to->nphases = nphases;
	to->work = from->work;
	to->patience = from->patience;
	to->counts_tokens = from->counts_tokens;
	to->nways = from->nways;
	to->seed = from->seed;
	if (has_room)
		copy_memory(from, to);
	else
		copy_tokens(from, to);
	to->nwaiting = from->nwaiting;
	memcpy(to->waiting, from->waiting, from->nwaiting * sizeof(*from->waiting));
	*packing = to;
	return FORS_OK;
}

enum fors_err fors_flows_packing_add(struct fors_flows_packing **packing, uint32_t nphases, struct fors_error *error)
{
	struct fors_flows_packing *larger = NULL;
	enum fors_err err;

	if (nphases <= (*packing)->occupancy.room) {
		(*packing)->nphases = nphases;
		fors_occupancy_set_turns(&(*packing)->occupancy, nphases);
		return FORS_OK;
	}
	err = fors_flows_packing_copy(*packing, nphases, &larger, error);
	if (err)
		return err;
	fors_flows_packing_free(*packing);
	*packing = larger;
	return FORS_OK;
}

/* What links carry in a phase beyond one token each. */
static uint64_t extra_places(const struct fors_flows_problem *problem)
{
	uint64_t extra = 0;

	for (uint32_t i = 0; problem->capacity && i < problem->nlinks; i++)
		extra += problem->capacity[i] - 1u;
	return extra;
}

uint64_t fors_flows_packing_bytes(const struct fors_flows_problem *problem, uint32_t nphases)
{
	uint64_t phases = ((uint64_t)nphases + nphases / SPARE + 63) / 64 * 64, p = problem->ndests,
		 s = problem->nswitches;

	/* the occupancy, seats, what waits */
	return fors_occupancy_bytes(problem->nlinks + p, extra_places(problem), s, phases) + 4 * p * phases +
	       4 * p * fors_flows_received_tokens(problem);
}

/* ---- fewer phases ---- */

static uint32_t count_tokens(const struct fors_flows_packing *packing, uint32_t phase)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < packing->problem->nswitches; s++)
		count += *fors_occupancy_count(&packing->occupancy, fors_flows_switch_row(packing, s), phase);
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
			packing->waiting[packing->nwaiting++] = fors_flows_unit(packing->problem, way);
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
		fors_occupancy_set_turns(&packing->occupancy, packing->nphases);
	}
}

/* Of a way that exists, if ways are listed. */
static uint32_t list_rows(const struct fors_flows_problem *problem, uint32_t s, uint32_t d, uint32_t path,
			  uint32_t *row)
{
	uint32_t n = fors_flows_links(problem, s, d, path, row);

	if (n == FORS_FLOWS_NONE)
		return n;
	row[n++] = problem->nlinks + d;
	row[n++] = problem->nlinks + problem->ndests + s;
	return n;
}

uint32_t fors_flows_rows_of(const struct fors_flows_packing *packing, uint32_t s, uint32_t d, uint32_t path,
			    uint32_t *row)
{
	const struct fors_flows_problem *problem = packing->problem;

	if (!problem->links_of && !problem->exists[(s * problem->ndests + d) * problem->npaths + path])
		return FORS_FLOWS_NONE;
	return list_rows(problem, s, d, path, row);
}

uint32_t fors_flows_rows(const struct fors_flows_packing *packing, uint32_t way, uint32_t *row)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t unit = fors_flows_unit(problem, way), s = fors_flows_switch(problem, unit);

	return list_rows(problem, s, unit - s * problem->ndests, way - unit * problem->npaths, row);
}

void fors_flows_put_rows(struct fors_flows_packing *packing, uint32_t way, uint32_t phase, const uint32_t *row,
			 uint32_t n)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t s = row[n - 1] - problem->nlinks - problem->ndests;
	uint32_t nseats = *fors_occupancy_count(&packing->occupancy, row[n - 1], phase);

	for (uint32_t i = 0; i + 1 < n; i++)
		fors_occupancy_write(&packing->occupancy, row[i], phase, way);
	packing->seat[packing->seat_row[s] + (size_t)phase * problem->senders[s] + nseats] = way;
	fors_occupancy_enter(&packing->occupancy, row[n - 1], phase, problem->senders[s]);
	packing->work += n;
}

void fors_flows_put(struct fors_flows_packing *packing, uint32_t way, uint32_t phase)
{
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(packing, way, row);

	fors_flows_put_rows(packing, way, phase, row, n);
}

bool fors_flows_put_if_free(struct fors_flows_packing *packing, uint32_t s, uint32_t d, uint32_t path, uint32_t phase)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows_of(packing, s, d, path, row);
	bool is_free =
		n != FORS_FLOWS_NONE && fors_occupancy_free(&packing->occupancy, row, n, phase / 64) >> phase % 64 & 1;

	if (is_free)
		fors_flows_put_rows(packing, (s * problem->ndests + d) * problem->npaths + path, phase, row, n);
	return is_free;
}

void fors_flows_take(struct fors_flows_packing *packing, uint32_t way, uint32_t phase)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(packing, way, row);
	uint32_t s = row[n - 1] - problem->nlinks - problem->ndests;
	uint32_t *seat = packing->seat + packing->seat_row[s] + (size_t)phase * problem->senders[s], i = 0;

	for (uint32_t k = 0; k + 1 < n; k++)
		fors_occupancy_erase(&packing->occupancy, row[k], phase, way);
	while (seat[i] != way)
		i++;
	fors_occupancy_leave(&packing->occupancy, row[n - 1], phase);
	seat[i] = seat[*fors_occupancy_count(&packing->occupancy, row[n - 1], phase)];
	packing->work += n;
}
