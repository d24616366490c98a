/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.c - tables and rounds of a three-level tree, made together.
 *
 * Homes (lanes.c), ways there (ways.c), in a regular tree ways round damaged tops (repair.c) in the rounds of a
 * closed form (groups.c), the rest levelled, and rounds for it (units.c). Then all is written down, and the LIDs of
 * switches and guests with it (extra.c). Two levels level first and pack later; here levelling alone could not know
 * which entries have to change places so that a plan loses nothing.
 *
 * A mid that lost its cable to a leaf of its pod, and a top that lost its cable to a pod, keep the port of the dead
 * cable for what is below: no packet goes round while switches hold a mixture of old and new tables, and all is right
 * again when the cable returns.
 *
 * But where packets begin at such a mid, or leaves of its pod have no other way, and a top that several planes share
 * leads to another mid of its pod, the mid sends up to that top. It knew no such entry before: while the top still has the
 * entry of before, which led to this mid, a packet may go to and fro between the two. That is the one exception, and asks
 * for a dead cable in a director switch, and for a guest on its mid, or a second dead cable.
 */
#include "route.h"

#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "core/base/numbers.h"
#include "extra.h"
#include "number.h"
#include "relieve.h"
#include "repair.h"
#include "units.h"

struct work {
	const struct fors_pods *pods;
	struct fors_pods_lanes *lanes;
	struct fors_pods_ways *ways;
	struct fors_pods_groups *groups;
	struct fors_pods_route *route;
	uint32_t *row_of; /* per node of now */
	bool *is_server;  /* per LID */
};

void fors_pods_route_free(struct fors_pods_route *route)
{
	if (!route)
		return;
	fors_lfts_free(route->lfts);
	free(route->round);
	free(route->number);
	free(route->level);
	free(route->leaf_of);
	free(route->slot_of);
	free(route);
}

/* ---- ways ---- */

static uint32_t most_indices(const struct fors_pods *pods)
{
	uint32_t most = 1;

	for (uint32_t s = 0; s < pods->nslots; s++)
		if (pods->slot[s].lid && 1u << pods->slot[s].lmc > most)
			most = 1u << pods->slot[s].lmc;
	return most;
}

/* Servers of each leaf that are there and play, to be freed; NULL: out of memory. */
static uint32_t *count_players(const struct fors_pods *pods, const bool *plays)
{
	uint32_t *servers = calloc(pods->nleaves + (size_t)1, sizeof(*servers));

	for (uint32_t s = 0; servers && s < pods->nslots; s++)
		servers[pods->slot[s].leaf] += pods->slot[s].lid && (!plays || plays[s]);
	return servers;
}

/* The bound of an exchange of these. */
static enum fors_err bound_servers(const struct fors_pods_lanes *lanes, const bool *plays, uint32_t *bound,
				   struct fors_error *error)
{
	uint32_t *servers = count_players(lanes->pods, plays);
	enum fors_err err = servers ? fors_pods_bound(lanes, servers, lanes->pods->capacity, bound, error)
				    : fors_fail_memory(error);

	free(servers);
	return err;
}

enum fors_err fors_pods_route_bound(const struct fors_pods *pods, const bool *plays, uint32_t *bound,
				    struct fors_error *error)
{
	struct fors_pods_lanes *lanes = NULL;
	enum fors_err err = fors_pods_lanes_read(pods, &lanes, error);

	if (!err)
		err = bound_servers(lanes, plays, bound, error);
	fors_pods_lanes_free(lanes);
	return err;
}

enum fors_err fors_pods_route_witness(const struct fors_pods *pods, const bool *plays, struct fors_witness *witness,
				      struct fors_error *error)
{
	uint32_t *servers = count_players(pods, plays);
	struct fors_pods_lanes *lanes = NULL;
	enum fors_err err = servers ? fors_pods_lanes_read(pods, &lanes, error) : fors_fail_memory(error);

	if (!err)
		err = fors_pods_bound_witness(lanes, servers, pods->capacity, witness, error);
	fors_pods_lanes_free(lanes);
	free(servers);
	return err;
}

/* The bound of an exchange of all slots, were no cable faster than a flow: tables do not depend on who takes part. */
static enum fors_err bound_slots(const struct fors_pods_lanes *lanes, uint32_t *bound, struct fors_error *error)
{
	uint32_t *servers = calloc(lanes->pods->nleaves + (size_t)1, sizeof(*servers));
	enum fors_err err;

	if (!servers)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < lanes->pods->nleaves; a++)
		servers[a] = lanes->pods->leaf[a].nslots;
	err = fors_pods_bound(lanes, servers, NULL, bound, error);
	free(servers);
	return err;
}

static uint64_t cost_of(const struct fors_pods_repair *repair)
{
	return (uint64_t)repair->nleft << 32 | repair->nlanes;
}

static void keep_best(struct work *w, struct fors_pods_groups *groups, struct fors_pods_repair *best,
		      const struct fors_pods_repair *repair)
{
	fors_pods_groups_free(w->groups);
	w->groups = groups;
	fors_pods_repair_clear(best);
	*best = *repair;
}

/*
 * Is every round needed? Where tops choose and the bound asks for more rounds than the closed form has, there is room in
 * these for what lost its way, and items that change lanes would only be in the way of it.
 */
static enum fors_err is_tight(const struct fors_pods_lanes *lanes, bool *tight, struct fors_error *error)
{
	uint32_t bound = 0;
	enum fors_err err = FORS_OK;

	if (fors_pods_lanes_tops_choose(lanes))
		err = bound_slots(lanes, &bound, error);
	*tight = bound <= lanes->pods->nslots;
	return err;
}

/*
 * The closed form's rounds, and ways round damaged tops in them; of its choices the first that leaves least over, and
 * of those that moves least.
 */
static enum fors_err find_groups(struct work *w, struct fors_error *error)
{
	bool may_trade;
	uint64_t least = UINT64_MAX;
	struct fors_pods_repair best = {0};
	enum fors_err err = is_tight(w->lanes, &may_trade, error);

	for (enum fors_pods_groups_choice choice = 0; !err && least && choice < FORS_PODS_GROUPS_CHOICES; choice++) {
		struct fors_pods_groups *groups;
		struct fors_pods_repair repair;

		err = fors_pods_groups_new(w->lanes, choice, &groups, error);
		if (err)
			break;
		err = fors_pods_repair_find(groups, w->ways, may_trade, (uint32_t)(least >> 32), &repair, error);
		if (!err && cost_of(&repair) < least) {
			least = cost_of(&repair);
			keep_best(w, groups, &best, &repair);
		} else {
			fors_pods_repair_clear(&repair);
			fors_pods_groups_free(groups);
		}
	}
	if (!err)
		fors_pods_repair_write(&best, w->groups, w->ways);
	fors_pods_repair_clear(&best);
	return err;
}

/*
 * Of a whole tree: homes by number, if there are to be as many phases as servers and no link carries more; NULL: they are
 * not for it.
 */
static enum fors_err find_numbered(const struct fors_pods_lanes *lanes, uint32_t nindices, uint32_t bound,
				   struct fors_pods_ways **ways, struct fors_error *error)
{
	uint32_t carries = bound;
	bool shifts;
	enum fors_err err;

	*ways = NULL;
	if (bound != lanes->pods->nslots)
		return FORS_OK;
	err = fors_pods_number_ways(lanes, nindices, ways, &shifts, error);
	if (!err && !shifts)
		err = fors_pods_relieve(*ways, bound, true, &carries, error);
	if (err || carries > bound) {
		fors_pods_ways_free(*ways);
		*ways = NULL;
	}
	return err;
}

/* Of a whole tree: homes by number, or homes, and entries moved where these are lumps. */
static enum fors_err find_whole(const struct fors_pods_lanes *lanes, uint32_t nindices, struct fors_pods_ways **ways,
				bool *is_numbered, struct fors_error *error)
{
	uint32_t bound;
	enum fors_err err = bound_slots(lanes, &bound, error);

	if (!err)
		err = find_numbered(lanes, nindices, bound, ways, error);
	*is_numbered = !err && *ways;
	if (err || *is_numbered)
		return err;
	err = fors_pods_ways_home(lanes, nindices, ways, error);
	if (!err)
		err = fors_pods_ways_level(*ways, error);
	return err ? err : fors_pods_relieve(*ways, bound, false, NULL, error);
}

/*
 * A tree that is not regular: at home is what the tree would have if all of it were alive, or else each failure would
 * bring everything into another order. What lost its home is levelled.
 */
static enum fors_err find_homes(struct work *w, struct fors_error *error)
{
	struct fors_pods pods = *w->pods;
	struct fors_pods_lanes lanes = *w->lanes;
	struct fors_pods_ways *whole = NULL;
	bool is_numbered = false;
	enum fors_err err = FORS_OK;

	lanes.pods = &pods;
	pods.live = malloc((pods.known->nports + (size_t)1) * sizeof(*pods.live));
	if (!pods.live)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < pods.known->nports; i++)
		pods.live[i] = pods.peer[i] != FORS_NONE;
	err = find_whole(&lanes, w->ways->nindices, &whole, &is_numbered, error);
	if (!err)
		fors_pods_ways_keep(w->ways, whole);
	fors_pods_ways_free(whole);
	free(pods.live);
	if (!err && is_numbered && !(w->route->number = fors_pods_number(w->pods)))
		err = fors_fail_memory(error);
	return err;
}

static enum fors_err find_ways(struct work *w, uint32_t effort, struct fors_error *error)
{
	struct fors_pods_units units = {0};
	enum fors_err err = fors_pods_lanes_read(w->pods, &w->lanes, error);

	if (!err)
		err = fors_pods_ways_home(w->lanes, most_indices(w->pods), &w->ways, error);
	if (!err && w->lanes->is_regular)
		err = find_groups(w, error);
	if (!err && !w->groups)
		err = find_homes(w, error);
	if (!err)
		err = fors_pods_units_pack(w->ways, w->groups, effort, &units, error);
	if (err)
		return err;
	w->route->bound = units.bound;
	w->route->length = units.length;
	w->route->nrounds = units.nrounds;
	w->route->nleft = units.nleft;
	w->route->nslots = w->pods->nslots;
	w->route->round = units.round;
	return bound_servers(w->lanes, NULL, &w->route->bound_servers, error);
}

static bool any_drained(const struct fors_pods *pods)
{
	for (uint32_t i = 0; i < pods->known->nports; i++)
		if (pods->drained[i])
			return true;
	return false;
}

/*
 * Cables that are drained live, and who may send over nothing else does so: packets that are on their way, and those
 * that begin at switches above leaves. Where a way over living cables is left it is there already, and these lead up,
 * then down, too.
 */
static enum fors_err find_drained(struct work *w, struct fors_error *error)
{
	size_t size = fors_pods_ways_size(w->ways);
	struct fors_pods pods = *w->pods;
	struct fors_pods_lanes lanes = *w->lanes;
	struct fors_pods_ways *all = NULL;
	enum fors_err err = FORS_OK;

	if (!any_drained(w->pods))
		return FORS_OK;
	lanes.pods = &pods;
	pods.live = malloc((pods.known->nports + (size_t)1) * sizeof(*pods.live));
	if (!pods.live)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < pods.known->nports; i++)
		pods.live[i] = w->pods->live[i] || w->pods->drained[i];
	err = fors_pods_ways_home(&lanes, w->ways->nindices, &all, error);
	if (!err)
		err = fors_pods_ways_level(all, error);
	for (size_t i = 0; !err && i < size; i++)
		if (!w->ways->leaf[i])
			w->ways->leaf[i] = all->leaf[i];
	fors_pods_ways_free(all);
	free(pods.live);
	return err;
}

/* ---- rows ---- */

static enum fors_err make_rows(struct work *w, struct fors_error *error)
{
	const struct fors_net *now = w->pods->now;
	uint32_t nswitches = 0, row = 0;

	for (uint32_t node = 0; node < now->nnodes; node++)
		nswitches += now->node[node].type == FORS_SWITCH;
	w->route->nlids = fors_net_lid_end(now);
	w->route->lfts = fors_lfts_new(nswitches, w->route->nlids);
	w->row_of = malloc((now->nnodes + (size_t)1) * sizeof(*w->row_of));
	w->is_server = calloc(fors_net_lid_end(now) + (size_t)1, sizeof(*w->is_server));
	w->route->level = calloc(now->nnodes + (size_t)1, sizeof(*w->route->level));
	w->route->leaf_of = malloc((now->nnodes + (size_t)1) * sizeof(*w->route->leaf_of));
	w->route->slot_of = malloc((fors_net_lid_end(now) + (size_t)1) * sizeof(*w->route->slot_of));
	if (!w->route->lfts || !w->row_of || !w->is_server || !w->route->level || !w->route->leaf_of ||
	    !w->route->slot_of)
		return fors_fail_memory(error);
	for (uint32_t node = 0; node < now->nnodes; node++)
		if (now->node[node].type == FORS_SWITCH)
			w->route->lfts->guid[row++] = now->node[node].guid;
	qsort(w->route->lfts->guid, nswitches, sizeof(*w->route->lfts->guid), fors_by_number);
	for (uint32_t node = 0; node < now->nnodes; node++)
		w->row_of[node] = fors_lfts_row(w->route->lfts, now->node[node].guid);
	memset(w->route->leaf_of, 0xFF, now->nnodes * sizeof(*w->route->leaf_of));
	memset(w->route->slot_of, 0xFF, fors_net_lid_end(now) * sizeof(*w->route->slot_of));
	return FORS_OK;
}

static void list_servers(struct work *w)
{
	for (uint32_t node = 0; node < w->pods->known->nnodes; node++) {
		uint32_t now = fors_pods_now(w->pods, node);

		if (now != FORS_NONE)
			w->route->level[now] = w->pods->level[node];
	}
	for (uint32_t a = 0; a < w->pods->nleaves; a++)
		if (w->pods->leaf[a].now != FORS_NONE)
			w->route->leaf_of[w->pods->leaf[a].now] = a;
	for (uint32_t s = 0; s < w->pods->nslots; s++) {
		const struct fors_pods_slot *slot = &w->pods->slot[s];

		if (!slot->lid)
			continue;
		w->route->nservers++;
		w->route->slot_of[slot->lid] = s;
		for (uint32_t i = 0; i < 1u << slot->lmc && slot->lid + i < w->route->lfts->nlids; i++)
			w->is_server[slot->lid + i] = true;
	}
}

/* ---- entries ---- */

/* Do packets begin at a switch above leaves: does an adapter, or a subnet manager, hang on it? */
static bool has_guests(const struct fors_net *now, uint32_t node)
{
	bool has = fors_net_port(now, node, 0)->is_sm;

	for (unsigned port = 1; !has && port <= now->node[node].nports; port++)
		has = fors_sends(now, fors_net_port(now, node, port)->peer);
	return has;
}

/*
 * A known port of a switch to a neighbour, dead or alive: the one that the entry keeps. Who sends from here is not to
 * be lost in silence: then there is no way, which the check of the tables will tell.
 */
static uint8_t kept_port(const struct work *w, uint32_t node, uint32_t peer)
{
	if (has_guests(w->pods->now, fors_net_find_guid(w->pods->now, w->pods->known->node[node].guid)))
		return FORS_NO_PATH;
	for (unsigned port = 1; peer != FORS_NONE && port <= w->pods->known->node[node].nports; port++)
		if (fors_pods_peer(w->pods, node, port) == peer &&
		    !w->pods->unseen[w->pods->known->node[node].first_port + port])
			return (uint8_t)port;
	return FORS_NO_PATH;
}

static uint8_t leaf_entry(const struct work *w, uint32_t leaf, uint32_t column, uint32_t slot)
{
	(void)column;
	return w->pods->slot[slot].leaf == leaf ? w->pods->slot[slot].port : FORS_NO_PATH;
}

/* A port of a mid that lives, or is drained, to a top that gets down, though the mid does not: over another plane. */
static uint8_t port_over_top(const struct work *w, uint32_t mid, uint32_t column, bool drained)
{
	const struct fors_pods *pods = w->pods;
	uint32_t node = pods->mid[mid].node;

	for (unsigned port = 1; port <= pods->known->node[node].nports; port++) {
		uint32_t peer = fors_pods_peer(pods, node, port);

		if (peer != FORS_NONE && pods->level[peer] == FORS_PODS_TOP &&
		    (drained ? fors_pods_passes(pods, node, port) : fors_pods_live(pods, node, port)) &&
		    fors_pods_ways_gets_down(w->ways, pods->number[peer], column))
			return (uint8_t)port;
	}
	return 0;
}

static uint8_t port_of_guests(const struct work *w, uint32_t mid, uint32_t column)
{
	uint8_t port = 0;

	if (has_guests(w->pods->now, w->pods->mid[mid].now)) {
		port = port_over_top(w, mid, column, false);
		port = port ? port : port_over_top(w, mid, column, true);
	}
	return port;
}

static uint8_t mid_entry(const struct work *w, uint32_t mid, uint32_t column, uint32_t slot)
{
	const struct fors_pods_switch *leaf = &w->pods->leaf[w->pods->slot[slot].leaf];
	uint8_t port;

	if (leaf->pod != w->pods->mid[mid].pod)
		return FORS_NO_PATH;
	port = port_of_guests(w, mid, column);
	return port ? port : kept_port(w, w->pods->mid[mid].node, leaf->node);
}

static uint8_t top_entry(const struct work *w, uint32_t top, uint32_t column, uint32_t slot)
{
	uint32_t mid = fors_pods_mid(w->pods, w->pods->leaf[w->pods->slot[slot].leaf].pod, w->pods->top[top].plane);

	(void)column;
	return kept_port(w, w->pods->top[top].node, mid == FORS_NONE ? FORS_NONE : w->pods->mid[mid].node);
}

/* What a switch, a leaf, a mid or a top by its number, has for a slot's LID of this column where it has no way to it. */
typedef uint8_t (*entry_for)(const struct work *w, uint32_t number, uint32_t column, uint32_t slot);

/* The entries of a switch for all LIDs of servers, of its ports by column; LIDs mostly stand in the order of slots. */
static void write_row(const struct work *w, uint32_t now, uint32_t number, const uint8_t *port, entry_for entry)
{
	const struct fors_pods *pods = w->pods;
	uint32_t nlids = w->route->lfts->nlids;
	uint8_t *row = w->route->lfts->port + (size_t)w->row_of[now] * nlids;

	for (uint32_t s = 0; s < pods->nslots; s++) {
		uint32_t lid = pods->slot[s].lid, end = lid ? lid + (1u << pods->slot[s].lmc) : lid;

		for (uint32_t column = s; lid < end && lid < nlids; lid++, column += pods->nslots)
			row[lid] = port[column] ? port[column] : entry(w, number, column, s);
	}
}

static void write_rows(const struct work *w, const struct fors_pods_switch *list, uint32_t count, const uint8_t *ports,
		       entry_for entry)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i].now != FORS_NONE)
			write_row(w, list[i].now, i, ports + (size_t)i * w->ways->ncolumns, entry);
}

static void write_all(const struct work *w)
{
	write_rows(w, w->pods->leaf, w->pods->nleaves, w->ways->leaf, leaf_entry);
	write_rows(w, w->pods->mid, w->pods->nmids, w->ways->mid, mid_entry);
	write_rows(w, w->pods->top, w->pods->ntops, w->ways->top, top_entry);
}

#define SMALL_UNITS 4096
#define LITTLE_EFFORT 30

uint32_t fors_pods_route_little_effort(const struct fors_pods *pods)
{
	uint32_t uplinks = 0;

	if ((uint64_t)pods->nleaves * pods->nslots <= SMALL_UNITS)
		return LITTLE_EFFORT;
	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (unsigned port = 1; port <= pods->known->node[pods->leaf[a].node].nports; port++)
			uplinks += fors_pods_peer(pods, pods->leaf[a].node, port) != FORS_NONE;
	return uplinks < pods->nslots ? 0 : LITTLE_EFFORT;
}

enum fors_err fors_pods_route_make(const struct fors_pods *pods, uint32_t effort, struct fors_pods_route **route,
				   struct fors_error *error)
{
	struct work w = {.pods = pods};
	enum fors_err err;

	w.route = calloc(1, sizeof(*w.route));
	if (!w.route)
		return fors_fail_memory(error);
	err = find_ways(&w, effort, error);
	if (!err)
		err = find_drained(&w, error);
	if (!err)
		err = make_rows(&w, error);
	if (!err) {
		list_servers(&w);
		write_all(&w);
		err = fors_pods_extra_fill(pods, w.row_of, w.is_server, w.route->lfts, error);
	}
	fors_pods_lanes_free(w.lanes);
	fors_pods_ways_free(w.ways);
	fors_pods_groups_free(w.groups);
	free(w.row_of);
	free(w.is_server);
	if (err)
		fors_pods_route_free(w.route);
	else
		*route = w.route;
	return err;
}
