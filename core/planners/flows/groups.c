/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* groups.c - switches whose flows meet on the second links of their ways: see groups.h. */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#define SHORT 2 /* links of a way that turns at the first switch behind its own */

struct work {
	const struct fors_flows_problem *problem;
	struct fors_flows_groups *groups;
	uint32_t
		*joint; /* per link, then per switch: another one that it hangs together with; itself: none before it */
	uint32_t *lane; /* per link: its lane; FORS_FLOWS_NONE: no way begins with it */
};

/* The own link of a unit's way, and the one that others may have, too; FORS_FLOWS_NONE. */
static void first_links(const struct fors_flows_problem *p, uint32_t unit, uint32_t link[2])
{
	uint32_t first = p->begin[unit * p->npaths], n = p->begin[unit * p->npaths + 1] - first;

	link[0] = n ? p->link[first] : FORS_FLOWS_NONE;
	link[1] = n > SHORT ? p->link[first + 1] : FORS_FLOWS_NONE;
}

/* The first of what hangs together. */
static uint32_t first_of(const struct work *w, uint32_t x)
{
	while (w->joint[x] != x)
		x = w->joint[x] = w->joint[w->joint[x]];
	return x;
}

static void join(const struct work *w, uint32_t x, uint32_t y)
{
	uint32_t a = first_of(w, x), b = first_of(w, y);

	w->joint[a > b ? a : b] = a < b ? a : b;
}

static void find_lanes(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;
	uint32_t link[2];

	for (uint32_t i = 0; i < p->nlinks + p->nswitches; i++)
		w->joint[i] = i;
	memset(w->lane, 0xFF, p->nlinks * sizeof(*w->lane));
	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++) {
		first_links(p, unit, link);
		if (link[1] != FORS_FLOWS_NONE)
			join(w, link[0], link[1]);
	}
	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++) {
		first_links(p, unit, link);
		if (link[0] == FORS_FLOWS_NONE)
			continue;
		if (w->lane[first_of(w, link[0])] == FORS_FLOWS_NONE)
			w->lane[first_of(w, link[0])] = w->groups->nlanes++;
		w->lane[link[0]] = w->lane[first_of(w, link[0])];
	}
}

/* Groups are numbered in the order of their first switches. */
static void list_groups(struct work *w)
{
	struct fors_flows_groups *g = w->groups;
	uint32_t nswitches = w->problem->nswitches, n = 0;

	for (uint32_t s = 0; s < nswitches; s++)
		g->group[s] = FORS_FLOWS_NONE;
	for (uint32_t s = 0; s < nswitches; s++) {
		if (g->group[s] != FORS_FLOWS_NONE)
			continue;
		g->begin[g->ngroups] = n;
		for (uint32_t r = s; r < nswitches; r++)
			if (first_of(w, w->problem->nlinks + r) == first_of(w, w->problem->nlinks + s)) {
				g->group[r] = g->ngroups;
				g->member[n++] = r;
				g->senders[g->ngroups] += w->problem->senders[r];
			}
		g->begin[++g->ngroups] = n;
	}
}

static void find_groups(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;
	uint32_t link[2];

	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++) {
		first_links(p, unit, link);
		if (link[0] != FORS_FLOWS_NONE)
			join(w, link[0], p->nlinks + fors_flows_switch(p, unit));
	}
	list_groups(w);
}

/* Senders of a group that send to a receiver by this lane and second link. */
static uint32_t count_votes(const struct work *w, uint32_t group, uint32_t d, uint32_t lane, uint32_t shared)
{
	const struct fors_flows_problem *p = w->problem;
	uint32_t votes = 0, link[2];

	for (uint32_t i = w->groups->begin[group]; i < w->groups->begin[group + 1]; i++) {
		uint32_t s = w->groups->member[i];

		first_links(p, s * p->ndests + d, link);
		if (link[0] != FORS_FLOWS_NONE && w->lane[link[0]] == lane && link[1] == shared)
			votes += p->senders[s];
	}
	return votes;
}

/* The lane and second link by which most of a group send to a receiver. */
static void vote(struct work *w, uint32_t group, uint32_t d)
{
	const struct fors_flows_problem *p = w->problem;
	struct fors_flows_groups *g = w->groups;
	uint32_t best = 0;

	for (uint32_t i = g->begin[group]; i < g->begin[group + 1] && 2 * best < g->senders[group]; i++) {
		uint32_t link[2], votes;

		first_links(p, g->member[i] * p->ndests + d, link);
		if (link[0] == FORS_FLOWS_NONE)
			continue;
		votes = count_votes(w, group, d, w->lane[link[0]], link[1]);
		if (votes <= best)
			continue;
		best = votes;
		g->lane[group * p->ndests + d] = w->lane[link[0]];
		g->shared[group * p->ndests + d] = link[1];
	}
}

static bool allocate(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;
	struct fors_flows_groups *g = w->groups;
	size_t n = (size_t)p->nlinks + p->nswitches + 1, ways = (size_t)p->nswitches * p->ndests + 1;

	w->joint = malloc(n * sizeof(*w->joint));
	w->lane = malloc(n * sizeof(*w->lane));
	g->group = calloc(p->nswitches + (size_t)1, sizeof(*g->group));
	g->begin = calloc(p->nswitches + (size_t)1, sizeof(*g->begin));
	g->member = calloc(p->nswitches + (size_t)1, sizeof(*g->member));
	g->senders = calloc(p->nswitches + (size_t)1, sizeof(*g->senders));
	g->lane = malloc(ways * sizeof(*g->lane));
	g->shared = malloc(ways * sizeof(*g->shared));
	if (!w->joint || !w->lane || !g->group || !g->begin || !g->member || !g->senders || !g->lane || !g->shared)
		return false;
	memset(g->lane, 0xFF, ways * sizeof(*g->lane));
	memset(g->shared, 0xFF, ways * sizeof(*g->shared));
	return true;
}

void fors_flows_groups_clear(struct fors_flows_groups *groups)
{
	free(groups->group);
	free(groups->begin);
	free(groups->member);
	free(groups->senders);
	free(groups->lane);
	free(groups->shared);
	*groups = (struct fors_flows_groups){0};
}

enum fors_err fors_flows_groups_read(const struct fors_flows_problem *problem, struct fors_flows_groups *groups,
				     struct fors_error *error)
{
	struct work w = {.problem = problem, .groups = groups};
	bool good;

	*groups = (struct fors_flows_groups){0};
	good = allocate(&w);
	if (good) {
		find_lanes(&w);
		find_groups(&w);
		for (uint32_t g = 0; g < groups->ngroups; g++)
			for (uint32_t d = 0; d < problem->ndests; d++)
				vote(&w, g, d);
	}
	free(w.joint);
	free(w.lane);
	if (good)
		return FORS_OK;
	fors_flows_groups_clear(groups);
	return fors_fail_memory(error);
}
