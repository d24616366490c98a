/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* policy.c - see policy.h; and the two policies that look at nothing: random, hashed. */
#include "policy.h"

uint32_t fors_sim_any_link(struct sim *sim, uint32_t goal, uint32_t node)
{
	uint32_t count;
	const uint32_t *set = fors_hops_at(sim->settings->hops, goal, node, &count);

	return count ? set[fors_random_below(&sim->random, count)] : FORS_NONE;
}

uint32_t fors_sim_table_link(const struct sim *sim, const struct sim_packet *packet, uint32_t node)
{
	const uint32_t *way = &sim->way[(size_t)packet->message * sim->router->max_links];

	for (uint32_t i = 0; i < sim->message[packet->message].nlinks; i++)
		if (sim->router->graph->from[way[i]] == node)
			return way[i];
	return FORS_NONE;
}

static uint32_t choose_random(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	return fors_sim_any_link(sim, fors_sim_goal(sim, &sim->message[packet->message]), node);
}

/* By source, destination, switch and seed. */
static uint32_t choose_hashed(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	const struct sim_message *message = &sim->message[packet->message];
	uint64_t flow = (uint64_t)message->src << 32 | message->dst;
	uint32_t count;
	const uint32_t *set = fors_hops_at(sim->settings->hops, fors_sim_goal(sim, message), node, &count);

	if (!count)
		return FORS_NONE;
	return set[fors_random_of(fors_random_of(flow ^ sim->settings->seed << 20) ^ node) % count];
}

const struct sim_policy fors_sim_random = {choose_random, NULL};
const struct sim_policy fors_sim_hashed = {choose_hashed, NULL};

const struct sim_policy *fors_sim_policy(enum fors_policy policy)
{
	static const struct sim_policy *const policies[FORS_NPOLICIES] = {
		[FORS_POLICY_RANDOM] = &fors_sim_random,     [FORS_POLICY_HASHED] = &fors_sim_hashed,
		[FORS_POLICY_ADAPTIVE] = &fors_sim_adaptive, [FORS_POLICY_VLB] = &fors_sim_vlb,
		[FORS_POLICY_UGAL_L] = &fors_sim_ugal_l,     [FORS_POLICY_UGAL_G] = &fors_sim_ugal_g,
		[FORS_POLICY_TAGO] = &fors_sim_tago,	     [FORS_POLICY_SWITCH_AR] = &fors_sim_switch,
	};

	return policy < FORS_NPOLICIES ? policies[policy] : NULL;
}

/* At its last switch a packet goes to its server, unless it is only passing on a detour. */
static uint32_t choose_link(struct sim *sim, struct sim_packet *packet)
{
	const struct sim_message *message = &sim->message[packet->message];
	uint32_t node = sim->router->graph->to[packet->lane >> sim->vl_bits], link;

	if (!sim->policy)
		return sim->way[(size_t)packet->message * sim->router->max_links + packet->hop];
	if (node == sim->router->graph->from[message->last] && packet->via == FORS_NONE)
		return message->last;
	link = sim->policy->choose(sim, packet, node);
	return link == FORS_NONE ? message->last : link;
}

uint32_t fors_sim_choose_freely(struct sim *sim, struct sim_packet *packet)
{
	uint32_t link = choose_link(sim, packet), lane = packet->vl;

	if (sim->settings->has_lanes_by_hop)
		lane = packet->hop <= sim->nvls ? packet->hop - 1u : sim->nvls - 1;
	return link << sim->vl_bits | lane;
}
