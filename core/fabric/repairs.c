/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repairs.c - what could be mended, and the fabric as it would be then.
 *
 * Twenty cables that died with their spine are one repair. A cable whose two switches live is one of its own, and so
 * is one that runs below its speed and therefore carries nothing. A leaf that died is none: its servers are in no
 * schedule, so nobody can say how many would come back with it.
 *
 * What would be then is not estimated. The fabric is copied, the cable plugged in again where the kept order says that
 * it belongs, in the net too, and a spine that is gone is added to it; so tables, plans and proofs are those that
 * would really be made. Places do not change by a repair, hence homes do not: a fabric that was mended by hand gets
 * the same tables.
 */
#include "repairs.h"
#include "drained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what could be mended ------------------------------------------------------------------------------------- */

static bool is_plug_free(const struct fors_net *net, uint32_t node, uint8_t port)
{
	return port <= net->node[node].nports && fors_net_port(net, node, port)->peer == FORS_NONE;
}

/* The cable is dead, and both ends have room for it: all those of a spine that nobody sees have. */
static bool is_broken(const struct fors_fabric *f, uint32_t leaf, uint32_t lane)
{
	const struct fors_cable *cable = fors_cable(f, leaf, lane);
	uint32_t a = f->leaf[leaf].node, b = f->spine[f->lane[lane].spine].node;

	return cable->state == FORS_CABLE_DEAD && !cable->drained && a != FORS_NONE &&
	       is_plug_free(f->net, a, cable->leaf_port) &&
	       (b == FORS_NONE || is_plug_free(f->net, b, cable->spine_port));
}

/* Nobody sees it, or it has no cable left. */
static bool is_gone(const struct fors_fabric *f, uint32_t spine)
{
	for (uint32_t lane = 0; f->spine[spine].node != FORS_NONE && lane < f->nlanes; lane++)
		for (uint32_t leaf = 0; f->lane[lane].spine == spine && leaf < f->nleaves; leaf++)
			if (fors_passable(f, leaf, lane))
				return false;
	return true;
}

static bool is_repair(const struct fors_fabric *f, uint32_t leaf, uint32_t lane)
{
	const struct fors_cable *cable = fors_cable(f, leaf, lane);

	if (cable->state == FORS_CABLE_DEAD && cable->drained == FORS_DRAIN_DEGRADED)
		return true;
	return is_broken(f, leaf, lane) && !is_gone(f, f->lane[lane].spine);
}

/* Is it gone, and would any cable come back with it? */
static bool is_spine_repair(const struct fors_fabric *f, uint32_t spine)
{
	if (!is_gone(f, spine))
		return false;
	for (uint32_t lane = 0; lane < f->nlanes; lane++)
		for (uint32_t leaf = 0; f->lane[lane].spine == spine && leaf < f->nleaves; leaf++)
			if (is_broken(f, leaf, lane))
				return true;
	return false;
}

static uint32_t first_lane(const struct fors_fabric *f, uint32_t spine)
{
	uint32_t lane = 0;

	while (f->lane[lane].spine != spine)
		lane++;
	return lane;
}

/* A repair, and what it promises. */
struct promise {
	struct fors_repair repair;
	int lacking; /* uplinks that the leaf lacks for its servers; negative: it has some to spare */
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

static uint32_t find_promises(const struct fors_fabric *f, struct promise *all)
{
	uint32_t count = 0;

	for (uint32_t spine = 0; spine < f->nspines; spine++)
		if (is_spine_repair(f, spine))
			add_promise(all, &count, (struct fors_repair){FORS_NONE, first_lane(f, spine)}, 0);
	for (uint32_t leaf = 0; leaf < f->nleaves; leaf++)
		for (uint32_t lane = 0; lane < f->nlanes; lane++)
			if (is_repair(f, leaf, lane))
				add_promise(all, &count, (struct fors_repair){leaf, lane},
					    f->leaf[leaf].nservers - f->leaf[leaf].nlive);
	return count;
}

enum fors_err fors_repairs_list(const struct fors_fabric *fabric, struct fors_repair **list, uint32_t *count,
				struct fors_error *error)
{
	size_t room = (size_t)fabric->nleaves * fabric->nlanes + fabric->nspines + 1;
	struct promise *all = malloc(room * sizeof(*all));
	struct fors_repair *found = NULL;
	uint32_t n;

	if (!all)
		return fors_fail_memory(error);
	n = find_promises(fabric, all);
	found = malloc((n + (size_t)1) * sizeof(*found));
	if (!found) {
		free(all);
		return fors_fail_memory(error);
	}
	qsort(all, n, sizeof(*all), by_promise);
	for (uint32_t i = 0; i < n; i++)
		found[i] = all[i].repair;
	free(all);
	*list = found;
	*count = n;
	return FORS_OK;
}

/* --- as it would be then ---------------------------------------------------------------------------------------- */

enum fors_err fors_mended_copy(const struct fors_fabric *fabric, struct fors_mended *copy, struct fors_error *error)
{
	enum fors_err err;

	*copy = (struct fors_mended){NULL, NULL};
	err = fors_net_copy(fabric->net, &copy->net, error);
	if (!err)
		err = fors_fabric_copy(fabric, copy->net, &copy->fabric, error);
	if (err)
		fors_mended_free(copy);
	return err;
}

void fors_mended_free(struct fors_mended *mended)
{
	fors_fabric_free(mended->fabric);
	fors_net_free(mended->net);
	*mended = (struct fors_mended){NULL, NULL};
}

static enum fors_err plug_in(struct fors_mended *m, uint32_t leaf, uint32_t lane, struct fors_error *error)
{
	struct fors_fabric *f = m->fabric;
	struct fors_cable *cable = &f->cable[(size_t)leaf * f->nlanes + lane];
	uint32_t a = f->leaf[leaf].node, b = f->spine[f->lane[lane].spine].node;
	enum fors_err err = FORS_OK;

	if (cable->drained)
		fors_net_port(m->net, a, cable->leaf_port)->is_degraded =
			fors_net_port(m->net, b, cable->spine_port)->is_degraded = false;
	else
		err = fors_net_connect(m->net, a, cable->leaf_port, b, cable->spine_port, error);
	cable->state = FORS_CABLE_LIVE;
	cable->is_routed = true;
	cable->drained = FORS_DRAIN_NOT;
	cable->is_degraded = false;
	return err;
}

static unsigned largest_port(const struct fors_fabric *f, uint32_t spine)
{
	unsigned most = 0;

	for (uint32_t leaf = 0; leaf < f->nleaves; leaf++)
		for (uint32_t lane = 0; lane < f->nlanes; lane++)
			if (f->lane[lane].spine == spine && fors_cable(f, leaf, lane)->spine_port > most)
				most = fors_cable(f, leaf, lane)->spine_port;
	return most;
}

static enum fors_err add_spine(struct fors_mended *m, uint32_t spine, struct fors_error *error)
{
	struct fors_spine *it = &m->fabric->spine[spine];
	enum fors_err err = fors_net_add_node(m->net, FORS_SWITCH, largest_port(m->fabric, spine), it->guid, it->name,
					      it->name, &it->node, error);

	if (err)
		return err;
	fors_net_port(m->net, it->node, 0)->guid = it->guid;
	return fors_net_index(m->net, error);
}

/* The spine comes back with all cables that have room. */
static enum fors_err revive_spine(struct fors_mended *m, uint32_t spine, struct fors_error *error)
{
	struct fors_fabric *f = m->fabric;
	enum fors_err err = f->spine[spine].node == FORS_NONE ? add_spine(m, spine, error) : FORS_OK;

	for (uint32_t lane = 0; lane < f->nlanes; lane++)
		for (uint32_t leaf = 0; !err && f->lane[lane].spine == spine && leaf < f->nleaves; leaf++)
			if (is_broken(f, leaf, lane))
				err = plug_in(m, leaf, lane, error);
	return err;
}

static enum fors_err mend(struct fors_mended *m, const struct fors_repair *repair, struct fors_error *error)
{
	uint32_t spine = m->fabric->lane[repair->lane].spine;
	bool is_known = repair->leaf == FORS_NONE ? is_spine_repair(m->fabric, spine)
						  : is_repair(m->fabric, repair->leaf, repair->lane);
	enum fors_err err;

	if (!is_known)
		return fors_fail(error, FORS_EINPUT, "this is nothing that could be mended");
	err = repair->leaf == FORS_NONE ? revive_spine(m, spine, error) : plug_in(m, repair->leaf, repair->lane, error);
	if (!err)
		err = fors_drained_apply(m->fabric, NULL, error); /* what was needed may be no longer */
	return err ? err : fors_fabric_recount(m->fabric, error);
}

enum fors_err fors_mended_build(const struct fors_fabric *fabric, const struct fors_repair *repair,
				struct fors_mended *mended, struct fors_error *error)
{
	struct fors_mended made;
	enum fors_err err = fors_mended_copy(fabric, &made, error);

	if (err)
		return err;
	err = mend(&made, repair, error);
	if (err)
		fors_mended_free(&made);
	else
		*mended = made;
	return err;
}
