/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * policy_detour.c - not always by a shortest way: VLB, UGAL-L, UGAL-G (Valiant; Kim et al., "Technology-Driven,
 * Highly-Scalable Dragonfly Topology"), TAGO (Teh et al.). All decide at a packet's first switch, for each packet.
 *
 * VLB passes a switch somewhere else, by chance; with blocks, in a block that is neither the packet's own nor its
 * destination's. UGAL compares what stands on one shortest way and on one such detour, q and their lengths h, and takes the
 * shortest way when q_min h_min <= q_detour h_detour; UGAL-L knows the queue of the first link only, UGAL-G those of all
 * links of both ways, and takes q as their sum, with the lengths in it. (TAGO's paper does not print its rule: this is our
 * reading.) TAGO passes a global link from its own block to the destination's, all of them equally likely, which are the
 * weights of its equation 3 (lab/model/routers/blocks.h); inside of blocks, and where source and destination are in one, it is
 * ECMP. Before and behind what they pass, packets take any shortest way, each by chance.
 *
 * A packet's `via` is the switch that it has to pass, of TAGO the link.
 */
#include "policy.h"

/* ---- ways ---- */

/* A shortest way from node to goal, by chance: how many links, and what stands on the first and on all of them. */
struct walk {
	uint32_t length;
	uint64_t first, all;
};

static struct walk walk_to(struct sim *sim, uint32_t node, uint32_t goal)
{
	struct walk walk = {0};

	while (sim->settings->hops->goal_of[node] != goal) {
		uint32_t link = fors_sim_any_link(sim, goal, node);
		uint64_t backlog;

		if (link == FORS_NONE)
			return walk;
		backlog = fors_sim_backlog(sim, link);
		walk.first = walk.length++ ? walk.first : backlog;
		walk.all += backlog;
		node = sim->router->graph->to[link];
	}
	return walk;
}

/* A switch to pass on the way from `from`; FORS_NONE: there is none. Drawn again until it is far enough. */
static uint32_t draw_detour(struct sim *sim, uint32_t from, uint32_t goal)
{
	const struct fors_hops *hops = sim->settings->hops;
	uint32_t tries = 64 + hops->ngoals, count;

	while (tries--) {
		uint32_t via = fors_random_below(&sim->random, hops->ngoals);

		if (!fors_is_detour(sim->settings->blocks, hops->node_of[via], from, hops->node_of[goal]))
			continue;
		fors_hops_at(hops, via, from, &count);
		if (count)
			return hops->node_of[via];
	}
	return FORS_NONE;
}

/* ---- a detour over a switch ---- */

/* On to what is to be passed, or to the goal. */
static uint32_t go_on(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	uint32_t goal = fors_sim_goal(sim, &sim->message[packet->message]), link;

	if (packet->via == node)
		packet->via = FORS_NONE;
	if (sim->settings->hops->goal_of[node] == goal && packet->via == FORS_NONE)
		return sim->message[packet->message].last;
	link = fors_sim_any_link(sim, packet->via == FORS_NONE ? goal : sim->settings->hops->goal_of[packet->via],
				 node);
	return link;
}

static bool is_new(const struct sim_packet *packet)
{
	return packet->hop == 1;
}

static uint32_t choose_vlb(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	if (is_new(packet))
		packet->via = draw_detour(sim, node, fors_sim_goal(sim, &sim->message[packet->message]));
	return go_on(sim, packet, node);
}

/* Is a detour over `via` better than a shortest way? */
static bool is_better(struct sim *sim, uint32_t node, uint32_t via, uint32_t goal)
{
	struct walk least = walk_to(sim, node, goal), there = walk_to(sim, node, sim->settings->hops->goal_of[via]),
		    on = walk_to(sim, via, goal);

	if (sim->settings->policy == FORS_POLICY_UGAL_G)
		return least.all > there.all + on.all;
	return least.first * least.length > there.first * (there.length + on.length);
}

static uint32_t choose_ugal(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	uint32_t goal = fors_sim_goal(sim, &sim->message[packet->message]), via;

	if (is_new(packet)) {
		via = draw_detour(sim, node, goal);
		if (via != FORS_NONE && is_better(sim, node, via, goal))
			packet->via = via;
	}
	return go_on(sim, packet, node);
}

/* ---- TAGO ---- */

static uint32_t choose_tago(struct sim *sim, struct sim_packet *packet, uint32_t node)
{
	const struct fors_graph *graph = sim->router->graph;
	const struct fors_blocks *blocks = sim->settings->blocks;
	const struct sim_message *message = &sim->message[packet->message];
	uint32_t own = blocks->block_of[node], other = blocks->block_of[graph->from[message->last]], count;

	if (is_new(packet) && own != FORS_NONE && other != FORS_NONE && own != other) {
		const uint32_t *set = fors_blocks_links(blocks, own, other, &count);

		packet->via = count ? set[fors_random_below(&sim->random, count)] : FORS_NONE;
	}
	if (packet->via == FORS_NONE)
		return fors_sim_any_link(sim, fors_sim_goal(sim, message), node);
	if (graph->from[packet->via] == node) {
		uint32_t link = packet->via;

		packet->via = FORS_NONE;
		return link;
	}
	return fors_sim_any_link(sim, sim->settings->hops->goal_of[graph->from[packet->via]], node);
}

const struct sim_policy fors_sim_vlb = {choose_vlb, NULL};
const struct sim_policy fors_sim_ugal_l = {choose_ugal, NULL};
const struct sim_policy fors_sim_ugal_g = {choose_ugal, NULL};
const struct sim_policy fors_sim_tago = {choose_tago, NULL};
