/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn_slots.c - every port for a server under a leaf gets a slot: step 4 of learning.
 *
 * A slot is a port where a server was seen, whether or not it is there now: tables depend on slots, never on who is
 * there. Free ports have none. The first servers of an order are ranked, and so are all when the first lane comes; whoever
 * comes later is a newcomer, and takes a home beside the others (places_rank.c). A host that was moved to another port of
 * its leaf takes its slot with it.
 */
#include "places.h"
#include "places_file.h"
#include "places_learn.h"

/* Number of the slot at this port, or nslots. */
static unsigned slot_at(const struct fors_leaf_place *leaf, unsigned port)
{
	unsigned s = 0;

	while (s < leaf->nslots && leaf->slot_port[s] != port)
		s++;
	return s;
}

static bool has_server(const struct fors_learning *l, uint32_t node, unsigned port)
{
	return port && fors_learn_has_end_node(l->net, node, port);
}

/* The slot of a server that was at another port of the leaf, where nobody is now; nslots: there is none. */
static unsigned slot_moved(const struct fors_learning *l, uint32_t node, uint64_t guid)
{
	const struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];
	unsigned s = 0;

	while (s < leaf->nslots && !(guid && leaf->slot_guid[s] == guid && fors_places_is_slot(leaf, s) &&
				     !has_server(l, node, leaf->slot_port[s])))
		s++;
	return s;
}

static uint64_t guid_at(const struct fors_learning *l, uint32_t node, unsigned port)
{
	const struct fors_port *here = fors_net_port(l->net, node, port);

	return fors_net_port(l->net, here->peer, here->peer_port)->guid;
}

/* The slot of a server that is here for the first time: the one it was at, else the first hole, else a new one. */
static void add_slot(const struct fors_learning *l, uint32_t node, unsigned port)
{
	struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];
	unsigned s = slot_moved(l, node, guid_at(l, node, port));
	bool has_moved = s < leaf->nslots;

	if (!has_moved)
		s = slot_at(leaf, 0);
	if (s == leaf->nslots)
		leaf->nslots++;
	leaf->slot_port[s] = (uint8_t)port;
	if (!has_moved)
		fors_places_welcome(l->places, leaf, s);
}

/* The slots of one leaf. */
static void learn_slots(const struct fors_learning *l, uint32_t node)
{
	struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];

	for (unsigned s = 0; s < leaf->nslots; s++)
		if (leaf->slot_port[s] > l->net->node[node].nports ||
		    fors_peer_switch(l->net, node, leaf->slot_port[s]) != FORS_NONE)
			leaf->slot_port[s] = 0;
	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		if (!has_server(l, node, p))
			continue;
		if (slot_at(leaf, p) == leaf->nslots)
			add_slot(l, node, p);
		leaf->slot_guid[slot_at(leaf, p)] = guid_at(l, node, p);
	}
}

static bool has_slot(const struct fors_places *places)
{
	for (uint32_t a = 0; a < places->nleaves; a++)
		if (places->leaf[a].nslots)
			return true;
	return false;
}

enum fors_err fors_learn_slots(struct fors_learning *l, struct fors_error *error)
{
	bool is_first = !has_slot(l->places) || (!l->known_lanes && l->places->nlanes);

	for (uint32_t i = 0; i < l->net->nnodes; i++) {
		uint32_t node = l->net->by_guid[i];

		if (l->side[node] == FORS_SIDE_LEAF)
			learn_slots(l, node);
	}
	return is_first ? fors_places_rank(l->places, error) : FORS_OK;
}
