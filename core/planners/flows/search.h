/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * search.h - tokens into phases: first fit in several orders, then a search by ejection. Private to this module.
 * Thread rules: pure; a packing belongs to one thread.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_SEARCH_H
#define FORS_CORE_PLANNERS_FLOWS_SEARCH_H

#include "pack.h"

#define FORS_FLOWS_WORK_PER_WAITING 5000 /* words of masks that a search may look at for each token that waits */

/* The orders that first fit tries, see first_fit.c. */
enum fors_flows_order { FORS_FLOWS_BY_LOAD, FORS_FLOWS_BY_DISTANCE, FORS_FLOWS_IN_TURN };

/*
 * Pack a new packing of nphases phases by first fit, units in this order, each over way[unit] (ways.h) as long as there is
 * room, in *packing, owned by the caller; what does not fit is waiting. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_first_fit(const struct fors_flows_problem *problem, const uint32_t *way, uint32_t nphases,
				   enum fors_flows_order order, struct fors_flows_packing **packing,
				   struct fors_error *error);

/* Put what waits into phases where it fits, in the order in which it waits. */
void fors_flows_fill(struct fors_flows_packing *packing);

/* Phases more, or without the emptiest ones, so that there are nphases, filled. Errors: FORS_ENOMEM. */
enum fors_err fors_flows_packing_resize(struct fors_flows_packing **packing, uint32_t nphases,
					struct fors_error *error);
/* The same of a copy, in *packing, owned by the caller; *packing before: as of fors_flows_packing_copy(). Errors: FORS_ENOMEM. */
enum fors_err fors_flows_packing_change(const struct fors_flows_packing *from, uint32_t nphases,
					struct fors_flows_packing **packing, struct fors_error *error);

/*
 * Look for places for all that waits, with at most `budget` of work (packing->work). What it leaves is the best packing that
 * it saw: fewest waiting. cancelled(context) may be NULL. Errors: FORS_ECANCELLED, FORS_ENOMEM; the packing is right, but
 * not the best, then.
 */
enum fors_err fors_flows_search(struct fors_flows_packing *packing, uint64_t budget, bool (*cancelled)(void *context),
				void *context, struct fors_error *error);

/* Bytes that first fit, and a search, take besides packings: at most, but for the list of steps since the best. */
uint64_t fors_flows_first_fit_bytes(const struct fors_flows_problem *problem);
uint64_t fors_flows_search_bytes(const struct fors_flows_problem *problem, uint32_t nphases);

#endif
