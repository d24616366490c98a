/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_roles.c - which switches are leaves, which are in the middle, which are tops.
 *
 * With root GUIDs levels are distances: a root is a top, its neighbours are mids, theirs are leaves, and there is nothing
 * behind.
 *
 * Without, servers tell. Switches with enough channel adapters are leaves, for the time being; their neighbours are mids;
 * pods are what hangs together of these. A switch beyond that is cabled to mids only: of several pods, then it is a top;
 * of one pod, and has adapters itself, then it is a leaf with fewer of them. What has neither (a leaf without servers, a
 * top that lost all pods but one) is taken for a leaf if it is cabled to several planes of the pod, which is to say to
 * mids that have no other top in common; else for a top.
 *
 * How many adapters are enough? A gateway on a mid makes its switch look like a leaf, and two leaves are never
 * neighbours; one on a top makes the pods below hang together, and a tree of one pod is none. So one adapter is enough at
 * first, and while that does not give a tree, one more is asked for. The reason of the first attempt is what people are
 * told.
 */

#include "pods_inside.h"

#include <stdlib.h>
#include <string.h>

struct roles {
	const struct fors_net *net;
	uint8_t *level;
	uint32_t *pod, npods;
	uint32_t *adapters; /* per node: ports of hosts cabled to it */
	uint32_t *queue;    /* room for all nodes */
	bool *seen;	    /* per node */
	bool has_roots;	    /* they say who is a top */
};

static const char *const kinds[] = {
	[FORS_PODS_LEAF] = "leaves", [FORS_PODS_MID] = "middle switches", [FORS_PODS_TOP] = "tops"};

static bool is_switch(const struct roles *r, uint32_t node)
{
	return r->net->node[node].type == FORS_SWITCH;
}

/* The next switch of the list of neighbours, from port *port on (which is moved behind it); FORS_NONE: no more. */
static uint32_t next_peer(const struct roles *r, uint32_t node, unsigned *port)
{
	while (*port <= r->net->node[node].nports) {
		uint32_t peer = fors_peer_switch(r->net, node, (*port)++);

		if (peer != FORS_NONE)
			return peer;
	}
	return FORS_NONE;
}

#define EACH_PEER(r, node, peer)                                                                                       \
	for (unsigned port_ = 1, peer = next_peer(r, node, &port_); peer != FORS_NONE;                                 \
	     peer = next_peer(r, node, &port_))

static void count_adapters(struct roles *r)
{
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (is_switch(r, node))
			r->adapters[node] = fors_net_hosts(r->net, node);
}

/* ---- pods ---- */

static bool is_below(const struct roles *r, uint32_t node)
{
	return r->level[node] == FORS_PODS_LEAF || r->level[node] == FORS_PODS_MID;
}

static void fill_pod(struct roles *r, uint32_t start)
{
	uint32_t size = 1;

	r->queue[0] = start;
	r->pod[start] = r->npods;
	for (uint32_t i = 0; i < size; i++)
		EACH_PEER(r, r->queue[i], peer)
		{
			if (!is_below(r, peer) || r->pod[peer] != FORS_NONE)
				continue;
			r->pod[peer] = r->npods;
			r->queue[size++] = peer;
		}
	r->npods++;
}

/* What hangs together of leaves and mids; mids without a leaf have no pod. */
static void find_pods(struct roles *r)
{
	r->npods = 0;
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		r->pod[node] = FORS_NONE;
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (r->level[node] == FORS_PODS_LEAF && r->pod[node] == FORS_NONE)
			fill_pod(r, node);
}

/* ---- by roots ---- */

static void set_level(struct roles *r, uint8_t from, uint8_t to)
{
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (r->level[node] == from && is_switch(r, node))
			EACH_PEER(r, node, peer)
	if (r->level[peer] == FORS_PODS_NONE)
		r->level[peer] = to;
}

static enum fors_err by_roots(struct roles *r, const uint64_t *root, size_t nroots, struct fors_error *error)
{
	memset(r->level, FORS_PODS_NONE, r->net->nnodes);
	for (size_t i = 0; i < nroots; i++) {
		uint32_t node = fors_net_find_guid(r->net, root[i]);

		if (node != FORS_NONE && is_switch(r, node))
			r->level[node] = FORS_PODS_TOP;
	}
	set_level(r, FORS_PODS_TOP, FORS_PODS_MID);
	set_level(r, FORS_PODS_MID, FORS_PODS_LEAF);
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (is_switch(r, node) && !r->level[node] && r->adapters[node])
			EACH_PEER(r, node, peer)
	return fors_fail(error, FORS_ENOTREE,
			 "not a three-level fat-tree: %s is more than two cables away from every root",
			 fors_node_name(r->net, node));
	find_pods(r);
	return FORS_OK;
}

/* ---- by servers ---- */

/* A switch beyond the mids: is it a top, or a leaf with few servers or none? */
static uint8_t level_beyond(const struct roles *r, uint32_t node)
{
	uint32_t first = FORS_NONE, first_mid = FORS_NONE;
	bool has_planes = false;

	EACH_PEER(r, node, peer)
	{
		if (r->pod[peer] == FORS_NONE)
			continue;
		if (first == FORS_NONE)
			first = r->pod[peer], first_mid = peer;
		if (r->pod[peer] != first)
			return FORS_PODS_TOP;
		has_planes |= peer != first_mid;
	}
	if (first == FORS_NONE)
		return FORS_PODS_NONE;
	return r->adapters[node] || has_planes ? FORS_PODS_LEAF : FORS_PODS_TOP;
}

/* Leaves are switches with at least `enough` adapters, and whatever else then looks like one. */
static void by_servers(struct roles *r, uint32_t enough)
{
	memset(r->level, FORS_PODS_NONE, r->net->nnodes);
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (is_switch(r, node) && r->adapters[node] >= enough)
			r->level[node] = FORS_PODS_LEAF;
	set_level(r, FORS_PODS_LEAF, FORS_PODS_MID);
	find_pods(r);
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (is_switch(r, node) && !r->level[node])
			r->level[node] = level_beyond(r, node);
	/* What is cabled to tops only is a mid that lost its leaves, or one of a pod without servers. */
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (is_switch(r, node) && !r->level[node] && !r->adapters[node])
			EACH_PEER(r, node, peer)
	if (r->level[peer] == FORS_PODS_TOP)
		r->level[node] = FORS_PODS_MID;
	set_level(r, FORS_PODS_MID, FORS_PODS_LEAF);
	find_pods(r);
}

/* ---- is it one? ---- */

static enum fors_err fail_cable(const struct roles *r, uint32_t node, uint32_t peer, struct fors_error *error)
{
	if (r->level[node] == r->level[peer])
		return fors_fail(error, FORS_ENOTREE, "not a three-level fat-tree: a cable joins two %s, %s and %s",
				 kinds[r->level[node]], fors_node_name(r->net, node), fors_node_name(r->net, peer));
	return fors_fail(error, FORS_ENOTREE,
			 "not a three-level fat-tree: a cable joins %s and %s, which leaves a level out",
			 fors_node_name(r->net, node), fors_node_name(r->net, peer));
}

/* No level, and no hosts: it is behind switches that have none either, and nothing follows from it. */
static bool is_behind(const struct roles *r, uint32_t node)
{
	return !r->level[node] && !r->adapters[node];
}

static enum fors_err check_cables(const struct roles *r, struct fors_error *error)
{
	for (uint32_t node = 0; node < r->net->nnodes; node++)
		if (is_switch(r, node))
			EACH_PEER(r, node, peer)
			{
				int step = (int)r->level[node] - (int)r->level[peer];

				if (is_behind(r, node) || is_behind(r, peer))
					continue;
				if (!r->level[node] || !r->level[peer])
					return fors_fail(error, FORS_ENOTREE,
							 "not a three-level fat-tree: %s is on none of its levels",
							 fors_node_name(r->net, r->level[node] ? peer : node));
				if (step != 1 && step != -1)
					return fail_cable(r, node, peer, error);
			}
	return FORS_OK;
}

/* What hangs together with the first pod, without mids that have none: into r->seen. */
static void see_first(const struct roles *r)
{
	uint32_t size = 0;

	memset(r->seen, 0, r->net->nnodes * sizeof(*r->seen));
	for (uint32_t node = 0; !size && node < r->net->nnodes; node++)
		if (r->pod[node] == 0)
			r->queue[size++] = node;
	for (uint32_t i = 0; i < size; i++) {
		r->seen[r->queue[i]] = true;
		EACH_PEER(r, r->queue[i], peer)
		{
			if (r->seen[peer] || (r->level[peer] == FORS_PODS_MID && r->pod[peer] == FORS_NONE))
				continue;
			r->seen[peer] = true;
			r->queue[size++] = peer;
		}
	}
}

/* A switch that joins tops of trees which are none together is a fourth level, and no mid that lost its leaves. */
static enum fors_err check_whole(const struct roles *r, struct fors_error *error)
{
	see_first(r);
	for (uint32_t node = 0; node < r->net->nnodes; node++) {
		uint32_t inside = FORS_NONE, outside = FORS_NONE;

		if (r->level[node] != FORS_PODS_MID || r->pod[node] != FORS_NONE)
			continue;
		EACH_PEER(r, node, peer)
		*(r->seen[peer] ? &inside : &outside) = peer;
		if (inside != FORS_NONE && outside != FORS_NONE)
			return fors_fail(
				error, FORS_ENOTREE,
				"not a three-level fat-tree: %s joins two trees, above %s and %s: a fourth level",
				fors_node_name(r->net, node), fors_node_name(r->net, inside),
				fors_node_name(r->net, outside));
	}
	return FORS_OK;
}

static enum fors_err check(const struct roles *r, struct fors_error *error)
{
	enum fors_err err = check_cables(r, error);
	bool has_top = false;

	for (uint32_t node = 0; node < r->net->nnodes; node++)
		has_top |= r->level[node] == FORS_PODS_TOP;
	if (!err)
		err = fors_pods_crossed(r->net, r->level, r->pod, r->adapters, r->has_roots, error);
	if (!err && (!has_top || r->npods < 2))
		err = fors_fail(error, FORS_ENOTREE, "not a three-level fat-tree: no switch joins several pods");
	return err ? err : check_whole(r, error);
}

static enum fors_err try_servers(struct roles *r, struct fors_error *error)
{
	struct fors_error first = {0}, reason = {0};
	uint32_t most = 0;
	enum fors_err err = FORS_ENOTREE;

	for (uint32_t node = 0; node < r->net->nnodes; node++)
		most = r->adapters[node] > most ? r->adapters[node] : most;
	for (uint32_t enough = 1; err && enough <= most; enough++) {
		by_servers(r, enough);
		err = check(r, enough == 1 ? &first : &reason);
	}
	if (!most)
		return fors_fail(error, FORS_ENOTREE, "not a three-level fat-tree: no switch has servers");
	return err ? fors_fail(error, err, "%s", first.text) : FORS_OK;
}

enum fors_err fors_pods_roles(const struct fors_net *net, const uint64_t *root_guids, size_t nroots, uint8_t *level,
			      uint32_t *pod, uint32_t *npods, struct fors_error *error)
{
	struct roles r = {.net = net, .level = level, .pod = pod, .has_roots = nroots > 0};
	enum fors_err err = FORS_OK;

	r.adapters = calloc(net->nnodes + (size_t)1, sizeof(*r.adapters));
	r.queue = malloc((net->nnodes + (size_t)1) * sizeof(*r.queue));
	r.seen = calloc(net->nnodes + (size_t)1, sizeof(*r.seen));
	if (!r.adapters || !r.queue || !r.seen)
		err = fors_fail_memory(error);
	if (!err) {
		count_adapters(&r);
		err = nroots ? by_roots(&r, root_guids, nroots, error) : try_servers(&r, error);
	}
	if (!err && nroots)
		err = check(&r, error);
	free(r.adapters);
	free(r.queue);
	free(r.seen);
	*npods = r.npods;
	return err;
}
