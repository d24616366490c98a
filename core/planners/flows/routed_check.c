/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routed_check.c - do these tables belong to this net?
 *
 * Net and tables are read at two times, often by two programs. A plan over tables of yesterday's cables would be wrong in ways
 * that no walk need show: an entry for a server that has left, say, means that there were others whose LIDs moved. So whatever
 * one of them knows and the other does not is reason enough to make no plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "routed.h"

/* The node that a port of net->port[] is of. */
static uint32_t node_of(const struct fors_net *net, uint32_t port)
{
	uint32_t low = 0, high = net->nnodes;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (net->node[middle].first_port <= port)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void fors_flows_link_end(const struct fors_flows_routed *routed, uint32_t link, uint32_t *node, uint32_t *port)
{
	uint32_t at = routed->link_port[link];

	*node = node_of(routed->net, at);
	*port = at - routed->net->node[*node].first_port;
}

void fors_flows_link_name(const struct fors_flows_routed *routed, uint32_t link, char *text, size_t room)
{
	const struct fors_net *net = routed->net;
	uint32_t at = routed->link_port[link], node, port;

	fors_flows_link_end(routed, link, &node, &port);
	snprintf(text, room, "%s[%u] -> %s[%u]", fors_node_name(net, node), port,
		 fors_node_name(net, net->port[at].peer), net->port[at].peer_port);
}

/* All LIDs of a port get their owner. */
static enum fors_err own(const struct fors_net *net, uint32_t i, uint32_t *owner, struct fors_error *error)
{
	const struct fors_port *port = &net->port[i];

	for (uint32_t k = 0; k < 1u << (port->lmc & FORS_MAX_LMC) && port->lid + k <= FORS_LID_MAX; k++) {
		uint32_t *at = &owner[port->lid + k];

		if (*at != FORS_NONE)
			return fors_fail(error, FORS_ENOTAPPL, "%s and %s share LID %u",
					 fors_node_name(net, node_of(net, *at)), fors_node_name(net, node_of(net, i)),
					 port->lid + k);
		*at = i;
	}
	return FORS_OK;
}

static enum fors_err find_owners(const struct fors_net *net, uint32_t *owner, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t lid = 0; lid <= FORS_LID_MAX; lid++)
		owner[lid] = FORS_NONE;
	for (uint32_t i = 0; !err && i < net->nports; i++)
		if (net->port[i].lid)
			err = own(net, i, owner, error);
	return err;
}

/* The table of one switch. */
static enum fors_err check_row(const struct fors_flows_tables *tables, uint32_t row, const uint32_t *owner,
			       struct fors_error *error)
{
	const struct fors_lfts *lfts = tables->lfts;
	uint32_t node = fors_net_find_guid(tables->net, lfts->guid[row]);

	if (node == FORS_NONE || tables->net->node[node].type != FORS_SWITCH)
		return fors_fail(error, FORS_ENOTAPPL,
				 "there is a table of switch 0x%016" PRIx64 ", which is not in this fabric: tables and "
				 "fabric do not belong together",
				 lfts->guid[row]);
	for (uint32_t lid = 1; lid < lfts->nlids; lid++)
		if (fors_lfts_port(lfts, row, lid) != FORS_NO_PATH && (lid > FORS_LID_MAX || owner[lid] == FORS_NONE))
			return fors_fail(
				error, FORS_ENOTAPPL,
				"switch %s has an entry for LID %u, which no port of this fabric has: tables and "
				"fabric are not of one time",
				fors_node_name(tables->net, node), lid);
	return FORS_OK;
}

enum fors_err fors_flows_tables_check(const struct fors_flows_tables *tables, struct fors_error *error)
{
	uint32_t *owner = malloc((FORS_LID_MAX + (size_t)1) * sizeof(*owner));
	enum fors_err err = owner ? find_owners(tables->net, owner, error) : fors_fail_memory(error);

	for (uint32_t row = 0; !err && row < tables->lfts->nswitches; row++)
		err = check_row(tables, row, owner, error);
	free(owner);
	return err;
}
