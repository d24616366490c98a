/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * occupancy.c - memory of an occupancy. What is done with it, again and again, is in occupancy.h.
 *
 * Each fact is kept twice: by name or number, for whoever wants to push somebody out, and as a bit, to find room fast.
 */
#include "occupancy.h"

#include <stdlib.h>
#include <string.h>

/* Turns from `first` to `end` - 1 in all rows: they are there, or not. */
static void open_turns(struct fors_occupancy *occupancy, uint32_t first, uint32_t end, bool is_open)
{
	size_t rows = (size_t)occupancy->nnamed + occupancy->ncounted;

	for (uint32_t w = first / 64; w * 64 < end; w++) {
		uint64_t from = w * 64 < first ? ~UINT64_C(0) << (first % 64) : ~UINT64_C(0);
		uint64_t bits = end - w * 64 < 64 ? from & ~(~UINT64_C(0) << (end % 64)) : from;

		for (size_t row = 0; row < rows; row++) {
			uint64_t *word = &occupancy->busy[row * occupancy->nwords + w];

			*word = is_open ? *word & ~bits : *word | bits;
		}
	}
}

/* Where the places of each row begin; false: out of memory. */
static bool lay_out(struct fors_occupancy *occupancy, const uint8_t *capacity, uint32_t ncapacities)
{
	if (!capacity)
		return true;
	occupancy->place = malloc((occupancy->nnamed + (size_t)1) * sizeof(*occupancy->place));
	if (!occupancy->place)
		return false;
	occupancy->place[0] = 0;
	for (uint32_t row = 0; row < occupancy->nnamed; row++)
		occupancy->place[row + 1] = occupancy->place[row] + (row < ncapacities ? capacity[row] : 1);
	return true;
}

static size_t count_names(const struct fors_occupancy *occupancy)
{
	return (size_t)(occupancy->place ? occupancy->place[occupancy->nnamed] : occupancy->nnamed) * occupancy->room;
}

bool fors_occupancy_init_wide(struct fors_occupancy *occupancy, const uint8_t *capacity, uint32_t ncapacities,
			      uint32_t nnamed, uint32_t ncounted, uint32_t nturns, uint32_t room)
{
	size_t names;

	*occupancy = (struct fors_occupancy){
		.nturns = nturns, .room = room, .nwords = (room + 63) / 64, .nnamed = nnamed, .ncounted = ncounted};
	if (!lay_out(occupancy, capacity, ncapacities))
		return false;
	names = count_names(occupancy);
	occupancy->busy = calloc(((size_t)nnamed + ncounted) * occupancy->nwords + 1, sizeof(*occupancy->busy));
	occupancy->at = malloc((names + 1) * sizeof(*occupancy->at));
	occupancy->count = calloc((size_t)ncounted * room + 1, sizeof(*occupancy->count));
	if (!occupancy->busy || !occupancy->at || !occupancy->count)
		return false;
	memset(occupancy->at, 0xFF, names * sizeof(*occupancy->at));
	open_turns(occupancy, nturns, occupancy->nwords * 64, false);
	return true;
}

void fors_occupancy_release(struct fors_occupancy *occupancy)
{
	free(occupancy->busy);
	free(occupancy->place);
	free(occupancy->at);
	free(occupancy->count);
	*occupancy = (struct fors_occupancy){0};
}

void fors_occupancy_copy(struct fors_occupancy *to, const struct fors_occupancy *from)
{
	size_t rows = (size_t)from->nnamed + from->ncounted;

	to->nturns = from->nturns;
	memcpy(to->busy, from->busy, rows * from->nwords * sizeof(*from->busy));
	memcpy(to->at, from->at, count_names(from) * sizeof(*from->at));
	memcpy(to->count, from->count, (size_t)from->ncounted * from->room * sizeof(*from->count));
}

void fors_occupancy_set_turns(struct fors_occupancy *occupancy, uint32_t nturns)
{
	if (nturns > occupancy->nturns)
		open_turns(occupancy, occupancy->nturns, nturns, true);
	else
		open_turns(occupancy, nturns, occupancy->nturns, false);
	occupancy->nturns = nturns;
}

uint64_t fors_occupancy_bytes(uint64_t nnamed, uint64_t extra, uint64_t ncounted, uint64_t room)
{
	return (nnamed + ncounted) * ((room + 63) / 64) * sizeof(uint64_t) +
	       (nnamed + extra) * room * sizeof(uint32_t) + ncounted * room * sizeof(uint16_t);
}
