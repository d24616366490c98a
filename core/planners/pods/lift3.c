/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lift3.c - cohorts and ways for all items anew, where many tops or their cables are dead.
 *
 * An item is what the m2 leaves of a pod send to a server. In a cohort no two items have a receiver, a lane down, a
 * rung up or a rung down in common, and at most m2 of a pod go up in a plane: then those get turns 0 .. m2-1, leaf y
 * serves the item of turn t in round (cohort, t - y mod m2), and no two units meet in any round (doc/planners-levels.md).
 * So it is enough to find cohorts, rungs and servers for items, with colourings of bipartite graphs all the way:
 *
 *   1. The split (split3.c) says how many items from p to q use a slot, at most one for each cohort at each cable.
 *   2. Cohorts: in each plane, pods against pods; an item is an edge between the slots of its ends, of which each has
 *      one item in a cohort; all slots of a pod together have m2. Items that stay inside take places that are left
 *      over, in the planes that have most.
 *   3. Leaves: in each pod that receives, (plane, cohort) against source pods: m2 colours; a plane has each leaf
 *      once in a cohort, and a pod m1 items for each leaf.
 *   4. Servers: in each leaf, cohorts against source pods: m1 colours; a server receives once in a cohort, and once
 *      from each pod.
 *   5. Turns: in any order.
 *
 * Who is who is chosen anew, so nearly all entries move: this is for failures that are too many for repair3.c, where
 * all cables of leaves live; for dead ones cost more phases, and with these there is room for a search.
 */
#include "lift3.h"

#include <stdlib.h>
#include <string.h>

#include "core/colouring/colour.h"
#include "split3.h"

#define MOST_COUNTS (UINT64_C(1) << 26) /* of the split */

struct item {
	uint16_t from, to;     /* pods */
	uint16_t plane, rung;  /* rung: if it does not stay inside */
	uint16_t cohort, leaf; /* leaf: its number in the pod */
};

/* The graph in hand; node numbers, and which item, or edge of the split, each edge is. */
struct graph {
	struct fors_multigraph graph;
	uint16_t *left, *right, *mult;
	uint16_t *group, *cap; /* groups of nodes, alike on both sides */
	struct item *what;
	uint32_t *who;
};

struct lift {
	const struct fors_cohorts *c;
	const struct fors_lanes3 *l;
	const struct fors_split3 *split;
	uint32_t m1, m2, npods, ncohorts;
	struct item *item; /* by place: [((to * m1 + plane) * ncohorts + cohort) * m2 + i] */
	uint8_t *nplaced;  /* of each plane and cohort of a pod that receives */
	uint16_t *inside;  /* [pod * m1 + plane]: items that stay */
	uint32_t *given;   /* [pod * nslots + slot]: the item from there to the server, by place; FORS_NONE: left out */
	struct graph g;
	struct fors_colour_space *space;
	uint32_t leaf; /* step 4: of which the servers are named */
};

/* Are numbers small enough for nodes of graphs, and the split's matrix for memory? */
static bool is_small(const struct fors_lanes3 *lanes)
{
	uint64_t npods = lanes->pods->npods, width = 0;

	for (uint32_t j = 0; j < lanes->pods->nplanes; j++)
		width = lanes->rungs[j] > width ? lanes->rungs[j] : width;
	return npods * (width + lanes->m2) < UINT16_MAX && npods * npods * lanes->pods->nplanes * width < MOST_COUNTS &&
	       lanes->m1 <= UINT8_MAX && lanes->m2 <= UINT8_MAX;
}

bool fors_lift3_applies(const struct fors_lanes3 *lanes)
{
	uint32_t used = 0;

	for (uint32_t a = 0; a < lanes->pods->nleaves; a++)
		for (uint32_t lane = 0; lane < lanes->nlanes; lane++)
			if (!fors_lanes3_live(lanes, a, lane))
				return false;
	if (!lanes->is_regular || lanes->nlanes != lanes->pods->nplanes || lanes->nlanes != lanes->m1)
		return false;
	for (uint32_t j = 0; j < lanes->pods->nplanes; j++)
		used += lanes->rungs[j];
	return used == lanes->pods->ntops && is_small(lanes);
}

static uint32_t width_of(const struct lift *w)
{
	return w->split->width + w->m2; /* slots of a plane, then places of those that stay inside */
}

/* Colour the graph in hand, nedges of its edges; who hears of it gets the lift. */
static enum fors_err colour(struct lift *w, uint32_t nedges, uint32_t ncolours, fors_colour_emit emit,
			    struct fors_error *error)
{
	struct graph *g = &w->g;

	g->graph.nedges = nedges;
	g->graph.left = g->left;
	g->graph.right = g->right;
	return nedges ? fors_colour(w->space, &g->graph, 0, ncolours, emit, w, error) : FORS_OK;
}

/* ---- cohorts ---- */

/* Items that stay in their pod: as many in each plane as at home, then where there is most room. */
static void share_inside(struct lift *w, uint32_t pod)
{
	uint16_t *inside = w->inside + (size_t)pod * w->m1;
	uint32_t room[UINT8_MAX + 1], left = w->m1 * w->m2;

	for (uint32_t j = 0; j < w->m1; j++) {
		room[j] = w->m2 * w->ncohorts;
		for (uint32_t k = 0; k < w->split->width; k++)
			room[j] -= w->split->load[(size_t)pod * w->split->nslots + j * w->split->width + k];
		inside[j] = (uint16_t)(room[j] < w->m2 ? room[j] : w->m2);
		room[j] -= inside[j];
		left -= inside[j];
	}
	while (left) {
		uint32_t best = 0;

		for (uint32_t j = 1; j < w->m1; j++)
			best = room[j] > room[best] ? j : best;
		inside[best]++;
		room[best]--;
		left--;
	}
}

static void add_edge(struct graph *g, uint32_t *n, uint32_t left, uint32_t right, uint32_t mult, struct item what)
{
	g->left[*n] = (uint16_t)left;
	g->right[*n] = (uint16_t)right;
	g->mult[*n] = (uint16_t)mult;
	g->what[(*n)++] = what;
}

/* The items of a plane: an edge for those of two pods that use the same slot. */
static uint32_t list_plane(struct lift *w, uint32_t plane)
{
	const struct fors_split3 *s = w->split;
	uint32_t n = 0;

	for (uint32_t p = 0; p < w->npods; p++) {
		uint32_t inside = w->inside[(size_t)p * w->m1 + plane];

		for (uint32_t k = 0; k < s->width; k++)
			for (uint32_t q = 0; q < w->npods; q++) {
				uint32_t count =
					s->count[((size_t)p * s->npods + q) * s->nslots + plane * s->width + k];

				if (count)
					add_edge(&w->g, &n, p * width_of(w) + k, q * width_of(w) + k, count,
						 (struct item){(uint16_t)p, (uint16_t)q, (uint16_t)plane, (uint16_t)k,
							       0, 0});
			}
		for (uint32_t i = 0; i < w->m2; i++)
			if ((inside + i) / w->m2)
				add_edge(&w->g, &n, p * width_of(w) + s->width + i, p * width_of(w) + s->width + i,
					 (inside + i) / w->m2,
					 (struct item){(uint16_t)p, (uint16_t)p, (uint16_t)plane, 0, 0, 0});
	}
	return n;
}

static enum fors_err take_cohort(void *context, uint32_t cohort, const uint32_t *edge, uint32_t count)
{
	struct lift *w = context;

	for (uint32_t i = 0; i < count; i++) {
		struct item item = w->g.what[edge[i]];
		size_t at = ((size_t)item.to * w->m1 + item.plane) * w->ncohorts + cohort;

		item.cohort = (uint16_t)cohort;
		w->item[at * w->m2 + w->nplaced[at]++] = item;
	}
	return FORS_OK;
}

static enum fors_err find_cohorts(struct lift *w, struct fors_error *error)
{
	struct graph *g = &w->g;
	enum fors_err err = FORS_OK;

	for (uint32_t p = 0; p < w->npods; p++) {
		share_inside(w, p);
		g->cap[p] = (uint16_t)w->m2;
		for (uint32_t i = 0; i < width_of(w); i++)
			g->group[p * width_of(w) + i] = (uint16_t)p;
	}
	for (unsigned side = 0; side < 2; side++)
		g->graph.side[side] = (struct fors_colour_side){
			.nnodes = w->npods * width_of(w), .ngroups = w->npods, .group = g->group, .group_cap = g->cap};
	g->graph.mult = g->mult;
	for (uint32_t plane = 0; !err && plane < w->m1; plane++)
		err = colour(w, list_plane(w, plane), w->ncohorts, take_cohort, error);
	return err;
}

/* ---- leaves and servers ---- */

static enum fors_err take_leaf(void *context, uint32_t leaf, const uint32_t *edge, uint32_t count)
{
	struct lift *w = context;

	for (uint32_t i = 0; i < count; i++)
		w->item[w->g.who[edge[i]]].leaf = (uint16_t)leaf;
	return FORS_OK;
}

/* A leaf of pod `to` for each of its items. */
static enum fors_err find_leaves(struct lift *w, uint32_t to, struct fors_error *error)
{
	size_t nodes = (size_t)w->m1 * w->ncohorts, first = to * nodes;
	uint32_t n = 0;

	for (size_t at = first; at < first + nodes; at++)
		for (uint32_t i = 0; i < w->nplaced[at]; i++) {
			w->g.left[n] = (uint16_t)(at - first);
			w->g.right[n] = w->item[at * w->m2 + i].from;
			w->g.who[n++] = (uint32_t)(at * w->m2 + i);
		}
	for (uint32_t p = 0; p < w->npods; p++)
		w->g.cap[p] = (uint16_t)w->m1;
	w->g.graph.mult = NULL;
	w->g.graph.side[0] = (struct fors_colour_side){.nnodes = (uint32_t)nodes};
	w->g.graph.side[1] = (struct fors_colour_side){.nnodes = w->npods, .cap = w->g.cap};
	return colour(w, n, w->m2, take_leaf, error);
}

static enum fors_err take_server(void *context, uint32_t x, const uint32_t *edge, uint32_t count)
{
	struct lift *w = context;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t who = w->g.who[edge[i]];

		w->given[(size_t)w->item[who].from * w->l->pods->nslots + w->c->slot[w->leaf] + x] = who;
	}
	return FORS_OK;
}

/* A server of leaf `number` of pod `to` for each of its items. */
static enum fors_err find_servers(struct lift *w, uint32_t to, uint32_t number, struct fors_error *error)
{
	uint32_t n = 0;

	for (uint32_t cohort = 0; cohort < w->ncohorts; cohort++)
		for (uint32_t plane = 0; plane < w->m1; plane++) {
			size_t at = ((size_t)to * w->m1 + plane) * w->ncohorts + cohort;

			for (uint32_t i = 0; i < w->nplaced[at]; i++) {
				if (w->item[at * w->m2 + i].leaf != number)
					continue;
				w->g.left[n] = (uint16_t)cohort;
				w->g.right[n] = w->item[at * w->m2 + i].from;
				w->g.who[n++] = (uint32_t)(at * w->m2 + i);
			}
		}
	w->leaf = to * w->m2 + number;
	w->g.graph.side[0] = (struct fors_colour_side){.nnodes = w->ncohorts};
	w->g.graph.side[1] = (struct fors_colour_side){.nnodes = w->npods};
	return colour(w, n, w->m1, take_server, error);
}

static enum fors_err find_receivers(struct lift *w, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t to = 0; !err && to < w->npods; to++) {
		err = find_leaves(w, to, error);
		for (uint32_t number = 0; !err && number < w->m2; number++)
			err = find_servers(w, to, number, error);
	}
	return err;
}

/* ---- what comes of it ---- */

/* Cohorts, turns and ways of all items. */
static void write_all(struct lift *w, struct fors_cohorts *c, struct fors_ways3 *ways)
{
	uint32_t nslots = w->l->pods->nslots;

	memset(w->nplaced, 0, (size_t)w->npods * w->m1 * w->ncohorts);
	for (uint32_t p = 0; p < w->npods; p++)
		for (uint32_t s = 0; s < nslots; s++) {
			size_t at = (size_t)p * nslots + s;
			const struct item *item = w->given[at] == FORS_NONE ? NULL : &w->item[w->given[at]];

			c->cohort[at] = item ? item->cohort : FORS_COHORTS_NONE;
			if (item)
				c->turn[at] =
					w->nplaced[((size_t)p * w->m1 + item->plane) * w->ncohorts + item->cohort]++;
			fors_cohorts_send(c, ways, p, s, item ? item->plane : FORS_NONE, item ? item->rung : 0);
		}
	c->ncohorts = w->ncohorts;
}

static bool allocate(struct lift *w)
{
	struct graph *g = &w->g;
	size_t places = (size_t)w->npods * w->m1 * w->ncohorts, nodes = (size_t)w->npods * width_of(w),
	       edges = (size_t)w->npods * (w->npods * (size_t)w->split->width + w->m2),
	       most = (size_t)w->m1 * w->ncohorts * w->m2;

	most = edges > most ? edges : most;
	nodes = nodes > (size_t)w->m1 * w->ncohorts ? nodes : (size_t)w->m1 * w->ncohorts;
	w->item = malloc((places * w->m2 + 1) * sizeof(*w->item));
	w->nplaced = calloc(places + 1, 1);
	w->inside = calloc((size_t)w->npods * w->m1 + 1, sizeof(*w->inside));
	w->given = malloc(((size_t)w->npods * w->l->pods->nslots + 1) * sizeof(*w->given));
	g->left = malloc((most + 1) * sizeof(*g->left));
	g->right = malloc((most + 1) * sizeof(*g->right));
	g->mult = malloc((most + 1) * sizeof(*g->mult));
	g->what = malloc((most + 1) * sizeof(*g->what));
	g->who = malloc((most + 1) * sizeof(*g->who));
	g->group = malloc((nodes + 1) * sizeof(*g->group));
	g->cap = malloc((w->npods + (size_t)1) * sizeof(*g->cap));
	w->space = fors_colour_space_new((uint32_t)most, (uint32_t)nodes);
	if (w->given)
		memset(w->given, 0xFF, (size_t)w->npods * w->l->pods->nslots * sizeof(*w->given));
	return w->item && w->nplaced && w->inside && w->given && g->left && g->right && g->mult && g->what && g->who &&
	       g->group && g->cap && w->space;
}

static void release(struct lift *w)
{
	free(w->item);
	free(w->nplaced);
	free(w->inside);
	free(w->given);
	free(w->g.left);
	free(w->g.right);
	free(w->g.mult);
	free(w->g.what);
	free(w->g.who);
	free(w->g.group);
	free(w->g.cap);
	fors_colour_space_free(w->space);
}

enum fors_err fors_lift3(struct fors_cohorts *cohorts, struct fors_ways3 *ways, uint32_t ncohorts, uint32_t most,
			 uint32_t *nleft, struct fors_error *error)
{
	struct lift w = {.c = cohorts,
			 .l = cohorts->lanes,
			 .m1 = cohorts->m1,
			 .m2 = cohorts->m2,
			 .npods = cohorts->npods,
			 .ncohorts = ncohorts};
	struct fors_split3 *split;
	enum fors_err err = fors_split3_find(w.l, ncohorts, &split, error);

	if (err)
		return err;
	w.split = split;
	*nleft = 2 * split->nleft;
	if (*nleft < most) {
		err = allocate(&w) ? find_cohorts(&w, error) : fors_fail_memory(error);
		if (!err)
			err = find_receivers(&w, error);
		if (!err)
			write_all(&w, cohorts, ways);
		release(&w);
	}
	fors_split3_free(split);
	return err;
}
