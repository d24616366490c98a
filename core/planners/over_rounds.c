/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over_rounds.c - a plan in whole units to begin with.
 *
 * Tables of three-level trees are made together with a round for each unit (pods/route.h). Where every leaf has as many
 * participants as it has servers, those rounds are a plan already, or nearly: units that found none are searched for
 * again, now with the ways that the tables really have, and with a round more if need be.
 */
#include "over_rounds.h"

#include <stdlib.h>

#include "core/planners/flows/lumps.h"

#define MORE_ROUNDS 4

static bool has_equal_switches(const struct fors_flows_problem *p, uint32_t senders)
{
	for (uint32_t s = 0; s < p->nswitches; s++)
		if (p->senders[s] != senders)
			return false;
	return p->nswitches;
}

static void place(const struct fors_flows_routed *routed, const struct fors_pods_route *route,
		  struct fors_flows_packing *packing)
{
	const struct fors_flows_problem *p = packing->problem;

	packing->nwaiting = 0;
	for (uint32_t s = 0; s < p->nswitches; s++)
		for (uint32_t d = 0; d < p->ndests; d++) {
			uint32_t round = fors_pods_route_round(route, routed->node[s], routed->server[d].lid);

			if (round >= packing->nphases || !fors_flows_put_if_free(packing, s, d, 0, round))
				packing->waiting[packing->nwaiting++] = s * p->ndests + d;
		}
}

bool fors_over_rounds_may_be(const struct fors_flows_routed *routed, const struct fors_pods_route *route)
{
	return route->round && has_equal_switches(&routed->problem, route->length);
}

enum fors_err fors_over_rounds(const struct fors_flows_routed *routed, const struct fors_pods_route *route,
			       const struct fors_flows_asked *asked, struct fors_flows_problem *units,
			       struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err;

	*packing = NULL;
	*units = routed->problem;
	units->lump = route->length;
	if (!fors_over_rounds_may_be(routed, route))
		return FORS_OK;
	err = fors_flows_packing_new(units, route->nrounds, packing, error);
	if (err)
		return err;
	place(routed, route, *packing);
	return fors_flows_finish(packing, route->nrounds + MORE_ROUNDS,
				 (uint64_t)FORS_FLOWS_LUMP_WORK * fors_flows_units(units), asked, error);
}
