/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simulation_policy.c - what policies need besides tables: sets of next hops, lanes. */
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

#define LANES_BY_HOPS 8

_Static_assert(CLI_MAX_WEIGHTS == FORS_MAX_VLS, "each lane has a weight");

/* --- settings --------------------------------------------------------------------------------------------------- */

static bool is_detour(int policy)
{
	return policy >= FORS_POLICY_VLB && policy < FORS_NPOLICIES;
}

/* More than fits is cut to what is too much. */
static uint32_t bytes_of(const struct cli_amount *amount)
{
	return amount->value < UINT32_MAX ? (uint32_t)amount->value : UINT32_MAX;
}

/* Lanes by hops need some; so do detours. */
static bool has_lanes_by_hop(const struct cli_simulate *given)
{
	return given->lanes == CLI_LANES_HOPS || (!given->lanes && is_detour(given->policy));
}

static unsigned lanes_of(const struct cli_simulate *given)
{
	return given->vls ? given->vls : has_lanes_by_hop(given) || is_detour(given->policy) ? LANES_BY_HOPS : 1;
}

void cli_simulation_policy_settings(const struct cli_simulate *given, struct fors_sim_settings *set)
{
	set->policy = (enum fors_policy)given->policy;
	set->nvls = lanes_of(given);
	memcpy(set->weight, given->weight, sizeof(set->weight));
	set->has_lanes_by_hop = has_lanes_by_hop(given);
	set->adaptive.binding = given->adaptive_binding.value;
	set->adaptive.is_greedy = given->adaptive_choice == CLI_ADAPTIVE_GREEDY;
	set->adaptive.leave = bytes_of(&given->adaptive_leave);
	memcpy(set->adaptive.level, given->adaptive_level, sizeof(set->adaptive.level));
	set->switch_ar.rule = (enum fors_ar_level)given->switch_ar_level;
	if (given->switch_ar_forget.is_given)
		set->switch_ar.forget = given->switch_ar_forget.value;
	set->qcn.has_limiters = given->has_rate_limits;
	if (given->qcn_queue.is_given)
		set->qcn.equilibrium = bytes_of(&given->qcn_queue);
	if (given->qcn_sample.is_given)
		set->qcn.sample = bytes_of(&given->qcn_sample);
	if (given->qcn_timer.is_given)
		set->qcn.timer = given->qcn_timer.value;
}

int cli_simulation_check_policy(const struct cli_simulate *given)
{
	if (given->nweights && given->nweights != lanes_of(given))
		return cli_usage_error("--vl-weights has %u %s for %u %s of --vls", given->nweights,
				       fors_plural(given->nweights, "number", "numbers"), lanes_of(given),
				       fors_plural(lanes_of(given), "lane", "lanes"));
	return CLI_GOOD;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

int cli_simulation_make_policy(const struct cli_settings *settings, struct cli_simulation *sim)
{
	struct fors_error error = {0};
	bool is_tago = sim->set.policy == FORS_POLICY_TAGO;
	int code = is_detour((int)sim->set.policy)
			   ? cli_analysis_blocks(settings, is_tago, &sim->analysis, &sim->blocks)
			   : CLI_GOOD;

	if (code)
		return code;
	if (fors_sim_needs_hops(&sim->set) && fors_hops_new(sim->analysis.router.graph, is_tago, &sim->hops, &error))
		return cli_fail(&error);
	sim->set.hops = sim->hops;
	sim->set.blocks = sim->blocks;
	return CLI_GOOD;
}
