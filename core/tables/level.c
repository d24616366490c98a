/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * level.c - the map of the lanes that leaf entries use, before any is chosen (level_build.c).
 *
 * Which cable of a spine an entry goes down over is no choice: the one that has the number of its home lane's cable,
 * else the next one that lives. So this half of the map is filled here.
 */
#include "level.h"

#include <stdlib.h>
#include <string.h>

/* Fill level->down: for every cable number the live cable that stands in for it. */
static void find_down(const struct fors_fabric *fabric, const bool *live, struct fors_level *level)
{
	size_t row = level->ncables;

	memset(level->down, FORS_NO_LANE, fabric->nleaves * fabric->nspines * row);
	for (uint32_t to = 0; to < fabric->nleaves; to++)
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			if (live[(size_t)to * fabric->nlanes + lane])
				level->down[(to * fabric->nspines + fabric->lane[lane].spine) * row +
					    fabric->lane[lane].cable] = (uint8_t)lane;
	/* Twice round backwards: every hole takes what comes after it. */
	for (size_t first = 0; first < fabric->nleaves * fabric->nspines * row; first += row)
		for (size_t i = 2 * row - 1; i-- > 0;)
			if (level->down[first + i % row] == FORS_NO_LANE)
				level->down[first + i % row] = level->down[first + (i + 1) % row];
}

static bool allocate(const struct fors_fabric *fabric, struct fors_level *level)
{
	size_t nentries = (size_t)fabric->nleaves * fabric->nleaves * level->nclasses;

	level->base = malloc(((size_t)fabric->nleaves * fabric->nslots + 1) * sizeof(*level->base));
	level->lane = malloc(nentries + 1);
	level->down = malloc((size_t)fabric->nleaves * fabric->nspines * level->ncables + 1);
	if (!level->base || !level->lane || !level->down)
		return false;
	memset(level->lane, FORS_NO_LANE, nentries);
	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nslots; i++)
		level->base[i] = (uint16_t)fors_home_class(fabric->nlanes, fabric->slot[i].copy, fabric->slot[i].home);
	return true;
}

struct fors_level *fors_level_new(const struct fors_fabric *fabric, const bool *live)
{
	struct fors_level *level = calloc(1, sizeof(*level));

	if (!level)
		return NULL;
	level->nleaves = fabric->nleaves;
	level->nlanes = fabric->nlanes;
	level->nslots = fabric->nslots;
	level->nclasses = fors_home_nclasses(fabric);
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		if (level->ncables <= fabric->lane[lane].cable)
			level->ncables = fabric->lane[lane].cable + 1u;
	if (!allocate(fabric, level)) {
		fors_level_free(level);
		return NULL;
	}
	if (fabric->nlanes)
		find_down(fabric, live, level);
	return level;
}

void fors_level_free(struct fors_level *level)
{
	if (!level)
		return;
	free(level->base);
	free(level->lane);
	free(level->down);
	free(level);
}
