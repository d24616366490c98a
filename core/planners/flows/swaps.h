/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * swaps.h - a packing in as many phases as there are receivers, by exchanges. Private to this room.
 * Thread rules: pure; the same packing gives the same result on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_SWAPS_H
#define FORS_CORE_PLANNERS_FLOWS_SWAPS_H

#include "strategy.h"

#define FORS_FLOWS_SWAPS_WORK UINT64_C(20000000) /* the usual budget, where flows have no ways to choose from */

/* May fors_flows_swaps() be asked: single flows over listed ways, links of capacity 1, and no fewer phases than receivers? */
bool fors_flows_swaps_may_be(const struct fors_flows_problem *problem, uint32_t nphases);

/*
 * From a packing in which some tokens wait to one of as many phases in which none does, in *made, owned by the caller;
 * NULL: it was not found with so much work, in links looked at. fors_flows_swaps_may_be() has to hold. Errors:
 * FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_flows_swaps(const struct fors_flows_packing *from, uint64_t budget,
			       const struct fors_flows_asked *asked, struct fors_flows_packing **made,
			       struct fors_error *error);

/* Is the usual budget worth a try for so many flows? */
bool fors_flows_swaps_worth(const struct fors_flows_problem *problem);

/* Does this take no more memory, with the packings beside it, than fors_flows_pack_bytes() says? */
bool fors_flows_swaps_fit(const struct fors_flows_problem *problem, uint32_t nphases);

/* Bytes that this takes besides packings. */
uint64_t fors_flows_swaps_bytes(const struct fors_flows_problem *problem, uint32_t nphases);

#endif
