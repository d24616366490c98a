/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn_slots.c - every port for a server under a leaf gets a slot: step 4 of learning.
 *
 * A slot is a port where a server was seen, whether or not it is there now: tables depend on slots, never on who is
 * there. Free ports have none. The first servers of an order are ranked, and so are all when the first lane comes; whoever
 * comes later is a newcomer, and takes a home beside the others (places_rank.c). A host that was moved to another port of
 * its leaf takes its slot with it. What servers are called is learnt with them; no table depends on that.
 */
#include <stdlib.h>

#include "core/base/numbers.h"
#include "places.h"
#include "places_file.h"
#include "places_inside.h"

static bool has_server(const struct fors_learning *l, uint32_t node, unsigned port)
{
	return port && fors_learn_has_host(l->net, node, port);
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
		s = fors_places_slot_at(leaf, 0);
	if (s == leaf->nslots)
		leaf->nslots++;
	leaf->slot_port[s] = (uint8_t)port;
	if (!has_moved)
		fors_places_welcome(l->places, leaf, s);
}

static enum fors_err learn_name(const struct fors_learning *l, uint32_t node, unsigned port, struct fors_error *error)
{
	uint32_t peer = fors_net_port(l->net, node, port)->peer;

	return fors_hosts_note(&l->places->hosts, guid_at(l, node, port), l->net->node[peer].desc, error);
}

/* Is somebody at the port who is no host? */
static bool has_other(const struct fors_learning *l, uint32_t node, unsigned port)
{
	uint32_t peer = port && port <= l->net->node[node].nports ? fors_net_port(l->net, node, port)->peer : FORS_NONE;

	return peer != FORS_NONE && !fors_is_host(l->net, peer);
}

/* The slots of one leaf. Errors: FORS_ENOMEM. */
static enum fors_err learn_slots(const struct fors_learning *l, uint32_t node, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	struct fors_leaf_place *leaf = &l->places->leaf[l->place[node]];

	for (unsigned s = 0; s < leaf->nslots; s++)
		if (leaf->slot_port[s] > l->net->node[node].nports ||
		    fors_peer_switch(l->net, node, leaf->slot_port[s]) != FORS_NONE)
			leaf->slot_port[s] = 0;
	for (unsigned p = 1; !err && p <= l->net->node[node].nports; p++) {
		if (!has_server(l, node, p))
			continue;
		if (fors_places_slot_at(leaf, p) == leaf->nslots)
			add_slot(l, node, p);
		leaf->slot_guid[fors_places_slot_at(leaf, p)] = guid_at(l, node, p);
		err = learn_name(l, node, p, error);
	}
	for (unsigned s = 0; s < leaf->nslots; s++)
		leaf->slot_is_none[s] = has_other(l, node, leaf->slot_port[s]);
	return err;
}

/* --- names of those that have no slot any more ---------------------------------------------------------------- */

/*
 * No more names are kept than there are slots: where there are more, those of servers that were the last ones seen in a slot.
 * Until then the names of others that have left stay too, which saves a sort at each sweep. Errors: FORS_ENOMEM.
 */
static enum fors_err drop_names(struct fors_places *places, struct fors_error *error)
{
	size_t nslots = fors_places_count_slots(places), n = 0;
	uint64_t *guid;

	fors_hosts_sort(&places->hosts);
	if (places->hosts.count <= nslots)
		return FORS_OK;
	guid = malloc(nslots * sizeof(*guid) + 1);
	if (!guid)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < places->nleaves; a++)
		for (unsigned s = 0; s < places->leaf[a].nslots; s++)
			guid[n++] = places->leaf[a].slot_guid[s];
	qsort(guid, n, sizeof(*guid), fors_by_number);
	fors_hosts_keep(&places->hosts, guid, n);
	free(guid);
	return FORS_OK;
}

/* --- all leaves ------------------------------------------------------------------------------------------------- */

enum fors_err fors_learn_slots(struct fors_learning *l, struct fors_error *error)
{
	bool is_first = !fors_places_count_slots(l->places) || (!l->known_lanes && l->places->nlanes);
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; !err && i < l->net->nnodes; i++) {
		uint32_t node = l->net->by_guid[i];

		if (l->side[node] == FORS_SIDE_LEAF)
			err = learn_slots(l, node, error);
	}
	if (!err)
		err = drop_names(l->places, error);
	if (err)
		return err;
	return is_first ? fors_places_rank(l->places, NULL, error) : FORS_OK;
}
