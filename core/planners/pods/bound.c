/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bound.c - a lower bound on the phases of any exchange in a three-level tree.
 *
 * All are cuts, so they hold for any routing, with P servers, n_a below leaf a and n_p in pod p:
 *
 *   a server    receives from all, itself included:                 T >= P
 *   leaf a      over the live lanes of a:                           n_a (P - n_a) / lanes
 *               and, for what has to arrive over one of a set Q of planes only, that is to leaves b all of whose planes in common with a
 *               are in Q:                                           n_a sum of n_b / lanes of a in Q
 *               A plane is in common where both leaves have a live lane of it and, unless they are of one pod, the mids of their
 *               pods have a living top in common there: what goes up from a in plane j comes down in plane j, over a top
 *               that both mids are cabled to, since tops of different planes are different.
 *   pod p       n_p (P - n_p) / sum over planes of min(rungs that live, lanes of its leaves that live)
 *   pods p, q   n_p n_q / sum over planes of min(rungs of p that live and whose top has a live cable to q's mid, lanes of p, of q)
 *
 * A cable that carries k flows in a phase counts k times. Of the sets Q those are looked at that one leaf b makes by the planes in common with a. A top that several planes
 * share may be left over another plane than it was come to, so where there are any, planes are not told apart: only P,
 * the leaves as a whole, and the pods with all tops together.
 */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SETS 64

struct work {
	const struct fors_pods_lanes *l;
	const struct fors_pods *pods;
	const uint32_t *servers;
	const uint8_t *capacity; /* per port of known; NULL: one flow each */
	uint64_t total, most;
	uint64_t *in_pod; /* servers */
	uint32_t *up;	  /* [leaf * nplanes + plane]: live lanes, by what they carry */
	uint32_t *pod_up; /* [pod * nplanes + plane]: the same of all leaves */
	uint64_t *planes; /* per leaf: of its live lanes, as bits; of the first 64 */
	uint64_t *
		joined; /* [pod * npods + pod]: planes with a living top in common, likewise; all of a pod with itself */
	bool is_apart;	/* no top is shared */
	struct cut {
		uint32_t leaf, pod, other; /* one of the first two; FORS_NONE: not of that, of no other pod */
		uint64_t planes;	   /* of the leaf, as bits; all set: all its lanes */
	} cut;				   /* that gave `most`; all FORS_NONE: the number of servers did */
};

static void take(struct work *w, uint64_t flows, uint64_t lanes, struct cut cut)
{
	uint64_t phases = !flows ? 0 : lanes ? (flows + lanes - 1) / lanes : UINT32_MAX;

	if (phases <= w->most)
		return;
	w->most = phases;
	w->cut = cut;
}

/* Flows of a phase over the cable of a port of a switch, a node of known. */
static uint32_t carried(const struct work *w, uint32_t node, uint8_t port)
{
	return w->capacity ? w->capacity[w->pods->known->node[node].first_port + port] : 1;
}

static void count(struct work *w)
{
	for (uint32_t a = 0; a < w->pods->nleaves; a++) {
		w->total += w->servers[a];
		w->in_pod[w->pods->leaf[a].pod] += w->servers[a];
		for (uint32_t lane = 0; lane < w->l->nlanes; lane++)
			if (fors_pods_lanes_live(w->l, a, lane)) {
				uint32_t plane = fors_pods_lanes_plane(w->l, lane),
					 flows = carried(w, w->pods->leaf[a].node,
							 w->l->leaf_port[(size_t)a * w->l->nlanes + lane]);

				w->up[a * w->pods->nplanes + plane] += flows;
				w->pod_up[w->pods->leaf[a].pod * w->pods->nplanes + plane] += flows;
			}
	}
	w->is_apart = true;
	for (uint32_t m = 0; m < w->pods->nmids; m++)
		for (uint32_t r = 0; r < w->l->rungs[w->pods->mid[m].plane]; r++)
			if (w->pods->top[w->l->rung_top[w->pods->mid[m].plane * w->l->nrungs + r]].plane !=
			    w->pods->mid[m].plane)
				w->is_apart = false;
}

/* The planes of a leaf's live lanes, as bits. */
static uint64_t planes_of(const struct work *w, uint32_t a)
{
	uint64_t planes = 0;

	for (uint32_t j = 0; j < w->pods->nplanes; j++)
		planes |= (uint64_t)(w->up[a * w->pods->nplanes + j] > 0) << j;
	return planes;
}

static uint64_t rungs_to(const struct work *w, uint32_t p, uint32_t q, uint32_t plane);

static void join_pods(struct work *w)
{
	uint32_t npods = w->pods->npods;

	for (uint32_t p = 0; p < npods; p++)
		for (uint32_t q = 0; q < npods; q++)
			for (uint32_t j = 0; j < w->pods->nplanes; j++)
				w->joined[(size_t)p * npods + q] |= (uint64_t)(p == q || rungs_to(w, p, q, j) > 0) << j;
}

/* The planes over which leaf a gets to leaf b. */
static uint64_t common(const struct work *w, uint32_t a, uint32_t b)
{
	const struct fors_pods *pods = w->pods;

	return w->planes[a] & w->planes[b] & w->joined[(size_t)pods->leaf[a].pod * pods->npods + pods->leaf[b].pod];
}

/* Leaf a's flows that have to leave it over these planes. */
static void bound_set(struct work *w, uint32_t a, uint64_t set)
{
	uint64_t flows = 0, lanes = 0;

	for (uint32_t j = 0; j < w->pods->nplanes; j++)
		lanes += set >> j & 1 ? w->up[a * w->pods->nplanes + j] : 0;
	for (uint32_t b = 0; b < w->pods->nleaves; b++)
		if (b != a && !(common(w, a, b) & ~set))
			flows += (uint64_t)w->servers[a] * w->servers[b];
	take(w, flows, lanes, (struct cut){a, FORS_NONE, FORS_NONE, set});
}

/* Each set that a has in common with some leaf, unless it is all of a's, once; so many at the most. */
static void bound_sets(struct work *w, uint32_t a)
{
	uint64_t seen[MOST_SETS];
	uint32_t nseen = 0;

	for (uint32_t b = 0; b < w->pods->nleaves && nseen < MOST_SETS; b++) {
		uint64_t set = common(w, a, b);
		uint32_t i = 0;

		while (i < nseen && seen[i] != set)
			i++;
		if (b == a || set == w->planes[a] || !w->servers[b] || i < nseen)
			continue;
		seen[nseen++] = set;
		bound_set(w, a, set);
	}
}

static void bound_leaf(struct work *w, uint32_t a)
{
	uint64_t lanes = 0;

	for (uint32_t j = 0; j < w->pods->nplanes; j++)
		lanes += w->up[a * w->pods->nplanes + j];
	take(w, w->servers[a] * (w->total - w->servers[a]), lanes, (struct cut){a, FORS_NONE, FORS_NONE, UINT64_MAX});
	if (w->is_apart && w->servers[a] && w->pods->nplanes <= 64)
		bound_sets(w, a);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Does the top of a rung have a live cable to this mid? Of parallel cables not the same one has to live. */
static bool comes_down(const struct work *w, uint32_t mid, uint32_t plane, uint32_t rung)
{
	const uint32_t *top = w->l->rung_top + (size_t)plane * w->l->nrungs;

	if (mid == FORS_NONE || fors_pods_lanes_rung_live(w->l, mid, rung))
		return mid != FORS_NONE;
	for (uint32_t r = 0; r < w->l->rungs[plane]; r++)
		if (top[r] == top[rung] && fors_pods_lanes_rung_live(w->l, mid, r))
			return true;
	return false;
}

/* What rungs of pod p's mid in a plane carry that live, and, unless q is FORS_NONE, get to pod q. */
static uint64_t rungs_to(const struct work *w, uint32_t p, uint32_t q, uint32_t plane)
{
	uint32_t mid = fors_pods_mid(w->pods, p, plane),
		 other = q == FORS_NONE ? FORS_NONE : fors_pods_mid(w->pods, q, plane);
	uint64_t rungs = 0;

	for (uint32_t r = 0; mid != FORS_NONE && r < w->l->rungs[plane]; r++)
		if (fors_pods_lanes_rung_live(w->l, mid, r) && (q == FORS_NONE || comes_down(w, other, plane, r)))
			rungs += carried(w, w->pods->mid[mid].node, w->l->mid_port[(size_t)mid * w->l->nrungs + r]);
	return rungs;
}

/* Cables of a plane that what goes from pod p, to pod q, has to cross, where they are fewest. */
static uint64_t narrowest(const struct work *w, uint32_t p, uint32_t q, uint32_t plane)
{
	uint64_t most = least(rungs_to(w, p, q, plane), w->pod_up[p * w->pods->nplanes + plane]);

	return q == FORS_NONE ? most : least(most, w->pod_up[q * w->pods->nplanes + plane]);
}

static void bound_pods(struct work *w, uint32_t p, uint32_t q)
{
	uint64_t lanes = 0;

	for (uint32_t j = 0; j < w->pods->nplanes; j++)
		lanes += narrowest(w, p, q, j);
	take(w, w->in_pod[p] * (q == FORS_NONE ? w->total - w->in_pod[p] : w->in_pod[q]), lanes,
	     (struct cut){FORS_NONE, p, q, 0});
}

static void work_free(struct work *w)
{
	free(w->in_pod);
	free(w->up);
	free(w->pod_up);
	free(w->planes);
	free(w->joined);
}

static bool work_alloc(struct work *w, const struct fors_pods_lanes *lanes, const uint32_t *servers,
		       const uint8_t *capacity)
{
	const struct fors_pods *pods = lanes->pods;

	*w = (struct work){.l = lanes,
			   .pods = pods,
			   .servers = servers,
			   .capacity = capacity,
			   .cut = {FORS_NONE, FORS_NONE, FORS_NONE, 0}};
	w->in_pod = calloc(pods->npods + (size_t)1, sizeof(*w->in_pod));
	w->up = calloc((size_t)pods->nleaves * pods->nplanes + 1, sizeof(*w->up));
	w->pod_up = calloc((size_t)pods->npods * pods->nplanes + 1, sizeof(*w->pod_up));
	w->planes = calloc(pods->nleaves + (size_t)1, sizeof(*w->planes));
	w->joined = calloc((size_t)pods->npods * pods->npods + 1, sizeof(*w->joined));
	if (w->in_pod && w->up && w->pod_up && w->planes && w->joined)
		return true;
	work_free(w);
	return false;
}

/* The bound, in w->most and w->cut. */
static void find(struct work *w)
{
	const struct fors_pods *pods = w->pods;

	count(w);
	for (uint32_t a = 0; pods->nplanes <= 64 && a < pods->nleaves; a++)
		w->planes[a] = planes_of(w, a);
	if (pods->nplanes <= 64 && w->is_apart)
		join_pods(w);
	w->most = w->total;
	for (uint32_t a = 0; a < pods->nleaves; a++)
		bound_leaf(w, a);
	for (uint32_t p = 0; p < pods->npods; p++) {
		bound_pods(w, p, FORS_NONE);
		for (uint32_t q = 0; w->is_apart && q < pods->npods; q++)
			if (q != p)
				bound_pods(w, p, q);
	}
}

enum fors_err fors_pods_bound(const struct fors_pods_lanes *lanes, const uint32_t *servers, const uint8_t *capacity,
			      uint32_t *bound, struct fors_error *error)
{
	struct work w;

	if (!work_alloc(&w, lanes, servers, capacity))
		return fors_fail_memory(error);
	find(&w);
	work_free(&w);
	*bound = w.most > UINT32_MAX ? UINT32_MAX : (uint32_t)w.most;
	return FORS_OK;
}

/* ---- why ---- */

/* Live lanes of a leaf in a plane, upwards, or downwards: what its mid sends to it. */
static enum fors_err list_lanes(const struct work *w, uint32_t a, uint32_t plane, bool is_down,
				struct fors_witness *witness, struct fors_error *error)
{
	const struct fors_pods_switch *leaf = &w->pods->leaf[a];
	const struct fors_node *node = w->pods->known->node;
	enum fors_err err = FORS_OK;

	for (uint32_t lane = plane; !err && lane < w->l->nlanes; lane += w->pods->nplanes) {
		uint8_t port = w->l->leaf_port[(size_t)a * w->l->nlanes + lane];

		if (!fors_pods_lanes_live(w->l, a, lane))
			continue;
		err = is_down ? fors_witness_add(witness, node[fors_pods_peer(w->pods, leaf->node, port)].guid,
						 fors_pods_lanes_far(w->pods, leaf->node, port), 1, error)
			      : fors_witness_add(witness, node[leaf->node].guid, port, 1, error);
	}
	return err;
}

/* The same of all leaves of a pod. */
static enum fors_err list_pod(const struct work *w, uint32_t pod, uint32_t plane, bool is_down,
			      struct fors_witness *witness, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t a = 0; !err && a < w->pods->nleaves; a++)
		if (w->pods->leaf[a].pod == pod)
			err = list_lanes(w, a, plane, is_down, witness, error);
	return err;
}

/* Rungs as rungs_to() counts them. */
static enum fors_err list_rungs(const struct work *w, uint32_t p, uint32_t q, uint32_t plane,
				struct fors_witness *witness, struct fors_error *error)
{
	uint32_t mid = fors_pods_mid(w->pods, p, plane),
		 other = q == FORS_NONE ? FORS_NONE : fors_pods_mid(w->pods, q, plane);
	enum fors_err err = FORS_OK;

	for (uint32_t r = 0; !err && mid != FORS_NONE && r < w->l->rungs[plane]; r++)
		if (fors_pods_lanes_rung_live(w->l, mid, r) && (q == FORS_NONE || comes_down(w, other, plane, r)))
			err = fors_witness_add(witness, w->pods->known->node[w->pods->mid[mid].node].guid,
					       w->l->mid_port[(size_t)mid * w->l->nrungs + r], 1, error);
	return err;
}

/* The cables that narrowest() counts. */
static enum fors_err list_narrowest(const struct work *w, uint32_t plane, struct fors_witness *witness,
				    struct fors_error *error)
{
	uint32_t p = w->cut.pod, q = w->cut.other;
	uint64_t most = narrowest(w, p, q, plane);

	if (most == rungs_to(w, p, q, plane))
		return list_rungs(w, p, q, plane, witness, error);
	if (most == w->pod_up[p * w->pods->nplanes + plane])
		return list_pod(w, p, plane, false, witness, error);
	return list_pod(w, q, plane, true, witness, error);
}

static enum fors_err list_cut(const struct work *w, struct fors_witness *witness, struct fors_error *error)
{
	bool is_all = w->cut.planes == UINT64_MAX;
	enum fors_err err = FORS_OK;

	for (uint32_t j = 0; !err && j < w->pods->nplanes; j++) {
		if (w->cut.leaf == FORS_NONE)
			err = list_narrowest(w, j, witness, error);
		else if (is_all || w->cut.planes >> j & 1)
			err = list_lanes(w, w->cut.leaf, j, false, witness, error);
	}
	return err;
}

enum fors_err fors_pods_bound_witness(const struct fors_pods_lanes *lanes, const uint32_t *servers,
				      const uint8_t *capacity, struct fors_witness *witness, struct fors_error *error)
{
	struct work w;
	enum fors_err err = FORS_OK;

	if (!work_alloc(&w, lanes, servers, capacity))
		return fors_fail_memory(error);
	find(&w);
	witness->bound = w.most;
	if (w.most >= UINT32_MAX)
		witness->by = FORS_BY_NOTHING;
	else if (w.cut.leaf == FORS_NONE && w.cut.pod == FORS_NONE)
		witness->by = FORS_BY_PORT;
	else
		witness->by = FORS_BY_CUT;
	if (witness->by == FORS_BY_CUT)
		err = list_cut(&w, witness, error);
	work_free(&w);
	if (err)
		fors_witness_clear(witness);
	return err;
}
