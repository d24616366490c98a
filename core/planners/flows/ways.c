/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways.c - which of its ways a unit takes first.
 *
 * All begin with path index 0, the base LIDs: tables are made for those to be balanced, and what is regular about them (each
 * server has a downlink of its own, say) is worth more to a packing than idle cables. Only units over a link that has
 * more tokens than there are phases move, to the way whose fullest link is least full, if that is less full than theirs;
 * round after round, until nobody has to, or nobody can. Where that leaves a link too full, and another path index is
 * better by itself, units begin with that one, too, and what ends better is taken.
 */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

#include "choice.h"

#define MOST_ROUNDS 16

static void add_load(const struct fors_flows_problem *p, uint32_t *load, uint32_t way, uint32_t tokens)
{
	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
		load[p->link[i]] += tokens;
}

/* The fullest link of a way. */
static uint32_t fullest(const struct fors_flows_problem *p, const uint32_t *load, uint32_t way)
{
	uint32_t most = 0;

	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
		most = load[p->link[i]] > most ? load[p->link[i]] : most;
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

/* All begin with one path index, and move; the fullest link then. */
static uint32_t choose_from(const struct fors_flows_problem *p, uint32_t path, uint32_t limit, uint32_t *load,
			    uint32_t *way)
{
	uint32_t most = 0;

	memset(load, 0, p->nlinks * sizeof(*load));
	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++) {
		way[unit] = unit * p->npaths + path;
		add_load(p, load, way[unit], fors_flows_tokens(p, unit));
	}
	if (p->npaths > 1)
		level(p, limit, load, way);
	for (uint32_t i = 0; i < p->nlinks; i++)
		most = load[i] > most ? load[i] : most;
	return most;
}

/* Begin with another path index, if that is better by itself; *way is changed if it ends better than `most`. */
static enum fors_err try_other(const struct fors_flows_problem *p, uint32_t most, uint32_t limit, uint32_t *load,
			       uint32_t *way, struct fors_error *error)
{
	size_t size = (size_t)fors_flows_units(p) * sizeof(*way);
	uint32_t path, tokens, *other;
	enum fors_err err = fors_flows_best_path(p, &path, &tokens, error);

	if (err || !path)
		return err;
	other = malloc(size + 1);
	if (!other)
		return fors_fail_memory(error);
	if (choose_from(p, path, limit, load, other) < most)
		memcpy(way, other, size);
	free(other);
	return FORS_OK;
}

enum fors_err fors_flows_choose_ways(const struct fors_flows_problem *problem, uint32_t limit, uint32_t **way,
				     struct fors_error *error)
{
	uint32_t *load = malloc((problem->nlinks + (size_t)1) * sizeof(*load)), most;
	uint32_t *chosen = malloc(((size_t)fors_flows_units(problem) + 1) * sizeof(*chosen));
	enum fors_err err = load && chosen ? FORS_OK : fors_fail_memory(error);

	if (!err) {
		most = choose_from(problem, 0, limit, load, chosen);
		if (problem->npaths > 1 && most > limit)
			err = try_other(problem, most, limit, load, chosen, error);
	}
	free(load);
	if (err)
		free(chosen);
	else
		*way = chosen;
	return err;
}
