/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * speeds.c - how fast the cables of a fabric are; what slow means is said in core/net/rates.c.
 */
#include "speeds.h"

/* The port of the leaf; NULL: there is no living cable at it, drained ones live. */
static const struct fors_port *port_of(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane)
{
	if (!fors_passable(fabric, leaf, lane) || fabric->leaf[leaf].node == FORS_NONE)
		return NULL;
	return fors_net_port(fabric->net, fabric->leaf[leaf].node, fors_cable(fabric, leaf, lane)->leaf_port);
}

double fors_speeds_cable(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, uint32_t full)
{
	const struct fors_port *port = port_of(fabric, leaf, lane);

	return port ? fors_port_slowness(port, full) : 1;
}

double fors_speeds_plugged(const struct fors_fattree *tree, const struct fors_fattree_cable *cable, uint32_t full)
{
	uint32_t node = tree->kind->at(tree, cable->low).node;

	if (node == FORS_NONE || !fors_fattree_passes(cable))
		return 1;
	return fors_port_slowness(fors_net_port(tree->net, node, cable->low_port), full);
}

double fors_speeds_server(const struct fors_fabric *fabric, const struct fors_slot *slot, uint32_t full)
{
	return fors_port_slowness(fors_net_port(fabric->net, slot->node, slot->ca_port), full);
}
