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
 * 2. Phases (colour.c, graph in exact_lanes.c). One bipartite multigraph for all lanes: an edge for each flow
 *    between leaves, from (a, its lane up) to (b, its lane down), and an edge for each flow inside a leaf
 *    between two such nodes of its own that have room. Node degrees are at most T, so there is a colouring with T
 *    colours in which no node has two edges of a colour, and no leaf, whose edges are n_a P <= n_a T,
 *    more than n_a of a colour at either side (euler.c says why). Colour = phase: no link carries two flows,
 *    and no leaf sends or receives more flows in a phase than it has servers, however many uplinks it has.
 *
 * 3. Senders. For leaf a take a bipartite graph with an edge (phase, b) for each flow from a
 *    to b. A phase has at most n_a edges, b has n_a n_b. It can be coloured with n_a colours
 *    so that a phase has each colour at most once and b has each exactly n_b times (cap n_b at b).
 *    Colour = sender: each sends once a phase, and n_b times to b. (exact_senders.c nearly always finds
 *    such senders quicker; what follows needs no more of them than this.)
 *
 * 4. Receivers. For leaf b take an edge (phase, sender) for each flow to b. A phase has at most n_b edges, a
 *    sender n_b. Colour with n_b colours = receiver: each receives once a phase, and
 *    each sender meets each receiver once.
 *
 * A flow (s, d) over way k then uses the path index of d that is at home on lane k.
 *
 * Between the steps the flows live in arrays that belong to leaves: the i-th flow that leaf a sends in phase t has
 * the out place first_server(a) T + t n_a + i, the j-th flow that leaf b receives in phase t the in place
 * first_server(b) T + t n_b + j. Step 2 writes the places of its own phases, step 3 the senders of the
 * flows of its own leaf, step 4 the receivers of its own: threads need no locks, and the results do not depend on
 * their number.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "exact.h"
#include "parallel.h"
#include "planner.h"
#include "split.h"
#include "ways.h"

#define NOBODY FORS_NOBODY
#define PIECES 6 /* of step 2, whatever the number of threads */
#define BLOCK 16 /* phases written to the schedule at a time: a cache line of cells */

/* The flows of all phases, by place. */
struct flows {
	uint16_t *to;	/* out place: leaf that the flow goes to; NOBODY: no flow */
	uint8_t *turn;	/* out place: which of the flows that this leaf receives in the phase it is */
	uint16_t *from; /* in place: sending server, from step 3 on; NOBODY: no flow */
	uint8_t *way;	/* in place; FORS_NO_LANE: inside the leaf */
	uint16_t *dst;	/* in place: receiving server, from step 4 on; the memory of `to`, which is over then */
};

/* What one thread works with. */
struct bench {
	struct fors_colour_space *space;
	uint16_t *sent, *received; /* per leaf: its flows in this phase so far */
	uint16_t *left, *right;
	uint32_t *place;     /* in place of each edge of steps 3 and 4 */
	uint16_t *colour_to; /* where step 3 or 4 writes colours, by in place */
	uint16_t first_server;
	uint16_t *sender; /* step 3: per place of the leaf */
	int32_t *excess;  /* step 3: scratch */
	struct plan *plan;
};

struct plan {
	const struct fors_task *task;
	const struct fors_fabric *fabric;
	struct fors_ways *ways;
	uint16_t *split;
	uint32_t nphases;
	unsigned threads;
	struct fors_lane_graph lanes;
	struct fors_colour_pieces *pieces;
	struct flows flows;
	uint8_t *base; /* per server: home lane of path index 0 */
	struct bench bench[FORS_MAX_THREADS];
	struct fors_schedule *schedule;
	atomic_bool stop;
	double done, share; /* of the work, for progress: before this step, and this step's */
};

/* ---- asking and telling the caller ---- */

/* True: stop. Only the caller's own thread (worker 0) asks; the others hear of it. */
static bool is_cancelled(struct plan *plan, uint32_t worker)
{
	if (worker == 0 && plan->task->cancelled && plan->task->cancelled(plan->task->context))
		atomic_store(&plan->stop, true);
	return atomic_load(&plan->stop);
}

static enum fors_err cancelled(struct fors_error *error)
{
	return fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
}

static void tell(struct plan *plan, uint32_t worker, uint32_t item, uint32_t nitems)
{
	if (worker == 0 && plan->task->progress)
		plan->task->progress(plan->task->context, plan->done + plan->share * item / nitems);
}

/* Run the rounds of one step, which is `share` of all work. */
static enum fors_err run_step(struct plan *plan, uint32_t nitems, fors_work work, double share,
			      struct fors_error *error)
{
	enum fors_err err;

	plan->share = share;
	err = fors_parallel(plan->threads, nitems, work, plan, error);
	plan->done += share;
	return err;
}

/* ---- step 2: phases ---- */

/* The place of the i-th flow of a leaf in a phase. */
static inline uint32_t place_of(const struct plan *plan, uint32_t leaf, uint32_t phase, uint32_t i)
{
	const struct fors_leaf *at = &plan->fabric->leaf[leaf];

	return at->first_server * plan->nphases + phase * at->nservers + i;
}

/* The places of a phase that no flow has come to. */
static void close_phase(struct plan *plan, const struct bench *bench, uint32_t phase)
{
	for (uint32_t leaf = 0; leaf < plan->fabric->nleaves; leaf++) {
		for (uint32_t i = bench->sent[leaf]; i < plan->fabric->leaf[leaf].nservers; i++)
			plan->flows.to[place_of(plan, leaf, phase, i)] = NOBODY;
		for (uint32_t j = bench->received[leaf]; j < plan->fabric->leaf[leaf].nservers; j++)
			plan->flows.from[place_of(plan, leaf, phase, j)] = NOBODY;
	}
}

/* The flows of one phase: an out place for each at its sending leaf, an in place at its receiving leaf. */
static enum fors_err place_phase(void *context, uint32_t phase, const uint32_t *edge, uint32_t count)
{
	struct bench *bench = context;
	struct plan *plan = bench->plan;
	const struct fors_lane_graph *lanes = &plan->lanes;
	struct flows *flows = &plan->flows;

	if (is_cancelled(plan, (uint32_t)(bench - plan->bench)))
		return FORS_ECANCELLED;
	memset(bench->sent, 0, plan->fabric->nleaves * sizeof(*bench->sent));
	memset(bench->received, 0, plan->fabric->nleaves * sizeof(*bench->received));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t e = edge[i], a = lanes->leaf_of[lanes->left[e]], b = lanes->leaf_of[lanes->right[e]];
		uint32_t out = place_of(plan, a, phase, bench->sent[a]++);

		flows->to[out] = (uint16_t)b;
		flows->turn[out] = (uint8_t)bench->received[b];
		flows->way[place_of(plan, b, phase, bench->received[b]++)] = lanes->way[e];
	}
	close_phase(plan, bench, phase);
	return FORS_OK;
}

static enum fors_err colour_piece(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	struct plan *plan = context;
	enum fors_err err = fors_colour_piece(plan->bench[worker].space, plan->pieces, item, place_phase,
					      &plan->bench[worker], error);

	tell(plan, worker, item, fors_colour_pieces_count(plan->pieces));
	return err == FORS_ECANCELLED ? cancelled(error) : err;
}

/* ---- steps 3 and 4: senders and receivers ---- */

static enum fors_err write_colour(void *context, uint32_t colour, const uint32_t *edge, uint32_t count)
{
	struct bench *bench = context;

	for (uint32_t i = 0; i < count; i++)
		bench->colour_to[bench->place[edge[i]]] = (uint16_t)(bench->first_server + colour);
	return FORS_OK;
}

/* Colour the edges listed in the bench with the n servers of `leaf`. */
static enum fors_err colour_servers(struct plan *plan, uint32_t worker, uint32_t leaf, uint32_t nedges, uint32_t nright,
				    const uint16_t *caps, struct fors_error *error)
{
	struct bench *bench = &plan->bench[worker];
	struct fors_multigraph graph = {
		.nedges = nedges,
		.left = bench->left,
		.right = bench->right,
		.side = {{.nnodes = plan->nphases}, {.nnodes = nright, .cap = caps}},
	};

	if (is_cancelled(plan, worker))
		return cancelled(error);
	tell(plan, worker, leaf, plan->fabric->nleaves);
	bench->first_server = (uint16_t)plan->fabric->leaf[leaf].first_server;
	return fors_colour(bench->space, &graph, 0, plan->fabric->leaf[leaf].nservers, write_colour, bench, error);
}

/* Put an edge between a phase and a node on the right on the list. */
static inline void list_edge(struct bench *bench, uint32_t e, uint32_t phase, uint16_t right, uint32_t place)
{
	bench->left[e] = (uint16_t)phase;
	bench->right[e] = right;
	bench->place[e] = place;
}

/* The sure way for senders: a colouring. */
static enum fors_err colour_senders(struct plan *plan, uint32_t worker, uint32_t a, struct fors_error *error)
{
	struct bench *bench = &plan->bench[worker];
	uint32_t n = plan->fabric->leaf[a].nservers, nedges = 0;

	for (uint32_t t = 0; t < plan->nphases; t++) {
		const uint16_t *to = plan->flows.to + place_of(plan, a, t, 0);
		const uint8_t *turn = plan->flows.turn + place_of(plan, a, t, 0);

		for (uint32_t i = 0; i < n && to[i] != NOBODY; i++)
			list_edge(bench, nedges++, t, to[i], place_of(plan, to[i], t, turn[i]));
	}
	bench->colour_to = plan->flows.from;
	return colour_servers(plan, worker, a, nedges, plan->fabric->nleaves, plan->lanes.servers, error);
}

/* The senders that the quick way found, to where the receiving leaves look for them. */
static void write_senders(struct plan *plan, const struct bench *bench, uint32_t a)
{
	const struct fors_leaf *leaf = &plan->fabric->leaf[a];
	const uint16_t *to = plan->flows.to + place_of(plan, a, 0, 0);
	const uint8_t *turn = plan->flows.turn + place_of(plan, a, 0, 0);

	for (uint32_t t = 0; t < plan->nphases; t++)
		for (uint32_t i = t * leaf->nservers; i < (t + 1) * leaf->nservers && to[i] != NOBODY; i++)
			plan->flows.from[place_of(plan, to[i], t, turn[i])] =
				(uint16_t)(leaf->first_server + bench->sender[i]);
}

static enum fors_err find_senders(void *context, uint32_t worker, uint32_t a, struct fors_error *error)
{
	struct plan *plan = context;
	struct bench *bench = &plan->bench[worker];
	struct fors_senders senders = {
		.n = plan->fabric->leaf[a].nservers,
		.nphases = plan->nphases,
		.nleaves = plan->fabric->nleaves,
		.to = plan->flows.to + place_of(plan, a, 0, 0),
		.servers = plan->lanes.servers,
		.sender = bench->sender,
		.excess = bench->excess,
	};

	if (!senders.n)
		return FORS_OK;
	if (is_cancelled(plan, worker))
		return cancelled(error);
	tell(plan, worker, a, plan->fabric->nleaves);
	if (!fors_senders_find(&senders))
		return colour_senders(plan, worker, a, error);
	write_senders(plan, bench, a);
	return FORS_OK;
}

static enum fors_err colour_receivers(void *context, uint32_t worker, uint32_t b, struct fors_error *error)
{
	struct plan *plan = context;
	struct bench *bench = &plan->bench[worker];
	uint32_t n = plan->fabric->leaf[b].nservers, nedges = 0;

	if (!n)
		return FORS_OK;
	for (uint32_t t = 0; t < plan->nphases; t++) {
		uint32_t place = place_of(plan, b, t, 0);

		for (uint32_t j = 0; j < n && plan->flows.from[place + j] != NOBODY; j++)
			list_edge(bench, nedges++, t, plan->flows.from[place + j], place + j);
	}
	bench->colour_to = plan->flows.dst;
	return colour_servers(plan, worker, b, nedges, plan->fabric->nservers, NULL, error);
}

/* ---- the schedule ---- */

/*
 * Lane and path index of way `way` to server d from the leaf of server s. Quickly when all ways are straight: their
 * entries are at home.
 */
static void route(const struct plan *plan, uint32_t s, uint32_t d, uint8_t way, struct fors_cell *cell)
{
	const struct fors_server *server = plan->fabric->server;
	uint32_t base = plan->base[d], i = way >= base ? way - base : way + plan->fabric->nlanes - base;

	cell->lane = way;
	cell->path = (uint8_t)i;
	if (plan->ways->is_straight && i < 1u << plan->fabric->lmc)
		return;
	cell->lane = plan->ways->up[fors_way(plan->ways, server[s].leaf, server[d].leaf, way)];
	cell->path = fors_ways_index(plan->task, plan->ways, server[s].leaf, d, way);
}

/* The cell of a flow. */
static enum fors_err make_cell(const struct plan *plan, uint32_t s, uint32_t d, uint8_t way, struct fors_cell *cell,
			       struct fors_error *error)
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
static enum fors_err write_phase(const struct plan *plan, uint32_t b, uint32_t t, struct fors_error *error)
{
	const struct flows *flows = &plan->flows;
	uint32_t place = place_of(plan, b, t, 0), end = place + plan->fabric->leaf[b].nservers;

	for (; place < end && flows->from[place] != NOBODY; place++) {
		uint32_t s = flows->from[place], d = flows->dst[place];
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

static enum fors_err write_block(void *context, uint32_t worker, uint32_t block, struct fors_error *error)
{
	struct plan *plan = context;
	uint32_t end = (block + 1) * BLOCK;
	enum fors_err err = FORS_OK;

	if (is_cancelled(plan, worker))
		return cancelled(error);
	end = end < plan->nphases ? end : plan->nphases;
	for (uint32_t b = 0; b < plan->fabric->nleaves; b++)
		for (uint32_t t = block * BLOCK; !err && t < end; t++)
			err = write_phase(plan, b, t, error);
	return err;
}

/* ---- the whole ---- */

static void bench_free(struct bench *bench)
{
	fors_colour_space_free(bench->space);
	free(bench->sent);
	free(bench->received);
	free(bench->left);
	free(bench->right);
	free(bench->place);
	free(bench->sender);
	free(bench->excess);
}

/* nedges: of the largest graph of steps 3 and 4; the space serves step 2 as well. */
static bool bench_alloc(struct bench *bench, struct plan *plan, uint32_t nedges)
{
	uint32_t lane_edges = plan->lanes.graph.nedges, lane_nodes = plan->lanes.graph.side[0].nnodes;
	uint32_t nnodes = plan->nphases > lane_nodes ? plan->nphases : lane_nodes;

	bench->plan = plan;
	bench->space = fors_colour_space_new(nedges > lane_edges ? nedges : lane_edges, nnodes);
	bench->sent = calloc((size_t)plan->fabric->nleaves + 1, sizeof(*bench->sent));
	bench->received = calloc((size_t)plan->fabric->nleaves + 1, sizeof(*bench->received));
	bench->left = malloc(((size_t)nedges + 1) * sizeof(*bench->left));
	bench->right = malloc(((size_t)nedges + 1) * sizeof(*bench->right));
	bench->place = malloc(((size_t)nedges + 1) * sizeof(*bench->place));
	bench->sender = malloc(((size_t)plan->fabric->max_servers * plan->nphases + 1) * sizeof(*bench->sender));
	bench->excess =
		malloc((size_t)(plan->fabric->max_servers + 1) * (plan->fabric->nleaves + 1) * sizeof(*bench->excess));
	return bench->sender && bench->excess && bench->space && bench->sent && bench->received && bench->left &&
	       bench->right && bench->place;
}

static enum fors_err alloc_work(struct plan *plan, struct fors_error *error)
{
	size_t n = (size_t)plan->nphases * plan->fabric->nservers + 1;
	bool good = true;

	plan->flows.to = malloc(n * sizeof(*plan->flows.to));
	plan->flows.turn = malloc(n * sizeof(*plan->flows.turn));
	plan->flows.from = malloc(n * sizeof(*plan->flows.from));
	plan->flows.way = malloc(n * sizeof(*plan->flows.way));
	plan->flows.dst = plan->flows.to;
	plan->base = calloc((size_t)plan->fabric->nservers + 1, sizeof(*plan->base));
	for (uint32_t d = 0; plan->base && plan->fabric->nlanes && d < plan->fabric->nservers; d++)
		plan->base[d] = (uint8_t)fors_home_lane(plan->fabric, plan->fabric->server[d].leaf,
							plan->fabric->server[d].slot, 0);
	for (unsigned i = 0; good && i < plan->threads; i++)
		good = bench_alloc(&plan->bench[i], plan, plan->fabric->max_servers * plan->fabric->nservers);
	if (good && plan->flows.to && plan->flows.turn && plan->flows.from && plan->flows.way && plan->base)
		return FORS_OK;
	return fors_fail_memory(error);
}

static void plan_free(struct plan *plan)
{
	fors_ways_free(plan->ways);
	free(plan->split);
	fors_lane_graph_free(&plan->lanes);
	fors_colour_pieces_free(plan->pieces);
	free(plan->flows.to);
	free(plan->flows.turn);
	free(plan->flows.from);
	free(plan->flows.way);
	free(plan->base);
	for (unsigned i = 0; i < FORS_MAX_THREADS; i++)
		bench_free(&plan->bench[i]);
	fors_schedule_free(plan->schedule);
}

/* Step 1. */
static enum fors_err split_flows(struct plan *plan, struct fors_error *error)
{
	uint32_t bound, proven;
	enum fors_err err = fors_ways_build(plan->task, &plan->ways, error);

	if (!err)
		err = fors_lower_bound(plan->fabric, &bound, error);
	if (!err)
		err = fors_split_find(plan->ways, bound, plan->task->cancelled, plan->task->context, &plan->split,
				      &plan->nphases, &proven, error);
	return err;
}

/* Cut the graph of step 2 into pieces, so many that all threads end at about the same time. */
static enum fors_err cut_phases(struct plan *plan, struct fors_error *error)
{
	uint32_t most = (plan->nphases + PIECES - 1) / PIECES;

	return fors_colour_cut(plan->bench[0].space, &plan->lanes.graph, 0, plan->nphases, most, &plan->pieces, error);
}

static enum fors_err make_plan(struct plan *plan, struct fors_error *error)
{
	uint32_t nleaves = plan->fabric->nleaves;
	enum fors_err err = split_flows(plan, error);

	if (!err)
		err = fors_lane_graph_build(plan->fabric, plan->ways, plan->split, plan->nphases, &plan->lanes, error);
	if (!err)
		err = fors_schedule_new(plan->fabric, plan->nphases, 0, 0, "exact", &plan->schedule, error);
	if (!err)
		err = alloc_work(plan, error);
	if (!err)
		err = cut_phases(plan, error);
	if (!err)
		err = run_step(plan, fors_colour_pieces_count(plan->pieces), colour_piece, 0.4, error);
	if (!err)
		err = run_step(plan, nleaves, find_senders, 0.2, error);
	if (!err)
		err = run_step(plan, nleaves, colour_receivers, 0.3, error);
	if (!err)
		err = run_step(plan, (plan->nphases + BLOCK - 1) / BLOCK, write_block, 0.1, error);
	return err;
}

static enum fors_err plan_exact(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	struct plan plan = {.task = task, .fabric = task->fabric};
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
