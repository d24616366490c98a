/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lift3_parts.c - rounds and ways of items that come in parts.
 *
 * A part is what some leaves of a pod send to a server, in a cohort of as many rounds (mix3.h). The parts of an item use
 * different planes, so each mid has one entry for the server, and each leaf its own. Which leaves a part is for is a
 * colouring, in each pod that sends, with leaves for colours: (plane, cohort) against servers, an edge for each unit.
 * A leaf has at most as many of a plane in a cohort as that has rounds, and one of each server. Then rounds are another
 * colouring: parts against leaves of a plane in a cohort. So no lane up has two units in a round; all else has one part
 * in a cohort, and a part has its units in different rounds.
 *
 * An item that stays has as many parts as give its units room, so one of them may have fewer.
 */
#include <stdlib.h>
#include <string.h>

#include "lift3_inside.h"

struct parts {
	struct fors_lift3 *w;
	uint32_t n;		 /* parts of the pod in hand */
	uint32_t *who;		 /* per part: its item, by place */
	uint16_t *node;		 /* plane * ncohorts + cohort */
	uint8_t *left;		 /* per slot: units of the item that stays which are in no part yet */
	uint8_t *nleaves, *leaf; /* [part], [part * m2 + i]: numbers of the leaves it is for */
	uint32_t which;		 /* of the lengths, that in hand */
};

/* How many leaves a part is for. */
static uint32_t size_of(struct parts *p, const struct fors_lift3_item *item)
{
	uint32_t length = p->w->mix->length[fors_mix3_of_cohort(p->w->mix, item->cohort)];

	if (item->from != item->to)
		return length;
	length = length < p->left[item->slot] ? length : p->left[item->slot];
	p->left[item->slot] = (uint8_t)(p->left[item->slot] - length);
	return length;
}

/* The parts of a pod that sends, by planes and cohorts; how many. */
static uint32_t list_parts(struct parts *p, uint32_t from)
{
	struct fors_lift3 *w = p->w;
	uint32_t nodes = w->m1 * w->ncohorts, n = 0;

	memset(p->left, (int)w->m2, w->l->pods->nslots);
	for (uint32_t node = 0; node < nodes; node++)
		for (uint32_t to = 0; to < w->npods; to++) {
			size_t at = (size_t)to * nodes + node;

			for (uint32_t i = 0; i < w->nplaced[at]; i++) {
				const struct fors_lift3_item *item = &w->item[at * w->m2 + i];
				uint32_t size = item->from == from ? size_of(p, item) : 0;

				if (!size)
					continue;
				w->g.left[n] = (uint16_t)node;
				w->g.right[n] = (uint16_t)item->slot;
				w->g.mult[n] = (uint16_t)size;
				p->nleaves[n] = 0;
				p->node[n] = (uint16_t)node;
				p->who[n++] = (uint32_t)(at * w->m2 + i);
			}
		}
	return n;
}

static enum fors_err take_leaf(void *context, uint32_t y, const uint32_t *edge, uint32_t count)
{
	struct parts *p = context;

	for (uint32_t i = 0; i < count; i++)
		p->leaf[edge[i] * p->w->m2 + p->nleaves[edge[i]]++] = (uint8_t)y;
	return FORS_OK;
}

/* Leaves for all parts of a pod. */
static enum fors_err find_leaves(struct parts *p, uint32_t from, struct fors_error *error)
{
	struct fors_lift3 *w = p->w;
	struct fors_lift3_graph *g = &w->g;
	uint32_t nodes = w->m1 * w->ncohorts;

	p->n = list_parts(p, from);
	for (uint32_t i = 0; i < nodes; i++)
		g->cap[i] = (uint16_t)w->mix->length[fors_mix3_of_cohort(w->mix, i % w->ncohorts)];
	g->graph = (struct fors_multigraph){.nedges = p->n, .left = g->left, .right = g->right, .mult = g->mult};
	g->graph.side[0] = (struct fors_colour_side){.nnodes = nodes, .cap = g->cap};
	g->graph.side[1] = (struct fors_colour_side){.nnodes = w->l->pods->nslots};
	return fors_colour(w->space, &g->graph, 0, w->m2, take_leaf, p, error);
}

/* Units of parts get a round of their cohorts. */
static enum fors_err take_round(void *context, uint32_t round, const uint32_t *edge, uint32_t count)
{
	struct parts *p = context;
	struct fors_lift3 *w = p->w;

	for (uint32_t i = 0; i < count; i++) {
		const struct fors_lift3_item *item = &w->item[p->who[w->g.who[edge[i]]]];
		uint32_t leaf = w->c->leaf[item->from * w->m2 + w->g.right[edge[i]] % w->m2];

		fors_cohorts_send_leaf(w->c, w->ways, leaf, item->slot, item->plane);
		w->c->round[(size_t)leaf * w->l->pods->nslots + item->slot] =
			(uint16_t)(fors_mix3_first_round(w->mix, item->cohort) + round);
	}
	return FORS_OK;
}

/* Rounds for all parts of the length in hand. */
static enum fors_err find_rounds(struct parts *p, struct fors_error *error)
{
	struct fors_lift3 *w = p->w;
	struct fors_lift3_graph *g = &w->g;
	uint32_t n = 0, nparts = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct fors_lift3_item *item = &w->item[p->who[i]];

		if (fors_mix3_of_cohort(w->mix, item->cohort) != p->which)
			continue;
		if (item->rung != FORS_LIFT3_NONE)
			fors_cohorts_send_mid(w->c, w->ways, item->from, item->slot, item->plane, item->rung);
		for (uint32_t k = 0; k < p->nleaves[i]; k++) {
			g->left[n] = (uint16_t)nparts;
			g->right[n] = (uint16_t)(p->node[i] * w->m2 + p->leaf[i * w->m2 + k]);
			g->who[n++] = i;
		}
		nparts++;
	}
	g->graph = (struct fors_multigraph){.nedges = n, .left = g->left, .right = g->right};
	g->graph.side[0] = (struct fors_colour_side){.nnodes = nparts};
	g->graph.side[1] = (struct fors_colour_side){.nnodes = w->m1 * w->ncohorts * w->m2};
	return n ? fors_colour(w->space, &g->graph, 0, w->mix->length[p->which], take_round, p, error) : FORS_OK;
}

static enum fors_err write_all(struct parts *p, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t from = 0; !err && from < p->w->npods; from++) {
		err = find_leaves(p, from, error);
		for (p->which = 0; !err && p->which < FORS_MIX3_LENGTHS; p->which++)
			err = find_rounds(p, error);
	}
	return err;
}

enum fors_err fors_lift3_write_parts(struct fors_lift3 *w, struct fors_error *error)
{
	size_t most = (size_t)w->m1 * w->ncohorts * w->m2;
	struct parts p = {.w = w,
			  .who = malloc((most + 1) * sizeof(*p.who)),
			  .node = malloc((most + 1) * sizeof(*p.node)),
			  .left = malloc(w->l->pods->nslots + (size_t)1),
			  .nleaves = malloc(most + 1),
			  .leaf = malloc((most + 1) * w->m2)};
	bool good = p.who && p.node && p.left && p.nleaves && p.leaf;
	enum fors_err err = good ? fors_lift3_new_rounds(w, error) : fors_fail_memory(error);

	if (!err)
		err = write_all(&p, error);
	if (!err)
		w->c->nrounds = fors_mix3_first_round(w->mix, w->ncohorts);
	free(p.who);
	free(p.node);
	free(p.left);
	free(p.nleaves);
	free(p.leaf);
	return err;
}
