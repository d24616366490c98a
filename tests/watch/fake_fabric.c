/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_fabric.h"

#include <string.h>

#include "watch/bytes.h"
#include "core/net/portinfo.h"
#include "watch/wire.h"

bool fake_follow(const struct fake_fabric *fabric, const struct fors_directed_route *way, uint32_t *node, uint8_t *port)
{
	*node = fabric->from;
	*port = fabric->net->node[*node].type == FORS_SWITCH ? 0 : 1;
	for (unsigned i = 0; i < way->hops; i++) {
		const struct fors_node *at = &fabric->net->node[*node];
		const struct fors_port *out = fors_net_port(fabric->net, *node, way->port[i]);

		if ((i && at->type != FORS_SWITCH) || !way->port[i] || way->port[i] > at->nports ||
		    out->peer == FORS_NONE)
			return false;
		*node = out->peer;
		*port = out->peer_port;
	}
	return true;
}

static void say_node(const struct fors_net *net, uint32_t node, uint8_t port, uint8_t *data)
{
	const struct fors_node *at = &net->node[node];

	data[2] = at->type == FORS_SWITCH ? 2 : at->type == FORS_ROUTER ? 3 : 1;
	data[3] = at->nports;
	fors_put64(data + 12, at->guid);
	fors_put64(data + 20, at->type == FORS_SWITCH ? at->guid : fors_net_port(net, node, port)->guid);
	data[36] = port;
}

static void say_port(const struct fors_net *net, uint32_t node, uint32_t number, uint8_t *data)
{
	static const uint8_t widths[13] = {[1] = 1, [2] = 16, [4] = 2, [8] = 4, [12] = 8};
	const struct fors_port *port;
	bool is_up;

	if (number > net->node[node].nports)
		return;
	if (!number && net->node[node].type != FORS_SWITCH)
		number = 1; /* the port that is asked */
	port = fors_net_port(net, node, number);
	is_up = port->peer != FORS_NONE;
	fors_put16(data + 16, port->lid ? port->lid : 0);
	fors_put32(data + 20, port->is_sm ? 2 : 0);
	data[31] = widths[port->width];
	data[32] = is_up ? FORS_PORT_ACTIVE : FORS_PORT_DOWN;
	data[33] = (uint8_t)((is_up ? FORS_PHYS_LINK_UP : 2) << 4);
	data[34] = port->lmc;
	data[35] = port->speed && port->speed < 4 ? (uint8_t)(1 << (port->speed - 1) << 4) : 0;
}

static void say_table(const struct fake_fabric *fabric, uint32_t node, uint32_t block, uint8_t *data)
{
	uint32_t row = fors_lfts_row(fabric->lfts, fabric->net->node[node].guid);

	for (uint32_t i = 0; i < FORS_LFT_BLOCK; i++)
		data[i] =
			row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(fabric->lfts, row, block * FORS_LFT_BLOCK + i);
}

void fake_say(const struct fake_fabric *fabric, uint32_t node, uint8_t port, uint16_t attribute, uint32_t modifier,
	      uint8_t *data)
{
	switch (attribute) {
	case FORS_ATTR_NODE_INFO:
		say_node(fabric->net, node, port, data);
		break;
	case FORS_ATTR_NODE_DESC:
		memcpy(data, fabric->net->node[node].desc, FORS_NAME_MAX);
		break;
	case FORS_ATTR_PORT_INFO:
		say_port(fabric->net, node, modifier & ~FORS_PORTINFO_ALL_SPEEDS, data);
		break;
	case FORS_ATTR_SWITCH_INFO:
		fors_put16(data, 0xC000);
		fors_put16(data + 6, (uint16_t)(fabric->lfts->nlids - 1));
		break;
	case FORS_ATTR_LINEAR_FT:
		say_table(fabric, node, modifier, data);
		break;
	default:
		break;
	}
}

void fake_say_manager(uint32_t count, uint8_t *data)
{
	fors_put32(data + 16, count);
	data[20] = FORS_SM_MASTER;
}
