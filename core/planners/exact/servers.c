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
	const uint32_t n = plan->fabric->leaf[a].nservers, end = n * plan->nphases;
	const uint16_t *to = plan->flows.to + fors_place(plan, a, 0, 0);
	uint32_t *sent = bench->sent;
	uint16_t *next = bench->next, *node = bench->node;

	memset(sent, 0, plan->fabric->nleaves * sizeof(*sent));
	for (uint32_t b = 0; b < plan->fabric->nleaves; b++)
		next[b] = (uint16_t)plan->fabric->leaf[b].first_server;
	for (uint32_t place = 0; place < end; place++) {
		uint16_t b = to[place];

		node[place] = b;
		if (b == FORS_NOBODY)
			continue;
		node[place] = next[b];
		if (++sent[b] == n) {
			sent[b] = 0;
			next[b]++;
		}
	}
}

/* Senders to where the receiving leaves look for them: in each phase from first[] on. */
static void write_senders(struct fors_exact *plan, const struct fors_exact_bench *bench, uint32_t a)
{
	const uint32_t n = plan->fabric->leaf[a].nservers, base = plan->fabric->leaf[a].first_server;
	const uint32_t nleaves = plan->fabric->nleaves, *servers = plan->ways->servers;
	const uint16_t *to = plan->flows.to + fors_place(plan, a, 0, 0);
	const uint8_t *turn = plan->flows.turn + fors_place(plan, a, 0, 0), *colour = bench->colour;
	uint16_t *from = plan->flows.from;
	uint32_t *first = bench->first;

	for (uint32_t b = 0; b < nleaves; b++)
		first[b] = fors_place(plan, b, 0, 0);
	for (uint32_t t = 0; t < plan->nphases; t++, to += n, turn += n, colour += n) {
		for (uint32_t i = 0; i < n && to[i] != FORS_NOBODY; i++)
			from[first[to[i]] + turn[i]] = (uint16_t)(base + colour[i]);
		for (uint32_t b = 0; b < nleaves; b++)
			first[b] += servers[b];
	}
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

static void write_receivers(const uint8_t *colour, uint32_t base, uint32_t count, uint16_t *dst)
{
	for (uint32_t i = 0; i < count; i++)
		dst[i] = (uint16_t)(base + colour[i]);
}

enum fors_err fors_exact_receivers(void *context, uint32_t worker, uint32_t b, struct fors_error *error)
{
	struct fors_exact *plan = context;
	const struct fors_leaf *leaf = &plan->fabric->leaf[b];
	uint32_t first = fors_place(plan, b, 0, 0);
	enum fors_err err;

	if (!leaf->nservers)
		return FORS_OK;
	err = colour_places(plan, worker, b, plan->flows.from + first, 0, error);
	if (!err)
		write_receivers(plan->bench[worker].colour, leaf->first_server, plan->nphases * leaf->nservers,
				plan->flows.dst + first);
	return err;
}
