/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * colour.c - edge colouring by repeated splitting.
 *
 * To colour with K = 2^i colours, halve the graph (euler.c): every node with at most K
 * times its cap edges keeps at most K/2 times its cap in either half, and so do the
 * groups. i halvings make 2^i graphs that respect the caps as they are: the colours.
 *
 * With any other K, the colours are cut into the largest power of two below K and the rest,
 * and the edges in the same proportion: edge by edge, what the left node and the right node are owed
 * together decides whether a fraction of a copy is rounded up. That is nearly right everywhere; rebalance.c mends
 * the rest. There are only as many such uneven splits as K has binary digits that are 1, less one, and they
 * come first, where nodes have many edges and most have room, not at each of the small graphs at the end.
 *
 * Parallel edges are split by number, not one by one: one of m copies gives floor(m/2)
 * to each half, and only the odd ones take part in the halving. A graph with n different
 * edges and many copies of each costs O(n) on its first passes. Once there are few copies
 * and the graph is small, cells.c does the rest, one by one.
 */
#include "colour.h"

#include <stdlib.h>
#include <string.h>

#include "euler.h"
#include "rebalance.h"
#include "cells.h"

#define FEW 4 /* copies of each edge on average, at most: from here on one by one */

#define SHARE_BITS 20 /* binary digits of a fraction of a copy */
#define ONE_COPY (1 << SHARE_BITS)

/* A graph on the way: edges in both orders, with copies and the caller's numbers. */
struct part {
	struct fors_edges edges;
	uint32_t *id;	  /* the caller's number of each edge */
	uint16_t *mult;	  /* copies, at least 1 */
	uint64_t ncopies; /* their sum */
};

struct fors_colour_space {
	uint32_t nnodes;
	struct fors_edges odd; /* the graph of the odd edges */
	uint32_t *odd_id;      /* their numbers in the part */
	struct fors_mates *mate;
	uint8_t *half;
	uint32_t *place; /* new number of an edge in its part */
	uint16_t *take;	 /* copies for the first part */
	uint32_t *count; /* per right node, for sorting */
	int32_t *owed;	 /* per right node: how much less than its share was taken, in ONE_COPYs */
	struct fors_cells *cells;
	struct fors_rebalance_space *rebalance; /* made when first needed */
};

/* One call of fors_colour(). */
struct job {
	struct fors_colour_space *space;
	const struct fors_colour_side *side;
	fors_colour_emit emit;
	void *context;
	struct fors_error *error;
};

static bool edges_alloc(struct fors_edges *edges, size_t n)
{
	edges->left = malloc(n * sizeof(*edges->left));
	edges->by_right = malloc(n * sizeof(*edges->by_right));
	edges->right = malloc(n * sizeof(*edges->right));
	edges->right_of = malloc(n * sizeof(*edges->right_of));
	return edges->left && edges->by_right && edges->right && edges->right_of;
}

static void edges_free(struct fors_edges *edges)
{
	free(edges->left);
	free(edges->by_right);
	free(edges->right);
	free(edges->right_of);
}

struct fors_colour_space *fors_colour_space_new(uint32_t nedges, uint32_t nnodes)
{
	struct fors_colour_space *space = calloc(1, sizeof(*space));
	size_t n = (size_t)nedges + 1;

	if (!space)
		return NULL;
	space->nnodes = nnodes;
	space->odd_id = malloc(n * sizeof(*space->odd_id));
	space->mate = malloc(n * sizeof(*space->mate));
	space->half = malloc(n);
	space->place = malloc(n * sizeof(*space->place));
	space->take = malloc(n * sizeof(*space->take));
	space->count = malloc(((size_t)nnodes + 1) * sizeof(*space->count));
	space->owed = malloc(((size_t)nnodes + 1) * sizeof(*space->owed));
	space->cells = fors_cells_new(nnodes);
	if (edges_alloc(&space->odd, n) && space->odd_id && space->mate && space->half && space->place && space->take &&
	    space->count && space->owed && space->cells)
		return space;
	fors_colour_space_free(space);
	return NULL;
}

void fors_colour_space_free(struct fors_colour_space *space)
{
	if (!space)
		return;
	edges_free(&space->odd);
	free(space->odd_id);
	free(space->mate);
	free(space->half);
	free(space->place);
	free(space->take);
	free(space->count);
	free(space->owed);
	fors_cells_free(space->cells);
	fors_rebalance_space_free(space->rebalance);
	free(space);
}

/* Room for n edges in *part, which is all NULL on failure. */
static enum fors_err part_alloc(struct part *part, uint32_t n, struct fors_error *error)
{
	size_t size = (size_t)n + 1; /* branchless copying writes one more */

	memset(part, 0, sizeof(*part));
	part->edges.n = n;
	part->id = malloc(size * sizeof(*part->id));
	part->mult = malloc(size * sizeof(*part->mult));
	if (edges_alloc(&part->edges, size) && part->id && part->mult)
		return FORS_OK;
	edges_free(&part->edges);
	free(part->id);
	free(part->mult);
	memset(part, 0, sizeof(*part));
	return fors_fail_memory(error);
}

static void part_free(struct part *part)
{
	edges_free(&part->edges);
	free(part->id);
	free(part->mult);
	memset(part, 0, sizeof(*part));
}

/* ---- splitting ---- */

/* Make space->odd the graph of the edges of `part` with an odd number of copies, one of each. */
static void find_odd(struct fors_colour_space *space, const struct part *part)
{
	const struct fors_edges *edges = &part->edges;
	struct fors_edges *odd = &space->odd;
	uint32_t n = 0, m = 0;

	for (uint32_t e = 0; e < edges->n; e++) {
		space->place[e] = n;
		odd->left[n] = edges->left[e];
		space->odd_id[n] = e;
		n += part->mult[e] & 1;
	}
	for (uint32_t i = 0; i < edges->n; i++) {
		uint32_t e = edges->by_right[i];

		odd->right[m] = edges->right[i];
		odd->by_right[m] = space->place[e];
		m += part->mult[e] & 1;
	}
	odd->n = n;
}

/* take[e] = half of the copies of each edge, the odd ones halved as a graph. */
static void take_half(struct job *job, const struct part *part)
{
	struct fors_colour_space *space = job->space;

	find_odd(space, part);
	fors_euler_halve(&space->odd, job->side, space->mate, space->half);
	for (uint32_t e = 0; e < part->edges.n; e++)
		space->take[e] = part->mult[e] / 2;
	for (uint32_t i = 0; i < space->odd.n; i++)
		space->take[space->odd_id[i]] += space->half[i];
}

/*
 * take[e] = about first/whole of the copies of each edge: rounded up where left and right node together are owed a
 * copy. (Rounding by either node alone would leave the other side to chance.)
 */
static void take_share(struct fors_colour_space *space, const struct part *part, uint32_t whole, uint32_t first)
{
	const uint64_t share = ((uint64_t)first << SHARE_BITS) / whole; /* of one copy */
	uint32_t node = UINT32_MAX;
	int32_t owed = 0;

	memset(space->owed, 0, space->nnodes * sizeof(*space->owed));
	for (uint32_t e = 0; e < part->edges.n; e++) {
		uint64_t mine = part->mult[e] * share;
		int32_t *other = &space->owed[part->edges.right_of[e]], part_of_one = (int32_t)(mine % ONE_COPY), up;

		if (part->edges.left[e] != node) {
			node = part->edges.left[e];
			owed = 0;
		}
		up = owed + *other + 2 * part_of_one >= ONE_COPY;
		space->take[e] = (uint16_t)(mine / ONE_COPY + (uint64_t)up);
		owed += part_of_one - up * ONE_COPY;
		*other += part_of_one - up * ONE_COPY;
	}
}

/* take[e] = how many copies of each edge the first `first` of `whole` colours get. */
static enum fors_err divide(struct job *job, const struct part *part, uint32_t whole, uint32_t first)
{
	struct fors_colour_space *space = job->space;

	if (2 * first == whole) {
		take_half(job, part);
		return FORS_OK;
	}
	take_share(space, part, whole, first);
	if (!space->rebalance)
		space->rebalance = fors_rebalance_space_new(space->nnodes);
	if (!space->rebalance)
		return fors_fail_memory(job->error);
	return fors_rebalance(space->rebalance, &part->edges, part->mult, job->side, whole, first, space->take,
			      job->error);
}

/* Which copies of the edges of a part are meant. */
enum share { SHARE_TAKEN, SHARE_REST, SHARE_ALL };

/* How many copies of edge e are meant. */
static inline uint32_t share_of(const struct fors_colour_space *space, const struct part *part, uint32_t e,
				enum share share)
{
	if (share == SHARE_ALL)
		return part->mult[e];
	return share == SHARE_REST ? (uint32_t)part->mult[e] - space->take[e] : space->take[e];
}

/* Edge e of `part`, `mult` copies of it, as the edge n of `to`; returns the number of the next one. */
static inline uint32_t copy_edge(struct part *to, uint32_t n, const struct part *part, uint32_t e, uint32_t mult)
{
	to->edges.left[n] = part->edges.left[e];
	to->edges.right_of[n] = part->edges.right_of[e];
	to->id[n] = part->id[e];
	to->mult[n] = (uint16_t)mult;
	return n + (mult > 0);
}

/* Put the edges of both shares into new parts, in one go; mate[] keeps their new numbers. */
static enum fors_err part_divide(struct job *job, const struct part *part, struct part to[2])
{
	struct fors_colour_space *space = job->space;
	const struct fors_edges *edges = &part->edges;
	uint32_t n[2] = {0, 0}, m[2] = {0, 0};
	enum fors_err err = part_alloc(&to[0], edges->n, job->error);

	if (!err)
		err = part_alloc(&to[1], edges->n, job->error);
	if (err)
		return err;
	for (uint32_t e = 0; e < edges->n; e++) {
		uint32_t take = space->take[e], rest = part->mult[e] - take;

		space->mate[e] = (struct fors_mates){n[0], n[1]};
		n[0] = copy_edge(&to[0], n[0], part, e, take);
		n[1] = copy_edge(&to[1], n[1], part, e, rest);
		to[0].ncopies += take;
		to[1].ncopies += rest;
	}
	for (uint32_t i = 0; i < edges->n; i++) {
		uint32_t e = edges->by_right[i];

		to[0].edges.right[m[0]] = to[1].edges.right[m[1]] = edges->right[i];
		to[0].edges.by_right[m[0]] = space->mate[e].left;
		to[1].edges.by_right[m[1]] = space->mate[e].right;
		m[0] += space->take[e] > 0;
		m[1] += space->take[e] < part->mult[e];
	}
	to[0].edges.n = n[0];
	to[1].edges.n = n[1];
	return FORS_OK;
}

/* ---- the recursion ---- */

static bool is_power(uint32_t k)
{
	return (k & (k - 1)) == 0;
}

/* How many colours the first part gets: half of them, or what the largest power of two leaves. */
static uint32_t first_colours(uint32_t ncolours)
{
	return is_power(ncolours) ? ncolours / 2 : ncolours - (1u << (31 - __builtin_clz(ncolours)));
}

/* Few enough to go on one by one? (Half of the copies are taken, or fewer.) */
static bool is_few(const struct part *part, enum share share)
{
	return (share == SHARE_TAKEN ? part->ncopies / 2 : part->ncopies) <= FEW * (uint64_t)part->edges.n;
}

static enum fors_err too_many(struct fors_error *error)
{
	return fors_fail(error, FORS_ENOPLAN, "a node has more edges than colours");
}

/* List the edges of a share in place[] (without branches that nobody can predict). */
static uint32_t list_share(struct fors_colour_space *space, const struct part *part, enum share share)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < part->edges.n; e++) {
		space->place[n] = e;
		n += share_of(space, part, e, share) > 0;
	}
	return n;
}

/* Colour a share of a part by cells, if that is the time for it; *done says whether. */
static enum fors_err colour_by_cells(struct job *job, const struct part *part, enum share share, uint32_t first,
				     uint32_t ncolours, bool *done)
{
	const struct fors_edges *edges = &part->edges;
	struct fors_cells *cells = job->space->cells;
	uint32_t n;

	*done = is_power(ncolours) && (ncolours == 1 || is_few(part, share)) &&
		fors_cells_begin(cells, job->side, ncolours);
	if (!*done)
		return FORS_OK;
	n = list_share(job->space, part, share);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = job->space->place[i];

		for (uint32_t copies = share_of(job->space, part, e, share); copies > 0; copies--)
			if (!fors_cells_add(cells, edges->left[e], edges->right_of[e], part->id[e]))
				return too_many(job->error);
	}
	return fors_cells_colour(cells, first, job->emit, job->context);
}

/* The same for the caller's graph of single edges. */
static enum fors_err colour_graph_by_cells(struct job *job, const struct fors_multigraph *graph, uint32_t first,
					   uint32_t ncolours, bool *done)
{
	struct fors_cells *cells = job->space->cells;

	*done = !graph->mult && is_power(ncolours) && fors_cells_begin(cells, graph->side, ncolours);
	if (!*done)
		return FORS_OK;
	for (uint32_t e = 0; e < graph->nedges; e++)
		if (!fors_cells_add(cells, graph->left[e], graph->right[e], e))
			return too_many(job->error);
	return fors_cells_colour(cells, first, job->emit, job->context);
}

static enum fors_err colour_part(struct job *job, struct part *part, uint32_t first, uint32_t ncolours);

/* Colour both parts of a divided part, and free it. */
static enum fors_err colour_shares(struct job *job, struct part *part, uint32_t first, uint32_t ncolours, uint32_t k)
{
	const uint32_t first_of[2] = {first, first + k}, colours_of[2] = {k, ncolours - k};
	struct part sub[2] = {{.id = NULL}, {.id = NULL}};
	enum fors_err err = FORS_OK;
	bool done[2] = {false, false};

	for (enum share share = SHARE_TAKEN; !err && share <= SHARE_REST; share++) /* while take[] lasts */
		err = colour_by_cells(job, part, share, first_of[share], colours_of[share], &done[share]);
	if (!err && !(done[0] && done[1]))
		err = part_divide(job, part, sub);
	part_free(part);
	for (enum share share = SHARE_TAKEN; share <= SHARE_REST; share++) {
		if (!err && !done[share])
			err = colour_part(job, &sub[share], first_of[share], colours_of[share]);
		part_free(&sub[share]);
	}
	return err;
}

/* Colour `part`, and free it. */
static enum fors_err colour_part(struct job *job, struct part *part, uint32_t first, uint32_t ncolours)
{
	uint32_t k = first_colours(ncolours);
	enum fors_err err;
	bool done;

	err = colour_by_cells(job, part, SHARE_ALL, first, ncolours, &done);
	if (!done && ncolours == 1)
		err = fors_fail(job->error, FORS_ELIMIT, "more than 65,534 ends of lanes and servers in one phase");
	if (!done && !err)
		err = divide(job, part, ncolours, k);
	if (!done && !err)
		err = colour_shares(job, part, first, ncolours, k);
	part_free(part);
	return err;
}

/* ---- the caller's graph ---- */

/* Order the edges by right node (counting sort); left order is the caller's. */
static void order_by_right(struct fors_colour_space *space, const struct fors_multigraph *graph, struct part *part)
{
	uint32_t nnodes = graph->side[1].nnodes, sum = 0;

	memset(space->count, 0, (nnodes + 1) * sizeof(*space->count));
	for (uint32_t e = 0; e < graph->nedges; e++)
		space->count[graph->right[e]]++;
	for (uint32_t i = 0; i < nnodes; i++) {
		uint32_t n = space->count[i];

		space->count[i] = sum;
		sum += n;
	}
	for (uint32_t e = 0; e < graph->nedges; e++) {
		uint32_t i = space->count[graph->right[e]]++;

		part->edges.by_right[i] = e;
		part->edges.right[i] = graph->right[e];
	}
}

/* The caller's graph as a part of its own. */
static enum fors_err part_of_graph(struct fors_colour_space *space, const struct fors_multigraph *graph,
				   struct part *part, struct fors_error *error)
{
	enum fors_err err = part_alloc(part, graph->nedges, error);

	if (err)
		return err;
	order_by_right(space, graph, part);
	memcpy(part->edges.left, graph->left, graph->nedges * sizeof(*graph->left));
	memcpy(part->edges.right_of, graph->right, graph->nedges * sizeof(*graph->right));
	part->ncopies = 0;
	for (uint32_t e = 0; e < graph->nedges; e++) {
		part->id[e] = e;
		part->mult[e] = graph->mult ? graph->mult[e] : 1;
		part->ncopies += part->mult[e];
	}
	return FORS_OK;
}

enum fors_err fors_colour(struct fors_colour_space *space, const struct fors_multigraph *graph, uint32_t first,
			  uint32_t ncolours, fors_colour_emit emit, void *context, struct fors_error *error)
{
	struct job job = {.space = space, .side = graph->side, .emit = emit, .context = context, .error = error};
	enum fors_err err;
	struct part part;
	bool done;

	err = colour_graph_by_cells(&job, graph, first, ncolours, &done);
	if (done)
		return err;
	err = part_of_graph(space, graph, &part, error);
	return err ? err : colour_part(&job, &part, first, ncolours);
}
