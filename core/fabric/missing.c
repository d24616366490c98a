/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * missing.c - cables that a switch lacks and its siblings have.
 *
 * A text of a fabric shows what lives. A cable that died before the text was written is not in it, and nothing in the
 * text says that it ever was. But fat-trees are regular: switches of one level that hang together by the level above
 * are siblings (all leaves of two levels; of three the leaves of a pod, and the middle switches of a plane), and each
 * has as many cables to a switch above as the others. So for each switch above the siblings are counted by their
 * cables to it. Where at least three of four agree on a number, those with fewer cables are told. That is evidence and
 * no proof: such a cable may never have been there. What all siblings lack nobody sees.
 *
 * Completing three levels. A tree that lacks a few cables from the beginning is a regular tree with something dead,
 * and plans best as one: homes of servers follow from what the tree would be with all of it alive, and what lost its
 * way goes round it. So what was never seen is put to what was, and never lives.
 *
 * What lacks is found by comparison. In a regular tree a leaf has as many cables to each middle switch of its pod as
 * any other leaf has, in any pod, and a middle switch to each top of its plane likewise: in both stages all pairs of
 * switches that belong together have the same number. Where at least three of four pairs of a stage agree on one,
 * pairs with fewer are completed. Where they do not, the stage is what it was: by design, or too much is missing for
 * anybody to say. What belongs together: a switch below, and one above that has a cable to any of its group (a pod's
 * leaves, a plane's middle switches). A switch without any cable up is compared with nobody.
 */
#include "missing.h"

#include <stdlib.h>

/* Between two switches there are so many cables. */
struct pair {
	uint32_t high, low, cables;
};

struct comparison {
	const struct fors_fattree *tree;
	struct pair *pair; /* by the switch above, then the one below */
	uint32_t npairs;
	uint32_t *group; /* per switch: a root of siblings, as the lower end of cables; behind them as the higher end */
	uint32_t *siblings; /* per root: how many switches are together */
	struct fors_missing *found;
	uint32_t nfound;
	struct fors_unclear unclear;
};

static int by_high(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	return x->low < y->low ? -1 : x->low > y->low;
}

/* Cables that join the same two switches become one pair. */
static void merge_pairs(struct comparison *c)
{
	uint32_t kept = 0;

	qsort(c->pair, c->npairs, sizeof(*c->pair), by_high);
	for (uint32_t i = 0; i < c->npairs; i++) {
		if (kept && !by_high(&c->pair[kept - 1], &c->pair[i]))
			c->pair[kept - 1].cables++;
		else
			c->pair[kept++] = c->pair[i];
	}
	c->npairs = kept;
}

static void list_pairs(struct comparison *c)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < c->tree->ncables; i++)
		if (c->tree->kind->get(c->tree, i, &cable))
			c->pair[c->npairs++] = (struct pair){cable.high, cable.low, 1};
	merge_pairs(c);
}

static uint32_t root_of(uint32_t *group, uint32_t i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

/* A middle switch is the higher end of some cables and the lower end of others: two rows. */
static void find_siblings(struct comparison *c)
{
	uint32_t nswitches = c->tree->nswitches;

	for (uint32_t i = 0; i < 2 * nswitches; i++)
		c->group[i] = i;
	for (uint32_t i = 0; i < c->npairs; i++)
		c->group[root_of(c->group, c->pair[i].low)] = root_of(c->group, nswitches + c->pair[i].high);
	for (uint32_t low = 0; low < nswitches; low++)
		c->siblings[root_of(c->group, low)]++;
}

/* How many of pair[count] have so many cables? */
static uint32_t count_equal(const struct pair *pair, uint32_t count, uint32_t cables)
{
	uint32_t equal = 0;

	for (uint32_t i = 0; i < count; i++)
		equal += pair[i].cables == cables;
	return equal;
}

/* How many cables most have, where at least three of four siblings do; 0: they do not agree. */
static uint32_t agreed(const struct pair *pair, uint32_t count, uint32_t siblings)
{
	for (uint32_t i = 0; i <= count / 4; i++) /* among a quarter and one there is one of three quarters */
		if (4 * (uint64_t)count_equal(pair, count, pair[i].cables) >= 3 * (uint64_t)siblings)
			return pair[i].cables;
	return 0;
}

/* Siblings do not agree on how many cables they have to the switch above. */
static void note_unclear(struct comparison *c, const struct pair *pair, uint32_t siblings)
{
	if (!c->unclear.count++) {
		c->unclear.high = pair->high;
		c->unclear.low = pair->low;
		c->unclear.siblings = siblings;
	}
}

/* The siblings below one switch, pair[count] of them with a cable to it. */
static void compare(struct comparison *c, const struct pair *pair, uint32_t count)
{
	uint32_t root = root_of(c->group, pair->low), wanted = agreed(pair, count, c->siblings[root]), next = 0;
	struct fors_missing one = {.high = pair->high, .wanted = wanted, .siblings = c->siblings[root] - 1};

	if (!wanted)
		note_unclear(c, pair, c->siblings[root]);
	one.agree = wanted ? count_equal(pair, count, wanted) : 0;
	for (uint32_t low = 0; wanted && low < c->tree->nswitches; low++) {
		if (root_of(c->group, low) != root)
			continue;
		while (next < count && pair[next].low < low)
			next++;
		one.low = low;
		one.has = next < count && pair[next].low == low ? pair[next].cables : 0;
		if (one.has < wanted)
			c->found[c->nfound++] = one;
	}
}

/* At most a quarter of the siblings of each switch are told, so there is room: a third of the pairs, and one. */
static enum fors_err make_room(struct comparison *c, struct fors_error *error)
{
	size_t ncables = c->tree->ncables, nswitches = c->tree->nswitches;

	c->pair = calloc(ncables + 1, sizeof(*c->pair));
	c->found = calloc(ncables + 1, sizeof(*c->found));
	c->group = calloc(2 * nswitches + 1, sizeof(*c->group));
	c->siblings = calloc(2 * nswitches + 1, sizeof(*c->siblings));
	return c->pair && c->found && c->group && c->siblings ? FORS_OK : fors_fail_memory(error);
}

static void compare_all(struct comparison *c)
{
	list_pairs(c);
	find_siblings(c);
	for (uint32_t first = 0, end; first < c->npairs; first = end) {
		for (end = first; end < c->npairs && c->pair[end].high == c->pair[first].high;)
			end++;
		compare(c, &c->pair[first], end - first);
	}
}

enum fors_err fors_missing_list(struct fors_fattree tree, struct fors_missing **list, uint32_t *count,
				struct fors_unclear *unclear, struct fors_error *error)
{
	struct comparison c = {.tree = &tree};
	enum fors_err err = make_room(&c, error);

	if (!err) {
		compare_all(&c);
		*list = c.found;
		*count = c.nfound;
		*unclear = c.unclear;
	} else {
		free(c.found);
	}
	free(c.pair);
	free(c.group);
	free(c.siblings);
	return err;
}

/* --- completing ---------------------------------------------------------------------------------------------------- */

/* The cables between two neighbouring levels. */
struct stage {
	const struct fors_pods *pods;
	const struct fors_pods_switch *low, *high;
	uint32_t nlow, nhigh, ngroups;
	bool is_upper;
	uint8_t *cables; /* [low * nhigh + high] */
	bool *belongs;	 /* [group * nhigh + high] */
	bool *has_any;	 /* per low */
};

static uint32_t group_of(const struct stage *s, uint32_t low)
{
	return s->is_upper ? s->low[low].plane : s->low[low].pod;
}

static void count_cables(struct stage *s, uint32_t low)
{
	const struct fors_pods *pods = s->pods;
	uint32_t node = s->low[low].node, group = group_of(s, low);

	for (unsigned port = 1; group != FORS_NONE && port <= pods->known->node[node].nports; port++) {
		uint32_t peer = fors_pods_peer(pods, node, port);

		if (peer == FORS_NONE || pods->level[peer] != (s->is_upper ? FORS_PODS_TOP : FORS_PODS_MID))
			continue;
		s->cables[(size_t)low * s->nhigh + pods->number[peer]]++;
		s->belongs[(size_t)group * s->nhigh + pods->number[peer]] = true;
		s->has_any[low] = true;
	}
}

static bool is_pair(const struct stage *s, uint32_t low, uint32_t high)
{
	return s->has_any[low] && s->belongs[(size_t)group_of(s, low) * s->nhigh + high];
}

/* The number of cables that at least three of four pairs have; 0: there is none. */
static uint32_t agreed_pairs(const struct stage *s)
{
	uint64_t pairs[UINT8_MAX + 1] = {0}, all = 0;
	uint32_t most = 0;

	for (uint32_t low = 0; low < s->nlow; low++)
		for (uint32_t high = 0; high < s->nhigh; high++)
			if (is_pair(s, low, high)) {
				pairs[s->cables[(size_t)low * s->nhigh + high]]++;
				all++;
			}
	for (uint32_t n = 1; n <= UINT8_MAX; n++)
		most = pairs[n] > pairs[most] || !most ? n : most;
	return 4 * pairs[most] >= 3 * all ? most : 0;
}

/* The last free port: cables to switches mostly stand behind those to servers. */
static unsigned free_port(const struct fors_net *net, uint32_t node)
{
	unsigned port = net->node[node].nports;

	while (port && fors_net_port(net, node, port)->peer != FORS_NONE)
		port--;
	return port;
}

static bool has_ports(const struct fors_net *net, uint32_t low, uint32_t high)
{
	return free_port(net, low) && free_port(net, high);
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

static enum fors_err complete_stage(struct stage *s, struct fors_net *net, uint32_t *added, struct fors_error *error)
{
	uint32_t wanted;

	s->cables = calloc((size_t)s->nlow * s->nhigh + 1, sizeof(*s->cables));
	s->belongs = calloc((size_t)s->ngroups * s->nhigh + 1, sizeof(*s->belongs));
	s->has_any = calloc(s->nlow + (size_t)1, sizeof(*s->has_any));
	if (!s->cables || !s->belongs || !s->has_any)
		return fors_fail_memory(error);
	for (uint32_t low = 0; low < s->nlow; low++)
		count_cables(s, low);
	wanted = agreed_pairs(s);
	for (uint32_t low = 0; wanted && low < s->nlow; low++)
		for (uint32_t high = 0; high < s->nhigh; high++) {
			uint32_t has = s->cables[(size_t)low * s->nhigh + high];

			if (is_pair(s, low, high) && has < wanted)
				*added += net ? plug_in(net, s->low[low].node, s->high[high].node, wanted - has)
					      : has_ports(s->pods->known, s->low[low].node, s->high[high].node);
		}
	return FORS_OK;
}

static void clear_stage(struct stage *s)
{
	free(s->cables);
	free(s->belongs);
	free(s->has_any);
}

enum fors_err fors_complete(const struct fors_pods *pods, struct fors_net *net, uint32_t *added,
			    struct fors_error *error)
{
	struct stage stages[] = {
		{.pods = pods,
		 .low = pods->leaf,
		 .nlow = pods->nleaves,
		 .high = pods->mid,
		 .nhigh = pods->nmids,
		 .ngroups = pods->npods},
		{.pods = pods,
		 .low = pods->mid,
		 .nlow = pods->nmids,
		 .high = pods->top,
		 .nhigh = pods->ntops,
		 .ngroups = pods->nplanes,
		 .is_upper = true},
	};
	enum fors_err err = FORS_OK;

	*added = 0;
	for (unsigned i = 0; !err && i < 2; i++)
		err = complete_stage(&stages[i], net, added, error);
	clear_stage(&stages[0]);
	clear_stage(&stages[1]);
	return err;
}
