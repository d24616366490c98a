/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rebalance.h - mending an uneven split of a bipartite multigraph; private to the colouring.
 * Thread rules: pure; working memory belongs to one thread at a time.
 */
#ifndef FORS_CORE_COLOURING_REBALANCE_H
#define FORS_CORE_COLOURING_REBALANCE_H

#include "euler.h"

struct fors_rebalance_space;

/* Working memory for graphs of at most so many nodes per side; NULL: out of memory. */
struct fors_rebalance_space *fors_rebalance_space_new(uint32_t nnodes);
void fors_rebalance_space_free(struct fors_rebalance_space *space);

/*
 * The copies of each edge are split: take[e] of its mult[e] are in a part that is to
 * get `part` of `whole` colours, the others in the rest. Change take[] so that no
 * node and no group has more edges in either than its cap times the colours of that
 * part. Good starts need few changes. The whole must respect its own caps.
 * Errors: FORS_ENOPLAN (the whole does not).
 */
enum fors_err fors_rebalance(struct fors_rebalance_space *space, const struct fors_edges *edges, const uint16_t *mult,
			     const struct fors_colour_side side[2], uint32_t whole, uint32_t part, uint16_t *take,
			     struct fors_error *error);

#endif
