/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of plugin/snapshot.c: what is copied out of OpenSM's structures, and into them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "core/net/rates.h"
#include "plugin/snapshot.h"
#include "subnet.h"
#include "tests/unit/support.h"

FREES(subnet_free, struct subnet *)

#define SPEC "FT(2;3,3)"

static struct fors_net *net_of(const struct subnet *subnet)
{
	struct fors_net *net;
	struct fors_error error;

	if (fors_snapshot_net(&subnet->osm.subn, &net, &error))
		fail_msg("%s", error.text);
	return net;
}

static uint32_t find(const struct fors_net *net, const char *name)
{
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (!strcmp(net->node[i].desc, name))
			return i;
	fail_msg("no %s", name);
	return 0;
}

/* The port of a net made of OpenSM's subnet as it is. */
static struct fors_port port_of(const struct subnet *subnet, const char *name, unsigned port)
{
	struct fors_net *net FREED(fors_net_free) = net_of(subnet);
	struct fors_port found = *fors_net_port(net, find(net, name), port);

	return found;
}

static bool is_cabled(const struct subnet *subnet, const char *name, unsigned port)
{
	return port_of(subnet, name, port).peer != FORS_NONE;
}

/* How many ends of cables are degraded. */
static unsigned degraded(const struct subnet *subnet)
{
	struct fors_net *net FREED(fors_net_free) = net_of(subnet);
	unsigned count = 0;

	for (uint32_t i = 0; i < net->nports; i++)
		count += net->port[i].is_degraded;
	return count;
}

static void assert_same_port(const struct fors_net *net, const struct fors_port *a, const struct fors_net *from,
			     const struct fors_port *b, bool has_guid)
{
	assert_int_equal(a->peer == FORS_NONE, b->peer == FORS_NONE);
	if (a->peer != FORS_NONE) {
		assert_int_equal(net->node[a->peer].guid, from->node[b->peer].guid);
		assert_int_equal(a->peer_port, b->peer_port);
	}
	if (!has_guid)
		return;
	assert_int_equal(a->guid, b->guid);
	assert_int_equal(a->lid, b->lid);
	assert_int_equal(a->lmc, b->lmc);
	assert_false(a->is_degraded);
}

/* Nodes, ports, cables, LIDs: all that the subnet was made of comes back. */
static void all_is_copied(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 2);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	struct fors_net *net FREED(fors_net_free) = net_of(subnet);
	unsigned managers = 0;

	assert_int_equal(net->nnodes, bed->net->nnodes);
	for (uint32_t i = 0; i < net->nnodes; i++) {
		const struct fors_node *node = &net->node[i];
		uint32_t from = fors_net_find_guid(bed->net, node->guid);
		char id[32];

		assert_int_not_equal(from, FORS_NONE);
		assert_int_equal(node->type, bed->net->node[from].type);
		assert_int_equal(node->nports, bed->net->node[from].nports);
		assert_string_equal(node->desc, bed->net->node[from].desc);
		snprintf(id, sizeof(id), "%c-%016llx", node->type == FORS_SWITCH ? 'S' : 'H',
			 (unsigned long long)node->guid);
		assert_string_equal(node->id, id);
		for (unsigned p = 0; p <= node->nports; p++)
			assert_same_port(net, fors_net_port(net, i, p), bed->net, fors_net_port(bed->net, from, p),
					 (node->type == FORS_SWITCH) == (p == 0));
		managers += fors_net_port(net, i, node->type == FORS_SWITCH ? 0 : 1)->is_sm;
	}
	assert_int_equal(managers, 1);
}

static void names_and_kinds_of_nodes(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	osm_node_t *node = subnet_node(subnet, "Node00-01");
	struct fors_net *net FREED(fors_net_free) = NULL;
	uint32_t index;

	node->node_info.node_type = IB_NODE_TYPE_ROUTER;
	memset(node->node_desc.description, 'x', sizeof(node->node_desc.description)); /* no NUL */
	net = net_of(subnet);
	index = fors_net_find_guid(net, cl_ntoh64(osm_node_get_node_guid(node)));
	assert_int_equal(net->node[index].type, FORS_ROUTER);
	assert_int_equal(net->node[index].id[0], 'R');
	assert_int_equal(strlen(net->node[index].desc), FORS_NAME_MAX);
}

/* LIDs that OpenSM has not assigned, or that are none; as many as the LMC says. */
static void lids(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	ib_port_info_t *info = &subnet_port(subnet, "Node00-01", 1)->port_info;

	for (uint8_t lmc = 0; lmc <= FORS_MAX_LMC; lmc++) {
		info->base_lid = cl_hton16(0x4000);
		ib_port_info_set_lmc(info, lmc);
		assert_int_equal(port_of(subnet, "Node00-01", 1).lid, 0x4000);
		assert_int_equal(port_of(subnet, "Node00-01", 1).lmc, lmc);
	}
	ib_port_info_set_lmc(info, 0);
	info->base_lid = cl_hton16(FORS_LID_MAX);
	assert_int_equal(port_of(subnet, "Node00-01", 1).lid, FORS_LID_MAX);
	info->base_lid = cl_hton16(FORS_LID_MAX + 1);
	assert_int_equal(port_of(subnet, "Node00-01", 1).lid, 0);
	info->base_lid = 0;
	assert_int_equal(port_of(subnet, "Node00-01", 1).lid, 0);
}

/* What OpenSM itself would not route over is no cable, whichever end is at fault; nor what contradicts itself. */
static void cables_that_are_none(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	osm_physp_t *up = subnet_port(subnet, "Leaf00", 4), *down = up->p_remote_physp, *other;
	const char *spine = down->p_node->print_desc;

	assert_true(is_cabled(subnet, "Leaf00", 4) && is_cabled(subnet, spine, down->port_num));
	up->healthy = FALSE;
	assert_false(is_cabled(subnet, "Leaf00", 4));
	assert_false(is_cabled(subnet, spine, down->port_num));
	up->healthy = TRUE;
	down->healthy = FALSE;
	assert_false(is_cabled(subnet, "Leaf00", 4));
	assert_false(is_cabled(subnet, spine, down->port_num));
	down->healthy = TRUE;
	down->p_remote_physp = NULL;
	assert_false(is_cabled(subnet, "Leaf00", 4));
	other = subnet_port(subnet, "Leaf00", 5);
	down->p_remote_physp = other;
	assert_false(is_cabled(subnet, "Leaf00", 4));
	assert_false(is_cabled(subnet, spine, down->port_num));
	down->p_remote_physp = up;
	up->p_remote_physp = up; /* a loop back plug */
	assert_false(is_cabled(subnet, "Leaf00", 4));
	up->p_remote_physp = down;
	down->port_num = 0;
	assert_false(is_cabled(subnet, "Leaf00", 4));
	down->port_num = 1;
	assert_true(is_cabled(subnet, "Leaf00", 4));
	down->p_node->physp_tbl_size = 1; /* a switch without ports */
	assert_false(is_cabled(subnet, "Leaf00", 4));
	down->p_node->physp_tbl_size = 4;
}

/* A node that OpenSM has not made up its mind about. */
static void ports_that_are_not_there(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	osm_physp_t *last = subnet_port(subnet, "Leaf00", 6);
	ib_net64_t guid;

	subnet_cut(subnet, "Leaf00", 6);
	guid = last->port_guid;
	last->port_guid = 0; /* OpenSM's sign for "no such port" */
	assert_false(is_cabled(subnet, "Leaf00", 6));
	assert_true(is_cabled(subnet, "Leaf00", 5));
	last->port_guid = guid;
	subnet_end(subnet, "Node00-01")->p_physp->port_num = 2;
	assert_int_equal(port_of(subnet, "Node00-01", 1).lid, 0);
}

/* Speeds of both ends of the cable of a port: active, and what both could do. */
static void set_speed(struct subnet *subnet, const char *name, unsigned port, unsigned width, unsigned plain,
		      unsigned extended, unsigned best)
{
	osm_physp_t *end = subnet_port(subnet, name, port);

	for (unsigned i = 0; i < 2; i++, end = end->p_remote_physp) {
		ib_port_info_t *info = &end->port_info;

		info->link_width_active = (uint8_t)width;
		info->link_width_enabled = info->link_width_supported = (uint8_t)width;
		info->link_speed = (uint8_t)(plain << 4 | (best ? best : plain));
		info->link_speed_ext = (uint8_t)(extended << 4 | 15);
		info->link_speed_ext_enabled = (uint8_t)extended;
		info->link_rt_latency = 0; /* with extended speeds 2 in its first byte */
	}
}

/* Both ends of each cable between switches. */
static void set_speeds(struct subnet *subnet, unsigned width, unsigned plain, unsigned extended)
{
	static const char *const leaf[] = {"Leaf00", "Leaf01", "Leaf02"};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned port = 4; port <= 6; port++)
			set_speed(subnet, leaf[i], port, width, plain, extended, 0);
}

/* Extended speeds, NDR and XDR among them. */
static void can_extended(struct subnet *subnet, bool can)
{
	static const char *const name[] = {"Leaf00", "Leaf01", "Leaf02", "Spine00", "Spine01", "Spine02"};

	for (unsigned i = 0; i < 6; i++) {
		ib_port_info_t *info = &subnet_port(subnet, name[i], 0)->port_info;

		info->capability_mask = can ? IB_PORT_CAP_HAS_EXT_SPEEDS | IB_PORT_CAP_HAS_CAP_MASK2 : 0;
		info->capability_mask2 = CL_HTON16(can ? 0x1C30 : 0);
	}
}

/*
 * Both ends of the cable of a port at a speed that the switches tell only to managers that ask for extended speeds; the
 * manager did or did not. Enabled is all that there is.
 */
static void set_new_speed(struct subnet *subnet, const char *name, unsigned port, unsigned width, bool is_xdr,
			  bool is_told)
{
	osm_physp_t *end = subnet_port(subnet, name, port);

	set_speed(subnet, name, port, width, 4, is_xdr ? 0 : 8, 7);
	for (unsigned i = 0; i < 2; i++, end = end->p_remote_physp) {
		ib_port_info_t *info = &end->port_info;

		info->link_rt_latency = CL_HTON32(is_xdr && is_told ? 0x29000000 : 0);
		info->link_speed_ext_enabled = 15;
		info->link_width_enabled = 2;
		if (!is_told)
			info->link_speed_ext = info->link_speed_ext_enabled = 0;
	}
}

static void set_new_speeds(struct subnet *subnet, bool is_xdr, bool is_told)
{
	static const char *const leaf[] = {"Leaf00", "Leaf01", "Leaf02"};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned port = 4; port <= 6; port++)
			set_new_speed(subnet, leaf[i], port, 2, is_xdr, is_told);
}

/* NDR and XDR switches, whatever the manager has asked, and whatever its version takes them for: none is slow that is not. */
static void newest_speeds(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);

	can_extended(subnet, true);
	for (unsigned kind = 0; kind < 2; kind++) {
		enum fors_speed speed = kind ? FORS_XDR : FORS_NDR;

		for (unsigned is_told = 0; is_told < 2; is_told++) {
			set_new_speeds(subnet, kind, is_told);
			assert_int_equal(port_of(subnet, "Leaf01", 5).speed, is_told ? speed : FORS_SPEED_UNKNOWN);
			assert_int_equal(degraded(subnet), 0);
			set_new_speed(subnet, "Leaf01", 5, 2, kind, !is_told); /* some were asked, some were not */
			assert_int_equal(degraded(subnet), 0);
			set_new_speed(subnet, "Leaf01", 5, 16, kind, is_told); /* 2x where 4x is enabled */
			assert_int_equal(degraded(subnet), 2);
			set_new_speed(subnet, "Leaf01", 5, 1, kind, is_told);
			assert_int_equal(degraded(subnet), 2);
		}
		set_speed(subnet, "Leaf01", 5, 2, 4, 4, 0); /* HDR among them */
		assert_int_equal(degraded(subnet), 2);
	}
	set_new_speeds(subnet, false, true);
	set_new_speed(subnet, "Leaf01", 5, 2, true, true);
	assert_int_equal(port_of(subnet, "Leaf01", 5).speed, FORS_XDR);
	assert_int_equal(degraded(subnet), 0);
}

/* Width and speed, from the slowest up: of two kinds of link the slower is degraded, if it is in the minority. */
static void slower_than_its_like(void **state)
{
	static const struct {
		unsigned width, plain, extended;
	} kind[] = {
		{1, 1, 0},  /* 2.5 Gb/s */
		{1, 2, 0},  /* 5 */
		{4, 1, 0},  /* 8X: 20 */
		{16, 4, 0}, /* 2X: 20, no: 2 times 10 */
		{1, 4, 1},  /* 14 */
		{1, 4, 2},  /* 25 */
		{2, 4, 0},  /* 40 */
		{1, 4, 4},  /* 53 */
		{2, 4, 1},  /* 56 */
		{8, 2, 0},  /* 12X: 60 */
		{2, 4, 2},  /* 103 */
		{1, 4, 8},  /* 106 */
		{2, 4, 8},  /* 425 */
		{8, 4, 8},  /* 1275 */
	};
	static const uint32_t rate[] = {2500,  5000,  20000, 20000,  14062,  25781,  40000,
					53125, 56248, 60000, 103124, 106250, 425000, 1275000};
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);

	can_extended(subnet, true);
	for (unsigned most = 0; most < 14; most++)
		for (unsigned one = 0; one < 14; one++) {
			set_speeds(subnet, kind[most].width, kind[most].plain, kind[most].extended);
			set_speed(subnet, "Leaf01", 5, kind[one].width, kind[one].plain, kind[one].extended, 0);
			if (degraded(subnet) != (rate[one] < rate[most] ? 2 : 0))
				fail_msg("%u among %u: %u degraded", rate[one], rate[most], degraded(subnet));
			assert_int_equal(port_of(subnet, "Leaf01", 5).is_degraded, rate[one] < rate[most]);
		}
}

/* Width and speed of a port as PortInfo has them, extended speeds and Mellanox' own too. */
static void widths_and_speeds(void **state)
{
	static const struct {
		unsigned width, plain, extended;
		uint8_t lanes;
		enum fors_speed speed;
	} kind[] = {
		{1, 1, 0, 1, FORS_SDR},	 {2, 2, 0, 4, FORS_DDR},	   {4, 4, 0, 8, FORS_QDR},
		{8, 4, 1, 12, FORS_FDR}, {16, 4, 2, 2, FORS_EDR},	   {2, 4, 4, 4, FORS_HDR},
		{2, 4, 8, 4, FORS_NDR},	 {0, 4, 8, 0, FORS_SPEED_UNKNOWN}, {2, 8, 0, 0, FORS_SPEED_UNKNOWN},
	};
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	osm_physp_t *physp = subnet_port(subnet, "Leaf01", 5);

	can_extended(subnet, true);
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		set_speed(subnet, "Leaf01", 5, kind[i].width, kind[i].plain, kind[i].extended, 0);
		assert_int_equal(port_of(subnet, "Leaf01", 5).width, kind[i].lanes);
		assert_int_equal(port_of(subnet, "Leaf01", 5).speed, kind[i].speed);
	}
	set_speed(subnet, "Leaf01", 5, 2, 4, 0, 0);
	physp->ext_port_info.link_speed_active = FDR10;
	subnet->osm.subn.opt.fdr10 = 0;
	assert_int_equal(port_of(subnet, "Leaf01", 5).speed, FORS_QDR);
	subnet->osm.subn.opt.fdr10 = 1;
	assert_int_equal(port_of(subnet, "Leaf01", 5).speed, FORS_FDR10);
	set_speed(subnet, "Leaf01", 5, 2, 4, 2, 0);
	assert_int_equal(port_of(subnet, "Leaf01", 5).speed, FORS_EDR);
}

/* A rate that is not known makes nothing degraded; extended speeds count where port 0 says that there are any. */
static void rates_that_are_not_known(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);

	set_speed(subnet, "Leaf01", 5, 0, 4, 0, 0);
	assert_int_equal(degraded(subnet), 0);
	set_speed(subnet, "Leaf01", 5, 2, 0, 0, 0);
	assert_int_equal(degraded(subnet), 0);
	set_speed(subnet, "Leaf01", 5, 2, 8, 0, 0);
	assert_int_equal(degraded(subnet), 0);
	set_speeds(subnet, 2, 4, 4);
	set_speed(subnet, "Leaf01", 5, 2, 4, 1, 0);
	assert_int_equal(degraded(subnet), 0);
	can_extended(subnet, true);
	assert_int_equal(degraded(subnet), 2);
}

/* Ports that could do more, says OpenSM; with all alike nothing else would notice. */
static void throttled(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);

	set_speeds(subnet, 2, 2, 0);
	assert_int_equal(degraded(subnet), 0);
	set_speed(subnet, "Leaf01", 5, 2, 2, 0, 7);
	assert_int_equal(degraded(subnet), 2);
	assert_true(port_of(subnet, "Leaf01", 5).is_degraded);
}

static void ports_that_run_managers(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	const osm_subn_t *subn = &subnet->osm.subn;
	ib_port_info_t *one = &subnet_port(subnet, "Node01-01", 1)->port_info;
	ib_port_info_t *two = &subnet_port(subnet, "Node02-02", 1)->port_info;
	uint64_t alone = fors_snapshot_managers(subn), both;

	assert_false(port_of(subnet, "Node01-01", 1).is_sm);
	one->capability_mask = IB_PORT_CAP_IS_SM;
	assert_true(port_of(subnet, "Node01-01", 1).is_sm);
	assert_false(port_of(subnet, "Node02-02", 1).is_sm);
	both = fors_snapshot_managers(subn);
	assert_true(both != alone);
	one->capability_mask = 0;
	assert_true(fors_snapshot_managers(subn) == alone);
	two->capability_mask = IB_PORT_CAP_IS_SM | IB_PORT_CAP_HAS_TRAP;
	assert_true(fors_snapshot_managers(subn) != alone && fors_snapshot_managers(subn) != both);
	one->capability_mask = IB_PORT_CAP_HAS_TRAP;
	both = fors_snapshot_managers(subn);
	one->capability_mask = 0;
	assert_true(fors_snapshot_managers(subn) == both);
}

/* ---- tables ---- */

static const uint8_t *row_of(const struct fors_lfts *lfts, struct subnet *subnet, const char *name)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(subnet_node(subnet, name)));

	return lfts->port + (size_t)fors_lfts_row(lfts, guid) * lfts->nlids;
}

static struct fors_lfts *tables_of(const struct subnet *subnet, const struct fors_net *net)
{
	struct fors_lfts *lfts;
	struct fors_error error;

	assert_int_equal(fors_snapshot_tables(&subnet->osm.subn, net, &lfts, &error), FORS_OK);
	return lfts;
}

/* What is stored is what the switches shall hold; installed, it is what is read. */
static void tables_there_and_back(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 2);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;

	fors_snapshot_store(&subnet->osm.subn, bed->lfts);
	subnet_install(subnet);
	lfts = tables_of(subnet, bed->net);
	assert_int_equal(lfts->nswitches, bed->lfts->nswitches);
	assert_int_equal(lfts->nlids, bed->lfts->nlids);
	for (uint32_t row = 0; row < lfts->nswitches; row++) {
		assert_true(row == 0 || lfts->guid[row - 1] < lfts->guid[row]);
		assert_memory_equal(lfts->port + (size_t)row * lfts->nlids,
				    bed->lfts->port + (size_t)fors_lfts_row(bed->lfts, lfts->guid[row]) * lfts->nlids,
				    lfts->nlids);
	}
}

/* LIDs that the tables do not speak of keep what OpenSM has set; switches that nobody knows are left out. */
static void stores_only_what_is_there(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	osm_switch_t *leaf = subnet_switch(subnet, "Leaf00"), *spine = subnet_switch(subnet, "Spine01");
	uint32_t nlids = bed->lfts->nlids;

	free(spine->new_lft);
	spine->new_lft = NULL;
	memset(leaf->new_lft, 77, leaf->lft_size);
	bed->lfts->guid[bed->lfts->nswitches - 1] ^= UINT64_C(1) << 60;
	fors_snapshot_store(&subnet->osm.subn, bed->lfts);
	assert_int_not_equal(leaf->new_lft[nlids - 1], 77);
	assert_int_equal(leaf->new_lft[nlids], 77);
	memset(leaf->new_lft, 77, leaf->lft_size);
	leaf->lft_size = 8;
	fors_snapshot_store(&subnet->osm.subn, bed->lfts);
	assert_int_equal(leaf->new_lft[8], 77);
	leaf->lft_size = (uint16_t)nlids;
}

/* A switch whose tables are not known, or short. */
static void reads_only_what_is_there(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	osm_switch_t *leaf = subnet_switch(subnet, "Leaf00"), *spine = subnet_switch(subnet, "Spine01");
	struct fors_lfts *lfts FREED(fors_lfts_free) = NULL;
	uint16_t size = leaf->lft_size;

	fors_snapshot_store(&subnet->osm.subn, bed->lfts);
	subnet_install(subnet);
	free(spine->lft);
	spine->lft = NULL;
	leaf->lft_size = 8;
	lfts = tables_of(subnet, bed->net);
	assert_int_equal(row_of(lfts, subnet, "Spine01")[5], FORS_NO_PATH);
	assert_int_equal(row_of(lfts, subnet, "Leaf00")[7], leaf->lft[7]);
	assert_int_equal(row_of(lfts, subnet, "Leaf00")[8], FORS_NO_PATH);
	leaf->lft_size = size;
}

/* Who does not hold yet what it shall hold. */
static void late_switches(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	const osm_subn_t *subn = &subnet->osm.subn;
	osm_switch_t *leaf = subnet_switch(subnet, "Leaf02");
	uint8_t *held, *wanted;

	subnet_install(subnet);
	assert_null(fors_snapshot_late_switch(subn));
	leaf->lft[leaf->max_lid_ho] ^= 1;
	assert_string_equal(fors_snapshot_late_switch(subn), "Leaf02");
	leaf->lft[leaf->max_lid_ho] ^= 1;
	leaf->lft[leaf->max_lid_ho + 1] ^= 1; /* nobody's LID */
	assert_null(fors_snapshot_late_switch(subn));
	held = leaf->lft;
	leaf->lft = NULL;
	assert_string_equal(fors_snapshot_late_switch(subn), "Leaf02");
	wanted = leaf->new_lft; /* from OpenSM's unicast cache */
	leaf->new_lft = NULL;
	assert_null(fors_snapshot_late_switch(subn));
	leaf->lft = held;
	leaf->new_lft = wanted;
}

static osm_prtn_t *add_partition(struct subnet *subnet, uint16_t pkey)
{
	osm_prtn_t *partition = calloc(1, sizeof(*partition));

	assert_non_null(partition);
	partition->pkey = cl_hton16(pkey);
	cl_map_construct(&partition->full_guid_tbl);
	cl_map_construct(&partition->part_guid_tbl);
	assert_int_equal(cl_map_init(&partition->full_guid_tbl, 8), CL_SUCCESS);
	assert_int_equal(cl_map_init(&partition->part_guid_tbl, 8), CL_SUCCESS);
	cl_qmap_insert(&subnet->osm.subn.prtn_pkey_tbl, partition->pkey, &partition->map_item);
	return partition;
}

/* Each partition has a bit of its own; of more than there are bits nothing is known. */
static void memberships(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	ib_net64_t guid = subnet_end(subnet, "Node00-01")->guid;
	struct fors_port port;

	cl_map_insert(&add_partition(subnet, 1)->full_guid_tbl, guid, subnet);
	cl_map_insert(&add_partition(subnet, 2)->part_guid_tbl, guid, subnet);
	for (uint16_t pkey = 3; pkey <= 65; pkey++) {
		port = port_of(subnet, "Node00-01", 1);
		assert_true(port.full && port.limited && !(port.full & port.limited));
		assert_true(!port_of(subnet, "Node00-02", 1).full && !port_of(subnet, "Node00-02", 1).limited);
		add_partition(subnet, pkey);
	}
	port = port_of(subnet, "Node00-01", 1);
	assert_true(!port.full && !port.limited);
}

/* An aggregation node by the number of its device, which the net has as people write it. */
static void devices(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new(SPEC, 0);
	struct subnet *subnet FREED(subnet_free) = subnet_new(bed->net);
	struct fors_net *net FREED(fors_net_free) = NULL;

	subnet_node(subnet, "Node01-01")->node_info.device_id = CL_HTON16(0xcf09);
	net = net_of(subnet);
	assert_int_equal(net->node[find(net, "Node01-01")].type, FORS_OTHER);
	assert_int_equal(net->node[find(net, "Node01-02")].type, FORS_CA);
}

int run_snapshot_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_copied),
		cmocka_unit_test(names_and_kinds_of_nodes),
		cmocka_unit_test(lids),
		cmocka_unit_test(cables_that_are_none),
		cmocka_unit_test(ports_that_are_not_there),
		cmocka_unit_test(slower_than_its_like),
		cmocka_unit_test(widths_and_speeds),
		cmocka_unit_test(rates_that_are_not_known),
		cmocka_unit_test(newest_speeds),
		cmocka_unit_test(throttled),
		cmocka_unit_test(ports_that_run_managers),
		cmocka_unit_test(tables_there_and_back),
		cmocka_unit_test(stores_only_what_is_there),
		cmocka_unit_test(reads_only_what_is_there),
		cmocka_unit_test(late_switches),
		cmocka_unit_test(memberships),
		cmocka_unit_test(devices),
	};

	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
