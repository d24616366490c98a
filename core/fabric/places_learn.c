/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn.c - what has a place in the fabric, in an order that never changes.
 *
 * Tables are computed from places: server g has its home on lane (g + i) mod S. So
 * no place may move because something died; a dead spine keeps its lanes and a
 * pulled server its slot, and what is new fills the places of the dead before
 * any list grows. Learning works on a copy that replaces the original only when
 * all went well, in this order:
 *
 *   1. sides: which switches are leaves, which spines (sides.c)
 *   2. switches: every switch gets a place (new ones that of the dead one whose ports they occupy)
 *   3. cables: known ones are confirmed, those whose ports are used otherwise
 *      forgotten, new ones put into free lanes of their spine
 *   4. slots: every CA port under a leaf gets a slot
 */
#include "places_inside.h"

#include <stdlib.h>
#include <string.h>

#include "places.h"
#include "sides.h"

struct learning {
	struct fors_places *places; /* the copy that learns */
	const struct fors_net *net;
	uint8_t *side;	       /* per node */
	uint32_t *place;       /* per node: index of its leaf or spine place, or FORS_NONE */
	uint32_t known_leaves; /* leaf places that were there before this net was learnt */
	const uint64_t *root;  /* root GUIDs, nroots of them */
	size_t nroots;
};

static void take_name(const struct fors_net *net, uint32_t node, char *name)
{
	const struct fors_node *n = &net->node[node];

	memcpy(name, n->desc[0] ? n->desc : n->id, FORS_NAME_MAX + 1);
}

/* --- switches ------------------------------------------------------------- */

/* How many of the cables of the new spine `node` are plugged in where those of the place `spine` were. */
static unsigned spine_overlap(const struct learning *l, uint32_t node, uint32_t spine)
{
	unsigned overlap = 0;

	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(l->net, node, p);
		uint32_t a = peer == FORS_NONE ? FORS_NONE : fors_places_leaf(l->places, l->net->node[peer].guid);

		for (uint32_t k = 0; a != FORS_NONE && k < l->places->nlanes; k++)
			overlap += l->places->lane[k].spine == spine &&
				   l->places->leaf[a].plug[k].leaf_port == fors_net_port(l->net, node, p)->peer_port;
	}
	return overlap;
}

/* The same for a leaf: spine ports that it occupies and the dead leaf did. */
static unsigned leaf_overlap(const struct learning *l, uint32_t node, uint32_t leaf)
{
	unsigned overlap = 0;

	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(l->net, node, p);
		uint32_t spine = peer == FORS_NONE ? FORS_NONE : fors_places_spine(l->places, l->net->node[peer].guid);

		for (uint32_t k = 0; spine != FORS_NONE && k < l->places->nlanes; k++)
			overlap +=
				l->places->lane[k].spine == spine &&
				l->places->leaf[leaf].plug[k].spine_port == fors_net_port(l->net, node, p)->peer_port;
	}
	return overlap;
}

static bool is_alive(const struct learning *l, uint64_t guid)
{
	return fors_net_find_guid(l->net, guid) != FORS_NONE;
}

/* The dead spine place for a new spine: the one whose leaf ports it occupies, else the first, else FORS_NONE. */
static uint32_t dead_spine_for(const struct learning *l, uint32_t node)
{
	uint32_t best = FORS_NONE;
	unsigned most = 0;

	for (uint32_t k = 0; k < l->places->nspines; k++) {
		unsigned overlap;

		if (is_alive(l, l->places->spine[k].guid))
			continue;
		overlap = spine_overlap(l, node, k);
		if (best == FORS_NONE || overlap > most) {
			best = k;
			most = overlap;
		}
	}
	return best;
}

/* The dead leaf place for a new leaf: only one whose spine ports it occupies. */
static uint32_t dead_leaf_for(const struct learning *l, uint32_t node)
{
	uint32_t best = FORS_NONE;
	unsigned most = 0;

	for (uint32_t a = 0; a < l->known_leaves; a++) {
		unsigned overlap;

		if (is_alive(l, l->places->leaf[a].guid))
			continue;
		overlap = leaf_overlap(l, node, a);
		if (overlap > most) {
			best = a;
			most = overlap;
		}
	}
	return best;
}

static enum fors_err place_spine(struct learning *l, uint32_t node, struct fors_error *error)
{
	uint32_t k = fors_places_spine(l->places, l->net->node[node].guid);
	enum fors_err err;

	if (k == FORS_NONE)
		k = dead_spine_for(l, node);
	if (k == FORS_NONE && (err = fors_places_add_spine(l->places, &k, error)))
		return err;
	if (l->places->spine[k].guid != l->net->node[node].guid)
		l->places->spine[k].former = l->places->spine[k].guid;
	l->places->spine[k].guid = l->net->node[node].guid;
	take_name(l->net, node, l->places->spine[k].name);
	l->place[node] = k;
	return FORS_OK;
}

static enum fors_err place_leaf(struct learning *l, uint32_t node, struct fors_error *error)
{
	uint32_t a = fors_places_leaf(l->places, l->net->node[node].guid);
	enum fors_err err;

	if (a == FORS_NONE)
		a = dead_leaf_for(l, node);
	if (a == FORS_NONE && (err = fors_places_add_leaf(l->places, &a, error)))
		return err;
	l->places->leaf[a].guid = l->net->node[node].guid;
	take_name(l->net, node, l->places->leaf[a].name);
	l->place[node] = a;
	return FORS_OK;
}

static bool is_listed(const struct learning *l, uint64_t guid)
{
	for (size_t i = 0; i < l->nroots; i++)
		if (l->root[i] == guid)
			return true;
	return false;
}

/* A listed spine without a place; one whose place another switch has taken is gone for good, listed or not. */
static bool lacks_place(const struct learning *l, uint64_t guid)
{
	for (uint32_t k = 0; k < l->places->nspines; k++)
		if (l->places->spine[k].guid == guid || l->places->spine[k].former == guid)
			return false;
	return true;
}

/* The place of a dead spine that is not listed any more, or FORS_NONE. */
static uint32_t unlisted_place(const struct learning *l)
{
	for (uint32_t k = 0; k < l->places->nspines; k++) {
		uint64_t guid = l->places->spine[k].guid;

		if (!is_alive(l, guid) && !is_listed(l, guid))
			return k;
	}
	return FORS_NONE;
}

static enum fors_err place_root(struct learning *l, uint64_t guid, struct fors_error *error)
{
	uint32_t k = unlisted_place(l);
	enum fors_err err;

	if (k == FORS_NONE && (err = fors_places_add_spine(l->places, &k, error)))
		return err;
	l->places->spine[k].former = l->places->spine[k].guid;
	l->places->spine[k].guid = guid;
	l->places->spine[k].name[0] = '\0';
	return FORS_OK;
}

/* Spines named by root_guid_file that were never seen keep a place, in GUID order with the rest. */
static enum fors_err place_roots(struct learning *l, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (size_t done = 0; !err && done < l->nroots; done++) {
		uint64_t next = 0;

		for (size_t i = 0; i < l->nroots; i++)
			if ((!next || l->root[i] < next) && lacks_place(l, l->root[i]))
				next = l->root[i];
		if (!next)
			break;
		err = place_root(l, next, error);
	}
	return err;
}

static enum fors_err place_switches(struct learning *l, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	if (!l->places->nspines) /* all at once, so that no order depends on who is alive at the start */
		err = place_roots(l, error);
	l->known_leaves = l->places->nleaves;
	for (uint32_t i = 0; !err && i < l->net->nnodes; i++) {
		uint32_t node = l->net->by_guid[i];

		if (l->side[node] == FORS_SIDE_SPINE)
			err = place_spine(l, node, error);
		else if (l->side[node] == FORS_SIDE_LEAF)
			err = place_leaf(l, node, error);
	}
	return err ? err : place_roots(l, error);
}

/* --- cables --------------------------------------------------------------- */

/* Is the cable that the place remembers still plugged in at both ends? */
static bool is_plugged(const struct learning *l, uint32_t node, uint32_t lane)
{
	const struct fors_plug *plug = &l->places->leaf[l->place[node]].plug[lane];
	uint32_t peer;

	if (!plug->leaf_port || plug->leaf_port > l->net->node[node].nports)
		return false;
	peer = fors_peer_switch(l->net, node, plug->leaf_port);
	return peer != FORS_NONE && l->side[peer] == FORS_SIDE_SPINE && l->place[peer] == l->places->lane[lane].spine &&
	       fors_net_port(l->net, node, plug->leaf_port)->peer_port == plug->spine_port;
}

static uint32_t live_node(const struct learning *l, uint64_t guid, enum fors_side side)
{
	uint32_t node = fors_net_find_guid(l->net, guid);

	return node != FORS_NONE && l->side[node] == side ? node : FORS_NONE;
}

static bool is_in_use(const struct learning *l, uint32_t node, unsigned port)
{
	return node != FORS_NONE && port <= l->net->node[node].nports &&
	       fors_net_port(l->net, node, port)->peer != FORS_NONE;
}

/* Forget cables that are not plugged in, when a port of theirs is used otherwise now. */
static void forget_cables(struct learning *l)
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

/* Live cables of a leaf to one spine place. */
static unsigned count_cables(const struct learning *l, uint32_t node, uint32_t spine)
{
	unsigned count = 0;

	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(l->net, node, p);

		count += peer != FORS_NONE && l->side[peer] == FORS_SIDE_SPINE && l->place[peer] == spine;
	}
	return count;
}

/* Lanes that a spine needs: the most cables that any leaf has to it. */
static unsigned lanes_needed(const struct learning *l, uint32_t spine)
{
	unsigned most = 0;

	for (uint32_t node = 0; node < l->net->nnodes; node++)
		if (l->side[node] == FORS_SIDE_LEAF) {
			unsigned count = count_cables(l, node, spine);

			most = count > most ? count : most;
		}
	return most;
}

static unsigned lanes_of(const struct fors_places *places, uint32_t spine)
{
	unsigned count = 0;

	for (uint32_t k = 0; k < places->nlanes; k++)
		count += places->lane[k].spine == spine;
	return count;
}

/* Give every spine its lanes, spine by spine; one that was never seen gets as many as the others. */
static enum fors_err make_lanes(struct learning *l, struct fors_error *error)
{
	struct fors_places *places = l->places;
	unsigned most = 1;

	for (uint32_t spine = 0; spine < places->nspines; spine++) {
		unsigned needed = lanes_needed(l, spine);

		most = needed > most ? needed : most;
	}
	for (uint32_t spine = 0; spine < places->nspines; spine++) {
		unsigned have = lanes_of(places, spine);
		unsigned needed = is_alive(l, places->spine[spine].guid) || have ? lanes_needed(l, spine) : most;

		for (; have < needed; have++) {
			if (places->nlanes == FORS_MAX_LANES)
				return fors_fail(error, FORS_ELIMIT, "the fabric has more than %u spine lanes",
						 FORS_MAX_LANES);
			places->lane[places->nlanes++] = (struct fors_lane){(uint16_t)spine, (uint16_t)have};
		}
	}
	return FORS_OK;
}

/* The lane for a new cable of a leaf: one where it never had a cable, else one whose cable is dead. */
static uint32_t lane_for(const struct learning *l, uint32_t node, uint32_t spine)
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

static bool has_cable_at(const struct learning *l, uint32_t node, unsigned port)
{
	const struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];

	for (uint32_t k = 0; k < l->places->nlanes; k++)
		if (leaf->plug[k].leaf_port == port && is_plugged(l, node, k))
			return true;
	return false;
}

static void add_cables(struct learning *l, uint32_t node)
{
	struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];

	for (unsigned p = 1; p <= l->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(l->net, node, p), lane;

		if (peer == FORS_NONE || has_cable_at(l, node, p))
			continue;
		lane = lane_for(l, node, l->place[peer]); /* make_lanes() saw to it that there is one */
		if (lane != FORS_NONE)
			leaf->plug[lane] = (struct fors_plug){(uint8_t)p, fors_net_port(l->net, node, p)->peer_port};
	}
}

/* --- slots ---------------------------------------------------------------- */

static bool has_end_node(const struct fors_net *net, uint32_t node, unsigned port)
{
	uint32_t peer;

	if (port > net->node[node].nports)
		return false;
	peer = fors_net_port(net, node, port)->peer;
	return peer != FORS_NONE && net->node[peer].type != FORS_SWITCH;
}

/* Which port numbers are for servers, judged by all leaves of the net together. */
struct port_use {
	unsigned first, last; /* the smallest and largest port with a server anywhere; first > last: no server */
	bool is_uplink[256];  /* by port number: cabled to a switch at some leaf */
};

static void survey_ports(const struct learning *l, struct port_use *use)
{
	*use = (struct port_use){.first = 256};
	for (uint32_t node = 0; node < l->net->nnodes; node++)
		for (unsigned p = 1; l->side[node] == FORS_SIDE_LEAF && p <= l->net->node[node].nports; p++) {
			use->is_uplink[p] |= fors_peer_switch(l->net, node, p) != FORS_NONE;
			if (!has_end_node(l->net, node, p))
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
static bool is_free_place(const struct learning *l, uint32_t node, unsigned p, const struct port_use *use)
{
	return fors_net_port(l->net, node, p)->peer == FORS_NONE && p >= use->first && p <= use->last &&
	       !use->is_uplink[p] && !is_uplink_port(l->places, &l->places->leaf[l->place[node]], p);
}

/*
 * Slots of one leaf. A leaf that is new also gets its free places, so that leaves
 * cabled alike are numbered alike whatever is plugged in.
 */
static void learn_slots(struct learning *l, uint32_t node, const struct port_use *use)
{
	struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];
	bool is_new = leaf->nslots == 0;

	for (unsigned s = 0; s < leaf->nslots; s++)
		if (leaf->slot_port[s] > l->net->node[node].nports ||
		    fors_peer_switch(l->net, node, leaf->slot_port[s]) != FORS_NONE)
			leaf->slot_port[s] = 0;
	for (unsigned p = 1; p <= l->net->node[node].nports; p++)
		if (has_end_node(l->net, node, p) || (is_new && is_free_place(l, node, p, use)))
			add_slot(leaf, p);
}

/* --- were the sides wrong? ------------------------------------------------ */

static enum fors_side known_as(const struct learning *l, uint64_t guid)
{
	if (fors_places_leaf(l->places, guid) != FORS_NONE)
		return FORS_SIDE_LEAF;
	return fors_places_spine(l->places, guid) != FORS_NONE ? FORS_SIDE_SPINE : FORS_SIDE_NONE;
}

/* Do the root GUIDs make a leaf of what is known as a spine, or the other way round? */
static bool contradicts_roots(const struct learning *l)
{
	for (uint32_t node = 0; node < l->net->nnodes; node++) {
		enum fors_side known = known_as(l, l->net->node[node].guid);

		if (l->side[node] != FORS_SIDE_NONE && known != FORS_SIDE_NONE && known != l->side[node])
			return true;
	}
	for (size_t i = 0; i < l->nroots; i++)
		if (known_as(l, l->root[i]) == FORS_SIDE_LEAF)
			return true;
	return false;
}

static unsigned count_spine_cas(const struct learning *l)
{
	unsigned count = 0;

	for (uint32_t node = 0; node < l->net->nnodes; node++)
		for (unsigned p = 1; l->side[node] == FORS_SIDE_SPINE && p <= l->net->node[node].nports; p++)
			count += has_end_node(l->net, node, p);
	return count;
}

static unsigned count_known_slots(const struct fors_places *places)
{
	unsigned count = 0;

	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++)
			count += places->leaf[a].slot_port[s] != 0;
	return count;
}

/*
 * Who starts before the servers are switched on may take spines for leaves, and must not remember that for ever:
 * a root list decides, else that more CAs stand under the spines than the leaves ever had places for.
 * A reference fabric shows its servers; what it says stays.
 */
static bool is_upside_down(const struct learning *l)
{
	if (l->places->reference || !(l->places->nleaves + l->places->nspines))
		return false;
	return l->nroots ? contradicts_roots(l) : count_spine_cas(l) > count_known_slots(l->places);
}

static enum fors_err find_sides(struct learning *l, struct fors_error *error)
{
	enum fors_err err = fors_sides(l->net, l->places, l->root, l->nroots, l->side, error);

	if (err || !is_upside_down(l))
		return err;
	l->places->nleaves = l->places->nspines = l->places->nlanes = 0;
	l->places->nrestarts++;
	return fors_sides(l->net, l->places, l->root, l->nroots, l->side, error);
}

/* --- learning ----------------------------------------------------------- */

static void mark_places(struct learning *l)
{
	for (uint32_t k = 0; k < l->places->nspines; k++) {
		struct fors_spine_place *spine = &l->places->spine[k];

		spine->marks.is_alive = is_alive(l, spine->guid);
		spine->marks.in_roots = is_listed(l, spine->guid);
	}
	for (uint32_t a = 0; a < l->places->nleaves; a++)
		l->places->leaf[a].marks.is_alive = is_alive(l, l->places->leaf[a].guid);
}

static enum fors_err learn_leaves(struct learning *l, struct fors_error *error)
{
	struct port_use use;
	enum fors_err err;

	forget_cables(l);
	err = make_lanes(l, error);
	if (err)
		return err;
	for (uint32_t node = 0; node < l->net->nnodes; node++)
		if (l->side[node] == FORS_SIDE_LEAF)
			add_cables(l, node);
	survey_ports(l, &use);
	for (uint32_t node = 0; node < l->net->nnodes; node++)
		if (l->side[node] == FORS_SIDE_LEAF)
			learn_slots(l, node, &use);
	return FORS_OK;
}

static enum fors_err learn(struct learning *l, struct fors_error *error)
{
	enum fors_err err = find_sides(l, error);

	if (!err)
		err = place_switches(l, error);
	if (!err)
		err = learn_leaves(l, error);
	if (!err)
		mark_places(l);
	return err;
}

enum fors_err fors_places_learn(struct fors_places *places, const struct fors_net *net, const uint64_t *root_guids,
				size_t nroots, struct fors_error *error)
{
	struct learning l = {.net = net, .root = root_guids, .nroots = nroots};
	enum fors_err err = FORS_OK;

	l.places = fors_places_copy(places);
	l.side = calloc((size_t)net->nnodes + 1, sizeof(*l.side));
	l.place = calloc((size_t)net->nnodes + 1, sizeof(*l.place));
	if (!l.places || !l.side || !l.place)
		err = fors_fail_memory(error);
	else
		err = learn(&l, error);
	if (!err) {
		struct fors_places old = *places;

		*places = *l.places;
		*l.places = old;
	}
	fors_places_free(l.places);
	free(l.side);
	free(l.place);
	return err;
}
