/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exact.c - the exact planner: any failures, any population, T = the lower bound.
 *
 * Let n_a be the servers of leaf a, P their sum; every server has P flows, one to itself among them (idle, but it takes its
 * turn), so leaf a has n_a n_b flows to leaf b. It has n_a seats up and n_a seats down, on which its lanes sit (split.c).
 * Four steps, each of which always succeeds once the one before it did; the last three are edge colourings
 * (core/colouring/koenig.h), for which no node has more edges than there are colours:
 *
 * 0. Split (split.c). So many of the flows from a to b take each way that no seat has more than T. T >= P. This is the only
 *    step that may need more than LB phases.
 *
 * 1. Phases. Nodes are the seats, down and up, with an edge for each flow. Flows inside a leaf take no lane, and any seats
 *    that have room: the n_a seats of leaf a have room for n_a T >= n_a P flows, and there are as many as n_a P. Colours are
 *    the T phases: a seat, and so a cable, carries one flow in a phase, and a leaf as many as it has servers.
 *
 * 2. Senders, for each leaf a. Nodes are the phases, and n_b for each leaf b with n_a of the flows to it each. Colours are the
 *    n_a servers: each sends once in a phase, and once for each node, so n_b times to b.
 *
 * 3. Receivers, for each leaf b. Nodes are the phases, and all senders with their n_b flows to b each. Colours are the n_b
 *    servers: each receives once in a phase, and once from each sender.
 *
 * A flow then uses a path index of its receiver that takes its way.
 */
#include <stdlib.h>
#include <string.h>

#include "core/colouring/koenig.h"
#include "core/schedule/schedule.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "split.h"

#define BLOCK 16 /* phases that are handed over together: a cache line */

struct plan {
	const struct fors_task *task;
	const struct fors_fabric *fabric;
	struct fors_split split;
	struct fors_koenig phases;  /* of step 1 */
	struct fors_koenig servers; /* of steps 2 and 3, for the leaf in hand */
	uint32_t *room[2];	    /* per seat: flows that it may still have up, down */
	uint32_t *count;	    /* per leaf: flows to it so far */
	uint16_t *leaf_of;	    /* per server, or seat */
	bool has_homes;		    /* every lane has a path index of every server at home, and jobs moved none */
	struct fors_schedule *schedule;
};

/* So much is done; may it go on? */
static enum fors_err go_on(const struct plan *plan, double done, struct fors_error *error)
{
	const struct fors_task *task = plan->task;

	if (task->progress)
		task->progress(task->context, done);
	if (task->cancelled && task->cancelled(task->context))
		return fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
	return FORS_OK;
}

/* ---- step 1 ---- */

static uint16_t tag_of(uint8_t up, uint8_t down)
{
	return (uint16_t)(up << 8 | down);
}

/* The flows from leaf a to leaf b. */
static bool place_pair(struct plan *plan, uint32_t a, uint32_t b)
{
	const uint32_t n = plan->split.nleaves, pair = a * n + b;

	for (uint32_t i = plan->split.begin[pair]; i < plan->split.begin[pair + 1]; i++) {
		const struct fors_split_way *way = &plan->split.way[i];
		const struct fors_koenig_edge edge = {(uint16_t)way->seat[0], tag_of(way->lane[0], way->lane[1])};

		if (!fors_koenig_add(&plan->phases, way->seat[1], edge, way->flows))
			return false;
		plan->room[0][way->seat[0]] -= way->flows;
		plan->room[1][way->seat[1]] -= way->flows;
	}
	return true;
}

/* The flows inside leaf a, to where there is room. */
static bool place_inner(struct plan *plan, uint32_t a)
{
	const struct fors_leaf *leaf = &plan->fabric->leaf[a];
	uint32_t up = leaf->first_server, down = up, end = up + leaf->nservers;
	uint32_t left = (uint32_t)leaf->nservers * leaf->nservers;

	while (left && up < end && down < end) {
		uint32_t *room[2] = {&plan->room[0][up], &plan->room[1][down]};
		uint32_t n = *room[0] < *room[1] ? *room[0] : *room[1];
		const struct fors_koenig_edge edge = {(uint16_t)up, tag_of(FORS_NO_LANE, FORS_NO_LANE)};

		n = n < left ? n : left;
		if (!fors_koenig_add(&plan->phases, down, edge, n))
			return false;
		*room[0] -= n;
		*room[1] -= n;
		left -= n;
		up += !*room[0];
		down += !*room[1];
	}
	return !left;
}

static enum fors_err find_phases(struct plan *plan, struct fors_error *error)
{
	const uint32_t n = plan->split.nleaves;
	enum fors_err err = FORS_OK;
	bool good = true;

	fors_koenig_begin(&plan->phases, plan->fabric->nservers, plan->fabric->nservers, plan->split.nphases);
	for (uint32_t seat = 0; seat < plan->fabric->nservers; seat++)
		plan->room[0][seat] = plan->room[1][seat] = plan->split.nphases;
	for (uint32_t distance = 1; !err && good && distance < n; distance++) {
		err = go_on(plan, 0.4 * distance / n, error);
		for (uint32_t a = 0; !err && good && a < n; a++)
			good = place_pair(plan, a, (a + distance) % n);
	}
	for (uint32_t a = 0; !err && good && a < n; a++)
		good = place_inner(plan, a);
	if (!err && !good)
		err = fors_fail(error, FORS_ENOPLAN, "exact: the flows do not fit their phases");
	return err;
}

/* ---- steps 2 and 3 ---- */

/* Step 2 for the flow that goes up at this seat of leaf a in a phase. */
static bool add_sent(struct plan *plan, uint32_t a, uint32_t seat, uint32_t t)
{
	const struct fors_leaf *leaf = &plan->fabric->leaf[a];
	const uint32_t down = plan->phases.left[(size_t)seat * plan->split.nphases + t];
	uint32_t b;
	struct fors_koenig_edge edge = {.tag = (uint16_t)seat};

	if (down == FORS_KOENIG_NONE)
		return true;
	b = plan->leaf_of[down];
	edge.right = (uint16_t)(plan->fabric->leaf[b].first_server + plan->count[b]++ / leaf->nservers);
	return fors_koenig_add(&plan->servers, t, edge, 1);
}

/* Step 3 for the flow that comes down at this seat of leaf b in a phase. */
static bool add_received(struct plan *plan, uint32_t b, uint32_t seat, uint32_t t)
{
	const struct fors_koenig_edge edge = plan->phases.edge[(size_t)seat * plan->split.nphases + t];

	return edge.right == FORS_KOENIG_NONE || fors_koenig_add(&plan->servers, t, edge, 1);
}

/* Colour the flows of a leaf with its servers. */
static enum fors_err colour_leaf(struct plan *plan, uint32_t a,
				 bool (*add)(struct plan *plan, uint32_t leaf, uint32_t seat, uint32_t t),
				 struct fors_error *error)
{
	const struct fors_leaf *leaf = &plan->fabric->leaf[a];

	memset(plan->count, 0, plan->split.nleaves * sizeof(*plan->count));
	fors_koenig_begin(&plan->servers, plan->split.nphases, plan->fabric->nservers, leaf->nservers);
	for (uint32_t t = 0; t < plan->split.nphases; t++)
		for (uint32_t seat = leaf->first_server; seat < leaf->first_server + leaf->nservers; seat++)
			if (!add(plan, a, seat, t))
				return fors_fail(error, FORS_ENOPLAN, "exact: the flows of %s do not fit its servers",
						 leaf->name);
	return FORS_OK;
}

static enum fors_err find_senders(struct plan *plan, uint32_t a, struct fors_error *error)
{
	const struct fors_leaf *leaf = &plan->fabric->leaf[a];
	const struct fors_koenig_edge *edge = plan->servers.edge;
	enum fors_err err = colour_leaf(plan, a, add_sent, error);

	for (uint32_t t = 0; !err && t < plan->split.nphases; t++)
		for (uint32_t i = 0; i < leaf->nservers; i++, edge++)
			if (edge->right != FORS_KOENIG_NONE)
				plan->phases.left[(size_t)edge->tag * plan->split.nphases + t] =
					(uint16_t)(leaf->first_server + i);
	return err;
}

/* The senders of a few phases from the seats where their flows go up to those where they come down. */
static void hand_over(struct plan *plan, uint32_t first, uint32_t end)
{
	const size_t nphases = plan->split.nphases;

	for (uint32_t seat = 0; seat < plan->fabric->nservers; seat++) {
		struct fors_koenig_edge *edge = plan->phases.edge + seat * nphases;

		for (uint32_t t = first; t < end; t++)
			if (edge[t].right != FORS_KOENIG_NONE)
				edge[t].right = plan->phases.left[edge[t].right * nphases + t];
	}
}

/* ---- the schedule ---- */

/*
 * The path index of server d that takes what comes from a leaf over the lanes of a tag. With an index for each lane it is the
 * one at home there, where the lane lives at both ends.
 */
static uint8_t index_of(const struct plan *plan, uint32_t leaf, uint32_t d, uint16_t tag)
{
	const struct fors_fabric *fabric = plan->fabric;
	const struct fors_server *server = &fabric->server[d];
	const uint32_t up = tag >> 8, down = tag & 0xFF;

	if (up == down && plan->has_homes)
		return (uint8_t)fors_home_index(fabric->nlanes, fors_home_lane(fabric, server->leaf, server->slot, 0),
						up);
	return fors_path_index(fabric, plan->task->lanes, leaf, d, up, down);
}

/* The cell of a flow from server s to server d. */
static enum fors_err write_cell(struct plan *plan, uint32_t s, uint32_t d, uint32_t t, uint16_t tag,
				struct fors_error *error)
{
	struct fors_cell *cell = &plan->schedule->cell[(size_t)s * plan->split.nphases + t];
	const uint32_t leaf = plan->fabric->server[s].leaf;

	if (s == d)
		return FORS_OK;
	*cell = (struct fors_cell){.dst = (uint16_t)d, .lane = (uint8_t)(tag >> 8)};
	if (cell->lane != FORS_NO_LANE)
		cell->path = index_of(plan, leaf, d, tag);
	if (cell->path != FORS_NO_INDEX)
		return FORS_OK;
	return fors_fail(error, FORS_ENOPLAN, "the tables have no path index from %s to LID %u over lane %u",
			 plan->fabric->leaf[leaf].name, plan->fabric->server[d].lid, cell->lane);
}

static enum fors_err find_receivers(struct plan *plan, uint32_t b, struct fors_error *error)
{
	const struct fors_leaf *leaf = &plan->fabric->leaf[b];
	const struct fors_koenig_edge *edge = plan->servers.edge;
	enum fors_err err = colour_leaf(plan, b, add_received, error);

	for (uint32_t t = 0; !err && t < plan->split.nphases; t++)
		for (uint32_t i = 0; !err && i < leaf->nservers; i++, edge++)
			if (edge->right != FORS_KOENIG_NONE)
				err = write_cell(plan, edge->right, leaf->first_server + i, t, edge->tag, error);
	return err;
}

static enum fors_err find_servers(struct plan *plan, struct fors_error *error)
{
	const uint32_t n = plan->split.nleaves, nphases = plan->split.nphases;
	enum fors_err err = FORS_OK;

	for (uint32_t a = 0; !err && a < n; a++) {
		err = go_on(plan, 0.4 + 0.3 * a / n, error);
		err = err ? err : find_senders(plan, a, error);
	}
	for (uint32_t t = 0; t < nphases; t += BLOCK)
		hand_over(plan, t, t + BLOCK < nphases ? t + BLOCK : nphases);
	for (uint32_t b = 0; !err && b < n; b++) {
		err = go_on(plan, 0.7 + 0.3 * b / n, error);
		err = err ? err : find_receivers(plan, b, error);
	}
	return err;
}

/* ---- the whole ---- */

static enum fors_err allocate(struct plan *plan, struct fors_error *error)
{
	const uint32_t n = plan->fabric->nservers, nphases = plan->split.nphases;
	enum fors_err err = fors_schedule_new(plan->fabric, nphases, 0, 0, "exact", &plan->schedule, error);

	plan->room[0] = calloc((size_t)n + 1, sizeof(*plan->room[0]));
	plan->room[1] = calloc((size_t)n + 1, sizeof(*plan->room[1]));
	plan->leaf_of = calloc((size_t)n + 1, sizeof(*plan->leaf_of));
	for (uint32_t i = 0; plan->leaf_of && i < n; i++)
		plan->leaf_of[i] = plan->fabric->server[i].leaf;
	plan->count = calloc((size_t)plan->split.nleaves + 1, sizeof(*plan->count));
	if (!err && !(plan->room[0] && plan->room[1] && plan->count && plan->leaf_of &&
		      fors_koenig_alloc(&plan->phases, n, n, nphases) &&
		      fors_koenig_alloc(&plan->servers, nphases, n, plan->fabric->max_servers)))
		err = fors_fail_memory(error);
	return err;
}

static void release(struct plan *plan)
{
	fors_split_free(&plan->split);
	fors_koenig_free(&plan->phases);
	fors_koenig_free(&plan->servers);
	free(plan->room[0]);
	free(plan->room[1]);
	free(plan->count);
	free(plan->leaf_of);
	fors_schedule_free(plan->schedule);
}

static enum fors_err plan_exact(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	const struct fors_fabric *fabric = task->fabric;
	struct plan plan = {.task = task,
			    .fabric = fabric,
			    .has_homes = !task->has_moved && fors_home_has_all(fabric->nlanes, fabric->lmc)};
	const uint32_t bound = task->known_bound > fabric->nservers ? task->known_bound : fabric->nservers;
	enum fors_err err = fors_ways_list(task, &plan.split, error);

	if (!err)
		err = fors_split_find(task, bound, &plan.split, error);
	if (!err)
		err = allocate(&plan, error);
	if (!err)
		err = find_phases(&plan, error);
	if (!err)
		err = find_servers(&plan, error);
	if (!err) {
		*schedule = plan.schedule;
		plan.schedule = NULL;
	}
	release(&plan);
	return err;
}

const struct fors_method fors_method_exact = {
	.name = "exact",
	.plan = plan_exact,
};
