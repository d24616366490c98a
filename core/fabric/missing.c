/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * missing.c - cables that a switch lacks and its siblings have.
 *
 * A text of a fabric shows what lives. A cable that died before the text was written is not in it, and nothing in the
 * text says that it ever was. But fat-trees are regular: a leaf has as many cables to each switch above it (of three
 * levels: to each middle switch of its pod) as any other leaf, and a middle switch to each top of its plane likewise.
 * So in each stage of cables all pairs of switches that belong together have the same number. Where at least three of four
 * pairs agree on one, pairs with fewer are told. That is evidence and no proof: such a cable may never have been
 * there. Where they do not agree, the stage is what it was: by design, or too much is missing for anybody to say. What all
 * lack nobody sees. What belongs together: a switch below, and one above that has a cable to any of its group (all
 * leaves; a pod's leaves, a plane's middle switches). A switch without any cable up is compared with nobody.
 *
 * Completing three levels. A tree that lacks a few cables from the beginning is a regular tree with something dead,
 * and plans best as one: homes of servers follow from what the tree would be with all of it alive, and what lost its
 * way goes round it. So what was never seen is put to what was, and never lives.
 */
#include "missing.h"

#include <stdlib.h>

#define STAGES 2

/* The cables between two neighbouring levels; switches are counted from the first of their level. */
struct stage {
	const struct fors_fattree *tree;
	uint32_t low, nlow, high, nhigh; /* from which number on, and how many */
	uint32_t ngroups;
	uint8_t *cables; /* [low * nhigh + high] */
	bool *belongs;	 /* [group * nhigh + high] */
	bool *has_any;	 /* per low */
};

static uint32_t group_of(const struct stage *s, uint32_t low)
{
	const struct fors_pods *pods = s->tree->pods;

	if (!pods)
		return 0;
	return s->low ? pods->mid[low].plane : pods->leaf[low].pod;
}

static void count_cables(const struct stage *s)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < s->tree->ncables; i++) {
		uint32_t low, high;

		if (!s->tree->kind->get(s->tree, i, &cable) || cable.low - s->low >= s->nlow ||
		    cable.high - s->high >= s->nhigh)
			continue;
		low = cable.low - s->low;
		high = cable.high - s->high;
		s->cables[(size_t)low * s->nhigh + high]++;
		s->belongs[(size_t)group_of(s, low) * s->nhigh + high] = true;
		s->has_any[low] = true;
	}
}

static bool is_pair(const struct stage *s, uint32_t low, uint32_t high)
{
	return s->has_any[low] && s->belongs[(size_t)group_of(s, low) * s->nhigh + high];
}

static uint32_t cables_of(const struct stage *s, uint32_t low, uint32_t high)
{
	return s->cables[(size_t)low * s->nhigh + high];
}

/* The number of cables that at least three of four pairs have; 0: there is none. */
static uint32_t agreed(const struct stage *s)
{
	uint64_t pairs[UINT8_MAX + 1] = {0}, all = 0;
	uint32_t most = 0;

	for (uint32_t low = 0; low < s->nlow; low++)
		for (uint32_t high = 0; high < s->nhigh; high++)
			if (is_pair(s, low, high)) {
				pairs[cables_of(s, low, high)]++;
				all++;
			}
	for (uint32_t n = 1; n <= UINT8_MAX; n++)
		most = pairs[n] > pairs[most] || !most ? n : most;
	return 4 * pairs[most] >= 3 * all ? most : 0;
}

static void count_siblings(const struct stage *s, uint32_t low, uint32_t high, struct fors_missing *missing)
{
	for (uint32_t other = 0; other < s->nlow; other++) {
		if (other == low || !s->has_any[other] || group_of(s, other) != group_of(s, low))
			continue;
		missing->siblings++;
		missing->agree += cables_of(s, other, high) == missing->wanted;
	}
}

/* What pairs lack that have fewer than they want. At most a quarter of the pairs do, so a third of the cables is room enough. */
static void list_missing(const struct stage *s, uint32_t wanted, struct fors_missing *list, uint32_t *count)
{
	for (uint32_t low = 0; low < s->nlow; low++)
		for (uint32_t high = 0; high < s->nhigh; high++) {
			uint32_t has = cables_of(s, low, high);

			if (!is_pair(s, low, high) || has >= wanted)
				continue;
			list[*count] = (struct fors_missing){
				.low = s->low + low, .high = s->high + high, .has = has, .wanted = wanted};
			count_siblings(s, low, high, &list[(*count)++]);
		}
}

static enum fors_err compare(struct stage *s, struct fors_missing *list, uint32_t *count, bool *is_unclear,
			     struct fors_error *error)
{
	bool has_memory;
	uint32_t wanted;

	s->cables = calloc((size_t)s->nlow * s->nhigh + 1, sizeof(*s->cables));
	s->belongs = calloc((size_t)s->ngroups * s->nhigh + 1, sizeof(*s->belongs));
	s->has_any = calloc(s->nlow + (size_t)1, sizeof(*s->has_any));
	has_memory = s->cables && s->belongs && s->has_any;
	if (has_memory) {
		count_cables(s);
		wanted = agreed(s);
		list_missing(s, wanted, list, count);
		*is_unclear = !wanted;
	}
	free(s->cables);
	free(s->belongs);
	free(s->has_any);
	return has_memory ? FORS_OK : fors_fail_memory(error);
}

enum fors_err fors_missing_list(const struct fors_fattree *tree, struct fors_missing **list, uint32_t *count,
				unsigned *unclear, struct fors_error *error)
{
	const struct fors_pods *pods = tree->pods;
	uint32_t nabove = pods ? pods->nmids : tree->nswitches - tree->nleaves, above = tree->nleaves;
	struct stage stages[STAGES] = {
		{tree, 0, tree->nleaves, above, nabove, pods ? pods->npods : 1, NULL, NULL, NULL},
		{tree, above, nabove, above + nabove, pods ? pods->ntops : 0, pods ? pods->nplanes : 0, NULL, NULL,
		 NULL},
	};
	struct fors_missing *found = calloc(tree->ncables + (size_t)1, sizeof(*found));
	enum fors_err err = found ? FORS_OK : fors_fail_memory(error);
	uint32_t nfound = 0;
	bool is_unclear = false;

	*unclear = 0;
	for (unsigned i = 0; !err && i < (pods ? STAGES : 1); i++) {
		err = compare(&stages[i], found, &nfound, &is_unclear, error);
		if (!err && is_unclear && !*unclear)
			*unclear = i + 1;
	}
	if (err) {
		free(found);
		return err;
	}
	*list = found;
	*count = nfound;
	return FORS_OK;
}

/* --- completing ---------------------------------------------------------------------------------------------------- */

/* The last free port: cables to switches mostly stand behind those to servers. */
static unsigned free_port(const struct fors_net *net, uint32_t node)
{
	unsigned port = net->node[node].nports;

	while (port && fors_net_port(net, node, port)->peer != FORS_NONE)
		port--;
	return port;
}

static uint32_t plug_in(struct fors_net *net, uint32_t low, uint32_t high, uint32_t count)
{
	uint32_t added = 0;

	for (; added < count; added++) {
		unsigned low_port = free_port(net, low), high_port = free_port(net, high);

		if (!low_port || !high_port || fors_net_connect(net, low, low_port, high, high_port, NULL))
			break;
	}
	return added;
}

enum fors_err fors_complete(const struct fors_pods *pods, struct fors_net *net, uint32_t *added,
			    struct fors_error *error)
{
	const struct fors_fattree tree = fors_fattree_of_pods(pods);
	struct fors_missing *list = NULL;
	uint32_t count = 0;
	unsigned unclear;
	enum fors_err err = fors_missing_list(&tree, &list, &count, &unclear, error);

	*added = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t low = fors_net_find_guid(pods->known, tree.kind->at(&tree, list[i].low).guid);
		uint32_t high = fors_net_find_guid(pods->known, tree.kind->at(&tree, list[i].high).guid);

		*added += net ? plug_in(net, low, high, list[i].wanted - list[i].has)
			      : free_port(pods->known, low) && free_port(pods->known, high);
	}
	free(list);
	return err;
}
