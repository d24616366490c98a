/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _XOPEN_SOURCE 700 /* nftw() */
#define _DEFAULT_SOURCE 1
#include "subnet.h"
#include "tests/unit/unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QDR 4 /* 10 Gb/s per lane */
#define WIDTH_4X 2

/* ---- OpenSM ---- */

static void init_manager(struct subnet *subnet)
{
	osm_sm_t *sm = &subnet->osm.sm;

	sm->p_log = &subnet->osm.log;
	sm->p_subn = &subnet->osm.subn;
	sm->p_lock = &subnet->osm.lock;
	assert_int_equal(cl_event_init(&sm->signal_event, FALSE), CL_SUCCESS);
	assert_int_equal(cl_spinlock_init(&sm->signal_lock), CL_SUCCESS);
	sm->ucast_mgr.p_log = &subnet->osm.log;
	sm->ucast_mgr.p_subn = &subnet->osm.subn;
	sm->ucast_mgr.p_lock = &subnet->osm.lock;
	sm->ucast_mgr.sm = sm;
	cl_qmap_init(&sm->ucast_mgr.cache_sw_tbl);
}

static void init_opensm(struct subnet *subnet)
{
	osm_opensm_t *osm = &subnet->osm;
	char log[96], cache[80];

	snprintf(subnet->folder, sizeof(subnet->folder), "/tmp/fors-engine-XXXXXX");
	assert_non_null(mkdtemp(subnet->folder));
	snprintf(cache, sizeof(cache), "%s/", subnet->folder);
	setenv("OSM_CACHE_DIR", cache, 1);
	snprintf(log, sizeof(log), "%s/opensm.log", subnet->folder);
	osm_opensm_construct(osm);
	osm->osm_version = OSM_VERSION;
	assert_int_equal(osm_log_init_v2(&osm->log, TRUE, OSM_LOG_ERROR | OSM_LOG_INFO, log, 0, FALSE), IB_SUCCESS);
	assert_int_equal(cl_plock_init(&osm->lock), CL_SUCCESS);
	assert_int_equal(osm_db_init(&osm->db, &osm->log), 0);
	osm_subn_set_default_opt(&subnet->opt);
	assert_int_equal(osm_subn_init(&osm->subn, osm, &subnet->opt), IB_SUCCESS);
	osm->subn.sm_state = IB_SMINFO_STATE_MASTER;
	init_manager(subnet);
}

/* ---- nodes ---- */

/* What a port answers when OpenSM asks for its node. */
static void answer(ib_smp_t *smp, const struct fors_net *net, uint32_t node, unsigned port)
{
	static const uint8_t type[] = {
		[FORS_CA] = IB_NODE_TYPE_CA, [FORS_SWITCH] = IB_NODE_TYPE_SWITCH, [FORS_ROUTER] = IB_NODE_TYPE_ROUTER};
	ib_node_info_t *info = (ib_node_info_t *)smp->data;
	const struct fors_node *from = &net->node[node];

	memset(smp, 0, sizeof(*smp));
	smp->attr_id = IB_MAD_ATTR_NODE_INFO;
	info->node_type = type[from->type];
	info->num_ports = from->nports;
	info->node_guid = info->sys_guid = cl_hton64(from->guid);
	info->port_guid = from->type == FORS_SWITCH ? info->node_guid : cl_hton64(fors_net_port(net, node, port)->guid);
	info->port_num_vendor_id = cl_hton32((uint32_t)port << 24);
}

static void set_rate(osm_physp_t *physp)
{
	ib_port_info_t *info = &physp->port_info;

	ib_port_info_set_port_state(info, IB_LINK_ACTIVE);
	info->link_width_active = info->link_width_enabled = info->link_width_supported = WIDTH_4X;
	info->state_info1 = (uint8_t)(QDR << 4 | ib_port_info_get_port_state(info));
	info->link_speed = QDR << 4 | QDR;
}

static void set_lids(osm_physp_t *physp, const struct fors_port *port)
{
	physp->port_info.base_lid = cl_hton16(port->lid);
	ib_port_info_set_lmc(&physp->port_info, port->lmc);
}

/* Where OpenSM looks for LIDs. */
static void add_end(struct subnet *subnet, const struct fors_net *net, uint32_t index, osm_node_t *node)
{
	unsigned number = net->node[index].type == FORS_SWITCH ? 0 : 1;
	union {
		ib_smp_t smp;
		uint64_t align;
	} mad;
	osm_port_t *port;

	answer(&mad.smp, net, index, number);
	set_lids(&node->physp_table[number], fors_net_port(net, index, number));
	port = osm_port_new((ib_node_info_t *)mad.smp.data, node);
	assert_non_null(port);
	cl_qmap_insert(&subnet->osm.subn.port_guid_tbl, port->guid, &port->map_item);
	if (number && !subnet->osm.subn.sm_port_guid)
		subnet->osm.subn.sm_port_guid = port->guid;
}

static void add_switch(struct subnet *subnet, osm_node_t *node, osm_madw_t *madw, uint16_t nlids)
{
	osm_switch_t *sw = osm_switch_new(node, madw);

	assert_non_null(sw);
	node->sw = sw;
	sw->max_lid_ho = nlids - 1;
	assert_int_equal(osm_switch_prepare_path_rebuild(sw, nlids - 1), 0);
	assert_non_null(sw->new_lft);
	assert_true(sw->lft_size >= nlids);
	cl_qmap_insert(&subnet->osm.subn.sw_guid_tbl, osm_node_get_node_guid(node), &sw->map_item);
}

static void add_node(struct subnet *subnet, const struct fors_net *net, uint32_t index)
{
	const struct fors_node *from = &net->node[index];
	ib_smp_t smp;
	osm_madw_t madw = {.p_mad = (ib_mad_t *)&smp};
	osm_node_t *node;

	answer(&smp, net, index, 1);
	node = osm_node_new(&madw);
	assert_non_null(node);
	memcpy(node->node_desc.description, from->desc, strnlen(from->desc, 64));
	free(node->print_desc);
	node->print_desc = strdup(from->desc);
	for (unsigned port = from->type == FORS_SWITCH ? 0 : 1; port <= from->nports; port++) {
		answer(&smp, net, index, port);
		if (!osm_physp_is_valid(&node->physp_table[port])) /* the one that answered first is there */
			osm_node_init_physp(node, (uint8_t)port, &madw);
		set_rate(&node->physp_table[port]);
	}
	cl_qmap_insert(&subnet->osm.subn.node_guid_tbl, osm_node_get_node_guid(node), &node->map_item);
	memset(&smp, 0, sizeof(smp));
	smp.attr_id = IB_MAD_ATTR_SWITCH_INFO;
	((ib_switch_info_t *)smp.data)->lin_cap = cl_hton16(IB_LID_UCAST_END_HO + 1);
	((ib_switch_info_t *)smp.data)->mcast_cap = cl_hton16(64);
	if (from->type == FORS_SWITCH)
		add_switch(subnet, node, &madw, (uint16_t)fors_net_lid_end(net));
	add_end(subnet, net, index, node);
}

static osm_node_t *node_of(struct subnet *subnet, const struct fors_net *net, uint32_t node)
{
	return osm_get_node_by_guid(&subnet->osm.subn, cl_hton64(net->node[node].guid));
}

struct subnet *subnet_new(const struct fors_net *net)
{
	struct subnet *subnet = calloc(1, sizeof(*subnet));

	assert_non_null(subnet);
	init_opensm(subnet);
	for (uint32_t i = 0; i < net->nnodes; i++)
		add_node(subnet, net, i);
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned p = 1; p <= net->node[i].nports; p++) {
			const struct fors_port *port = fors_net_port(net, i, p);

			if (port->peer != FORS_NONE)
				osm_node_link(node_of(subnet, net, i), (uint8_t)p, node_of(subnet, net, port->peer),
					      port->peer_port);
		}
	return subnet;
}

/* ---- the end ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
	return remove(path);
}

/* Exported by opensm, but in no header. */
void osm_routing_modules_destroy(osm_opensm_t *osm);

void subnet_free(struct subnet *subnet)
{
	osm_subn_destroy(&subnet->osm.subn);
	osm_routing_modules_destroy(&subnet->osm);
	osm_db_destroy(&subnet->osm.db);
	osm_log_destroy(&subnet->osm.log);
	nftw(subnet->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(subnet);
}

/* ---- looking and changing ---- */

osm_node_t *subnet_node(struct subnet *subnet, const char *name)
{
	cl_qmap_t *nodes = &subnet->osm.subn.node_guid_tbl;

	for (cl_map_item_t *item = cl_qmap_head(nodes); item != cl_qmap_end(nodes); item = cl_qmap_next(item))
		if (!strcmp(((osm_node_t *)item)->print_desc, name))
			return (osm_node_t *)item;
	fail_msg("no %s", name);
	return NULL;
}

osm_switch_t *subnet_switch(struct subnet *subnet, const char *name)
{
	return subnet_node(subnet, name)->sw;
}

osm_physp_t *subnet_port(struct subnet *subnet, const char *name, unsigned port)
{
	return &subnet_node(subnet, name)->physp_table[port];
}

osm_port_t *subnet_end(struct subnet *subnet, const char *name)
{
	osm_node_t *node = subnet_node(subnet, name);

	return osm_get_port_by_guid(&subnet->osm.subn, node->physp_table[node->sw ? 0 : 1].port_guid);
}

void subnet_cut(struct subnet *subnet, const char *name, unsigned port)
{
	osm_physp_t *physp = subnet_port(subnet, name, port), *remote = physp->p_remote_physp;

	assert_non_null(remote);
	osm_node_unlink(physp->p_node, (uint8_t)port, remote->p_node, remote->port_num);
}

void subnet_join(struct subnet *subnet, const char *a, unsigned port_a, const char *b, unsigned port_b)
{
	osm_node_link(subnet_node(subnet, a), (uint8_t)port_a, subnet_node(subnet, b), (uint8_t)port_b);
}

void subnet_install(struct subnet *subnet)
{
	cl_qmap_t *switches = &subnet->osm.subn.sw_guid_tbl;

	for (cl_map_item_t *item = cl_qmap_head(switches); item != cl_qmap_end(switches); item = cl_qmap_next(item)) {
		osm_switch_t *sw = (osm_switch_t *)item;

		if (!sw->lft)
			sw->lft = malloc(sw->lft_size);
		assert_non_null(sw->lft);
		memcpy(sw->lft, sw->new_lft, sw->lft_size);
	}
}

unsigned subnet_logged(const struct subnet *subnet, const char *text)
{
	char path[96], line[4096];
	unsigned count = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/opensm.log", subnet->folder);
	log = fopen(path, "r");
	assert_non_null(log);
	while (fgets(line, sizeof(line), log))
		count += strstr(line, text) != NULL;
	fclose(log);
	return count;
}

const char *subnet_write(const struct subnet *subnet, const char *name, const char *text)
{
	static char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", subnet->folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}
