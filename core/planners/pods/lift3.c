/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lift3.c - cohorts and ways for all items anew, where many tops or their cables are dead.
 *
 * An item is what the m2 leaves of a pod send to a server. In a cohort no two items have a receiver, a lane down, a
 * rung up or a rung down in common, and at most m2 of a pod go up in a plane: then those get turns 0 .. m2-1, leaf y
 * serves the item of turn t in round (cohort, t - y mod m2), and no two units meet in any round
 * (doc/planners-levels.md). So it is enough to find cohorts, rungs and servers for items, with colourings of bipartite
 * graphs all the way:
 *
 *   1. The split (split3.c) says how many items from p to q use a track, at most one for each cohort at each cable.
 *   2. Cohorts: in each plane, pods against pods; an item is an edge between the tracks of its ends, of which each has
 *      one item in a cohort; all tracks of a pod together have m2. Items that stay inside take places that are left
 *      over, in the planes that have most.
 *   3. Leaves (lift3_leaves.c): in each pod that receives, (plane, cohort) against source pods: m2 colours; a plane
 *      has each leaf once in a cohort, and a pod m1 items for each leaf.
 *   4. Servers: in each leaf, cohorts against source pods: m1 colours; a server receives once in a cohort, and once
 *      from each pod.
 *   5. Turns: in any order (lift3_rounds.c).
 *
 * Where pods have fewer rungs than that takes, so that T > P, and the bound asks for some rounds that make no cohort,
 * items come in parts for shorter cohorts, which fill any number of rounds (mix3.c, lift3_parts.c): then 1 and 2 are
 * done for each length, in 3 and 4 a plane of a source is a node of its own, and leaves that send are a colouring too.
 * If there is no split for that, it is tried with longer cohorts (bundles3.c), then with parts and a round more; else
 * some items are left to a search (units3.c).
 *
 * Who is who is chosen anew, so nearly all entries move: this is for failures that are too many for repair3.c, where
 * all cables of leaves live; for dead ones cost more phases, and with these there is room for a search.
 */
#include "lift3.h"

#include <stdlib.h>
#include <string.h>

#include "lift3_inside.h"

#define MOST_COUNTS (UINT64_C(1) << 26) /* of the split */
#define MOST_COHORTS 2			/* for each pod */
#define MOST_PARTS (UINT64_C(1) << 19)	/* of all items, and places for them */
#define MOST_SERVERS 4096		/* for parts: with more nobody has measured them */
#define MOST_MIXES 5			/* that are tried */

/* Are numbers small enough for nodes of graphs, and the split's matrix for memory? */
static bool is_small(const struct fors_lanes3 *lanes)
{
	uint64_t npods = lanes->pods->npods, width = 0;

	for (uint32_t j = 0; j < lanes->pods->nplanes; j++)
		width = lanes->rungs[j] > width ? lanes->rungs[j] : width;
	return npods * (width + lanes->m2) < UINT16_MAX && MOST_COHORTS * npods * lanes->m1 < UINT16_MAX &&
	       npods * npods * lanes->pods->nplanes * width < MOST_COUNTS && lanes->m1 <= UINT8_MAX &&
	       lanes->m2 <= UINT8_MAX;
}

/* The same for items in parts. */
static bool is_small_in_parts(const struct fors_lift3 *w)
{
	uint64_t servers = (uint64_t)w->npods * w->m1 * w->m2;

	return (uint64_t)w->ncohorts * w->m1 * w->m2 < UINT16_MAX && servers * w->ncohorts < MOST_PARTS &&
	       servers <= MOST_SERVERS;
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
	return used - lanes->nunseen == lanes->pods->ntops && is_small(lanes);
}

static uint32_t width_of(const struct fors_lift3 *w)
{
	return w->split->width + w->m2; /* tracks of a plane, then places of those that stay inside */
}

enum fors_err fors_lift3_colour(struct fors_lift3 *w, uint32_t nedges, uint32_t first, uint32_t ncolours,
				fors_colour_emit emit, struct fors_error *error)
{
	struct fors_lift3_graph *g = &w->g;

	g->graph.nedges = nedges;
	g->graph.left = g->left;
	g->graph.right = g->right;
	return nedges ? fors_colour(w->space, &g->graph, first, ncolours, emit, w, error) : FORS_OK;
}

/* ---- cohorts ---- */

/* Items that stay in their pod: as many in each plane as at home, then where there is most room. */
static void share_inside(struct fors_lift3 *w, uint32_t pod)
{
	uint16_t *inside = w->inside + (size_t)pod * w->m1;
	uint32_t room[UINT8_MAX + 1], home = w->m2 * w->ninside, left = w->m1 * home;

	for (uint32_t j = 0; j < w->m1; j++) {
		room[j] = w->m2 * w->split->ncohorts;
		for (uint32_t k = 0; k < w->split->width; k++)
			room[j] -= w->split->load[(size_t)pod * w->split->ntracks + j * w->split->width + k];
		inside[j] = (uint16_t)(room[j] < home ? room[j] : home);
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

static void add_edge(struct fors_lift3_graph *g, uint32_t *n, uint32_t left, uint32_t right, uint32_t mult,
		     struct fors_lift3_item what)
{
	g->left[*n] = (uint16_t)left;
	g->right[*n] = (uint16_t)right;
	g->mult[*n] = (uint16_t)mult;
	g->what[(*n)++] = what;
}

/* An item of a plane before it has a cohort. */
static struct fors_lift3_item new_item(uint32_t from, uint32_t to, uint32_t plane, uint32_t rung)
{
	return (struct fors_lift3_item){.from = (uint16_t)from,
					.to = (uint16_t)to,
					.plane = (uint16_t)plane,
					.rung = (uint16_t)rung,
					.leaf = FORS_LIFT3_NONE,
					.bundle = FORS_LIFT3_NONE};
}

/* The items of a plane: an edge for those of two pods that use the same track. */
static uint32_t list_plane(struct fors_lift3 *w, uint32_t plane)
{
	const struct fors_split3 *s = w->split;
	uint32_t n = 0;

	for (uint32_t p = 0; p < w->npods; p++) {
		uint32_t inside = w->inside[(size_t)p * w->m1 + plane];

		for (uint32_t k = 0; k < s->width; k++)
			for (uint32_t q = 0; q < w->npods; q++) {
				uint32_t count = *fors_split3_count(s, p, q, plane * s->width + k);

				if (count)
					add_edge(&w->g, &n, p * width_of(w) + k, q * width_of(w) + k, count,
						 new_item(p, q, plane, k));
			}
		for (uint32_t i = 0; i < w->m2; i++)
			if ((inside + i) / w->m2)
				add_edge(&w->g, &n, p * width_of(w) + s->width + i, p * width_of(w) + s->width + i,
					 (inside + i) / w->m2, new_item(p, p, plane, FORS_LIFT3_NONE));
	}
	return n;
}

static enum fors_err take_cohort(void *context, uint32_t cohort, const uint32_t *edge, uint32_t count)
{
	struct fors_lift3 *w = context;

	for (uint32_t i = 0; i < count; i++) {
		struct fors_lift3_item item = w->g.what[edge[i]];
		size_t at = ((size_t)item.to * w->m1 + item.plane) * w->ncohorts + cohort;

		item.cohort = (uint16_t)cohort;
		w->item[at * w->m2 + w->nplaced[at]++] = item;
	}
	return FORS_OK;
}

/* The items of a long cohort. */
static void take_long(struct fors_lift3 *w, uint32_t cohort)
{
	const struct fors_split3 *s = w->split;

	for (uint32_t track = 0; track < s->ntracks; track++)
		for (uint32_t p = 0; p < w->npods; p++) {
			size_t place = fors_bundles3_place(s, cohort, track, p);

			uint16_t to = w->bundles->partner[place], of = w->bundles->of[place];

			w->g.what[0] = (struct fors_lift3_item){
				.from = to == p && of != FORS_LIFT3_NONE ? w->bundles->bundle[of].from : (uint16_t)p,
				.to = to,
				.plane = (uint16_t)(track / s->width),
				.rung = (uint16_t)(track % s->width),
				.leaf = FORS_LIFT3_NONE,
				.bundle = of,
			};
			take_cohort(w, cohort, &(uint32_t){0}, 1);
		}
}

/* Cohorts for the items of a split: all cohorts that are not long, from the first in hand on. */
static enum fors_err find_cohorts(struct fors_lift3 *w, struct fors_error *error)
{
	struct fors_lift3_graph *g = &w->g;
	uint32_t nlong = fors_lift3_long(w);
	enum fors_err err = FORS_OK;

	for (uint32_t cohort = 0; cohort < nlong; cohort++)
		take_long(w, cohort);
	for (uint32_t p = 0; p < w->npods; p++) {
		if (!w->bundles)
			share_inside(w, p);
		g->cap[p] = (uint16_t)w->m2;
		for (uint32_t i = 0; i < width_of(w); i++)
			g->group[p * width_of(w) + i] = (uint16_t)p;
	}
	for (unsigned side = 0; side < 2; side++)
		g->graph.side[side] = (struct fors_colour_side){
			.nnodes = w->npods * width_of(w), .ngroups = w->npods, .group = g->group, .group_cap = g->cap};
	g->graph.mult = g->mult;
	for (uint32_t plane = 0; !err && nlong < w->split->ncohorts && plane < w->m1; plane++)
		err = fors_lift3_colour(w, list_plane(w, plane), w->first + nlong, w->split->ncohorts - nlong,
					take_cohort, error);
	return err;
}

/* ---- the whole ---- */

static bool allocate(struct fors_lift3 *w)
{
	struct fors_lift3_graph *g = &w->g;
	size_t places = (size_t)w->npods * w->m1 * w->ncohorts, nodes = (size_t)w->npods * width_of(w),
	       edges = (size_t)w->npods * (w->npods * (size_t)w->split->width + w->m2),
	       most = (size_t)w->m1 * w->ncohorts * w->m2, units = (size_t)w->npods * w->m1 * w->m2 * w->m2;

	most = edges > most ? edges : most;
	nodes = nodes > (size_t)w->m1 * w->ncohorts ? nodes : (size_t)w->m1 * w->ncohorts;
	if (w->mix) { /* lift3_parts.c */
		nodes = nodes > most ? nodes : most;
		nodes = nodes > units ? nodes : units;
		most = most > units ? most : units;
	}
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
	g->cap = malloc((nodes + FORS_MIX3_LENGTHS * (size_t)w->npods + 1) * sizeof(*g->cap));
	w->space = fors_colour_space_new((uint32_t)most, (uint32_t)nodes);
	if (w->given)
		memset(w->given, 0xFF, (size_t)w->npods * w->l->pods->nslots * sizeof(*w->given));
	return w->item && w->nplaced && w->inside && w->given && g->left && g->right && g->mult && g->what && g->who &&
	       g->group && g->cap && w->space;
}

static void release(struct fors_lift3 *w)
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
	fors_bundles3_free(w->bundles);
	fors_split3_free(w->split);
}

/* Bundles, where all places of cohorts are taken by items and ghosts. */
static enum fors_err find_bundles(struct fors_lift3 *w, uint32_t nlong, struct fors_error *error)
{
	if (!nlong || w->ncohorts != w->npods)
		return FORS_OK;
	for (uint32_t j = 0; j < w->l->pods->nplanes; j++)
		if (w->l->rungs[j] != w->m2)
			return FORS_OK;
	return fors_bundles3_choose(w->split, nlong, &w->bundles, error);
}

/* Have all bundles found a leaf? */
static bool are_bundled(const struct fors_lift3 *w)
{
	for (uint32_t i = 0; w->bundles && i < w->bundles->n; i++)
		if (!fors_lift3_is_bundled(w, i))
			return false;
	return true;
}

/* One try: with bundles for nlong long cohorts, or, if that is 0, without any. *is_done: it is written. */
static enum fors_err try_once(struct fors_lift3 *w, uint32_t nlong, uint32_t seed, bool *is_done,
			      struct fors_error *error)
{
	enum fors_err err =
		fors_split3_find(w->l, NULL, 0, w->ncohorts, nlong ? nlong : UINT32_MAX, seed, &w->split, error);

	if (err)
		return err;
	err = allocate(w) ? find_bundles(w, nlong, error) : fors_fail_memory(error);
	if (!err && (!nlong || w->bundles)) {
		err = find_cohorts(w, error);
		if (!err)
			err = fors_lift3_receivers(w, error);
		*is_done = !err && are_bundled(w);
		if (*is_done)
			err = fors_lift3_write(w, error);
	}
	release(w);
	return err;
}

/* Has every server a plane for each part? An item may use each plane once. */
static bool has_planes(const struct fors_split3 *s, uint32_t items)
{
	for (uint32_t p = 0; p < s->npods; p++)
		for (uint32_t q = 0; q < s->npods; q++)
			for (uint32_t first = 0; first < s->ntracks; first += s->width) {
				uint32_t n = 0;

				for (uint32_t k = 0; k < s->width; k++)
					n += *fors_split3_count(s, p, q, first + k);
				if (n > items)
					return false;
			}
	return true;
}

/* Splits for the parts of each length, all of which have places; *good: there are. */
static enum fors_err split_parts(const struct fors_lift3 *w, struct fors_split3 **split, bool *good,
				 struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	*good = true;
	for (uint32_t i = 0; !err && *good && i < FORS_MIX3_LENGTHS; i++) {
		err = fors_split3_find(w->l, w->mix, i, w->mix->ncohorts[i], UINT32_MAX, 0, &split[i], error);
		*good = !err && !split[i]->nleft && has_planes(split[i], w->m1 * w->m2);
	}
	return err;
}

/* Cohorts, servers and leaves for parts that have places. */
static enum fors_err place_parts(struct fors_lift3 *w, struct fors_split3 **split, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; !err && i < FORS_MIX3_LENGTHS; i++) {
		w->split = split[i];
		w->first = i ? w->mix->ncohorts[0] : 0;
		w->ninside = w->mix->inside[i];
		if (!i && !allocate(w))
			err = fors_fail_memory(error);
		if (!err && w->mix->ncohorts[i])
			err = find_cohorts(w, error);
	}
	w->split = NULL;
	if (!err)
		err = fors_lift3_receivers(w, error);
	return err ? err : fors_lift3_write_parts(w, error);
}

/* One try with items in parts; *is_done: all have places, and it is written. */
static enum fors_err try_parts(struct fors_lift3 *w, bool *is_done, struct fors_error *error)
{
	struct fors_split3 *split[FORS_MIX3_LENGTHS] = {NULL};
	bool good = false;
	enum fors_err err = split_parts(w, split, &good, error);

	if (!err && good) {
		err = place_parts(w, split, error);
		*is_done = !err;
	}
	release(w);
	for (uint32_t i = 0; i < FORS_MIX3_LENGTHS; i++)
		fors_split3_free(split[i]);
	return err;
}

/* Items in parts, in exactly so many rounds. */
static enum fors_err lift_parts(const struct fors_lift3 *begin, uint32_t nrounds, bool *is_done,
				struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	struct fors_mix3 mix;

	for (uint32_t i = 0; !err && !*is_done && i < MOST_MIXES && fors_mix3_choose(begin->l, nrounds, i, &mix); i++) {
		struct fors_lift3 w = *begin;

		w.mix = &mix;
		w.ncohorts = mix.ncohorts[0] + mix.ncohorts[1];
		if (is_small_in_parts(&w))
			err = try_parts(&w, is_done, error);
	}
	return err;
}

enum fors_err fors_lift3(struct fors_cohorts *cohorts, struct fors_ways3 *ways, uint32_t nrounds, uint32_t ntries,
			 struct fors_error *error)
{
	struct fors_lift3 begin = {.c = cohorts,
				   .ways = ways,
				   .l = cohorts->lanes,
				   .m1 = cohorts->m1,
				   .m2 = cohorts->m2,
				   .npods = cohorts->npods,
				   .ncohorts = cohorts->npods,
				   .ninside = 1};
	uint32_t nlong;
	bool is_done = false;
	struct fors_lift3 w;
	enum fors_err err = FORS_OK;

	if (nrounds / begin.m2 > begin.npods)
		begin.ncohorts = nrounds / begin.m2 < MOST_COHORTS * begin.npods ? nrounds / begin.m2
										 : MOST_COHORTS * begin.npods;
	nlong = nrounds > begin.ncohorts * begin.m2 ? nrounds - begin.ncohorts * begin.m2 : 0;
	if (nlong)
		err = lift_parts(&begin, nrounds, &is_done, error);
	for (uint32_t try = 0; !err && nlong && !is_done && try < ntries; try++) {
		w = begin;
		err = try_once(&w, nlong, try, &is_done, error);
	}
	if (!err && nlong && !is_done)
		err = lift_parts(&begin, nrounds + 1, &is_done, error);
	w = begin;
	return err || is_done ? err : try_once(&w, 0, 0, &is_done, error);
}
