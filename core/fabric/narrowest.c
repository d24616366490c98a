/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * narrowest.c - where one more dead cable costs most, by the rule.
 *
 * Of N servers n are in one group: below a leaf, or in a pod of three levels. Each of the n sends to each of the N - n
 * others, over one of the u live cables up from the group, and a cable carries one flow in a phase. So the exchange
 * takes at least n(N-n)/u phases, and at least N. With one of these cables dead u is u - 1. The group of the greatest
 * limit is where the next dead cable costs most. No tables and no schedule allow less; with one LID for each server it
 * may cost more.
 */
#include "narrowest.h"

#include <stdlib.h>

/* What a leaf or a pod has. */
struct group {
	uint32_t servers, uplinks;
	uint32_t cable; /* the first of its uplinks */
};

struct groups {
	const struct fors_fattree *tree;
	uint32_t npods;
	struct group *group; /* leaves, then pods */
};

/* The pod that a switch of three levels is in, FORS_NONE: none. */
static uint32_t pod_of(const struct fors_fattree *tree, uint32_t number)
{
	const struct fors_pods *pods = tree->pods;

	if (!pods || number >= tree->nleaves + pods->nmids)
		return FORS_NONE;
	return number < tree->nleaves ? pods->leaf[number].pod : pods->mid[number - tree->nleaves].pod;
}

static void add_uplink(struct group *group, uint32_t cable)
{
	if (!group->uplinks++)
		group->cable = cable;
}

static void count_uplinks(const struct groups *g)
{
	struct fors_fattree_cable cable;
	uint32_t pod;

	for (uint32_t i = 0; i < g->tree->ncables; i++) {
		if (!g->tree->kind->get(g->tree, i, &cable) || cable.state != FORS_CABLE_LIVE)
			continue;
		pod = pod_of(g->tree, cable.low);
		if (cable.low < g->tree->nleaves)
			add_uplink(&g->group[cable.low], i);
		else if (pod != FORS_NONE)
			add_uplink(&g->group[g->tree->nleaves + pod], i);
	}
}

static void count_servers(const struct groups *g)
{
	struct fors_fattree_slot stand;
	uint32_t pod;

	for (uint32_t i = 0; i < g->tree->nslots; i++) {
		if (!g->tree->kind->slot(g->tree, i, &stand) || !stand.plays)
			continue;
		pod = pod_of(g->tree, stand.leaf);
		g->group[stand.leaf].servers++;
		if (pod != FORS_NONE)
			g->group[g->tree->nleaves + pod].servers++;
	}
}

/* What the rule says of a group that lost a cable. */
static struct fors_narrowest rule(const struct groups *g, uint32_t i, uint32_t total)
{
	const struct group *group = &g->group[i];
	uint64_t flows = (uint64_t)group->servers * (total - group->servers), up = group->uplinks;
	struct fors_narrowest n = {.is_pod = i >= g->tree->nleaves,
				   .servers = group->servers,
				   .uplinks = group->uplinks,
				   .cable = group->cable,
				   .limit = total};

	n.number = n.is_pod ? i - g->tree->nleaves : i;
	n.is_there = flows && up;
	n.is_cut = n.is_there && up == 1;
	if (n.is_there && up > 1 && (flows + up - 2) / (up - 1) > total)
		n.limit = (flows + up - 2) / (up - 1);
	return n;
}

/* How near a group is to its limit, as a fraction: of those that lose nothing the nearest comes first. */
static bool is_narrower(const struct fors_narrowest *a, const struct fors_narrowest *b, uint32_t total)
{
	uint64_t left, right;

	if (!a->is_there || !b->is_there)
		return a->is_there;
	if (a->is_cut || b->is_cut)
		return a->is_cut && !b->is_cut;
	left = (uint64_t)a->servers * (total - a->servers) * (b->uplinks - 1);
	right = (uint64_t)b->servers * (total - b->servers) * (a->uplinks - 1);
	return left > right;
}

enum fors_err fors_narrowest_find(struct fors_fattree tree, struct fors_narrowest *narrowest, struct fors_error *error)
{
	struct groups g = {.tree = &tree, .npods = tree.pods ? tree.pods->npods : 0};
	uint32_t total = fors_fattree_sum(&tree).servers;
	struct fors_narrowest found = {.is_there = false}, one;

	g.group = calloc(tree.nleaves + (size_t)g.npods + 1, sizeof(*g.group));
	if (!g.group)
		return fors_fail_memory(error);
	count_uplinks(&g);
	count_servers(&g);
	for (uint32_t i = 0; i < tree.nleaves + g.npods; i++) {
		one = rule(&g, i, total);
		if (is_narrower(&one, &found, total))
			found = one;
	}
	free(g.group);
	*narrowest = found;
	return FORS_OK;
}
