/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * senders.c - who of a switch sends which token.
 *
 * For one switch with n senders take phases and destinations as the two sides of a graph, its tokens as edges. A phase has
 * at most n of them, a destination exactly n. So (Koenig) n colours suffice; a colour is a sender. Each sender then
 * sends to each destination once and to one at a time. What a server of this switch would send to itself is its idle turn.
 *
 * Small switches (up to FORS_MATCH_MOST senders) are coloured row by row, with bits of a word; larger ones by the general
 * colouring.
 */
#include "senders.h"

#include <stdlib.h>

#include "core/colouring/rowwise_large.h"
#include "core/schedule/schedule.h"

struct work {
	const struct fors_flows_packing *packing;
	struct fors_schedule *schedule;
	uint16_t *node;	 /* phases x senders of the largest switch: destination, nobody */
	uint8_t *colour; /* the same */
	struct fors_rowwise_space *rows;
	struct fors_colour_space *space; /* when a switch is too large for rows */
	struct fors_rowwise_edges edges; /* the same */
};

static uint32_t largest(const struct fors_flows_problem *problem)
{
	uint32_t most = 1;

	for (uint32_t s = 0; s < problem->nswitches; s++)
		most = problem->senders[s] > most ? problem->senders[s] : most;
	return most;
}

static bool allocate(struct work *w)
{
	const struct fors_flows_problem *problem = w->packing->problem;
	uint32_t width = largest(problem), phases = w->packing->nphases;
	size_t places = (size_t)phases * width;

	w->node = malloc(places * sizeof(*w->node));
	w->colour = malloc(places);
	if (!w->node || !w->colour)
		return false;
	if (width <= FORS_MATCH_MOST)
		return (w->rows = fors_rowwise_space_new(phases, width, problem->ndests));
	w->space = fors_colour_space_new((uint32_t)places, phases > problem->ndests ? phases : problem->ndests);
	return w->space && fors_rowwise_edges_alloc(&w->edges, places);
}

static void release(struct work *w)
{
	free(w->node);
	free(w->colour);
	fors_rowwise_space_free(w->rows);
	fors_colour_space_free(w->space);
	fors_rowwise_edges_free(&w->edges);
}

/* The destinations of a switch's tokens, phase by phase. */
static void list_nodes(struct work *w, uint32_t s)
{
	const struct fors_flows_problem *problem = w->packing->problem;
	uint32_t width = problem->senders[s], nseats;

	for (uint32_t t = 0; t < w->packing->nphases; t++) {
		const uint32_t *seat = fors_flows_seats(w->packing, s, t, &nseats);

		for (uint32_t i = 0; i < width; i++)
			w->node[t * width + i] = i < nseats
							 ? (uint16_t)fors_flows_dest(problem, seat[i] / problem->npaths)
							 : FORS_ROWWISE_NOBODY;
	}
}

static void write_cells(struct work *w, uint32_t s)
{
	const struct fors_flows_problem *problem = w->packing->problem;
	uint32_t width = problem->senders[s], nseats;

	for (uint32_t t = 0; t < w->packing->nphases; t++) {
		const uint32_t *seat = fors_flows_seats(w->packing, s, t, &nseats);

		for (uint32_t i = 0; i < nseats; i++) {
			uint32_t d = w->node[t * width + i], path = seat[i] % problem->npaths;
			uint32_t sender = problem->first[s] + w->colour[t * width + i];
			struct fors_cell *cell = &w->schedule->cell[(size_t)sender * w->packing->nphases + t];

			if (sender == d)
				continue;
			cell->dst = (uint16_t)d;
			cell->path = (uint8_t)path;
		}
	}
}

static enum fors_err colour_switch(struct work *w, uint32_t s, struct fors_error *error)
{
	const struct fors_rowwise rows = {.nrows = w->packing->nphases,
					  .width = w->packing->problem->senders[s],
					  .nnodes = w->packing->problem->ndests,
					  .node = w->node,
					  .turn = 1};

	if (!rows.width)
		return FORS_OK;
	list_nodes(w, s);
	if (w->space) {
		enum fors_err err = fors_rowwise_large(w->space, &w->edges, &rows, w->colour, error);

		if (err)
			return err;
	} else if (!fors_rowwise(w->rows, &rows, w->colour)) {
		return fors_fail(error, FORS_ENOPLAN, "flows: the flows of a switch do not fit its servers");
	}
	write_cells(w, s);
	return FORS_OK;
}

enum fors_err fors_flows_write(const struct fors_flows_packing *packing, struct fors_schedule *schedule,
			       struct fors_error *error)
{
	struct work w = {.packing = packing, .schedule = schedule};
	enum fors_err err = allocate(&w) ? FORS_OK : fors_fail_memory(error);

	for (uint32_t s = 0; !err && s < packing->problem->nswitches; s++)
		err = colour_switch(&w, s, error);
	release(&w);
	return err;
}
