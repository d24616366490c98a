/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * policy_switch.c - Switch AR (Minkenberg, Gusat, Rodriguez; as in paper 003): a packet goes over the link of shortest ways
 * with the lowest level of congestion towards its destination, by what the switch has heard.
 *
 * Notifications (qcn.h) that come through a switch, or begin there, raise the level of the link that they came from, for the
 * destination that they speak of. How, the paper does not say, so it is a setting: the level is the last feedback, or the
 * sum of all, or the time of the last one, so that the link of which was not heard for longest is taken. A level is
 * forgotten when nothing was heard for some time. All that goes to a destination goes one way at a time (binary split). Of
 * links on the same level the table's is taken, or, off the table's way, one by the destination's number, so that without
 * notifications traffic spreads.
 */
#include "policy.h"
#include "qcn.h"

static struct sim_level *level_of(const struct sim *sim, uint32_t link, uint32_t dst)
{
	return &sim->qcn->level[(size_t)link * sim->program->nservers + dst];
}

/* The time is over for which it counts, or it was never heard. */
static bool is_forgotten(const struct sim *sim, const struct sim_level *level)
{
	return !level->heard || level->heard + sim->qcn->forget <= sim->calendar->now;
}

static void listen(struct sim *sim, uint32_t link, uint32_t dst, uint32_t feedback)
{
	struct sim_level *level = level_of(sim, link, dst);
	uint64_t before = is_forgotten(sim, level) ? 0 : level->level;

	level->heard = sim->calendar->now + 1;
	switch (sim->settings->switch_ar.rule) {
	case FORS_LEVEL_LAST:
		level->level = feedback;
		break;
	case FORS_LEVEL_SUM:
		level->level = before + feedback;
		break;
	case FORS_LEVEL_OLDEST:
		level->level = level->heard;
		break;
	}
}

/* Place in the set to begin with. */
static uint32_t usual(const struct sim *sim, const struct sim_packet *packet, uint32_t node, const uint32_t *set,
		      uint32_t count)
{
	uint32_t link = fors_sim_table_link(sim, packet, node);

	for (uint32_t i = 0; i < count; i++)
		if (set[i] == link)
			return i;
	return sim->message[packet->message].dst % count;
}

static uint32_t choose_switch(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	const struct sim_message *message = &sim->message[packet->message];
	uint64_t lowest = UINT64_MAX;
	uint32_t count, first, best = FORS_NONE;
	const uint32_t *set = fors_hops_at(sim->settings->hops, fors_sim_goal(sim, message), node, &count);

	first = count ? usual(sim, packet, node, set, count) : 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t link = set[(first + i) % count];
		const struct sim_level *level = level_of(sim, link, message->dst);
		uint64_t value = is_forgotten(sim, level) ? 0 : level->level;

		if (value < lowest) {
			lowest = value;
			best = link;
		}
	}
	return best;
}

const struct sim_policy fors_sim_switch = {choose_switch, listen};
