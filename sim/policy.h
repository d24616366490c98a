/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * policy.h - which way a packet goes on from a switch, when its head is there; private to the room.
 *
 * Tables say it. The others choose among the links of all shortest ways (model/routers/hops.h): at random for each packet;
 * by a hash of the flow (source, destination, switch, seed), so that its packets stay in order; or adaptively, the link
 * with the least to send: bytes in queues for it, and what is left of the packet that it sends. Of several such
 * one at random. That is an ideal: switches of InfiniBand look less often, and cost something; no figure of it is one of a
 * product.
 */
#ifndef FORS_SIM_POLICY_H
#define FORS_SIM_POLICY_H

#include "state.h"

/* The same by any policy but tables. */
uint32_t fors_sim_choose_freely(struct sim *sim, const struct sim_packet *packet);

/* The lane that a packet goes on over, from the switch that it has come to. */
static inline uint32_t fors_sim_choose(struct sim *sim, const struct sim_packet *packet)
{
	uint32_t link;

	if (sim->settings->policy != FORS_POLICY_TABLES)
		return fors_sim_choose_freely(sim, packet);
	link = sim->way[(size_t)packet->message * sim->router->max_links + packet->hop];
	return link << sim->vl_bits | sim->message[packet->message].vl;
}

#endif
