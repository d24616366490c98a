/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_level.c - rows of a team as level as they can be, once nothing of it is over-full any more that need be.
 *
 * The search asks for no more than that no row has more flows than the team has servers. A plan in as many phases has no
 * phase to spare on a row that is full to the brim, and packing finds it seldom; where rows have some room left it does.
 * So cells go from higher rows to lower ones, as long as the sum of the squares of all rows falls; no row that is not
 * over-full becomes so, and the fullest stays what it is.
 */
#include "entries_inside.h"

#define SWEEPS 8

/* May the row take n flows more, for one that has `from`? It may not be over-full then, unless the other was even fuller. */
static bool has_room(const struct team *team, uint32_t to, uint32_t from, uint32_t n)
{
	return to + n <= team->nservers || to + n <= from;
}

/* The lane by which the sum of squares falls most, FORS_NO_LANE: by none. */
static uint32_t lower_lane(struct entry_search *s, const struct team *team, uint32_t squad, uint32_t member,
			   uint32_t lane)
{
	const uint32_t *up = &team->row[0][(size_t)squad * s->nlanes],
		       *down = &team->row[1][(size_t)team->squad_of[member] * s->nlanes];
	uint32_t n = cell_flows(s, team, squad, member), best = FORS_NO_LANE;
	int64_t least = 0;

	for_each_common(other, &squad_of(s, team, squad)->mask, &team->in[member], s->nwords)
	{
		/* 2n times this is what the sum of squares changes by */
		int64_t change = (int64_t)up[other] + down[other] + 2 * n - up[lane] - down[lane];

		s->work += 2;
		if (other == lane || change >= least || !has_room(team, up[other], up[lane], n) ||
		    !has_room(team, down[other], down[lane], n))
			continue;
		least = change;
		best = (uint32_t)other;
	}
	return best;
}

static bool sweep(struct entry_search *s, struct team *team)
{
	bool is_better = false;

	for (uint32_t i = 0; i < team->count; i++)
		for (uint32_t m = 0; m < team->nservers; m++) {
			uint32_t lane = team->cell[(size_t)i * team->nservers + m], other;

			if (lane == FORS_NO_LANE)
				continue;
			other = lower_lane(s, team, i, m, lane);
			if (other == FORS_NO_LANE)
				continue;
			fors_entries_put(s, team, i, m, other);
			is_better = true;
		}
	s->nchanges = 0;
	return is_better;
}

void fors_entries_level(struct entry_search *s, struct team *team)
{
	for (uint32_t i = 0; i < SWEEPS && !team->is_kept && sweep(s, team); i++)
		;
}
