/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * survey_net.c - from what was read to a net: nodes by type and GUID, so that the same fabric gives the same bytes from
 * whatever port it is read.
 */
#include "survey_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes.h"
#include "core/net/others.h"
#include "core/net/rates.h"
#include "wire.h"

#define ABLE_SM (1u << 1) /* capability mask: a subnet manager runs there */

const struct fors_seen_port *fors_seen_able(const struct fors_seen_node *node, const struct fors_seen_port *port)
{
	return node->type == FORS_SWITCH ? &node->port[0] : port;
}

void fors_survey_take_port(const uint8_t *info, struct fors_seen_port *port)
{
	uint16_t lid = fors_get16(info + 16);

	port->is_known = true;
	port->lid = lid > FORS_LID_MAX ? 0 : lid;
	port->lmc = info[34] & 7;
	port->state = info[32] & 15;
	port->is_up = info[33] >> 4 == FORS_PHYS_LINK_UP;
	port->info = fors_portinfo_read(info);
	if (port->lid + (1u << port->lmc) - 1 > FORS_LID_MAX)
		port->lid = 0;
}

static int by_type_and_guid(const void *a, const void *b)
{
	static const int rank[] = {[FORS_SWITCH] = 0, [FORS_CA] = 1, [FORS_ROUTER] = 2};
	const struct fors_seen_node *const *x = a, *const *y = b;

	if ((*x)->type != (*y)->type)
		return rank[(*x)->type] - rank[(*y)->type];
	return (*x)->guid < (*y)->guid ? -1 : (*x)->guid > (*y)->guid;
}

static enum fors_err add_node(struct fors_net *net, const struct fors_seen_node *seen, uint32_t *index,
			      struct fors_error *error)
{
	static const char prefix[] = {[FORS_CA] = 'H', [FORS_SWITCH] = 'S', [FORS_ROUTER] = 'R'};
	char id[FORS_NAME_MAX + 1];
	enum fors_err err;

	snprintf(id, sizeof(id), "%c-%016" PRIx64, prefix[seen->type], seen->guid);
	err = fors_net_add_node(net, seen->type, seen->nports, seen->guid, id, seen->desc, index, error);
	if (!err)
		net->node[*index].device = seen->device;
	return err;
}

static void set_port(const struct fors_seen_node *seen, unsigned number, struct fors_port *to)
{
	const struct fors_seen_port *from = &seen->port[number];
	bool is_end = seen->type != FORS_SWITCH || !number;
	const struct fors_seen_port *able = fors_seen_able(seen, from);

	if (is_end) {
		to->guid = seen->type == FORS_SWITCH ? seen->guid : from->guid;
		to->lid = from->lid;
		to->lmc = from->lmc;
		to->is_sm = from->info.able & ABLE_SM;
	}
	if (from->peer == FORS_NONE || !number)
		return;
	fors_portinfo_rate(&from->info, &able->info, to);
}

static bool is_active(const struct fors_survey *survey, const struct fors_seen_port *port)
{
	const struct fors_seen_port *peer = &survey->node[port->peer].port[port->peer_port];

	return port->state == FORS_PORT_ACTIVE && (!peer->is_known || peer->state == FORS_PORT_ACTIVE);
}

/* The cables of a node, each from the end that comes first. */
static enum fors_err connect_node(const struct fors_survey *survey, uint32_t node, bool only_active,
				  const uint32_t *index, struct fors_net *net, struct fors_error *error)
{
	const struct fors_seen_node *seen = &survey->node[node];
	enum fors_err err = FORS_OK;

	for (unsigned p = 1; p <= seen->nports && !err; p++) {
		const struct fors_seen_port *port = &seen->port[p];

		if (port->peer == FORS_NONE || port->peer < node || (port->peer == node && port->peer_port < p) ||
		    (only_active && !is_active(survey, port)))
			continue;
		err = fors_net_connect(net, index[node], p, index[port->peer], port->peer_port, error);
	}
	return err;
}

static enum fors_err fill(const struct fors_survey *survey, const struct fors_seen_node **order, uint32_t *index,
			  bool only_active, struct fors_net *net, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < survey->nnodes && !err; i++)
		err = add_node(net, order[i], &index[order[i] - survey->node], error);
	for (uint32_t i = 0; i < survey->nnodes && !err; i++) {
		for (unsigned p = 0; p <= survey->node[i].nports; p++)
			set_port(&survey->node[i], p, fors_net_port(net, index[i], p));
		err = connect_node(survey, i, only_active, index, net, error);
	}
	if (!err)
		err = fors_net_index(net, error);
	if (err)
		return err;
	fors_others_mark(net, NULL);
	fors_rates_mark(net);
	return err;
}

enum fors_err fors_survey_net(const struct fors_survey *survey, bool only_active, struct fors_net **net,
			      struct fors_error *error)
{
	const struct fors_seen_node **order = calloc(survey->nnodes + (size_t)1, sizeof(*order));
	uint32_t *index = calloc(survey->nnodes + (size_t)1, sizeof(*index));
	struct fors_net *made = fors_net_new();
	enum fors_err err = order && index && made ? FORS_OK : fors_fail_memory(error);

	for (uint32_t i = 0; !err && i < survey->nnodes; i++)
		order[i] = &survey->node[i];
	if (!err) {
		qsort(order, survey->nnodes, sizeof(*order), by_type_and_guid);
		err = fill(survey, order, index, only_active, made, error);
	}
	free(order);
	free(index);
	if (err)
		fors_net_free(made);
	else
		*net = made;
	return err;
}
