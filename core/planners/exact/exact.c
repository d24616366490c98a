/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exact.c - the exact planner: any failures, any population, T = the lower bound.
 *
 * Let n_a be the servers of leaf a, P their sum; every server has P flows, one to itself among
 * them (idle, but it takes its turn), so leaf a has n_a n_b flows to leaf b. Four steps,
 * each of which always succeeds once the one before it did:
 *
 * 1. Split (split.c). x[a][b][k] flows of (a, b) take way k, so that no lane carries more than T flows
 *    up from a leaf or down to a leaf. T >= P. This is the only step that may need more than LB phases.
 *
 * 2. Phases (phases.c). One bipartite multigraph for all lanes: an edge for each flow
 *    between leaves, from (a, its lane up) to (b, its lane down), and an edge for each flow inside a leaf
 *    between two such nodes of its own that have room. Node degrees are at most T, so there is a colouring with T
 *    colours in which no node has two edges of a colour, and no leaf, whose edges are n_a P <= n_a T,
 *    more than n_a of a colour at either side (core/colouring/euler.c says why). Colour = phase: no link carries two
 *    flows, and no leaf sends or receives more flows in a phase than it has servers, however many uplinks it has.
 *    Nearly always each lane is a graph of its own, small and with many copies of each edge; then it is cut into
 *    partial permutations that last for several phases (runs.c, core/colouring/peel.c), in a tenth of the time.
 *
 * 3. Senders (servers.c). For leaf a take a bipartite graph with an edge for each flow from a, between its phase
 *    and one of n_b nodes of leaf b with n_a flows each. A phase has at most n_a edges. Colour with n_a
 *    colours = senders: each sends once a phase, and once for each node, so n_b times to b.
 *
 * 4. Receivers (the same). For leaf b take an edge (phase, sender) for each flow to b. A phase has at most n_b edges, a
 *    sender n_b. Colour with n_b colours = receiver: each receives once a phase, and
 *    each sender meets each receiver once.
 *
 * A flow (s, d) over way k then uses the path index of d that is at home on lane k.
 *
 * Between the steps the flows live in arrays by phase: in phase t leaf a has the n_a out places t P + first_server(a)
 * + i of the flows that it sends, and as many in places, of the same numbers, of those that it receives. Step 2 writes
 * the places of its own phases, step 3 colours the out places of its own leaves, and then moves the senders of its own
 * phases to their in places; step 4 colours the in places of its own leaves: threads need no locks, and the results do
 * not depend on their number. What goes on phase by phase stays in a few kilobytes; steps 3 and 4 copy a leaf's places
 * together.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/planners/bound.h"
#include "core/schedule/schedule.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "work.h"
#include "ways.h"

/* ---- the schedule ---- */

/*
 * Lane and path index of way `way` to server d from the leaf of server s. Quickly when all ways are straight: their
 * entries are at home.
 */
static void route(const struct fors_exact *plan, uint32_t s, uint32_t d, uint8_t way, struct fors_cell *cell)
{
	const struct fors_server *server = plan->fabric->server;
	uint32_t i = fors_home_index(plan->fabric->nlanes, plan->base[d], way);

	cell->lane = way;
	cell->path = (uint8_t)i;
	if (plan->ways->is_straight && i < fors_home_nindices(plan->fabric->lmc))
		return;
	cell->lane = plan->ways->up[fors_way(plan->ways, server[s].leaf, server[d].leaf, way)];
	cell->path = fors_ways_index(plan->task, plan->ways, server[s].leaf, d, way);
}

/* The cell of a flow. */
static enum fors_err make_cell(const struct fors_exact *plan, uint32_t s, uint32_t d, uint8_t way,
			       struct fors_cell *cell, struct fors_error *error)
{
	*cell = (struct fors_cell){.dst = (uint16_t)d, .lane = FORS_NO_LANE};
	if (way == FORS_NO_LANE)
		return FORS_OK;
	route(plan, s, d, way, cell);
	if (cell->path != FORS_NO_INDEX)
		return FORS_OK;
	return fors_fail(error, FORS_ENOPLAN, "the tables have no path index from %s to LID %u over lane %u",
			 plan->fabric->leaf[plan->fabric->server[s].leaf].name, plan->fabric->server[d].lid,
			 cell->lane);
}

/* Write what leaf b receives in phase t to the schedule, whose rows are servers. */
static enum fors_err write_phase(const struct fors_exact *plan, uint32_t b, uint32_t t, struct fors_error *error)
{
	const struct fors_exact_flows *flows = &plan->flows;
	size_t place = fors_place(plan, b, t), end = place + plan->fabric->leaf[b].nservers;

	for (; place < end && flows->peer[place] != FORS_NOBODY; place++) {
		uint32_t s = flows->peer[place], d = plan->first[b] + flows->colour[place];
		enum fors_err err;

		if (s == d)
			continue;
		err = make_cell(plan, s, d, flows->way[place], &plan->schedule->cell[(size_t)s * plan->nphases + t],
				error);
		if (err)
			return err;
	}
	return FORS_OK;
}

/*
 * All of phase t where nothing can be missing: ways are straight, and each lane has a path index of each server at
 * home. Both are known before the first flow, so that a flow costs a few operations.
 */
static void write_straight(const struct fors_exact *plan, uint32_t t)
{
	const size_t start = (size_t)t * plan->fabric->nservers, nphases = plan->nphases;
	const uint16_t *from = plan->flows.peer + start;
	const uint8_t *to = plan->flows.colour + start, *way = plan->flows.way + start;
	const uint8_t *path = plan->path + plan->fabric->nlanes;
	struct fors_cell *cell = plan->schedule->cell + t;

	for (uint32_t b = 0; b < plan->fabric->nleaves; b++) {
		const uint32_t first = plan->first[b], end = fors_exact_end(from, first, plan->first[b + 1]);
		const uint8_t *base = plan->base + first;

		for (uint32_t i = first; i < end; i++) {
			const size_t s = from[i], rank = to[i], lane = way[i];
			struct fors_cell *at = cell + s * nphases;

			if (s == first + rank)
				continue;
			at->dst = (uint16_t)(first + rank);
			at->path = path[(ptrdiff_t)lane - base[rank]];
			at->lane = (uint8_t)lane;
		}
	}
}

static enum fors_err write_block(void *context, uint32_t worker, uint32_t block, struct fors_error *error)
{
	struct fors_exact *plan = context;
	uint32_t end = (block + 1) * FORS_EXACT_BLOCK;
	enum fors_err err = FORS_OK;

	if (fors_exact_is_cancelled(plan, worker))
		return fors_exact_cancelled(error);
	end = end < plan->nphases ? end : plan->nphases;
	for (uint32_t t = block * FORS_EXACT_BLOCK; t < end; t++) {
		if (plan->is_plain)
			write_straight(plan, t);
		for (uint32_t b = 0; !plan->is_plain && !err && b < plan->fabric->nleaves; b++)
			err = write_phase(plan, b, t, error);
	}
	return err;
}

/* ---- the whole ---- */

static void bench_free(struct fors_exact_bench *bench)
{
	for (uint32_t i = 0; i < FORS_ROWWISE_AT_ONCE; i++) {
		fors_rowwise_space_free(bench->seat[i].rows);
		free(bench->seat[i].node);
		free(bench->seat[i].colour);
	}
	fors_colour_space_free(bench->space);
	free(bench->out);
	free(bench->in);
	free(bench->run);
	free(bench->from);
	fors_rowwise_edges_free(&bench->edges);
}

static bool seat_alloc(struct fors_exact_seat *seat, const struct fors_exact *plan)
{
	uint32_t width = plan->fabric->max_servers;
	size_t nplaces = (size_t)width * plan->nphases + 1;

	if (width <= FORS_MATCH_MOST) {
		seat->rows = fors_rowwise_space_new(plan->nphases, width, plan->fabric->nservers);
		return seat->rows;
	}
	seat->colour = malloc(nplaces);
	seat->node = malloc(nplaces * sizeof(*seat->node));
	return seat->colour && seat->node;
}

/* For colourings: of the graph of step 2, and of steps 3 and 4 at large leaves. */
static bool alloc_colouring(struct fors_exact_bench *bench, const struct fors_exact *plan)
{
	uint32_t lane_edges = plan->lanes.graph.nedges, lane_nodes = plan->lanes.graph.side[0].nnodes, n = 0;
	uint32_t nnodes = plan->nphases > lane_nodes ? plan->nphases : lane_nodes;

	if (plan->fabric->max_servers > FORS_MATCH_MOST)
		n = plan->fabric->max_servers * plan->fabric->nservers;
	else if (plan->runs)
		return true;
	bench->space = fors_colour_space_new(n > lane_edges ? n : lane_edges, nnodes);
	return bench->space && fors_rowwise_edges_alloc(&bench->edges, n);
}

static bool bench_alloc(struct fors_exact_bench *bench, struct fors_exact *plan)
{
	const struct fors_fabric *fabric = plan->fabric;
	size_t nleaves = (size_t)fabric->nleaves + 1;
	bool good = true;

	bench->plan = plan;
	bench->out = calloc(nleaves, sizeof(*bench->out));
	bench->in = calloc(nleaves, sizeof(*bench->in));
	bench->run = calloc((size_t)fabric->nlanes + 1, sizeof(*bench->run));
	bench->from = malloc((FORS_NOBODY + 1) * sizeof(*bench->from));
	for (uint32_t i = 0; good && i < FORS_ROWWISE_AT_ONCE && i < fabric->nleaves; i++)
		good = seat_alloc(&bench->seat[i], plan);
	return good && bench->out && bench->in && bench->run && bench->from && alloc_colouring(bench, plan);
}

/*
 * Path indices, where they only depend on how far a lane is behind the home lane, or before it. FORS_NO_LANE is
 * further behind than any lane, and gets 0.
 */
static void list_paths(struct fors_exact *plan)
{
	const uint32_t nlanes = plan->fabric->nlanes;

	plan->is_plain =
		plan->ways->is_straight && nlanes <= FORS_NO_LANE / 2 && fors_home_has_all(nlanes, plan->fabric->lmc);
	for (uint32_t i = 0; plan->is_plain && i < 2 * nlanes; i++)
		plan->path[i] = (uint8_t)(i % nlanes);
}

/* What is known of leaves and servers, in one piece each. */
static bool alloc_servers(struct fors_exact *plan)
{
	const struct fors_fabric *fabric = plan->fabric;

	plan->first = calloc((size_t)fabric->nleaves + 1, sizeof(*plan->first));
	plan->leaf_of = calloc((size_t)fabric->nservers + 1, sizeof(*plan->leaf_of));
	plan->base = calloc((size_t)fabric->nservers + 1, sizeof(*plan->base));
	if (!plan->first || !plan->leaf_of || !plan->base)
		return false;
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		plan->first[a + 1] = plan->first[a] + fabric->leaf[a].nservers;
	for (uint32_t d = 0; d < fabric->nservers; d++) {
		plan->leaf_of[d] = fabric->server[d].leaf;
		plan->base[d] = (uint8_t)fors_home_lane(fabric, fabric->server[d].leaf, fabric->server[d].slot, 0);
	}
	return true;
}

static enum fors_err alloc_work(struct fors_exact *plan, struct fors_error *error)
{
	size_t n = (size_t)plan->nphases * plan->fabric->nservers + 1;
	bool good = alloc_servers(plan);

	list_paths(plan);
	plan->flows.peer = malloc(n * sizeof(*plan->flows.peer));
	plan->flows.colour = malloc(n);
	plan->flows.way = malloc(n);
	for (unsigned i = 0; good && i < plan->threads; i++)
		good = bench_alloc(&plan->bench[i], plan);
	if (good && plan->flows.peer && plan->flows.colour && plan->flows.way)
		return FORS_OK;
	return fors_fail_memory(error);
}

static void plan_free(struct fors_exact *plan)
{
	fors_ways_free(plan->ways);
	free(plan->split);
	fors_lane_runs_free(plan->runs);
	fors_lane_graph_free(&plan->lanes);
	fors_colour_pieces_free(plan->pieces);
	free(plan->flows.peer);
	free(plan->flows.colour);
	free(plan->flows.way);
	free(plan->first);
	free(plan->leaf_of);
	free(plan->base);
	for (unsigned i = 0; i < FORS_MAX_THREADS; i++)
		bench_free(&plan->bench[i]);
	fors_schedule_free(plan->schedule);
}

/* Step 1. */
static enum fors_err split_flows(struct fors_exact *plan, struct fors_error *error)
{
	struct fors_effort effort = fors_effort_for(plan->task, fors_split_budget(plan->fabric->nservers));
	uint32_t bound, proven;
	enum fors_err err = fors_ways_build(plan->task, &plan->ways, error);

	if (!err)
		err = fors_lower_bound(plan->fabric, &bound, error);
	if (!err)
		err = fors_split_find(plan->ways, bound, &effort, &plan->split, &plan->nphases, &proven, error);
	fors_effort_tell(&effort);
	return err;
}

static enum fors_err make_plan(struct fors_exact *plan, struct fors_error *error)
{
	enum fors_err err = split_flows(plan, error);

	if (!err)
		err = fors_exact_prepare_phases(plan, error);
	if (!err)
		err = fors_schedule_new(plan->fabric, plan->nphases, 0, 0, "exact", &plan->schedule, error);
	if (!err)
		err = alloc_work(plan, error);
	if (!err)
		err = fors_exact_phases(plan, 0.3, error);
	if (!err)
		err = fors_exact_senders(plan, 0.2, error);
	if (!err)
		err = fors_exact_receivers(plan, 0.4, error);
	if (!err)
		err = fors_exact_run(plan, fors_exact_blocks(plan), write_block, 0.1, error);
	return err;
}

static enum fors_err plan_exact(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_exact plan = {.task = task, .fabric = task->fabric};
	enum fors_err err;

	plan.threads = task->threads < 1 ? 1 : task->threads > FORS_MAX_THREADS ? FORS_MAX_THREADS : task->threads;
	err = make_plan(&plan, error);
	if (!err) {
		*schedule = plan.schedule;
		plan.schedule = NULL;
	}
	plan_free(&plan);
	return err;
}

const struct fors_method fors_method_exact = {
	.name = "exact",
	.plan = plan_exact,
};
