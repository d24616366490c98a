/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lanes.c - cables of a three-level tree by lanes, and where every server is at home: see lanes.h. */
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

void fors_pods_lanes_free(struct fors_pods_lanes *lanes)
{
	if (!lanes)
		return;
	free(lanes->rungs);
	free(lanes->rung_top);
	free(lanes->leaf_port);
	free(lanes->mid_port);
	free(lanes->home_lane);
	free(lanes->home_rung);
	free(lanes->in_plane);
	free(lanes);
}

/* The `cable`th known port of a node to a peer, 0: there are not so many. */
static uint8_t port_to(const struct fors_pods *pods, uint32_t node, uint32_t peer, uint32_t cable)
{
	for (unsigned port = 1; port <= pods->known->node[node].nports; port++)
		if (fors_pods_peer(pods, node, port) == peer && !cable--)
			return (uint8_t)port;
	return 0;
}

/* Parallel cables of a mid to a leaf (or, is_top, to a top), the most of any. */
static uint32_t most_cables(const struct fors_pods *pods, uint32_t plane, bool is_top)
{
	uint32_t most = 0;

	for (uint32_t m = 0; m < pods->nmids; m++) {
		uint32_t node = pods->mid[m].node;

		if (is_top && pods->mid[m].plane != plane)
			continue;
		for (unsigned port = 1; port <= pods->known->node[node].nports; port++) {
			uint32_t peer = fors_pods_peer(pods, node, port), count = 0;

			if (peer == FORS_NONE || (pods->level[peer] == FORS_PODS_TOP) != is_top)
				continue;
			while (port_to(pods, node, peer, count))
				count++;
			most = count > most ? count : most;
		}
	}
	return most;
}

/* ---- lanes and rungs ---- */

static enum fors_err read_leaves(struct fors_pods_lanes *l, struct fors_error *error)
{
	const struct fors_pods *pods = l->pods;

	l->nlanes = pods->nplanes * most_cables(pods, 0, false);
	l->leaf_port = calloc((size_t)pods->nleaves * l->nlanes + 1, 1);
	if (!l->leaf_port)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (uint32_t lane = 0; lane < l->nlanes; lane++) {
			uint32_t mid = fors_pods_lanes_mid(l, a, lane);

			if (mid != FORS_NONE)
				l->leaf_port[(size_t)a * l->nlanes + lane] =
					port_to(pods, pods->leaf[a].node, pods->mid[mid].node, lane / pods->nplanes);
		}
	return FORS_OK;
}

/* Is the top cabled to a mid of the plane? */
static bool is_of_plane(const struct fors_pods *pods, uint32_t top, uint32_t plane)
{
	uint32_t node = pods->top[top].node;

	for (unsigned port = 1; port <= pods->known->node[node].nports; port++) {
		uint32_t peer = fors_pods_peer(pods, node, port);

		if (peer != FORS_NONE && pods->mid[pods->number[peer]].plane == plane)
			return true;
	}
	return false;
}

/* Tops of each plane in order, then, where there are parallel cables, all of them again. */
static enum fors_err list_rungs(struct fors_pods_lanes *l, struct fors_error *error)
{
	const struct fors_pods *pods = l->pods;
	uint32_t most = 1;

	for (uint32_t j = 0; j < pods->nplanes; j++) {
		uint32_t cables = most_cables(pods, j, true);

		most = cables > most ? cables : most;
	}
	l->nrungs = most * pods->ntops;
	l->rungs = calloc(pods->nplanes + (size_t)1, sizeof(*l->rungs));
	l->rung_top = malloc(((size_t)pods->nplanes * l->nrungs + 1) * sizeof(*l->rung_top));
	if (!l->rungs || !l->rung_top)
		return fors_fail_memory(error);
	for (uint32_t j = 0; j < pods->nplanes; j++) {
		uint32_t cables = most_cables(pods, j, true);

		for (uint32_t i = 0; i < cables * pods->ntops; i++)
			if (is_of_plane(pods, i % pods->ntops, j))
				l->rung_top[(size_t)j * l->nrungs + l->rungs[j]++] = i % pods->ntops;
	}
	return FORS_OK;
}

static enum fors_err read_mids(struct fors_pods_lanes *l, struct fors_error *error)
{
	const struct fors_pods *pods = l->pods;

	l->mid_port = calloc((size_t)pods->nmids * l->nrungs + 1, 1);
	if (!l->mid_port)
		return fors_fail_memory(error);
	for (uint32_t m = 0; m < pods->nmids; m++) {
		const uint32_t *top = l->rung_top + (size_t)pods->mid[m].plane * l->nrungs;

		for (uint32_t r = 0; r < l->rungs[pods->mid[m].plane]; r++) {
			uint32_t before = 0;

			for (uint32_t i = 0; i < r; i++)
				before += top[i] == top[r];
			l->mid_port[(size_t)m * l->nrungs + r] =
				port_to(pods, pods->mid[m].node, pods->top[top[r]].node, before);
		}
	}
	return FORS_OK;
}

/* ---- homes ---- */

/* Rungs of a plane that the servers at home there want: as many as tops have them in a tree that is regular otherwise. */
static uint32_t wanted_rungs(const struct fors_pods_lanes *l, uint32_t plane)
{
	const struct fors_pods *pods = l->pods;
	uint32_t m1 = pods->leaf[0].nslots, m2 = pods->nleaves / pods->npods;

	return m2 * ((m1 + pods->nplanes - 1 - plane) / pods->nplanes);
}

/* Pods alike, and as many lanes as servers want. */
static bool are_pods_alike(const struct fors_pods_lanes *l)
{
	const struct fors_pods *pods = l->pods;
	uint32_t m1 = pods->leaf[0].nslots, m2 = pods->nleaves / pods->npods;

	if (pods->nleaves % pods->npods || !m1 || m1 > l->nlanes)
		return false;
	for (uint32_t a = 0; a < pods->nleaves; a++)
		if (pods->leaf[a].nslots != m1 || pods->leaf[a].number >= m2)
			return false;
	for (uint32_t lane = 0; lane < m1; lane++)
		for (uint32_t a = 0; a < pods->nleaves; a++)
			if (!l->leaf_port[(size_t)a * l->nlanes + lane])
				return false;
	return true;
}

static uint32_t most_rungs(const struct fors_pods_lanes *l)
{
	uint32_t most = 0;

	for (uint32_t j = 0; j < l->pods->nplanes; j++)
		most = l->rungs[j] > most ? l->rungs[j] : most;
	return most;
}

/*
 * Have all planes as many rungs as servers want? Where some have, those that have fewer than others, but half of them at least,
 * get the rest, too, to tops that nobody ever saw: what is at home there goes round them as it does round dead ones.
 */
static bool complete_rungs(struct fors_pods_lanes *l)
{
	uint32_t nplanes = l->pods->nplanes, nfull = 0, most = most_rungs(l);

	for (uint32_t j = 0; j < nplanes; j++) {
		uint32_t wanted = wanted_rungs(l, j);

		if (l->rungs[j] < wanted && (l->rungs[j] == most || 2 * l->rungs[j] < wanted || wanted > l->nrungs))
			return false;
		nfull += wanted && l->rungs[j] >= wanted;
	}
	for (uint32_t j = 0; nfull && j < nplanes; j++)
		for (; l->rungs[j] < wanted_rungs(l, j); l->nunseen++) {
			uint32_t *top = l->rung_top + (size_t)j * l->nrungs;

			top[l->rungs[j]++] = top[0]; /* a cable more, which no middle switch has */
		}
	return nfull;
}

static enum fors_err find_homes(struct fors_pods_lanes *l, struct fors_error *error)
{
	const struct fors_pods *pods = l->pods;
	uint32_t *next = calloc(pods->nplanes + (size_t)1, sizeof(*next)), turn = 0, pod = FORS_NONE;

	l->home_lane = calloc(pods->nslots + (size_t)1, sizeof(*l->home_lane));
	l->home_rung = calloc(pods->nslots + (size_t)1, sizeof(*l->home_rung));
	l->in_plane = calloc((size_t)pods->npods * pods->nplanes + 1, sizeof(*l->in_plane));
	if (!next || !l->home_lane || !l->home_rung || !l->in_plane) {
		free(next);
		return fors_fail_memory(error);
	}
	for (uint32_t p = 0; p < pods->npods; p++)
		for (uint32_t s = 0; s < pods->nslots; s++) {
			uint32_t lane, plane;

			if (pods->leaf[pods->slot[s].leaf].pod != p)
				continue;
			if (pod != p && l->is_regular)
				memset(next, 0, pods->nplanes * sizeof(*next));
			pod = p;
			lane = (l->is_regular ? pods->slot[s].rank : turn++) % l->nlanes;
			plane = fors_pods_lanes_plane(l, lane);
			l->home_lane[s] = (uint16_t)lane;
			l->in_plane[p * pods->nplanes + plane]++;
			l->home_rung[s] = (uint16_t)(l->rungs[plane] ? next[plane]++ % l->rungs[plane] : 0);
		}
	free(next);
	return FORS_OK;
}

enum fors_err fors_pods_lanes_read(const struct fors_pods *pods, struct fors_pods_lanes **lanes,
				   struct fors_error *error)
{
	struct fors_pods_lanes *l = calloc(1, sizeof(*l));
	enum fors_err err = l ? FORS_OK : fors_fail_memory(error);

	if (!err) {
		l->pods = pods;
		err = read_leaves(l, error);
	}
	if (!err)
		err = list_rungs(l, error);
	if (!err)
		err = read_mids(l, error);
	if (!err) {
		l->is_regular = are_pods_alike(l) && complete_rungs(l);
		l->m1 = pods->leaf[0].nslots;
		l->m2 = pods->nleaves / pods->npods;
		err = find_homes(l, error);
	}
	if (err)
		fors_pods_lanes_free(l);
	else
		*lanes = l;
	return err;
}
