/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lmc.c - would more path indices give a better plan?
 *
 * With a path index for every lane (core/tables/home.h) the exact planner has all ways that the cables offer, so what is
 * above the lower bound at a smaller LMC may come down to it. It costs LIDs: a larger LMC is no advice where they end.
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
		return FORS_NO_LMC;
	if (count_lids(fabric->net, lmc) > FORS_LID_MAX + 1)
		return FORS_NO_LMC;
	return lmc;
}
