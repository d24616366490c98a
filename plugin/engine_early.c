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

#include "daemon/base/clock.h"
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

/* A port, and what is plugged in: the snapshot that the fabric was made of found both ends so, under this hold of the lock. */
static bool is_cable_active(osm_node_t *node, unsigned port)
{
	osm_physp_t *here = osm_node_get_physp_ptr(node, port), *there = here ? osm_physp_get_remote(here) : NULL;

	return there && osm_physp_get_port_state(here) == IB_LINK_ACTIVE &&
	       osm_physp_get_port_state(there) == IB_LINK_ACTIVE;
}

/* The cables from a switch on up that the exchange may use; that of a dead switch is none of them. */
static bool are_cables_active(const osm_subn_t *subn, const struct fors_fattree *tree, uint32_t number)
{
	uint32_t count, first = tree->kind->above(tree, number, &count);
	osm_node_t *node = osm_get_node_by_guid(subn, cl_hton64(tree->kind->at(tree, number).guid));
	struct fors_fattree_cable cable;

	for (uint32_t i = first; i < first + count; i++)
		if (tree->kind->get(tree, i, &cable) && cable.low == number && cable.state == FORS_CABLE_LIVE &&
		    (!node || !is_cable_active(node, cable.low_port)))
			return false;
	return true;
}

/* The cables of the servers below a leaf that take part. */
static bool are_servers_active(const osm_subn_t *subn, const struct fors_fattree *tree, uint32_t leaf)
{
	uint32_t count, first = tree->kind->slots(tree, leaf, &count);
	osm_node_t *node = osm_get_node_by_guid(subn, cl_hton64(tree->kind->at(tree, leaf).guid));
	struct fors_fattree_slot stand;

	for (uint32_t i = first; i < first + count; i++)
		if (tree->kind->slot(tree, i, &stand) && stand.plays && (!node || !is_cable_active(node, stand.port)))
			return false;
	return true;
}

bool fors_engine_is_active(const struct fors_engine *engine, const struct fors_look *look)
{
	const osm_subn_t *subn = &engine->osm->subn;
	const struct fors_fattree *tree = &look->tree;

	if (subn->coming_out_of_standby || subn->first_time_master_sweep)
		return false;
	for (uint32_t i = 0; i < tree->nswitches; i++)
		if (!are_cables_active(subn, tree, i) || (i < tree->nleaves && !are_servers_active(subn, tree, i)))
			return false;
	return true;
}

void fors_engine_note_block(struct fors_engine *engine)
{
	uint64_t now = (uint64_t)(fors_clock_exact_ms() * 1000), none = 0;

	__atomic_compare_exchange_n(&engine->first_us, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_store_n(&engine->last_us, now, __ATOMIC_RELAXED);
}

/* Hand on when blocks were confirmed, if any was. */
static void tell_blocks(struct fors_engine *engine)
{
	uint64_t first = __atomic_load_n(&engine->first_us, __ATOMIC_RELAXED);

	if (!first)
		return;
	fors_daemon_note_step(engine->daemon, FORS_STEP_FIRST_BLOCK, (double)first / 1000);
	fors_daemon_note_step(engine->daemon, FORS_STEP_LAST_BLOCK,
			      (double)__atomic_load_n(&engine->last_us, __ATOMIC_RELAXED) / 1000);
}

void fors_engine_note_step(struct fors_engine *engine, enum fors_step step)
{
	if (engine->is_stopped)
		return;
	if (step == FORS_STEP_SWEEP) { /* nobody owes an answer now */
		__atomic_store_n(&engine->first_us, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&engine->last_us, 0, __ATOMIC_RELAXED);
	}
	if (step == FORS_STEP_CONFIRMED)
		tell_blocks(engine);
	fors_daemon_note_step(engine->daemon, step, fors_clock_exact_ms());
}

void fors_engine_note_tables(struct fors_engine *engine)
{
	struct osm_opensm *osm = engine->osm;
	uint64_t number = engine->awaited;

	engine->awaited = 0;
	if (engine->is_stopped || !number)
		return;
	cl_plock_acquire(&osm->lock);
	if (!fors_engine_is_routing(engine) || fors_engine_incomplete(osm))
		number = 0;
	cl_plock_release(&osm->lock);
	if (number)
		fors_daemon_note_tables(engine->daemon, number);
}
