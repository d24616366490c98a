/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * senders.c - who of a switch sends which token.
 *
 * For one switch with n senders take phases and destinations as the two sides of a graph, its tokens as edges. A phase has
 * at most n of them, a destination exactly n. So (Koenig) n colours suffice; a colour is a sender. Each sender then
 * sends to each destination once and to one at a time. What a server of this switch would send to itself is its idle turn.
 */
#include "senders.h"

#include "core/colouring/koenig.h"
#include "core/schedule/schedule.h"

/* The groups of a switch that send, each a colour. */
static uint32_t groups_of(const struct fors_flows_problem *problem, uint32_t s)
{
	return fors_flows_tokens(problem, s * problem->ndests);
}

static uint32_t largest(const struct fors_flows_problem *problem)
{
	uint32_t most = 1;

	for (uint32_t s = 0; s < problem->nswitches; s++)
		most = groups_of(problem, s) > most ? groups_of(problem, s) : most;
	return most;
}

/* The tokens of a switch, turn by turn, and of a round phase by phase: in each as many as there are groups, at most. */
static bool colour_switch(const struct fors_flows_packing *packing, uint32_t s, uint32_t length,
			  struct fors_koenig *graph)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t nseats, ngroups = groups_of(problem, s);

	fors_koenig_begin(graph, packing->nphases * length, problem->ndests, ngroups);
	for (uint32_t t = 0; t < packing->nphases; t++) {
		const uint32_t *seat = fors_flows_seats(packing, s, t, &nseats);

		for (uint32_t i = 0; i < nseats; i++) {
			const struct fors_koenig_edge edge = {
				.right = (uint16_t)fors_flows_dest(problem, seat[i] / problem->npaths),
				.tag = (uint16_t)(seat[i] % problem->npaths)};

			if (!fors_koenig_add(graph, t * length + i / ngroups, edge, 1))
				return false;
		}
	}
	return true;
}

/* The cells of the groups of a switch, or of its servers: nobody sends to himself. */
static void write_cells(const struct fors_flows_packing *packing, uint32_t s, const struct fors_koenig *graph,
			struct fors_schedule *schedule)
{
	const struct fors_flows_problem *problem = packing->problem;
	const struct fors_koenig_edge *edge = graph->edge;
	uint32_t first = schedule->parts ? s * schedule->parts : problem->first[s], ngroups = groups_of(problem, s);

	for (uint32_t t = 0; t < schedule->nphases; t++) {
		for (uint32_t i = 0; i < ngroups; i++, edge++) {
			struct fors_cell *cell = &schedule->cell[(size_t)(first + i) * schedule->nphases + t];

			if (edge->right == FORS_KOENIG_NONE || (!schedule->parts && edge->right == first + i))
				continue;
			cell->dst = edge->right;
			cell->path = (uint8_t)edge->tag;
		}
	}
}

enum fors_err fors_flows_write(const struct fors_flows_packing *packing, struct fors_schedule *schedule,
			       struct fors_error *error)
{
	const struct fors_flows_problem *problem = packing->problem;
	uint32_t length = schedule->parts ? schedule->round_length : 1;
	enum fors_err err = FORS_OK;
	struct fors_koenig graph;

	if (!fors_koenig_alloc(&graph, schedule->nphases, problem->ndests, largest(problem)))
		err = fors_fail_memory(error);
	for (uint32_t s = 0; !err && s < problem->nswitches; s++) {
		if (colour_switch(packing, s, length, &graph))
			write_cells(packing, s, &graph, schedule);
		else
			err = fors_fail(error, FORS_ENOPLAN, "flows: the flows of a switch do not fit its servers");
	}
	fors_koenig_free(&graph);
	return err;
}
