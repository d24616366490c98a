/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bipartite.c - where two things limit each flow a colouring is the optimum.
 *
 * A link need not be looked at when something else that all its tokens need has room for one at a time anyway:
 *
 *   - all its tokens have the same destination: the receiver is as narrow;
 *   - all come from the same switch and have crossed the same link of that switch before: that link is.
 *
 * If nothing is left of each way but one link at most, and that is used by a single switch, then a token is an edge between
 * (that link of its switch, or the switch's free node: inside it, or nothing narrow on the way) and its receiver. The
 * switch's nodes are a group that takes n_s tokens in a phase. No node has more edges than phases, no group more than n_s
 * times as many, every edge has a receiver, which takes one: so (colour.h) a colour is a phase, and the bound of these
 * ways is reached. A healthy two-level tree in which each server has a downlink of its own is so, whatever its leaves
 * hold (doc/planners-flows.md); trees need not be known here for that.
 */
#include "bipartite.h"

#include <stdlib.h>
#include <string.h>

#include "core/colouring/colour.h"

#define MANY (FORS_FLOWS_NONE - 1) /* several switches or destinations; FORS_FLOWS_NONE: none so far */
#define MOST_NODES 65535	   /* of a side of a graph */
#define MOST_EDGES (1u << 22)	   /* some 60 bytes each */

struct work {
	const struct fors_flows_problem *problem;
	const uint32_t *way; /* per unit */
	uint32_t nphases;
	bool (*cancelled)(void *context);
	void *context;
	uint32_t *owner, *dest;	       /* per link: whose tokens cross it, where they go */
	uint32_t *front;	       /* per link: the first link that counts on the ways over it */
	uint32_t *node;		       /* per link that is the first: its node */
	uint32_t *free_node;	       /* per switch: the node of those that cross no link that counts */
	uint32_t *load;		       /* per node: tokens; then where its edges begin */
	uint16_t *group;	       /* per node: its switch */
	uint16_t *group_cap;	       /* per switch: senders */
	uint32_t *unit;		       /* per edge */
	uint16_t *left, *right, *mult; /* the same */
	uint32_t nnodes, nedges;
	struct fors_flows_packing *packing;
};

static bool allocate(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;
	size_t links = p->nlinks + (size_t)1, nodes = links + p->nswitches, units = (size_t)fors_flows_units(p) + 1;

	w->owner = malloc(links * sizeof(*w->owner));
	w->dest = malloc(links * sizeof(*w->dest));
	w->front = malloc(links * sizeof(*w->front));
	w->node = malloc(links * sizeof(*w->node));
	w->free_node = malloc((p->nswitches + (size_t)1) * sizeof(*w->free_node));
	w->load = calloc(nodes + 1, sizeof(*w->load));
	w->group = malloc(nodes * sizeof(*w->group));
	w->group_cap = malloc((p->nswitches + (size_t)1) * sizeof(*w->group_cap));
	w->unit = malloc(units * sizeof(*w->unit));
	w->left = malloc(units * sizeof(*w->left));
	w->right = malloc(units * sizeof(*w->right));
	w->mult = malloc(units * sizeof(*w->mult));
	return w->owner && w->dest && w->front && w->node && w->free_node && w->load && w->group && w->group_cap &&
	       w->unit && w->left && w->right && w->mult;
}

static void release(struct work *w)
{
	free(w->owner);
	free(w->dest);
	free(w->front);
	free(w->node);
	free(w->free_node);
	free(w->load);
	free(w->group);
	free(w->group_cap);
	free(w->unit);
	free(w->left);
	free(w->right);
	free(w->mult);
}

/* ---- what counts ---- */

/* What is known of a link, and what comes up now: one thing, or many. */
static void merge(uint32_t *known, uint32_t now)
{
	*known = *known == FORS_FLOWS_NONE || *known == now ? now : MANY;
}

static void find_users(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;

	memset(w->owner, 0xFF, p->nlinks * sizeof(*w->owner));
	memset(w->dest, 0xFF, p->nlinks * sizeof(*w->dest));
	memset(w->front, 0xFF, p->nlinks * sizeof(*w->front));
	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++)
		for (uint32_t i = p->begin[w->way[unit]]; i < p->begin[w->way[unit] + 1]; i++) {
			merge(&w->owner[p->link[i]], fors_flows_switch(p, unit));
			merge(&w->dest[p->link[i]], fors_flows_dest(p, unit));
		}
}

/* The first link of a unit's way that is narrower than the receiver; FORS_FLOWS_NONE. */
static uint32_t first_link(const struct work *w, uint32_t unit)
{
	const struct fors_flows_problem *p = w->problem;

	for (uint32_t i = p->begin[w->way[unit]]; i < p->begin[w->way[unit] + 1]; i++)
		if (w->dest[p->link[i]] == MANY)
			return p->link[i];
	return FORS_FLOWS_NONE;
}

/* Is each link of a unit's way as wide as its receiver, or its switch's own and behind always the same one? */
static bool is_narrow_once(struct work *w, uint32_t unit)
{
	const struct fors_flows_problem *p = w->problem;
	uint32_t first = first_link(w, unit);

	for (uint32_t i = p->begin[w->way[unit]]; i < p->begin[w->way[unit] + 1]; i++) {
		uint32_t link = p->link[i];

		if (w->dest[link] != MANY)
			continue;
		merge(&w->front[link], first);
		if (w->owner[link] == MANY || w->front[link] == MANY)
			return false;
	}
	return true;
}

static bool is_bipartite(struct work *w)
{
	find_users(w);
	for (uint32_t unit = 0; unit < fors_flows_units(w->problem); unit++)
		if (!is_narrow_once(w, unit))
			return false;
	return true;
}

/* ---- the graph ---- */

static void add_node(struct work *w, uint32_t s)
{
	w->group[w->nnodes++] = (uint16_t)s;
}

/* Nodes by switch: the free one, then those of its links as they come up. */
static void number_nodes(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;

	memset(w->node, 0xFF, p->nlinks * sizeof(*w->node));
	for (uint32_t s = 0; s < p->nswitches; s++) {
		w->group_cap[s] = (uint16_t)p->senders[s];
		w->free_node[s] = w->nnodes;
		add_node(w, s);
		for (uint32_t d = 0; d < p->ndests; d++) {
			uint32_t link = first_link(w, s * p->ndests + d);

			if (link == FORS_FLOWS_NONE || w->node[link] != FORS_FLOWS_NONE)
				continue;
			w->node[link] = w->nnodes;
			add_node(w, s);
		}
	}
}

static uint32_t node_of(const struct work *w, uint32_t unit)
{
	uint32_t link = first_link(w, unit);

	return link == FORS_FLOWS_NONE ? w->free_node[fors_flows_switch(w->problem, unit)] : w->node[link];
}

/* Does no link have more tokens than there are phases? A switch's free node takes all its senders at once. */
static bool suffices(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;

	for (uint32_t unit = 0; unit < fors_flows_units(p); unit++) {
		uint32_t link = first_link(w, unit);

		if (link != FORS_FLOWS_NONE && (w->load[w->node[link]] += fors_flows_tokens(p, unit)) > w->nphases)
			return false;
	}
	return true;
}

/* The edges, by their left nodes. */
static void list_edges(struct work *w)
{
	const struct fors_flows_problem *p = w->problem;
	uint32_t units = fors_flows_units(p);

	memset(w->load, 0, (w->nnodes + (size_t)1) * sizeof(*w->load));
	for (uint32_t unit = 0; unit < units; unit++)
		w->load[node_of(w, unit) + 1] += fors_flows_tokens(p, unit) > 0;
	for (uint32_t i = 0; i < w->nnodes; i++)
		w->load[i + 1] += w->load[i];
	w->nedges = w->load[w->nnodes];
	for (uint32_t unit = 0; unit < units; unit++) {
		uint32_t node = node_of(w, unit), e;

		if (!fors_flows_tokens(p, unit))
			continue;
		e = w->load[node]++;
		w->unit[e] = unit;
		w->left[e] = (uint16_t)node;
		w->right[e] = (uint16_t)fors_flows_dest(p, unit);
		w->mult[e] = (uint16_t)fors_flows_tokens(p, unit);
	}
}

/* ---- the colouring ---- */

static enum fors_err take_phase(void *context, uint32_t phase, const uint32_t *edge, uint32_t count)
{
	struct work *w = context;

	if (w->cancelled && w->cancelled(w->context))
		return FORS_ECANCELLED;
	for (uint32_t i = 0; i < count; i++)
		fors_flows_put(w->packing, w->way[w->unit[edge[i]]], phase);
	return FORS_OK;
}

/* What a left node takes in a phase: a link one token, a free node what its switch sends. */
static uint16_t *list_caps(const struct work *w)
{
	uint16_t *cap = malloc((w->nnodes + (size_t)1) * sizeof(*cap));

	for (uint32_t i = 0; cap && i < w->nnodes; i++)
		cap[i] = i == w->free_node[w->group[i]] ? w->group_cap[w->group[i]] : 1;
	return cap;
}

static enum fors_err colour(struct work *w, struct fors_error *error)
{
	const struct fors_flows_problem *p = w->problem;
	uint16_t *cap = list_caps(w);
	const struct fors_multigraph graph = {
		w->nedges,
		w->left,
		w->right,
		w->mult,
		{{w->nnodes, cap, p->nswitches, w->group, w->group_cap}, {p->ndests, NULL, 0, NULL, NULL}}};
	struct fors_colour_space *space =
		fors_colour_space_new(w->nedges, w->nnodes > p->ndests ? w->nnodes : p->ndests);
	enum fors_err err = cap && space ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_colour(space, &graph, 0, w->nphases, take_phase, w, error);
	if (err == FORS_ECANCELLED)
		err = fors_fail(error, err, "flows: planning was cancelled");
	free(cap);
	fors_colour_space_free(space);
	return err;
}

static enum fors_err make(struct work *w, struct fors_error *error)
{
	enum fors_err err;

	number_nodes(w);
	if (!suffices(w))
		return FORS_OK;
	list_edges(w);
	err = fors_flows_packing_new(w->problem, w->nphases, &w->packing, error);
	if (err)
		return err;
	err = colour(w, error);
	if (!err)
		w->packing->nwaiting = 0;
	return err;
}

/* Is the problem small enough for the numbers of a graph? */
static bool is_small(const struct fors_flows_problem *problem)
{
	return (uint64_t)problem->nlinks + problem->nswitches <= MOST_NODES && problem->ndests <= MOST_NODES &&
	       fors_flows_units(problem) <= MOST_EDGES;
}

uint64_t fors_flows_bipartite_bytes(const struct fors_flows_problem *problem)
{
	const struct work *w = NULL;
	uint64_t links = problem->nlinks + UINT64_C(1), nodes = links + problem->nswitches + 1,
		 units = fors_flows_units(problem) + UINT64_C(1);
	uint32_t copies = 1;

	if (!is_small(problem))
		return 0;
	for (uint32_t s = 0; s < problem->nswitches; s++)
		copies = problem->senders[s] > copies ? problem->senders[s] : copies;
	return links * (sizeof(*w->owner) + sizeof(*w->dest) + sizeof(*w->front) + sizeof(*w->node)) +
	       nodes * (sizeof(*w->load) + sizeof(*w->group) + sizeof(*w->group_cap) + sizeof(*w->free_node)) +
	       units * (sizeof(*w->unit) + sizeof(*w->left) + sizeof(*w->right) + sizeof(*w->mult)) +
	       fors_colour_bytes((uint32_t)units, (uint32_t)(nodes > problem->ndests ? nodes : problem->ndests),
				 copies);
}

enum fors_err fors_flows_bipartite(const struct fors_flows_problem *problem, const uint32_t *way, uint32_t nphases,
				   bool (*cancelled)(void *context), void *context, struct fors_flows_packing **packing,
				   struct fors_error *error)
{
	struct work w = {
		.problem = problem, .way = way, .nphases = nphases, .cancelled = cancelled, .context = context};
	enum fors_err err = FORS_OK;

	if (!is_small(problem) || problem->capacity) {
		*packing = NULL;
		return FORS_OK;
	}
	if (!allocate(&w))
		err = fors_fail_memory(error);
	else if (is_bipartite(&w))
		err = make(&w, error);
	release(&w);
	if (err)
		fors_flows_packing_free(w.packing);
	else
		*packing = w.packing;
	return err;
}
