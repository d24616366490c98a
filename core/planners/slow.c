/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow.c - what draining slow cables would give.
 *
 * A cable that is drained costs phases, one that is slow costs time in each phase that has a flow over it. Which is
 * worse is a question of numbers: a leaf with an uplink to spare loses nothing by draining one at a quarter of its
 * speed, while with it nearly every phase takes four times as long. The answer here is a bound, not a plan: it takes no
 * tables and no search, so it may be asked for after every sweep.
 *
 * Marking and draining is the same in trees of two levels and of three, over their cablings; the bound is each kind's own.
 * A switch has one entry for each LID, so with one LID for each server the n_a servers of a leaf send to another one over
 * one uplink, and the fullest of its uplinks carries n_a flows for every so many servers elsewhere, rounded up: the lump.
 */
#include "slow.h"

#include "bound.h"
#include "core/fabric/drained.h"
#include "core/fabric/speeds.h"
#include "core/planners/pods/route3.h"

/* Is this cable in use, and slower than a flow of the exchange could be? */
static bool is_slow(const struct fors_cabling *c, uint32_t number, uint32_t full)
{
	struct fors_plugged cable;
	uint32_t node;

	if (!c->kind->get(c, number, &cable) || cable.state != FORS_CABLE_LIVE)
		return false;
	node = c->kind->at(c, cable.low).node;
	return node != FORS_NONE && fors_port_slowness(fors_net_port(c->net, node, cable.low_port), full) > 1;
}

/* Are any, still because leaves could not do without? */
static bool any_slow(const struct fors_cabling *c, uint32_t full)
{
	for (uint32_t i = 0; i < c->ncables; i++)
		if (is_slow(c, i, full))
			return true;
	return false;
}

static void mark(const struct fors_cabling *c, uint32_t full)
{
	for (uint32_t i = 0; i < c->ncables; i++)
		if (is_slow(c, i, full))
			fors_drained_mark_cable(*c, i, FORS_DRAIN_DEGRADED);
}

/* What the lengths of two levels and three have in common: all flows of the slowest server take so many times as long. */
static double length_of(uint32_t phases, uint64_t lump, double slowest, uint32_t nservers)
{
	return (double)(lump > phases ? lump : phases) + (slowest - 1) * (nservers - 1);
}

/* --- two levels --------------------------------------------------------------------------------------------------- */

/* The slowest cable of a server. */
static double slowest_server(const struct fors_fabric *fabric, uint32_t full)
{
	double slowest = 1;

	for (uint32_t s = 0; s < fabric->nservers; s++) {
		const struct fors_server *server = &fabric->server[s];
		const struct fors_slot *slot = fors_slot(fabric, server->leaf, server->slot);
		double own = fors_speeds_server(fabric, slot, full);

		slowest = own > slowest ? own : slowest;
	}
	return slowest;
}

static enum fors_err bound(const struct fors_fabric *fabric, uint32_t full, double *length, struct fors_error *error)
{
	uint32_t phases;
	enum fors_err err = fors_lower_bound(fabric, &phases, error);

	if (!err)
		*length = length_of(phases, fabric->lmc ? 0 : fors_lump_bound(fabric), slowest_server(fabric, full),
				    fabric->nservers);
	return err;
}

enum fors_err fors_slow_drained(const struct fors_fabric *fabric, double *length, struct fors_error *error)
{
	struct fors_cabling cabling = fors_fabric_cabling(fabric);
	uint32_t full = fors_speeds_full(fabric);
	struct fors_warnings ignored = {0};
	struct fors_fabric *copy = NULL;
	double made = -1;
	enum fors_err err = FORS_OK;

	if (any_slow(&cabling, full) && fabric->nservers && !fabric->unreachable_pairs) {
		err = fors_fabric_copy(fabric, fabric->net, &copy, error);
		if (!err) {
			cabling = fors_fabric_cabling(copy);
			mark(&cabling, full);
			err = fors_drained_apply(copy, &ignored, error);
		}
		if (!err && !any_slow(&cabling, full) && !copy->unreachable_pairs)
			err = bound(copy, full, &made, error);
	}
	fors_fabric_free(copy);
	if (!err)
		*length = made;
	return err;
}

/* --- three -------------------------------------------------------------------------------------------------------- */

/* Who takes part. */
struct players {
	const struct fors_pods *pods;
	const bool *plays;
	uint32_t count;
	bool has_one_lid; /* each of them */
	double slowest;	  /* the slowest cable of one */
};

static bool plays(const struct players *p, uint32_t slot)
{
	return p->pods->slot[slot].lid && (!p->plays || p->plays[slot]);
}

static struct players players_of(const struct fors_pods *pods, const bool *who, uint32_t full)
{
	struct players p = {.pods = pods, .plays = who, .has_one_lid = true, .slowest = 1};

	for (uint32_t s = 0; s < pods->nslots; s++) {
		const struct fors_pods_slot *slot = &pods->slot[s];
		uint32_t leaf = pods->leaf[slot->leaf].now;
		double own;

		if (!plays(&p, s) || leaf == FORS_NONE)
			continue;
		own = fors_port_slowness(fors_net_port(pods->now, leaf, slot->port), full);
		p.slowest = own > p.slowest ? own : p.slowest;
		p.has_one_lid &= !slot->lmc;
		p.count++;
	}
	return p;
}

/* Flows on the fullest uplink of a leaf, at the least. */
static uint64_t lump_of(const struct players *p, const struct fors_pods_switch *leaf)
{
	const struct fors_pods *pods = p->pods;
	uint64_t here = 0, uplinks = 0;

	for (uint32_t s = leaf->first; s < leaf->first + leaf->nslots; s++)
		here += plays(p, s);
	for (unsigned port = 1; port <= pods->known->node[leaf->node].nports; port++)
		uplinks += fors_pods_live(pods, leaf->node, port);
	return uplinks ? here * ((p->count - here + uplinks - 1) / uplinks) : 0;
}

static enum fors_err bound_pods(const struct players *p, double *length, struct fors_error *error)
{
	uint64_t lump = 0;
	uint32_t phases;
	enum fors_err err = fors_route3_bound(p->pods, p->plays, &phases, error);

	if (err || phases == UINT32_MAX)
		return err;
	for (uint32_t a = 0; p->has_one_lid && a < p->pods->nleaves; a++) {
		uint64_t own = lump_of(p, &p->pods->leaf[a]);

		lump = own > lump ? own : lump;
	}
	*length = length_of(phases, lump, p->slowest, p->count);
	return FORS_OK;
}

enum fors_err fors_slow_drained_pods(const struct fors_pods *pods, const bool *who, double *length,
				     struct fors_error *error)
{
	struct fors_cabling cabling = fors_pods_cabling(pods);
	uint32_t full = fors_rates_full(pods->now);
	struct players players = players_of(pods, who, full);
	struct fors_warnings ignored = {0};
	struct fors_pods *copy = NULL;
	double made = -1;
	bool any;
	enum fors_err err = FORS_OK;

	if (any_slow(&cabling, full) && players.count) {
		err = fors_pods_copy(pods, pods->known, pods->now, &copy, error);
		if (!err) {
			players.pods = copy;
			cabling = fors_pods_cabling(copy);
			mark(&cabling, full);
			err = fors_drained_take_out(cabling, &any, &ignored, error);
		}
		if (!err && !any_slow(&cabling, full))
			err = bound_pods(&players, &made, error);
	}
	fors_pods_free(copy);
	if (!err)
		*length = made;
	return err;
}
