/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * account.c - every CA port, counted from the net, not from what the fabric made of it.
 *
 * A tree looks into its places; what is not in one of them it does not see. So the count goes the other way: over all
 * CA ports that have a cable, asking each for the switch at its other end, and what that is.
 */
#include "account.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/net/partitions.h"

#define MANY_GUESTS 10 /* one in so many servers may be a guest, and nobody wonders */
#define NAMES_ROOM (FORS_LEFT_SHOWN * (FORS_NAME_MAX + 2) + 8)

struct counter {
	const struct fors_fattree *tree;
	struct fors_account *account;
	uint32_t *number;		 /* per node: its number in the tree, FORS_NONE */
	const struct fors_port **server; /* the ports in the exchange */
};

static void leave_out(const struct counter *c, enum fors_left_out why, uint32_t node)
{
	uint32_t at = c->account->left_out[why]++;

	if (at < FORS_LEFT_SHOWN)
		c->account->first[why][at] = node;
}

/* Who is at this port of a leaf; false: it is no place of a server. */
static bool find_stand(const struct fors_fattree *tree, uint32_t leaf, unsigned port, struct fors_fattree_slot *stand)
{
	uint32_t count, first = tree->kind->slots(tree, leaf, &count);

	for (uint32_t i = first; i < first + count; i++)
		if (tree->kind->slot(tree, i, stand) && stand->port == port)
			return true;
	return false;
}

static void count_on_leaf(const struct counter *c, uint32_t leaf, uint32_t node, const struct fors_port *port)
{
	struct fors_fattree_slot stand;

	if (!find_stand(c->tree, leaf, port->peer_port, &stand) || stand.node != node)
		leave_out(c, FORS_LEFT_ADRIFT, node);
	else if (stand.plays)
		c->server[c->account->servers++] = port;
	else
		c->account->not_participants++;
}

static bool is_leaf(const struct counter *c, uint32_t node)
{
	return c->number[node] < c->tree->nleaves;
}

static bool is_stub(const struct counter *c, uint32_t node)
{
	const struct fors_net *net = c->tree->net;

	for (unsigned p = 1; p <= net->node[node].nports; p++) {
		uint32_t peer = fors_peer_switch(net, node, p);

		if (peer != FORS_NONE && is_leaf(c, peer))
			return true;
	}
	return false;
}

static void count_guest(struct fors_account *account, uint32_t node)
{
	if (account->guests < FORS_LEFT_SHOWN)
		account->first_guest[account->guests] = node;
	account->guests++;
}

static void count_port(const struct counter *c, uint32_t node, const struct fors_port *port)
{
	uint32_t peer = port->peer;
	bool is_switch = c->tree->net->node[peer].type == FORS_SWITCH;

	c->account->ports++;
	if (!is_switch)
		leave_out(c, FORS_LEFT_ADRIFT, node);
	else if (!port->lid)
		leave_out(c, FORS_LEFT_LIDLESS, node);
	else if (is_leaf(c, peer))
		count_on_leaf(c, c->number[peer], node, port);
	else if (c->number[peer] != FORS_NONE)
		count_guest(c->account, node);
	else
		leave_out(c, is_stub(c, peer) ? FORS_LEFT_STUB : FORS_LEFT_ADRIFT, node);
}

static void number_switches(const struct counter *c)
{
	for (uint32_t node = 0; node < c->tree->net->nnodes; node++)
		c->number[node] = FORS_NONE;
	for (uint32_t i = 0; i < c->tree->nswitches; i++) {
		uint32_t node = c->tree->kind->at(c->tree, i).node;

		if (node != FORS_NONE)
			c->number[node] = i;
	}
}

enum fors_err fors_account_take(const struct fors_fattree *tree, struct fors_account *account, struct fors_error *error)
{
	const struct fors_net *net = tree->net;
	struct counter c = {.tree = tree,
			    .account = account,
			    .number = malloc((net->nnodes + (size_t)1) * sizeof(uint32_t)),
			    .server = malloc((net->nports + (size_t)1) * sizeof(*c.server))};

	if (!c.number || !c.server) {
		free(c.number);
		free(c.server);
		return fors_fail_memory(error);
	}
	*account = (struct fors_account){.hosts = tree->kind->spines};
	number_switches(&c);
	for (uint32_t i = 0; i < net->nnodes; i++) {
		uint32_t node = net->by_guid[i];

		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++)
			if (fors_net_port(net, node, p)->peer != FORS_NONE)
				count_port(&c, node, fors_net_port(net, node, p));
	}
	account->cut_pairs = fors_partitions_cut(c.server, account->servers, &account->partitions);
	free(c.number);
	free(c.server);
	return FORS_OK;
}

uint32_t fors_account_left_out(const struct fors_account *account)
{
	uint32_t sum = 0;

	for (int why = 0; why < FORS_NLEFT_OUT; why++)
		sum += account->left_out[why];
	return sum;
}

/* Are more than a tenth of all that could be servers guests? Then what are spines may have been guessed wrongly. */
static bool has_many_guests(const struct fors_account *account)
{
	uint64_t all = (uint64_t)account->servers + account->not_participants + account->guests;

	return MANY_GUESTS * (uint64_t)account->guests > all;
}

/* The names of the first of `count` nodes, in names[NAMES_ROOM]. */
static void name_first(const struct fors_net *net, const uint32_t *first, uint32_t count, char *names)
{
	size_t used = 0;

	*names = '\0';
	for (uint32_t n = 0; n < count && n < FORS_LEFT_SHOWN; n++)
		used += (size_t)snprintf(names + used, NAMES_ROOM - used, "%s%s", n ? ", " : "",
					 fors_node_name(net, first[n]));
	if (count > FORS_LEFT_SHOWN)
		snprintf(names + used, NAMES_ROOM - used, ", ...");
}

/* Names last: they may be long, and the sentence is cut. */
static void warn_of_guests(const struct fors_net *net, const struct fors_account *account,
			   struct fors_warnings *warnings)
{
	char names[NAMES_ROOM];

	if (!has_many_guests(account))
		return;
	name_first(net, account->first_guest, account->guests, names);
	fors_warn(warnings,
		  "%u of %u servers are guests on %s, in no exchange; root_guid_file (opensm.conf) or reference_fabric "
		  "(fors.conf) decides which switches those are, else where the servers are: %s",
		  account->guests, account->servers + account->not_participants + account->guests, account->hosts,
		  names);
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
	fors_warnings_add(warnings, &account->partitions);
	warn_of_guests(net, account, warnings);
}

/* ---- switches that nothing is plugged into ---- */

static bool is_bare(const struct fors_net *net, uint32_t node)
{
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (fors_net_port(net, node, p)->peer != FORS_NONE)
			return false;
	return net->node[node].type == FORS_SWITCH;
}

void fors_bare_warn(const struct fors_net *intact, struct fors_warnings *warnings)
{
	uint32_t first[FORS_LEFT_SHOWN] = {0}, count = 0;
	char names[NAMES_ROOM];

	for (uint32_t i = 0; i < intact->nnodes; i++)
		if (is_bare(intact, intact->by_guid[i]) && count++ < FORS_LEFT_SHOWN)
			first[count - 1] = intact->by_guid[i];
	name_first(intact, first, count, names);
	if (count)
		fors_warn(warnings, "%u switch%s without a cable, left out: %s", count, count == 1 ? "" : "es", names);
}

/* ---- cables of switches without hosts ---- */

static void see_cables(const struct fors_fattree *tree, bool *seen)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < tree->ncables; i++) {
		uint32_t node = tree->kind->get(tree, i, &cable) ? tree->kind->at(tree, cable.low).node : FORS_NONE;

		if (node != FORS_NONE && cable.low_port <= tree->net->node[node].nports)
			seen[tree->net->node[node].first_port + cable.low_port] = true;
	}
}

/* The cable at a port of a switch without hosts, which the tree knows from neither end. */
static bool is_unused(const struct fors_net *net, const bool *seen, uint32_t node, unsigned port)
{
	const struct fors_port *here = fors_net_port(net, node, port);

	return net->node[node].type == FORS_SWITCH && !fors_net_hosts(net, node) &&
	       fors_peer_switch(net, node, port) != FORS_NONE && !seen[net->node[node].first_port + port] &&
	       !seen[net->node[here->peer].first_port + here->peer_port];
}

static void warn_of_unused(const struct fors_net *net, uint32_t count, uint32_t node, unsigned port,
			   struct fors_warnings *warnings)
{
	if (count)
		fors_warn(warnings, "%u %s no level of the tree and %s nothing: %s[%u]%s", count,
			  fors_plural(count, "cable of a switch without hosts fits",
				      "cables of switches without hosts fit"),
			  fors_plural(count, "carries", "carry"), fors_node_name(net, node), port,
			  count == 1 ? "" : ", ...");
}

enum fors_err fors_aside_cut(const struct fors_fattree *tree, struct fors_net *net, struct fors_warnings *warnings,
			     struct fors_error *error)
{
	bool *seen = calloc(net->nports + (size_t)1, sizeof(*seen));
	uint32_t count = 0, first = FORS_NONE, first_port = 0;

	if (!seen)
		return fors_fail_memory(error);
	see_cables(tree, seen);
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned port = 1; port <= net->node[net->by_guid[i]].nports; port++) {
			if (!is_unused(net, seen, net->by_guid[i], port))
				continue;
			if (!count++)
				first = net->by_guid[i], first_port = port;
			fors_net_disconnect(net, net->by_guid[i], port);
		}
	warn_of_unused(net, count, first, first_port, warnings);
	free(seen);
	return FORS_OK;
}
