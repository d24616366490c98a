/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opensm.h"

static enum fors_node_type type_of(osm_node_t *node)
{
	switch (osm_node_get_type(node)) {
	case IB_NODE_TYPE_SWITCH:
		return FORS_SWITCH;
	case IB_NODE_TYPE_ROUTER:
		return FORS_ROUTER;
	default:
		return FORS_CA;
	}
}

static enum fors_err add_node(struct fors_net *net, osm_node_t *node, struct fors_error *error)
{
	static const char prefix[] = { [FORS_CA] = 'H', [FORS_SWITCH] = 'S', [FORS_ROUTER] = 'R' };
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(node));
	enum fors_node_type type = type_of(node);
	char id[FORS_NAME_MAX + 1], desc[FORS_NAME_MAX + 1];
	uint32_t index;

	snprintf(id, sizeof(id), "%c-%016" PRIx64, prefix[type], guid);
	snprintf(desc, sizeof(desc), "%.*s", (int)sizeof(node->node_desc.description),
		 (const char *)node->node_desc.description);
	return fors_net_add_node(net, type, osm_node_get_num_physp(node) - 1u, guid, id, desc, &index, error);
}

static enum fors_err add_nodes(struct fors_net *net, const osm_subn_t *subn, struct fors_error *error)
{
	cl_map_item_t *item;

	for (item = cl_qmap_head(&subn->node_guid_tbl); item != cl_qmap_end(&subn->node_guid_tbl);
	     item = cl_qmap_next(item)) {
		enum fors_err err = add_node(net, (osm_node_t *)item, error);

		if (err)
			return err;
	}
	return FORS_OK;
}

/* GUID, LIDs and flags of the port that an osm_port stands for (of switches: port 0). */
static void set_port(struct fors_net *net, const osm_subn_t *subn, osm_port_t *from)
{
	uint32_t node = fors_net_find_guid(net, cl_ntoh64(osm_node_get_node_guid(from->p_node)));
	uint16_t first, last;
	struct fors_port *to;

	if (node == FORS_NONE || from->p_physp->port_num > net->node[node].nports)
		return;
	to = fors_net_port(net, node, from->p_physp->port_num);
	osm_port_get_lid_range_ho(from, &first, &last);
	to->guid = cl_ntoh64(from->guid);
	to->lid = first > FORS_LID_MAX ? 0 : first;
	for (to->lmc = 0; to->lmc < FORS_MAX_LMC && first + (1u << to->lmc) <= last; to->lmc++)
		;
	to->is_sm = from->guid == subn->sm_port_guid ||
		    (from->p_physp->port_info.capability_mask & IB_PORT_CAP_IS_SM);
}

static void set_ports(struct fors_net *net, const osm_subn_t *subn)
{
	cl_map_item_t *item;

	for (item = cl_qmap_head(&subn->port_guid_tbl); item != cl_qmap_end(&subn->port_guid_tbl);
	     item = cl_qmap_next(item))
		set_port(net, subn, (osm_port_t *)item);
}

/* One end of a live cable; the other end gets its turn with its own node. */
static void set_cable(struct fors_net *net, uint32_t node, osm_physp_t *physp)
{
	osm_physp_t *remote = physp->p_remote_physp;
	struct fors_port *port;
	uint32_t peer;

	if (!remote || remote->p_remote_physp != physp || remote == physp || !osm_link_is_healthy(physp))
		return;
	peer = fors_net_find_guid(net, cl_ntoh64(osm_node_get_node_guid(remote->p_node)));
	if (peer == FORS_NONE || remote->port_num > net->node[peer].nports || !remote->port_num)
		return;
	port = fors_net_port(net, node, physp->port_num);
	port->peer = peer;
	port->peer_port = remote->port_num;
}

static void set_cables(struct fors_net *net, const osm_subn_t *subn)
{
	cl_map_item_t *item;

	for (item = cl_qmap_head(&subn->node_guid_tbl); item != cl_qmap_end(&subn->node_guid_tbl);
	     item = cl_qmap_next(item)) {
		osm_node_t *from = (osm_node_t *)item;
		uint32_t node = fors_net_find_guid(net, cl_ntoh64(osm_node_get_node_guid(from)));

		for (unsigned p = 1; node != FORS_NONE && p <= net->node[node].nports; p++) {
			osm_physp_t *physp = osm_node_get_physp_ptr(from, p);

			if (physp)
				set_cable(net, node, physp);
		}
	}
}

enum fors_err fors_snapshot_net(const struct osm_subn *subn, struct fors_net **net, struct fors_error *error)
{
	struct fors_net *made = fors_net_new();
	enum fors_err err;

	if (!made)
		return fors_fail_memory(error);
	err = add_nodes(made, subn, error);
	if (!err)
		err = fors_net_index(made, error);
	if (err) {
		fors_net_free(made);
		return err;
	}
	set_ports(made, subn);
	set_cables(made, subn);
	*net = made;
	return FORS_OK;
}

/* One more than the last LID of any port. */
static uint32_t lids_of(const struct fors_net *net)
{
	uint32_t end = 1;

	for (uint32_t p = 0; p < net->nports; p++) {
		if (net->port[p].lid && net->port[p].lid + (1u << net->port[p].lmc) > end)
			end = net->port[p].lid + (1u << net->port[p].lmc);
	}
	return end;
}

static int by_guid(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

enum fors_err fors_snapshot_tables(const struct osm_subn *subn, const struct fors_net *net, struct fors_lfts **lfts,
				   struct fors_error *error)
{
	struct fors_lfts *made = fors_lfts_new(cl_qmap_count(&subn->sw_guid_tbl), lids_of(net));
	cl_map_item_t *item;
	uint32_t n = 0;

	if (!made)
		return fors_fail_memory(error);
	for (item = cl_qmap_head(&subn->sw_guid_tbl); item != cl_qmap_end(&subn->sw_guid_tbl);
	     item = cl_qmap_next(item))
		made->guid[n++] = cl_ntoh64(osm_node_get_node_guid(((osm_switch_t *)item)->p_node));
	qsort(made->guid, n, sizeof(*made->guid), by_guid);
	for (uint32_t row = 0; row < n; row++) {
		osm_switch_t *sw = osm_get_switch_by_guid(subn, cl_hton64(made->guid[row]));
		uint32_t count = sw->lft_size < made->nlids ? sw->lft_size : made->nlids;

		if (sw->lft)
			memcpy(made->port + (size_t)row * made->nlids, sw->lft, count);
	}
	*lfts = made;
	return FORS_OK;
}

const char *fors_snapshot_late_switch(const struct osm_subn *subn)
{
	cl_map_item_t *item;

	for (item = cl_qmap_head(&subn->sw_guid_tbl); item != cl_qmap_end(&subn->sw_guid_tbl);
	     item = cl_qmap_next(item)) {
		osm_switch_t *sw = (osm_switch_t *)item;

		/* OpenSM has no new_lft for a switch whose tables came from its unicast cache */
		if (sw->new_lft && (!sw->lft || memcmp(sw->lft, sw->new_lft, sw->max_lid_ho + 1u)))
			return sw->p_node->print_desc;
	}
	return NULL;
}

void fors_snapshot_store(struct osm_subn *subn, const struct fors_lfts *lfts)
{
	for (uint32_t row = 0; row < lfts->nswitches; row++) {
		osm_switch_t *sw = osm_get_switch_by_guid(subn, cl_hton64(lfts->guid[row]));
		uint32_t count;

		if (!sw || !sw->new_lft)
			continue;
		count = sw->lft_size < lfts->nlids ? sw->lft_size : lfts->nlids;
		memcpy(sw->new_lft, lfts->port + (size_t)row * lfts->nlids, count);
	}
}
