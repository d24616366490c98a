/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * policy_adaptive.c - a switch sends a packet over the link of shortest ways that has the least to send.
 *
 * As it stands that is an ideal: each packet, exact queues, no delay. Four parameters make it less, after the model of
 * InfiniBand's adaptive routing that Mellanox published (ib_model): a switch may know of a queue only how many levels it
 * has reached; a choice may bind packets to the same server for some time (bounded) instead of one packet (free); of
 * links that are equal the first may be taken (greedy) or any; and a packet may have to stay on the table's link until
 * that has some bytes waiting. None of them is known of any product.
 */
#include "policy.h"

/* What a switch knows of a link. */
static uint64_t value_of(const struct sim *sim, uint32_t l)
{
	const uint32_t *level = sim->settings->adaptive.level;
	uint64_t backlog = fors_sim_backlog(sim, l), steps = 0;

	if (!level[FORS_BUSY_LEVELS - 1])
		return backlog;
	for (unsigned i = 0; i < FORS_BUSY_LEVELS; i++)
		steps += backlog >= level[i];
	return steps;
}

static uint32_t least(struct sim *sim, const uint32_t *set, uint32_t count)
{
	uint64_t smallest = UINT64_MAX;
	uint32_t best = 0, ties = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = value_of(sim, set[i]);

		if (value > smallest)
			continue;
		ties = value < smallest ? 1 : ties + 1;
		smallest = value;
		if (ties == 1 || (!sim->settings->adaptive.is_greedy && fors_random_below(&sim->random, ties) == 0))
			best = i;
	}
	return set[best];
}

static uint32_t choose_adaptive(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	const struct sim_message *message = &sim->message[packet->message];
	struct sim_binding *bound =
		sim->binding ? &sim->binding[(size_t)node * sim->program->nservers + message->dst] : NULL;
	uint32_t count, link = FORS_NONE;
	const uint32_t *set = fors_hops_at(sim->settings->hops, fors_sim_goal(sim, message), node, &count);

	if (!count)
		return FORS_NONE;
	if (bound && bound->until > sim->calendar->now)
		return bound->link;
	if (sim->settings->adaptive.leave)
		link = fors_sim_table_link(sim, packet, node);
	if (link == FORS_NONE || fors_sim_backlog(sim, link) >= sim->settings->adaptive.leave)
		link = least(sim, set, count);
	if (bound)
		*bound = (struct sim_binding){sim->calendar->now + sim->binding_ticks, link};
	return link;
}

const struct sim_policy fors_sim_adaptive = {choose_adaptive, NULL};
