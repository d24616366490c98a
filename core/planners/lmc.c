/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lmc.c - the LMC that planners would like to have.
 *
 * With a path index for every lane each flow can be sent over any lane, which is what the exact planner needs. But LIDs
 * end at 49,151, and a larger LMC takes them from every port of a CA or router, whether it takes part or not.
 */
#include "lmc.h"

#include "core/tables/home.h"

/* LIDs that a fabric needs at this LMC: blocks for the ports of CAs and routers, LID block 0 unused; one per switch. */
static uint64_t count_lids(const struct fors_net *net, unsigned lmc)
{
	uint64_t blocks = 1, switches = 0;

	for (uint32_t i = 0; i < net->nnodes; i++) {
		switches += net->node[i].type == FORS_SWITCH;
		for (unsigned p = 1; net->node[i].type != FORS_SWITCH && p <= net->node[i].nports; p++)
			blocks += fors_net_port(net, i, p)->guid != 0;
	}
	return (blocks << lmc) + switches;
}

int64_t fors_lmc_needed(const struct fors_fabric *fabric, int64_t phases, int64_t lower_bound)
{
	unsigned all = fors_home_lmc(fabric->nlanes), lmc = all < FORS_MAX_LMC ? all : FORS_MAX_LMC;

	if (!fabric->nservers || fabric->lmc >= lmc || (phases > 0 && phases <= lower_bound))
		return FORS_UNKNOWN;
	if (count_lids(fabric->net, lmc) > FORS_LID_MAX + 1)
		return FORS_UNKNOWN;
	return lmc;
}
