/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bound.h - the lower bound on the number of phases.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_BOUND_H
#define FORS_CORE_PLANNERS_BOUND_H

#include "core/fabric/fattree.h"
#include "core/net/witness.h"

/*
 * LB (doc/planners.md, "Lower bounds"): no conflict-free plan of the whole exchange, over any
 * LMC, has fewer phases. 0 when there is no server. The fabric must be connected.
 * Errors: FORS_ENOMEM; *bound is unchanged then.
 */
enum fors_err fors_lower_bound(const struct fors_fabric *fabric, uint32_t *bound, struct fors_error *error);

/* Why it is LB, in *witness (all zero; the caller's to clear): port, or the cut of a leaf. Errors: FORS_ENOMEM. */
enum fors_err fors_lower_bound_witness(const struct fors_fabric *fabric, struct fors_witness *witness,
				       struct fors_error *error);

/*
 * The lump: no conflict-free plan over any tables with one LID for each server has fewer phases. All n_a servers of a
 * leaf send to a server over one uplink, so an uplink carries whole lumps of n_a flows, and the fullest one
 * n_a ceil((P - n_a) / live uplinks). A spine, too, sends to a server over one of its cables to the leaf: where n
 * servers of other leaves have no other spine in common with leaf b, and it has c cables to b, some cable of these carries
 * n ceil(n_b / c). At least P; 0 when there is no server. For tables that lead up, then down. A cable of capacity k counts k times.
 */
uint64_t fors_lump_bound(const struct fors_fabric *fabric);

/* Why, in *witness (all zero): port, lump or last, which own nothing. */
void fors_lump_witness(const struct fors_fabric *fabric, struct fors_witness *witness);

/*
 * The lumps of leaves alone, in a tree of any height: why servers that take part with one LID each need so many phases, in *witness
 * (all zero): port or lump, which own nothing; nothing where somebody has several LIDs, or a leaf with servers has no cable.
 */
void fors_lump_leaves(const struct fors_fattree *tree, struct fors_witness *witness);

#endif
