/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lanes.c - the graph of step 2 of the exact planner.
 *
 * Nodes: (leaf, lane) for all lanes, and more per leaf as needed; the same set at the left, for what goes
 * up, and at the right, for what comes down. An edge with n copies for the n flows of a pair of leaves over a way.
 *
 * The n_a^2 flows inside leaf a take no lane, but the turn of a sender and of a receiver, and the leaf has only n_a
 * of either in a phase. There are two ways to see to that.
 *
 * - Live uplinks <= n_a. Take n_a nodes: all living lanes and, for the rest, dead ones or nodes that no lane stands
 *   behind. At either side they have room for n_a T edges, and the leaf has n_a P <= n_a T with those inside, so these
 *   can fill up the nodes, from the first to the last, at both sides in step. Then every edge of the leaf is at one of
 *   n_a nodes, and a colour has at most one edge at each.
 * - Live uplinks > n_a. The flows inside get as few nodes of their own as hold them with T each. The leaf is a group of
 *   cap n_a, and the colouring sees to it.
 */
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* What is known of one leaf, and a walk over its nodes while its inner flows are given out. */
struct corner {
	uint32_t base; /* its first node */
	uint32_t nnodes;
	uint32_t nlive;
	bool is_grouped;    /* more live uplinks than servers */
	uint32_t left;	    /* inner flows not given out yet */
	uint32_t down;	    /* node, from 0, where the next one comes down */
	uint32_t down_room; /* of that node; 0: look for the next one */
};

struct builder {
	const struct fors_fabric *fabric;
	const struct fors_ways *ways;
	const uint16_t *split;
	uint32_t nphases;
	struct fors_lane_graph *lanes;
	struct corner *corner; /* per leaf */
	uint32_t *load[2];     /* nleaves x nlanes: flows up, down */
};

void fors_lane_graph_free(struct fors_lane_graph *lanes)
{
	free(lanes->left);
	free(lanes->right);
	free(lanes->mult);
	free(lanes->way);
	free(lanes->leaf_of);
	free(lanes->servers);
	memset(lanes, 0, sizeof(*lanes));
}

static bool lane_graph_alloc(struct fors_lane_graph *lanes, size_t nedges, size_t nnodes, size_t nleaves)
{
	memset(lanes, 0, sizeof(*lanes));
	lanes->left = calloc(nedges + 1, sizeof(*lanes->left));
	lanes->right = calloc(nedges + 1, sizeof(*lanes->right));
	lanes->mult = calloc(nedges + 1, sizeof(*lanes->mult));
	lanes->way = calloc(nedges + 1, sizeof(*lanes->way));
	lanes->leaf_of = calloc(nnodes + 1, sizeof(*lanes->leaf_of));
	lanes->servers = calloc(nleaves + 1, sizeof(*lanes->servers));
	if (lanes->left && lanes->right && lanes->mult && lanes->way && lanes->leaf_of && lanes->servers)
		return true;
	fors_lane_graph_free(lanes);
	return false;
}

/* ---- leaves ---- */

/* How many nodes leaf a has, and whether it is grouped. */
static void survey(const struct builder *builder, uint32_t a, struct corner *corner)
{
	const struct fors_fabric *fabric = builder->fabric;
	uint32_t n = fabric->leaf[a].nservers, nlanes = fabric->nlanes, more;

	corner->nlive = 0;
	for (uint32_t lane = 0; lane < nlanes; lane++)
		corner->nlive += fors_live(fabric, a, lane);
	corner->is_grouped = corner->nlive > n;
	if (corner->is_grouped)
		more = (n * n + builder->nphases - 1) / builder->nphases;
	else
		more = n > nlanes ? n - nlanes : 0;
	corner->nnodes = nlanes + more;
	corner->left = n * n;
}

static void add_loads(struct builder *builder)
{
	const struct fors_ways *ways = builder->ways;

	for (uint32_t a = 0; a < ways->nleaves; a++) {
		for (uint32_t b = 0; b < ways->nleaves; b++) {
			for (uint32_t k = 0; k < ways->nlanes; k++) {
				size_t way = fors_way(ways, a, b, k);

				if (!builder->split[way])
					continue;
				builder->load[0][a * ways->nlanes + ways->up[way]] += builder->split[way];
				builder->load[1][b * ways->nlanes + ways->down[way]] += builder->split[way];
			}
		}
	}
}

/* How many inner flows node i of leaf a can have on side s. spare: dead lanes that may still be used, counted down. */
static uint32_t room_at(const struct builder *builder, uint32_t a, uint32_t i, int s)
{
	const struct corner *corner = &builder->corner[a];
	uint32_t nlanes = builder->fabric->nlanes, n = builder->fabric->leaf[a].nservers, dead = 0;

	if (i >= nlanes)
		return builder->nphases;
	if (corner->is_grouped)
		return 0;
	if (fors_live(builder->fabric, a, i))
		return builder->nphases - builder->load[s][a * nlanes + i];
	for (uint32_t lane = 0; lane < i; lane++)
		dead += !fors_live(builder->fabric, a, lane);
	return dead < n - corner->nlive ? builder->nphases : 0;
}

/* ---- edges ---- */

static void add_edge(struct fors_lane_graph *lanes, uint32_t left, uint32_t right, uint32_t mult, uint8_t way)
{
	uint32_t e = lanes->graph.nedges++;

	lanes->left[e] = (uint16_t)left;
	lanes->right[e] = (uint16_t)right;
	lanes->mult[e] = (uint16_t)mult;
	lanes->way[e] = way;
}

/* The edges from leaf a over lane `up` to leaf b. */
static void add_lane_edges(struct builder *builder, uint32_t a, uint32_t up, uint32_t b)
{
	const struct fors_ways *ways = builder->ways;
	uint32_t k = ways->is_straight ? up : 0, end = ways->is_straight ? up + 1 : ways->nlanes;

	for (; k < end; k++) {
		size_t way = fors_way(ways, a, b, k);

		if (ways->up[way] == up && builder->split[way])
			add_edge(builder->lanes, builder->corner[a].base + up,
				 builder->corner[b].base + ways->down[way], builder->split[way], (uint8_t)k);
	}
}

/* The edges of flows inside leaf a that go up at its node i: as many as there is room for. */
static void add_inner_edges(struct builder *builder, uint32_t a, uint32_t i)
{
	struct corner *corner = &builder->corner[a];
	uint32_t room = room_at(builder, a, i, 0);

	while (room > 0 && corner->left > 0) {
		uint32_t n = room < corner->left ? room : corner->left;

		while (corner->down_room == 0)
			corner->down_room = room_at(builder, a, ++corner->down - 1, 1);
		n = n < corner->down_room ? n : corner->down_room;
		add_edge(builder->lanes, corner->base + i, corner->base + corner->down - 1, n, FORS_NO_LANE);
		room -= n;
		corner->left -= n;
		corner->down_room -= n;
	}
}

static void add_edges(struct builder *builder)
{
	const struct fors_fabric *fabric = builder->fabric;

	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		for (uint32_t i = 0; i < builder->corner[a].nnodes; i++) {
			for (uint32_t b = 0; i < fabric->nlanes && b < fabric->nleaves; b++)
				if (a != b)
					add_lane_edges(builder, a, i, b);
			add_inner_edges(builder, a, i);
		}
	}
}

/* At most this many. */
static size_t count_edges(const struct builder *builder, size_t nnodes)
{
	size_t nways = fors_way(builder->ways, builder->ways->nleaves, 0, 0), n = 2 * nnodes;

	for (size_t way = 0; way < nways; way++)
		n += builder->split[way] > 0;
	return n;
}

static void describe_sides(struct builder *builder, size_t nnodes)
{
	struct fors_lane_graph *lanes = builder->lanes;
	struct fors_colour_side side = {.nnodes = (uint32_t)nnodes};
	bool is_grouped = false;

	for (uint32_t a = 0; a < builder->fabric->nleaves; a++) {
		const struct corner *corner = &builder->corner[a];

		is_grouped |= corner->is_grouped;
		lanes->servers[a] = builder->fabric->leaf[a].nservers;
		for (uint32_t i = 0; i < corner->nnodes; i++)
			lanes->leaf_of[corner->base + i] = (uint16_t)a;
	}
	if (is_grouped) {
		side.ngroups = builder->fabric->nleaves;
		side.group = lanes->leaf_of;
		side.group_cap = lanes->servers;
	}
	lanes->graph = (struct fors_multigraph){
		.left = lanes->left, .right = lanes->right, .mult = lanes->mult, .side = {side, side}};
}

static enum fors_err build(struct builder *builder, struct fors_error *error)
{
	size_t nnodes = 0;

	for (uint32_t a = 0; a < builder->fabric->nleaves; a++) {
		survey(builder, a, &builder->corner[a]);
		builder->corner[a].base = (uint32_t)nnodes;
		nnodes += builder->corner[a].nnodes;
	}
	if (nnodes > UINT16_MAX)
		return fors_fail(error, FORS_ELIMIT, "%zu ends of lanes are more than %u", nnodes, UINT16_MAX);
	add_loads(builder);
	if (!lane_graph_alloc(builder->lanes, count_edges(builder, nnodes), nnodes, builder->fabric->nleaves))
		return fors_fail_memory(error);
	describe_sides(builder, nnodes);
	add_edges(builder);
	return FORS_OK;
}

enum fors_err fors_lane_graph_build(const struct fors_fabric *fabric, const struct fors_ways *ways,
				    const uint16_t *split, uint32_t nphases, struct fors_lane_graph *lanes,
				    struct fors_error *error)
{
	size_t nends = (size_t)fabric->nleaves * fabric->nlanes + 1;
	struct builder builder = {.fabric = fabric, .ways = ways, .split = split, .nphases = nphases, .lanes = lanes};
	enum fors_err err;

	builder.corner = calloc((size_t)fabric->nleaves + 1, sizeof(*builder.corner));
	builder.load[0] = calloc(nends, sizeof(*builder.load[0]));
	builder.load[1] = calloc(nends, sizeof(*builder.load[1]));
	if (builder.corner && builder.load[0] && builder.load[1])
		err = build(&builder, error);
	else
		err = fors_fail_memory(error);
	free(builder.corner);
	free(builder.load[0]);
	free(builder.load[1]);
	return err;
}
