/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leveller.c - looking at units, lanes and links: what all who choose lanes ask.
 *
 * Wherever there is room, a unit takes the first lane that suits, from one that depends on nothing but the unit: so it
 * does not move when something else dies. Else the best lane is the one whose fuller link, up or down, carries least; on a
 * tie the first from the lane that
 * idles in the unit's own round: so equals are spread, and the pattern of rounds survives. Pairs are visited as
 * level_build.c has sorted them, those that are equals class by class, so that all leaves choose alike.
 */
#include "leveller.h"

uint32_t fors_leveller_first_lane(const struct fors_leveller *leveller, uint32_t pair, uint32_t class)
{
	return fors_home_idle_lane(leveller->fabric->nlanes, leveller->rounds,
				   fors_leveller_own_round(leveller, pair, class));
}

uint8_t fors_leveller_least_full(const struct fors_leveller *leveller, uint32_t pair, uint32_t class,
				 leveller_suits suits)
{
	uint32_t nlanes = leveller->fabric->nlanes, first = fors_leveller_first_lane(leveller, pair, class);
	uint64_t least = UINT64_MAX;
	uint8_t best = FORS_NO_LANE;

	for (uint32_t i = 0; i < nlanes; i++) {
		uint32_t lane = first + i < nlanes ? first + i : first + i - nlanes;
		uint64_t full;
		uint8_t down = fors_leveller_down(leveller, pair, class, lane);

		if (down == FORS_NO_LANE || (suits && !suits(leveller, pair, class, lane, down)))
			continue;
		full = fors_leveller_fullness(leveller, pair, lane, down);
		if (full < least) {
			least = full;
			best = (uint8_t)lane;
		}
	}
	return best;
}

uint8_t fors_leveller_first(const struct fors_leveller *leveller, uint32_t pair, uint32_t class, uint32_t first,
			    uint32_t step, leveller_suits suits)
{
	uint32_t nlanes = leveller->fabric->nlanes;

	for (uint32_t i = 0; i < nlanes; i++) {
		uint32_t lane = (first + i * step) % nlanes;
		uint8_t down = fors_leveller_down(leveller, pair, class, lane);

		if (down != FORS_NO_LANE && suits(leveller, pair, class, lane, down))
			return (uint8_t)lane;
	}
	return FORS_NO_LANE;
}

/* Visit the units of a class of the pairs number from..to-1. */
static void visit_class(struct fors_leveller *leveller, uint32_t from, uint32_t to, uint32_t class, bool base,
			leveller_visit visit)
{
	uint32_t nclasses = leveller->level->nclasses, nleaves = leveller->fabric->nleaves;

	for (uint32_t i = from; i < to; i++) {
		uint32_t pair = (uint32_t)leveller->pair[i];

		if (fors_leveller_is_displaced(leveller, pair, class) &&
		    leveller->exists[(size_t)(pair % nleaves) * nclasses + class] == base &&
		    *fors_leveller_entry(leveller, pair, class) == FORS_UNDECIDED)
			visit(leveller, pair, class);
	}
}

/* Visit the pairs number from..to-1, which are equals: class by class, so that all leaves choose alike. */
static void visit_equals(struct fors_leveller *leveller, uint32_t from, uint32_t to, bool base, leveller_visit visit)
{
	for (uint32_t word = 0; word < leveller->nwords; word++) {
		uint64_t bits = 0;

		for (uint32_t i = from; i < to; i++)
			bits |= fors_leveller_displaced(leveller, (uint32_t)leveller->pair[i], word);
		for (; bits; bits &= bits - 1)
			visit_class(leveller, from, to, word * 64 + (uint32_t)__builtin_ctzll(bits), base, visit);
	}
}

void fors_leveller_visit(struct fors_leveller *leveller, uint32_t from, uint32_t to, bool base, leveller_visit visit)
{
	uint32_t end;

	for (; from < to; from = end) {
		for (end = from + 1; end < to; end++)
			if (leveller->pair[end] >> 32 != leveller->pair[from] >> 32)
				break;
		visit_equals(leveller, from, end, base, visit);
	}
}

uint32_t fors_leveller_fullest(const struct fors_leveller *leveller)
{
	size_t nlinks = (size_t)leveller->fabric->nleaves * leveller->fabric->nlanes;
	uint32_t most = 0;

	for (size_t link = 0; link < nlinks; link++) {
		uint32_t load = leveller->up[link] > leveller->down[link] ? leveller->up[link] : leveller->down[link],
			 capacity = fors_leveller_capacity(leveller, link);

		load = (load + capacity - 1) / (capacity ? capacity : 1);
		most = most < load ? load : most;
	}
	return most;
}
