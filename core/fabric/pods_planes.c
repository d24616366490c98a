/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_planes.c - which middle switches of different pods belong together.
 *
 * Mids are of one plane if they have tops in common. Were planes apart, that would be all; but a top may be shared by
 * several, and cables may be missing. So pod after pod, each mid goes to the plane with whose tops it has most in common,
 * the best match first; one that has nothing in common with any takes the first plane that its pod leaves free. A pod has
 * one mid in a plane.
 *
 * A top that is cabled to several planes has to be so within a pod. If no pod has two of its planes a cable is crossed:
 * the planes do not line up.
 *
 * A surplus cable from a mid to a top of another plane is seen in a pod, too, but it makes no director: planes that share
 * their tops do so at many of them, and in many pods, where cables of one are cables of the other. What two planes have
 * in common is the sum, over tops, of the lesser number of cables that either has there. So a cable is surplus where its
 * plane has at most half as many at that top as another one, and these two have in common less than a quarter of what
 * either has in all. It is named: packets would arrive, but for a plan that top would be one of two planes, and what was seen
 * once stays known when it is pulled. (Missing cables make no surplus ones: what planes share is lost to both sides.)
 */

#include "pods_inside.h"

#include <stdlib.h>
#include <string.h>

struct planes {
	struct fors_pods *pods;
	bool *has;	 /* [plane * ntops + top]: a mid of the plane is cabled to the top */
	uint32_t *score; /* [mid of the pod * nmids + plane] */
	uint32_t *mids;	 /* of the pod that is looked at */
	uint32_t nmids_here;
	uint32_t *taken; /* per plane: the last pod that has a mid there, plus 1 */
};

static uint32_t top_at(const struct fors_pods *pods, uint32_t node, unsigned port)
{
	uint32_t peer = fors_pods_peer(pods, node, port);

	return peer != FORS_NONE && pods->level[peer] == FORS_PODS_TOP ? pods->number[peer] : FORS_NONE;
}

static uint32_t common_tops(const struct planes *p, const struct fors_pods_switch *mid, uint32_t plane)
{
	uint32_t count = 0;

	for (unsigned port = 1; port <= p->pods->known->node[mid->node].nports; port++) {
		uint32_t top = top_at(p->pods, mid->node, port);

		count += top != FORS_NONE && p->has[(size_t)plane * p->pods->ntops + top];
	}
	return count;
}

static void join(struct planes *p, uint32_t m, uint32_t plane)
{
	struct fors_pods_switch *mid = &p->pods->mid[m];

	mid->plane = plane;
	if (mid->pod != FORS_NONE)
		p->taken[plane] = mid->pod + 1;
	p->pods->nplanes = plane >= p->pods->nplanes ? plane + 1 : p->pods->nplanes;
	for (unsigned port = 1; port <= p->pods->known->node[mid->node].nports; port++) {
		uint32_t top = top_at(p->pods, mid->node, port);

		if (top != FORS_NONE)
			p->has[(size_t)plane * p->pods->ntops + top] = true;
	}
}

static uint32_t first_free(const struct planes *p, uint32_t pod)
{
	uint32_t plane = 0;

	while (p->taken[plane] == pod + 1)
		plane++;
	return plane;
}

/* The best pair of a mid and a plane that are both free; false: they have nothing in common any more. */
static bool best_match(const struct planes *p, uint32_t pod, uint32_t *which, uint32_t *plane)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->nmids_here; i++)
		for (uint32_t j = 0; p->mids[i] != FORS_NONE && j < p->pods->nplanes; j++)
			if (p->taken[j] != pod + 1 && p->score[(size_t)i * p->pods->nmids + j] > most) {
				most = p->score[(size_t)i * p->pods->nmids + j];
				*which = i;
				*plane = j;
			}
	return most;
}

static void match_pod(struct planes *p, uint32_t pod)
{
	uint32_t i, plane;

	p->nmids_here = 0;
	for (uint32_t m = 0; m < p->pods->nmids; m++)
		if (p->pods->mid[m].pod == pod)
			p->mids[p->nmids_here++] = m;
	for (i = 0; i < p->nmids_here; i++)
		for (plane = 0; plane < p->pods->nplanes; plane++)
			p->score[(size_t)i * p->pods->nmids + plane] = common_tops(p, &p->pods->mid[p->mids[i]], plane);
	while (best_match(p, pod, &i, &plane)) {
		join(p, p->mids[i], plane);
		p->mids[i] = FORS_NONE;
	}
	for (i = 0; i < p->nmids_here; i++)
		if (p->mids[i] != FORS_NONE)
			join(p, p->mids[i], first_free(p, pod));
}

/* Mids without a pod go where their tops are. */
static void match_idle(struct planes *p)
{
	for (uint32_t m = 0; m < p->pods->nmids; m++) {
		uint32_t most = 0, best = 0;

		if (p->pods->mid[m].pod != FORS_NONE)
			continue;
		for (uint32_t plane = 0; plane < p->pods->nplanes; plane++) {
			uint32_t count = common_tops(p, &p->pods->mid[m], plane);

			best = count > most ? plane : best;
			most = count > most ? count : most;
		}
		p->pods->mid[m].plane = best;
	}
}

/* ---- what people call a plane ---- */

static bool share_top(const struct planes *p, uint32_t one, uint32_t other)
{
	uint32_t ntops = p->pods->ntops, t = 0;

	while (t < ntops && !(p->has[(size_t)one * ntops + t] && p->has[(size_t)other * ntops + t]))
		t++;
	return t < ntops;
}

/* What hangs together without the leaves: planes that share tops are one. `group` has room for all planes. */
static uint32_t count_apart(const struct planes *p, uint32_t *group)
{
	uint32_t count = 0;

	for (uint32_t j = 0; j < p->pods->nplanes; j++) {
		group[j] = j;
		count++;
		for (uint32_t i = 0; i < j; i++) {
			uint32_t old = group[i];

			if (old == group[j] || !share_top(p, i, j))
				continue;
			count--;
			for (uint32_t k = 0; k < j; k++)
				group[k] = group[k] == old ? group[j] : group[k];
		}
	}
	return count;
}

/* ---- do they line up? ---- */

static bool is_cabled(const struct fors_pods *pods, uint32_t top, uint32_t mid)
{
	for (unsigned port = 1; mid != FORS_NONE && port <= pods->known->node[top].nports; port++)
		if (fors_pods_peer(pods, top, port) == pods->mid[mid].node)
			return true;
	return false;
}

/* Is there a pod whose mids of both planes are cabled to the top? */
static bool is_shared(const struct fors_pods *pods, uint32_t top, uint32_t one, uint32_t other)
{
	for (uint32_t pod = 0; pod < pods->npods; pod++)
		if (is_cabled(pods, top, fors_pods_mid(pods, pod, one)) &&
		    is_cabled(pods, top, fors_pods_mid(pods, pod, other)))
			return true;
	return false;
}

static enum fors_err check_top(struct fors_pods *pods, struct fors_pods_switch *top, struct fors_error *error)
{
	uint32_t first = FORS_NONE;

	for (unsigned port = 1; port <= pods->known->node[top->node].nports; port++) {
		uint32_t peer = fors_pods_peer(pods, top->node, port), mid;

		if (peer == FORS_NONE || pods->mid[mid = pods->number[peer]].pod == FORS_NONE)
			continue;
		if (first == FORS_NONE)
			top->plane = pods->mid[first = mid].plane;
		else if (pods->mid[mid].plane != top->plane &&
			 !is_shared(pods, top->node, top->plane, pods->mid[mid].plane))
			return fors_fail(
				error, FORS_ENOTREE,
				"not a three-level fat-tree: planes do not line up: %s is cabled to %s and %s, and "
				"in no pod to both of their planes",
				fors_node_name(pods->known, top->node),
				fors_node_name(pods->known, pods->mid[first].node),
				fors_node_name(pods->known, pods->mid[mid].node));
	}
	return FORS_OK;
}

/* Cables between planes and tops. */
struct shares {
	const struct fors_pods *pods;
	uint32_t *count; /* [plane * ntops + top] */
	uint32_t *sum;	 /* per plane */
};

static enum fors_err shares_make(struct shares *s, struct fors_error *error)
{
	const struct fors_pods *pods = s->pods;

	s->count = calloc((size_t)pods->nplanes * pods->ntops + 1, sizeof(*s->count));
	s->sum = calloc(pods->nplanes + (size_t)1, sizeof(*s->sum));
	if (!s->count || !s->sum)
		return fors_fail_memory(error);
	for (uint32_t m = 0; m < pods->nmids; m++)
		for (unsigned port = 1; port <= pods->known->node[pods->mid[m].node].nports; port++) {
			uint32_t top = top_at(pods, pods->mid[m].node, port);

			if (pods->mid[m].pod == FORS_NONE || top == FORS_NONE)
				continue;
			s->count[(size_t)pods->mid[m].plane * pods->ntops + top]++;
			s->sum[pods->mid[m].plane]++;
		}
	return FORS_OK;
}

/* Is what two planes have in common next to nothing? */
static bool are_apart(const struct shares *s, uint32_t one, uint32_t other)
{
	const uint32_t *a = s->count + (size_t)one * s->pods->ntops, *b = s->count + (size_t)other * s->pods->ntops;
	uint32_t least = s->sum[one] < s->sum[other] ? s->sum[one] : s->sum[other], common = 0;

	for (uint32_t top = 0; top < s->pods->ntops; top++)
		common += a[top] < b[top] ? a[top] : b[top];
	return 4 * (uint64_t)common <= least;
}

/* Is a plane at this top by a surplus cable? */
static bool is_surplus(const struct shares *s, uint32_t top, uint32_t plane)
{
	uint32_t here = s->count[(size_t)plane * s->pods->ntops + top];

	for (uint32_t other = 0; other < s->pods->nplanes; other++)
		if (other != plane && s->count[(size_t)other * s->pods->ntops + top] >= 2 * here &&
		    are_apart(s, plane, other))
			return true;
	return false;
}

static enum fors_err check_surplus(const struct shares *s, uint32_t top, struct fors_error *error)
{
	const struct fors_pods *pods = s->pods;
	uint32_t node = pods->top[top].node;

	for (unsigned port = 1; port <= pods->known->node[node].nports; port++) {
		const struct fors_port *at = fors_net_port(pods->known, node, port);
		uint32_t mid = fors_pods_peer(pods, node, port) == FORS_NONE ? FORS_NONE : pods->number[at->peer];

		if (mid != FORS_NONE && pods->mid[mid].pod != FORS_NONE && is_surplus(s, top, pods->mid[mid].plane))
			return fors_fail(error, FORS_ENOTREE,
					 "not a three-level fat-tree: a cable joins two planes, %.64s[%u] - %.64s[%u]: "
					 "it is crossed, or surplus",
					 fors_node_name(pods->known, at->peer), at->peer_port,
					 fors_node_name(pods->known, node), port);
	}
	return FORS_OK;
}

static enum fors_err check_shares(const struct fors_pods *pods, struct fors_error *error)
{
	struct shares s = {.pods = pods};
	enum fors_err err = shares_make(&s, error);

	for (uint32_t top = 0; !err && top < pods->ntops; top++)
		err = check_surplus(&s, top, error);
	free(s.count);
	free(s.sum);
	return err;
}

static enum fors_err list_mids(struct fors_pods *pods, struct fors_error *error)
{
	size_t size = (size_t)pods->npods * pods->nplanes;

	pods->mid_of = malloc((size + 1) * sizeof(*pods->mid_of));
	if (!pods->mid_of)
		return fors_fail_memory(error);
	memset(pods->mid_of, 0xFF, size * sizeof(*pods->mid_of));
	for (uint32_t m = 0; m < pods->nmids; m++)
		if (pods->mid[m].pod != FORS_NONE)
			pods->mid_of[(size_t)pods->mid[m].pod * pods->nplanes + pods->mid[m].plane] = m;
	return FORS_OK;
}

enum fors_err fors_pods_planes(struct fors_pods *pods, struct fors_error *error)
{
	struct planes p = {.pods = pods};
	enum fors_err err = FORS_OK;

	pods->nplanes = 0;
	p.has = calloc((size_t)pods->nmids * pods->ntops + 1, sizeof(*p.has));
	p.score = malloc(((size_t)pods->nmids * pods->nmids + 1) * sizeof(*p.score));
	p.mids = malloc((pods->nmids + (size_t)1) * sizeof(*p.mids));
	p.taken = calloc(pods->nmids + (size_t)1, sizeof(*p.taken));
	if (!p.has || !p.score || !p.mids || !p.taken)
		err = fors_fail_memory(error);
	for (uint32_t pod = 0; !err && pod < pods->npods; pod++)
		match_pod(&p, pod);
	if (!err)
		match_idle(&p);
	if (!err)
		pods->napart = count_apart(&p, p.taken);
	free(p.has);
	free(p.score);
	free(p.mids);
	free(p.taken);
	if (!err)
		err = list_mids(pods, error);
	for (uint32_t t = 0; !err && t < pods->ntops; t++)
		err = check_top(pods, &pods->top[t], error);
	return err ? err : check_shares(pods, error);
}
