/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level.h - where displaced table entries go: the levelling of doc/planners-rounds.md (used by tables.c).
 * Thread rules: a map is built by one thread, and read by any number.
 */
#ifndef FORS_CORE_TABLES_LEVEL_H
#define FORS_CORE_TABLES_LEVEL_H

#include "core/fabric/fabric.h"
#include "home.h"

/*
 * The lanes of all leaf entries of LIDs that there are. Places of a leaf are told apart by class (home.h). For further path
 * indices "home lane" is that of the index, so the same map serves them all.
 */
struct fors_level {
	uint32_t nleaves, nlanes, nslots;
	uint32_t nclasses; /* per leaf */
	uint16_t *base;	   /* [to * nslots + slot]: class of the place's base LID */
	uint8_t *lane;	   /* [(leaf * nleaves + to) * nclasses + class]: uplink lane, FORS_NO_LANE: none */
	uint8_t *down;	   /* [(to * nspines + spine) * nlanes + home lane]: see fors_level_down() */
	bool is_free; /* entries at home may move while something is dead (level_search.c): one LID, parallel cables */
};

/*
 * The map of a fabric without any lane chosen, owned by the caller; live[leaf * nlanes + lane]: cables that count as
 * living. NULL: out of memory. For level_build.c.
 */
struct fors_level *fors_level_new(const struct fors_fabric *fabric, const bool *live);
void fors_level_free(struct fors_level *level);

/*
 * level_build.c: choose the lanes in *level, owned by the caller (fors_level_free()). A pure function of the fabric's
 * places and dead cables (and of whether ports have more than one LID); home-healthy entries are at home, but for those
 * that vary, see level_build.c. Errors: FORS_ENOMEM.
 */
enum fors_err fors_level_build(const struct fors_fabric *fabric, struct fors_level **level, struct fors_error *error);

/* Uplink lane of leaf `leaf`'s entry for the base LID of the place `slot` under leaf `to`; leaf != to, some lanes. */
static inline uint8_t fors_level_base_up(const struct fors_level *level, uint32_t leaf, uint32_t to, uint32_t slot)
{
	return level->lane[((size_t)leaf * level->nleaves + to) * level->nclasses +
			   level->base[(size_t)to * level->nslots + slot]];
}

/* Uplink lane of leaf `leaf`'s entry for path index `index` of the place `slot` under leaf `to`; leaf != to. */
static inline uint8_t fors_level_up(const struct fors_level *level, uint32_t leaf, uint32_t to, uint32_t slot,
				    uint32_t index)
{
	uint32_t home, class;

	if (level->nlanes == 0)
		return FORS_NO_LANE;
	class = level->base[(size_t)to * level->nslots + slot];
	home = fors_home(level->nlanes, fors_home_class_lane(level->nlanes, class), index);
	class = fors_home_class(level->nlanes, fors_home_class_copy(level->nlanes, class), home);
	return level->lane[((size_t)leaf * level->nleaves + to) * level->nclasses + class];
}

/*
 * The downlink lane of a spine's entry for LIDs of leaf `to` with home lane `home`: home itself, where it is that
 * spine's and lives, else see level.c; FORS_NO_LANE: the spine has no live cable to the leaf.
 */
static inline uint8_t fors_level_down(const struct fors_level *level, const struct fors_fabric *fabric, uint32_t spine,
				      uint32_t to, uint32_t home)
{
	return level->down[((size_t)to * fabric->nspines + spine) * fabric->nlanes + home];
}

#endif
