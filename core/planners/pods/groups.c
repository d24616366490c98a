/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * groups.c - the closed form of regular three-level trees.
 *
 * Call (x,y') with block C an item: all units to servers x of leaves y' from C - beta[x] pods before. Two items meet
 * in a round if and only if tau^-y'(C) is the same for both: that number is their *round group*, and what two items of one
 * group do in one round they do in all. A group has one item (x,y') for each x and y'. So there are npods small
 * problems instead of npods * m2 rounds, each of them a board of planes and rungs.
 *
 * Tau and beta are free. An item inside, (z,y), and another (x,y) can change lanes to make room for a third
 * (repair.c), in all pods that one gets to from one another by beta(z) - beta(x) steps: so those differences should
 * have much in common with the number of pods, and then few entries move. But the fewer different blocks there are,
 * the fewer numbers y have an item inside, and the less room can be made in one plane. So there are three choices, by
 * what it costs that two numbers share a block.
 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

void fors_pods_groups_free(struct fors_pods_groups *groups)
{
	if (!groups)
		return;
	free(groups->power);
	free(groups->beta);
	free(groups->group);
	free(groups->turn);
	free(groups->slot);
	free(groups->leaf);
	free(groups);
}

/* ---- tau and beta ---- */

/* Pods that one gets to by steps of so many. */
static uint32_t orbit_of(uint32_t npods, uint32_t step)
{
	uint32_t n = 1;

	while (n * step % npods)
		n++;
	return n;
}

/*
 * What it costs that x gets this block: orbits of exchanges with those before, and `share` for each that has it
 * already.
 */
static uint32_t cost_of(const struct fors_pods_groups *c, uint32_t x, uint32_t block, uint32_t share)
{
	uint32_t cost = 0;

	for (uint32_t i = 0; i < x; i++)
		cost += c->beta[i] == block ? share : orbit_of(c->npods, (block + c->npods - c->beta[i]) % c->npods);
	return cost;
}

static uint32_t cheapest_block(const struct fors_pods_groups *c, uint32_t x, uint32_t begin, uint32_t end,
			       uint32_t share)
{
	uint32_t best = begin, least = UINT32_MAX;

	for (uint32_t block = begin; block < end; block++) {
		uint32_t cost = cost_of(c, x, block, share);

		if (cost < least) {
			least = cost;
			best = block;
		}
	}
	return best;
}

/*
 * Blocks in cycles, the longest first, of lengths that divide m2; and each x where fewest items stay inside: one in a
 * cycle of length n stays inside m2 / n times in each group of the cycle.
 */
static void choose_cycles(struct fors_pods_groups *c, uint32_t share, uint32_t *begin, uint32_t *inside)
{
	uint32_t ncycles = 0, used = 0;

	while (used < c->npods) {
		uint32_t length = c->m2 < c->npods - used ? c->m2 : c->npods - used;

		while (c->m2 % length)
			length--;
		for (uint32_t i = 0; i < length; i++)
			for (uint32_t k = 0; k < c->m2; k++)
				c->power[k * c->npods + used + i] = (uint16_t)(used + (i + k) % length);
		begin[ncycles++] = used;
		used += length;
	}
	begin[ncycles] = used;
	for (uint32_t x = 0; x < c->m1; x++) {
		uint32_t best = 0, length;

		for (uint32_t i = 1; i < ncycles; i++)
			best = inside[i] < inside[best] ? i : best;
		length = begin[best + 1] - begin[best];
		c->beta[x] = (uint16_t)cheapest_block(c, x, begin[best], begin[best + 1], share);
		inside[best] += c->m2 / length;
	}
}

static uint32_t power(const struct fors_pods_groups *c, uint32_t exponent, uint32_t block)
{
	return c->power[exponent % c->m2 * c->npods + block];
}

/* Group and turn of every item, by the closed form. */
static void find_places(struct fors_pods_groups *c)
{
	const struct fors_pods *pods = c->lanes->pods;

	for (uint32_t p = 0; p < c->npods; p++)
		for (uint32_t s = 0; s < pods->nslots; s++) {
			const struct fors_pods_switch *to = &pods->leaf[pods->slot[s].leaf];
			uint32_t block = (to->pod + c->npods - p + c->beta[pods->slot[s].rank]) % c->npods;

			c->group[(size_t)p * pods->nslots + s] = (uint16_t)power(c, c->m2 - to->number, block);
			c->turn[(size_t)p * pods->nslots + s] = (uint8_t)to->number;
		}
}

enum fors_err fors_pods_groups_new(const struct fors_pods_lanes *lanes, enum fors_pods_groups_choice choice,
				   struct fors_pods_groups **groups, struct fors_error *error)
{
	const struct fors_pods *pods = lanes->pods;
	const uint32_t share[] = {
		[FORS_PODS_GROUPS_SHARED] = (pods->npods + 3) / 4,
		[FORS_PODS_GROUPS_SOME] = pods->npods / 2 + 1,
		[FORS_PODS_GROUPS_SPREAD] = 4 * pods->npods,
	};
	struct fors_pods_groups *c = calloc(1, sizeof(*c));
	uint32_t *begin = calloc(pods->npods + (size_t)2, sizeof(*begin));
	uint32_t *inside = calloc(pods->npods + (size_t)2, sizeof(*inside));

	if (c) {
		*c = (struct fors_pods_groups){.lanes = lanes,
					       .m1 = lanes->m1,
					       .m2 = lanes->m2,
					       .npods = pods->npods,
					       .nrounds = pods->npods * lanes->m2};
		c->power = calloc((size_t)c->m2 * c->npods + 1, sizeof(*c->power));
		c->beta = calloc(c->m1 + (size_t)1, sizeof(*c->beta));
		c->group = calloc((size_t)c->npods * pods->nslots + 1, sizeof(*c->group));
		c->turn = calloc((size_t)c->npods * pods->nslots + 1, sizeof(*c->turn));
		c->slot = calloc(pods->nleaves + (size_t)1, sizeof(*c->slot));
		c->leaf = calloc(pods->nleaves + (size_t)1, sizeof(*c->leaf));
	}
	if (!c || !begin || !inside || !c->power || !c->beta || !c->slot || !c->leaf || !c->group || !c->turn) {
		fors_pods_groups_free(c);
		free(begin);
		free(inside);
		return fors_fail_memory(error);
	}
	choose_cycles(c, share[choice], begin, inside);
	find_places(c);
	for (uint32_t a = 0; a < pods->nleaves; a++) {
		c->slot[pods->leaf[a].pod * c->m2 + pods->leaf[a].number] = pods->leaf[a].first;
		c->leaf[pods->leaf[a].pod * c->m2 + pods->leaf[a].number] = a;
	}
	free(begin);
	free(inside);
	*groups = c;
	return FORS_OK;
}

/* Write a leaf's lane to a slot, where it leads there; else, or if it is FORS_NONE, nothing. */
static void send_leaf(const struct fors_pods_groups *groups, struct fors_pods_ways *ways, uint32_t leaf, uint32_t slot,
		      uint32_t lane)
{
	const struct fors_pods_lanes *l = groups->lanes;
	uint8_t port = lane == FORS_NONE ? 0 : l->leaf_port[(size_t)leaf * l->nlanes + lane];

	if (leaf != l->pods->slot[slot].leaf)
		ways->leaf[(size_t)leaf * ways->ncolumns + slot] =
			port && fors_pods_lanes_live(l, leaf, lane) && fors_pods_ways_arrives(ways, leaf, port, slot)
				? port
				: 0;
}

static void send_mid(const struct fors_pods_groups *groups, struct fors_pods_ways *ways, uint32_t pod, uint32_t slot,
		     uint32_t plane, uint32_t rung)
{
	const struct fors_pods_lanes *l = groups->lanes;
	uint32_t mid = fors_pods_mid(l->pods, pod, plane);

	if (l->pods->leaf[l->pods->slot[slot].leaf].pod != pod)
		ways->mid[(size_t)mid * ways->ncolumns + slot] = fors_pods_ways_meets(ways, pod, slot, plane, rung)
									 ? l->mid_port[(size_t)mid * l->nrungs + rung]
									 : 0;
}

void fors_pods_groups_send(const struct fors_pods_groups *groups, struct fors_pods_ways *ways, uint32_t pod,
			   uint32_t slot, uint32_t lane, uint32_t rung)
{
	if (lane != FORS_NONE && rung != FORS_NONE)
		send_mid(groups, ways, pod, slot, fors_pods_lanes_plane(groups->lanes, lane), rung);
	for (uint32_t y = 0; y < groups->m2; y++)
		send_leaf(groups, ways, groups->leaf[pod * groups->m2 + y], slot, lane);
}
