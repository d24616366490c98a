/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lids.c - LIDs for a net that has none: what OpenSM would do, for people who
 * ask "what if" about a fabric that does not run.
 */
#include "lids.h"

#include <stdlib.h>
#include <string.h>

#include "places_inside.h"
#include "sides.h"

struct counter {
	struct fors_net *net;
	unsigned lmc;
	uint32_t next; /* next free LID */
};

static void number_port(struct counter *c, uint32_t node, unsigned port)
{
	struct fors_port *p = fors_net_port(c->net, node, port);

	if (p->lid)
		return;
	c->next = (c->next + (1u << c->lmc) - 1) >> c->lmc << c->lmc;
	if (c->next <= FORS_LID_MAX) {
		p->lid = (uint16_t)c->next;
		p->lmc = (uint8_t)c->lmc;
	}
	c->next += 1u << c->lmc;
}

/* The CA ports under a leaf, in slot order. */
static void number_slots(struct counter *c, const struct fors_leaf_place *leaf)
{
	uint32_t node = fors_net_find_guid(c->net, leaf->guid);

	for (unsigned s = 0; node != FORS_NONE && s < leaf->nslots; s++) {
		const struct fors_port *port;

		if (!leaf->slot_port[s] || leaf->slot_port[s] > c->net->node[node].nports)
			continue;
		port = fors_net_port(c->net, node, leaf->slot_port[s]);
		if (port->peer != FORS_NONE && c->net->node[port->peer].type != FORS_SWITCH)
			number_port(c, port->peer, port->peer_port);
	}
}

/* All ends of a type that have no LID yet. */
static void number_ends(struct counter *c, enum fors_node_type type)
{
	const struct fors_net *net = c->net;

	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned p = 1; net->node[net->by_guid[i]].type == type && p <= net->node[net->by_guid[i]].nports;
		     p++)
			if (fors_net_port(net, net->by_guid[i], p)->peer != FORS_NONE)
				number_port(c, net->by_guid[i], p);
}

/* What is no host comes last: it changes no other LID. */
static void number_rest(struct counter *c)
{
	const struct fors_net *net = c->net;

	number_ends(c, FORS_CA);
	number_ends(c, FORS_ROUTER);
	c->lmc = 0;
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (net->node[net->by_guid[i]].type == FORS_SWITCH)
			number_port(c, net->by_guid[i], 0);
	number_ends(c, FORS_OTHER);
}

/*
 * Has a subnet manager given LIDs to CA ports with a cable? One of them may still have none, whose port is in INIT or which came after
 * the last sweep: that says nothing of the LIDs of all others, which the real tables know.
 */
static bool is_numbered(const struct fors_net *net)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++)
			if (fors_net_port(net, node, p)->peer != FORS_NONE && fors_net_port(net, node, p)->lid)
				return true;
	return false;
}

static bool has_lid(const struct fors_net *net, uint32_t node, unsigned p)
{
	return fors_net_port(net, node, p)->lid && (net->node[node].type == FORS_SWITCH ? p == 0 : p > 0);
}

/* Claim the LIDs of one port; complain when they are not LIDs of its own. */
static enum fors_err claim_lids(const struct fors_net *net, uint32_t node, unsigned p, uint32_t *owner,
				struct fors_error *error)
{
	const struct fors_port *port = fors_net_port(net, node, p);

	for (uint32_t lid = port->lid; lid < port->lid + (1u << port->lmc); lid++) {
		if (lid > FORS_LID_MAX)
			return fors_fail(error, FORS_EINPUT, "LID %u (LMC %u) of %s is no unicast LID; they end at %u",
					 port->lid, port->lmc, net->node[node].id, FORS_LID_MAX);
		if (owner[lid] != FORS_NONE)
			return fors_fail(error, FORS_EINPUT,
					 "LID %u belongs to both %s and %s; use --lmc to assign new LIDs", lid,
					 net->node[owner[lid]].id, net->node[node].id);
		owner[lid] = node;
	}
	return FORS_OK;
}

static enum fors_err check_lids(const struct fors_net *net, struct fors_error *error)
{
	uint32_t *owner = malloc((FORS_LID_MAX + 1) * sizeof(*owner));
	enum fors_err err = owner ? FORS_OK : fors_fail_memory(error);

	for (uint32_t lid = 0; owner && lid <= FORS_LID_MAX; lid++)
		owner[lid] = FORS_NONE;
	for (uint32_t node = 0; !err && node < net->nnodes; node++)
		for (unsigned p = 0; !err && p <= net->node[node].nports; p++)
			if (has_lid(net, node, p))
				err = claim_lids(net, node, p, owner, error);
	free(owner);
	return err;
}

static void clear_lids(struct fors_net *net)
{
	for (uint32_t i = 0; i < net->nports; i++) {
		net->port[i].lid = 0;
		net->port[i].lmc = 0;
	}
}

enum fors_err fors_assign_lids(struct fors_net *net, const struct fors_places *places, unsigned lmc, bool keep,
			       struct fors_error *error)
{
	struct counter c = {.lmc = lmc, .next = 1};
	enum fors_err err;

	if (keep && is_numbered(net))
		return check_lids(net, error);
	err = fors_net_copy(net, &c.net, error);
	if (err)
		return err;
	clear_lids(c.net);
	for (uint32_t a = 0; places && a < places->nleaves; a++)
		number_slots(&c, &places->leaf[a]);
	number_rest(&c);
	if (c.next > FORS_LID_MAX + 1)
		err = fors_fail(error, FORS_ELIMIT, "LMC %u needs LIDs up to %u, but they end at %u; %s", lmc,
				c.next - 1, FORS_LID_MAX,
				lmc ? "use a smaller LMC" : "the fabric is too large for one subnet");
	else
		memcpy(net->port, c.net->port, net->nports * sizeof(*net->port));
	fors_net_free(c.net);
	return err;
}
