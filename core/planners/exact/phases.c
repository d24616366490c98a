/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * phases.c - step 2 of the exact planner: a phase for every flow, and places in that phase at both of its leaves.
 *
 * Lane by lane where that is possible (runs.c), else all lanes together by a colouring (lanes.c).
 */
#include <string.h>

#include "work.h"

#define PIECES 6 /* of the colouring, whatever the number of threads */

/* A phase in hand: its places, and the next ones of each leaf. */
struct phase {
	uint16_t *peer;
	uint8_t *way;
	uint32_t *out, *in;
};

static struct phase open_phase(const struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t number)
{
	const size_t first = fors_place(plan, 0, number), size = plan->fabric->nleaves * sizeof(*plan->first);

	memcpy(bench->out, plan->first, size);
	memcpy(bench->in, plan->first, size);
	return (struct phase){
		.peer = plan->flows.peer + first, .way = plan->flows.way + first, .out = bench->out, .in = bench->in};
}

/* The next flow of the phase: from leaf a to leaf b. */
static inline void place_flow(const struct phase *phase, uint32_t a, uint32_t b, uint8_t way)
{
	uint32_t out = phase->out[a]++, in = phase->in[b]++;

	phase->peer[out] = (uint16_t)in;
	phase->way[in] = way;
}

/* The places of a phase that no flow has come to. */
static void close_phase(const struct fors_exact *plan, const struct phase *phase)
{
	for (uint32_t leaf = 0; leaf < plan->fabric->nleaves; leaf++)
		for (uint32_t out = phase->out[leaf]; out < plan->first[leaf + 1]; out++)
			phase->peer[out] = FORS_NOBODY;
}

/* The flows of one phase: an out place for each at its sending leaf, an in place at its receiving leaf. */
static enum fors_err place_phase(void *context, uint32_t number, const uint32_t *edge, uint32_t count)
{
	struct fors_exact_bench *bench = context;
	struct fors_exact *plan = bench->plan;
	const struct fors_lane_graph *lanes = &plan->lanes;
	struct phase phase;

	if (fors_exact_is_cancelled(plan, (uint32_t)(bench - plan->bench)))
		return FORS_ECANCELLED;
	phase = open_phase(plan, bench, number);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t e = edge[i];

		place_flow(&phase, lanes->leaf_of[lanes->left[e]], lanes->leaf_of[lanes->right[e]], lanes->way[e]);
	}
	close_phase(plan, &phase);
	return FORS_OK;
}

static enum fors_err colour_piece(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	struct fors_exact *plan = context;
	enum fors_err err = fors_colour_piece(plan->bench[worker].space, plan->pieces, item, place_phase,
					      &plan->bench[worker], error);

	fors_exact_tell(plan, worker, item, fors_colour_pieces_count(plan->pieces));
	return err == FORS_ECANCELLED ? fors_exact_cancelled(error) : err;
}

/* The flows of lane k in a phase of this run. */
static void place_lane(const struct fors_lane_runs *lanes, const struct phase *phase, uint32_t k, uint32_t run)
{
	const uint32_t n = lanes->nleaves;
	const uint8_t *to = lanes->lane[k].column + (size_t)run * n;
	const struct phase own = *phase; /* stores of bytes could be to anything but locals */

	for (uint32_t a = 0; a < n; a++)
		if (to[a] != FORS_PEEL_NOWHERE)
			place_flow(&own, a, to[a], to[a] == a ? FORS_NO_LANE : (uint8_t)k);
}

static void place_more(const struct fors_lane_runs *lanes, const struct phase *phase, uint32_t number)
{
	for (uint32_t a = 0; a < lanes->nleaves; a++)
		for (uint32_t i = fors_lane_runs_more(lanes, a, number); i > 0; i--)
			place_flow(phase, a, a, FORS_NO_LANE);
}

/* The flows of a block of phases, from the runs of all lanes. */
static enum fors_err place_block(void *context, uint32_t worker, uint32_t block, struct fors_error *error)
{
	struct fors_exact *plan = context;
	const struct fors_exact_bench *bench = &plan->bench[worker];
	uint32_t end = (block + 1) * FORS_EXACT_BLOCK;

	if (fors_exact_is_cancelled(plan, worker))
		return fors_exact_cancelled(error);
	end = end < plan->nphases ? end : plan->nphases;
	for (uint32_t k = 0; k < plan->runs->nlanes; k++)
		bench->run[k] = fors_runs_at(&plan->runs->lane[k], block * FORS_EXACT_BLOCK);
	for (uint32_t number = block * FORS_EXACT_BLOCK; number < end; number++) {
		struct phase phase = open_phase(plan, bench, number);

		for (uint32_t k = 0; k < plan->runs->nlanes; k++) {
			bench->run[k] += number >= plan->runs->lane[k].end[bench->run[k]];
			place_lane(plan->runs, &phase, k, bench->run[k]);
		}
		place_more(plan->runs, &phase, number);
		close_phase(plan, &phase);
	}
	return FORS_OK;
}

static enum fors_err peel_lane(void *context, uint32_t worker, uint32_t k, struct fors_error *error)
{
	struct fors_exact *plan = context;

	if (fors_exact_is_cancelled(plan, worker))
		return fors_exact_cancelled(error);
	return fors_lane_runs_peel(plan->runs, k, error);
}

enum fors_err fors_exact_prepare_phases(struct fors_exact *plan, struct fors_error *error)
{
	enum fors_err err =
		fors_lane_runs_new(plan->fabric, plan->ways, plan->split, plan->nphases, &plan->runs, error);

	if (err || plan->runs)
		return err;
	return fors_lane_graph_build(plan->fabric, plan->ways, plan->split, plan->nphases, &plan->lanes, error);
}

/* Colour the graph of step 2, cut into pieces, so many that all threads end at about the same time. */
static enum fors_err colour_phases(struct fors_exact *plan, double share, struct fors_error *error)
{
	uint32_t most = (plan->nphases + PIECES - 1) / PIECES;
	enum fors_err err =
		fors_colour_cut(plan->bench[0].space, &plan->lanes.graph, 0, plan->nphases, most, &plan->pieces, error);

	return err ? err : fors_exact_run(plan, fors_colour_pieces_count(plan->pieces), colour_piece, share, error);
}

enum fors_err fors_exact_phases(struct fors_exact *plan, double share, struct fors_error *error)
{
	enum fors_err err;

	if (!plan->runs)
		return colour_phases(plan, share, error);
	err = fors_exact_run(plan, plan->runs->nlanes, peel_lane, share / 2, error);
	return err ? err : fors_exact_run(plan, fors_exact_blocks(plan), place_block, share / 2, error);
}
