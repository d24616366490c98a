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
 * 2. Phases (colour.c). One bipartite multigraph for all lanes: an edge for each flow
 *    between leaves, from (a, its lane up) to (b, its lane down), and an edge for each flow inside
 *    leaf a, from a's j-th local node to a's j-th local node (n_a of them at each of n_a local nodes). The
 *    nodes of a leaf are a group. Node degrees are at most T, and a group has n_a P <= n_a T edges, so there is a
 *    colouring with T colours in which no node has two edges of a colour and no group more than
 *    n_a (euler.c says why). Colour = phase: no link carries two flows, and no leaf sends or receives more flows
 *    in a phase than it has servers, however many uplinks it has.
 *
 * 3. Senders. For leaf a take a bipartite graph with an edge (phase, b) for each flow from a
 *    to b. A phase has at most n_a edges, b has n_a n_b. It can be coloured with n_a colours
 *    so that a phase has each colour at most once and b has each exactly n_b times (cap n_b at b).
 *    Colour = sender: each sends once a phase, and n_b times to b.
 *
 * 4. Receivers. For leaf b take an edge (phase, sender) for each flow to b. A phase has at most n_b edges, a
 *    sender n_b. Colour with n_b colours = receiver: each receives once a phase, and
 *    each sender meets each receiver once.
 *
 * A flow (s, d) over way k then uses the path index of d that is at home on lane k.
 *
 * Between the steps the flows live in `struct flow` arrays by phase and place: place q of phase t is one
 * of the P servers' turns to send, so leaf a owns the places first_server(a) .. + n_a - 1. Steps 3 and
 * 4 read and write only what belongs to their leaf, and step 2 only its own phases: threads need no locks, and
 * the results do not depend on their number.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "parallel.h"
#include "planner.h"
#include "split.h"
#include "ways.h"

#define NOBODY 0xFFFF
#define PIECES 16 /* of step 2, whatever the number of threads */
#define BLOCK 16 /* phases written to the schedule at a time: a cache line of cells */

/* The flows of all phases. Arrays are nphases x P; place = phase * P + q. */
struct flows {
	uint16_t *to;     /* leaf that the flow goes to; from step 4 on the receiving server; NOBODY: no flow */
	uint16_t *sender; /* sending server, from step 3 on */
	uint16_t *from;   /* place q that the j-th flow to this leaf leaves from, at first_server(b) + j; NOBODY: none */
	uint8_t *way;     /* FORS_NO_LANE: inside the leaf */
};

/* The graph of step 2, and what its edges mean. */
struct lane_graph {
	struct fors_multigraph graph;
	uint16_t *left, *right, *mult; /* of each edge */
	uint8_t *way;                  /* of each edge */
	uint16_t *leaf_of;             /* of each node */
	uint16_t *servers;             /* of each leaf */
};

/* What one thread works with. */
struct bench {
	struct fors_colour_space *space;
	uint16_t *next_in;   /* per leaf: flows to it in this phase so far */
	uint16_t *left, *right;
	uint32_t *place;     /* of each edge of steps 3 and 4 */
	uint16_t *colour_to; /* where step 3 or 4 writes colours, by place */
	uint16_t first_server;
	struct plan *plan;
};

struct plan {
	const struct fors_task *task;
	const struct fors_fabric *fabric;
	struct fors_ways *ways;
	uint16_t *split;
	uint32_t nphases;
	unsigned threads;
	struct lane_graph lanes;
	struct fors_colour_pieces *pieces;
	struct flows flows;
	uint8_t *base;       /* per server: home lane of path index 0 */
	struct bench bench[FORS_MAX_THREADS];
	struct fors_schedule *schedule;
	atomic_bool stop;
	double done, share;  /* of the work, for progress: before this step, and this step's */
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

static uint32_t first_node(const struct plan *plan, uint32_t leaf)
{
	return leaf * plan->fabric->nlanes + plan->fabric->leaf[leaf].first_server;
}

static void lane_graph_free(struct lane_graph *lanes)
{
	free(lanes->left);
	free(lanes->right);
	free(lanes->mult);
	free(lanes->way);
	free(lanes->leaf_of);
	free(lanes->servers);
	memset(lanes, 0, sizeof(*lanes));
}

static bool lane_graph_alloc(struct lane_graph *lanes, size_t nedges, size_t nnodes, size_t nleaves)
{
	lanes->left = calloc(nedges + 1, sizeof(*lanes->left));
	lanes->right = calloc(nedges + 1, sizeof(*lanes->right));
	lanes->mult = calloc(nedges + 1, sizeof(*lanes->mult));
	lanes->way = calloc(nedges + 1, sizeof(*lanes->way));
	lanes->leaf_of = calloc(nnodes + 1, sizeof(*lanes->leaf_of));
	lanes->servers = calloc(nleaves + 1, sizeof(*lanes->servers));
	return lanes->left && lanes->right && lanes->mult && lanes->way && lanes->leaf_of && lanes->servers;
}

static void add_edge(struct lane_graph *lanes, uint32_t left, uint32_t right, uint32_t mult, uint8_t way)
{
	uint32_t e = lanes->graph.nedges++;

	lanes->left[e] = (uint16_t)left;
	lanes->right[e] = (uint16_t)right;
	lanes->mult[e] = (uint16_t)mult;
	lanes->way[e] = way;
}

/* The edges from leaf a over lane `up` to leaf b. */
static void add_lane_edges(struct plan *plan, uint32_t a, uint32_t up, uint32_t b)
{
	const struct fors_ways *ways = plan->ways;
	uint32_t k = ways->is_straight ? up : 0, end = ways->is_straight ? up + 1 : ways->nlanes;

	for (; k < end; k++) {
		size_t way = fors_way(ways, a, b, k);

		if (ways->up[way] == up && plan->split[way])
			add_edge(&plan->lanes, first_node(plan, a) + up, first_node(plan, b) + ways->down[way],
				 plan->split[way], (uint8_t)k);
	}
}

static void add_edges(struct plan *plan)
{
	const struct fors_fabric *fabric = plan->fabric;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		uint32_t n = fabric->leaf[a].nservers, local = first_node(plan, a) + fabric->nlanes;

		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			for (uint32_t b = 0; b < fabric->nleaves; b++)
				if (a != b)
					add_lane_edges(plan, a, lane, b);
		for (uint32_t j = 0; j < n; j++)
			add_edge(&plan->lanes, local + j, local + j, n, FORS_NO_LANE);
	}
}

static size_t count_edges(const struct plan *plan)
{
	size_t nways = fors_way(plan->ways, plan->ways->nleaves, 0, 0), n = plan->fabric->nservers;

	for (size_t way = 0; way < nways; way++)
		n += plan->split[way] > 0;
	return n;
}

static enum fors_err build_lane_graph(struct plan *plan, struct fors_error *error)
{
	const struct fors_fabric *fabric = plan->fabric;
	size_t nnodes = (size_t)fabric->nleaves * fabric->nlanes + fabric->nservers;
	struct lane_graph *lanes = &plan->lanes;
	struct fors_colour_side side = {.nnodes = (uint32_t)nnodes, .ngroups = fabric->nleaves};

	if (nnodes > UINT16_MAX)
		return fors_fail(error, FORS_ELIMIT, "%zu ends of lanes and servers are more than %u", nnodes, UINT16_MAX);
	if (!lane_graph_alloc(lanes, count_edges(plan), nnodes, fabric->nleaves))
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		lanes->servers[a] = fabric->leaf[a].nservers;
		for (uint32_t i = 0; i < fabric->nlanes + fabric->leaf[a].nservers; i++)
			lanes->leaf_of[first_node(plan, a) + i] = (uint16_t)a;
	}
	add_edges(plan);
	side.group = lanes->leaf_of;
	side.group_cap = lanes->servers;
	lanes->graph.left = lanes->left;
	lanes->graph.right = lanes->right;
	lanes->graph.mult = lanes->mult;
	lanes->graph.side[0] = lanes->graph.side[1] = side;
	return FORS_OK;
}

/* The flows of one phase: a place for each at its sending leaf, and one at its receiving leaf. */
static enum fors_err place_phase(void *context, uint32_t phase, const uint32_t *edge, uint32_t count)
{
	struct bench *bench = context;
	struct plan *plan = bench->plan;
	const struct fors_fabric *fabric = plan->fabric;
	const struct lane_graph *lanes = &plan->lanes;
	struct flows *flows = &plan->flows;
	size_t row = (size_t)phase * fabric->nservers;
	uint32_t out = 0, leaf = FORS_NONE;

	if (is_cancelled(plan, (uint32_t)(bench - plan->bench)))
		return FORS_ECANCELLED;
	memset(bench->next_in, 0, fabric->nleaves * sizeof(*bench->next_in));
	memset(flows->to + row, 0xFF, fabric->nservers * sizeof(*flows->to));
	memset(flows->from + row, 0xFF, fabric->nservers * sizeof(*flows->from));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t e = edge[i], a = lanes->leaf_of[lanes->left[e]], b = lanes->leaf_of[lanes->right[e]];

		if (a != leaf) {
			leaf = a;
			out = fabric->leaf[a].first_server;
		}
		flows->to[row + out] = (uint16_t)b;
		flows->way[row + out] = lanes->way[e];
		flows->from[row + fabric->leaf[b].first_server + bench->next_in[b]++] = (uint16_t)out++;
	}
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
static enum fors_err colour_servers(struct plan *plan, uint32_t worker, uint32_t leaf, uint32_t nedges,
				    uint32_t nright, const uint16_t *caps, struct fors_error *error)
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

static enum fors_err colour_senders(void *context, uint32_t worker, uint32_t a, struct fors_error *error)
{
	struct plan *plan = context;
	struct bench *bench = &plan->bench[worker];
	const struct fors_leaf *leaf = &plan->fabric->leaf[a];
	uint32_t nedges = 0;

	if (!leaf->nservers)
		return FORS_OK;
	for (uint32_t t = 0; t < plan->nphases; t++) {
		uint32_t place = t * plan->fabric->nservers + leaf->first_server;

		for (uint32_t i = 0; i < leaf->nservers && plan->flows.to[place + i] != NOBODY; i++) {
			bench->left[nedges] = (uint16_t)t;
			bench->right[nedges] = plan->flows.to[place + i];
			bench->place[nedges++] = place + i;
		}
	}
	bench->colour_to = plan->flows.sender;
	return colour_servers(plan, worker, a, nedges, plan->fabric->nleaves, plan->lanes.servers, error);
}

static enum fors_err colour_receivers(void *context, uint32_t worker, uint32_t b, struct fors_error *error)
{
	struct plan *plan = context;
	struct bench *bench = &plan->bench[worker];
	const struct fors_leaf *leaf = &plan->fabric->leaf[b];
	uint32_t nedges = 0;

	if (!leaf->nservers)
		return FORS_OK;
	for (uint32_t t = 0; t < plan->nphases; t++) {
		uint32_t row = t * plan->fabric->nservers;
		const uint16_t *from = plan->flows.from + row + leaf->first_server;

		for (uint32_t j = 0; j < leaf->nservers && from[j] != NOBODY; j++) {
			bench->left[nedges] = (uint16_t)t;
			bench->right[nedges] = plan->flows.sender[row + from[j]];
			bench->place[nedges++] = row + from[j];
		}
	}
	bench->colour_to = plan->flows.to;
	return colour_servers(plan, worker, b, nedges, plan->fabric->nservers, NULL, error);
}

/* ---- the schedule ---- */

/* fors_ways_index(); quickly for lanes that live at both leaves, whose entries are at home. */
static uint8_t path_index(const struct plan *plan, uint32_t a, uint32_t d, uint8_t way)
{
	uint32_t base = plan->base[d], i = way >= base ? way - base : way + plan->fabric->nlanes - base;

	if (plan->ways->is_straight && i < 1u << plan->fabric->lmc)
		return (uint8_t)i;
	return fors_ways_index(plan->task, plan->ways, a, d, way);
}

/* The cell of a flow over a way between leaves. */
static enum fors_err make_cell(const struct plan *plan, uint32_t s, uint32_t d, uint8_t way, struct fors_cell *cell,
			       struct fors_error *error)
{
	uint32_t a = plan->fabric->server[s].leaf, b = plan->fabric->server[d].leaf;

	cell->dst = (uint16_t)d;
	cell->path = 0;
	cell->lane = FORS_NO_LANE;
	if (way == FORS_NO_LANE)
		return FORS_OK;
	cell->lane = plan->ways->up[fors_way(plan->ways, a, b, way)];
	cell->path = path_index(plan, a, d, way);
	if (cell->path != FORS_NO_INDEX)
		return FORS_OK;
	return fors_fail(error, FORS_ENOPLAN, "the tables have no path index from %s to LID %u over lane %u",
			 plan->fabric->leaf[a].name, plan->fabric->server[d].lid, cell->lane);
}

/* Write the phases of one block to the schedule, whose rows are servers. */
static enum fors_err write_block(void *context, uint32_t worker, uint32_t block, struct fors_error *error)
{
	struct plan *plan = context;
	const struct flows *flows = &plan->flows;
	uint32_t nservers = plan->fabric->nservers, end = (block + 1) * BLOCK;

	if (is_cancelled(plan, worker))
		return cancelled(error);
	end = end < plan->nphases ? end : plan->nphases;
	for (uint32_t t = block * BLOCK; t < end; t++) {
		for (uint32_t place = t * nservers; place < (t + 1) * nservers; place++) {
			uint32_t s = flows->sender[place], d = flows->to[place];
			enum fors_err err;

			if (d == NOBODY || s == d)
				continue;
			err = make_cell(plan, s, d, flows->way[place],
					&plan->schedule->cell[(size_t)s * plan->nphases + t], error);
			if (err)
				return err;
		}
	}
	return FORS_OK;
}

/* ---- the whole ---- */

static void bench_free(struct bench *bench)
{
	fors_colour_space_free(bench->space);
	free(bench->next_in);
	free(bench->left);
	free(bench->right);
	free(bench->place);
}

/* nedges: of the largest graph of steps 3 and 4; the space serves step 2 as well. */
static bool bench_alloc(struct bench *bench, struct plan *plan, uint32_t nedges)
{
	uint32_t lane_edges = plan->lanes.graph.nedges, lane_nodes = plan->lanes.graph.side[0].nnodes;
	uint32_t nnodes = plan->nphases > lane_nodes ? plan->nphases : lane_nodes;

	bench->plan = plan;
	bench->space = fors_colour_space_new(nedges > lane_edges ? nedges : lane_edges, nnodes);
	bench->next_in = calloc((size_t)plan->fabric->nleaves + 1, sizeof(*bench->next_in));
	bench->left = malloc(((size_t)nedges + 1) * sizeof(*bench->left));
	bench->right = malloc(((size_t)nedges + 1) * sizeof(*bench->right));
	bench->place = malloc(((size_t)nedges + 1) * sizeof(*bench->place));
	return bench->space && bench->next_in && bench->left && bench->right && bench->place;
}

static enum fors_err alloc_work(struct plan *plan, struct fors_error *error)
{
	size_t n = (size_t)plan->nphases * plan->fabric->nservers + 1;
	bool good = true;

	plan->flows.to = malloc(n * sizeof(*plan->flows.to));
	plan->flows.sender = malloc(n * sizeof(*plan->flows.sender));
	plan->flows.from = malloc(n * sizeof(*plan->flows.from));
	plan->flows.way = malloc(n * sizeof(*plan->flows.way));
	plan->base = calloc((size_t)plan->fabric->nservers + 1, sizeof(*plan->base));
	for (uint32_t d = 0; plan->base && plan->fabric->nlanes && d < plan->fabric->nservers; d++)
		plan->base[d] = (uint8_t)fors_home_lane(plan->fabric, plan->fabric->server[d].leaf,
							plan->fabric->server[d].slot, 0);
	for (unsigned i = 0; good && i < plan->threads; i++)
		good = bench_alloc(&plan->bench[i], plan, plan->fabric->max_servers * plan->fabric->nservers);
	if (good && plan->flows.to && plan->flows.sender && plan->flows.from && plan->flows.way &&
	    plan->base)
		return FORS_OK;
	return fors_fail_memory(error);
}

static void plan_free(struct plan *plan)
{
	fors_ways_free(plan->ways);
	free(plan->split);
	lane_graph_free(&plan->lanes);
	fors_colour_pieces_free(plan->pieces);
	free(plan->flows.to);
	free(plan->flows.sender);
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
		err = build_lane_graph(plan, error);
	if (!err)
		err = fors_schedule_new(plan->fabric, plan->nphases, 0, 0, "exact", &plan->schedule, error);
	if (!err)
		err = alloc_work(plan, error);
	if (!err)
		err = cut_phases(plan, error);
	if (!err)
		err = run_step(plan, fors_colour_pieces_count(plan->pieces), colour_piece, 0.4, error);
	if (!err)
		err = run_step(plan, nleaves, colour_senders, 0.25, error);
	if (!err)
		err = run_step(plan, nleaves, colour_receivers, 0.25, error);
	if (!err)
		err = run_step(plan, (plan->nphases + BLOCK - 1) / BLOCK, write_block, 0.1, error);
	return err;
}

static enum fors_err plan_exact(const struct fors_task *task, struct fors_schedule **schedule,
				struct fors_error *error)
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
