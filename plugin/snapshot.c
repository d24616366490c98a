/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/numbers.h"
#include "core/net/lfts.h"
#include "core/net/others.h"
#include "core/net/partitions.h"
#include "core/net/portinfo.h"
#include "core/net/rates.h"
#include "daemon/base/digest.h"
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
	static const char prefix[] = {[FORS_CA] = 'H', [FORS_SWITCH] = 'S', [FORS_ROUTER] = 'R'};
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(node));
	enum fors_node_type type = type_of(node);
	char id[FORS_NAME_MAX + 1], desc[FORS_NAME_MAX + 1];
	uint32_t index;
	enum fors_err err;

	snprintf(id, sizeof(id), "%c-%016" PRIx64, prefix[type], guid);
	snprintf(desc, sizeof(desc), "%.*s", (int)sizeof(node->node_desc.description),
		 (const char *)node->node_desc.description);
	err = fors_net_add_node(net, type, osm_node_get_num_physp(node) - 1u, guid, id, desc, &index, error);
	if (!err)
		net->node[index].device = cl_ntoh16(node->node_info.device_id);
	return err;
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

static bool runs_manager(const osm_subn_t *subn, const osm_port_t *port)
{
	return port->guid == subn->sm_port_guid || (port->p_physp->port_info.capability_mask & IB_PORT_CAP_IS_SM);
}

/*
 * Memberships, as OpenSM gives them to ports: it has made its partitions anew in this sweep, before routing. Of more than
 * FORS_PARTITIONS_MAX partitions nothing is known.
 */
static void set_partitions(const osm_subn_t *subn, ib_net64_t guid, struct fors_port *port)
{
	uint64_t bit = 1;

	if (cl_qmap_count(&subn->prtn_pkey_tbl) > FORS_PARTITIONS_MAX)
		return;
	for (cl_map_item_t *item = cl_qmap_head(&subn->prtn_pkey_tbl); item != cl_qmap_end(&subn->prtn_pkey_tbl);
	     item = cl_qmap_next(item), bit <<= 1) {
		const osm_prtn_t *partition = (const osm_prtn_t *)item;

		port->full |= cl_map_get(&partition->full_guid_tbl, guid) ? bit : 0;
		port->limited |= cl_map_get(&partition->part_guid_tbl, guid) ? bit : 0;
	}
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
	to->is_sm = runs_manager(subn, from);
	if (net->node[node].type == FORS_CA)
		set_partitions(subn, from->guid, to);
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

/* Width and speed of a port, if both are known. Of a switch only port 0 says which speeds there are. */
static void set_rate(const osm_subn_t *subn, const struct fors_net *net, osm_physp_t *physp, struct fors_port *port)
{
	bool is_switch = osm_node_get_type(physp->p_node) == IB_NODE_TYPE_SWITCH;
	const osm_physp_t *able = is_switch ? osm_node_get_physp_ptr(physp->p_node, 0) : physp;
	struct fors_portinfo own = fors_portinfo_read((const uint8_t *)&physp->port_info), of_able;

	(void)net;
	if (!able)
		return;
	of_able = fors_portinfo_read((const uint8_t *)&able->port_info);
	fors_portinfo_rate(&own, &of_able, port);
	if (port->speed == FORS_QDR && subn->opt.fdr10 && physp->ext_port_info.link_speed_active == FDR10)
		port->speed = FORS_FDR10;
}

/* Does every version of OpenSM know this speed? 3.3.23 takes NDR for QDR, and none knows XDR. */
static bool is_old_speed(const struct fors_port *port)
{
	return port->speed && port->speed <= FORS_HDR;
}

static bool is_narrow(const ib_port_info_t *near, const ib_port_info_t *far)
{
	uint8_t both = near->link_width_enabled & far->link_width_enabled;

	return near->link_width_active && near->link_width_active != ib_get_highest_link_width(both);
}

/* Does the cable run below what both ends have enabled? OpenSM's word counts where it knows both speeds, else the width. */
static void set_throttled(const osm_subn_t *subn, const struct fors_net *net, osm_physp_t *physp,
			  struct fors_port *port)
{
	if (is_old_speed(port) && is_old_speed(fors_net_port(net, port->peer, port->peer_port)))
		port->is_degraded |= osm_link_is_throttled(physp, subn->opt.fdr10 == 1);
	else
		port->is_degraded |= is_narrow(&physp->port_info, &physp->p_remote_physp->port_info);
}

static void for_cabled_ports(struct fors_net *net, const osm_subn_t *subn,
			     void (*visit)(const osm_subn_t *subn, const struct fors_net *net, osm_physp_t *physp,
					   struct fors_port *port))
{
	for (uint32_t node = 0; node < net->nnodes; node++) {
		osm_node_t *from = osm_get_node_by_guid(subn, cl_hton64(net->node[node].guid));

		for (unsigned p = 1; from && p <= net->node[node].nports; p++) {
			struct fors_port *port = fors_net_port(net, node, p);
			osm_physp_t *physp = osm_node_get_physp_ptr(from, p);

			if (port->peer != FORS_NONE && physp)
				visit(subn, net, physp, port);
		}
	}
}

/*
 * A cable is degraded when OpenSM calls it throttled (slower than what both ends have enabled), or when it
 * is slower than its like: a port that somebody set to less is no better for the exchange. What the ports support
 * does not count, as it does for iblinkinfo: there are switches that support widths for which no cable exists.
 */
static void mark_degraded(struct fors_net *net, const osm_subn_t *subn)
{
	for_cabled_ports(net, subn, set_rate);
	fors_rates_mark(net);
	for_cabled_ports(net, subn, set_throttled);
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
	if (!err) {
		set_ports(made, subn);
		set_cables(made, subn);
		fors_others_mark(made, NULL);
		mark_degraded(made, subn);
	}
	if (err)
		fors_net_free(made);
	else
		*net = made;
	return err;
}

uint64_t fors_snapshot_managers(const struct osm_subn *subn)
{
	uint64_t managers = FORS_DIGEST_EMPTY; /* the table is sorted by GUID */
	cl_map_item_t *item;

	for (item = cl_qmap_head(&subn->port_guid_tbl); item != cl_qmap_end(&subn->port_guid_tbl);
	     item = cl_qmap_next(item))
		if (runs_manager(subn, (osm_port_t *)item))
			managers = fors_digest(managers, &((osm_port_t *)item)->guid, sizeof(ib_net64_t));
	return managers;
}

enum fors_err fors_snapshot_tables(const struct osm_subn *subn, const struct fors_net *net, struct fors_lfts **lfts,
				   struct fors_error *error)
{
	struct fors_lfts *made = fors_lfts_new(cl_qmap_count(&subn->sw_guid_tbl), fors_net_lid_end(net));
	cl_map_item_t *item;
	uint32_t n = 0;

	if (!made)
		return fors_fail_memory(error);
	for (item = cl_qmap_head(&subn->sw_guid_tbl); item != cl_qmap_end(&subn->sw_guid_tbl);
	     item = cl_qmap_next(item))
		made->guid[n++] = cl_ntoh64(osm_node_get_node_guid(((osm_switch_t *)item)->p_node));
	qsort(made->guid, n, sizeof(*made->guid), fors_by_number);
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

uint64_t fors_snapshot_digest(const struct osm_subn *subn, const char *name)
{
	uint64_t digest = fors_digest_text(FORS_DIGEST_EMPTY, name); /* the table is sorted by GUID */
	cl_map_item_t *item;

	for (item = cl_qmap_head(&subn->sw_guid_tbl); item != cl_qmap_end(&subn->sw_guid_tbl);
	     item = cl_qmap_next(item)) {
		const osm_switch_t *sw = (osm_switch_t *)item;
		uint32_t end = sw->max_lid_ho + 1u;

		digest = fors_digest(digest, &item->key, sizeof(item->key));
		if (sw->lft)
			digest = fors_digest(digest, sw->lft, sw->lft_size < end ? sw->lft_size : end);
	}
	return digest;
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
