/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fattree.c - what trees of two levels and of three have in common: see fattree.h.
 *
 * Two leaves can reach each other if going up from both leads to a common switch. So for each leaf with servers that
 * take part the switches above are gathered, as a set; two levels have found the same out by lanes (fabric.c).
 */
#include "fattree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/base/print.h"
#include "core/net/rates.h"
#include "places.h"

/* --- two levels: cable leaf * nlanes + lane; leaves, then spines ------------------------------------------------- */

static bool get2(const struct fors_fattree *c, uint32_t i, struct fors_fattree_cable *plugged)
{
	const struct fors_fabric *f = c->fabric;
	const struct fors_cable *cable = &f->cable[i];

	*plugged = (struct fors_fattree_cable){.low = i / f->nlanes,
					       .high = f->nleaves + f->lane[i % f->nlanes].spine,
					       .low_port = cable->leaf_port,
					       .high_port = cable->spine_port,
					       .state = cable->state,
					       .drained = cable->drained,
					       .capacity = cable->capacity,
					       .is_degraded = cable->is_degraded,
					       .changes = cable->changes,
					       .since_ms = cable->since_ms};
	return cable->state != FORS_CABLE_ABSENT;
}

static void put2(const struct fors_fattree *c, uint32_t i, const struct fors_fattree_cable *plugged)
{
	struct fors_cable *cable = &c->fabric->cable[i];

	cable->state = plugged->state;
	cable->drained = plugged->drained;
	cable->capacity = plugged->capacity;
	cable->is_degraded = plugged->is_degraded;
	cable->since_ms = plugged->since_ms;
	cable->changes = plugged->changes;
}

static struct fors_fattree_switch at2(const struct fors_fattree *c, uint32_t number)
{
	const struct fors_leaf *leaf = &c->fabric->leaf[number < c->nleaves ? number : 0];
	const struct fors_spine *spine = &c->fabric->spine[number < c->nleaves ? 0 : number - c->nleaves];

	return number < c->nleaves ? (struct fors_fattree_switch){leaf->guid, leaf->node, leaf->name}
				   : (struct fors_fattree_switch){spine->guid, spine->node, spine->name};
}

static uint32_t above2(const struct fors_fattree *c, uint32_t number, uint32_t *count)
{
	*count = number < c->nleaves ? c->fabric->nlanes : 0;
	return number < c->nleaves ? number * c->fabric->nlanes : 0;
}

static bool slot2(const struct fors_fattree *c, uint32_t i, struct fors_fattree_slot *stand)
{
	const struct fors_slot *slot = &c->fabric->slot[i];

	*stand = (struct fors_fattree_slot){.leaf = i / c->fabric->nslots,
					    .port = slot->leaf_port,
					    .ca_port = slot->ca_port,
					    .lmc = slot->lmc,
					    .lid = slot->lid,
					    .node = slot->node,
					    .guid = slot->guid,
					    .seen = slot->seen,
					    .name = fors_hosts_name(&c->fabric->missed, slot->seen),
					    .plays = slot->server != FORS_NONE,
					    .is_missed = slot->is_missed};
	return slot->leaf_port;
}

static uint32_t slots2(const struct fors_fattree *c, uint32_t leaf, uint32_t *count)
{
	*count = c->fabric->nslots;
	return leaf * c->fabric->nslots;
}

/* B: defined when all leaves have the same number of servers. */
static int64_t capacity_of(const struct fors_fabric *f)
{
	for (uint32_t leaf = 0; leaf < f->nleaves; leaf++)
		if (f->leaf[leaf].nservers != f->max_servers)
			return -1;
	return f->nservers ? (int64_t)f->max_servers - f->reduction : -1;
}

static void sum2(const struct fors_fattree *c, struct fors_fattree_sum *sum)
{
	sum->servers = c->fabric->nservers;
	sum->lmc = c->fabric->nservers ? c->fabric->lmc : -1;
	sum->spines = c->fabric->nspines;
	sum->reduction = c->fabric->reduction;
	sum->affected = c->fabric->affected_spines;
	sum->unreachable_pairs = c->fabric->unreachable_pairs;
	sum->capacity = capacity_of(c->fabric);
}

static enum fors_err recount2(const struct fors_fattree *c, struct fors_error *error)
{
	return fors_fabric_recount(c->fabric, error);
}

static void revive2(const struct fors_fattree *c, uint32_t number, uint32_t node)
{
	c->fabric->spine[number - c->nleaves].node = node;
}

struct fors_fattree fors_fattree_of_fabric(const struct fors_fabric *fabric)
{
	static const struct fors_fattree_kind kind = {
		.cable = "cable between a leaf and a spine",
		.spine = "spine",
		.spines = "spines",
		.get = get2,
		.put = put2,
		.at = at2,
		.above = above2,
		.slot = slot2,
		.slots = slots2,
		.sum = sum2,
		.recount = recount2,
		.revive = revive2,
	};

	return (struct fors_fattree){.kind = &kind,
				     .fabric = (struct fors_fabric *)fabric,
				     .net = fabric->net,
				     .nleaves = fabric->nleaves,
				     .nswitches = fabric->nleaves + fabric->nspines,
				     .ncables = fabric->nleaves * fabric->nlanes,
				     .nslots = fabric->nleaves * fabric->nslots};
}

/* --- three: the cable of a known port to the level above; leaves, then mids, then tops -------------------------- */

static struct fors_pods_switch *switch_of(const struct fors_fattree *c, uint32_t number)
{
	struct fors_pods *pods = c->pods;

	if (number < pods->nleaves)
		return &pods->leaf[number];
	number -= pods->nleaves;
	return number < pods->nmids ? &pods->mid[number] : &pods->top[number - pods->nmids];
}

/* The node of known that a port belongs to; its cable's other end knows. */
static uint32_t node_of(const struct fors_net *known, uint32_t i)
{
	const struct fors_port *port = &known->port[i];

	return port->peer == FORS_NONE ? FORS_NONE : fors_net_port(known, port->peer, port->peer_port)->peer;
}

static bool get3(const struct fors_fattree *c, uint32_t i, struct fors_fattree_cable *plugged)
{
	const struct fors_pods *pods = c->pods;
	uint32_t low = node_of(pods->known, i), high = pods->peer[i], now;
	bool is_there;

	if (low == FORS_NONE || high == FORS_NONE || !pods->level[low] || pods->level[high] <= pods->level[low] ||
	    pods->unseen[i])
		return false;
	is_there = pods->live[i] || pods->drained[i];
	*plugged = (struct fors_fattree_cable){.low = fors_pods_row(pods, low),
					       .high = fors_pods_row(pods, high),
					       .low_port = (uint8_t)(i - pods->known->node[low].first_port),
					       .high_port = pods->known->port[i].peer_port,
					       .state = pods->live[i] ? FORS_CABLE_LIVE : FORS_CABLE_DEAD,
					       .drained = pods->drained[i],
					       .capacity = pods->capacity[i],
					       .changes = pods->changes[i],
					       .since_ms = pods->since_ms[i]};
	now = is_there ? fors_pods_now(pods, low) : FORS_NONE;
	plugged->is_degraded = now != FORS_NONE && fors_net_port(pods->now, now, plugged->low_port)->is_degraded;
	return true;
}

static void put3(const struct fors_fattree *c, uint32_t i, const struct fors_fattree_cable *plugged)
{
	struct fors_pods *pods = c->pods;
	const struct fors_port *port = &pods->known->port[i];
	uint32_t end[2] = {i, pods->known->node[port->peer].first_port + port->peer_port};

	for (unsigned e = 0; e < 2; e++) {
		pods->live[end[e]] = plugged->state == FORS_CABLE_LIVE;
		pods->drained[end[e]] = plugged->drained;
		pods->capacity[end[e]] = plugged->capacity;
		pods->since_ms[end[e]] = plugged->since_ms;
		pods->changes[end[e]] = plugged->changes;
	}
}

static struct fors_fattree_switch at3(const struct fors_fattree *c, uint32_t number)
{
	const struct fors_pods_switch *at = switch_of(c, number);
	const struct fors_net *known = c->pods->known;

	return (struct fors_fattree_switch){known->node[at->node].guid, at->now, fors_node_name(known, at->node)};
}

static uint32_t above3(const struct fors_fattree *c, uint32_t number, uint32_t *count)
{
	const struct fors_node *node = &c->pods->known->node[switch_of(c, number)->node];

	*count = node->nports + 1u;
	return node->first_port;
}

/* The adapter that was at a slot last; of known. */
static uint32_t seen_at(const struct fors_pods *pods, const struct fors_pods_slot *slot)
{
	return fors_net_port(pods->known, pods->leaf[slot->leaf].node, slot->port)->peer;
}

/* A host that was moved is not missed where it was. */
static bool is_plugged_in(const struct fors_net *now, uint32_t node)
{
	for (unsigned port = 1; node != FORS_NONE && port <= now->node[node].nports; port++)
		if (fors_net_port(now, node, port)->peer != FORS_NONE)
			return true;
	return false;
}

static bool slot3(const struct fors_fattree *c, uint32_t i, struct fors_fattree_slot *stand)
{
	const struct fors_pods *pods = c->pods;
	const struct fors_pods_slot *slot = &pods->slot[i];
	const struct fors_port *here =
		slot->guid ? fors_net_port(pods->now, pods->leaf[slot->leaf].now, slot->port) : NULL;

	*stand = (struct fors_fattree_slot){.leaf = slot->leaf,
					    .port = slot->port,
					    .ca_port = here ? here->peer_port : 0,
					    .lmc = slot->lmc,
					    .lid = slot->lid,
					    .node = here ? here->peer : FORS_NONE,
					    .guid = slot->guid,
					    .seen = pods->known->node[seen_at(pods, slot)].guid,
					    .name = pods->known->node[seen_at(pods, slot)].desc,
					    .plays = pods->plays[i]};
	stand->is_missed = !here && !is_plugged_in(pods->now, fors_net_find_guid(pods->now, stand->seen));
	return true;
}

static uint32_t slots3(const struct fors_fattree *c, uint32_t leaf, uint32_t *count)
{
	*count = c->pods->leaf[leaf].nslots;
	return c->pods->leaf[leaf].first;
}

/* What the cables up of a switch carry in a phase. */
static uint32_t uplinks_of(const struct fors_fattree *c, uint32_t number)
{
	uint32_t count, first = c->kind->above(c, number, &count), carried = 0;
	struct fors_fattree_cable cable;

	for (uint32_t i = first; i < first + count; i++)
		if (c->kind->get(c, i, &cable) && cable.low == number && cable.state == FORS_CABLE_LIVE)
			carried += cable.capacity;
	return carried;
}

static uint32_t players_of(const struct fors_fattree *c, uint32_t leaf)
{
	uint32_t count, first = c->kind->slots(c, leaf, &count), playing = 0;
	struct fors_fattree_slot stand;

	for (uint32_t i = first; i < first + count; i++)
		playing += c->kind->slot(c, i, &stand) && stand.plays;
	return playing;
}

static void count_players(const struct fors_pods *pods, struct fors_fattree_sum *sum)
{
	for (uint32_t s = 0; s < pods->nslots; s++)
		if (pods->plays[s]) {
			sum->servers++;
			sum->lmc = sum->lmc < 0 || pods->slot[s].lmc < sum->lmc ? pods->slot[s].lmc : sum->lmc;
		}
}

/* m counts the switches that have a dead cable below them, f is what the worst leaf's uplinks lack for its servers. */
static void sum3(const struct fors_fattree *c, struct fors_fattree_sum *sum)
{
	const struct fors_pods *pods = c->pods;

	count_players(pods, sum);
	sum->npods = pods->npods;
	sum->nmids = pods->nmids;
	sum->ntops = pods->ntops;
	sum->unreachable_pairs = pods->unreachable_pairs;
	sum->capacity = -1;
	for (uint32_t number = c->nleaves; number < c->nswitches; number++) {
		uint32_t node = switch_of(c, number)->node;
		bool is_affected = false;

		for (unsigned port = 1; port <= pods->known->node[node].nports; port++) {
			uint32_t peer = fors_pods_peer(pods, node, port);

			is_affected |= peer != FORS_NONE && pods->level[peer] &&
				       pods->level[peer] < pods->level[node] && !fors_pods_live(pods, node, port) &&
				       !pods->unseen[pods->known->node[node].first_port + port];
		}
		sum->affected += is_affected;
	}
	for (uint32_t a = 0; a < c->nleaves; a++) {
		uint32_t here = players_of(c, a), up = uplinks_of(c, a);

		sum->reduction = here > up + sum->reduction ? here - up : sum->reduction;
	}
}

/* What is drained is called back where leaves need it: nothing follows from it. */
static enum fors_err recount3(const struct fors_fattree *c, struct fors_error *error)
{
	(void)c;
	(void)error;
	return FORS_OK;
}

static void revive3(const struct fors_fattree *c, uint32_t number, uint32_t node)
{
	switch_of(c, number)->now = node;
}

struct fors_fattree fors_fattree_of_pods(const struct fors_pods *pods)
{
	static const struct fors_fattree_kind kind = {
		.cable = "cable between switches of the tree",
		.spine = "middle switch and no top",
		.spines = "middle switches and tops",
		.get = get3,
		.put = put3,
		.at = at3,
		.above = above3,
		.slot = slot3,
		.slots = slots3,
		.sum = sum3,
		.recount = recount3,
		.revive = revive3,
	};

	return (struct fors_fattree){.kind = &kind,
				     .pods = (struct fors_pods *)pods,
				     .net = pods->now,
				     .nleaves = pods->nleaves,
				     .nswitches = pods->nleaves + pods->nmids + pods->ntops,
				     .ncables = pods->known->nports,
				     .nslots = pods->nslots};
}

/* --- both ---------------------------------------------------------------------------------------------------- */

/* All that can be reached going up from a leaf, itself too: into set[nswitches], a bit each. */
static void climb(const struct fors_fattree *c, uint32_t from, uint64_t *set)
{
	uint32_t count, first = c->kind->above(c, from, &count);
	struct fors_fattree_cable cable;

	set[from / 64] |= UINT64_C(1) << from % 64;
	for (uint32_t i = first; i < first + count; i++)
		if (c->kind->get(c, i, &cable) && cable.low == from && cable.state == FORS_CABLE_LIVE &&
		    !(set[cable.high / 64] >> cable.high % 64 & 1))
			climb(c, cable.high, set);
}

static bool meet(const uint64_t *a, const uint64_t *b, uint32_t nwords)
{
	for (uint32_t w = 0; w < nwords; w++)
		if (a[w] & b[w])
			return true;
	return false;
}

static void count_pairs(const struct fors_fattree *c, const uint64_t *set, const bool *plays)
{
	uint32_t nwords = (c->nswitches + 63) / 64;

	c->pods->unreachable_pairs = 0;
	for (uint32_t a = 0; a < c->nleaves; a++)
		for (uint32_t b = a + 1; plays[a] && b < c->nleaves; b++)
			if (plays[b] && !meet(&set[(size_t)a * nwords], &set[(size_t)b * nwords], nwords) &&
			    !c->pods->unreachable_pairs++) {
				c->pods->cut_leaf[0] = a;
				c->pods->cut_leaf[1] = b;
			}
}

/* Which leaves of pods, with servers that take part, have no way between them. Errors: FORS_ENOMEM. */
static enum fors_err count_unreachable(const struct fors_fattree *c, struct fors_error *error)
{
	uint32_t nwords = (c->nswitches + 63) / 64;
	uint64_t *set = calloc((size_t)c->nleaves * nwords + 1, sizeof(*set));
	bool *plays = calloc(c->nleaves + (size_t)1, sizeof(*plays));
	bool has_memory = set && plays;

	for (uint32_t a = 0; has_memory && a < c->nleaves; a++) {
		plays[a] = players_of(c, a);
		if (plays[a])
			climb(c, a, &set[(size_t)a * nwords]);
	}
	if (has_memory)
		count_pairs(c, set, plays);
	free(set);
	free(plays);
	return has_memory ? FORS_OK : fors_fail_memory(error);
}

static enum fors_err build_pods(const struct fors_net *net, const struct fors_places *places,
				const struct fors_participants *participants, struct fors_fattree *tree,
				struct fors_error *error)
{
	struct fors_net *known = NULL;
	struct fors_pods *pods = NULL;
	enum fors_err err = fors_net_copy(fors_places_known(places), &known, error);

	if (!err)
		err = fors_places_pods(places, known, net, &pods, error);
	if (err) {
		fors_net_free(known);
		return err;
	}
	pods->own = known;
	*tree = fors_fattree_of_pods(pods);
	err = fors_pods_seat(pods, participants, error);
	if (!err)
		err = count_unreachable(tree, error);
	if (err)
		fors_fattree_free(tree);
	return err;
}

enum fors_err fors_fattree_build(const struct fors_net *net, const struct fors_places *places,
				 const struct fors_participants *participants, struct fors_fattree *tree,
				 struct fors_error *error)
{
	struct fors_fabric *fabric;
	enum fors_err err;

	*tree = (struct fors_fattree){0};
	if (fors_places_known(places))
		return build_pods(net, places, participants, tree, error);
	err = fors_fabric_build(net, places, participants, &fabric, error);
	if (!err)
		*tree = fors_fattree_of_fabric(fabric);
	return err;
}

void fors_fattree_free(struct fors_fattree *tree)
{
	fors_fabric_free(tree->fabric);
	fors_pods_free(tree->pods);
	*tree = (struct fors_fattree){0};
}

enum fors_err fors_fattree_copy(const struct fors_fattree *tree, const struct fors_net *net, struct fors_fattree *copy,
				struct fors_error *error)
{
	struct fors_fabric *fabric = NULL;
	struct fors_pods *pods = NULL;
	enum fors_err err = tree->fabric ? fors_fabric_copy(tree->fabric, net, &fabric, error)
					 : fors_pods_copy(tree->pods, tree->pods->known, net, &pods, error);

	if (err)
		return err;
	*copy = *tree;
	copy->net = net;
	copy->fabric = fabric;
	copy->pods = pods;
	return FORS_OK;
}

/* What cables between switches carry that live. */
static void sum_capacities(const struct fors_fattree *tree, struct fors_fattree_sum *sum)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < tree->ncables; i++) {
		if (!tree->kind->get(tree, i, &cable) || cable.state != FORS_CABLE_LIVE)
			continue;
		sum->most_flows = cable.capacity > sum->most_flows ? cable.capacity : sum->most_flows;
		if (!sum->least_flows || cable.capacity < sum->least_flows)
			sum->least_flows = cable.capacity;
	}
}

struct fors_fattree_sum fors_fattree_sum(const struct fors_fattree *tree)
{
	struct fors_fattree_sum sum = {.lmc = -1, .full = fors_fattree_full(tree)};

	tree->kind->sum(tree, &sum);
	sum_capacities(tree, &sum);
	return sum;
}

void fors_fattree_shape(const struct fors_fattree *tree, char *text, size_t room)
{
	const struct fors_pods *pods = tree->pods;

	if (pods)
		snprintf(text, room, "three levels (%u %s, %u %s, %u %s)", pods->nleaves,
			 fors_plural(pods->nleaves, "leaf", "leaves"), pods->nmids,
			 fors_plural(pods->nmids, "middle switch", "middle switches"), pods->ntops,
			 fors_plural(pods->ntops, "top", "tops"));
	else
		snprintf(text, room, "%u %s", tree->fabric->nlanes,
			 fors_plural(tree->fabric->nlanes, "spine lane", "spine lanes"));
}

enum fors_err fors_fattree_players(const struct fors_fattree *tree, struct fors_participants *list,
				   struct fors_error *error)
{
	struct fors_participants made = {.guid = malloc((tree->nslots + (size_t)1) * sizeof(*made.guid))};
	struct fors_fattree_slot stand;

	if (!made.guid)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < tree->nslots; i++)
		if (tree->kind->slot(tree, i, &stand) && stand.plays)
			made.guid[made.count++] = stand.guid;
	*list = made;
	return FORS_OK;
}

enum fors_err fors_fattree_connected(const struct fors_fattree *tree, struct fors_error *error)
{
	const struct fors_pods *pods = tree->pods;

	if (tree->fabric)
		return fors_fabric_connected(tree->fabric, error);
	if (!pods->unreachable_pairs)
		return FORS_OK;
	return fors_fail(error, FORS_ENOPATH, "no way up and then down is left between leaf %s and leaf %s",
			 tree->kind->at(tree, pods->cut_leaf[0]).name, tree->kind->at(tree, pods->cut_leaf[1]).name);
}

bool fors_fattree_is_lost(const struct fors_fattree *tree, const struct fors_fattree_slot *stand)
{
	const struct fors_fabric *f = tree->fabric;

	for (size_t i = 0; f && stand->is_missed && stand->seen && i < (size_t)f->nleaves * f->nslots; i++)
		if (f->slot[i].guid == stand->seen)
			return false;
	return stand->is_missed;
}

bool fors_fattree_has_ends(const struct fors_fattree *tree, uint32_t leaf)
{
	uint32_t count, first = tree->kind->slots(tree, leaf, &count);
	struct fors_fattree_slot stand;

	for (uint32_t i = first; i < first + count; i++)
		if (tree->kind->slot(tree, i, &stand) && stand.node != FORS_NONE)
			return true;
	return false;
}

int fors_fattree_lacking(const struct fors_fattree *tree, uint32_t number)
{
	int lacking = -(int)uplinks_of(tree, number);
	struct fors_fattree_cable cable;

	if (number < tree->nleaves)
		return lacking + (int)players_of(tree, number);
	for (uint32_t i = 0; i < tree->ncables; i++)
		if (tree->kind->get(tree, i, &cable) && cable.high == number && cable.state == FORS_CABLE_LIVE)
			lacking += cable.capacity;
	return lacking;
}

uint64_t fors_fattree_print(const struct fors_fattree *tree)
{
	struct fors_print print = fors_print_none();
	const struct fors_pods *pods = tree->pods;

	if (tree->fabric)
		return tree->fabric->fingerprint;
	for (uint32_t n = 0; n < pods->known->nnodes; n++) {
		fors_print_add(&print, pods->known->node[n].guid);
		fors_print_add(&print, pods->level[n]);
	}
	for (uint32_t i = 0; i < pods->known->nports; i++)
		fors_print_add(&print, pods->live[i] | (uint64_t)pods->drained[i] << 8);
	return fors_print_value(print);
}

uint32_t fors_fattree_full(const struct fors_fattree *tree)
{
	return fors_rates_full(tree->net, tree->fabric ? tree->fabric->flow : tree->pods->flow);
}

bool fors_fattree_is_slow(const struct fors_fattree *tree, const struct fors_fattree_slot *stand, uint32_t full)
{
	return stand->plays && fors_port_slowness(fors_net_port(tree->net, stand->node, stand->ca_port), full) > 1;
}

/* --- how fast cables are; what slow means is said in core/net/rates.c ------------------------------------------ */

double fors_speeds_plugged(const struct fors_fattree *tree, const struct fors_fattree_cable *cable, uint32_t full)
{
	uint32_t node = tree->kind->at(tree, cable->low).node;

	if (node == FORS_NONE || !fors_fattree_passes(cable))
		return 1;
	return fors_port_slowness(fors_net_port(tree->net, node, cable->low_port), full);
}
