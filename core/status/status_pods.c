/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_pods.c - the facts of a tree of three levels.
 *
 * Cables between switches are listed by their lower end; what is known and not alive is dead. m counts the switches
 * that have a dead cable below them, f is the uplinks that the worst leaf lacks for its servers, as at two levels.
 */
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/pods_account.h"
#include "core/net/rates.h"

static const char *name_of(const struct fors_pods *pods, uint32_t node)
{
	const struct fors_node *n = &pods->known->node[node];

	return *n->desc ? n->desc : n->id;
}

/* Is this the lower end of a known cable? */
static bool is_uplink(const struct fors_pods *pods, uint32_t node, unsigned port)
{
	uint32_t peer = fors_pods_peer(pods, node, port);

	return pods->level[node] && peer != FORS_NONE && pods->level[peer] > pods->level[node];
}

/* Places where a server was ever seen, and nothing is, unless that one is elsewhere now. */
static enum fors_err list_lost(const struct fors_pods *pods, struct fors_links *links, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t s = 0; !err && s < pods->nslots; s++) {
		const struct fors_pods_slot *slot = &pods->slot[s];
		uint32_t leaf = pods->leaf[slot->leaf].node, peer = fors_net_port(pods->known, leaf, slot->port)->peer;
		struct fors_link link = {.a_port = slot->port, .since_ms = FORS_UNKNOWN};

		if (slot->guid || fors_net_find_guid(pods->now, pods->known->node[peer].guid) != FORS_NONE)
			continue;
		snprintf(link.a, sizeof(link.a), "%s", name_of(pods, leaf));
		snprintf(link.b, sizeof(link.b), "0x%016" PRIx64, pods->known->node[peer].guid);
		err = fors_links_add(links, &link, error);
	}
	return err;
}

static enum fors_err list_slow(const struct fors_pods *pods, const bool *plays, struct fors_links *links,
			       struct fors_error *error)
{
	uint32_t full = fors_rates_full(pods->now);
	enum fors_err err = FORS_OK;

	for (uint32_t s = 0; !err && s < pods->nslots; s++) {
		const struct fors_pods_slot *slot = &pods->slot[s];
		struct fors_link link = {.a_port = slot->port, .since_ms = FORS_UNKNOWN, .is_used = true};
		const struct fors_port *port;
		uint32_t rate;

		if (!plays[s])
			continue;
		port = fors_net_port(pods->now, pods->leaf[slot->leaf].now, slot->port);
		rate = fors_port_rate(port);
		if (!rate || rate >= full)
			continue;
		link.is_planned = true;
		link.b_port = port->peer_port;
		snprintf(link.a, sizeof(link.a), "%s", name_of(pods, pods->leaf[slot->leaf].node));
		snprintf(link.b, sizeof(link.b), "%s", pods->now->node[port->peer].desc);
		fors_rate_text(port->width, (enum fors_speed)port->speed, link.rate);
		err = fors_links_add(links, &link, error);
	}
	return err;
}

static enum fors_err list_all(const struct fors_pods *pods, const bool *plays, struct fors_status *found,
			      struct fors_error *error)
{
	enum fors_err err = fors_status_cables(found, fors_pods_cabling(pods), error);

	if (!err)
		err = list_slow(pods, plays, &found->slow_servers, error);
	return err ? err : list_lost(pods, &found->lost_servers, error);
}

/* --- numbers -------------------------------------------------------------- */

static bool has_dead_below(const struct fors_pods *pods, uint32_t node)
{
	for (unsigned port = 1; port <= pods->known->node[node].nports; port++) {
		uint32_t peer = fors_pods_peer(pods, node, port);

		if (peer != FORS_NONE && pods->level[peer] && pods->level[peer] < pods->level[node] &&
		    !fors_pods_live(pods, node, port))
			return true;
	}
	return false;
}

/* How many uplinks the leaf lacks for its servers. */
static int64_t lacks(const struct fors_pods *pods, const bool *plays, const struct fors_pods_switch *leaf)
{
	int64_t lacking = 0;

	for (uint32_t s = leaf->first; s < leaf->first + leaf->nslots; s++)
		lacking += plays[s];
	if (!lacking)
		return 0;
	for (unsigned port = 1; port <= pods->known->node[leaf->node].nports; port++)
		lacking -= is_uplink(pods, leaf->node, port) && fors_pods_live(pods, leaf->node, port);
	return lacking > 0 ? lacking : 0;
}

static void count(const struct fors_pods *pods, const bool *plays, struct fors_status *status)
{
	int64_t lmc = FORS_UNKNOWN;

	status->servers = status->affected_spines = status->f = 0;
	for (uint32_t s = 0; s < pods->nslots; s++) {
		status->servers += plays[s];
		if (plays[s] && (lmc < 0 || pods->slot[s].lmc < lmc))
			lmc = pods->slot[s].lmc;
	}
	status->lmc = lmc;
	for (uint32_t node = 0; node < pods->known->nnodes; node++)
		status->affected_spines += pods->level[node] > FORS_PODS_LEAF && has_dead_below(pods, node);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		if (lacks(pods, plays, &pods->leaf[a]) > status->f)
			status->f = lacks(pods, plays, &pods->leaf[a]);
	status->leaves = pods->nleaves;
	status->mids = pods->nmids;
	status->tops = pods->ntops;
	status->pods = pods->npods;
}

enum fors_err fors_status_pods(struct fors_status *status, const struct fors_pods *pods, const bool *plays,
			       struct fors_error *error)
{
	struct fors_account account = fors_pods_account(pods, plays);
	struct fors_status found;
	enum fors_err err;

	fors_status_init(&found);
	err = list_all(pods, plays, &found, error);
	if (err) {
		fors_status_clear(&found);
		return err;
	}
	fors_status_clear(status);
	status->dead_links = found.dead_links;
	status->degraded_links = found.degraded_links;
	status->excluded_links = found.excluded_links;
	status->held_links = found.held_links;
	status->held_until_ms = pods->held_until_ms ? (int64_t)pods->held_until_ms : FORS_UNKNOWN;
	status->slow_servers = found.slow_servers;
	status->lost_servers = found.lost_servers;
	count(pods, plays, status);
	status->unreachable_pairs = 0;
	status->ca_ports = account.ports;
	status->not_participants = account.not_participants;
	status->guests = account.guests;
	status->left_out = fors_account_left_out(&account);
	return FORS_OK;
}
