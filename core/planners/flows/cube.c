/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cube.c - the coordinates of switches in a hypercube, whatever their numbers are.
 *
 * In a hypercube the exclusive or of two coordinates says which dimensions a way crosses, and so which ways are alike: first
 * fit in that order needs no search (first_fit.c). But switches are numbered as they were found. The coordinates come
 * back from the lengths of ways: each neighbour of switch 0 stands for a dimension, and a switch is on the neighbour's
 * side of it when its way there is shorter than that to switch 0. It is a hypercube with shortest ways if and only if all
 * lengths are then the numbers of bits that differ.
 */
#include "cube.h"

static uint32_t length(const struct fors_flows_problem *p, uint32_t from, uint32_t to)
{
	uint32_t way = (from * p->ndests + p->first[to]) * p->npaths;

	return p->begin[way + 1] - p->begin[way];
}

/* Coordinates by the neighbours of switch 0; how many of those there are. */
static uint32_t set_sides(const struct fors_flows_problem *p, uint32_t *number)
{
	uint32_t dims = 0;

	for (uint32_t s = 0; s < p->nswitches; s++)
		number[s] = 0;
	for (uint32_t next = 1; next < p->nswitches && dims < 32; next++) {
		if (length(p, 0, next) != 1)
			continue;
		for (uint32_t s = 0; s < p->nswitches; s++)
			number[s] |= (uint32_t)(length(p, s, next) < length(p, s, 0)) << dims;
		dims++;
	}
	return dims;
}

static bool is_cube(const struct fors_flows_problem *p, uint32_t *number)
{
	for (uint32_t s = 0; s < p->nswitches; s++)
		if (!p->senders[s])
			return false;
	if (UINT64_C(1) << set_sides(p, number) != p->nswitches)
		return false;
	for (uint32_t s = 0; s < p->nswitches; s++)
		for (uint32_t to = 0; to < p->nswitches; to++)
			if (length(p, s, to) != (uint32_t)__builtin_popcount(number[s] ^ number[to]))
				return false;
	return true;
}

void fors_flows_cube(const struct fors_flows_problem *problem, uint32_t *number)
{
	bool is_whole = is_cube(problem, number);

	for (uint32_t s = 0; !is_whole && s < problem->nswitches; s++)
		number[s] = s;
}
