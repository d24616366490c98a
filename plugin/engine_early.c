/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The moment at which the switches have their tables, long before the sweep ends.
 *
 * OpenSM 3.3.23 (do_sweep() of osm_state_mgr.c) discovers the fabric, assigns LIDs, calls the routing engine, sends each
 * changed block, and waits until nothing it has sent is without an answer. Then it reports UCAST_ROUTING_DONE; multicast,
 * arming and activating ports come after that, and SUBNET_UP last. What it knows at that moment:
 *
 *	a block was confirmed	it is in the switch's lft. Before it was sent these 64 bytes were zeroed there, so one that
 *				was refused or lost is not what new_lft has: lft is compared with new_lft
 *	a block was lost	after the last repetition subnet_initialization_error is set too, as for each lost
 *				Set() of this sweep so far: of a port, a switch, a partition table
 *	what ports do		as discovery has read it, this sweep; the steps that change it are still to come
 *
 * A port that is not active then carries no traffic before SUBNET_UP, whatever the tables say: it was down between two
 * sweeps, or never up. So what is told the worker is two things: with the tables whether all ports that flows may pass
 * are active, and now that the tables are in. worker_early.c makes of it what readers get.
 *
 * An SM that comes out of standby sets up everything anew; what it found active another one has left so. It waits for
 * the end of its sweep. Where OpenSM's unicast cache has made the tables no callback came, and there is no number to tell.
 */
#include "engine_inside.h"

#include "job_pods.h"
#include "opensm.h"
#include "snapshot.h"

const char *fors_engine_incomplete(const struct osm_opensm *osm)
{
	if (osm->subn.sm_state != IB_SMINFO_STATE_MASTER)
		return "this subnet manager is not the master";
	if (osm->subn.subnet_initialization_error)
		return "OpenSM met errors while it set up the fabric; it will sweep again";
	if (fors_snapshot_late_switch(&osm->subn))
		return "a switch does not hold its new tables yet; OpenSM will sweep again";
	return NULL;
}

static bool is_port_active(const osm_subn_t *subn, uint64_t node_guid, unsigned port)
{
	osm_node_t *node = osm_get_node_by_guid(subn, cl_hton64(node_guid));
	osm_physp_t *physp = node ? osm_node_get_physp_ptr(node, port) : NULL;

	return physp && osm_physp_get_port_state(physp) == IB_LINK_ACTIVE;
}

static bool is_cable_active(const osm_subn_t *subn, const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane)
{
	const struct fors_cable *cable = fors_cable(fabric, leaf, lane);

	return is_port_active(subn, fabric->leaf[leaf].guid, cable->leaf_port) &&
	       is_port_active(subn, fabric->spine[fabric->lane[lane].spine].guid, cable->spine_port);
}

static bool is_server_active(const osm_subn_t *subn, const struct fors_fabric *fabric, const struct fors_server *server)
{
	const struct fors_slot *slot = fors_slot(fabric, server->leaf, server->slot);

	return is_port_active(subn, fabric->leaf[server->leaf].guid, slot->leaf_port) &&
	       is_port_active(subn, fabric->net->node[server->node].guid, slot->ca_port);
}

/* All ports of cables between switches, and of servers that take part. */
static bool are_pods_active(const osm_subn_t *subn, const struct fors_job_pods *made)
{
	const struct fors_pods *pods = made->pods;

	for (uint32_t node = 0; node < pods->known->nnodes; node++)
		for (unsigned port = 1; port <= pods->known->node[node].nports; port++)
			if (fors_pods_live(pods, node, port) &&
			    !is_port_active(subn, pods->known->node[node].guid, port))
				return false;
	for (uint32_t s = 0; s < pods->nslots; s++) {
		const struct fors_pods_switch *leaf = &pods->leaf[pods->slot[s].leaf];
		const struct fors_port *port;

		if (!made->plays[s])
			continue;
		port = fors_net_port(pods->now, leaf->now, pods->slot[s].port);
		if (!is_port_active(subn, pods->now->node[leaf->now].guid, pods->slot[s].port) ||
		    !is_port_active(subn, pods->now->node[port->peer].guid, port->peer_port))
			return false;
	}
	return true;
}

bool fors_engine_is_active(const struct fors_engine *engine, const struct fors_job *job)
{
	const osm_subn_t *subn = &engine->osm->subn;
	const struct fors_fabric *fabric = job->fabric;

	if (subn->coming_out_of_standby || subn->first_time_master_sweep)
		return false;
	if (job->pods)
		return are_pods_active(subn, job->pods);
	for (uint32_t i = 0; i < fabric->nservers; i++)
		if (!is_server_active(subn, fabric, &fabric->server[i]))
			return false;
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			if (fors_live(fabric, leaf, lane) && !is_cable_active(subn, fabric, leaf, lane))
				return false;
	return true;
}

void fors_engine_note_tables(struct fors_engine *engine)
{
	struct osm_opensm *osm = engine->osm;
	uint64_t number = engine->awaited;

	engine->awaited = 0;
	if (!engine->worker || !number)
		return;
	cl_plock_acquire(&osm->lock);
	if (!fors_engine_is_routing(engine) || fors_engine_incomplete(osm))
		number = 0;
	cl_plock_release(&osm->lock);
	if (number)
		fors_worker_note_tables(engine->worker, number);
}
