/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_crossed.c - is each pod one?
 *
 * Pods are what hangs together without the tops, so one cable from a leaf to a middle switch of another pod makes one
 * pod of two. All that follows would still be right, packets arrive and plans are proven; but it would be another tree,
 * with twice the planes and longer plans, nobody would be told of the cable, and it would stay known when it is pulled.
 *
 * Leaves of a pod have their middle switches in common, but for cables that were never seen; a leaf with a crossed
 * cable has one in common with leaves of the other pod. So leaves are *kin* if they have two middle switches in common
 * at least, and more than half of those of the leaf that has fewer. Kin of kin are a *core*, two leaves or more. A pod
 * with two cores is two pods, and a cable crossed: one from a leaf of a core to a middle switch most of whose leaves
 * are of another core. Where only leaves without kin join the cores, one of these is named. Small pods, of one leaf or of
 * one middle switch, have no kin; there nobody can tell.
 *
 * That is asked of all pairs of leaves only where not all leaves of a pod are kin of its first one.
 *
 * The same tells a leaf with few servers and a crossed cable from a top with guests: a top has few middle switches in
 * each pod.
 */

#include "pods_inside.h"

#include <stdlib.h>
#include <string.h>

struct kinship {
	const struct fors_net *net;
	const uint8_t *level;
	const uint32_t *adapters;
	bool has_roots; /* then leaves without servers are leaves, too; else they may be tops, where pods have become one */
	uint32_t *kin;	  /* per node: another leaf of the core, on the way to the one that stands for it */
	uint32_t *size;	  /* per node: leaves of the core that it stands for */
	uint32_t *common; /* per node: middle switches in common with the leaf that is looked at */
	uint32_t *seen;	  /* per node: for whom it was counted last, see stamp */
	uint32_t *degree; /* per leaf: different middle switches */
	uint32_t stamp;
};

static void kinship_clear(struct kinship *k)
{
	free(k->kin);
	free(k->size);
	free(k->common);
	free(k->seen);
	free(k->degree);
}

static enum fors_err kinship_make(struct kinship *k, struct fors_error *error)
{
	size_t n = k->net->nnodes + (size_t)1;

	k->kin = malloc(n * sizeof(*k->kin));
	k->size = malloc(n * sizeof(*k->size));
	k->common = calloc(n, sizeof(*k->common));
	k->seen = calloc(n, sizeof(*k->seen));
	k->degree = calloc(n, sizeof(*k->degree));
	if (!k->kin || !k->size || !k->common || !k->seen || !k->degree)
		return fors_fail_memory(error);
	for (uint32_t node = 0; node < k->net->nnodes; node++) {
		k->kin[node] = node;
		k->size[node] = 1;
	}
	return FORS_OK;
}

static bool is_on(const struct kinship *k, uint32_t node, uint8_t level)
{
	return k->level[node] == level && (level != FORS_PODS_LEAF || k->has_roots || k->adapters[node]);
}

/* The neighbour at a port, of one level; FORS_NONE: none. */
static uint32_t peer_of(const struct kinship *k, uint32_t node, unsigned port, uint8_t level)
{
	uint32_t peer = fors_peer_switch(k->net, node, port);

	return peer != FORS_NONE && is_on(k, peer, level) ? peer : FORS_NONE;
}

/* The same, each neighbour at the first of its ports only: for this the caller takes a new stamp. */
static uint32_t new_peer(struct kinship *k, uint32_t node, unsigned port, uint8_t level, uint32_t stamp)
{
	uint32_t peer = peer_of(k, node, port, level);

	if (peer == FORS_NONE || k->seen[peer] == stamp)
		return FORS_NONE;
	k->seen[peer] = stamp;
	return peer;
}

static void count_degree(struct kinship *k, uint32_t node)
{
	k->stamp++;
	for (unsigned port = 1; port <= k->net->node[node].nports; port++)
		k->degree[node] += new_peer(k, node, port, FORS_PODS_MID, k->stamp) != FORS_NONE;
}

/* Have two switches enough neighbours in common to belong together? */
static bool are_kin(uint32_t common, uint32_t degree)
{
	return common >= 2 && 2 * common > degree;
}

static uint32_t core_of(struct kinship *k, uint32_t leaf)
{
	while (k->kin[leaf] != leaf)
		leaf = k->kin[leaf] = k->kin[k->kin[leaf]];
	return leaf;
}

static bool has_core(struct kinship *k, uint32_t leaf)
{
	return k->size[core_of(k, leaf)] > 1;
}

static void join(struct kinship *k, uint32_t a, uint32_t b)
{
	a = core_of(k, a);
	b = core_of(k, b);
	if (a == b)
		return;
	k->kin[b] = a;
	k->size[a] += k->size[b];
}

/*
 * Count for every leaf what it has in common with this switch. Returns the highest count; with `joins` kin become one
 * core. Stamps of leaves are of middle switches, and each of these is looked at once.
 */
static uint32_t look_at(struct kinship *k, uint32_t node, bool joins)
{
	uint32_t mids = ++k->stamp, most = 0;

	for (unsigned port = 1; port <= k->net->node[node].nports; port++) {
		uint32_t mid = new_peer(k, node, port, FORS_PODS_MID, mids);

		if (mid == FORS_NONE)
			continue;
		k->stamp++;
		for (unsigned p = 1; p <= k->net->node[mid].nports; p++) {
			uint32_t leaf = new_peer(k, mid, p, FORS_PODS_LEAF, k->stamp), degree;

			if (leaf == FORS_NONE || leaf == node)
				continue;
			most = ++k->common[leaf] > most ? k->common[leaf] : most;
			degree = k->degree[leaf] < k->degree[node] ? k->degree[leaf] : k->degree[node];
			if (joins && are_kin(k->common[leaf], degree))
				join(k, node, leaf);
		}
	}
	for (unsigned port = 1; port <= k->net->node[node].nports; port++) {
		uint32_t mid = peer_of(k, node, port, FORS_PODS_MID);

		for (unsigned p = 1; mid != FORS_NONE && p <= k->net->node[mid].nports; p++)
			if (peer_of(k, mid, p, FORS_PODS_LEAF) != FORS_NONE)
				k->common[peer_of(k, mid, p, FORS_PODS_LEAF)] = 0;
	}
	return most;
}

/* ---- one core ---- */

/* Is this leaf kin of the first one of its pod, whose middle switches are marked? */
static bool is_kin_of_first(struct kinship *k, uint32_t leaf, uint32_t first, const bool *is_marked)
{
	uint32_t common = 0;

	k->stamp++;
	for (unsigned port = 1; port <= k->net->node[leaf].nports; port++) {
		uint32_t mid = new_peer(k, leaf, port, FORS_PODS_MID, k->stamp);

		common += mid != FORS_NONE && is_marked[mid];
	}
	return are_kin(common, k->degree[leaf] < k->degree[first] ? k->degree[leaf] : k->degree[first]);
}

/*
 * What is true of nearly all trees, and quickly seen: all leaves of a pod are kin of its first one. Where they are not
 * everything has to be looked at.
 */
static enum fors_err are_plain(struct kinship *k, const uint32_t *pod, bool *answer, struct fors_error *error)
{
	size_t n = k->net->nnodes + (size_t)1;
	uint32_t *first = malloc(n * sizeof(*first)); /* per pod */
	bool *is_marked = calloc(n, sizeof(*is_marked));
	enum fors_err err = first && is_marked ? FORS_OK : fors_fail_memory(error);

	*answer = true;
	if (!err)
		memset(first, 0xFF, n * sizeof(*first));
	for (uint32_t node = 0; !err && *answer && node < k->net->nnodes; node++) {
		if (!is_on(k, node, FORS_PODS_LEAF) || pod[node] == FORS_NONE)
			continue;
		if (first[pod[node]] != FORS_NONE) {
			*answer = is_kin_of_first(k, node, first[pod[node]], is_marked);
			continue;
		}
		first[pod[node]] = node;
		for (unsigned port = 1; port <= k->net->node[node].nports; port++)
			if (peer_of(k, node, port, FORS_PODS_MID) != FORS_NONE)
				is_marked[peer_of(k, node, port, FORS_PODS_MID)] = true;
	}
	free(first);
	free(is_marked);
	return err;
}

/* ---- two cores ---- */

/* Of which core most leaves of a middle switch are; FORS_NONE: of none. */
static uint32_t core_of_mid(struct kinship *k, uint32_t mid)
{
	uint32_t most = 0, best = FORS_NONE;

	for (unsigned port = 1; port <= k->net->node[mid].nports; port++) {
		uint32_t leaf = peer_of(k, mid, port, FORS_PODS_LEAF);

		if (leaf == FORS_NONE || !has_core(k, leaf))
			continue;
		if (++k->common[core_of(k, leaf)] > most) {
			most = k->common[core_of(k, leaf)];
			best = core_of(k, leaf);
		}
	}
	for (unsigned port = 1; port <= k->net->node[mid].nports; port++) {
		uint32_t leaf = peer_of(k, mid, port, FORS_PODS_LEAF);

		if (leaf != FORS_NONE)
			k->common[core_of(k, leaf)] = 0;
	}
	return best;
}

static enum fors_err fail_cable(const struct kinship *k, uint32_t leaf, unsigned port, struct fors_error *error)
{
	const struct fors_port *at = fors_net_port(k->net, leaf, port);

	return fors_fail(error, FORS_ENOTREE,
			 "not a three-level fat-tree: a cable joins two pods, %.64s[%u] - %.64s[%u]: it is crossed, or "
			 "surplus",
			 fors_node_name(k->net, leaf), port, fors_node_name(k->net, at->peer), at->peer_port);
}

/* A cable of this leaf that is crossed; or, where the leaf is of no core, one to another core than its first. */
static enum fors_err check_leaf(struct kinship *k, uint32_t leaf, struct fors_error *error)
{
	uint32_t own = has_core(k, leaf) ? core_of(k, leaf) : FORS_NONE;

	for (unsigned port = 1; port <= k->net->node[leaf].nports; port++) {
		uint32_t mid = peer_of(k, leaf, port, FORS_PODS_MID),
			 core = mid == FORS_NONE ? FORS_NONE : core_of_mid(k, mid);

		if (core == FORS_NONE)
			continue;
		if (own == FORS_NONE)
			own = core;
		if (core != own)
			return fail_cable(k, leaf, port, error);
	}
	return FORS_OK;
}

/* Leaves of cores first: where one of them has the cable it is that one. */
static enum fors_err check_leaves(struct kinship *k, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned pass = 0; !err && pass < 2; pass++)
		for (uint32_t node = 0; !err && node < k->net->nnodes; node++)
			if (is_on(k, node, FORS_PODS_LEAF) && has_core(k, node) == !pass)
				err = check_leaf(k, node, error);
	return err;
}

/* ---- tops that are leaves ---- */

static enum fors_err check_tops(struct kinship *k, const uint32_t *pod, struct fors_error *error)
{
	for (uint32_t node = 0; node < k->net->nnodes; node++) {
		uint32_t first = FORS_NONE, other = FORS_NONE;

		if (k->level[node] != FORS_PODS_TOP || !k->adapters[node])
			continue;
		count_degree(k, node);
		if (!are_kin(look_at(k, node, false), k->degree[node]))
			continue;
		for (unsigned port = 1; port <= k->net->node[node].nports; port++) {
			uint32_t mid = peer_of(k, node, port, FORS_PODS_MID);

			if (mid == FORS_NONE || pod[mid] == FORS_NONE)
				continue;
			first = first == FORS_NONE ? pod[mid] : first;
			other = pod[mid] != first ? mid : other;
		}
		if (other != FORS_NONE)
			return fors_fail(
				error, FORS_ENOTREE,
				"not a three-level fat-tree: %.64s has servers, and cables of a leaf, but one to %.64s "
				"of another pod",
				fors_node_name(k->net, node), fors_node_name(k->net, other));
	}
	return FORS_OK;
}

enum fors_err fors_pods_crossed(const struct fors_net *net, const uint8_t *level, const uint32_t *pod,
				const uint32_t *adapters, bool has_roots, struct fors_error *error)
{
	struct kinship k = {.net = net, .level = level, .adapters = adapters, .has_roots = has_roots};
	bool plain = false;
	enum fors_err err = kinship_make(&k, error);

	for (uint32_t node = 0; !err && node < net->nnodes; node++)
		if (is_on(&k, node, FORS_PODS_LEAF))
			count_degree(&k, node);
	if (!err)
		err = are_plain(&k, pod, &plain, error);
	for (uint32_t node = 0; !err && !plain && node < net->nnodes; node++)
		if (is_on(&k, node, FORS_PODS_LEAF))
			look_at(&k, node, true);
	if (!err && !plain)
		err = check_leaves(&k, error);
	if (!err && !has_roots)
		err = check_tops(&k, pod, error);
	kinship_clear(&k);
	return err;
}
