/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lift3_leaves.c - a leaf and a server for each item.
 *
 * Leaves are a colouring of the items of a pod that receives: planes and cohorts against source pods. A bundle wants
 * one colour with all its items, and nobody else of its source; several bundles can have the same one, if their cohorts
 * and sources differ. For such a leaf an item of every other plane and cohort is chosen first, m1 of each other source
 * at most, along alternating paths. There are as many planes and cohorts as all sources together may have, so each
 * source has m1 then, and what is left can be coloured with one colour less. Where there is no such choice the bundles
 * are none.
 */
#include <stdlib.h>
#include <string.h>

#include "lift3_inside.h"

/* A choice of an item for each plane and cohort of a pod. */
struct choice {
	struct fors_lift3 *w;
	uint32_t to, nnodes; /* nodes: plane * ncohorts + cohort */
	uint16_t *bundle;    /* per long cohort: the one that comes to this leaf, FORS_LIFT3_NONE */
	uint8_t *item;	     /* per node: which of its items */
	uint16_t *node;	     /* [source * m1 + i]: the nodes that chose it */
	uint16_t *n;	     /* per source */
	bool *seen;	     /* per source */
};

static struct fors_lift3_item *item_of(const struct choice *c, uint32_t node, uint32_t i)
{
	return &c->w->item[((size_t)c->to * c->nnodes + node) * c->w->m2 + i];
}

/* May the leaf have this item? */
static bool is_allowed(const struct choice *c, uint32_t node, uint32_t i)
{
	const struct fors_lift3_item *item = item_of(c, node, i);
	uint32_t bundle = item->cohort < fors_lift3_long(c->w) ? c->bundle[item->cohort] : FORS_LIFT3_NONE;

	return item->leaf == FORS_LIFT3_NONE && item->bundle == bundle;
}

/* An item for a node, others changing theirs. */
static bool choose(struct choice *c, uint32_t node)
{
	uint32_t m1 = c->w->m1;

	for (uint32_t i = 0; i < c->w->nplaced[(size_t)c->to * c->nnodes + node]; i++) {
		uint32_t from = item_of(c, node, i)->from, k = 0;

		if (!is_allowed(c, node, i) || c->seen[from])
			continue;
		c->seen[from] = true;
		if (c->n[from] < m1)
			k = c->n[from]++;
		else
			while (k < m1 && !choose(c, c->node[from * m1 + k]))
				k++;
		if (k == m1)
			continue;
		c->node[from * m1 + k] = (uint16_t)node;
		c->item[node] = (uint8_t)i;
		return true;
	}
	return false;
}

/* All nodes of long cohorts first, or none of them. */
static bool choose_nodes(struct choice *c, bool is_long)
{
	for (uint32_t node = 0; node < c->nnodes; node++) {
		memset(c->seen, 0, c->w->npods * sizeof(*c->seen));
		if ((node % c->w->ncohorts < fors_lift3_long(c->w)) == is_long && !choose(c, node))
			return false;
	}
	return true;
}

static bool choose_all(struct choice *c)
{
	memset(c->n, 0, c->w->npods * sizeof(*c->n));
	return choose_nodes(c, true) && choose_nodes(c, false);
}

static bool allocate(struct choice *c)
{
	c->bundle = malloc((fors_lift3_long(c->w) + (size_t)1) * sizeof(*c->bundle));
	c->item = malloc(c->nnodes + (size_t)1);
	c->node = malloc(((size_t)c->w->npods * c->w->m1 + 1) * sizeof(*c->node));
	c->n = malloc((c->w->npods + (size_t)1) * sizeof(*c->n));
	c->seen = malloc((c->w->npods + (size_t)1) * sizeof(*c->seen));
	return c->bundle && c->item && c->node && c->n && c->seen;
}

/* Bundles for one leaf, at most one of each cohort and source, beginning with cohort `first`; false: there are none. */
static bool gather(struct choice *c, uint32_t first)
{
	uint32_t nlong = fors_lift3_long(c->w);
	bool any = false;

	memset(c->seen, 0, c->w->npods * sizeof(*c->seen));
	for (uint32_t k = 0; k < nlong; k++) {
		uint32_t cohort = (first + k) % nlong;

		c->bundle[cohort] = FORS_LIFT3_NONE;
		for (uint32_t i = 0; i < c->w->bundles->n; i++) {
			const struct fors_bundle3 *bundle = &c->w->bundles->bundle[i];

			if (bundle->to != c->to || bundle->cohort != cohort || bundle->leaf != FORS_BUNDLES3_NONE ||
			    c->seen[bundle->from])
				continue;
			c->bundle[cohort] = (uint16_t)i;
			c->seen[bundle->from] = true;
			any = true;
			break;
		}
	}
	return any;
}

/* What was chosen gets a leaf. */
static void name_chosen(const struct choice *c, uint32_t leaf)
{
	for (uint32_t cohort = 0; cohort < fors_lift3_long(c->w); cohort++)
		if (c->bundle[cohort] != FORS_LIFT3_NONE)
			c->w->bundles->bundle[c->bundle[cohort]].leaf = (uint16_t)leaf;
	for (uint32_t node = 0; node < c->nnodes; node++)
		item_of(c, node, c->item[node])->leaf = (uint16_t)leaf;
}

/* Leaves for the bundles to a pod, the last ones; *nleaves: how many are left for others. */
static enum fors_err find_bundled(struct fors_lift3 *w, uint32_t to, uint32_t *nleaves, struct fors_error *error)
{
	struct choice c = {.w = w, .to = to, .nnodes = w->m1 * w->ncohorts};
	bool good = allocate(&c);

	for (uint32_t first = 0; good && *nleaves && first < fors_lift3_long(w); first++)
		while (*nleaves && gather(&c, first) && choose_all(&c))
			name_chosen(&c, --*nleaves);
	free(c.bundle);
	free(c.item);
	free(c.node);
	free(c.n);
	free(c.seen);
	return good ? FORS_OK : fors_fail_memory(error);
}

/* Planes of a source by their length; of items that stay, which may use a plane again, two nodes are enough. */
uint16_t fors_lift3_source(const struct fors_lift3 *w, const struct fors_lift3_item *item)
{
	uint32_t before = 0, which;

	if (!w->mix)
		return item->from;
	which = fors_mix3_of_cohort(w->mix, item->cohort);
	if (item->from == item->to)
		return (uint16_t)(item->from * w->m1 + which);
	for (uint32_t j = 0; j < w->m1; j++) {
		uint32_t of = fors_mix3_of_plane(w->mix, item->from, item->to, j);

		before += of < which || (of == which && j < item->plane);
	}
	return (uint16_t)(item->from * w->m1 + before);
}

/* Planes of a source for the first length come first. */
static void set_planes(struct fors_lift3 *w, uint32_t from, uint32_t to, uint32_t most)
{
	struct fors_lift3_graph *g = &w->g;
	const uint32_t *n = from == to ? w->mix->inside : w->mix->nparts[fors_mix3_kind(w->mix, from, to)];
	uint32_t nfirst = from == to;

	for (uint32_t j = 0; from != to && j < w->m1; j++)
		nfirst += !fors_mix3_of_plane(w->mix, from, to, j);
	for (uint32_t i = 0; i < w->m1; i++) {
		uint32_t which = i >= nfirst;

		g->cap[from * w->m1 + i] = (uint16_t)(from == to && n[which] ? most * n[which] : most);
		g->group[from * w->m1 + i] = (uint16_t)(from * FORS_MIX3_LENGTHS + which);
	}
	for (uint32_t which = 0; which < FORS_MIX3_LENGTHS; which++)
		g->cap[w->npods * w->m1 + from * FORS_MIX3_LENGTHS + which] =
			(uint16_t)(n[which] ? most * n[which] : 1);
}

void fors_lift3_sources(struct fors_lift3 *w, uint32_t to, uint32_t most)
{
	struct fors_lift3_graph *g = &w->g;
	uint32_t n = w->mix ? w->npods * w->m1 : w->npods;

	g->graph.side[1] = (struct fors_colour_side){.nnodes = n, .cap = g->cap};
	if (w->mix) {
		g->graph.side[1].ngroups = w->npods * FORS_MIX3_LENGTHS;
		g->graph.side[1].group = g->group;
		g->graph.side[1].group_cap = g->cap + n;
	}
	for (uint32_t p = 0; p < w->npods; p++)
		if (w->mix)
			set_planes(w, p, to, most);
		else
			g->cap[p] = (uint16_t)most;
}

static enum fors_err take_leaf(void *context, uint32_t leaf, const uint32_t *edge, uint32_t count)
{
	struct fors_lift3 *w = context;

	for (uint32_t i = 0; i < count; i++)
		w->item[w->g.who[edge[i]]].leaf = (uint16_t)leaf;
	return FORS_OK;
}

/* A leaf of pod `to` for each of its items. */
static enum fors_err find_leaves(struct fors_lift3 *w, uint32_t to, struct fors_error *error)
{
	size_t nodes = (size_t)w->m1 * w->ncohorts, first = to * nodes;
	uint32_t n = 0, nleaves = w->m2;
	enum fors_err err = w->bundles ? find_bundled(w, to, &nleaves, error) : FORS_OK;

	if (err || !nleaves)
		return err;
	for (size_t at = first; at < first + nodes; at++)
		for (uint32_t i = 0; i < w->nplaced[at]; i++) {
			if (w->item[at * w->m2 + i].leaf != FORS_LIFT3_NONE)
				continue;
			w->g.left[n] = (uint16_t)(at - first);
			w->g.right[n] = fors_lift3_source(w, &w->item[at * w->m2 + i]);
			w->g.who[n++] = (uint32_t)(at * w->m2 + i);
		}
	w->g.graph.mult = NULL;
	w->g.graph.side[0] = (struct fors_colour_side){.nnodes = (uint32_t)nodes};
	fors_lift3_sources(w, to, w->m1);
	return fors_lift3_colour(w, n, 0, nleaves, take_leaf, error);
}

/* ---- servers ---- */

static enum fors_err take_server(void *context, uint32_t x, const uint32_t *edge, uint32_t count)
{
	struct fors_lift3 *w = context;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t who = w->g.who[edge[i]], slot = w->c->slot[w->leaf] + x;

		w->item[who].slot = slot;
		w->given[(size_t)w->item[who].from * w->l->pods->nslots + slot] = who;
	}
	return FORS_OK;
}

/* A server of leaf `number` of pod `to` for each of its items. */
static enum fors_err find_servers(struct fors_lift3 *w, uint32_t to, uint32_t number, struct fors_error *error)
{
	uint32_t n = 0;

	for (uint32_t cohort = 0; cohort < w->ncohorts; cohort++)
		for (uint32_t plane = 0; plane < w->m1; plane++) {
			size_t at = ((size_t)to * w->m1 + plane) * w->ncohorts + cohort;

			for (uint32_t i = 0; i < w->nplaced[at]; i++) {
				if (w->item[at * w->m2 + i].leaf != number)
					continue;
				w->g.left[n] = (uint16_t)cohort;
				w->g.right[n] = fors_lift3_source(w, &w->item[at * w->m2 + i]);
				w->g.who[n++] = (uint32_t)(at * w->m2 + i);
			}
		}
	w->leaf = to * w->m2 + number;
	w->g.graph.side[0] = (struct fors_colour_side){.nnodes = w->ncohorts};
	fors_lift3_sources(w, to, 1);
	return fors_lift3_colour(w, n, 0, w->m1, take_server, error);
}

enum fors_err fors_lift3_receivers(struct fors_lift3 *w, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t to = 0; !err && to < w->npods; to++) {
		err = find_leaves(w, to, error);
		for (uint32_t number = 0; !err && number < w->m2; number++)
			err = find_servers(w, to, number, error);
	}
	return err;
}
