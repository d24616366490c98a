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
 * switch in common to turn at. For each such pair, in order, the switch is taken for which the least has to be
 * called back: held cables before degraded ones, degraded before excluded ones. Of three levels a way up to a top has
 * two cables, of which either may have to be called back; two leaves of a pod turn at one of its middle switches, or at
 * a top that several planes share, where that costs less.
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

static const char *const slow_hows[] = {
	[FORS_SLOW_AUTO] = "auto", [FORS_SLOW_IGNORE] = "ignore", [FORS_SLOW_DEAD] = "dead"};

bool fors_slow_how_named(const char *name, enum fors_slow_how *how)
{
	for (unsigned i = 0; i < sizeof(slow_hows) / sizeof(slow_hows[0]); i++)
		if (!strcmp(slow_hows[i], name)) {
			*how = (enum fors_slow_how)i;
			return true;
		}
	return false;
}

void fors_slow_choice(const struct fors_slow *slow, char *text, size_t room)
{
	const char *what = !slow->ndrained		    ? ": in use"
			   : slow->ndrained < slow->ncables ? ": partly drained"
							    : ": drained";

	text[0] = '\0';
	if (slow->ncables)
		snprintf(text, room, "%s%s", slow_hows[slow->how], slow->how == FORS_SLOW_AUTO ? what : "");
}

/* --- marking -------------------------------------------------------------- */

void fors_drained_mark_cable(struct fors_fattree tree, uint32_t number, enum fors_drain_reason reason)
{
	struct fors_fattree_cable cable;

	if (!tree.kind->get(&tree, number, &cable) || cable.state != FORS_CABLE_LIVE || cable.drained)
		return;
	cable.drained = reason;
	tree.kind->put(&tree, number, &cable);
}

void fors_drained_degraded(struct fors_fattree tree)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < tree.ncables; i++)
		if (tree.kind->get(&tree, i, &cable) && cable.is_degraded)
			fors_drained_mark_cable(tree, i, FORS_DRAIN_DEGRADED);
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

static bool is_dead_switch(const struct fors_fattree *c, const char *what)
{
	for (uint32_t i = 0; i < c->nswitches; i++) {
		struct fors_fattree_switch at = c->kind->at(c, i);

		if (at.node == FORS_NONE && is_switch_called(what, at.guid, at.name))
			return true;
	}
	return false;
}

/* The switch of the tree that is called so, by its number; c->nswitches: none, or several. */
static uint32_t called(const struct fors_fattree *c, const char *name)
{
	uint32_t found = c->nswitches, count = 0;

	for (uint32_t i = 0; i < c->nswitches; i++)
		if (fors_is_called(c->kind->at(c, i).name, name)) {
			found = i;
			count++;
		}
	return count == 1 ? found : c->nswitches;
}

/* The only switch with this description; FORS_NONE: there is none, or several. */
static uint32_t described(const struct fors_net *net, const char *name)
{
	uint32_t found = FORS_NONE, count = 0;

	for (uint32_t n = 0; n < net->nnodes; n++)
		if (net->node[n].type == FORS_SWITCH && fors_is_called(net->node[n].desc, name)) {
			found = n;
			count++;
		}
	return count == 1 ? found : FORS_NONE;
}

/* Whose name it is, is known: say it when another node has it, too. */
static void warn_of_namesake(const struct fors_fattree *c, struct fors_fattree_switch at, const char *key,
			     struct fors_warnings *warnings)
{
	for (uint32_t n = 0; n < c->net->nnodes; n++) {
		const struct fors_node *other = &c->net->node[n];

		if (other->guid == at.guid || strcmp(other->desc, at.name) != 0)
			continue;
		fors_warn(warnings,
			  "%s: two nodes have the description '%s': 0x%016" PRIx64
			  ", which had it first and is %s, and "
			  "0x%016" PRIx64,
			  key, at.name, at.guid, at.node == FORS_NONE ? "not there" : "meant", other->guid);
		return;
	}
}

/*
 * The node that a name means, which is no id or GUID, in address->node: first by the names that the tree keeps, then by
 * descriptions of switches, so that none that takes the name of another, and no host, changes what is meant. False: it is
 * dead.
 */
static bool find_named(const struct fors_fattree *c, struct fors_address *address, const char *key,
		       struct fors_warnings *warnings)
{
	uint32_t number = called(c, address->name);

	if (number == c->nswitches) {
		address->node = described(c->net, address->name);
		return true;
	}
	warn_of_namesake(c, c->kind->at(c, number), key, warnings);
	address->node = c->kind->at(c, number).node;
	return address->node != FORS_NONE;
}

/* The node that a name means; false: none, and the administrator knows why. */
static bool find_node(const struct fors_fattree *c, const char *what, const char *key, uint32_t *node, unsigned *port,
		      struct fors_warnings *warnings)
{
	struct fors_address address;
	struct fors_error error;
	bool is_named =
		!fors_net_address(c->net, what, &address, NULL) && address.node == FORS_NONE && !address.is_guid;

	if (is_named && !find_named(c, &address, key, warnings))
		return false;
	if (is_named && address.node != FORS_NONE && address.port <= c->net->node[address.node].nports) {
		*node = address.node;
		*port = address.port;
		return true;
	}
	if (!fors_net_find(c->net, what, node, port, &error))
		return true;
	if (!is_dead_switch(c, what))
		fors_warn(warnings, "%s: %.290s; ignored", key, error.text);
	return false;
}

static bool is_end(const struct fors_fattree *c, uint32_t number, unsigned at_port, uint32_t node, unsigned port)
{
	return c->kind->at(c, number).node == node && (!port || at_port == port);
}

/* How many cables, dead or alive, were meant. */
static unsigned exclude(struct fors_fattree c, uint32_t node, unsigned port)
{
	struct fors_fattree_cable cable;
	unsigned cables = 0;

	for (uint32_t i = 0; i < c.ncables; i++)
		if (c.kind->get(&c, i, &cable) && (is_end(&c, cable.low, cable.low_port, node, port) ||
						   is_end(&c, cable.high, cable.high_port, node, port))) {
			fors_drained_mark_cable(c, i, FORS_DRAIN_EXCLUDED);
			cables++;
		}
	return cables;
}

void fors_drained_links(struct fors_fattree tree, const struct fors_names *names, const char *key,
			struct fors_warnings *warnings)
{
	for (size_t i = 0; i < names->count; i++) {
		uint32_t node;
		unsigned port;

		if (find_node(&tree, names->name[i], key, &node, &port, warnings) && !exclude(tree, node, port))
			fors_warn(warnings, "%s: '%.100s' is no %s; ignored", key, names->name[i], tree.kind->cable);
	}
}

/* Leaves come first. */
static bool is_spine(const struct fors_fattree *c, uint32_t node)
{
	for (uint32_t i = c->nleaves; i < c->nswitches; i++)
		if (c->kind->at(c, i).node == node)
			return true;
	return false;
}

void fors_drained_spines(struct fors_fattree tree, const struct fors_names *names, const char *key,
			 struct fors_warnings *warnings)
{
	for (size_t i = 0; i < names->count; i++) {
		uint32_t node;
		unsigned port;

		if (!find_node(&tree, names->name[i], key, &node, &port, warnings))
			continue;
		if (port || !is_spine(&tree, node))
			fors_warn(warnings, "%s: '%.100s' is no %s; ignored", key, names->name[i], tree.kind->spine);
		else
			exclude(tree, node, 0);
	}
}

/* --- taking out ----------------------------------------------------------- */

#define OUT_OF_REACH 1000
#define MOST_STAGES 2 /* of cables, from leaves to the highest switches */

/* From which leaf what is reached going up, and what that costs: 0 nothing, else reasons of cables to call back. */
struct climb {
	struct fors_fattree c;
	uint16_t *cost; /* [leaf * nswitches + switch] */
	struct fors_warnings *warnings;
};

static unsigned cost_of(const struct fors_fattree_cable *cable)
{
	static const unsigned cost[] = {0, 100, 10, 1}; /* by enum fors_drain_reason */

	if (cable->state == FORS_CABLE_LIVE)
		return 0;
	return fors_fattree_passes(cable) ? cost[cable->drained] : OUT_OF_REACH;
}

static uint16_t *row_of(const struct climb *climb, uint32_t leaf)
{
	return &climb->cost[(size_t)leaf * climb->c.nswitches];
}

/* From a switch on, whose own cost is known. */
static void climb_from(const struct climb *climb, uint16_t *row, uint32_t from)
{
	uint32_t count, first = climb->c.kind->above(&climb->c, from, &count);
	struct fors_fattree_cable cable;

	for (uint32_t i = first; i < first + count; i++)
		if (climb->c.kind->get(&climb->c, i, &cable) && cable.low == from &&
		    row[from] + cost_of(&cable) < row[cable.high])
			row[cable.high] = (uint16_t)(row[from] + cost_of(&cable));
	for (uint32_t i = first; i < first + count; i++)
		if (climb->c.kind->get(&climb->c, i, &cable) && cable.low == from && row[cable.high] < OUT_OF_REACH)
			climb_from(climb, row, cable.high);
}

static void look_up(const struct climb *climb, uint32_t leaf)
{
	uint16_t *row = row_of(climb, leaf);

	for (uint32_t i = 0; i < climb->c.nswitches; i++)
		row[i] = OUT_OF_REACH;
	row[leaf] = 0;
	climb_from(climb, row, leaf);
}

/*
 * The first cables of a cheapest way up, from a switch to another, in cable[], room for those of all stages above;
 * how many, 0: there is none.
 */
static unsigned trace(const struct climb *climb, const uint16_t *row, uint32_t from, uint32_t to, uint32_t *cable)
{
	uint32_t count, first = climb->c.kind->above(&climb->c, from, &count);
	struct fors_fattree_cable plugged;
	unsigned more;

	for (uint32_t i = first; i < first + count; i++) {
		if (!climb->c.kind->get(&climb->c, i, &plugged) || plugged.low != from ||
		    row[from] + cost_of(&plugged) != row[plugged.high])
			continue;
		cable[0] = i;
		if (plugged.high == to)
			return 1;
		more = trace(climb, row, plugged.high, to, cable + 1);
		if (more)
			return more + 1;
	}
	return 0;
}

static void call_back(const struct climb *climb, uint32_t number, uint32_t leaf, uint32_t other)
{
	const struct fors_fattree *c = &climb->c;
	struct fors_fattree_cable cable;

	c->kind->get(c, number, &cable);
	cable.state = FORS_CABLE_LIVE;
	c->kind->put(c, number, &cable);
	for (uint32_t a = 0; a < c->nleaves; a++)
		if (row_of(climb, a)[cable.low] < OUT_OF_REACH)
			look_up(climb, a);
	fors_warn(climb->warnings,
		  "the %s link %.64s[%u] - %.64s[%u] stays in use: without it %.64s could not reach %.64s",
		  fors_drained_name(cable.drained), c->kind->at(c, cable.low).name, cable.low_port,
		  c->kind->at(c, cable.high).name, cable.high_port, c->kind->at(c, leaf).name,
		  c->kind->at(c, other).name);
}

/* What keeps a leaf from a switch above. */
static void open_way(const struct climb *climb, uint32_t leaf, uint32_t at, uint32_t other)
{
	uint32_t cable[MOST_STAGES];
	unsigned count = trace(climb, row_of(climb, leaf), leaf, at, cable);

	for (unsigned i = 0; i < count; i++) {
		struct fors_fattree_cable plugged;

		climb->c.kind->get(&climb->c, cable[i], &plugged);
		if (plugged.state != FORS_CABLE_LIVE)
			call_back(climb, cable[i], leaf, other);
	}
}

/* Give two leaves a switch in common to turn at, if there is any that could be. */
static void join(const struct climb *climb, uint32_t a, uint32_t b)
{
	const struct fors_fattree *c = &climb->c;
	const uint16_t *from = row_of(climb, a), *to = row_of(climb, b);
	unsigned least = OUT_OF_REACH;
	uint32_t best = 0;

	for (uint32_t at = c->nleaves; least && at < c->nswitches; at++) {
		unsigned cost = (unsigned)from[at] + to[at];

		if (cost < least) {
			least = cost;
			best = at;
		}
	}
	if (!least || least == OUT_OF_REACH)
		return;
	open_way(climb, a, best, b);
	open_way(climb, b, best, a);
}

static enum fors_err join_all(struct fors_fattree c, struct fors_warnings *warnings, struct fors_error *error)
{
	struct climb climb = {.c = c, .warnings = warnings};

	climb.cost = malloc(((size_t)c.nleaves * c.nswitches + 1) * sizeof(*climb.cost));
	if (!climb.cost)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < c.nleaves; a++)
		look_up(&climb, a);
	for (uint32_t a = 0; a < c.nleaves; a++)
		for (uint32_t b = a + 1; fors_fattree_has_ends(&c, a) && b < c.nleaves; b++)
			if (fors_fattree_has_ends(&c, b))
				join(&climb, a, b);
	free(climb.cost);
	return FORS_OK;
}

enum fors_err fors_drained_apply(struct fors_fattree tree, struct fors_warnings *warnings, struct fors_error *error)
{
	struct fors_fattree_cable cable;
	bool any = false;
	enum fors_err err;

	for (uint32_t i = 0; i < tree.ncables; i++)
		if (tree.kind->get(&tree, i, &cable) && cable.drained) {
			cable.state = FORS_CABLE_DEAD;
			tree.kind->put(&tree, i, &cable);
			any = true;
		}
	if (!any)
		return FORS_OK;
	err = join_all(tree, warnings, error);
	return err ? err : tree.kind->recount(&tree, error);
}
