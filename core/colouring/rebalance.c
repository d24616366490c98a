/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rebalance.c - mending an uneven split of a bipartite multigraph.
 *
 * Taking the share part/whole of every edge, in fractions, respects all caps of both
 * parts. Nodes and groups of one side are nested sets, so the sets of both sides make
 * a flow network, and its whole-number flows between the same bounds exist too: a node
 * or group with D edges and cap c must take at most c part of them, and at least
 * D - c (whole - part). The start is near: most sets are within their bounds, the others out by an edge or two.
 *
 * A set that takes too much gives back an edge, one that takes too little takes one
 * more. That may put the node at the edge's other end out of its bounds, which
 * then does the same: a walk through the graph that ends where a set has room or was
 * out of bounds the other way. The edge is chosen at random (from a fixed seed) among
 * those of the set, but one that ends the walk at once is preferred. Goel, Kapralov and Khanna (2010)
 * showed that such a walk finds a perfect matching of a regular bipartite graph with n
 * nodes in O(n log n) steps; here sets with room end it sooner.
 */
#include "rebalance.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define LOOK 16 /* edges looked at for one that ends the walk */

/* What sets of one kind (the nodes or the groups of one side) take, and may take. */
struct sets {
	uint32_t *start; /* set i has the edges order[start[i]] .. order[start[i + 1] - 1] of its side */
	int32_t *take, *low, *high;
};

struct end {
	const uint32_t *order; /* the edges by node; NULL: edge i is the i-th */
	const uint16_t *group; /* NULL: no groups */
	uint32_t nnodes, ngroups;
	struct sets node, groups;
};

struct fors_rebalance_space {
	struct end end[2];
	uint32_t *queue; /* ring of defects: node * 2 + side */
	uint8_t *queued; /* per node * 2 + side */
	uint32_t head, count, ring;
	/* the job in hand, borrowed */
	const struct fors_edges *edges;
	const uint16_t *mult;
	uint16_t *take;
	struct fors_xorshift random;
};

static bool sets_alloc(struct sets *sets, uint32_t n)
{
	sets->start = calloc((size_t)n + 2, sizeof(*sets->start));
	sets->take = calloc((size_t)n + 1, sizeof(*sets->take));
	sets->low = calloc((size_t)n + 1, sizeof(*sets->low));
	sets->high = calloc((size_t)n + 1, sizeof(*sets->high));
	return sets->start && sets->take && sets->low && sets->high;
}

static void sets_free(struct sets *sets)
{
	free(sets->start);
	free(sets->take);
	free(sets->low);
	free(sets->high);
}

struct fors_rebalance_space *fors_rebalance_space_new(uint32_t nnodes)
{
	struct fors_rebalance_space *space = calloc(1, sizeof(*space));
	bool good = space != NULL;

	for (int s = 0; good && s < 2; s++)
		good = sets_alloc(&space->end[s].node, nnodes) && sets_alloc(&space->end[s].groups, nnodes);
	if (good) {
		space->ring = 2 * nnodes + 2;
		space->queue = calloc(space->ring, sizeof(*space->queue));
		space->queued = calloc(space->ring, 1);
	}
	if (good && space->queue && space->queued)
		return space;
	fors_rebalance_space_free(space);
	return NULL;
}

void fors_rebalance_space_free(struct fors_rebalance_space *space)
{
	if (!space)
		return;
	for (int s = 0; s < 2; s++) {
		sets_free(&space->end[s].node);
		sets_free(&space->end[s].groups);
	}
	free(space->queue);
	free(space->queued);
	free(space);
}

static inline uint32_t node_of(const struct fors_rebalance_space *space, uint32_t e, int s)
{
	return s == 0 ? space->edges->left[e] : space->edges->right_of[e];
}

static inline uint32_t edge_at(const struct end *end, uint32_t i)
{
	return end->order ? end->order[i] : i;
}

/* The bounds of a set: low starts as its number of edges. */
static void bound(struct sets *sets, uint32_t i, uint32_t cap, uint32_t whole, uint32_t part)
{
	int64_t edges = sets->low[i], least = edges - (int64_t)cap * (whole - part), most = (int64_t)cap * part;

	sets->high[i] = (int32_t)(most < edges ? most : edges);
	sets->low[i] = (int32_t)(least > 0 ? least : 0);
}

/* Where the edges of each node begin, how many copies it has (in low) and takes. node: of the i-th edge. */
static void count_nodes(struct fors_rebalance_space *space, struct end *end, const uint16_t *node)
{
	uint32_t n = space->edges->n, i = 0;

	for (uint32_t at = 0; at < end->nnodes; at++) {
		int32_t take = 0, copies = 0;

		end->node.start[at] = i;
		for (; i < n && node[i] == at; i++) {
			uint32_t e = edge_at(end, i);

			take += space->take[e];
			copies += space->mult[e];
		}
		end->node.take[at] = take;
		end->node.low[at] = copies;
	}
	end->node.start[end->nnodes] = n;
}

static void count_groups(struct end *end)
{
	uint32_t group = 0;

	memset(end->groups.take, 0, end->ngroups * sizeof(*end->groups.take));
	memset(end->groups.low, 0, end->ngroups * sizeof(*end->groups.low));
	for (uint32_t i = 0; i < end->nnodes; i++) {
		while (group <= end->group[i])
			end->groups.start[group++] = end->node.start[i];
		end->groups.take[end->group[i]] += end->node.take[i];
		end->groups.low[end->group[i]] += end->node.low[i];
	}
	while (group <= end->ngroups)
		end->groups.start[group++] = end->node.start[end->nnodes];
}

static void prepare_end(struct fors_rebalance_space *space, int s, const struct fors_colour_side *side, uint32_t whole,
			uint32_t part)
{
	struct end *end = &space->end[s];

	end->order = s == 0 ? NULL : space->edges->by_right;
	end->nnodes = side->nnodes;
	end->ngroups = side->ngroups;
	end->group = side->ngroups ? side->group : NULL;
	count_nodes(space, end, s == 0 ? space->edges->left : space->edges->right);
	if (end->group)
		count_groups(end);
	for (uint32_t i = 0; i < end->nnodes; i++)
		bound(&end->node, i, side->cap ? side->cap[i] : 1, whole, part);
	for (uint32_t i = 0; i < end->ngroups; i++)
		bound(&end->groups, i, side->group_cap[i], whole, part);
}

static inline bool fits(const struct sets *sets, uint32_t i)
{
	return sets->take[i] >= sets->low[i] && sets->take[i] <= sets->high[i];
}

static inline bool rests(const struct end *end, uint32_t node)
{
	return fits(&end->node, node) && (!end->group || fits(&end->groups, end->group[node]));
}

/* Does the set stay within the bound that it moves towards when it takes `delta` (1 or -1) more? */
static inline bool has_room(const struct sets *sets, uint32_t i, int delta)
{
	return delta > 0 ? sets->take[i] < sets->high[i] : sets->take[i] > sets->low[i];
}

/* Would a change of `delta` at this end make no new defect? */
static inline bool welcome(const struct end *end, uint32_t node, int delta)
{
	return has_room(&end->node, node, delta) && (!end->group || has_room(&end->groups, end->group[node], delta));
}

static void push(struct fors_rebalance_space *space, uint32_t node, int s)
{
	uint32_t at = node * 2 + (uint32_t)s;

	if (space->queued[at] || rests(&space->end[s], node))
		return;
	space->queued[at] = 1;
	space->queue[(space->head + space->count++) % space->ring] = at;
}

/*
 * An edge among places i0..i1-1 of side s that can change by delta; `guard`: only one whose
 * node on this side has room for it. One whose change makes no new defect at its other end comes first.
 */
static uint32_t pick(struct fors_rebalance_space *space, int s, uint32_t i0, uint32_t i1, int delta, bool guard)
{
	const struct end *end = &space->end[s], *other = &space->end[!s];
	uint32_t found = FORS_NO_EDGE, seen = 0, i = i0 + fors_xorshift_below(&space->random, i1 - i0);

	for (uint32_t left = i1 - i0; left > 0 && seen < LOOK; left--, i = i + 1 < i1 ? i + 1 : i0) {
		uint32_t e = edge_at(end, i);

		if (delta > 0 ? space->take[e] >= space->mult[e] : space->take[e] == 0)
			continue;
		if (guard && !has_room(&end->node, node_of(space, e, s), delta))
			continue;
		if (welcome(other, node_of(space, e, !s), delta))
			return e;
		if (seen++ == 0)
			found = e;
	}
	return found;
}

static void change(struct fors_rebalance_space *space, uint32_t e, int delta)
{
	space->take[e] = (uint16_t)(space->take[e] + delta);
	for (int s = 0; s < 2; s++) {
		struct end *end = &space->end[s];
		uint32_t node = node_of(space, e, s);

		end->node.take[node] += delta;
		if (end->group)
			end->groups.take[end->group[node]] += delta;
	}
	push(space, node_of(space, e, 0), 0);
	push(space, node_of(space, e, 1), 1);
}

/* One step for set i of side s; false: no edge can change, so the caps cannot be met. */
static bool step(struct fors_rebalance_space *space, int s, const struct sets *sets, uint32_t i, bool guard)
{
	int delta = sets->take[i] > sets->high[i] ? -1 : 1;
	uint32_t e;

	if (sets->start[i] == sets->start[i + 1])
		return false;
	e = pick(space, s, sets->start[i], sets->start[i + 1], delta, guard);
	if (e == FORS_NO_EDGE)
		return false;
	change(space, e, delta);
	return true;
}

static bool balance_node(struct fors_rebalance_space *space, int s, uint32_t node)
{
	const struct end *end = &space->end[s];
	bool good = true;

	if (!fits(&end->node, node))
		good = step(space, s, &end->node, node, false);
	else if (end->group && !fits(&end->groups, end->group[node]))
		good = step(space, s, &end->groups, end->group[node], true);
	push(space, node, s);
	return good;
}

enum fors_err fors_rebalance(struct fors_rebalance_space *space, const struct fors_edges *edges, const uint16_t *mult,
			     const struct fors_colour_side side[2], uint32_t whole, uint32_t part, uint16_t *take,
			     struct fors_error *error)
{
	uint64_t budget = 100000 + 1000 * (uint64_t)edges->n; /* far beyond what a walk needs */

	space->edges = edges;
	space->mult = mult;
	space->take = take;
	space->random.state = 0x9E3779B97F4A7C15u;
	space->head = space->count = 0;
	for (int s = 0; s < 2; s++)
		prepare_end(space, s, &side[s], whole, part);
	memset(space->queued, 0, space->ring);
	for (int s = 0; s < 2; s++)
		for (uint32_t node = 0; node < side[s].nnodes; node++)
			push(space, node, s);
	for (; space->count; budget--) {
		uint32_t at = space->queue[space->head];

		space->head = (space->head + 1) % space->ring;
		space->count--;
		space->queued[at] = 0;
		if (!budget || !balance_node(space, at & 1, at >> 1))
			return fors_fail(error, FORS_ENOPLAN, "a split of %u colours into %u and %u found no end",
					 whole, part, whole - part);
	}
	return FORS_OK;
}
