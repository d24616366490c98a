/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repairs.c - what could be mended, and the tree as it would be then.
 *
 * Twenty cables that died with their spine are one repair. A cable whose two switches live is one of its own, and so
 * is one that runs below its speed and therefore carries nothing. A leaf that died is none: its servers are in no
 * schedule, so nobody can say how many would come back with it.
 *
 * What would be then is not estimated. The tree is copied, the cable plugged in again where the kept order says that
 * it belongs, in the net too, and a switch that is gone is added to it; so tables, plans and proofs are those that
 * would really be made. Places do not change by a repair, hence homes do not: a tree that was mended by hand gets
 * the same tables.
 */
#include "repairs.h"
#include "drained.h"

#include <stdlib.h>

#include "core/net/rates.h"

/* --- what could be mended ------------------------------------------------------------------------------------- */

static bool is_plug_free(const struct fors_net *net, uint32_t node, uint8_t port)
{
	return port <= net->node[node].nports && fors_net_port(net, node, port)->peer == FORS_NONE;
}

/* Has this end of a cable room for it? `back`: the switch comes back, so it has, unless something is there now. */
static bool has_room(const struct fors_fattree *c, uint32_t number, uint8_t port, uint32_t back)
{
	uint32_t node = c->kind->at(c, number).node;

	return node == FORS_NONE ? number == back : is_plug_free(c->net, node, port);
}

/* The cable is dead, and both ends have room for it, should the switch `back` live (FORS_NONE: no other than now). */
static bool is_broken(const struct fors_fattree *c, const struct fors_fattree_cable *cable, uint32_t back)
{
	return cable->state == FORS_CABLE_DEAD && !cable->drained && has_room(c, cable->low, cable->low_port, back) &&
	       has_room(c, cable->high, cable->high_port, back);
}

/* A switch above leaves: nobody sees it, or it has no cable left. A leaf is none. */
static void find_gone(const struct fors_fattree *c, bool *is_gone)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < c->nswitches; i++)
		is_gone[i] = i >= c->nleaves;
	for (uint32_t i = 0; i < c->ncables; i++)
		if (c->kind->get(c, i, &cable) && fors_fattree_passes(&cable))
			is_gone[cable.low] = is_gone[cable.high] = false;
}

static bool is_repair(const struct fors_fattree *c, const bool *is_gone, const struct fors_fattree_cable *cable)
{
	if (cable->state == FORS_CABLE_DEAD && cable->drained == FORS_DRAIN_DEGRADED)
		return true;
	return !is_gone[cable->low] && !is_gone[cable->high] && is_broken(c, cable, FORS_NONE);
}

/* A cable of the switch that would come back with it. */
static bool comes_back(const struct fors_fattree *c, uint32_t number, const struct fors_fattree_cable *cable)
{
	return (cable->low == number || cable->high == number) && is_broken(c, cable, number);
}

/* A repair, and what it promises. */
struct promise {
	struct fors_repair repair;
	int lacking; /* cables up that are lacking for what is below; negative: there are some to spare */
	uint32_t nth;
};

static int by_promise(const void *a, const void *b)
{
	const struct promise *left = a, *right = b;
	bool is_left_spine = left->repair.leaf == FORS_NONE, is_right_spine = right->repair.leaf == FORS_NONE;

	if (is_left_spine != is_right_spine)
		return is_left_spine ? -1 : 1;
	if (left->lacking != right->lacking)
		return left->lacking > right->lacking ? -1 : 1;
	return left->nth < right->nth ? -1 : left->nth > right->nth;
}

static void add_promise(struct promise *all, uint32_t *count, struct fors_repair repair, int lacking)
{
	all[*count] = (struct promise){repair, lacking, *count};
	++*count;
}

/* Which of the cables above its lower end it is. */
static uint32_t lane_of(const struct fors_fattree *c, const struct fors_fattree_cable *cable, uint32_t number)
{
	uint32_t count;

	return number - c->kind->above(c, cable->low, &count);
}

/* The whole switch, if it is gone and some cable would come back with it. */
static bool find_switch(const struct fors_fattree *c, uint32_t number, struct fors_repair *repair)
{
	struct fors_fattree_cable cable;
	uint32_t first = FORS_NONE;
	bool any = false;

	for (uint32_t i = 0; i < c->ncables; i++) {
		if (!c->kind->get(c, i, &cable))
			continue;
		if (cable.high == number && first == FORS_NONE)
			first = lane_of(c, &cable, i);
		any |= comes_back(c, number, &cable);
	}
	*repair = (struct fors_repair){FORS_NONE, first, number};
	return any;
}

static uint32_t find_promises(const struct fors_fattree *c, const bool *is_gone, struct promise *all)
{
	struct fors_fattree_cable cable;
	struct fors_repair repair;
	uint32_t count = 0;

	for (uint32_t i = c->nleaves; i < c->nswitches; i++)
		if (is_gone[i] && find_switch(c, i, &repair))
			add_promise(all, &count, repair, 0);
	for (uint32_t i = 0; i < c->ncables; i++)
		if (c->kind->get(c, i, &cable) && is_repair(c, is_gone, &cable))
			add_promise(all, &count, (struct fors_repair){cable.low, lane_of(c, &cable, i), cable.high},
				    fors_fattree_lacking(c, cable.low));
	return count;
}

enum fors_err fors_repairs_list(struct fors_fattree tree, struct fors_repair **list, uint32_t *count,
				struct fors_error *error)
{
	size_t room = (size_t)tree.ncables + tree.nswitches + 1;
	struct promise *all = malloc(room * sizeof(*all));
	struct fors_repair *found = malloc(room * sizeof(*found));
	bool *is_gone = malloc(tree.nswitches + (size_t)1);
	bool has_memory = all && found && is_gone;

	if (has_memory) {
		find_gone(&tree, is_gone);
		*count = find_promises(&tree, is_gone, all);
		qsort(all, *count, sizeof(*all), by_promise);
		for (uint32_t i = 0; i < *count; i++)
			found[i] = all[i].repair;
		*list = found;
	} else {
		free(found);
	}
	free(all);
	free(is_gone);
	return has_memory ? FORS_OK : fors_fail_memory(error);
}

/* --- as it would be then ---------------------------------------------------------------------------------------- */

/* What was ever seen is the copy's own, too. */
static enum fors_err own_known(struct fors_fattree *tree, struct fors_error *error)
{
	enum fors_err err = tree->pods ? fors_net_copy(tree->pods->known, &tree->pods->own, error) : FORS_OK;

	if (!err && tree->pods)
		tree->pods->known = tree->pods->own;
	return err;
}

enum fors_err fors_mended_copy(struct fors_fattree tree, struct fors_mended *copy, struct fors_error *error)
{
	enum fors_err err;

	*copy = (struct fors_mended){0};
	err = fors_net_copy(tree.net, &copy->net, error);
	if (!err)
		err = fors_fattree_copy(&tree, copy->net, &copy->tree, error);
	if (!err)
		err = own_known(&copy->tree, error);
	if (err)
		fors_mended_free(copy);
	return err;
}

void fors_mended_free(struct fors_mended *mended)
{
	fors_fattree_free(&mended->tree);
	fors_net_free(mended->net);
	*mended = (struct fors_mended){0};
}

static enum fors_err plug_in(const struct fors_fattree *c, struct fors_net *net, uint32_t number,
			     struct fors_error *error)
{
	struct fors_fattree_cable cable;
	enum fors_err err = FORS_OK;
	uint32_t a, b;

	c->kind->get(c, number, &cable);
	a = c->kind->at(c, cable.low).node;
	b = c->kind->at(c, cable.high).node;
	if (cable.drained)
		fors_net_port(net, a, cable.low_port)->is_degraded =
			fors_net_port(net, b, cable.high_port)->is_degraded = false;
	else
		err = fors_net_connect(net, a, cable.low_port, b, cable.high_port, error);
	cable.state = FORS_CABLE_LIVE;
	cable.drained = FORS_DRAIN_NOT;
	cable.is_degraded = false;
	if (!err) {
		fors_rates_mend(net, fors_net_port(net, a, cable.low_port));
		cable.capacity = fors_rates_capacity(net, fors_net_port(net, a, cable.low_port),
						     c->fabric ? c->fabric->flow : c->pods->flow);
	}
	c->kind->put(c, number, &cable);
	return err;
}

static unsigned largest_port(const struct fors_fattree *c, uint32_t number)
{
	struct fors_fattree_cable cable;
	unsigned most = 0;

	for (uint32_t i = 0; i < c->ncables; i++) {
		if (!c->kind->get(c, i, &cable))
			continue;
		if (cable.high == number && cable.high_port > most)
			most = cable.high_port;
		if (cable.low == number && cable.low_port > most)
			most = cable.low_port;
	}
	return most;
}

static enum fors_err add_switch(const struct fors_fattree *c, struct fors_net *net, uint32_t number,
				struct fors_error *error)
{
	struct fors_fattree_switch it = c->kind->at(c, number);
	uint32_t node;
	enum fors_err err =
		fors_net_add_node(net, FORS_SWITCH, largest_port(c, number), it.guid, it.name, it.name, &node, error);

	if (err)
		return err;
	c->kind->revive(c, number, node);
	fors_net_port(net, node, 0)->guid = it.guid;
	return fors_net_index(net, error);
}

/* The switch comes back with all cables that have room. */
static enum fors_err revive_switch(const struct fors_fattree *c, struct fors_net *net, uint32_t number,
				   struct fors_error *error)
{
	struct fors_fattree_cable cable;
	enum fors_err err = c->kind->at(c, number).node == FORS_NONE ? add_switch(c, net, number, error) : FORS_OK;

	for (uint32_t i = 0; !err && i < c->ncables; i++)
		if (c->kind->get(c, i, &cable) && comes_back(c, number, &cable))
			err = plug_in(c, net, i, error);
	return err;
}

/* The cable of a repair, by its number; FORS_NONE: there is none. */
static uint32_t cable_of(const struct fors_fattree *c, const struct fors_repair *repair)
{
	uint32_t count, first = c->kind->above(c, repair->leaf, &count);
	struct fors_fattree_cable cable;

	return repair->lane < count && c->kind->get(c, first + repair->lane, &cable) && cable.low == repair->leaf
		       ? first + repair->lane
		       : FORS_NONE;
}

/* Is this one of those that fors_repairs_list() would list? */
static bool is_known(const struct fors_fattree *c, const bool *is_gone, const struct fors_repair *repair)
{
	struct fors_fattree_cable cable;
	struct fors_repair found;
	uint32_t number;

	if (repair->leaf == FORS_NONE)
		return repair->spine < c->nswitches && is_gone[repair->spine] && find_switch(c, repair->spine, &found);
	number = repair->leaf < c->nswitches ? cable_of(c, repair) : FORS_NONE;
	return number != FORS_NONE && c->kind->get(c, number, &cable) && is_repair(c, is_gone, &cable);
}

static enum fors_err mend(struct fors_mended *m, const struct fors_repair *repair, struct fors_error *error)
{
	struct fors_fattree c = m->tree;
	bool *is_gone = malloc(c.nswitches + (size_t)1), known;
	enum fors_err err;

	if (!is_gone)
		return fors_fail_memory(error);
	find_gone(&c, is_gone);
	known = is_known(&c, is_gone, repair);
	free(is_gone);
	if (!known)
		return fors_fail(error, FORS_EINPUT, "this is nothing that could be mended");
	err = repair->leaf == FORS_NONE ? revive_switch(&c, m->net, repair->spine, error)
					: plug_in(&c, m->net, cable_of(&c, repair), error);
	if (!err)
		err = fors_drained_apply(c, NULL, error); /* what was needed may be no longer */
	return err ? err : c.kind->recount(&c, error);
}

enum fors_err fors_mended_build(struct fors_fattree tree, const struct fors_repair *repair, struct fors_mended *mended,
				struct fors_error *error)
{
	struct fors_mended made;
	enum fors_err err = fors_mended_copy(tree, &made, error);

	if (err)
		return err;
	err = mend(&made, repair, error);
	if (err)
		fors_mended_free(&made);
	else
		*mended = made;
	return err;
}
