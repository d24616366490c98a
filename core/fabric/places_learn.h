/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_learn.h - what the steps of learning share, for places_learn*.c only.
 * Thread rules: as fabric.h.
 */
#ifndef FORS_CORE_FABRIC_PLACES_LEARN_H
#define FORS_CORE_FABRIC_PLACES_LEARN_H

#include "core/net/net.h"
#include "places_inside.h"
#include "sides.h"

struct fors_learning {
	struct fors_places *places; /* the copy that learns */
	const struct fors_net *net;
	uint8_t *side;			     /* per node */
	uint32_t *place;		     /* per node: index of its leaf or spine place, or FORS_NONE */
	uint32_t known_leaves, known_spines; /* places that were there before this net was learnt */
	uint32_t known_lanes;		     /* lanes likewise */
	const uint64_t *root;		     /* root GUIDs, nroots of them */
	size_t nroots;
};

/* Is the switch in the net? */
static inline bool fors_learn_is_alive(const struct fors_learning *l, uint64_t guid)
{
	return fors_net_find_guid(l->net, guid) != FORS_NONE;
}

/* Is it one of the root GUIDs? */
static inline bool fors_learn_is_listed(const struct fors_learning *l, uint64_t guid)
{
	for (size_t i = 0; i < l->nroots; i++)
		if (l->root[i] == guid)
			return true;
	return false;
}

/* Is what is plugged in at this port of a switch a CA or a router? */
static inline bool fors_learn_has_end_node(const struct fors_net *net, uint32_t node, unsigned port)
{
	uint32_t peer;

	if (port > net->node[node].nports)
		return false;
	peer = fors_net_port(net, node, port)->peer;
	return peer != FORS_NONE && net->node[peer].type != FORS_SWITCH;
}

/* Step 2, places_learn_switches.c: every switch gets its place, in l->place too. Errors: FORS_ENOMEM. */
enum fors_err fors_learn_switches(struct fors_learning *l, struct fors_error *error);
/* Step 3, places_learn_cables.c: lanes, and the plugs of living leaves. Errors: FORS_ELIMIT. */
enum fors_err fors_learn_cables(struct fors_learning *l, struct fors_error *error);
/* Step 4, places_learn_slots.c: the slots of living leaves, and their homes. Errors: FORS_ENOMEM. */
enum fors_err fors_learn_slots(struct fors_learning *l, struct fors_error *error);

#endif
