/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slots.h - colouring of small graphs of single edges with a power of two of colours; private to the colouring.
 */
#ifndef FORS_CORE_SLOTS_H
#define FORS_CORE_SLOTS_H

#include "colour.h"

struct fors_slots;

/* Working memory for graphs of at most nnodes nodes per side; NULL: out of memory. About 1.5 MB. */
struct fors_slots *fors_slots_new(uint32_t nnodes);
void fors_slots_free(struct fors_slots *slots);

/*
 * Begin a graph between these sides, to be coloured with ncolours colours, a power of two. side[] is
 * borrowed until the colouring is done. False: it is too large for slots; nothing has begun then.
 */
bool fors_slots_begin(struct fors_slots *slots, const struct fors_colour_side side[2], uint32_t ncolours);

/* Add an edge between two nodes; `name` is what emit gets. False: the node has ncolours times its cap edges already. */
bool fors_slots_add(struct fors_slots *slots, uint32_t left, uint32_t right, uint32_t name);

/* Colour all edges as fors_colour() does. Errors: what emit returned. */
enum fors_err fors_slots_colour(struct fors_slots *slots, uint32_t first, fors_colour_emit emit, void *context);

#endif
