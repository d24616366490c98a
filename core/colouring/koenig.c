/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * koenig.c - edge colouring by exchanges.
 *
 * An edge takes a colour that both of its nodes lack, if there is one. If not, let the left node lack a, and the right one
 * b. The edges of colours a and b that hang together, beginning with that of colour a at the right node, form a path. It
 * cannot come to the left node: it comes to left nodes by edges of colour a. So a and b change places along the path, and
 * then both nodes lack a. (Koenig 1916.)
 *
 * Mostly a path of one edge will do, which has two colours to choose from: a colour b that the right node lacks, and one
 * that the left node lacks together with the one at the far end of its edge of colour b.
 */
#include "koenig.h"

#include <stdlib.h>
#include <string.h>

bool fors_koenig_alloc(struct fors_koenig *graph, uint32_t nleft, uint32_t nright, uint32_t ncolours)
{
	size_t nwords = ncolours / 64 + 1;

	*graph = (struct fors_koenig){0};
	graph->edge = malloc(((size_t)nleft * ncolours + 1) * sizeof(*graph->edge));
	graph->left = malloc(((size_t)nright * ncolours + 1) * sizeof(*graph->left));
	graph->lacks[0] = malloc((nleft * nwords + 1) * sizeof(*graph->lacks[0]));
	graph->lacks[1] = malloc((nright * nwords + 1) * sizeof(*graph->lacks[1]));
	return graph->edge && graph->left && graph->lacks[0] && graph->lacks[1];
}

void fors_koenig_free(struct fors_koenig *graph)
{
	free(graph->edge);
	free(graph->left);
	free(graph->lacks[0]);
	free(graph->lacks[1]);
	*graph = (struct fors_koenig){0};
}

uint64_t fors_koenig_bytes(uint32_t nleft, uint32_t nright, uint32_t ncolours)
{
	const struct fors_koenig *graph = NULL;

	return (uint64_t)nleft * ncolours * sizeof(*graph->edge) + (uint64_t)nright * ncolours * sizeof(*graph->left) +
	       ((uint64_t)nleft + nright) * (ncolours / 64 + 1) * sizeof(**graph->lacks);
}

void fors_koenig_begin(struct fors_koenig *graph, uint32_t nleft, uint32_t nright, uint32_t ncolours)
{
	graph->nnodes[0] = nleft;
	graph->nnodes[1] = nright;
	graph->ncolours = ncolours;
	graph->nwords = (ncolours + 63) / 64;
	memset(graph->edge, 0xFF, (size_t)nleft * ncolours * sizeof(*graph->edge));
	memset(graph->left, 0xFF, (size_t)nright * ncolours * sizeof(*graph->left));
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < (size_t)graph->nnodes[s] * graph->nwords; i++)
			graph->lacks[s][i] =
				i % graph->nwords < ncolours / 64 ? UINT64_MAX : (UINT64_C(1) << ncolours % 64) - 1;
}

/* ---- what a node lacks ---- */

static inline uint64_t *lacks_of(const struct fors_koenig *graph, int side, uint32_t node)
{
	return graph->lacks[side] + (size_t)node * graph->nwords;
}

static inline void turn(uint64_t *lacks, uint32_t colour)
{
	lacks[colour / 64] ^= UINT64_C(1) << colour % 64;
}

/* The first colour of a set; FORS_KOENIG_NONE: it is empty. */
static inline uint32_t first_of(const uint64_t *set, uint32_t nwords)
{
	for (uint32_t w = 0; w < nwords; w++)
		if (set[w])
			return w * 64 + (uint32_t)__builtin_ctzll(set[w]);
	return FORS_KOENIG_NONE;
}

/* The first colour that is in both sets. */
static inline uint32_t first_common(const uint64_t *one, const uint64_t *other, uint32_t nwords)
{
	for (uint32_t w = 0; w < nwords; w++)
		if (one[w] & other[w])
			return w * 64 + (uint32_t)__builtin_ctzll(one[w] & other[w]);
	return FORS_KOENIG_NONE;
}

/* ---- edges ---- */

/* An edge gets a colour that both of its nodes lack. */
static inline void put(struct fors_koenig *graph, uint32_t left, struct fors_koenig_edge edge, uint32_t colour)
{
	graph->edge[(size_t)left * graph->ncolours + colour] = edge;
	graph->left[(size_t)edge.right * graph->ncolours + colour] = (uint16_t)left;
}

/* As many copies as find a colour that both nodes lack. Returns how many are left. */
static inline uint32_t put_common(struct fors_koenig *graph, uint32_t left, struct fors_koenig_edge edge,
				  uint32_t copies)
{
	uint64_t *here = lacks_of(graph, 0, left), *there = lacks_of(graph, 1, edge.right);

	for (uint32_t w = 0; copies && w < graph->nwords; w++) {
		for (uint64_t common = here[w] & there[w]; common && copies; copies--) {
			uint64_t bit = common & -common;

			put(graph, left, edge, w * 64 + (uint32_t)__builtin_ctzll(bit));
			here[w] ^= bit;
			there[w] ^= bit;
			common ^= bit;
		}
	}
	return copies;
}

/* Change the colour of the edge that a left node has of colour `from`; it and its right node lack `to`. */
static void recolour(struct fors_koenig *graph, uint32_t left, uint32_t from, uint32_t to)
{
	struct fors_koenig_edge *edge = graph->edge + (size_t)left * graph->ncolours;
	uint16_t *at = graph->left + (size_t)edge[from].right * graph->ncolours;

	turn(lacks_of(graph, 0, left), from);
	turn(lacks_of(graph, 0, left), to);
	turn(lacks_of(graph, 1, edge[from].right), from);
	turn(lacks_of(graph, 1, edge[from].right), to);
	edge[to] = edge[from];
	at[to] = (uint16_t)left;
	edge[from].right = at[from] = FORS_KOENIG_NONE;
}

/* A path of one edge, from a left node. True: both nodes lack *colour now. */
static bool exchange_once(struct fors_koenig *graph, uint32_t left, uint32_t right, uint32_t *colour)
{
	const uint64_t *here = lacks_of(graph, 0, left), *there = lacks_of(graph, 1, right);
	const struct fors_koenig_edge *edge = graph->edge + (size_t)left * graph->ncolours;

	for (uint32_t w = 0; w < graph->nwords; w++) {
		for (uint64_t bits = there[w]; bits; bits &= bits - 1) {
			uint32_t b = w * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t to = first_common(here, lacks_of(graph, 1, edge[b].right), graph->nwords);

			if (to == FORS_KOENIG_NONE)
				continue;
			recolour(graph, left, b, to);
			*colour = b;
			return true;
		}
	}
	return false;
}

/* Exchange colours a and b along the path from a right node, which has a and lacks b; it lacks a then. */
static void exchange(struct fors_koenig *graph, uint32_t right, uint32_t a, uint32_t b)
{
	const size_t n = graph->ncolours;
	uint64_t *end = lacks_of(graph, 1, right);

	turn(end, a);
	turn(end, b);
	for (;;) {
		uint16_t *at = graph->left + right * n, left = at[a];
		struct fors_koenig_edge *edge, old;

		end = lacks_of(graph, 1, right);
		at[a] = at[b];
		at[b] = left;
		if (left == FORS_KOENIG_NONE)
			break;
		end = lacks_of(graph, 0, left);
		edge = graph->edge + left * n;
		old = edge[b];
		edge[b] = edge[a];
		edge[a] = old;
		if (old.right == FORS_KOENIG_NONE)
			break;
		right = old.right;
	}
	turn(end, a);
	turn(end, b);
}

/* An edge whose nodes lack no colour together. */
static bool put_by_exchange(struct fors_koenig *graph, uint32_t left, struct fors_koenig_edge edge)
{
	uint64_t *here = lacks_of(graph, 0, left), *there = lacks_of(graph, 1, edge.right);
	uint32_t colour;

	if (!exchange_once(graph, left, edge.right, &colour)) {
		uint32_t b = first_of(there, graph->nwords);

		colour = first_of(here, graph->nwords);
		if (colour == FORS_KOENIG_NONE || b == FORS_KOENIG_NONE)
			return false;
		exchange(graph, edge.right, colour, b);
	}
	turn(here, colour);
	turn(there, colour);
	put(graph, left, edge, colour);
	return true;
}

bool fors_koenig_add(struct fors_koenig *graph, uint32_t left, struct fors_koenig_edge edge, uint32_t copies)
{
	for (copies = put_common(graph, left, edge, copies); copies; copies--)
		if (!put_by_exchange(graph, left, edge))
			return false;
	return true;
}
