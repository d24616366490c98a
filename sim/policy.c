/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* policy.c - see policy.h. */
#include "policy.h"

static uint32_t hashed(const struct sim *sim, const struct sim_message *message, uint32_t node, uint32_t count)
{
	uint64_t flow = (uint64_t)message->src << 32 | message->dst;

	return (uint32_t)(fors_random_of(fors_random_of(flow ^ sim->settings->seed << 20) ^ node) % count);
}

/* What a link has to send, in ticks of the fastest link. */
static uint64_t backlog(const struct sim *sim, uint32_t l)
{
	const struct sim_link *link = &sim->link[l];
	uint64_t now = sim->calendar->now;

	return (link->queued * (uint64_t)link->scale >> 16) + (link->free_at > now ? link->free_at - now : 0);
}

static uint32_t adaptive(struct sim *sim, const uint32_t *set, uint32_t count)
{
	uint32_t best = 0, ties = 0;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = backlog(sim, set[i]);

		if (value > least)
			continue;
		ties = value < least ? 1 : ties + 1;
		least = value;
		if (ties == 1 || fors_random_below(&sim->random, ties) == 0)
			best = i;
	}
	return best;
}

static uint32_t choose_link(struct sim *sim, const struct sim_message *message, uint32_t node)
{
	uint32_t count, goal = sim->settings->hops->goal_of[sim->router->graph->from[message->last]];
	const uint32_t *set = fors_hops_at(sim->settings->hops, goal, node, &count);

	if (!count)
		return message->last;
	switch (sim->settings->policy) {
	case FORS_POLICY_RANDOM:
		return set[fors_random_below(&sim->random, count)];
	case FORS_POLICY_HASHED:
		return set[hashed(sim, message, node, count)];
	default:
		return set[adaptive(sim, set, count)];
	}
}

uint32_t fors_sim_choose_freely(struct sim *sim, const struct sim_packet *packet)
{
	const struct sim_message *message = &sim->message[packet->message];
	uint32_t node = sim->router->graph->to[packet->lane >> sim->vl_bits];

	return choose_link(sim, message, node) << sim->vl_bits | message->vl;
}
