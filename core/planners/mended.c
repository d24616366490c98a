/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mended.c - what a repair would give back.
 *
 * It is not estimated: tables are made for the fabric as it would be, and the exchange is planned and proven over
 * them. Only where that must be in vain it is left out. No plan is below the lower bound, and with one LID for each
 * server none below the lump; as long as another leaf is as badly off as the one that is mended these bounds stay
 * where they are. With thirty dead cables most repairs are of that kind.
 */
#include "mended.h"

#include <stdlib.h>

#include "bound.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"
#include "core/planners/pods/route.h"
#include "outcome.h"
#include "routing.h"

/* Can there be a plan below the one that there is? */
static enum fors_err is_hopeful(const struct fors_fabric *fabric, uint32_t phases_now, bool *answer,
				struct fors_error *error)
{
	uint32_t bound = 0;
	enum fors_err err;

	*answer = !fabric->unreachable_pairs;
	if (fabric->unreachable_pairs || !phases_now)
		return FORS_OK;
	err = fors_lower_bound(fabric, &bound, error);
	*answer = !err && bound < phases_now && (fabric->lmc || fors_lump_bound(fabric) < phases_now);
	return err;
}

/* The same where tables of three levels are made, whose bound is that of all servers of the tree. */
static bool is_hopeful_pods(const struct fors_pods *pods, const struct fors_pods_route *route, uint32_t phases_now)
{
	return !phases_now || pods->nplayers != route->nservers || route->bound_servers < phases_now;
}

/* That there is none is no error, whatever the reason. */
static enum fors_err plan_over(const struct fors_task *task, const struct fors_mended *mended,
			       const struct fors_lfts *lfts, const struct fors_pods_route *rounds, uint32_t *phases,
			       struct fors_error *error)
{
	struct fors_request request = {.task = *task, .net = mended->net, .lfts = lfts, .rounds = rounds};
	struct fors_participants players = {0};
	struct fors_schedule *plan = NULL;
	enum fors_err err = fors_fattree_players(&mended->tree, &players, error);

	request.task.fabric = mended->tree.fabric;
	request.task.lanes = NULL;
	request.participants = &players;
	if (!err)
		err = fors_plan_proven(&request, &plan, NULL, error);
	*phases = err ? 0 : plan->nphases;
	fors_schedule_free(plan);
	free(players.guid);
	return err == FORS_ENOMEM || err == FORS_ECANCELLED ? err : FORS_OK;
}

static enum fors_err plan(const struct fors_task *task, const struct fors_mended *mended, uint32_t phases_now,
			  uint32_t *phases, struct fors_error *error)
{
	struct fors_pods_route *rounds = NULL;
	struct fors_lfts *lfts = NULL;
	enum fors_err err = fors_routing_make(&mended->tree, true, &lfts, &rounds, error);

	if (!err && (!rounds || is_hopeful_pods(mended->tree.pods, rounds, phases_now)))
		err = plan_over(task, mended, lfts, rounds, phases, error);
	fors_routing_free(lfts, rounds);
	return err;
}

enum fors_err fors_phases_mended(const struct fors_task *task, struct fors_fattree tree,
				 const struct fors_repair *repair, uint32_t phases_now, uint32_t *phases,
				 struct fors_error *error)
{
	struct fors_mended mended;
	bool hopeful = true;
	uint32_t found = phases_now;
	enum fors_err err = fors_mended_build(tree, repair, &mended, error);

	if (err)
		return err;
	if (mended.tree.fabric)
		err = is_hopeful(mended.tree.fabric, phases_now, &hopeful, error);
	if (!err && hopeful)
		err = plan(task, &mended, phases_now, &found, error);
	fors_mended_free(&mended);
	if (!err)
		*phases = found;
	return err;
}

/* --- without those that take no part ------------------------------------------------------------------------------ */

static bool has_bystanders(const struct fors_fattree *tree)
{
	struct fors_fattree_slot stand;
	bool has = false;

	for (uint32_t i = 0; i < tree->nslots && !has; i++)
		has = tree->kind->slot(tree, i, &stand) && stand.guid && !stand.plays;
	return has;
}

static bool is_whole(const struct fors_fattree *tree)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < tree->ncables; i++)
		if (tree->kind->get(tree, i, &cable) && (cable.state != FORS_CABLE_LIVE || cable.drained))
			return false;
	return true;
}

/* Unplug all that take no part, and begin a new order with the rest. */
static enum fors_err unplug(const struct fors_fattree *tree, struct fors_mended *rest, struct fors_places **places,
			    struct fors_error *error)
{
	struct fors_fattree_slot stand;
	enum fors_err err = fors_net_copy(tree->net, &rest->net, error);

	for (uint32_t i = 0; !err && i < tree->nslots; i++)
		if (tree->kind->slot(tree, i, &stand) && stand.node != FORS_NONE && !stand.plays)
			fors_net_disconnect(rest->net, stand.node, stand.ca_port);
	*places = err ? NULL : fors_places_new();
	if (!err && !*places)
		err = fors_fail_memory(error);
	if (!err)
		err = fors_places_learn_tree(*places, rest->net, NULL, 0, NULL, error);
	return err ? err : fors_fattree_build(rest->net, *places, NULL, &rest->tree, error);
}

enum fors_err fors_phases_alone(const struct fors_task *task, const struct fors_fattree *tree, uint32_t *phases,
				struct fors_error *error)
{
	struct fors_mended rest = {.net = NULL};
	struct fors_places *places = NULL;
	uint32_t found = 0;
	enum fors_err err;

	*phases = 0;
	if (!has_bystanders(tree) || !is_whole(tree))
		return FORS_OK;
	err = unplug(tree, &rest, &places, error);
	if (!err && !rest.tree.pods == !tree->pods)
		err = plan(task, &rest, 0, &found, error);
	fors_fattree_free(&rest.tree);
	fors_net_free(rest.net);
	fors_places_free(places);
	if (err == FORS_ENOMEM || err == FORS_ECANCELLED)
		return err;
	*phases = err ? 0 : found;
	return FORS_OK;
}
