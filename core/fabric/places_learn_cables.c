/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn_cables.c - every cable between a leaf and a spine gets a lane: step 3 of learning.
 *
 * A cable is known by the ports that it is plugged in at. One that is not seen keeps its lane, as a dead one, until a
 * port of it is used otherwise: then it is forgotten. A new one goes into a lane of its spine where its leaf never
 * had a cable, else into one whose cable is dead. A spine has as many lanes as the leaf with the most cables to it
 * needs.
 */
#include "places_inside.h"

#include <stdlib.h>

/* Is the cable that the place remembers still plugged in at both ends? */
static bool is_plugged(const struct fors_learning *l, uint32_t node, uint32_t lane)
{
	const struct fors_plug *plug = &l->places->leaf[l->place[node]].plug[lane];
	uint32_t peer;

	if (!plug->leaf_port || plug->leaf_port > l->net->node[node].nports)
		return false;
	peer = fors_peer_switch(l->net, node, plug->leaf_port);
	return peer != FORS_NONE && l->side[peer] == FORS_SIDE_SPINE && l->place[peer] == l->places->lane[lane].spine &&
	       fors_net_port(l->net, node, plug->leaf_port)->peer_port == plug->spine_port;
}

static uint32_t live_node(const struct fors_learning *l, uint64_t guid, enum fors_side side)
{
	uint32_t node = fors_net_find_guid(l->net, guid);

	return node != FORS_NONE && l->side[node] == side ? node : FORS_NONE;
}

static bool is_in_use(const struct fors_learning *l, uint32_t node, unsigned port)
{
	return node != FORS_NONE && port <= l->net->node[node].nports &&
	       fors_net_port(l->net, node, port)->peer != FORS_NONE;
}

/* Forget cables that are not plugged in, when a port of theirs is used otherwise now. */
static void forget_cables(struct fors_learning *l)
{
	for (uint32_t a = 0; a < l->places->nleaves; a++) {
		uint32_t leaf = live_node(l, l->places->leaf[a].guid, FORS_SIDE_LEAF);

		for (uint32_t k = 0; k < l->places->nlanes; k++) {
			struct fors_plug *plug = &l->places->leaf[a].plug[k];
			uint64_t spine_guid = l->places->spine[l->places->lane[k].spine].guid;

			if (!plug->leaf_port || (leaf != FORS_NONE && is_plugged(l, leaf, k)))
				continue;
			if (is_in_use(l, leaf, plug->leaf_port) ||
			    is_in_use(l, live_node(l, spine_guid, FORS_SIDE_SPINE), plug->spine_port))
				*plug = (struct fors_plug){0, 0};
		}
	}
}

/* The place of the spine that a leaf has a live cable to at a port; FORS_NONE. */
static uint32_t spine_at(const struct fors_learning *l, uint32_t node, unsigned port)
{
	uint32_t peer = fors_peer_switch(l->net, node, port);

	return peer != FORS_NONE && l->side[peer] == FORS_SIDE_SPINE ? l->place[peer] : FORS_NONE;
}

/* The cables of a leaf, spine by spine, where they are more than any leaf before had; count[] is all zeros, and stays so. */
static void count_cables(const struct fors_learning *l, uint32_t node, unsigned *count, unsigned *most)
{
	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t spine = spine_at(l, node, p);

		if (spine != FORS_NONE && ++count[spine] > most[spine])
			most[spine] = count[spine];
	}
	for (unsigned p = 1; p <= l->net->node[node].nports; p++)
		if (spine_at(l, node, p) != FORS_NONE)
			count[spine_at(l, node, p)] = 0;
}

/* Lanes that each spine needs: the most cables that any leaf has to it. The caller's; NULL: out of memory. */
static unsigned *lanes_needed(const struct fors_learning *l)
{
	unsigned *count = calloc(l->places->nspines + (size_t)1, sizeof(*count));
	unsigned *most = count ? calloc(l->places->nspines + (size_t)1, sizeof(*most)) : NULL;

	for (uint32_t node = 0; most && node < l->net->nnodes; node++)
		if (l->side[node] == FORS_SIDE_LEAF)
			count_cables(l, node, count, most);
	free(count);
	return most;
}

static unsigned lanes_of(const struct fors_places *places, uint32_t spine)
{
	unsigned count = 0;

	for (uint32_t k = 0; k < places->nlanes; k++)
		count += places->lane[k].spine == spine;
	return count;
}

static enum fors_err add_lane(struct fors_places *places, uint32_t spine, unsigned number, struct fors_error *error)
{
	if (places->nlanes == FORS_MAX_LANES)
		return fors_fail(error, FORS_ELIMIT, "the fabric has more than %u spine lanes", FORS_MAX_LANES);
	places->lane[places->nlanes++] = (struct fors_lane){(uint16_t)spine, (uint16_t)number};
	return FORS_OK;
}

/* Give every spine its lanes, spine by spine; one that was never seen gets as many as the others. */
static enum fors_err make_lanes(struct fors_learning *l, struct fors_error *error)
{
	struct fors_places *places = l->places;
	unsigned most = 1, *all = lanes_needed(l);
	enum fors_err err = all ? FORS_OK : fors_fail_memory(error);

	for (uint32_t spine = 0; !err && spine < places->nspines; spine++)
		most = all[spine] > most ? all[spine] : most;
	for (uint32_t spine = 0; !err && spine < places->nspines; spine++) {
		unsigned have = lanes_of(places, spine);
		unsigned needed = fors_learn_is_alive(l, places->spine[spine].guid) || have ? all[spine] : most;

		for (; !err && have < needed; have++)
			err = add_lane(places, spine, have, error);
	}
	free(all);
	return err;
}

/* The lane for a new cable of a leaf: one where it never had a cable, else one whose cable is dead. */
static uint32_t lane_for(const struct fors_learning *l, uint32_t node, uint32_t spine)
{
	const struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];
	uint32_t dead = FORS_NONE;

	for (uint32_t k = 0; k < l->places->nlanes; k++) {
		if (l->places->lane[k].spine != spine)
			continue;
		if (!leaf->plug[k].leaf_port)
			return k;
		if (dead == FORS_NONE && !is_plugged(l, node, k))
			dead = k;
	}
	return dead;
}

static bool has_cable_at(const struct fors_learning *l, uint32_t node, unsigned port)
{
	const struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];

	for (uint32_t k = 0; k < l->places->nlanes; k++)
		if (leaf->plug[k].leaf_port == port && is_plugged(l, node, k))
			return true;
	return false;
}

static void add_cables(struct fors_learning *l, uint32_t node)
{
	struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];

	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(l->net, node, p), lane;

		if (peer == FORS_NONE || l->side[peer] != FORS_SIDE_SPINE || has_cable_at(l, node, p))
			continue;
		lane = lane_for(l, node, l->place[peer]); /* make_lanes() saw to it that there is one */
		if (lane != FORS_NONE)
			leaf->plug[lane] = (struct fors_plug){(uint8_t)p, fors_net_port(l->net, node, p)->peer_port};
	}
}

enum fors_err fors_learn_cables(struct fors_learning *l, struct fors_error *error)
{
	enum fors_err err;

	forget_cables(l);
	err = make_lanes(l, error);
	if (err)
		return err;
	for (uint32_t node = 0; node < l->net->nnodes; node++)
		if (l->side[node] == FORS_SIDE_LEAF)
			add_cables(l, node);
	return FORS_OK;
}
