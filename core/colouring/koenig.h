/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * koenig.h - edge colouring of bipartite multigraphs, edge by edge: Koenig's theorem as he proved it.
 *
 * A node has at most one edge of each colour. Edges come one after another, in any order; each has its colour at once, and a
 * later one may change it. As long as no node gets more edges than there are colours, all find one.
 *
 * Thread rules: a colouring belongs to one thread at a time.
 */
#ifndef FORS_CORE_COLOURING_KOENIG_H
#define FORS_CORE_COLOURING_KOENIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORS_KOENIG_NONE 0xFFFF

/* An edge as its left node has it. */
struct fors_koenig_edge {
	uint16_t right; /* node; FORS_KOENIG_NONE: no edge of this colour */
	uint16_t tag;	/* the caller's own, goes with the edge */
};

struct fors_koenig {
	uint32_t nnodes[2]; /* left, right; at most 65,535 */
	uint32_t ncolours, nwords;
	struct fors_koenig_edge *edge; /* [left node * ncolours + colour] */
	uint16_t *left;		       /* [right node * ncolours + colour]: left node, FORS_KOENIG_NONE */
	uint64_t *lacks[2]; /* [node * nwords + colour / 64]: a bit for each colour that the node has no edge of */
};

/* Memory for so many nodes and colours at most; false: there is none. To be freed in any case. */
bool fors_koenig_alloc(struct fors_koenig *graph, uint32_t nleft, uint32_t nright, uint32_t ncolours);
void fors_koenig_free(struct fors_koenig *graph);
/* Bytes of it. */
uint64_t fors_koenig_bytes(uint32_t nleft, uint32_t nright, uint32_t ncolours);

/* A graph without edges, with no more nodes and colours than there is memory for. */
void fors_koenig_begin(struct fors_koenig *graph, uint32_t nleft, uint32_t nright, uint32_t ncolours);

/* Add so many copies of an edge. False: a node has ncolours edges already; some copies are there then, others not. */
bool fors_koenig_add(struct fors_koenig *graph, uint32_t left, struct fors_koenig_edge edge, uint32_t copies);

#endif
