/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn_slots.c - every port for a server under a leaf gets a slot: step 4 of learning.
 *
 * A slot is a place, whether or not anything is plugged in: tables depend on slots, never on who is there. A leaf
 * that is seen for the first time gets slots for its empty ports too, where they lie among the ports that are for
 * servers at other leaves: so leaves that are cabled alike are numbered alike, and a server that comes later moves
 * nobody.
 */
#include "places_learn.h"

/* Which port numbers are for servers, judged by all leaves of the net together. */
struct port_use {
	unsigned first, last; /* the smallest and largest port with a server anywhere; first > last: no server */
	bool is_uplink[256];  /* by port number: cabled to a switch at some leaf */
};

static void survey_ports(const struct fors_learning *l, struct port_use *use)
{
	*use = (struct port_use){.first = 256};
	for (uint32_t node = 0; node < l->net->nnodes; node++)
		for (unsigned p = 1; l->side[node] == FORS_SIDE_LEAF && p <= l->net->node[node].nports; p++) {
			use->is_uplink[p] |= fors_peer_switch(l->net, node, p) != FORS_NONE;
			if (!fors_learn_has_end_node(l->net, node, p))
				continue;
			use->first = p < use->first ? p : use->first;
			use->last = p > use->last ? p : use->last;
		}
}

static bool is_uplink_port(const struct fors_places *places, const struct fors_leaf_place *leaf, unsigned port)
{
	for (uint32_t k = 0; k < places->nlanes; k++)
		if (leaf->plug[k].leaf_port == port)
			return true;
	return false;
}

/* Number of the slot at this port, or nslots. */
static unsigned slot_at(const struct fors_leaf_place *leaf, unsigned port)
{
	unsigned s = 0;

	while (s < leaf->nslots && leaf->slot_port[s] != port)
		s++;
	return s;
}

/* A port becomes a slot: in the first hole, else as a new one at the end. */
static void add_slot(struct fors_leaf_place *leaf, unsigned port)
{
	unsigned s = slot_at(leaf, port);

	if (s < leaf->nslots)
		return;
	s = slot_at(leaf, 0);
	leaf->slot_port[s] = (uint8_t)port;
	if (s == leaf->nslots)
		leaf->nslots++;
}

/* A free port of a new leaf is a server place when it lies among server ports and is no leaf's uplink. */
static bool is_free_place(const struct fors_learning *l, uint32_t node, unsigned p, const struct port_use *use)
{
	return fors_net_port(l->net, node, p)->peer == FORS_NONE && p >= use->first && p <= use->last &&
	       !use->is_uplink[p] && !is_uplink_port(l->places, &l->places->leaf[l->place[node]], p);
}

/*
 * Slots of one leaf. A leaf that is new also gets its free places, so that leaves
 * cabled alike are numbered alike whatever is plugged in.
 */
static void learn_slots(struct fors_learning *l, uint32_t node, const struct port_use *use)
{
	struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];
	bool is_new = leaf->nslots == 0;

	for (unsigned s = 0; s < leaf->nslots; s++)
		if (leaf->slot_port[s] > l->net->node[node].nports ||
		    fors_peer_switch(l->net, node, leaf->slot_port[s]) != FORS_NONE)
			leaf->slot_port[s] = 0;
	for (unsigned p = 1; p <= l->net->node[node].nports; p++)
		if (fors_learn_has_end_node(l->net, node, p) || (is_new && is_free_place(l, node, p, use)))
			add_slot(leaf, p);
}

void fors_learn_slots(struct fors_learning *l)
{
	struct port_use use;

	survey_ports(l, &use);
	for (uint32_t node = 0; node < l->net->nnodes; node++)
		if (l->side[node] == FORS_SIDE_LEAF)
			learn_slots(l, node, &use);
}
