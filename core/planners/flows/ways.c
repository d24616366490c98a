/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.c - which of its ways a unit takes first.
 *
 * All begin with path index 0, the base LIDs: tables are made for those to be balanced, and what is regular about them (each
 * server has a downlink of its own, say) is worth more to a packing than idle cables. Only units over a link that has
 * more tokens than there are phases move, to the way whose fullest link is least full, if that is less full than theirs;
 * round after round, until nobody has to, or nobody can.
 */
#include "ways.h"

#include <stdlib.h>

#define MOST_ROUNDS 16

static void add_load(const struct fors_flows_problem *p, uint32_t *load, uint32_t way, uint32_t tokens)
{
	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
		load[p->link[i]] += tokens;
}

/* The phases of the fullest link of a way. */
static uint32_t fullest(const struct fors_flows_problem *p, const uint32_t *load, uint32_t way)
{
	uint32_t most = 0;

	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++) {
		uint32_t phases = fors_flows_phases(p, p->link[i], load[p->link[i]]);

		most = phases > most ? phases : most;
	}
	return most;
}

/* Take a unit off its way and put it on the least full one; is that another? */
static bool move_unit(const struct fors_flows_problem *p, uint32_t *load, uint32_t unit, uint32_t *way)
{
	uint32_t tokens = fors_flows_tokens(p, unit), best = *way, least;

	add_load(p, load, *way, 0 - tokens);
	least = fullest(p, load, *way);
	for (uint32_t other = unit * p->npaths; other < (unit + 1) * p->npaths; other++) {
		uint32_t most = p->exists[other] ? fullest(p, load, other) : UINT32_MAX;

		if (most < least) {
			least = most;
			best = other;
		}
	}
	add_load(p, load, best, tokens);
	if (best == *way)
		return false;
	*way = best;
	return true;
}

static void level(const struct fors_flows_problem *p, uint32_t limit, uint32_t *load, uint32_t *way)
{
	bool has_moved = true;

	for (unsigned round = 0; round < MOST_ROUNDS && has_moved; round++) {
		has_moved = false;
		for (uint32_t unit = 0; unit < fors_flows_units(p); unit++)
			if (fors_flows_tokens(p, unit) && fullest(p, load, way[unit]) > limit)
				has_moved |= move_unit(p, load, unit, &way[unit]);
	}
}

enum fors_err fors_flows_choose_ways(const struct fors_flows_problem *problem, uint32_t limit, uint32_t **way,
				     struct fors_error *error)
{
	uint32_t *load = calloc(problem->nlinks + (size_t)1, sizeof(*load));
	uint32_t *chosen = malloc(((size_t)fors_flows_units(problem) + 1) * sizeof(*chosen));

	if (!load || !chosen) {
		free(load);
		free(chosen);
		return fors_fail_memory(error);
	}
	for (uint32_t unit = 0; unit < fors_flows_units(problem); unit++) {
		chosen[unit] = unit * problem->npaths;
		add_load(problem, load, chosen[unit], fors_flows_tokens(problem, unit));
	}
	if (problem->npaths > 1)
		level(problem, limit, load, chosen);
	free(load);
	*way = chosen;
	return FORS_OK;
}
