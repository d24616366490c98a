/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * servers.c - steps 3 and 4 of the exact planner: which server sends a flow, and which one receives it.
 *
 * Both are the same question. Rows are phases, the places of a row the flows that a leaf sends (or receives) in that
 * phase, and colours its n servers. Step 3: cut the n n_b flows to leaf b into n_b nodes of n flows, as they come; a
 * server that has one flow of each node has n_b flows to b. Step 4: a node is a sender, which has n_b flows to leaf b.
 * So every node has n places, no row has more, and core/colouring/rowwise.c finds the colours. It works on bits of a
 * word; leaves of more servers than that go to the general colouring.
 */
#include <string.h>

#include "work.h"

/* Colour the places of a leaf, whose nodes these are, with its servers. */
static enum fors_err colour_places(struct fors_exact *plan, uint32_t worker, uint32_t leaf, const uint16_t *node,
				   uint32_t turn, struct fors_error *error)
{
	struct fors_exact_bench *bench = &plan->bench[worker];
	const struct fors_rowwise rows = {
		.nrows = plan->nphases,
		.width = plan->fabric->leaf[leaf].nservers,
		.nnodes = plan->fabric->nservers,
		.node = node,
		.turn = turn,
	};

	if (fors_exact_is_cancelled(plan, worker))
		return fors_exact_cancelled(error);
	fors_exact_tell(plan, worker, leaf, plan->fabric->nleaves);
	if (!bench->rows)
		return fors_rowwise_large(bench->space, &bench->edges, &rows, bench->colour, error);
	if (fors_rowwise(bench->rows, &rows, bench->colour))
		return FORS_OK;
	return fors_fail(error, FORS_ENOPLAN, "the flows of %s do not fit its servers", plan->fabric->leaf[leaf].name);
}

/* ---- step 3 ---- */

/* A node for each n_a flows to a leaf: each server sends one of them. */
static void list_nodes(const struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t a)
{
	uint32_t n = plan->fabric->leaf[a].nservers, end = n * plan->nphases;
	const uint16_t *to = plan->flows.to + fors_place(plan, a, 0, 0);

	memset(bench->sent, 0, plan->fabric->nleaves * sizeof(*bench->sent));
	for (uint32_t b = 0; b < plan->fabric->nleaves; b++)
		bench->next[b] = (uint16_t)plan->fabric->leaf[b].first_server;
	for (uint32_t place = 0; place < end; place++) {
		uint16_t b = to[place];

		bench->node[place] = b;
		if (b == FORS_NOBODY)
			continue;
		bench->node[place] = bench->next[b];
		if (++bench->sent[b] == n) {
			bench->sent[b] = 0;
			bench->next[b]++;
		}
	}
}

/* Senders to where the receiving leaves look for them. */
static void write_senders(struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t a)
{
	const struct fors_leaf *leaf = &plan->fabric->leaf[a];
	const uint16_t *to = plan->flows.to + fors_place(plan, a, 0, 0);
	const uint8_t *turn = plan->flows.turn + fors_place(plan, a, 0, 0);

	for (uint32_t t = 0; t < plan->nphases; t++)
		for (uint32_t i = t * leaf->nservers; i < (t + 1) * leaf->nservers && to[i] != FORS_NOBODY; i++)
			plan->flows.from[fors_place(plan, to[i], t, turn[i])] =
				(uint16_t)(leaf->first_server + bench->colour[i]);
}

enum fors_err fors_exact_senders(void *context, uint32_t worker, uint32_t a, struct fors_error *error)
{
	struct fors_exact *plan = context;
	struct fors_exact_bench *bench = &plan->bench[worker];
	enum fors_err err;

	if (!plan->fabric->leaf[a].nservers)
		return FORS_OK;
	list_nodes(plan, bench, a);
	err = colour_places(plan, worker, a, bench->node, 1, error);
	if (!err)
		write_senders(plan, bench, a);
	return err;
}

/* ---- step 4 ---- */

enum fors_err fors_exact_receivers(void *context, uint32_t worker, uint32_t b, struct fors_error *error)
{
	struct fors_exact *plan = context;
	const struct fors_leaf *leaf = &plan->fabric->leaf[b];
	uint32_t first = fors_place(plan, b, 0, 0);
	enum fors_err err;

	if (!leaf->nservers)
		return FORS_OK;
	err = colour_places(plan, worker, b, plan->flows.from + first, 0, error);
	for (uint32_t i = 0; !err && i < plan->nphases * leaf->nservers; i++)
		plan->flows.dst[first + i] = (uint16_t)(leaf->first_server + plan->bench[worker].colour[i]);
	return err;
}
