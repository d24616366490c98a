/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cabling.c - the cables of both kinds of trees: see cabling.h. */
#include "cabling.h"

/* --- two levels: cable leaf * nlanes + lane; leaves, then spines ------------------------------------------------- */

static bool get2(const struct fors_cabling *c, uint32_t i, struct fors_plugged *plugged)
{
	const struct fors_fabric *f = c->fabric;
	const struct fors_cable *cable = &f->cable[i];

	*plugged = (struct fors_plugged){.low = i / f->nlanes,
					 .high = f->nleaves + f->lane[i % f->nlanes].spine,
					 .low_port = cable->leaf_port,
					 .high_port = cable->spine_port,
					 .state = cable->state,
					 .drained = cable->drained,
					 .is_degraded = cable->is_degraded,
					 .is_routed = cable->is_routed,
					 .since_ms = cable->since_ms};
	return cable->state != FORS_CABLE_ABSENT;
}

static void put2(const struct fors_cabling *c, uint32_t i, const struct fors_plugged *plugged)
{
	struct fors_cable *cable = &c->fabric->cable[i];

	cable->state = plugged->state;
	cable->drained = plugged->drained;
	cable->is_degraded = plugged->is_degraded;
	cable->is_routed = plugged->is_routed;
	cable->since_ms = plugged->since_ms;
}

static struct fors_cabled at2(const struct fors_cabling *c, uint32_t number)
{
	const struct fors_leaf *leaf = &c->fabric->leaf[number < c->nleaves ? number : 0];
	const struct fors_spine *spine = &c->fabric->spine[number < c->nleaves ? 0 : number - c->nleaves];

	return number < c->nleaves ? (struct fors_cabled){leaf->guid, leaf->node, leaf->name}
				   : (struct fors_cabled){spine->guid, spine->node, spine->name};
}

static uint32_t above2(const struct fors_cabling *c, uint32_t number, uint32_t *count)
{
	*count = number < c->nleaves ? c->fabric->nlanes : 0;
	return number < c->nleaves ? number * c->fabric->nlanes : 0;
}

static bool has_ends2(const struct fors_cabling *c, uint32_t leaf)
{
	for (uint32_t s = 0; s < c->fabric->nslots; s++)
		if (fors_slot(c->fabric, leaf, s)->node != FORS_NONE)
			return true;
	return false;
}

static int lacking2(const struct fors_cabling *c, uint32_t number)
{
	const struct fors_leaf *leaf = &c->fabric->leaf[number];

	return leaf->nservers - leaf->nlive;
}

static void revive2(const struct fors_cabling *c, uint32_t number, uint32_t node)
{
	c->fabric->spine[number - c->nleaves].node = node;
}

struct fors_cabling fors_fabric_cabling(const struct fors_fabric *fabric)
{
	static const struct fors_cabling_kind kind = {
		.cable = "cable between a leaf and a spine",
		.spine = "spine",
		.get = get2,
		.put = put2,
		.at = at2,
		.above = above2,
		.has_ends = has_ends2,
		.lacking = lacking2,
		.revive = revive2,
	};

	return (struct fors_cabling){.kind = &kind,
				     .fabric = (struct fors_fabric *)fabric,
				     .net = fabric->net,
				     .nleaves = fabric->nleaves,
				     .nswitches = fabric->nleaves + fabric->nspines,
				     .ncables = fabric->nleaves * fabric->nlanes};
}

/* --- three: the cable of a known port to the level above; leaves, then mids, then tops -------------------------- */

static struct fors_pods_switch *switch_of(const struct fors_cabling *c, uint32_t number)
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

static bool get3(const struct fors_cabling *c, uint32_t i, struct fors_plugged *plugged)
{
	const struct fors_pods *pods = c->pods;
	uint32_t low = node_of(pods->known, i), high = pods->peer[i], now;
	bool is_there;

	if (low == FORS_NONE || high == FORS_NONE || !pods->level[low] || pods->level[high] <= pods->level[low])
		return false;
	is_there = pods->live[i] || pods->drained[i];
	*plugged = (struct fors_plugged){.low = fors_pods_row(pods, low),
					 .high = fors_pods_row(pods, high),
					 .low_port = (uint8_t)(i - pods->known->node[low].first_port),
					 .high_port = pods->known->port[i].peer_port,
					 .state = pods->live[i] ? FORS_CABLE_LIVE : FORS_CABLE_DEAD,
					 .drained = pods->drained[i],
					 .is_routed = pods->live[i],
					 .since_ms = pods->since_ms[i]};
	now = is_there ? fors_pods_now(pods, low) : FORS_NONE;
	plugged->is_degraded = now != FORS_NONE && fors_net_port(pods->now, now, plugged->low_port)->is_degraded;
	return true;
}

static void put3(const struct fors_cabling *c, uint32_t i, const struct fors_plugged *plugged)
{
	struct fors_pods *pods = c->pods;
	const struct fors_port *port = &pods->known->port[i];
	uint32_t end[2] = {i, pods->known->node[port->peer].first_port + port->peer_port};

	for (unsigned e = 0; e < 2; e++) {
		pods->live[end[e]] = plugged->state == FORS_CABLE_LIVE;
		pods->drained[end[e]] = plugged->drained;
		pods->since_ms[end[e]] = plugged->since_ms;
	}
}

static struct fors_cabled at3(const struct fors_cabling *c, uint32_t number)
{
	const struct fors_pods_switch *at = switch_of(c, number);
	const struct fors_node *node = &c->pods->known->node[at->node];

	return (struct fors_cabled){node->guid, at->now, *node->desc ? node->desc : node->id};
}

static uint32_t above3(const struct fors_cabling *c, uint32_t number, uint32_t *count)
{
	const struct fors_node *node = &c->pods->known->node[switch_of(c, number)->node];

	*count = node->nports + 1u;
	return node->first_port;
}

static bool has_ends3(const struct fors_cabling *c, uint32_t leaf)
{
	const struct fors_pods_switch *at = &c->pods->leaf[leaf];

	for (uint32_t s = at->first; s < at->first + at->nslots; s++)
		if (c->pods->slot[s].guid)
			return true;
	return false;
}

/* Who is below: servers of a leaf, leaves of a mid. */
static int lacking3(const struct fors_cabling *c, uint32_t number)
{
	const struct fors_pods *pods = c->pods;
	const struct fors_pods_switch *at = switch_of(c, number);
	int lacking = 0;

	for (uint32_t s = at->first; number < c->nleaves && s < at->first + at->nslots; s++)
		lacking += pods->slot[s].guid != 0;
	for (unsigned port = 1; port <= pods->known->node[at->node].nports; port++)
		if (fors_pods_live(pods, at->node, port))
			lacking += pods->level[fors_pods_peer(pods, at->node, port)] < pods->level[at->node] ? 1 : -1;
	return lacking;
}

static void revive3(const struct fors_cabling *c, uint32_t number, uint32_t node)
{
	switch_of(c, number)->now = node;
}

struct fors_cabling fors_pods_cabling(const struct fors_pods *pods)
{
	static const struct fors_cabling_kind kind = {
		.cable = "cable between switches of the tree",
		.spine = "middle switch and no top",
		.get = get3,
		.put = put3,
		.at = at3,
		.above = above3,
		.has_ends = has_ends3,
		.lacking = lacking3,
		.revive = revive3,
	};

	return (struct fors_cabling){.kind = &kind,
				     .pods = (struct fors_pods *)pods,
				     .net = pods->now,
				     .nleaves = pods->nleaves,
				     .nswitches = pods->nleaves + pods->nmids + pods->ntops,
				     .ncables = pods->known->nports};
}
