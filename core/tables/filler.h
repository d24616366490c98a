/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * filler.h - what the files that fill tables share, for tables.c, detours.c and extra.c only.
 * Thread rules: the work of one call.
 */
#ifndef FORS_CORE_TABLES_FILLER_H
#define FORS_CORE_TABLES_FILLER_H

#include "core/net/lfts.h"
#include "level.h"
#include "turns.h"

/* Which cables count; all, where live ones give no way. */
enum fors_strictness { FORS_LIVE_ONLY, FORS_ALSO_DRAINED, FORS_NEVER };

/*
 * The ways to one destination. A leaf goes up over up[leaf]; a spine goes down to down[spine], its leaf or one
 * where it turns. FORS_NO_LANE, FORS_NONE: there is none (yet), or it is the destination's own switch.
 */
struct fors_detours {
	uint8_t *up;
	uint32_t *down;
};

struct fors_filler {
	const struct fors_fabric *f;
	const struct fors_level *level;
	const struct fors_turns *turns;
	struct fors_lfts *lfts;
	uint8_t **leaf_row;  /* per leaf: its LFT, NULL when it is dead */
	uint8_t **spine_row; /* per spine likewise */
	bool *is_asked;	     /* per spine: packets begin there (CAs, a subnet manager), so all LIDs must arrive */
	struct fors_detours detours; /* room for one destination */
};

/* Where LIDs end: the switch (the other number is FORS_NONE). */
struct fors_target {
	uint32_t leaf, spine;
};

static inline bool fors_gets_to(const struct fors_filler *w, uint32_t leaf, uint32_t spine, enum fors_strictness how)
{
	return how == FORS_LIVE_ONLY ? fors_turns_live(w->turns, leaf, spine)
				     : fors_turns_lane(w->turns, leaf, spine) != FORS_NO_LANE;
}

/* The port at which a leaf's lane begins, FORS_NO_PATH for no lane. */
static inline uint8_t fors_up_port(const struct fors_filler *w, uint32_t leaf, uint32_t lane)
{
	return lane == FORS_NO_LANE ? FORS_NO_PATH : fors_cable(w->f, leaf, lane)->leaf_port;
}

/* The port of the lane's spine that it ends at. */
static inline uint8_t fors_down_port(const struct fors_filler *w, uint32_t leaf, uint32_t lane)
{
	return lane == FORS_NO_LANE ? FORS_NO_PATH : fors_cable(w->f, leaf, lane)->spine_port;
}

/* A spine's first living port, else a drained one, to a leaf. */
static inline uint8_t fors_port_to(const struct fors_filler *w, uint32_t spine, uint32_t leaf)
{
	return leaf == FORS_NONE ? FORS_NO_PATH : fors_down_port(w, leaf, fors_turns_lane(w->turns, leaf, spine));
}

/* Nothing known but the target's own switch; then, for one on a leaf, that all its spines go straight down. */
void fors_detours_begin(const struct fors_filler *w, struct fors_target target);

/*
 * detours.c: give every switch that has no way yet one over those that have, if the turns allow. What w->detours
 * holds already stays.
 */
void fors_detours_complete(const struct fors_filler *w, struct fors_target target);

/* extra.c: the entries for all LIDs that are not behind a server slot, and the tables of switches that have no place. */
void fors_fill_extra(const struct fors_filler *w);

#endif
