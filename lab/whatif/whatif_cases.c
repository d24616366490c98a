/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* whatif_cases.c - which failures `fors whatif` asks about. */
#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/base/text.h"

/* All live cables between switches of the tree; in a net without one, between any. */
struct cables {
	struct whatif_cut *cut;
	uint32_t count;
};

static int out_of_memory(void)
{
	cli_error("out of memory");
	return CLI_BAD;
}

/* Each once, by the end that comes first. */
static bool find_any_cables(const struct fors_net *net, struct cables *cables)
{
	cables->cut = calloc((size_t)net->nports + 1, sizeof(*cables->cut));
	for (uint32_t node = 0; cables->cut && node < net->nnodes; node++)
		for (unsigned port = 1; net->node[node].type == FORS_SWITCH && port <= net->node[node].nports; port++) {
			uint32_t peer = fors_peer_switch(net, node, port);

			if (peer != FORS_NONE && peer > node)
				cables->cut[cables->count++] = (struct whatif_cut){node, (uint8_t)port};
		}
	return cables->cut;
}

static bool find_cables(const struct fors_fattree *tree, struct cables *cables)
{
	struct fors_fattree_cable cable;

	cables->cut = calloc(tree->ncables + (size_t)1, sizeof(*cables->cut));
	for (uint32_t i = 0; cables->cut && i < tree->ncables; i++)
		if (tree->kind->get(tree, i, &cable) && cable.state == FORS_CABLE_LIVE)
			cables->cut[cables->count++] =
				(struct whatif_cut){tree->kind->at(tree, cable.low).node, cable.low_port};
	return cables->cut;
}

/* What people call the nodes: the description of a switch that no other node has, else the id. */
static const char **name_switches(const struct fors_net *net)
{
	const char **name = calloc(net->nnodes + (size_t)1, sizeof(*name));

	for (uint32_t i = 0; name && i < net->nnodes; i++) {
		const char *desc = net->node[i].desc;
		bool is_unique = net->node[i].type == FORS_SWITCH && *desc;

		for (uint32_t k = 0; is_unique && k < net->nnodes; k++)
			is_unique = k == i || (strcmp(net->node[k].desc, desc) && strcmp(net->node[k].id, desc));
		name[i] = is_unique ? desc : net->node[i].id;
	}
	return name;
}

/* "Leaf00[21] - Spine00[1], ..."; a spine by its own name. */
static char *name_of(const struct whatif *whatif, const struct whatif_case *one, uint32_t spine)
{
	const struct fors_net *net = whatif->intact.net;
	const char *const *name = whatif->name;
	struct fors_buffer out = {0};
	char *text = NULL;

	if (one->kind == WHATIF_INTACT)
		return strdup("nothing");
	if (one->kind == WHATIF_SPINE)
		fors_buffer_print(&out, one->ncut == 1 ? "%s, its only cable" : "%s, all %u cables", name[spine],
				  one->ncut);
	for (uint32_t i = 0; one->kind != WHATIF_SPINE && i < one->ncut; i++) {
		const struct fors_port *port = fors_net_port(net, one->cut[i].node, one->cut[i].port);

		fors_buffer_print(&out, "%s%s[%u] - %s[%u]", i ? ", " : "", name[one->cut[i].node], one->cut[i].port,
				  name[port->peer], port->peer_port);
	}
	return fors_buffer_finish(&out, &text, NULL, NULL) ? NULL : text;
}

/* Append a case that cuts `ncut` of the cables, copied. */
static bool add(struct whatif *whatif, enum whatif_kind kind, const struct whatif_cut *cut, uint32_t ncut,
		uint32_t spine)
{
	struct whatif_case *one = &whatif->cases[whatif->ncases];

	*one = (struct whatif_case){.kind = kind, .ncut = ncut};
	one->cut = malloc((ncut + (size_t)1) * sizeof(*cut));
	if (!one->cut)
		return false;
	if (ncut)
		memcpy(one->cut, cut, ncut * sizeof(*cut));
	whatif->ncases++;
	one->name = name_of(whatif, one, spine);
	return one->name;
}

static bool add_links(struct whatif *whatif, const struct cables *cables)
{
	bool is_good = add(whatif, WHATIF_INTACT, NULL, 0, FORS_NONE);

	for (uint32_t i = 0; is_good && i < cables->count; i++)
		is_good = add(whatif, WHATIF_LINK, &cables->cut[i], 1, FORS_NONE);
	return is_good;
}

/* All cables of a switch at once; cut: room for all. */
static bool add_switch(struct whatif *whatif, const struct cables *cables, uint32_t node, struct whatif_cut *cut)
{
	const struct fors_net *net = whatif->intact.net;
	uint32_t n = 0;

	for (uint32_t i = 0; i < cables->count; i++)
		if (cables->cut[i].node == node ||
		    fors_net_port(net, cables->cut[i].node, cables->cut[i].port)->peer == node)
			cut[n++] = cables->cut[i];
	return !n || add(whatif, WHATIF_SPINE, cut, n, node);
}

static bool has_servers(const struct fors_net *net, uint32_t node)
{
	for (unsigned port = 1; port <= net->node[node].nports; port++) {
		uint32_t peer = fors_net_port(net, node, port)->peer;

		if (peer != FORS_NONE && net->node[peer].type == FORS_CA)
			return true;
	}
	return false;
}

/* Spines, middle switches and tops; in a net without a tree, switches that have no servers. */
static bool add_spines(struct whatif *whatif, const struct cables *cables)
{
	const struct fors_fattree *tree = &whatif->intact.tree;
	const struct fors_net *net = whatif->intact.net;
	struct whatif_cut *cut = malloc((cables->count + (size_t)1) * sizeof(*cut));
	bool is_good = cut;

	for (uint32_t i = tree->nleaves; is_good && i < tree->nswitches; i++)
		is_good = add_switch(whatif, cables, tree->kind->at(tree, i).node, cut);
	for (uint32_t node = 0; !tree->kind && is_good && node < net->nnodes; node++)
		if (net->node[node].type == FORS_SWITCH && !has_servers(net, node))
			is_good = add_switch(whatif, cables, node, cut);
	free(cut);
	return is_good;
}

static int by_place(const void *a, const void *b)
{
	const struct whatif_cut *x = a, *y = b;

	return x->node != y->node ? (x->node < y->node ? -1 : 1) : (int)x->port - (int)y->port;
}

/* k different cables, in order, so that a set has one name. */
static void draw(struct fors_random *random, struct cables *cables, unsigned k, struct whatif_cut *drawn)
{
	for (uint32_t i = 0; i < k; i++) {
		uint32_t other = i + fors_random_below(random, cables->count - i);
		struct whatif_cut cut = cables->cut[other];

		cables->cut[other] = cables->cut[i];
		cables->cut[i] = cut;
		drawn[i] = cut;
	}
	qsort(drawn, k, sizeof(*drawn), by_place);
}

static bool add_random(struct whatif *whatif, struct cables *cables, unsigned k, unsigned count, unsigned seed)
{
	struct fors_random random = {seed};
	struct whatif_cut *drawn = malloc((k + (size_t)1) * sizeof(*drawn));
	bool is_good = drawn;

	for (unsigned i = 0; is_good && i < count; i++) {
		draw(&random, cables, k, drawn);
		is_good = add(whatif, WHATIF_RANDOM, drawn, k, FORS_NONE);
	}
	free(drawn);
	return is_good;
}

int whatif_list(struct whatif *whatif, unsigned k, unsigned count, unsigned seed)
{
	const struct fors_fattree *tree = &whatif->intact.tree;
	struct cables cables = {0};
	bool is_good = tree->kind ? find_cables(tree, &cables) : find_any_cables(whatif->intact.net, &cables);

	if (!is_good)
		return out_of_memory();
	if (count && (!k || k > cables.count)) {
		free(cables.cut);
		return cli_usage_error("--random has to be a number from 1 to %u, the cables between %s", cables.count,
				       whatif->intact.fabric ? "leaves and spines" : "switches");
	}
	whatif->cases = calloc(cables.count + whatif->intact.net->nnodes + (size_t)count + 1, sizeof(*whatif->cases));
	whatif->name = name_switches(whatif->intact.net);
	is_good = whatif->cases && whatif->name && add_links(whatif, &cables) && add_spines(whatif, &cables) &&
		  add_random(whatif, &cables, k, count, seed);
	free(cables.cut);
	whatif->result = is_good ? calloc((size_t)whatif->ncases * whatif->nengines, sizeof(*whatif->result)) : NULL;
	return whatif->result ? CLI_GOOD : out_of_memory();
}
