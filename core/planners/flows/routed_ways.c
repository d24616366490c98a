/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routed_ways.c - the ways of a problem as a schedule names them.
 *
 * The level of a switch is how far it is from the nearest one with servers. Where every cable between switches joins
 * neighbouring levels the net is taken for a tree, and a way that climbs, then descends, has a topmost switch. A torus with
 * servers everywhere has level 0 only, so there are no tops.
 *
 * From any switch on the way of a LID is the same for all who send there. So what comes after the first switch is remembered
 * for each receiver and path index, with the second switch: in a tree of three levels with m2 leaves in a pod, which come one
 * after another, it is put once in m2 times. Where it is not remembered it is put again, which gives the same number.
 */
#include "routed_ways.h"

#include <stdlib.h>
#include <string.h>

#define NO_PEAK 255 /* a way that does not climb, then descend */

/* A way from its second switch on. */
struct tail {
	uint32_t from;	 /* that switch, a node; FORS_NONE: nothing is remembered */
	uint32_t number; /* of the way */
	uint8_t peak;	 /* which of its switches is the topmost one, NO_PEAK */
};

struct writer {
	const struct fors_flows_routed *routed;
	struct fors_waylist *ways;
	uint32_t *level;   /* per node; NULL: this is no tree */
	uint32_t *sw;	   /* per node: the number that it has among ways, FORS_NONE: not asked for so far */
	uint32_t nown;	   /* ways that begin at the switch with servers that is looked at */
	struct tail *tail; /* [destination * nindices + path index]: of the way that was put there last */
};

/* ---- levels ---- */

/* Breadth first from all switches with servers at once. */
static void measure(const struct fors_flows_routed *routed, uint32_t *level, uint32_t *queue)
{
	const struct fors_net *net = routed->net;
	uint32_t end = routed->nswitches;

	memset(level, 0xFF, net->nnodes * sizeof(*level));
	memcpy(queue, routed->node, routed->nswitches * sizeof(*queue));
	for (uint32_t i = 0; i < end; i++)
		level[queue[i]] = 0;
	for (uint32_t i = 0; i < end; i++)
		for (unsigned port = 1; port <= net->node[queue[i]].nports; port++) {
			uint32_t peer = fors_peer_switch(net, queue[i], port);

			if (peer == FORS_NONE || level[peer] != FORS_NONE)
				continue;
			level[peer] = level[queue[i]] + 1;
			queue[end++] = peer;
		}
}

static bool is_tree(const struct fors_net *net, const uint32_t *level)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 1; level[node] != FORS_NONE && port <= net->node[node].nports; port++) {
			uint32_t peer = fors_peer_switch(net, node, port);

			if (peer != FORS_NONE && level[peer] + 1 != level[node] && level[node] + 1 != level[peer])
				return false;
		}
	return true;
}

static enum fors_err find_levels(struct writer *w, struct fors_error *error)
{
	const struct fors_net *net = w->routed->net;
	uint32_t *queue = malloc((net->nnodes + (size_t)1) * sizeof(*queue));

	w->level = malloc((net->nnodes + (size_t)1) * sizeof(*w->level));
	if (!queue || !w->level) {
		free(queue);
		return fors_fail_memory(error);
	}
	measure(w->routed, w->level, queue);
	free(queue);
	if (!is_tree(net, w->level)) {
		free(w->level);
		w->level = NULL;
	}
	return FORS_OK;
}

/* The peak of a way from `node` to `next`, where the peak of the rest is known. */
static uint8_t peak_before(const struct writer *w, uint32_t node, uint32_t next, uint8_t peak)
{
	if (!w->level || peak == NO_PEAK || w->level[node] == w->level[next])
		return NO_PEAK;
	if (w->level[node] < w->level[next])
		return (uint8_t)(peak + 1);
	return peak ? NO_PEAK : 0;
}

/* ---- ways ---- */

/* One switch more, before the way `number`, which becomes the way from it on. */
static enum fors_err step(struct writer *w, uint32_t node, uint8_t port, uint32_t *number, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	if (w->sw[node] == FORS_NONE) {
		uint16_t sw;

		err = fors_waylist_switch(w->ways, w->routed->net->node[node].guid, &sw, error);
		if (err)
			return err;
		w->sw[node] = sw;
	}
	return fors_waylist_step(w->ways, (uint16_t)w->sw[node], port, *number, number, error);
}

/* A way as nodes and the ports out of them. */
struct hops {
	uint32_t node[FORS_FLOWS_MOST_LINKS + 1];
	uint8_t port[FORS_FLOWS_MOST_LINKS + 1];
	uint32_t n;
};

/* The first switch of a way, and the others where they are wanted. */
static void read_hops(const struct writer *w, uint32_t s, uint32_t way, uint32_t most, struct hops *hops)
{
	const struct fors_flows_routed *routed = w->routed;
	const struct fors_flows_problem *p = &routed->problem;

	hops->n = 0;
	hops->node[0] = routed->node[s];
	for (uint32_t i = p->begin[way]; i < p->begin[way + 1] && hops->n < most; i++) {
		uint32_t out = routed->link_port[p->link[i]];

		hops->port[hops->n] = (uint8_t)(out - routed->net->node[hops->node[hops->n]].first_port);
		hops->node[++hops->n] = routed->net->port[out].peer;
	}
	hops->port[hops->n] = 0;
}

/* What comes after the first switch. */
static enum fors_err put_tail(struct writer *w, uint32_t s, uint32_t way, struct tail *tail, struct fors_error *error)
{
	struct hops hops;
	enum fors_err err;

	read_hops(w, s, way, FORS_FLOWS_MOST_LINKS, &hops);
	*tail = (struct tail){.from = hops.node[1], .number = FORS_NONE};
	err = step(w, hops.node[hops.n], 0, &tail->number, error);
	for (uint32_t i = hops.n; !err && i-- > 1;) {
		err = step(w, hops.node[i], hops.port[i], &tail->number, error);
		tail->peak = peak_before(w, hops.node[i], hops.node[i + 1], tail->peak);
	}
	return err;
}

static enum fors_err put(struct writer *w, uint32_t s, uint32_t d, uint32_t k, struct fors_error *error)
{
	const struct fors_flows_problem *p = &w->routed->problem;
	uint32_t way = (s * p->ndests + d) * p->npaths + k, path = fors_flows_path(w->routed, way), nways,
		 number = FORS_NONE;
	struct tail *tail = &w->tail[(size_t)d * w->routed->nindices + path];
	uint8_t peak = NO_PEAK;
	struct hops hops;
	enum fors_err err = FORS_OK;

	if (!p->exists[way])
		return FORS_OK;
	read_hops(w, s, way, 1, &hops);
	if (hops.n && tail->from != hops.node[1])
		err = put_tail(w, s, way, tail, error);
	if (err)
		return err;
	if (hops.n) {
		peak = peak_before(w, hops.node[0], hops.node[1], tail->peak);
		number = tail->number;
	}
	nways = w->ways->nways;
	err = step(w, hops.node[0], hops.port[0], &number, error);
	w->nown += w->ways->nways - nways;
	if (!err)
		fors_waylist_set(w->ways, s, d, path, number, peak == NO_PEAK ? FORS_WAY_NO_TOP : peak);
	return err;
}

/* Switches with servers are mostly alike: each is expected to have as many ways as the one before. */
static enum fors_err put_all(struct writer *w, struct fors_error *error)
{
	const struct fors_flows_problem *p = &w->routed->problem;
	enum fors_err err = FORS_OK;

	for (uint32_t s = 0; !err && s < p->nswitches; s++) {
		err = fors_waylist_expect(w->ways, (uint16_t)s, w->nown, error);
		w->nown = 0;
		for (uint32_t d = 0; !err && d < p->ndests; d++)
			for (uint32_t path = 0; !err && path < p->npaths; path++)
				err = put(w, s, d, path, error);
	}
	return err;
}

static enum fors_err start(struct writer *w, struct fors_error *error)
{
	const struct fors_flows_routed *routed = w->routed;
	size_t nnodes = routed->net->nnodes + (size_t)1, ntails = (size_t)routed->nservers * routed->nindices;
	uint64_t *guid = malloc((routed->nswitches + (size_t)1) * sizeof(*guid));
	enum fors_err err;

	w->sw = malloc(nnodes * sizeof(*w->sw));
	w->tail = malloc((ntails + 1) * sizeof(*w->tail));
	if (!guid || !w->sw || !w->tail) {
		free(guid);
		return fors_fail_memory(error);
	}
	memset(w->sw, 0xFF, nnodes * sizeof(*w->sw));
	memset(w->tail, 0xFF, ntails * sizeof(*w->tail));
	for (uint32_t s = 0; s < routed->nswitches; s++)
		guid[s] = routed->net->node[routed->node[s]].guid;
	err = fors_waylist_new(routed->nswitches, guid, routed->nservers, routed->nindices, &w->ways, error);
	free(guid);
	return err;
}

static void finish(struct writer *w)
{
	free(w->tail);
	free(w->level);
	free(w->sw);
}

enum fors_err fors_flows_waylist(const struct fors_flows_routed *routed, struct fors_waylist **ways,
				 struct fors_error *error)
{
	struct writer w = {.routed = routed};
	enum fors_err err = start(&w, error);

	if (!err)
		err = find_levels(&w, error);
	if (!err)
		err = put_all(&w, error);
	finish(&w);
	if (err) {
		fors_waylist_free(w.ways);
		return err;
	}
	fors_waylist_trim(w.ways);
	*ways = w.ways;
	return FORS_OK;
}
