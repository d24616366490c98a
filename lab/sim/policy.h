/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * policy.h - which way a packet goes on from a switch, when its head is there; private to the room.
 *
 * Tables say it. All other policies choose among sets of next hops, the links of all shortest ways (lab/model/routers/hops.h),
 * and are one function behind one interface:
 *
 *      policy.c            random for each packet; hashed for each flow, so that its packets stay in order (ECMP)
 *      policy_adaptive.c   the link with the least to send, with what makes it less than ideal
 *      policy_detour.c     first to somewhere else: VLB, UGAL-L, UGAL-G, TAGO
 *      policy_switch.c     Switch AR: the link of which the least congestion was heard
 *
 * A packet's last link, to its server, is the table's in any case. Which virtual lane it takes is that of its message,
 * or (has_lanes_by_hop) grows from switch to switch, so that no circle of lanes can wait for one another.
 */
#ifndef FORS_LAB_SIM_POLICY_H
#define FORS_LAB_SIM_POLICY_H

#include "state.h"

struct sim_policy {
	/* The link over which the packet leaves `node`, which is not the last switch of its way. */
	uint32_t (*choose)(struct sim *sim, struct sim_packet *packet, uint32_t node);
	/* NULL, or: the switch that `link` leaves hears of congestion on it, or behind it, towards a server; feedback 1..63. */
	void (*listen)(struct sim *sim, uint32_t link, uint32_t dst, uint32_t feedback);
};

extern const struct sim_policy fors_sim_random, fors_sim_hashed;			      /* policy.c */
extern const struct sim_policy fors_sim_adaptive;					      /* policy_adaptive.c */
extern const struct sim_policy fors_sim_vlb, fors_sim_ugal_l, fors_sim_ugal_g, fors_sim_tago; /* policy_detour.c */
extern const struct sim_policy fors_sim_switch;						      /* policy_switch.c */

/* That of the settings; NULL: tables. */
const struct sim_policy *fors_sim_policy(enum fors_policy policy);

/* The goal of a message: the switch of its server. */
static inline uint32_t fors_sim_goal(const struct sim *sim, const struct sim_message *message)
{
	return sim->settings->hops->goal_of[sim->router->graph->from[message->last]];
}

/* One of the links of shortest ways from a node to a goal, by chance; FORS_NONE: there is none. */
uint32_t fors_sim_any_link(struct sim *sim, uint32_t goal, uint32_t node);

/* The table's link from this node, if the message's way passes it; FORS_NONE: it does not. */
uint32_t fors_sim_table_link(const struct sim *sim, const struct sim_packet *packet, uint32_t node);

/* What a link has to send: packets that wait for it, and what is left of the one that it sends; ticks of the fastest link. */
static inline uint64_t fors_sim_backlog(const struct sim *sim, uint32_t l)
{
	const struct sim_link *link = &sim->link[l];
	uint64_t now = sim->calendar->now;

	return (link->queued * (uint64_t)link->scale >> 16) + (link->free_at > now ? link->free_at - now : 0);
}

/* The lane that a packet goes on over, by any policy and rule of lanes. */
uint32_t fors_sim_choose_freely(struct sim *sim, struct sim_packet *packet);

/* The lane that a packet goes on over, from the switch that it has come to. */
static inline uint32_t fors_sim_choose(struct sim *sim, struct sim_packet *packet)
{
	uint32_t link;

	if (sim->policy || sim->settings->has_lanes_by_hop)
		return fors_sim_choose_freely(sim, packet);
	link = sim->way[(size_t)packet->message * sim->router->max_links + packet->hop];
	return link << sim->vl_bits | packet->vl;
}

#endif
