/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drained.c - living cables that shall carry no traffic between servers.
 *
 * An administrator drains a cable before he pulls it, a cable that runs at a quarter of its speed
 * holds up every phase of the exchange, one that just came back may go again. Such a cable
 * is drained: leaves and planners take it for dead, so no server's traffic goes over it; and what
 * is on its way still arrives, since the spine goes on delivering over it (core/tables/tables.c).
 *
 * A request never costs traffic: a cable stays in use when without it two leaves would have no
 * spine in common. For each such pair, in order, the spine is taken for which the least has to be
 * called back: held cables before degraded ones, degraded before excluded ones.
 */
#include "drained.h"
#include "core/base/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fors_drained_name(enum fors_drain_reason reason)
{
	static const char *const name[] = {"", "excluded", "degraded", "held"};

	return (unsigned)reason < sizeof(name) / sizeof(name[0]) ? name[reason] : "";
}

/* --- marking -------------------------------------------------------------- */

void fors_drained_mark(struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, enum fors_drain_reason reason)
{
	struct fors_cable *cable = &fabric->cable[(size_t)leaf * fabric->nlanes + lane];

	if (cable->state == FORS_CABLE_LIVE && !cable->drained)
		cable->drained = reason;
}

void fors_drained_degraded(struct fors_fabric *fabric)
{
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			if (fors_cable(fabric, a, k)->is_degraded)
				fors_drained_mark(fabric, a, k, FORS_DRAIN_DEGRADED);
}

/* Does a name mean a switch that is dead now? Its port does not matter. */
static bool is_switch_called(const char *what, uint64_t guid, const char *name)
{
	const char *open = strrchr(what, '[');
	size_t length = open ? (size_t)(open - what) : strlen(what);
	char *end;

	if (!strncasecmp(what, "0x", 2) && strtoull(what, &end, 16) == guid && (size_t)(end - what) == length)
		return true;
	return strlen(name) == length && !strncmp(what, name, length);
}

static bool is_dead_switch(const struct fors_fabric *fabric, const char *what)
{
	for (uint32_t k = 0; k < fabric->nspines; k++)
		if (fabric->spine[k].node == FORS_NONE &&
		    is_switch_called(what, fabric->spine[k].guid, fabric->spine[k].name))
			return true;
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		if (fabric->leaf[a].node == FORS_NONE &&
		    is_switch_called(what, fabric->leaf[a].guid, fabric->leaf[a].name))
			return true;
	return false;
}

/* The node that a name means; false: none, and the administrator knows why. */
static bool find_node(const struct fors_fabric *fabric, const char *what, const char *key, uint32_t *node,
		      unsigned *port, struct fors_warnings *warnings)
{
	struct fors_error error;

	if (!fors_net_find(fabric->net, what, node, port, &error))
		return true;
	if (!is_dead_switch(fabric, what))
		fors_warn(warnings, "%s: %.290s; ignored", key, error.text);
	return false;
}

static bool is_meant(const struct fors_fabric *fabric, uint32_t a, uint32_t k, uint32_t node, unsigned port)
{
	const struct fors_cable *cable = fors_cable(fabric, a, k);

	if (cable->state == FORS_CABLE_ABSENT)
		return false;
	return (fabric->leaf[a].node == node && (!port || cable->leaf_port == port)) ||
	       (fabric->spine[fabric->lane[k].spine].node == node && (!port || cable->spine_port == port));
}

/* How many cables, dead or alive, were meant. */
static unsigned exclude(struct fors_fabric *fabric, uint32_t node, unsigned port)
{
	unsigned cables = 0;

	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			if (is_meant(fabric, a, k, node, port)) {
				fors_drained_mark(fabric, a, k, FORS_DRAIN_EXCLUDED);
				cables++;
			}
	return cables;
}

void fors_drained_links(struct fors_fabric *fabric, const struct fors_names *names, const char *key,
			struct fors_warnings *warnings)
{
	for (size_t i = 0; i < names->count; i++) {
		uint32_t node;
		unsigned port;

		if (find_node(fabric, names->name[i], key, &node, &port, warnings) && !exclude(fabric, node, port))
			fors_warn(warnings, "%s: '%.100s' is no cable between a leaf and a spine; ignored", key,
				  names->name[i]);
	}
}

static bool is_spine(const struct fors_fabric *fabric, uint32_t node)
{
	for (uint32_t k = 0; k < fabric->nspines; k++)
		if (fabric->spine[k].node == node)
			return true;
	return false;
}

void fors_drained_spines(struct fors_fabric *fabric, const struct fors_names *names, const char *key,
			 struct fors_warnings *warnings)
{
	for (size_t i = 0; i < names->count; i++) {
		uint32_t node;
		unsigned port;

		if (!find_node(fabric, names->name[i], key, &node, &port, warnings))
			continue;
		if (port || !is_spine(fabric, node))
			fors_warn(warnings, "%s: '%.100s' is no spine; ignored", key, names->name[i]);
		else
			exclude(fabric, node, 0);
	}
}

/* --- taking out ----------------------------------------------------------- */

#define OUT_OF_REACH 1000

/* What it takes to get from a leaf to the spine of a lane: 0 nothing, else the reason of the cable to call back. */
static unsigned cost_to_spine(const struct fors_fabric *f, uint32_t leaf, uint32_t spine, uint32_t *lane)
{
	static const unsigned cost[] = {0, 100, 10, 1}; /* by enum fors_drain_reason */
	unsigned least = OUT_OF_REACH;

	for (uint32_t k = 0; k < f->nlanes; k++) {
		const struct fors_cable *cable = fors_cable(f, leaf, k);

		if (f->lane[k].spine != spine || !fors_passable(f, leaf, k))
			continue;
		if (cable->state == FORS_CABLE_LIVE)
			return 0;
		if (cost[cable->drained] < least) {
			least = cost[cable->drained];
			*lane = k;
		}
	}
	return least;
}

static void call_back(struct fors_fabric *f, uint32_t leaf, uint32_t lane, uint32_t other,
		      struct fors_warnings *warnings)
{
	struct fors_cable *cable = &f->cable[(size_t)leaf * f->nlanes + lane];

	cable->state = FORS_CABLE_LIVE;
	cable->is_routed = true;
	fors_warn(warnings, "the %s link %.64s[%u] - %.64s[%u] stays in use: without it %.64s could not reach %.64s",
		  fors_drained_name(cable->drained), f->leaf[leaf].name, cable->leaf_port,
		  f->spine[f->lane[lane].spine].name, cable->spine_port, f->leaf[leaf].name, f->leaf[other].name);
}

/* Give two leaves a spine in common, if there is any that could be. */
static void join(struct fors_fabric *f, uint32_t a, uint32_t b, struct fors_warnings *warnings)
{
	uint32_t lane_a = 0, lane_b = 0, best_a = 0, best_b = 0;
	unsigned least = OUT_OF_REACH, best_cost_a = 0, best_cost_b = 0;

	for (uint32_t spine = 0; spine < f->nspines; spine++) {
		unsigned cost_a = cost_to_spine(f, a, spine, &lane_a), cost_b = cost_to_spine(f, b, spine, &lane_b);

		if (cost_a + cost_b >= least)
			continue;
		least = cost_a + cost_b;
		best_cost_a = cost_a;
		best_cost_b = cost_b;
		best_a = lane_a;
		best_b = lane_b;
	}
	if (best_cost_a)
		call_back(f, a, best_a, b, warnings);
	if (best_cost_b)
		call_back(f, b, best_b, a, warnings);
}

/* Is anything plugged in here that somebody may want to reach? */
static bool has_end_node(const struct fors_fabric *f, uint32_t leaf)
{
	for (uint32_t s = 0; s < f->nslots; s++)
		if (fors_slot(f, leaf, s)->node != FORS_NONE)
			return true;
	return false;
}

enum fors_err fors_drained_apply(struct fors_fabric *fabric, struct fors_warnings *warnings, struct fors_error *error)
{
	size_t ncables = (size_t)fabric->nleaves * fabric->nlanes;
	bool any = false;

	for (size_t i = 0; i < ncables; i++)
		if (fabric->cable[i].drained) {
			fabric->cable[i].state = FORS_CABLE_DEAD;
			fabric->cable[i].is_routed = false;
			any = true;
		}
	if (!any)
		return FORS_OK;
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t b = a + 1; has_end_node(fabric, a) && b < fabric->nleaves; b++)
			if (has_end_node(fabric, b))
				join(fabric, a, b, warnings);
	return fors_fabric_recount(fabric, error);
}

void fors_drained_route_held(struct fors_fabric *fabric)
{
	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nlanes; i++)
		if (fabric->cable[i].drained == FORS_DRAIN_HELD)
			fabric->cable[i].is_routed = true;
}
