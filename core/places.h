/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.h - the inside of struct fors_places, for places.c and fabric.c only.
 */
#ifndef FORS_CORE_PLACES_H
#define FORS_CORE_PLACES_H

#include "fabric.h"

#define FORS_MAX_SLOTS 254 /* per leaf: a switch has no more ports */

/* Where the cable of one leaf and one lane is plugged in; 0, 0: nowhere. */
struct fors_plug {
	uint8_t leaf_port, spine_port;
};

struct fors_leaf_place {
	uint64_t guid;
	char name[FORS_NAME_MAX + 1];
	uint8_t nslots;
	uint8_t slot_port[FORS_MAX_SLOTS];     /* leaf port of each slot; 0: its port is used otherwise now */
	struct fors_plug plug[FORS_MAX_LANES]; /* by lane */
};

struct fors_spine_place {
	uint64_t guid;
	char name[FORS_NAME_MAX + 1];
};

struct fors_places {
	uint32_t nleaves, nspines, nlanes;
	uint32_t leaf_room, spine_room;
	struct fors_leaf_place *leaf;
	struct fors_spine_place *spine;
	struct fors_lane lane[FORS_MAX_LANES];
};

/* Index of the leaf (spine) place of this switch GUID, or FORS_NONE. */
uint32_t fors_places_leaf(const struct fors_places *places, uint64_t guid);
uint32_t fors_places_spine(const struct fors_places *places, uint64_t guid);

#endif
