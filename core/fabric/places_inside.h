/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_inside.h - the inside of struct fors_places, for places*.c, sides.c and fabric.c only.
 * Thread rules: as fabric.h.
 */
#ifndef FORS_CORE_FABRIC_PLACES_INSIDE_H
#define FORS_CORE_FABRIC_PLACES_INSIDE_H

#include "fabric.h"
#include "hosts.h"
#include "places.h"
#include "sides.h"

#define FORS_MAX_SLOTS 254 /* per leaf: a switch has no more ports */

/* Where the cable of one leaf and one lane is plugged in; 0, 0: nowhere. */
struct fors_plug {
	uint8_t leaf_port, spine_port;
};

/* What is known of a place besides its position. */
struct fors_place_marks {
	bool is_alive;	   /* the switch was in the net of the last net learnt */
	bool in_roots;	   /* named in the list of root GUIDs of the last net learnt */
	bool in_reference; /* the place is one of the reference fabric, whichever switch has it now */
};

/* How a slot came to its home, see places_rank.c. */
enum fors_slot_kind {
	FORS_SLOT_RANKED, /* by its rank */
	FORS_SLOT_VARIED, /* likewise, and what the leaf has beyond a multiple of the lanes: entries differ per leaf */
	FORS_SLOT_NEWCOMER, /* it came after the last ranking */
};

struct fors_leaf_place {
	uint64_t guid;
	struct fors_place_marks marks;
	char name[FORS_NAME_MAX + 1];
	uint8_t nslots;
	uint8_t slot_port[FORS_MAX_SLOTS];     /* leaf port of each slot; 0: its port is used otherwise now */
	uint8_t slot_home[FORS_MAX_SLOTS];     /* home lane of each slot's base LID */
	uint8_t slot_kind[FORS_MAX_SLOTS];     /* enum fors_slot_kind */
	uint64_t slot_guid[FORS_MAX_SLOTS];    /* port GUID seen there last, 0: unknown */
	bool slot_is_none[FORS_MAX_SLOTS];     /* who is there now is no host: it goes with the next ranking */
	struct fors_plug plug[FORS_MAX_LANES]; /* by lane */
};

struct fors_spine_place {
	uint64_t guid;
	uint64_t former; /* the switch whose place it took, 0: none; a root list may still name it */
	struct fors_place_marks marks;
	char name[FORS_NAME_MAX + 1];
};

struct fors_known; /* known.h */

struct fors_places {
	struct fors_known *known; /* three levels, and no leaf, spine and lane here; NULL: two levels, or nothing */
	uint32_t nleaves, nspines, nlanes;
	uint32_t leaf_room, spine_room;
	uint64_t reference; /* digest of the reference fabric that all began with, 0: none */
	uint32_t nrestarts; /* how often all was forgotten because the sides were wrong; not kept on disk */
	struct fors_leaf_place *leaf;
	struct fors_spine_place *spine;
	struct fors_hosts hosts; /* names of the servers in slots; owned */
	struct fors_lane lane[FORS_MAX_LANES];
};

/* Index of the leaf (spine) place of this switch GUID, or FORS_NONE. */
uint32_t fors_places_leaf(const struct fors_places *places, uint64_t guid);
uint32_t fors_places_spine(const struct fors_places *places, uint64_t guid);

/* Is it one of the root GUIDs? */
static inline bool fors_places_is_root(const uint64_t *root, size_t nroots, uint64_t guid)
{
	for (size_t i = 0; i < nroots; i++)
		if (root[i] == guid)
			return true;
	return false;
}

/* Number of the slot at this port, or nslots. */
static inline unsigned fors_places_slot_at(const struct fors_leaf_place *leaf, unsigned port)
{
	unsigned s = 0;

	while (s < leaf->nslots && leaf->slot_port[s] != port)
		s++;
	return s;
}

/* Has the slot a place in the grid: is it a port where a server was seen? */
static inline bool fors_places_is_slot(const struct fors_leaf_place *leaf, unsigned slot)
{
	return slot < leaf->nslots && leaf->slot_port[slot];
}

/* Slots of all leaves, those whose ports are used otherwise now, too. */
static inline uint32_t fors_places_count_slots(const struct fors_places *places)
{
	uint32_t count = 0;

	for (uint32_t a = 0; a < places->nleaves; a++)
		count += places->leaf[a].nslots;
	return count;
}

/* Give homes to slots that learning has just added, see places_rank.c. */
void fors_places_welcome(struct fors_places *places, struct fors_leaf_place *leaf, unsigned slot);

/* A new place at the end, all zero, in *index. Errors: FORS_ENOMEM. */
enum fors_err fors_places_add_leaf(struct fors_places *places, uint32_t *index, struct fors_error *error);
enum fors_err fors_places_add_spine(struct fors_places *places, uint32_t *index, struct fors_error *error);

/* ---- homes by rank where one leaf is much larger than others: places_relieve.c, for places_rank.c only ---- */

/* Places whose slots all have homes, and how many are at home where. */
struct fors_home_counts {
	struct fors_places *places;
	uint32_t nservers;
	uint32_t *own;	 /* [leaf * nlanes + lane]: servers at home */
	uint32_t *total; /* [lane]: the same of all leaves */
};

/*
 * Give few servers other homes while that takes flows from an uplink that has more than any homes need. No leaf may have two
 * servers on one lane. Homes and counts change, nothing else.
 */
void fors_places_relieve(struct fors_home_counts *counts);

/* ---- what the steps of learning share, for places_learn*.c only ---- */

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

/* Is a host plugged in at this port of a switch? */
static inline bool fors_learn_has_host(const struct fors_net *net, uint32_t node, unsigned port)
{
	return port <= net->node[node].nports && fors_is_host(net, fors_net_port(net, node, port)->peer);
}

/* Step 2, places_learn_switches.c: every switch gets its place, in l->place too. Errors: FORS_ENOMEM. */
enum fors_err fors_learn_switches(struct fors_learning *l, struct fors_error *error);
/* Step 3, places_learn_cables.c: lanes, and the plugs of living leaves. Errors: FORS_ELIMIT. */
enum fors_err fors_learn_cables(struct fors_learning *l, struct fors_error *error);
/* Step 4, places_learn_slots.c: the slots of living leaves, and their homes. Errors: FORS_ENOMEM. */
enum fors_err fors_learn_slots(struct fors_learning *l, struct fors_error *error);

#endif
