/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * servers.c - steps 3 and 4 of the exact planner: which server sends a flow, and which one receives it.
 *
 * Both are the same question. Rows are phases, the places of a row the flows that a leaf sends (or receives) in that
 * phase, and colours its n servers. Step 3: cut the n n_b flows to leaf b into n_b nodes of n flows, as they come; a
 * server that has one flow of each node has n_b flows to b. Step 4: a node is a sender, which has n_b flows to leaf b.
 * So every node has n places, no row has more, and core/colouring/rowwise.c finds the colours. It works on bits of a
 * word; leaves of more servers than that go to the general colouring.
 *
 * Leaves are taken a few at a time, since rowwise.c waits for the memory of all of them together. What belongs to one
 * leaf is copied together for that, and its colours are copied back. Between the steps the phases are gone through: a
 * sender moves from the flow's out place to its in place, and both are in the same phase, so this stays in a few
 * kilobytes.
 */
#include <string.h>

#include "work.h"

/* ---- leaves, a few at a time ---- */

/* Write the nodes of a leaf's places, row after row. */
typedef void (*list_nodes)(const struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t leaf,
			   const struct fors_exact_seat *seat);

/* The nodes of a leaf's places in a phase. */
static inline uint16_t *nodes_at(const struct fors_exact_seat *seat, uint32_t width, uint32_t phase)
{
	return seat->rows ? fors_rowwise_nodes(seat->rows, phase) : seat->node + (size_t)phase * width;
}

/* So many groups that they are of few leaves, and each thread has as many of them. */
static uint32_t count_groups(const struct fors_exact *plan)
{
	uint32_t n = plan->threads * FORS_ROWWISE_AT_ONCE;

	return (plan->fabric->nleaves + n - 1) / n * plan->threads;
}

/* The first leaf of a group. */
static uint32_t first_of(const struct fors_exact *plan, uint32_t group)
{
	return group * plan->fabric->nleaves / count_groups(plan);
}

/* The leaves of a group that have servers, each with a seat. */
struct group {
	uint32_t count, turn;
	uint32_t leaf[FORS_ROWWISE_AT_ONCE];
};

/* Leaves of many servers. */
static enum fors_err colour_large(struct fors_exact *plan, struct fors_exact_bench *bench, const struct group *group,
				  struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; !err && i < group->count; i++) {
		const struct fors_rowwise rows = {.nrows = plan->nphases,
						  .width = plan->fabric->leaf[group->leaf[i]].nservers,
						  .nnodes = plan->fabric->nservers,
						  .node = bench->seat[i].node};

		err = fors_rowwise_large(bench->space, &bench->edges, &rows, bench->seat[i].colour, error);
	}
	return err;
}

static enum fors_err colour_leaves(struct fors_exact *plan, struct fors_exact_bench *bench, const struct group *group,
				   struct fors_error *error)
{
	struct fors_rowwise_job job[FORS_ROWWISE_AT_ONCE] = {{0}};
	uint32_t n;

	if (!bench->seat[0].rows)
		return colour_large(plan, bench, group, error);
	for (uint32_t i = 0; i < group->count; i++)
		job[i] = (struct fors_rowwise_job){.space = bench->seat[i].rows,
						   .nrows = plan->nphases,
						   .width = plan->fabric->leaf[group->leaf[i]].nservers,
						   .nnodes = plan->fabric->nservers,
						   .turn = group->turn};
	n = fors_rowwise_all(job, group->count);
	if (n == group->count)
		return FORS_OK;
	return fors_fail(error, FORS_ENOPLAN, "the flows of %s do not fit its servers",
			 plan->fabric->leaf[group->leaf[n]].name);
}

/* The colours of a leaf's places to where the phases have them. */
static void keep_colours(const struct fors_exact *plan, uint32_t leaf, const struct fors_exact_seat *seat)
{
	const uint32_t n = plan->fabric->leaf[leaf].nservers;

	for (uint32_t t = 0; t < plan->nphases; t++)
		memcpy(plan->flows.colour + fors_place(plan, leaf, t),
		       seat->rows ? fors_rowwise_colours(seat->rows, t) : seat->colour + (size_t)t * n, n);
}

/* Colour the places of a group's leaves with their servers. */
static enum fors_err colour_group(struct fors_exact *plan, uint32_t worker, uint32_t number, list_nodes list,
				  uint32_t turn, struct fors_error *error)
{
	struct fors_exact_bench *bench = &plan->bench[worker];
	struct group group = {.turn = turn};
	enum fors_err err;

	for (uint32_t a = first_of(plan, number); a < first_of(plan, number + 1); a++) {
		if (fors_exact_is_cancelled(plan, worker))
			return fors_exact_cancelled(error);
		fors_exact_tell(plan, worker, a, plan->fabric->nleaves);
		if (!plan->fabric->leaf[a].nservers)
			continue;
		list(plan, bench, a, &bench->seat[group.count]);
		group.leaf[group.count++] = a;
	}
	err = colour_leaves(plan, bench, &group, error);
	for (uint32_t i = 0; !err && i < group.count; i++)
		keep_colours(plan, group.leaf[i], &bench->seat[i]);
	return err;
}

/* ---- step 3 ---- */

#define SHARE_BITS 40 /* of a fraction: numbers of flows, at most 65,534 times 254, are divided without an error */

/* A node for each n_a flows to a leaf, numbered as its servers are: each server sends one of them. */
static void list_targets(const struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t a,
			 const struct fors_exact_seat *seat)
{
	const uint32_t n = plan->fabric->leaf[a].nservers;
	const uint64_t share = ((UINT64_C(1) << SHARE_BITS) + n - 1) / n;
	const uint16_t *leaf_of = plan->leaf_of;
	uint32_t *sent = bench->out;

	for (uint32_t b = 0; b < plan->fabric->nleaves; b++)
		sent[b] = plan->first[b] * n;
	for (uint32_t t = 0; t < plan->nphases; t++) {
		const uint16_t *in = plan->flows.peer + fors_place(plan, a, t);
		const uint32_t end = fors_exact_end(in, 0, n);
		uint16_t *node = nodes_at(seat, n, t);

		for (uint32_t i = 0; i < end; i++)
			node[i] = (uint16_t)(sent[leaf_of[in[i]]]++ * share >> SHARE_BITS);
		for (uint32_t i = end; i < n; i++)
			node[i] = FORS_NOBODY;
	}
}

static enum fors_err colour_senders(void *plan, uint32_t worker, uint32_t group, struct fors_error *error)
{
	return colour_group(plan, worker, group, list_targets, 1, error);
}

/* Senders to where the receiving leaves look for them. Where nothing is sent, that is NOBODY, behind all places. */
static void hand_over(const struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t phase)
{
	const uint32_t nservers = plan->fabric->nservers;
	uint16_t *peer = plan->flows.peer + fors_place(plan, 0, phase), *from = bench->from;
	const uint8_t *colour = plan->flows.colour + fors_place(plan, 0, phase);

	memset(from, 0xFF, nservers * sizeof(*from));
	for (uint32_t a = 0; a < plan->fabric->nleaves; a++) {
		const uint32_t first = plan->first[a], end = plan->first[a + 1];

		for (uint32_t out = first; out < end; out++)
			from[peer[out]] = (uint16_t)(first + colour[out]);
	}
	memcpy(peer, from, nservers * sizeof(*from));
}

static enum fors_err hand_over_block(void *context, uint32_t worker, uint32_t block, struct fors_error *error)
{
	struct fors_exact *plan = context;
	uint32_t end = (block + 1) * FORS_EXACT_BLOCK;

	if (fors_exact_is_cancelled(plan, worker))
		return fors_exact_cancelled(error);
	end = end < plan->nphases ? end : plan->nphases;
	for (uint32_t phase = block * FORS_EXACT_BLOCK; phase < end; phase++)
		hand_over(plan, &plan->bench[worker], phase);
	return FORS_OK;
}

enum fors_err fors_exact_senders(struct fors_exact *plan, double share, struct fors_error *error)
{
	enum fors_err err = fors_exact_run(plan, count_groups(plan), colour_senders, share, error);

	return err ? err : fors_exact_run(plan, fors_exact_blocks(plan), hand_over_block, 0, error);
}

/* ---- step 4 ---- */

static void list_senders(const struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t b,
			 const struct fors_exact_seat *seat)
{
	const uint32_t n = plan->fabric->leaf[b].nservers;

	for (uint32_t t = 0; t < plan->nphases; t++)
		memcpy(nodes_at(seat, n, t), plan->flows.peer + fors_place(plan, b, t), n * sizeof(*seat->node));
}

static enum fors_err colour_receivers(void *plan, uint32_t worker, uint32_t group, struct fors_error *error)
{
	return colour_group(plan, worker, group, list_senders, 0, error);
}

enum fors_err fors_exact_receivers(struct fors_exact *plan, double share, struct fors_error *error)
{
	return fors_exact_run(plan, count_groups(plan), colour_receivers, share, error);
}
