/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * account.c - every CA port, counted from the net, not from what the fabric made of it.
 *
 * A fabric looks into its places; what is not in one of them it does not see. So the count goes the other way: over all
 * CA ports that have a cable, asking each for the switch at its other end, and what that is.
 */
#include "account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY_GUESTS 10 /* one in so many servers may be a guest, and nobody wonders */
#define NAMES_ROOM (FORS_LEFT_SHOWN * (FORS_NAME_MAX + 2) + 8)

struct counter {
	const struct fors_fabric *f;
	struct fors_account *account;
	uint32_t *leaf; /* per node: its leaf place, FORS_NONE */
	bool *is_spine; /* per node */
};

static void leave_out(const struct counter *c, enum fors_left_out why, uint32_t node)
{
	uint32_t at = c->account->left_out[why]++;

	if (at < FORS_LEFT_SHOWN)
		c->account->first[why][at] = node;
}

static const struct fors_slot *slot_at(const struct fors_fabric *f, uint32_t a, unsigned port)
{
	for (uint32_t s = 0; s < f->nslots; s++)
		if (fors_slot(f, a, s)->leaf_port == port)
			return fors_slot(f, a, s);
	return NULL;
}

static void count_on_leaf(const struct counter *c, uint32_t a, uint32_t node, unsigned port)
{
	const struct fors_slot *slot = slot_at(c->f, a, port);

	if (!slot || slot->node != node)
		leave_out(c, FORS_LEFT_ADRIFT, node);
	else if (slot->server == FORS_NONE)
		c->account->not_participants++;
	else
		c->account->servers++;
}

static bool is_stub(const struct counter *c, uint32_t node)
{
	for (unsigned p = 1; p <= c->f->net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(c->f->net, node, p);

		if (peer != FORS_NONE && c->leaf[peer] != FORS_NONE)
			return true;
	}
	return false;
}

static void count_port(const struct counter *c, uint32_t node, const struct fors_port *port)
{
	uint32_t peer = port->peer;
	bool is_switch = c->f->net->node[peer].type == FORS_SWITCH;

	c->account->ports++;
	if (!is_switch)
		leave_out(c, FORS_LEFT_ADRIFT, node);
	else if (!port->lid)
		leave_out(c, FORS_LEFT_LIDLESS, node);
	else if (c->leaf[peer] != FORS_NONE)
		count_on_leaf(c, c->leaf[peer], node, port->peer_port);
	else if (c->is_spine[peer])
		fors_account_guest(c->account, node);
	else
		leave_out(c, is_stub(c, peer) ? FORS_LEFT_STUB : FORS_LEFT_ADRIFT, node);
}

static void mark_switches(const struct counter *c)
{
	for (uint32_t node = 0; node < c->f->net->nnodes; node++)
		c->leaf[node] = FORS_NONE;
	for (uint32_t a = 0; a < c->f->nleaves; a++)
		if (c->f->leaf[a].node != FORS_NONE)
			c->leaf[c->f->leaf[a].node] = a;
	for (uint32_t k = 0; k < c->f->nspines; k++)
		if (c->f->spine[k].node != FORS_NONE)
			c->is_spine[c->f->spine[k].node] = true;
}

static void count_all(const struct counter *c)
{
	const struct fors_net *net = c->f->net;

	mark_switches(c);
	for (uint32_t i = 0; i < net->nnodes; i++) {
		uint32_t node = net->by_guid[i];

		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++)
			if (fors_net_port(net, node, p)->peer != FORS_NONE)
				count_port(c, node, fors_net_port(net, node, p));
	}
}

enum fors_err fors_account_take(const struct fors_fabric *fabric, struct fors_account *account,
				struct fors_error *error)
{
	struct fors_account made = {0};
	struct counter c = {.f = fabric, .account = &made};
	enum fors_err err = FORS_OK;

	c.leaf = malloc(((size_t)fabric->net->nnodes + 1) * sizeof(*c.leaf));
	c.is_spine = calloc((size_t)fabric->net->nnodes + 1, sizeof(*c.is_spine));
	if (c.leaf && c.is_spine)
		count_all(&c);
	else
		err = fors_fail_memory(error);
	free(c.leaf);
	free(c.is_spine);
	if (!err)
		*account = made;
	return err;
}

uint32_t fors_account_left_out(const struct fors_account *account)
{
	uint32_t sum = 0;

	for (int why = 0; why < FORS_NLEFT_OUT; why++)
		sum += account->left_out[why];
	return sum;
}

void fors_account_guest(struct fors_account *account, uint32_t node)
{
	if (account->guests < FORS_LEFT_SHOWN)
		account->first_guest[account->guests] = node;
	account->guests++;
}

bool fors_account_has_many_guests(const struct fors_account *account)
{
	uint64_t all = (uint64_t)account->servers + account->not_participants + account->guests;

	return MANY_GUESTS * (uint64_t)account->guests > all;
}

/* The names of the first of `count` nodes, in names[NAMES_ROOM]. */
static void name_first(const struct fors_net *net, const uint32_t *first, uint32_t count, char *names)
{
	size_t used = 0;

	*names = '\0';
	for (uint32_t n = 0; n < count && n < FORS_LEFT_SHOWN; n++) {
		const struct fors_node *node = &net->node[first[n]];

		used += (size_t)snprintf(names + used, NAMES_ROOM - used, "%s%s", n ? ", " : "",
					 node->desc[0] ? node->desc : node->id);
	}
	if (count > FORS_LEFT_SHOWN)
		snprintf(names + used, NAMES_ROOM - used, ", ...");
}

/* Names last: they may be long, and the sentence is cut. */
static void warn_of_guests(const struct fors_net *net, const struct fors_account *account,
			   struct fors_warnings *warnings)
{
	char names[NAMES_ROOM];

	if (!fors_account_has_many_guests(account))
		return;
	name_first(net, account->first_guest, account->guests, names);
	fors_warn(warnings,
		  "%u of %u servers are guests on %s, in no exchange; root_guid_file (opensm.conf) or reference_fabric "
		  "(fors.conf) decides which switches those are, else where the servers are: %s",
		  account->guests, account->servers + account->not_participants + account->guests,
		  account->has_levels ? "middle switches and tops" : "spines", names);
}

void fors_account_warn(const struct fors_net *net, const struct fors_account *account, struct fors_warnings *warnings)
{
	static const char *const why[] = {
		[FORS_LEFT_STUB] = "below a switch that is cabled to one leaf only",
		[FORS_LEFT_LIDLESS] = "without a LID",
		[FORS_LEFT_ADRIFT] = "cabled to no switch of the tree",
	};

	for (int i = 0; i < FORS_NLEFT_OUT; i++) {
		char names[NAMES_ROOM];

		if (!account->left_out[i])
			continue;
		name_first(net, account->first[i], account->left_out[i], names);
		fors_warn(warnings, "%u CA port%s %s, not in the schedule: %s", account->left_out[i],
			  account->left_out[i] == 1 ? "" : "s", why[i], names);
	}
	warn_of_guests(net, account, warnings);
}
